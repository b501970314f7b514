//! Address arithmetic, compared with wider integers.
#![no_main]

#[path = "../../crates/ebbtide/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::arith::run(bytes));
