//! Claim: a build with `-Zsanitizer=address`, and no other option, reports a raw pointer that is used after
//! its scope ended or its arena was dropped.
//!
//! A report ends the process, so each case runs this program again.
#![cfg(all(feature = "std", not(miri)))]

use crate::common::{role, start, this_test};
use ebbtide::{Arena, Owned, Scope};
use std::env;

/// `ci/asan.sh` sets the variable.
#[test]
fn a_build_for_the_sanitizer_is_recognised() {
    assert!(cfg!(ebbtide_asan) || env::var_os("ASAN_OPTIONS").is_none());
}

/// Reads a byte that no reference borrows.
fn read(address: *const u8) -> u8 {
    // SAFETY: none if the case must be reported. Otherwise the byte is alive.
    unsafe { address.read_volatile() }
}

/// The address of what a dropped arena held: a block of this many bytes.
fn dropped(size: usize) -> *const u8 {
    Arena::with_chunk_size(1_000).alloc_slice_fill_copy(size, 1u8).as_ptr()
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
            let _ = s.scope();
            read(gone);
        }
        "low end" => {
            let gone = low(&s.scope());
            let _ = s.scope();
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
        "dropped" => {
            read(dropped(100));
        }
        "dropped, large" => {
            read(dropped(10_000_000));
        }
        "dropped, and another made" => {
            let gone = dropped(100);
            let next = Arena::with_chunk_size(1_000);
            next.alloc_slice_fill_copy(100, 2u8);
            read(gone);
        }
        "dropped owner" => {
            let owned = Owned::<&'static str>::new(|s| s.alloc_str("gone"));
            let gone = owned.with(|text| text.as_ptr());
            drop(owned);
            read(gone);
        }
        "alive" => {
            let (high, low) = (high(&s), low(&s));
            let _ = s.scope();
            assert_eq!((read(high), read(low.wrapping_add(7))), (1, 7));
        }
        _ => unreachable!(),
    }
    assert_eq!(*kept, [7; 16]);
}

#[test]
fn using_a_pointer_after_its_scope_or_arena_is_reported() {
    if let Some(role) = role() {
        return play(&role);
    }
    if !cfg!(ebbtide_asan) {
        return;
    }
    for (role, report) in [
        ("high end", "use-after-poison"),
        ("low end", "use-after-poison"),
        ("another chunk", "use-after-poison"),
        ("rewound", "use-after-poison"),
        ("never handed out", "use-after-poison"),
        ("dropped", "heap-use-after-free"),
        ("dropped, large", "heap-use-after-free"),
        ("dropped, and another made", "heap-use-after-free"),
        ("dropped owner", "heap-use-after-free"),
        ("alive", ""),
    ] {
        let child = start(this_test!(), role);
        let message = String::from_utf8_lossy(&child.stderr);
        assert_eq!(child.status.success(), report.is_empty(), "{role}: {message}");
        assert!(message.contains(report), "{role}: {message}");
    }
}
