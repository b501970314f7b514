//! A short run of every program: each comes to the same answer with scopes and without. The long one
//! is `cargo run --release --package ebbtide-soak -- --check`, which also holds their memory to the bars.
#![cfg(target_os = "linux")]

use std::process::Command;

#[test]
fn every_program_answers_the_same_with_scopes_and_without() {
    let mut soak = Command::new(env!("CARGO_BIN_EXE_ebbtide-soak"));
    let output = soak.args(["--scale", "0.01"]).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}{table}");
    assert!(table.contains("sessions of 4 workers"), "{table}");
}
