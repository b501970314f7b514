//! Claim: `CMake`, Meson, and make with pkg-config find the library that `cargo xtask dist`
//! installs, and programs built in an empty folder run, even after the installed folder was moved.
//! A `CMake` project can also build the library from source.

#![cfg(target_os = "linux")]

use crate::common::{Build, build, built, compilers, dist, exported, is_there, run};
use std::{fs, path::Path, process::Command};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

fn prefix() -> &'static str {
    Build::Shared.prefix()
}

/// A command that finds the installed library by pkg-config.
fn with_pkgconfig(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("PKG_CONFIG_PATH", format!("{}/lib/pkgconfig", prefix()));
    command
}

/// A copy of an example in a folder with nothing else.
fn copied(example: &str) -> String {
    let folder = format!("{SCRATCH}/examples-{example}");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for file in fs::read_dir(format!("{CRATE}/examples/{example}")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), Path::new(&folder).join(file.file_name())).unwrap();
    }
    folder
}

/// Configures and builds a project of `CMake`, and returns the folder with its programs.
fn built_by_cmake(example: &str, options: &[String]) -> String {
    let source = copied(example);
    let folder = format!("{source}/build");
    build(Command::new("cmake").args(["-S", &source, "-B", &folder]).args(options));
    run(Command::new("cmake").args(["--build", &folder]), "");
    folder
}

/// The shared libraries that a program requires.
fn needed(program: &str) -> String {
    run(Command::new("readelf").args(["-d", program]), "")
}

const SONAME: &str = "[libebbtide.so.0]";
const WORDS: &str = "the tide comes in, the tide goes out. The moon pulls the tide!";
const COUNTS: &str = "4 the\n3 tide\n1 comes\n1 goes\n1 in\n";

