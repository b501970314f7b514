//! `cargo xtask soak`: builds the programs of the soak, of which each allocator has its own, and runs
//! them.

use crate::{Failure, process::step};

const PACKAGE: &str = "--release --quiet --package ebbtide-soak";

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    step(&format!("cargo build {PACKAGE} --bins"))?;
    step(&format!("cargo run {PACKAGE} -- {}", arguments.join(" ")))
}
