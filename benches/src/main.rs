//! Runs the workloads and prints how ebbtide compares with its peers.
//!
//! `cargo run --release` in this folder, or `cargo xtask bench`. `--quick` for a few seconds a row,
//! `--only TEXT` for the rows whose name contains the text.

mod harness;
mod peers;
mod workloads;

use harness::Plan;
use lexopt::prelude::*;
use std::process::ExitCode;

fn main() -> ExitCode {
    match options() {
        Ok(plan) => {
            let mut bench = harness::Bench::new(plan);
            workloads::run(&mut bench);
            bench.verdict()
        }
        Err(error) => {
            eprintln!("{error}\nusage: ebbtide-benches [--quick] [--only TEXT] [--csv FILE]");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Plan, lexopt::Error> {
    let mut plan = Plan::default();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("quick") => plan.rounds = 100,
            Long("only") => plan.only = arguments.value()?.string()?,
            Long("csv") => plan.csv = Some(arguments.value()?.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(plan)
}
