//! Claim: programs in C11, C++17 and C++20 that are linked to the library behave as its headers
//! say, with every installed compiler: plain, optimised, and under sanitizers.

#![cfg(all(unix, target_pointer_width = "64"))]

use crate::common::{Build, Program, compilers, has, has_google_test};
use std::fs;

const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic"];
const ASAN: &[&str] = &["-Og", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

const ALL: &str = "--gtest_filter=*";
const SANITIZED: &str = "--gtest_filter=-limited.*";

/// The flags of C++ of this standard. By default, clang does not declare the sized forms of `delete`.
fn flags<'f>(standard: &'f str, more: &[&'f str]) -> Vec<&'f str> {
    [STRICT, &[standard, "-fsized-deallocation", "-DTRANSPARENT"], more].concat()
}

/// Runs the tests of `GoogleTest` in a program that match the filter, at least `least` of them.
fn pass(program: &Program, filter: &str, least: usize) {
    let run = program.run(&["--gtest_brief=1", filter]);
    run.assert_google_tests_passed(least, &program.path().display().to_string());
}

/// The tests of the operators, and the operators.
const OPERATORS: &str = "cpp/operators.cpp";
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c/operators.cpp");
const GOOGLE: &[&str] = &["-lgtest", "-lgtest_main"];

/// With the installed library, and with the one that has debug assertions.
#[test]
fn google_tests_as_cpp20() {
    for compiler in compilers("c++").filter(|_| has_google_test()) {
        let flags = flags("-std=c++20", &["-O2", "-DNDEBUG"]);
        let object = Program::object(compiler, OPERATORS, &flags);
        for build in [Build::Shared, Build::Checked] {
            pass(&Program::link(compiler, &[&object], Some(build), GOOGLE), ALL, 20);
        }
    }
}

/// With a library that overwrites freed blocks. For clang, the operators are compiled with the
/// program, as the guide says.
#[test]
fn google_tests_as_cpp17_under_address_sanitizer() {
    for compiler in compilers("c++").filter(|_| has_google_test()) {
        let flags = flags("-std=c++17", &[ASAN, &["-DPOISON"]].concat());
        let own: &[&str] = if compiler == "clang++" { &[SOURCE] } else { &[] };
        let program = Program::compile_with(compiler, OPERATORS, &flags, &[own, GOOGLE].concat());
        pass(&program, SANITIZED, 21);
    }
}

/// The operators are compiled with the program, as the guide says. Not with clang, which links
/// operators of its own to every program under this sanitizer.
#[test]
fn google_tests_under_the_thread_sanitizer() {
    for compiler in compilers("c++").filter(|name| *name == "g++" && has_google_test()) {
        let flags = flags("-std=c++17", &["-O1", "-g", "-fsanitize=thread"]);
        let more = [&[SOURCE], GOOGLE].concat();
        let program = Program::compile_with(compiler, OPERATORS, &flags, &more);
        pass(&program, "--gtest_filter=threads.*", 4);
    }
}

/// The functions of C, in a C program, whose operators are not replaced.
#[test]
fn functions_of_c() {
    for compiler in compilers("cc") {
        for flags in [&["-O2"][..], &["-O2", "-static"], ASAN] {
            let flags = [STRICT, &["-std=c11"], flags].concat();
            let run = Program::compile(compiler, "c/blocks.c", &flags).run(&[]);
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
        let program = Program::compile(compiler, "cpp/foreign.cpp", &flags("-std=c++17", &["-O2"]));
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
    let programs = Program::compile("g++", "cpp/programs.cpp", &flags("-std=c++17", &["-O0"]));
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
    let run = Program::compile("g++", file, &flags("-std=c++17", &["-O1"])).run(&[]);
    assert!(run.succeeded, "{}", run.output);
    assert_eq!(run.output, "a word that is too long to be inside of its string 999\n");
}
