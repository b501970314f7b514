//! Strings and formatting, including re-entrant formatting.
#![no_main]

#[path = "../../crates/ebbtide/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::text::run(bytes));