#[test]
fn the_installed_shared_library_exports_its_own_functions_only() {
    let lib = format!("{}/lib", prefix());
    let file = concat!("libebbtide.so.", env!("CARGO_PKG_VERSION"));
    for (link, target) in [("libebbtide.so", "libebbtide.so.0"), ("libebbtide.so.0", file)] {
        assert_eq!(fs::read_link(format!("{lib}/{link}")).unwrap(), Path::new(target));
    }
    let library = format!("{lib}/libebbtide.so");
    assert!(needed(&library).contains(SONAME));
    let names = exported(&library);
    assert!(names.iter().any(|name| name == "ebb_arena_new"), "{names:?}");
    let others: Vec<_> = names.iter().filter(|name| !name.starts_with("ebb_")).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Rust's standard library has a megabyte of code, and symbols that other libraries in Rust define
/// as well.
#[test]
fn the_installed_static_libraries_have_little_code_and_define_their_own_functions_only() {
    for (library, most) in [("ebbtide", 50_000), ("ebbtide_new_engine", 500_000)] {
        let library = format!("{}/lib/lib{library}.a", prefix());
        let sizes = run(Command::new("size").args(["--format=berkeley", "--total", &library]), "");
        let code = sizes.lines().last().unwrap().split_whitespace().next().unwrap();
        assert!(code.parse::<usize>().unwrap() < most, "{sizes}");
        let symbols = run(Command::new("nm").args(["-gP", "--defined-only", &library]), "");
        let names = symbols.lines().filter(|line| line.contains(' '));
        let others: Vec<_> = names.filter(|name| !name.starts_with("ebb_")).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}

/// Into a folder with another file, and into none. The second word of `CC` is used: otherwise the
/// first case would fail with the other message.
#[test]
fn a_failed_installation_leaves_the_folder_as_it_was() {
    let prefix = format!("{SCRATCH}/failed");
    let other_machine = if cfg!(target_arch = "x86_64") { "env cc -m32" } else { "false" };
    for (settings, message) in [
        ([("CC", "env cc"), ("CXX", "false")], "false: "),
        ([("CC", "env cc"), ("CXX", "no compiler")], "no: "),
        ([("CC", other_machine), ("CXX", "c++")], "set CC to a compiler"),
    ] {
        for has_file in [false, true] {
            let _ = fs::remove_dir_all(&prefix);
            if has_file {
                fs::create_dir_all(format!("{prefix}/lib")).unwrap();
                fs::write(format!("{prefix}/lib/libebbtide.a"), "older").unwrap();
            }
            let output = built(dist(&prefix).envs(settings));
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && text.contains(message), "{settings:?}: {text}");
            let list = run(
                Command::new("find").arg(".").current_dir(SCRATCH).args(["-path", "./failed*"]),
                "",
            );
            let expected = "./failed\n./failed/lib\n./failed/lib/libebbtide.a\n";
            assert_eq!(list, if has_file { expected } else { "" }, "{settings:?}");
        }
    }
}

#[test]
fn a_freestanding_library_needs_libc_only() {
    let prefix = format!("{SCRATCH}/freestanding");
    build(dist(&prefix).arg("--freestanding"));
    let (source, program) = (format!("{prefix}/program.c"), format!("{prefix}/program"));
    let text = "
        #include <ebbtide.h>
        int main(void) {
            static char buffer[4096];
            ebb_arena_storage storage;
            ebb_arena *arena = ebb_fixed_new(&storage, buffer, sizeof buffer);
            ebb_scope s = ebb_open(arena);
            puts(ebb_sprintf(&s, \"%d\", 7));
            ebb_close(&s);
            return ebb_arena_free(arena);
        }";
    fs::write(&source, text).unwrap();
    let pkgconfig = format!("{prefix}/lib/pkgconfig");
    let flags = ["--cflags", "--libs", "ebbtide"];
    let flags = run(Command::new("pkg-config").args(flags).env("PKG_CONFIG_PATH", pkgconfig), "");
    for compiler in compilers("cc") {
        let mut compile = Command::new(compiler);
        compile.args([&source, "-o", &program]).args(flags.split_whitespace());
        run(compile.args(["-nodefaultlibs", "-lc"]), "");
        assert_eq!(run(&mut Command::new(&program), ""), "7\n");
    }
}

#[test]
fn cmake_finds_the_installed_package() {
    let build = built_by_cmake("cmake", &[format!("-DCMAKE_PREFIX_PATH={}", prefix())]);
    let (calculate, tree) = (format!("{build}/calculate"), format!("{build}/tree"));
    let values = "1 + 2 * 3\n(1+2)*3/4\n";
    assert_eq!(run(&mut Command::new(&calculate), values), "7\n2.25\n");
    assert!(!needed(&calculate).contains("ebbtide"));
    assert!(run(&mut Command::new(&tree), "(* x x)\n").starts_with("(+ x x)\n"));
    assert!(needed(&tree).contains(SONAME));
}

#[test]
fn cmake_takes_no_package_of_another_minor_version() {
    let folder = format!("{SCRATCH}/other-version");
    fs::create_dir_all(&folder).unwrap();
    for (version, is_found) in [("0.2", false), ("1.0", false), ("0.1.1", false), ("0.1.0", true)] {
        let project = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\n\
             find_package(ebbtide {version} CONFIG QUIET)\nmessage(\"found: ${{ebbtide_FOUND}}\")\n"
        );
        fs::write(format!("{folder}/CMakeLists.txt"), project).unwrap();
        let path = format!("-DCMAKE_PREFIX_PATH={}", prefix());
        let build = format!("{folder}/build");
        let _ = fs::remove_dir_all(&build);
        let text = run(Command::new("cmake").args(["-S", &folder, "-B", &build, &path]), "");
        let expected = if is_found { "found: 1" } else { "found: 0" };
        assert!(text.contains(expected), "{version}: {text}");
    }
}

#[test]
fn make_finds_the_installed_library_by_pkgconfig() {
    let folder = copied("make");
    for (target, is_shared) in [("words", true), ("words-static", false)] {
        let program = format!("{folder}/{target}");
        run(with_pkgconfig("make").args(["-C", &folder, target]), "");
        assert_eq!(run(&mut Command::new(&program), WORDS), COUNTS);
        assert_eq!(needed(&program).contains(SONAME), is_shared, "{target}");
    }
}

/// The lines of the guide, as they are written there, with the prefix in a folder of its own.
#[test]
fn programs_that_the_lines_of_the_guide_build_run() {
    let guide = fs::read_to_string(format!("{CRATE}/../../docs/C.md")).unwrap();
    let folder = copied("make");
    fs::copy(format!("{folder}/words.c"), format!("{folder}/program.c")).unwrap();
    let blocks = guide.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut shared = vec![];
    for lines in blocks.filter(|lines| lines.contains("cc program.c")) {
        let lines = lines.replace("PREFIX", prefix());
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", &lines]).current_dir(&folder).env_remove("LD_LIBRARY_PATH");
        assert_eq!(run(&mut shell, WORDS), COUNTS, "{lines}");
        shared.push(needed(&format!("{folder}/a.out")).contains(SONAME));
    }
    assert_eq!(shared, [true, false]);

    let row = guide.lines().find(|line| line.starts_with("| make |")).unwrap();
    for (at, flag) in [(1, ""), (3, "-static")] {
        let flags = row.split('`').nth(at).unwrap();
        let makefile = format!("line: words.c\n\t$(CC) {flag} -o line words.c {flags}\n");
        fs::write(format!("{folder}/Makefile"), makefile).unwrap();
        run(with_pkgconfig("make").args(["-B", "-C", &folder]), "");
        let mut line = Command::new(format!("{folder}/line"));
        assert_eq!(run(line.env_remove("LD_LIBRARY_PATH"), WORDS), COUNTS, "{flags}");
    }
}

#[test]
fn meson_finds_the_installed_library_by_pkgconfig() {
    if !is_there("meson") {
        eprintln!("left out: Meson is missing; install it with: apt-get install meson");
        return;
    }
    let folder = copied("meson");
    for (build, option, is_shared) in
        [("shared", "-Dbuildtype=release", true), ("static", "-Dprefer_static=true", false)]
    {
        let build = format!("{folder}/{build}");
        run(with_pkgconfig("meson").args(["setup", option, &build, &folder]), "");
        run(Command::new("meson").args(["compile", "-C", &build]), "");
        let answer = run(&mut Command::new(format!("{build}/json")), "[1, 2]\n");
        assert!(answer.starts_with("[1,2]\n"), "{answer}");
        assert_eq!(needed(&format!("{build}/json")).contains(SONAME), is_shared);
    }
}

#[test]
fn cmake_builds_the_library_with_cargo() {
    // Shares the build folder of these tests.
    let target = Path::new(SCRATCH).parent().unwrap().display();
    let options =
        [format!("-DEBBTIDE_SOURCE={CRATE}/../.."), format!("-DEBBTIDE_CARGO_TARGET={target}")];
    let build = built_by_cmake("fetch", &options);
    assert!(needed(&format!("{build}/server")).contains(SONAME));
    // The loader finds the library, so the program gets to its arguments.
    let started = Command::new(format!("{build}/server")).arg("port").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&started.stderr), "usage: server [PORT]\n");
}
