//! Claim: programs in C11, C++17 and C++20 that are linked to the library behave as its headers
//! say, with every installed compiler: plain, optimised, and under sanitizers.

#![cfg(all(unix, target_pointer_width = "64"))]

use crate::common::{Program, compilers, has, has_google_test, library};
use crate::objects::{object, objects};
use std::fs;

const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic"];
const ASAN: &[&str] = &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

const ALL: &str = "--gtest_filter=*";
const SANITIZED: &str = "--gtest_filter=-limited.*";

/// Compiles a file of `tests` as C++ of this standard, and links it to the library.
fn program(
    compiler: &str,
    (file, standard): (&str, &str),
    flags: &[&str],
    libraries: &[&str],
    name: &str,
) -> Program {
    let objects = objects(compiler, flags, name);
    let library = library().to_str().unwrap();
    let more = [&[objects[0].as_str(), objects[1].as_str(), library], libraries].concat();
    let poison = if cfg!(debug_assertions) { "-DPOISON" } else { "-DNDEBUG" };
    // By default, clang does not declare the sized forms of `delete`.
    let own = [standard, "-fsized-deallocation", "-DTRANSPARENT", poison];
    Program::compile_with(compiler, file, &[STRICT, &own, flags].concat(), &more)
}

/// Compiles the tests of `GoogleTest` with these flags and runs those that match the filter, at
/// least `least` of them.
fn pass(compiler: &str, standard: &str, flags: &[&str], name: &str, filter: &str, least: usize) {
    if !has_google_test() {
        return;
    }
    let libraries = ["-lgtest", "-lgtest_main"];
    let source = ("cpp/operators.cpp", standard);
    let run = program(compiler, source, flags, &libraries, name).run(&["--gtest_brief=1", filter]);
    run.assert_google_tests_passed(least, &format!("{compiler} {flags:?}"));
}

#[test]
fn google_tests_as_cpp20() {
    let flags = ["-O2", "-DNDEBUG"];
    compilers("c++")
        .for_each(|compiler| pass(compiler, "-std=c++20", &flags, "optimised", ALL, 20));
}

#[test]
fn google_tests_as_cpp17_under_address_sanitizer() {
    compilers("c++").for_each(|compiler| pass(compiler, "-std=c++17", ASAN, "asan", SANITIZED, 19));
}

/// Not with clang, which links operators of its own to every program under this sanitizer.
#[test]
fn google_tests_under_the_thread_sanitizer() {
    compilers("c++").filter(|compiler| *compiler == "g++").for_each(|compiler| {
        let flags = ["-O1", "-g", "-fsanitize=thread"];
        pass(compiler, "-std=c++17", &flags, "tsan", "--gtest_filter=threads.*", 4);
    });
}

/// The functions of C, in a C program, whose operators are not replaced.
#[test]
fn functions_of_c() {
    for compiler in compilers("cc") {
        for (flags, name) in
            [(&["-O2"][..], "c"), (&["-O2", "-static"], "c-static"), (ASAN, "c-asan")]
        {
            let flags = [&["-std=c11"], flags].concat();
            let malloc = object(compiler, "malloc.c", &flags, &format!("{name}-{compiler}.o"));
            let more = [malloc.as_str(), library().to_str().unwrap()];
            let flags = [STRICT, &flags].concat();
            let program = Program::compile_with(compiler, "c/blocks.c", &flags, &more);
            let run = program.run(&[]);
            assert!(run.succeeded && run.output.contains("all of it"), "{}", run.output);
        }
    }
}

