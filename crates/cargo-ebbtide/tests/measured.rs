//! Claims of `cargo ebbtide advise` about what it has tried.

use super::{Folder, text};
use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

/// Starts the adviser as the leader of a group of processes, as a shell does.
fn start(arguments: &[&str], program: &Path, input: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ebbtide"));
    command.arg("advise").args(arguments).arg("--").arg(program);
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.spawn().unwrap()
}

#[test]
fn what_is_advised_was_measured() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let advised = folder.measure(&["--runs", "3"], &program, &["4000"]);
    let handle = advised.scope("handle");
    let (measured, count) =
        (&handle["measured"], |runs: &str| handle["measured"][runs].as_array().map(Vec::len));
    assert_eq!((count("with"), count("without")), (Some(3), Some(3)), "{handle:#}");
    assert_eq!(measured["calls"], 4000, "{handle:#}");
    assert_eq!(measured["prints_the_same"], true, "{handle:#}");
    let range =
        ["saved_at_least", "saved", "saved_at_most"].map(|key| measured[key].as_f64().unwrap());
    assert!(range.is_sorted(), "{handle:#}");
    for index in advised.json["scopes"].as_array().unwrap() {
        let is_gain = index["measured"]["saved_at_least"].as_f64() > Some(0.0);
        assert!(is_gain || index["is_chosen"] == false, "{index:#}");
    }
    assert_eq!(advised.status, i32::from(advised.chosen().is_empty()), "{}", advised.table);
}

/// The budget bounds the time, and a program that computes is run once.
#[test]
fn trying_takes_no_longer_than_the_budget() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let advised = folder.measure(&["--budget", "1"], &program, &["4000"]);
    assert!(advised.scope("handle")["measured"].is_object(), "{:#}", advised.json);
    let Some(program) = folder.compile("computes.c", &[]) else { return };
    let advised = folder.measure(&[], &program, &[]);
    assert_eq!((advised.status, advised.errors.as_str()), (1, ""));
    assert!(advised.table.contains("No scope would pay"), "{}", advised.table);
}

#[test]
fn the_status_is_that_of_the_program_if_it_is_asked_for() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    for (end, status) in [("status", 3), ("_exit", 0), ("killed", 128 + 9)] {
        let path = program.to_str().unwrap();
        for options in [&["--no-try"][..], &["--runs", "1"], &["--try", "handle", "--runs", "1"]] {
            let options = [options, &["--status", "--", path, "100", end]].concat();
            let output = folder.run(&options);
            assert_eq!(output.status.code(), Some(status), "{options:?}: {output:?}");
        }
    }
}

/// Named by the record, or by the user with the path of the library.
#[test]
fn functions_of_a_library_that_is_opened_later_are_tried() {
    let folder = Folder::new();
    let library = folder.path("library.so");
    let made = ["-shared", "-fPIC", "-DLIBRARY", "-o", library.to_str().unwrap()];
    if folder.compile("plugin.c", &made).is_none() {
        return;
    }
    let Some(program) = folder.compile("plugin.c", &["-ldl"]) else { return };
    let library = library.to_str().unwrap();
    let advised = folder.measure(&["--runs", "1"], &program, &[library]);
    assert_eq!(advised.scope("work")["measured"]["calls"], 2000, "{:#}", advised.json);
    folder.is_the_same(&format!("{library}:work"), &program, &[library], 2000);
}

/// What is typed, piped and kept is the same for each run, and an open pipe is not waited for.
#[test]
fn each_run_reads_the_same() {
    let folder = Folder::new();
    let Some(program) = folder.compile("reads.c", &[]) else { return };
    for options in [&["--try", "handle"][..], &[]] {
        let options = [options, &["--runs", "2", "--json", "-"]].concat();
        let mut adviser = start(&options, &program, Stdio::piped());
        let mut input = adviser.stdin.take().unwrap();
        for line in 0..2000 {
            writeln!(input, "line {line}").unwrap();
        }
        // The program reads up to this line, and the pipe stays open.
        writeln!(input, "end").unwrap();
        let output = adviser.wait_with_output().unwrap();
        drop(input);
        let printed = text(&output.stdout);
        assert!(printed.starts_with("lines 2000\n"), "{output:?}");
        for key in ["\"calls\":2000", "\"prints_the_same\":true"] {
            assert!(printed.contains(key), "{key}: {output:?}");
        }
    }
}

/// Ctrl-C ends the program and trying; what is known by then is said.
#[test]
fn an_interrupt_ends_the_runs() {
    let folder = Folder::new();
    let Some(program) = folder.compile("reads.c", &[]) else { return };
    // The program waits for a line that does not come.
    for (options, status) in [(&["--try", "handle"][..], 2), (&[], 1)] {
        let mut adviser = start(options, &program, Stdio::piped());
        let mut input = adviser.stdin.take().unwrap();
        (0..20_000).for_each(|line| writeln!(input, "line {line}").unwrap());
        let mut errors = BufReader::new(adviser.stderr.take().unwrap());
        let mut line = String::new();
        while !line.ends_with("begins\n") {
            assert!(errors.read_line(&mut line).unwrap() > 0, "{line}");
        }
        let group = format!("-{}", adviser.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
        errors.read_to_string(&mut line).unwrap();
        let output = adviser.wait_with_output().unwrap();
        drop(input);
        assert_eq!(output.status.code(), Some(status), "{line}");
        assert!(line.contains("interrupted"), "{line}");
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_fault() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    for options in [&["--no-try"][..], &["--all", "--no-try"], &["--help"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ebbtide"));
        command.arg("advise").args(options).arg("--").arg(&program).arg("200");
        let mut adviser = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(adviser.stdout.take());
        let mut errors = String::new();
        adviser.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(!errors.contains("panicked"), "{errors}");
        assert!(adviser.wait().unwrap().code() < Some(2), "{errors}");
    }
}
