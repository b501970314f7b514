//! The fast paths in Rust, for `tests/counts.rs` to compare those of C with: `fast_paths ROW COUNT`
//! runs the loop of `tests/c/fast_paths.c` that has the same name.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use ebbtide::{Arena, Scope};
use std::{arch::asm, env, hint::black_box};

/// Keeps the compiler from leaving out what was written to `block`.
#[inline(always)]
pub fn used<T: ?Sized>(block: &mut T) {
    // SAFETY: no instruction; as far as the compiler knows, it may use the block.
    unsafe {
        asm!("/* {0} */", in(reg) (&raw mut *block).cast::<u8>(), options(nostack, preserves_flags))
    };
}

#[inline(never)]
fn by_reference<'a>(scope: &Scope<'a>, value: u64) -> &'a mut u64 {
    scope.alloc(value)
}

#[inline(never)]
fn copy<'a>(scope: &Scope<'a>, text: &str) -> &'a mut str {
    scope.alloc_str(text)
}

/// Runs the loop of a row this often.
pub fn fast_path(arena: &mut Arena, row: &str, count: u64) {
    match row {
        "local" => {
            let s = arena.scope();
            for value in 0..count {
                used(s.alloc(value));
            }
        }
        "reference" => {
            let s = arena.scope();
            for value in 0..count {
                used(by_reference(&s, value));
            }
        }
        "open" => {
            for value in 0..count {
                let s = arena.scope();
                used(s.alloc(value));
            }
        }
        "child" => {
            let mut parent = arena.scope();
            for value in 0..count {
                let s = parent.scope();
                used(s.alloc(value));
            }
        }
        "string" => {
            let s = arena.scope();
            for _ in 0..count {
                used(copy(&s, black_box("twelve bytes")));
            }
        }
        "push" => {
            let mut s = arena.scope();
            let mut values = s.grow_vec();
            for value in 0..count {
                values.push(value);
            }
            used(&mut values.into_slice()[0]);
        }
        _ => panic!("no such row: {row}"),
    }
}

#[allow(dead_code, reason = "the benchmarks of benches/c include this file as a module")]
fn main() {
    let mut arguments = env::args().skip(1);
    let row = arguments.next().expect("a row");
    let count = arguments.next().expect("a count").parse().expect("a number");
    fast_path(&mut Arena::with_capacity(64 << 20), &row, count);
}