/// With the C library alone, and with each other allocator that is installed.
#[cfg(target_os = "linux")]
#[test]
fn functions_of_the_c_library_serve_blocks_of_scopes() {
    let folder = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let libraries = ["libmimalloc.so.2", "libjemalloc.so.2"].map(|name| format!("{folder}/{name}"));
    let there = libraries.iter().filter(|path| fs::exists(path).unwrap_or_default());
    let settings = there.map(|path| format!("LD_PRELOAD={path}")).chain(["LD_PRELOAD=".to_owned()]);
    let settings: Vec<String> = settings.collect();
    for compiler in compilers("c++") {
        let source = ("cpp/foreign.cpp", "-std=c++17");
        let program = program(compiler, source, &["-O2"], &[], "foreign");
        for setting in &settings {
            let run = program.run_under(&["env", setting], &[]);
            assert_eq!(run.output, "all of it\n", "{compiler} {setting}");
        }
    }
}

/// The programs whose instructions are counted give the same answers with and without an arena.
#[test]
fn programs_answer_the_same_with_and_without() {
    if !has("nlohmann/json.hpp", "nlohmann-json3-dev") {
        return;
    }
    let programs = program("g++", ("cpp/programs.cpp", "-std=c++17"), &["-O0"], &[], "programs");
    for name in ["json", "json_round_trip", "json_small", "regex", "group", "ast", "split"] {
        let (with, without) = (programs.run(&[name, "3"]), programs.run(&[name, "3", "outside"]));
        assert!(with.succeeded && without.succeeded, "{name}");
        assert_eq!(with.output, without.output, "{name}");
    }
}

#[test]
fn options_may_name_some_members_only() {
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/named.cpp");
    let main = "int main() { return ebbtide::in_arena({.label = \"label\"}, [] { return 0; }); }";
    fs::write(file, format!("#include <ebbtide_new.hpp>\n{main}\n")).unwrap();
    for compiler in compilers("c++") {
        let flags = [&["-std=c++20", "-fsyntax-only"], STRICT].concat();
        Program::check(compiler, file, &flags).unwrap();
    }
}

/// Each header compiles on its own, in every language that it supports.
#[test]
fn the_headers_compile_alone() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let (c, cpp) = (format!("{folder}/alone.c"), format!("{folder}/alone.cpp"));
    fs::write(&c, "#include <ebbtide_new.h>\nint main(void) { return 0; }\n").unwrap();
    let main = "int main() { return ebbtide::in_arena(\"label\", [] { return ebbtide::outside([] { \
                return static_cast<int>(ebbtide::report_text().size()); }); }); }\n";
    fs::write(&cpp, format!("#include <ebbtide_new.hpp>\n{main}")).unwrap();
    let cpp_header = format!("{folder}/header.cpp");
    fs::write(&cpp_header, "#include <ebbtide_new.hpp>\n").unwrap();
    for compiler in compilers("cc") {
        let flags = [&["-std=c11", "-fsyntax-only"], STRICT].concat();
        Program::check(compiler, &c, &flags).unwrap();
    }
    for compiler in compilers("c++") {
        for standard in ["-std=c++98", "-std=c++14"] {
            let errors =
                Program::check(compiler, &cpp_header, &[standard, "-fsyntax-only"]).unwrap_err();
            let count = errors.matches("error:").count();
            assert!(count == 1 && errors.contains("requires C++17"), "{errors}");
        }
        for standard in ["-std=c++17", "-std=c++20"] {
            for more in [&[][..], &["-fno-exceptions", "-fno-rtti"]] {
                let flags = [&[standard, "-fsyntax-only"], STRICT, more].concat();
                Program::check(compiler, &cpp, &flags).unwrap();
            }
        }
    }
}

/// The first example of docs/CPP-TRANSPARENT.md.
#[test]
fn the_example_of_the_guide_runs() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/CPP-TRANSPARENT.md");
    let guide = fs::read_to_string(guide).unwrap();
    let example = guide.split("```cpp\n").nth(1).unwrap().split("```").next().unwrap();
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/guide.cpp");
    fs::write(file, example).unwrap();
    let run = program("g++", (file, "-std=c++17"), &["-O1"], &[], "guide").run(&[]);
    assert!(run.succeeded, "{}", run.output);
    assert_eq!(run.output, "a word that is too long to be inside of its string 999\n");
}
