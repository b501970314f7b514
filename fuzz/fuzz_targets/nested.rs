//! Arenas inside arenas, with vectors that are passed every scope in reach.
#![no_main]

#[path = "../../crates/ebbtide/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::nested::run(bytes));
