//! Times the standard library's `Vec` and `Box` in a scope against ours, bumpalo's, and the heap. Needs
//! Rust 1.100; an older compiler measures nothing.
//!
//! `cargo +beta run --release --bin standard -- [--quick] [--only TEXT] [--csv FILE]`

use std::{process::ExitCode, time::Duration};

ebbtide::__std_allocator! {
    mod rows;
}

fn main() -> ExitCode {
    let (full, quick) = (Duration::from_millis(5000), Duration::from_millis(700));
    ebbtide_benches::harness::main(full, quick, |_bench| {
        ebbtide::__std_allocator! {
            rows::run(_bench);
        }
    })
}
