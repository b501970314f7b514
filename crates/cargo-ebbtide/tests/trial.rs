//! Claims of `cargo ebbtide advise --try`.

use super::{Folder, prints_the_same, text};
use serde_json::Value;
use std::fs;

#[test]
fn scopes_change_nothing_that_a_function_gets_or_returns() {
    let folder = Folder::new();
    let Some(program) = folder.compile("tried.c", &["-ldl"]) else { return };
    for function in ["many", "by_value", "returned", "two", "extended", "wide", "left"] {
        folder.is_the_same(function, &program, &[], 2000);
    }
    for (function, calls) in [("in_thread", 1200), ("thread", 4), ("main", 1)] {
        folder.is_the_same(function, &program, &[], calls);
    }
    let has_avx = fs::read_to_string("/proc/cpuinfo").unwrap().contains(" avx ");
    if has_avx {
        folder.is_the_same("packed", &program, &[], 2000);
    }
    let all = ["--try", "many", "--try", "left", "--try", "thread", "--try", "main"];
    let one = ["--runs", "1", "--", program.to_str().unwrap()];
    let (output, json) = folder.run_json(&[&all, &one[..]].concat());
    assert_eq!(json["measured"]["prints_the_same"], true, "{output:?}");
    assert_eq!(json["measured"]["calls"], 4005, "{output:?}");
}

#[test]
fn callers_may_know_what_a_function_needs() {
    let folder = Folder::new();
    let Some(program) = folder.compile("registers.c", &["-march=native"]) else { return };
    for function in ["unaligned", "wide", "passed", "passed_to_chosen", "seldom", "keeps"] {
        folder.is_the_same(function, &program, &[], 2000);
    }
    folder.is_the_same("eight", &program, &[], 4000);
    folder.is_the_same("f", &program, &[], 8000);
}

#[test]
fn what_asks_the_c_library_for_free_gets_that_of_the_preloaded_one() {
    let folder = Folder::new();
    let Some(program) = folder.compile("tried.c", &["-ldl"]) else { return };
    folder.is_the_same("in_library", &program, &["library"], 1);
    let recorded = folder.advise(&["--every", "1"], &program, &["library"]);
    prints_the_same(&recorded, &program, &["library"]);
}

#[test]
fn code_is_not_changed_while_other_threads_run() {
    let folder = Folder::new();
    let Some(library) = folder.compile("thread_first.c", &["-shared", "-fPIC"]) else { return };
    let flags = ["-ldl", "-Wl,--no-as-needed", library.to_str().unwrap()];
    let Some(program) = folder.compile("tried.c", &flags) else { return };
    let path = program.to_str().unwrap();
    folder.refuses(
        &["--try", "left", "--runs", "1", "--", path, "differs"],
        "starts a thread before",
    );
}

#[test]
fn functions_that_may_jump_to_their_own_beginning_are_refused() {
    let folder = Folder::new();
    let pie = ["-fpie", "-pie"];
    let absolute = ["-fno-pie", "-no-pie"];
    for (position, size) in [(pie, "-O1"), (absolute, "-O1"), (pie, "-O2"), (absolute, "-Os")] {
        let flags = [position[0], position[1], size];
        let Some(program) = folder.compile("tables.c", &flags) else { return };
        for function in ["labels", "cases"] {
            let path = program.to_str().unwrap();
            let (output, json) = folder.run_json(&["--try", function, "--runs", "1", "--", path]);
            let is_refused = text(&output.stderr).contains("jumps to its own beginning");
            let is_the_same = json["measured"]["prints_the_same"] == true;
            assert!(is_refused || is_the_same, "{function} {flags:?}: {output:?}");
        }
    }
}

#[test]
fn scopes_of_deep_recursion_take_little_of_the_stack() {
    let folder = Folder::new();
    let Some(program) = folder.compile("deep.c", &[]) else { return };
    let tried = folder.try_out("descend", &program, &[]);
    assert_eq!(tried["prints_the_same"], true, "{tried}");
    let Some(program) = folder.compile("small_stack.c", &["-fno-inline"]) else { return };
    folder.is_the_same("deeper", &program, &[], 13);
}

#[test]
fn exceptions_and_panics_pass_through_scopes() {
    let folder = Folder::new();
    for (name, calls) in [("exceptions.cpp", "200"), ("panics.rs", "300")] {
        let Some(program) = folder.compile(name, &[]) else { continue };
        folder.is_the_same("handle", &program, &[calls], calls.parse().unwrap());
        folder.is_the_same("main", &program, &[calls], 1);
    }
}

