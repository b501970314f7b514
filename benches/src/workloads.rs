//! The workloads, one file each.

mod arrays;
mod calls;
mod functions;
mod growth;
mod large;
mod owned;
mod real;
mod reuse;
mod scalars;
mod scope;
mod slabs;
mod strings;
mod threads;
mod vectors;

use crate::harness::Bench;

pub fn run(bench: &mut Bench) {
    scalars::run(bench);
    scope::run(bench);
    arrays::run(bench);
    calls::run(bench);
    functions::run(bench);
    strings::run(bench);
    bench.settled(large::run);
    owned::run(bench);
    reuse::run(bench);
    slabs::run(bench);
    bench.settled(vectors::run);
    growth::run(bench);
    real::run(bench);
    threads::run(bench);
}
