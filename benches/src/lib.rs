//! The code shared by the benchmark programs.
//!
//! | program | what it does |
//! |---|---|
//! | `ebbtide-benches` | times the workloads, with interleaved contestants, and checks the targets |
//! | `standard` | the standard library's collections in a scope; needs Rust 1.100 |
//! | `development` | the core in development builds, by optimisation level |
//! | `scaling` | time and memory per allocation, by number and size |
//! | `counts` | instructions and branches per allocation, under Callgrind |
//! | `page` | draws the plots of the records, and writes their tables into the pages in docs/ |
//!
//! `cargo xtask bench` runs them all.

pub mod harness;
pub mod machine;
pub mod peers;
pub mod plot;
pub mod spread;
pub mod workloads;
