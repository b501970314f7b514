//! The workloads, one file each.

mod growth;
mod scalars;
mod scope;
mod strings;

use crate::harness::Bench;

pub fn run(bench: &mut Bench) {
    scalars::run(bench);
    scope::run(bench);
    strings::run(bench);
    growth::run(bench);
}
