//! Claim: `CMake`, Meson and pkg-config find what `cargo xtask dist` installs of the transparent
//! arenas, and the examples, built against it in an empty folder, give the right answers. `CMake`
//! also builds the library by `FetchContent`.

#![cfg(target_os = "linux")]

use crate::common::{Build, build, has, is_there, run};
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
    let (prefix, source) = (Build::Shared.prefix(), format!("{SCRATCH}/example"));
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
    let program = format!("{source}/small");
    let small = format!("{source}/small.cpp");
    fs::write(&small, SMALL).unwrap();
    let mut compile = Command::new("c++");
    compile.args(["-std=c++17", &small, "-o", &program]);
    compile.args(Build::Shared.cflags()).args(Build::Shared.libs());
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

/// Alone, and with the arenas of C++, in either order.
#[test]
fn cmake_builds_the_operators_with_cargo() {
    const OPERATORS: &str =
        "ebbtide_new SOURCE_DIR ${EBBTIDE_SOURCE} SOURCE_SUBDIR crates/ebbtide-new";
    const ARENAS: &str = "ebbtide SOURCE_DIR ${EBBTIDE_SOURCE} SOURCE_SUBDIR crates/ebbtide-capi";
    let all = [(&[OPERATORS][..], ""), (&[OPERATORS, ARENAS], BOTH), (&[ARENAS, OPERATORS], BOTH)];
    // Shares the build folder of these tests, where `dist` builds the library, too.
    let target = Path::new(SCRATCH).parent().unwrap().display();
    let options =
        [format!("-DEBBTIDE_SOURCE={CRATE}/../.."), format!("-DEBBTIDE_CARGO_TARGET={target}")];
    for (number, (declarations, both)) in all.into_iter().enumerate() {
        let source = format!("{SCRATCH}/fetch-{number}");
        let _ = fs::remove_dir_all(&source);
        fs::create_dir_all(&source).unwrap();
        let fetched: String = declarations.iter().map(|what| fetch(what)).collect();
        fs::write(
            format!("{source}/CMakeLists.txt"),
            format!("{FETCH}{fetched}{SMALL_TARGET}{both}"),
        )
        .unwrap();
        fs::write(format!("{source}/small.cpp"), SMALL).unwrap();
        fs::copy(format!("{CRATE}/examples/cmake/both.cpp"), format!("{source}/both.cpp")).unwrap();
        let folder = format!("{source}/build");
        build(Command::new("cmake").args(["-S", &source, "-B", &folder]).args(&options));
        build(Command::new("cmake").args(["--build", &folder]));
        let small = run(&mut Command::new(format!("{folder}/small")), "");
        assert_eq!(small, "1 block of an arena\n");
        if !both.is_empty() {
            assert_eq!(run(&mut Command::new(format!("{folder}/both")), ""), "1007, 1 scopes\n");
        }
    }
}

/// How a project takes a part of the repository.
fn fetch(declaration: &str) -> String {
    let name = declaration.split(' ').next().unwrap();
    format!("FetchContent_Declare({declaration})\nFetchContent_MakeAvailable({name})\n")
}

const FETCH: &str = "
cmake_minimum_required(VERSION 3.18)
project(fetch CXX)
set(CMAKE_CXX_STANDARD 17)
include(FetchContent)
";

const SMALL_TARGET: &str = "
add_executable(small small.cpp)
target_link_libraries(small PRIVATE ebbtide::new)
";

const BOTH: &str = "
add_executable(both both.cpp)
target_link_libraries(both PRIVATE ebbtide::ebbtide ebbtide::new)
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
