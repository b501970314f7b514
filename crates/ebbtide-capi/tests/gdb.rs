//! Claim: in gdb, the printers of `dist/ebbtide-gdb.py` show the state of scopes, arenas and heaps and
//! the elements of containers, with every installed compiler.

#![cfg(target_os = "linux")]

use crate::common::{Program, compilers, run};
use std::process::Command;

const PRINTERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/dist/ebbtide-gdb.py");

/// Variables of `cpp/printed.cpp`, and how gdb prints them, with A for an address and N for the
/// number of free bytes.
const PRINTED: &[(&str, &str)] = &[
    ("*handle", "an arena with an open scope"),
    ("arena", "an arena with an open scope"),
    ("idle", "an arena that was moved from"),
    ("moved", "an arena without an open scope"),
    ("c_scope", "a scope of the arena A, N bytes free in its chunk, a child is open"),
    ("c_child", "a child of the scope A, N bytes free in its chunk, functions run when it ends"),
    ("scope", "a scope of the arena A, N bytes free in its chunk"),
    ("closed", "a scope of the thread's arena A, N bytes free in its chunk"),
    ("of_thread", "a closed scope"),
    ("bytes", "\"foam\""),
    ("named", "EBB_ARRAY(int) of length 2, capacity 8 = {7, 8}"),
    ("vector", "ebbtide::vector<int> of length 2, capacity 8 = {1, 2}"),
    ("text", "\"the tide\""),
    ("span", "ebbtide::span<int> of length 1 = {1}"),
    ("heap", "a heap over the scope A, 5152 bytes in 2 freed blocks"),
    ("ended", "a heap over the closed scope A"),
    ("unused", "a heap without a scope"),
    ("nodes", "a heap over the scope A, 320 bytes in 1 freed block"),
];

#[test]
#[ignore = "needs gdb"]
fn gdb_prints_scopes_and_containers() {
    for compiler in compilers("c++") {
        let program = Program::compile(compiler, "cpp/printed.cpp", &["-std=c++17", "-O0", "-g"]);
        let mut gdb = Command::new("gdb");
        gdb.args(["-nx", "-batch"]);
        let print = |what: &str| format!("print {what}");
        let source = format!("source {PRINTERS}");
        let mut commands: Vec<String> =
            [&source, "break stop", "run", "up"].map(str::to_owned).into();
        commands.extend(PRINTED.iter().map(|(variable, _)| print(variable)));
        // The free bytes of two scopes, from their words.
        for scope in ["c_scope", "c_child"] {
            commands.push(print(&format!("{scope}.top_ - (unsigned long){scope}.low_")));
        }
        for command in &commands {
            gdb.args(["-ex", command]);
        }
        let output = run(gdb.arg(program.path()), "");
        let values: Vec<&str> = output
            .lines()
            .filter(|line| line.starts_with('$'))
            .filter_map(|line| line.split_once(" = "))
            .map(|(_, value)| value)
            .collect();
        assert_eq!(values.len(), PRINTED.len() + 2, "{compiler}:\n{output}");
        for ((variable, expected), value) in PRINTED.iter().zip(&values) {
            assert_eq!(generalised(value), *expected, "{compiler}: {variable}");
        }
        for (scope, bytes) in [(4, PRINTED.len()), (5, PRINTED.len() + 1)] {
            let free = format!(", {} bytes free", values[bytes]);
            assert!(values[scope].contains(&free), "{compiler}: {}", values[scope]);
        }
    }
}

/// The text with A for an address and N for the number of free bytes.
fn generalised(text: &str) -> String {
    let is_free = text.contains(" bytes free");
    let words = text.split(' ').map(|word| {
        let number = word.trim_end_matches(',');
        if number.starts_with("0x") {
            word.replace(number, "A")
        } else if is_free && number.parse::<usize>().is_ok() {
            word.replace(number, "N")
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
