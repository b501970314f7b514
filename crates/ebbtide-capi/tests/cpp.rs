//! Claim: `ebbtide.hpp` does what its comments say, as C++17 and C++20, with every installed
//! compiler: plain, optimised, and under sanitizers. Programs that must not compile do not.

#![cfg(unix)]

use crate::common::{Program, compilers, has_google_test};
use std::fs;

const STANDARDS: [&str; 2] = ["-std=c++17", "-std=c++20"];
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic"];
const SETS: [&[&str]; 3] = [
    &["-O0", "-g"],
    &["-O2", "-DNDEBUG"],
    // GCC takes twice as long for `-O1` here.
    &["-Og", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
];

/// Test files, and the minimum number of tests in each.
const ARENAS: (&str, usize) = ("cpp/arenas.cpp", 40);
const CONTAINERS: (&str, usize) = ("cpp/containers.cpp", 18);

/// Compiles a file of tests with `GoogleTest` and these flags, and runs it.
fn pass((file, least): (&str, usize), standard: &str, flags: &[&str]) {
    if !has_google_test() {
        return;
    }
    for compiler in compilers("c++") {
        let flags = [&[standard], STRICT, flags].concat();
        let libraries = ["-lgtest", "-lgtest_main"];
        let program = Program::compile_with(compiler, file, &flags, &libraries);
        let run = program.run(&["--gtest_brief=1"]);
        run.assert_google_tests_passed(least, &format!("{compiler} {flags:?} {file}"));
    }
}

#[test]
fn google_tests_as_cpp17() {
    SETS.iter().for_each(|flags| pass(ARENAS, "-std=c++17", flags));
}

#[test]
fn google_tests_as_cpp20() {
    pass(ARENAS, "-std=c++20", SETS[1]);
}

#[test]
fn google_tests_under_the_thread_sanitizer() {
    pass(ARENAS, "-std=c++17", &["-O1", "-g", "-fsanitize=thread"]);
}

#[test]
fn google_tests_of_containers() {
    pass(CONTAINERS, "-std=c++17", SETS[2]);
    pass(CONTAINERS, "-std=c++20", SETS[1]);
}

/// The standard library of clang 14 has no `<memory_resource>`.
#[test]
#[ignore = "needs libc++ and Boost.Container"]
fn resources_belong_to_any_polymorphic_allocators() {
    let print = |compiler, flags: &[&str], libraries: &[&str]| {
        let flags = [&["-std=c++17"], STRICT, SETS[2], flags].concat();
        let run = Program::compile_with(compiler, "cpp/pmr.cpp", &flags, libraries).run(&[]);
        assert!(run.succeeded, "{compiler} {flags:?}:\n{}", run.output);
        run.output
    };
    for compiler in compilers("c++") {
        let boost = print(compiler, &["-DBOOST"], &["-lboost_container"]);
        assert_eq!(boost, print(compiler, &[], &[]));
        if compiler == "clang++" {
            assert_eq!(boost, print(compiler, &["-stdlib=libc++"], &[]));
        }
    }
}

#[test]
fn invalid_programs_do_not_compile() {
    for compiler in compilers("c++") {
        let check = |case: usize| {
            let case = format!("-DCASE={case}");
            Program::check(compiler, "cpp/refused.cpp", &["-std=c++17", "-fsyntax-only", &case])
        };
        check(0).unwrap();
        let errors = (1..).map(|case| match check(case) {
            Err(error) => error,
            Ok(()) => panic!("{compiler}: case {case} compiles"),
        });
        assert_eq!(errors.take_while(|error| !error.contains("no such case")).count(), 12);
    }
}

#[test]
fn the_header_of_c_compiles_as_cpp() {
    for compiler in compilers("c++") {
        for standard in STANDARDS {
            // Macros are expanded in the files of other projects, with their warnings.
            let more = &["-fsyntax-only", "-Wold-style-cast", "-Wconversion", "-Wsign-conversion"];
            let flags = [&[standard], &more[..], STRICT].concat();
            Program::check(compiler, "cpp/header.cpp", &flags).unwrap();
        }
    }
}

/// Otherwise a compiler prints hundreds of errors, none of which names the cause.
#[test]
fn an_older_standard_gives_one_error() {
    let cases = [
        ("ebbtide.hpp", "cpp", &["c++98", "c++11", "c++14"][..], "requires C++17"),
        ("ebbtide.h", "cpp", &["c++98"], "C++11 or later"),
        ("ebbtide_hooks.h", "cpp", &["c++98"], "C++11 or later"),
        ("ebbtide.h", "c", &["c89", "gnu89"], "requires C11"),
        ("ebbtide_hooks.h", "c", &["c89", "gnu89"], "requires C11"),
    ];
    for (header, language, standards, text) in cases {
        let file = format!("{}/old-{header}.{language}", env!("CARGO_TARGET_TMPDIR"));
        fs::write(&file, format!("#include <{header}>\n")).unwrap();
        for compiler in compilers(if language == "c" { "cc" } else { "c++" }) {
            for standard in standards {
                let standard = format!("-std={standard}");
                let errors =
                    Program::check(compiler, &file, &[&standard, "-fsyntax-only"]).unwrap_err();
                assert!(errors.contains(text), "{errors}");
                let count = errors.matches("error:").count();
                assert_eq!(count, 1, "{compiler} {standard}: {errors}");
            }
        }
    }
}

/// Other projects enable more warnings than this one, and include the headers as if they were their
/// own files.
#[test]
fn the_header_of_cpp_has_no_warnings() {
    let more: &[&str] = &[
        "-fsyntax-only",
        "-DCASE=0",
        "-Wconversion",
        "-Wsign-conversion",
        "-Wshadow",
        "-Wold-style-cast",
        "-Wzero-as-null-pointer-constant",
        "-Wcast-qual",
        "-Wundef",
        "-fno-rtti",
    ];
    for compiler in compilers("c++") {
        let own: &[&str] = match compiler {
            "g++" => &["-Wuseless-cast", "-Weffc++", "-Wsuggest-override", "-Wduplicated-branches"],
            _ => &["-Wmissing-noreturn", "-Wextra-semi", "-Wshadow-all", "-Wcomma"],
        };
        for standard in STANDARDS {
            let flags = [&[standard], STRICT, more, own].concat();
            Program::check(compiler, "cpp/refused.cpp", &flags).unwrap();
        }
    }
}

/// Games, compilers and embedded programs are often built so.
#[test]
fn without_exceptions_and_type_information() {
    for compiler in compilers("c++") {
        for (standard, more, text) in [
            ("-std=c++17", &["-O0", "-g"][..], "ebbtide: "),
            ("-std=c++20", &["-O2", "-DNDEBUG"], "ebbtide: "),
            ("-std=c++17", SETS[2], "ebbtide: "),
            ("-std=c++20", &["-O1", "-DOWN"], ""),
        ] {
            let flags = [STRICT, &[standard, "-fno-exceptions", "-fno-rtti"], more].concat();
            let program = Program::compile(compiler, "cpp/no_exceptions.cpp", &flags);
            let all = program.run(&[]);
            assert!(all.succeeded, "{compiler} {flags:?}:\n{}", all.output);
            let count: usize = all.output.trim().parse().unwrap();
            for case in 0..count {
                let run = program.run(&[&case.to_string()]);
                let is_right = !run.succeeded && run.output.contains(text);
                let is_quiet = !text.is_empty() || run.output.is_empty();
                assert!(is_right && is_quiet, "{compiler} {flags:?} {case}:\n{}", run.output);
            }
        }
    }
}
