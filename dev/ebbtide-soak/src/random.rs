//! Random programs: a seed draws the shape of a program, which runs over glibc, over mimalloc, and
//! over `Scoped` on each of them, with scopes and without.
//!
//! ```text
//! cargo xtask soak --random 300 --seed 1000           # a table of processor times and peaks
//! cargo xtask soak --random 300 --seed 1000 --check   # fails if a bar is missed
//! cargo xtask soak --random --only 1017               # one program, with its whole shape
//! cargo xtask soak --random 300 --turns 0 --runs 0    # only the shapes
//! cargo xtask soak --random --variants glibc,scopes-glibc --runs 5
//! ```
//!
//! [`shape`] draws the shape, [`program`] runs it in a process of its own, and [`table`] starts the
//! processes and prints the table. A seed draws the same program on every machine; only the number
//! of turns depends on how fast the machine is.

mod keeper;
pub mod program;
pub mod shape;
pub mod table;

use crate::{process, scopes};
use shape::Shape;
use std::{env, process::ExitCode};

/// Runs one program in this process, and prints its checksum, its processor time in microseconds
/// and its peak resident memory in KiB. The arguments are a seed, a number of turns, and `on` if the
/// program opens scopes.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (seed, turns, on) = match &arguments[..] {
        [seed, turns] => (seed, turns, false),
        [seed, turns, on] if on == "on" => (seed, turns, true),
        _ => return usage(),
    };
    let (Ok(seed), Ok(turns)) = (seed.parse(), turns.parse()) else { return usage() };
    scopes::switch(on);
    if on {
        ebbtide_global::warm();
        // The first scope checks which global allocator is installed.
        scopes::scope(|| ());
    }
    let shape = Shape::draw(seed);
    let start = process::processor_time();
    let sum = program::run(shape, turns);
    let time = process::processor_time() - start;
    println!("{sum} {} {}", time.as_micros(), process::status().peak_kib);
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: SEED TURNS [on]");
    ExitCode::from(2)
}