/// Whatever instruction a signal interrupts, what unwinds the stack from there arrives at `main`.
#[test]
fn the_stack_can_be_unwound_at_every_instruction() {
    let folder = Folder::new();
    for level in ["-O1", "-O2", "-O3"] {
        let Some(program) = folder.compile("steps.c", &[level]) else { return };
        let path = program.to_str().unwrap();
        let mut arguments = Vec::new();
        for function in ["pushes", "calls", "jumps", "tests", "framed", "reads", "wide"] {
            arguments.extend(["--try", function]);
        }
        arguments.extend(["--runs", "1", "--", path]);
        let (output, json) = folder.run_json(&arguments);
        assert!(text(&output.stdout).contains("cut 0, stepped"), "{output:?}");
        assert_eq!(json["measured"]["prints_the_same"], true, "{level}: {output:?}");
        if level == "-O2" {
            // In the recorder as well.
            prints_the_same(&folder.advise(&[], &program, &[]), &program, &[]);
        }
    }
}

#[test]
fn blocks_keep_the_promises_of_the_allocator_in_scopes() {
    let folder = Folder::new();
    let Some(program) = folder.compile("blocks.c", &["-fno-builtin", "-w"]) else { return };
    folder.is_the_same("main", &program, &[], 1);
}

#[test]
fn scopes_are_kept_apart_in_threads_and_processes() {
    let folder = Folder::new();
    let (Some(threads), Some(processes), Some(prefork), Some(server)) = (
        folder.compile("threads.c", &[]),
        folder.compile("processes.c", &[]),
        folder.compile("prefork.c", &[]),
        folder.compile("server.c", &[]),
    ) else {
        return;
    };
    folder.is_the_same("handle", &threads, &["four"], 200);
    folder.is_the_same("make", &threads, &["handed"], 1);
    folder.is_the_same("main", &threads, &["small"], 1);
    folder.is_the_same("fill", &processes, &["fork"], 3);
    folder.is_the_same("fill", &processes, &["exec", server.to_str().unwrap(), "200"], 1);
    for mode in ["alone", "daemon"] {
        // Children end by `_exit`, so they have not added their last calls.
        let tried = folder.try_out("request", &prefork, &["40", mode]);
        assert!(tried["calls"].as_u64() >= Some(60), "{mode}: {tried}");
        assert_eq!(tried["prints_the_same"], true, "{mode}: {tried}");
    }
    for end in ["abort", "killed", "_exit", "status"] {
        // A thread that is ended has not added its last calls.
        let tried = folder.try_out("handle", &server, &["100", end]);
        assert!(tried["calls"].as_u64() >= Some(50), "{end}: {tried}");
        assert_eq!(tried["prints_the_same"], true, "{end}: {tried}");
    }
}

#[test]
fn functions_that_cannot_be_tried_are_refused_with_the_reason() {
    let folder = Folder::new();
    let Some(program) = folder.compile("tried.c", &["-ldl"]) else { return };
    let path = program.to_str().unwrap();
    let refuses = |function: &str, words: &str| {
        folder.refuses(&["--try", function, "--", path], words);
    };
    refuses("various", "arguments on the stack; by hand, write ebb_enter()");
    if let Some(program) = folder.compile("tried.c", &["-ldl", "-g0"]) {
        let path = program.to_str().unwrap();
        folder.refuses(&["--try", "various", "--", path], "; by hand, write ebb_enter()");
    }
    refuses("no_such_function", "no function `no_such_function`");
    refuses("turned", "it has another name, or is inlined into its callers; there is `returned`");
    refuses("malloc", "a function of the system");
    let script = folder.script(&format!("exec {path}"));
    folder.refuses(&["--try", "left", "--", script.to_str().unwrap()], "is a script");
}

#[test]
fn functions_that_exist_only_in_their_callers_are_refused_with_these() {
    let folder = Folder::new();
    let Some(program) = folder.compile("inlined.c", &[]) else { return };
    let path = program.to_str().unwrap();
    folder
        .refuses(&["--try", "parse", "--", path], "`parse` is inlined into `handle`: try a caller");
    let Some(program) = folder.compile("inlined.c", &["-g0"]) else { return };
    folder.refuses(
        &["--try", "parse", "--", program.to_str().unwrap()],
        "is inlined into its callers",
    );
}

#[test]
fn runs_that_differ_are_reported() {
    let folder = Folder::new();
    let Some(program) = folder.compile("tried.c", &["-ldl"]) else { return };
    let path = program.to_str().unwrap();
    folder.refuses(&["--try", "left", "--", path, "status"], "ended in another way");
    folder.refuses(&["--try", "nested", "--", path, "input"], "never called");
    assert_eq!(folder.try_out("left", &program, &["differs"])["prints_the_same"], false);
    assert_eq!(folder.try_out("left", &program, &["process"])["prints_the_same"], Value::Null);
}
