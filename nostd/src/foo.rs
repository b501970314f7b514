//! `foo 5` sums five ones ten thousand times, each time in a scope over a 100-byte buffer on the
//! stack.

#![no_std]
#![no_main]

mod runtime;

use core::ffi::{c_char, c_int};
use core::fmt::Write;
use ebbtide::StackArena;
use runtime::{Failure, Output};

const TURNS: usize = 10_000;

fn foo(count: usize) -> Result<(), Failure> {
    let mut buffer = StackArena::<100>::new();
    let mut sum = 0;
    for _ in 0..TURNS {
        let scope = buffer.scope();
        let ones: &mut [u64] = scope
            .try_alloc_slice_fill_copy(count, 1)
            .map_err(|_| Failure::Refused("foo: that many words do not fit in 100 bytes"))?;
        sum += ones.iter().sum::<u64>();
    }
    writeln!(Output::Stdout, "The sum is: {sum}")?;
    Ok(())
}

/// Called by the C runtime.
#[unsafe(no_mangle)]
extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: they are the arguments of `main`.
    let result = match unsafe { runtime::counts(argc, argv) } {
        Some([count]) => foo(count),
        None => Err(Failure::Usage("usage: foo COUNT")),
    };
    runtime::exit_code(result)
}
