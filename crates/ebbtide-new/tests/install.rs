//! Claim: `CMake`, Meson and pkg-config find what `cargo xtask dist` installs of the transparent
//! arenas; the tests of the operators pass with it; and the examples, built against it in an empty
//! folder, give the right answers. `CMake` also builds the library by `FetchContent`.

#![cfg(target_os = "linux")]

use crate::common::{compilers, has, has_google_test, is_there, run};
use std::{fs, path::Path, process::Command, sync::OnceLock};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

const TEXTS: &str = "[1, 2, {\"a\": null}]\n[3, 4, {\"b\": null}]\n[1, x]\n";
const COUNTS: &str = "2: 1 array, 1 null, 2 number, 1 object\n1: no JSON: byte 5\n";

/// The folder of the installed library.
fn prefix() -> &'static str {
    static PREFIX: OnceLock<String> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = format!("{SCRATCH}/operators");
        let _ = fs::remove_dir_all(&prefix);
        let mut dist = Command::new(env!("CARGO"));
        dist.args(["run", "--quiet", "--package", "xtask", "--", "dist", &prefix]);
        run(dist.current_dir(CRATE).env_remove("DESTDIR"), "");
        prefix
    })
}

/// How programs are compiled and linked, says pkg-config.
fn flags() -> String {
    let mut pkgconfig = Command::new("pkg-config");
    pkgconfig.env("PKG_CONFIG_PATH", format!("{}/lib/pkgconfig", prefix()));
    run(pkgconfig.args(["--cflags", "--libs", "ebbtide-new"]), "")
}

#[test]
fn the_tests_of_the_operators_pass_with_the_installed_library() {
    if !has_google_test() {
        return;
    }
    let flags = flags();
    for compiler in compilers("c++") {
        let program = format!("{SCRATCH}/operators-{compiler}");
        let mut compile = Command::new(compiler);
        // By default, clang does not declare the sized forms of `delete`.
        compile.args(["-std=c++17", "-fsized-deallocation", "-O1", "-DNDEBUG", "-o", &program]);
        compile.arg(format!("{CRATE}/tests/cpp/operators.cpp"));
        compile.args(flags.split_whitespace()).args(["-lgtest", "-lgtest_main"]);
        run(&mut compile, "");
        run(Command::new(&program).arg("--gtest_brief=1"), "");
    }
}

#[test]
fn programs_find_the_installed_operators() {
    if !has("nlohmann/json.hpp", "nlohmann-json3-dev") {
        return;
    }
    let (prefix, source) = (prefix(), format!("{SCRATCH}/example"));
    let _ = fs::remove_dir_all(&source);
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

    let found_by_pkgconfig = format!("{prefix}/lib/pkgconfig");
    let flags = flags();
    let program = format!("{source}/small");
    let small = format!("{source}/small.cpp");
    fs::write(&small, SMALL).unwrap();
    let mut compile = Command::new("c++");
    compile.args(["-std=c++17", &small, "-o", &program]).args(flags.split_whitespace());
    run(&mut compile, "");
    assert_eq!(run(&mut Command::new(&program), ""), "1 block of an arena\n");

    if is_there("meson") {
        fs::write(format!("{source}/meson.build"), MESON).unwrap();
        let build = format!("{source}/meson");
        let mut setup = Command::new("meson");
        setup.args(["setup", &build, &source]).env("PKG_CONFIG_PATH", &found_by_pkgconfig);
        run(&mut setup, "");
        run(Command::new("meson").args(["compile", "-C", &build]), "");
        let small = run(&mut Command::new(format!("{build}/small")), "");
        assert_eq!(small, "1 block of an arena\n");
    }
}

const MESON: &str = "
project('small', 'cpp', default_options : ['cpp_std=c++17'])
executable('small', 'small.cpp', dependencies : dependency('ebbtide-new'))
";

#[test]
fn cmake_builds_the_operators_with_cargo() {
    let source = format!("{SCRATCH}/fetch");
    let _ = fs::remove_dir_all(&source);
    fs::create_dir_all(&source).unwrap();
    fs::write(format!("{source}/CMakeLists.txt"), FETCH).unwrap();
    fs::write(format!("{source}/small.cpp"), SMALL).unwrap();
    // Shares the build folder of these tests, where `dist` builds the library, too.
    let target = Path::new(SCRATCH).parent().unwrap().display();
    let build = format!("{source}/build");
    let options =
        [format!("-DEBBTIDE_SOURCE={CRATE}/../.."), format!("-DEBBTIDE_CARGO_TARGET={target}")];
    run(Command::new("cmake").args(["-S", &source, "-B", &build]).args(options), "");
    run(Command::new("cmake").args(["--build", &build]), "");
    assert_eq!(run(&mut Command::new(format!("{build}/small")), ""), "1 block of an arena\n");
}

const FETCH: &str = "
cmake_minimum_required(VERSION 3.18)
project(fetch CXX)
set(CMAKE_CXX_STANDARD 17)
include(FetchContent)
FetchContent_Declare(ebbtide_new SOURCE_DIR ${EBBTIDE_SOURCE} SOURCE_SUBDIR crates/ebbtide-new)
FetchContent_MakeAvailable(ebbtide_new)
add_executable(small small.cpp)
target_link_libraries(small PRIVATE ebbtide::new)
";

/// This program uses no operator itself, so the header has to cause them to be linked.
const SMALL: &str = r#"
#include <ebbtide_new.hpp>
#include <cstdio>
#include <memory>
int main() {
    auto made = ebbtide::in_arena([] { return std::make_unique<int>(1); });
    std::printf("%d block of an arena\n", ebb_is_in_arena(made.get()));
}
"#;
