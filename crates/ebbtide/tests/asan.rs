//! Claim: `AddressSanitizer` (`--cfg ebbtide_asan`) reports a raw pointer that is used after its
//! scope ended.
//!
//! A report ends the process, so each case runs this program again.
#![cfg(ebbtide_asan)]

use crate::common::{role, start, this_test};
use ebbtide::{Arena, Scope};

/// Reads a byte that no reference borrows.
fn read(address: *const u8) -> u8 {
    // SAFETY: none if the case must be reported. The chunk still belongs to the arena.
    unsafe { address.read_volatile() }
}

fn high(s: &Scope<'_>) -> *const u8 {
    s.alloc_slice_fill_copy(100, 1u8).as_ptr()
}

fn low(s: &Scope<'_>) -> *const u8 {
    s.alloc_slice_from_iter((0..100u8).filter(|_| true)).as_ptr()
}

fn play(role: &str) {
    let mut arena = Arena::with_chunk_size(1_000);
    let mut s = arena.scope();
    let kept = s.alloc([7u8; 16]);
    match role {
        "high end" => {
            let gone = high(&s.scope());
            s.scope();
            read(gone);
        }
        "low end" => {
            let gone = low(&s.scope());
            s.scope();
            read(gone);
        }
        "another chunk" => {
            let gone = {
                let inner = s.scope();
                inner.alloc_slice_fill_copy(5_000, 1u8);
                inner.alloc_slice_fill_copy(5_000, 1u8).as_ptr()
            };
            let inner = s.scope();
            inner.alloc_slice_fill_copy(3_000, 1u8);
            inner.alloc_slice_fill_copy(3_000, 1u8);
            read(gone);
        }
        "rewound" => {
            let start = s.checkpoint();
            let gone = high(&s);
            // SAFETY: created by this scope. The test deliberately uses the block again.
            unsafe { s.rewind(start) };
            read(gone);
        }
        "never handed out" => {
            let below = s.alloc(1u8) as *const u8;
            read(below.wrapping_sub(300));
        }
        "alive" => {
            let (high, low) = (high(&s), low(&s));
            s.scope();
            assert_eq!((read(high), read(low.wrapping_add(7))), (1, 7));
        }
        _ => unreachable!(),
    }
    assert_eq!(*kept, [7; 16]);
}

#[test]
fn using_a_pointer_after_its_scope_is_reported() {
    if let Some(role) = role() {
        return play(&role);
    }
    for (role, reported) in [
        ("high end", true),
        ("low end", true),
        ("another chunk", true),
        ("rewound", true),
        ("never handed out", true),
        ("alive", false),
    ] {
        let child = start(this_test!(), role);
        let message = String::from_utf8_lossy(&child.stderr);
        assert_eq!(child.status.success(), !reported, "{role}: {message}");
        assert_eq!(message.contains("use-after-poison"), reported, "{role}: {message}");
    }
}
