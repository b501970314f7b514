//! Claim: a claim has its own chunks, returns them when it ends, and does not affect its parent.

#![cfg(feature = "std")]

use ebbtide::{Arena, Fixed, Heap, Retain, StackArena};

#[test]
fn parent_and_claim_allocate_side_by_side() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let claim = s.claim();
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for n in 0..2_000_u64 {
        ours.push(s.alloc([n; 3]));
        theirs.push(claim.scope().alloc([!n; 3]));
    }
    for n in 0..2_000_u64 {
        let index = usize::try_from(n).unwrap();
        assert_eq!((*ours[index], *theirs[index]), ([n; 3], [!n; 3]));
    }
}

#[test]
fn claims_may_end_in_any_order() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let kept = s.alloc(7);
    let (first, second, third) = (s.claim(), s.claim(), s.claim());
    let (a, b) = (first.scope().alloc(1), third.scope().alloc(3));
    drop(second);
    let fourth = s.claim();
    fourth.scope().alloc_slice_fill_copy(10_000, 4_u64);
    assert_eq!((*a, *b), (1, 3));
    drop(first);
    drop(fourth);
    assert_eq!((*b, *kept), (3, 7));
    drop(third);
    assert_eq!(s.alloc(8), &8);
}

#[test]
fn a_warm_claim_does_not_call_the_backing() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let turn = || {
        let claim = s.claim();
        for n in 0..1_000_u64 {
            claim.scope().alloc(n);
        }
        let inner = claim.scope().claim();
        inner.scope().alloc_slice_fill_copy(50_000, 1_u8);
    };
    turn();
    turn();
    let held = s.stats().held;
    for _ in 0..100 {
        turn();
    }
    assert_eq!(s.stats().held, held);
}

#[test]
fn reset_recovers_the_chunks_of_a_forgotten_claim() {
    let mut arena = Arena::new();
    let forget = |arena: &mut Arena| {
        let s = arena.scope();
        s.alloc(1);
        let claim = s.claim();
        claim.scope().alloc_slice_fill_copy(20_000, 0_u8);
        std::mem::forget(claim);
    };
    forget(&mut arena);
    let held = arena.stats().held;
    for _ in 0..20 {
        arena.reset();
        forget(&mut arena);
        assert_eq!(arena.stats().held, held);
    }
    arena.reset();
    assert_eq!(arena.chunks().map(|chunk| chunk.capacity).sum::<usize>(), arena.stats().capacity);
    arena.trim();
    assert_eq!(arena.stats().chunks, 1);
    arena.reset_with(Retain::Bytes(0));
    assert_eq!(arena.stats().held, 0);
}

#[test]
fn a_parent_that_moved_on_keeps_its_chunks_through_a_claim() {
    let mut arena = Arena::with_chunk_size(256);
    let mut s = arena.scope();
    let kept: Vec<&mut [u8; 100]> = (0..10).map(|n| s.alloc([n; 100])).collect();
    {
        let child = s.scope();
        child.alloc([0_u8; 200]);
        let claim = child.claim();
        claim.scope().alloc_slice_fill_copy(5_000, 0xAA_u8);
        child.alloc_slice_fill_copy(5_000, 0xBB_u8);
    }
    s.alloc_slice_fill_copy(5_000, 0xCC_u8);
    for (n, bytes) in (0..).zip(kept) {
        assert_eq!(*bytes, [n; 100]);
    }
}

#[test]
fn claim_fails_in_a_buffer_without_a_spill() {
    let mut arena = StackArena::<100>::new();
    let s = arena.scope();
    assert!(s.try_claim().is_err());
    assert!(s.try_alloc([0_u8; 100]).is_ok());
}

#[test]
fn a_claim_over_a_buffer_takes_chunks_from_the_spill_and_returns_them() {
    let mut fixed = Fixed::new([std::mem::MaybeUninit::uninit(); 64]).or_spill(Heap);
    for _ in 0..3 {
        let s = fixed.scope();
        let claim = s.claim();
        assert_eq!(claim.scope().alloc([1_u8; 64]), s.alloc([1_u8; 64]));
        std::mem::forget(claim);
    }
    fixed.trim();
    assert_eq!(fixed.stats().held, 0);
}
