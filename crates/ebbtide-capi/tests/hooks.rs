//! Claim: the programs in `examples/hooks` print the same with their memory in a scope as with
//! malloc's, also under `AddressSanitizer` and with input that ends too early. The libraries are
//! those of the system; `cargo xtask test --all` installs them.

#![cfg(target_os = "linux")]

use crate::common::{Program, compilers, has};
use std::{
    fs,
    io::Write as _,
    process::{Command, Output, Stdio},
    thread,
};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const STRICT: &[&str] = &["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-pedantic"];
const SETS: [&[&str]; 2] =
    [&["-O2"], &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]];

fn file(path: &str) -> Vec<u8> {
    fs::read(format!("{CRATE}/{path}")).unwrap()
}

fn output(program: &Program, input: &[u8]) -> Output {
    let mut command = Command::new(program.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // In another thread: the program may answer before it has read everything.
    thread::scope(|threads| {
        threads.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    })
}

/// The bytes of the scope that an example's library uses, which is the last thing that it prints to
/// the standard error.
fn bytes(run: &Output) -> usize {
    let text = String::from_utf8_lossy(&run.stderr);
    let last = text.lines().last().and_then(|line| line.strip_suffix(" bytes"));
    last.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

/// Runs an example with an input, for which it needs at least `least` bytes, and with half of
/// it, except that stb leaves missing pixels uninitialised.
fn same_in_a_scope(name: &str, include: &str, library: &[&str], input: &[u8], least: usize) {
    let parts = if name == "stb" { vec![input] } else { vec![input, &input[..input.len() / 2]] };
    let source = format!("{CRATE}/examples/hooks/{name}.c");
    let plain = format!("{CRATE}/tests/c/plain_malloc.h");
    for compiler in compilers("cc") {
        for set in SETS {
            let flags = [STRICT, set, &["-isystem", include]].concat();
            let in_scope = Program::compile_with(compiler, &source, &flags, library);
            let flags = [&flags[..], &["-include", &plain]].concat();
            let in_heap = Program::compile_with(compiler, &source, &flags, library);
            for &part in &parts {
                let (ours, theirs) = (output(&in_scope, part), output(&in_heap, part));
                let error = String::from_utf8_lossy(&ours.stderr);
                let what = format!("{compiler} {set:?} {name}: {error}");
                assert!(ours.status.code().is_some(), "{what}");
                assert_eq!(ours.status, theirs.status, "{what}");
                assert!(ours.stdout == theirs.stdout, "{what}");
                if part.len() == input.len() {
                    assert!(ours.status.success() && !ours.stdout.is_empty(), "{what}");
                    assert!(bytes(&ours) >= least, "{what}");
                    assert_eq!(bytes(&theirs), 0, "{what}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs the packages of libraries"]
fn lua() {
    let script = file("tests/c/hooks.lua");
    same_in_a_scope("lua", "/usr/include/lua5.4", &["-llua5.4"], &script, 1_000_000);
}

#[test]
#[ignore = "needs the packages of libraries"]
fn duktape() {
    let program = file("tests/c/hooks.js");
    same_in_a_scope("duktape", "/usr/include", &["-lduktape"], &program, 500_000);
}

#[test]
#[ignore = "needs the packages of libraries"]
fn sqlite() {
    same_in_a_scope("sqlite", "/usr/include", &["-lsqlite3"], &file("../../docs/C.md"), 100_000);
}

#[test]
#[ignore = "needs the packages of libraries"]
fn libxml2() {
    let svg = file("../../docs/plots/strings.svg");
    same_in_a_scope("xml", "/usr/include/libxml2", &["-lxml2"], &svg, 50_000);
}

#[test]
#[ignore = "needs the packages of libraries"]
fn expat() {
    let svg = file("../../docs/plots/strings.svg");
    same_in_a_scope("expat", "/usr/include", &["-lexpat"], &svg, 10_000);
}

/// A description of this workspace.
fn json() -> Vec<u8> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let run = cargo.current_dir(CRATE).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    run.stdout
}

#[test]
#[ignore = "needs the packages of libraries"]
fn cjson() {
    same_in_a_scope("cjson", "/usr/include", &["-lcjson"], &json(), 100_000);
}

/// Debian has it from version 13 on.
#[test]
#[ignore = "needs the packages of libraries"]
fn yyjson() {
    if has("yyjson.h", "libyyjson-dev") {
        same_in_a_scope("yyjson", "/usr/include", &["-lyyjson"], &json(), 100_000);
    }
}

#[test]
#[ignore = "needs the packages of libraries"]
fn zlib() {
    same_in_a_scope("zlib", "/usr/include", &["-lz"], &file("../../docs/C.md"), 100_000);
}

#[test]
#[ignore = "needs the packages of libraries"]
fn stb() {
    let (width, height) = (300_u32, 200);
    let mut image = format!("P6 {width} {height} 255\n").into_bytes();
    for y in 0..height {
        image.extend(
            (0..width).flat_map(|x| [x * y, x ^ y, 3 * x + 5 * y]).map(|n| n.to_le_bytes()[0]),
        );
    }
    same_in_a_scope("stb", "/usr/include/stb", &[], &image, 500_000);
}
