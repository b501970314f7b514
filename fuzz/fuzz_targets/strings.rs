//! Strings of both kinds, edited like the standard library's.
#![no_main]

#[path = "../../crates/ebbtide/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::strings::run(bytes));
