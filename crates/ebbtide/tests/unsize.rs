//! Claim: an unsized box drops its value exactly once.
//!
//! Coercions that must not compile are in `ebbtide-ui`.

#![cfg(feature = "std")]

use ebbtide::{Arena, boxed::Box, unsize};
use std::cell::Cell;

thread_local!(static DROPS: Cell<u32> = const { Cell::new(0) });

/// Counts its drops.
struct Counted(#[allow(dead_code, reason = "gives it a size")] u64);

impl Drop for Counted {
    fn drop(&mut self) {
        DROPS.set(DROPS.get() + 1);
    }
}

/// Like `Counted`, but zero-sized.
struct Token;

impl Drop for Token {
    fn drop(&mut self) {
        DROPS.set(DROPS.get() + 1);
    }
}

fn drops(f: impl FnOnce()) -> u32 {
    let before = DROPS.get();
    f();
    DROPS.get() - before
}

#[test]
fn a_trait_object_drops_its_value_once() {
    let mut arena = Arena::new();
    let s = arena.scope();
    assert_eq!(drops(|| drop(unsize!(s.boxed(Counted(1)) => dyn Send))), 1);
    assert_eq!(drops(|| drop(unsize!(s.boxed(Token) => dyn Send))), 1);
    let inferred: Box<'_, dyn Send> = unsize!(s.boxed([Token, Token]));
    assert_eq!(drops(|| drop(inferred)), 2);
}

#[test]
fn a_slice_drops_each_element_once() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let slice = unsize!(s.boxed([Counted(1), Counted(2), Counted(3)]) => [Counted]);
    assert_eq!(slice.len(), 3);
    assert_eq!(drops(|| drop(slice)), 3);
}

#[test]
fn an_unsized_box_can_be_unsized_again() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let both = unsize!(s.boxed(Counted(1)) => dyn Send + Sync);
    let one = unsize!(both => dyn Send);
    let nested = unsize!(s.boxed(one) => dyn Send);
    assert_eq!(drops(|| drop(nested)), 1);
}

#[test]
fn a_boxed_reference_as_a_trait_object_drops_only_the_reference() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut elsewhere = Counted(1);
    assert_eq!(drops(|| drop(unsize!(s.boxed(&mut elsewhere) => dyn Send + '_))), 0);
    assert_eq!(drops(|| drop(elsewhere)), 1);
}
