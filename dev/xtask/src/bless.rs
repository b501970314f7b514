//! `cargo xtask bless`: records the current assembly of the fast paths.

use crate::Failure;
use std::process::Command;

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err(Failure::Usage(format!("unknown arguments: bless {}", arguments.join(" "))));
    }
    let status = Command::new("cargo")
        .args(["test", "--quiet", "--package", "ebbtide-codegen", "--test", "pinned", "assembly"])
        .env("EBBTIDE_BLESS", "1")
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::Work),
    }
}
