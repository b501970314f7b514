//! Compiles the contestants in C, once with GCC and once with clang, and those in C++.

use std::{env, path::Path, process::Command};

const CAPI: &str = "../../crates/ebbtide-capi";
/// Loops begin at multiples of 64 bytes, as those of Rust do; see `benches/.cargo/config.toml`.
const GCC: [&str; 3] = ["-O2", "-DNDEBUG", "-falign-loops=64"];
const CLANG: [&str; 4] = ["-O2", "-DNDEBUG", "-mllvm", "-align-loops=64"];

fn main() {
    let fast_paths = format!("{CAPI}/tests/c/fast_paths.c");
    let c = |compiler: &str, flags: &[&str]| {
        let name = format!("-DFAST_PATH=fast_path_{compiler}");
        let flags = [flags, &["-std=c11", "-DWITHOUT_MAIN", &name]].concat();
        compile(compiler, &flags, &fast_paths, &format!("fast_path_{compiler}"));
    };
    c("gcc", &GCC);
    c("clang", &CLANG);
    compile("g++", &[&GCC[..], &["-std=c++17"]].concat(), "src/containers.cpp", "containers");
    fresh();
    println!("cargo::rustc-link-lib=stdc++");
}

/// Compiles the arenas that are made anew, with those of APR if it is installed.
fn fresh() {
    println!("cargo::rustc-check-cfg=cfg(has_apr)");
    let found = Command::new("pkg-config").args(["--cflags", "apr-1"]).output();
    let found = found.ok().filter(|found| found.status.success());
    let apr = found.map(|found| String::from_utf8_lossy(&found.stdout).into_owned());
    let mut flags = [&GCC[..], &["-std=c++17"]].concat();
    if let Some(apr) = &apr {
        flags.push("-DHAS_APR");
        flags.extend(apr.split_whitespace());
    }
    compile("g++", &flags, "src/fresh.cpp", "fresh");
    if apr.is_some() {
        println!("cargo::rustc-cfg=has_apr");
        println!("cargo::rustc-link-lib=apr-1");
    }
}

/// Compiles a file to a static library of this name.
fn compile(compiler: &str, flags: &[&str], file: &str, name: &str) {
    let out = env::var("OUT_DIR").expect("Cargo sets it");
    let object = format!("{out}/{name}.o");
    let include = format!("{CAPI}/include");
    run(Command::new(compiler).args(flags).args(["-I", &include, "-c", file, "-o", &object]));
    run(Command::new("ar").args(["rcs", &format!("{out}/lib{name}.a"), &object]));
    println!("cargo::rustc-link-search=native={out}");
    println!("cargo::rustc-link-lib=static={name}");
    for path in [file, &include] {
        assert!(Path::new(path).exists(), "{path}");
        println!("cargo::rerun-if-changed={path}");
    }
}

fn run(command: &mut Command) {
    let status = command.status();
    assert!(status.as_ref().is_ok_and(|status| status.success()), "{command:?}: {status:?}");
}
