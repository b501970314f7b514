//! Claim: `Box::unsize` drops the value that the box owned, and never one that the box merely reached.
#![allow(clippy::useless_vec, reason = "where its elements lie is the point")]

use ebbtide::{Arena, Box};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local!(static DROPS: Cell<u32> = const { Cell::new(0) });

/// Counts how often it was dropped, so that a second drop is seen and does no harm.
struct Counted(#[allow(dead_code, reason = "gives it a size")] u64);

impl Drop for Counted {
    fn drop(&mut self) {
        DROPS.set(DROPS.get() + 1);
    }
}

/// As `Counted`, without a size.
struct Token;

impl Drop for Token {
    fn drop(&mut self) {
        DROPS.set(DROPS.get() + 1);
    }
}

#[test]
fn a_value_behind_a_reference_in_the_box_is_not_dropped_twice() {
    DROPS.set(0);
    {
        let mut elsewhere = Counted(1);
        let mut arena = Arena::new();
        let s = arena.scope();
        let reference = s.boxed(&mut elsewhere);
        let stolen =
            catch_unwind(AssertUnwindSafe(|| Box::<&mut Counted>::unsize(reference, |r| &mut **r)));
        drop(stolen);
        assert_eq!(DROPS.get(), 0);
    }
    assert_eq!(DROPS.get(), 1);
}

#[test]
fn a_captured_value_in_place_of_the_boxed_one_is_not_dropped_twice() {
    DROPS.set(0);
    fn steal<'a>(boxed: Box<'a, &'a u64>, captured: &'a mut Counted) -> Box<'a, Counted> {
        Box::unsize(boxed, |_| captured)
    }
    {
        let (mut elsewhere, other) = (Counted(1), 5);
        let mut arena = Arena::new();
        let s = arena.scope();
        let boxed = s.boxed(&other);
        let stolen = catch_unwind(AssertUnwindSafe(|| steal(boxed, &mut elsewhere)));
        drop(stolen);
        assert_eq!(DROPS.get(), 0);
    }
    assert_eq!(DROPS.get(), 1);
}

#[test]
fn a_captured_zero_sized_value_is_not_dropped_twice() {
    DROPS.set(0);
    use std::marker::PhantomData;
    type Nothing<'a> = PhantomData<&'a u8>;

    fn steal<'a>(boxed: Box<'a, Nothing<'a>>, captured: &'a mut Token) -> Box<'a, Token> {
        Box::unsize(boxed, |_| captured)
    }
    {
        // The elements of a vector of zero-sized values lie where the arena puts its own.
        let mut elsewhere = vec![Token];
        let mut arena = Arena::new();
        let s = arena.scope();
        let boxed = s.boxed(PhantomData);
        let stolen = catch_unwind(AssertUnwindSafe(|| steal(boxed, &mut elsewhere[0])));
        drop(stolen);
        assert_eq!(DROPS.get(), 0);
    }
    assert_eq!(DROPS.get(), 1);
}

#[test]
fn what_coerces_still_does() {
    DROPS.set(0);
    let mut arena = Arena::new();
    let s = arena.scope();
    {
        let one = Box::unsize::<dyn Send>(s.boxed(Counted(1)), |value| value);
        let none = Box::unsize::<dyn Send>(s.boxed(Token), |value| value);
        let many = Box::unsize::<[Token]>(s.boxed([const { Token }; 3]), |value| value);
        let again = Box::unsize::<Box<dyn Send>>(s.boxed(one), |value| value);
        drop((again, none, many));
        assert_eq!(DROPS.get(), 5);
    }
    let step = 3;
    let mut add = Box::unsize::<dyn FnMut(u32) -> u32 + '_>(s.boxed(|n| n + step), |f| f);
    let mut double = Box::unsize::<dyn FnMut(u32) -> u32>(s.boxed(|n| n * 2), |f| f);
    assert_eq!(double(add(1)), 8);
}
