//! What the benchmark's programs share.
//!
//! | program | what it does |
//! |---|---|
//! | `ebbtide-benches` | times the workloads, contestants interleaved, and checks the bars |
//! | `table` | stumpalo's table of operations, over mimalloc as there |
//! | `scaling` | time and memory an allocation takes, by their number and size |
//! | `counts` | instructions and branches an allocation takes, under Callgrind |
//! | `page` | draws the plots of the records, and writes their tables into the pages in docs/ |
//!
//! `cargo xtask bench` runs them all.

pub mod direction;
pub mod harness;
pub mod machine;
pub mod peers;
pub mod plot;
pub mod spread;
pub mod table;
pub mod workloads;
