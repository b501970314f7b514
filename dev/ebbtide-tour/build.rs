//! Passes the compiler and the target platform to the tour, for its report and for `cargo
//! metadata`.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let version = env::var_os("RUSTC")
        .and_then(|rustc| Command::new(rustc).arg("--version").output().ok())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    println!(
        "cargo::rustc-env=TOUR_TOOLCHAIN={}",
        version.as_deref().unwrap_or("an unknown compiler").trim()
    );
    println!("cargo::rustc-env=TOUR_TARGET={}", env::var("TARGET").unwrap_or_default());
}
