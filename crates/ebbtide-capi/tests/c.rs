//! Claim: `ebbtide.h` does what its comments say, with every installed C compiler: plain,
//! optimised, and under sanitizers. Each file in `tests/c` states its claims at its head.

#![cfg(unix)]

use crate::common::{Program, compilers};

const C11: &[&str] = &["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"];
const PLAIN: &[&str] = &["-O0", "-g"];
const OPTIMISED: &[&str] = &["-O2", "-DNDEBUG"];
const ASAN: &[&str] = &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
/// Blocks lie where they do without the sanitizer.
const ASAN_EXACT: &[&str] =
    &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DEBB_REDZONE=0"];
const TSAN: &[&str] = &["-O1", "-g", "-fsanitize=thread"];

/// Compiles and runs a file with every compiler and each of the sets of flags.
fn passes(file: &str, sets: &[&[&str]]) {
    for compiler in compilers("cc") {
        for flags in sets {
            let program = Program::compile(compiler, file, &[C11, flags].concat());
            let run = program.run(&[]);
            assert!(run.succeeded, "{compiler} {flags:?} {file}:\n{}", run.output);
        }
    }
}

/// Each case of a file ends with an error whose text `is_right` accepts.
fn dies(file: &str, flags: &[&str], mut is_right: impl FnMut(&str) -> bool) {
    // Finding the names of functions would take most of the time.
    let runner = ["env", "ASAN_OPTIONS=symbolize=0"];
    for compiler in compilers("cc") {
        dies_under(&runner, compiler, file, flags, &mut is_right);
    }
}

/// The same with one compiler, run by another program.
fn dies_under(
    runner: &[&str],
    compiler: &str,
    file: &str,
    flags: &[&str],
    mut is_right: impl FnMut(&str) -> bool,
) {
    let program = Program::compile(compiler, file, &[C11, flags].concat());
    let count = program.run_under(runner, &[]);
    assert!(count.succeeded, "{}", count.output);
    let count: usize = count.output.trim().parse().unwrap();
    assert!(count > 0);
    for case in 0..count {
        let run = program.run_under(runner, &[&case.to_string()]);
        let caught = !run.succeeded && is_right(&run.output);
        assert!(caught, "{compiler} {file}, case {case}:\n{}", run.output);
    }
}

#[test]
fn scopes() {
    passes("c/scopes.c", &[PLAIN, OPTIMISED, ASAN_EXACT]);
}

#[test]
fn growing() {
    passes("c/growing.c", &[PLAIN, OPTIMISED, ASAN_EXACT]);
}

#[test]
fn memory() {
    passes("c/memory.c", &[PLAIN, OPTIMISED, ASAN_EXACT]);
}

#[test]
fn heaps_and_hooks() {
    passes("c/heap.c", &[PLAIN, OPTIMISED, ASAN, ASAN_EXACT]);
}

#[test]
fn any_sequence_of_calls() {
    passes("c/model.c", &[PLAIN, OPTIMISED, ASAN]);
}

/// Projects turn on more warnings than the other tests do.
#[test]
fn the_header_has_no_warnings() {
    let more = [
        "-fsyntax-only",
        "-Wconversion",
        "-Wsign-conversion",
        "-Wshadow",
        "-Wcast-qual",
        "-Wundef",
        "-Wtype-limits",
        "-Wstrict-prototypes",
        "-Wmissing-prototypes",
    ];
    for compiler in compilers("cc") {
        for checks in ["-DEBB_CHECKS=0", "-DEBB_CHECKS=1"] {
            let flags = [C11, &more, &[checks]].concat();
            Program::check(compiler, "c/warnings.c", &flags).unwrap();
        }
    }
}

#[test]
fn jumps() {
    passes("c/jumps.c", &[PLAIN, OPTIMISED, ASAN]);
}

#[test]
fn bad_input() {
    passes("c/bad_input.c", &[PLAIN, OPTIMISED, ASAN]);
}

#[test]
fn files_with_and_without_checks_share_scopes() {
    for compiler in compilers("cc") {
        for optimised in ["-O0", "-O2"] {
            let flags = |checks| [C11, &[optimised, checks]].concat();
            let without = Program::object(compiler, "c/mixed.c", &flags("-DEBB_CHECKS=0"));
            let with = flags("-DEBB_CHECKS=1");
            let run = Program::compile_with(compiler, "c/mixed.c", &with, &[&without]).run(&[]);
            assert!(run.succeeded, "{compiler} {optimised}:\n{}", run.output);
        }
    }
}

