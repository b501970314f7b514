//! Claim: what `cargo xtask dist` installs is found by `CMake` and by pkg-config, and programs that are
//! built in an empty folder run, also after the installed folder was moved.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// Runs a command, which must succeed, and returns what it prints.
fn run(command: &mut Command, input: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; apt-get install cmake pkg-config"));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{command:?}:\n{text}");
    text
}

/// A copy of the examples in a folder with nothing else.
fn examples() -> String {
    let folder = format!("{SCRATCH}/examples");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(SCRATCH).unwrap();
    let source = format!("{CRATE}/examples");
    run(Command::new("cp").args(["-r", &source, &folder]), "");
    folder
}

const WORDS: &str = "the tide comes in, the tide goes out. The moon pulls the tide!";
const COUNTS: &str = "4 the\n3 tide\n1 comes\n1 goes\n1 in\n";

#[test]
fn programs_are_built_against_an_installed_folder() {
    let (first, prefix) = (format!("{SCRATCH}/first"), format!("{SCRATCH}/prefix"));
    for folder in [&first, &prefix] {
        let _ = fs::remove_dir_all(folder);
    }
    let xtask = ["run", "--quiet", "--package", "xtask", "--", "dist", &first];
    for _ in 0..2 {
        // The second time over what is there.
        run(Command::new(env!("CARGO")).args(xtask).current_dir(CRATE), "");
    }
    fs::rename(&first, &prefix).unwrap();
    for file in
        ["include/ebbtide.h", "include/ebbtide.hpp", "lib/libebbtide.a", "lib/libebbtide.so"]
    {
        assert!(Path::new(&prefix).join(file).exists(), "{file}");
    }
    let examples = examples();

    let build = format!("{examples}/build");
    let path = format!("-DCMAKE_PREFIX_PATH={prefix}");
    let source = format!("{examples}/cmake");
    run(Command::new("cmake").args(["-S", &source, "-B", &build, &path]), "");
    run(Command::new("cmake").args(["--build", &build]), "");
    assert_eq!(run(&mut Command::new(format!("{build}/words")), WORDS), COUNTS);
    let values = run(&mut Command::new(format!("{build}/calculate")), "1 + 2 * 3\n(1+2)*3/4\n");
    assert_eq!(values, "7\n2.25\n");
    let needed = run(Command::new("readelf").args(["-d", &format!("{build}/words")]), "");
    assert!(needed.contains("[libebbtide.so.0]"), "{needed}");

    let folder = format!("{examples}/make");
    let pkgconfig = format!("{prefix}/lib/pkgconfig");
    run(Command::new("make").arg("-C").arg(&folder).env("PKG_CONFIG_PATH", &pkgconfig), "");
    assert_eq!(run(&mut Command::new(format!("{folder}/words")), WORDS), COUNTS);
}
