//! Claim: `CMake` and pkg-config find what `cargo xtask dist` installs of the transparent arenas,
//! and the examples, built against it in an empty folder, give the right answers.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{has, run};
use std::{fs, path::Path, process::Command};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

const TEXTS: &str = "[1, 2, {\"a\": null}]\n[3, 4, {\"b\": null}]\n[1, x]\n";
const COUNTS: &str = "2: 1 array, 1 null, 2 number, 1 object\n1: no JSON: byte 5\n";

#[test]
fn programs_find_the_installed_operators() {
    if !has("nlohmann/json.hpp", "nlohmann-json3-dev") {
        return;
    }
    let (prefix, source) = (format!("{SCRATCH}/prefix"), format!("{SCRATCH}/example"));
    for folder in [&prefix, &source] {
        let _ = fs::remove_dir_all(folder);
    }
    let mut dist = Command::new(env!("CARGO"));
    dist.args(["run", "--quiet", "--package", "xtask", "--", "dist", &prefix]);
    run(dist.current_dir(CRATE).env_remove("DESTDIR"), "");
    fs::create_dir_all(&source).unwrap();
    for file in ["CMakeLists.txt", "json.cpp", "both.cpp"] {
        let example = format!("{CRATE}/examples/cmake/{file}");
        fs::copy(example, Path::new(&source).join(file)).unwrap();
    }

    let build = format!("{source}/build");
    let path = format!("-DCMAKE_PREFIX_PATH={prefix}");
    run(Command::new("cmake").args(["-S", &source, "-B", &build, &path]), "");
    run(Command::new("cmake").args(["--build", &build]), "");
    let output = run(&mut Command::new(format!("{build}/json")), TEXTS);
    assert!(output.starts_with(COUNTS), "{output}");
    assert!(output.contains("3 scopes served"), "{output}");
    let both = run(&mut Command::new(format!("{build}/both")), "");
    assert_eq!(both, "1007, 1 scopes\n");

    let mut pkgconfig = Command::new("pkg-config");
    pkgconfig.env("PKG_CONFIG_PATH", format!("{prefix}/lib/pkgconfig"));
    let flags = run(pkgconfig.args(["--cflags", "--libs", "ebbtide-new"]), "");
    let program = format!("{source}/small");
    let small = format!("{source}/small.cpp");
    fs::write(&small, SMALL).unwrap();
    let mut compile = Command::new("c++");
    compile.args(["-std=c++17", &small, "-o", &program]).args(flags.split_whitespace());
    run(&mut compile, "");
    assert_eq!(run(&mut Command::new(&program), ""), "1 block of an arena\n");
}

/// This program uses no operator itself, so the header has to cause them to be linked.
const SMALL: &str = r#"
#include <ebbtide_new.hpp>
#include <cstdio>
#include <memory>
int main() {
    auto made = ebbtide::in_arena([] { return std::make_unique<int>(1); });
    std::printf("%d block of an arena\n", ebb_usable_size(made.get()) > 0);
}
"#;