#[test]
fn threads() {
    passes("c/threads.c", &[PLAIN, OPTIMISED, ASAN, TSAN]);
}

/// A library and a program that each have a copy of this library.
#[cfg(target_os = "linux")]
#[test]
fn a_library_may_be_unloaded() {
    for compiler in compilers("cc") {
        let plugin =
            [C11, &["-O1", "-DPLUGIN", "-shared", "-fPIC", "-Wl,--exclude-libs,ALL"]].concat();
        let plugin = Program::compile(compiler, "c/plugin.c", &plugin);
        assert_eq!(crate::common::exported(plugin.path()), ["leave_open", "print", "work"]);
        let host = Program::compile(compiler, "c/plugin.c", &[C11, PLAIN].concat());
        let run = host.run(&[plugin.path().to_str().unwrap()]);
        assert!(run.succeeded, "{compiler}:\n{}", run.output);
    }
}

/// The library uses the program's copy of this one.
#[cfg(target_os = "linux")]
#[test]
fn messages_name_lines_of_a_library_that_was_unloaded() {
    let source = include_str!("c/plugin.c");
    let number =
        1 + source.lines().position(|line| line.contains("*child = ebb_child(s)")).unwrap();
    for compiler in compilers("cc") {
        let shared = [C11, &["-O0", "-DPLUGIN", "-shared", "-fPIC"]].concat();
        let plugin = Program::compile(compiler, "c/plugin.c", &shared);
        let host = Program::compile(compiler, "c/plugin.c", &[C11, PLAIN, &["-rdynamic"]].concat());
        let run = host.run(&[plugin.path().to_str().unwrap(), "misuse"]);
        let place = format!("c/plugin.c:{number}\n");
        let is_named = run.output.contains("its child is open\n  opened at ");
        assert!(!run.succeeded && is_named && run.output.contains(&place), "{}", run.output);
    }
}

/// The message names the lines that opened and closed the scope in question.
#[test]
fn misuse_of_scopes_is_caught_with_checks() {
    let source = include_str!("c/death.c");
    let named = |output: &str, what: &str| {
        let (_, place) = output.split_once(what)?;
        let (file, line) = place.lines().next()?.rsplit_once(':')?;
        assert!(file.ends_with("c/death.c"), "{output}");
        source.lines().nth(line.parse::<usize>().ok()? - 1)
    };
    for flags in [PLAIN, &["-O2", "-DNDEBUG", "-DEBB_CHECKS=1"]] {
        let mut closed = 0;
        dies("c/death.c", flags, |output| {
            let opens =
                |call| named(output, "  opened at ").is_some_and(|line| line.contains(call));
            if let Some(line) = named(output, "  closed at ") {
                assert!(line.contains("ebb_close("), "{output}");
                closed += 1;
            }
            output.contains("ebbtide: ")
                && (!output.contains("its child is open") || opens("child = ebb_child("))
                && (!output.contains("a copy") || opens(" = ebb_"))
        });
        // Of the five copies, one is of a scope that a reset ended.
        assert_eq!(closed, 4 * compilers("cc").count());
    }
}

#[test]
fn memory_that_is_not_allocated_is_poisoned_under_the_sanitizer() {
    let is_reported = |output: &str| {
        output.contains("use-after-poison") || output.contains("heap-use-after-free")
    };
    dies("c/poison.c", ASAN, is_reported);
    let exact = ["-O1", "-fsanitize=address", "-DNDEBUG", "-DEBB_REDZONE=0"];
    dies("c/poison.c", &exact, is_reported);
}

#[test]
#[ignore = "needs Valgrind"]
fn memory_that_is_not_allocated_is_guarded_under_valgrind() {
    let valgrind = ["valgrind", "-q", "--error-exitcode=9"];
    passes("c/heap.c", &[&["-O1", "-DEBB_VALGRIND=1"]]); // not run by it
    for compiler in compilers("cc") {
        let flags = ["-O1", "-DEBB_VALGRIND=1"];
        dies_under(&valgrind, compiler, "c/poison.c", &flags, |output| {
            output.contains("Invalid write of size 1") || output.contains("Invalid read of size 1")
        });
    }
}
