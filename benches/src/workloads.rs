//! The workloads, one file each.

mod scalars;
mod scope;

use crate::harness::Bench;

pub fn run(bench: &mut Bench) {
    scalars::run(bench);
    scope::run(bench);
}
