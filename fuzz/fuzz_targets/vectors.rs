//! Vectors of every kind, edited like the standard library's.
#![no_main]

#[path = "../../crates/ebbtide/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::vectors::run(bytes));
