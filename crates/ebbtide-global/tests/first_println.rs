//! A program of its own, because its `main` prints the first line.
//!
//! Claim: the first `println!` may be inside a scope: the buffer of standard output, allocated
//! there, keeps working.

use ebbtide_global::{Scoped, arena};
use std::alloc::System;

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

fn main() {
    for round in 0..100 {
        arena(|| {
            let text: String = (0..100).map(|n| n.to_string()).collect();
            println!("{round}: {}", &text[..10]);
            assert_eq!(&text[..10], "0123456789");
        });
    }
    println!("outside");
}
