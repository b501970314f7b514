//! A short run of every program: each computes the same answer with and without scopes. The long
//! one is `cargo run --release --package ebbtide-soak -- --check`, which also checks the limits of
//! their memory.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::process::Command;

fn soak(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ebbtide-soak")).args(arguments).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}{table}");
    table.into_owned()
}

#[test]
fn every_program_answers_the_same_with_scopes_and_without() {
    let table = soak(&["--scale", "0.01"]);
    assert!(table.contains("sessions of 4 workers"), "{table}");
}

#[test]
fn a_check_closes_with_the_line_of_a_test_runner() {
    let table = soak(&["--scale", "0.01", "--check", "--only", "interpreter"]);
    assert_eq!(table.lines().last(), Some("test result: ok. 2 passed; 0 failed"));
}

#[test]
fn random_programs_compute_the_same_in_all_variants() {
    let table = soak(&["--random", "6", "--turns", "2", "--runs", "1"]);
    // A program lists six times and six peaks after its seed and its turns.
    let cells = |line: &str| line.split(',').take_while(|cell| cell.parse::<f64>().is_ok()).count();
    let rows = table.lines().filter(|line| cells(line) == 14).count();
    assert_eq!(rows, 6, "{table}");
}
