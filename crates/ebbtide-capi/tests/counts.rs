//! Claim: the fast paths of C execute no more instructions than listed here. Rust's are listed for
//! comparison. Counted by Valgrind on x86-64, with GCC 12 and clang 14:
//! `cargo test --release -p ebbtide-capi --test all counts:: -- --ignored --nocapture`.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use crate::common::{Program, collected, compilers};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// For each row of `c/fast_paths.c`, the instructions per iteration of its loop, with GCC and
/// clang.
const MOST: [(&str, f64, f64); 6] = [
    ("local", 9.0, 8.0),
    ("reference", 14.0, 16.0),
    ("open", 17.0, 16.0),
    ("child", 14.0, 14.0),
    ("string", 20.0, 19.0),
    ("push", 6.0, 7.0),
];

/// The instructions of one iteration: the difference of two runs, so that start-up does not count.
fn instructions(program: &Path, row: &str) -> f64 {
    (collected(program, &[row, "200000"]) - collected(program, &[row, "100000"])) / 100_000.0
}

/// The same loops in Rust.
fn rust() -> PathBuf {
    let folder = crate::common::checked().parent().unwrap().parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--release", "-p", "ebbtide-capi", "--example", "fast_paths"]);
    build.current_dir(env!("CARGO_MANIFEST_DIR")).env("CARGO_TARGET_DIR", folder);
    assert!(build.status().unwrap().success());
    folder.join("release/examples/fast_paths")
}

#[test]
#[ignore = "takes minutes, and needs Valgrind"]
fn c_executes_no_more_instructions_than_listed() {
    let rust = rust();
    for compiler in compilers("cc") {
        let flags = ["-std=c11", "-O2", "-DNDEBUG"];
        let program = Program::compile(compiler, "c/fast_paths.c", &flags);
        for (row, gcc, clang) in MOST {
            let most = if compiler == "gcc" { gcc } else { clang };
            let (ours, theirs) = (instructions(program.path(), row), instructions(&rust, row));
            println!("{row:10} {compiler:6} {ours:5.1}, Rust {theirs:5.1}");
            assert!(ours < most + 0.01, "{row} with {compiler}: {ours} instead of {most}");
        }
    }
}
