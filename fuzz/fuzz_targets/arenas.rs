//! Arenas that run destructors, kept results, and roots of a pool.
#![no_main]

#[path = "../../crates/ebbtide/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::arenas::run(bytes));
