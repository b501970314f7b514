//! Runs the workloads and prints how ebbtide compares with its peers.

use std::{process::ExitCode, time::Duration};

fn main() -> ExitCode {
    ebbtide_benches::harness::main(
        Duration::from_millis(5000),
        Duration::from_millis(700),
        ebbtide_benches::workloads::run,
    )
}
