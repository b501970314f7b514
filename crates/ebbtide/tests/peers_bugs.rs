//! Claim: ebbtide has none of the bugs that other arenas have, or had.
//!
//! Two of these bugs are programs that must not compile, tested in `ebbtide-ui`:
//!
//! - 6, an arena that holds an `Rc` is sent to another thread (blink-alloc 0.4). Here an arena owns
//!   no values, and neither a [`Box`](ebbtide::boxed::Box) of an `Rc`
//!   (`box_of_non_send_value_sent.rs`) nor a reference to a value that is not `Sync`
//!   (`reference_to_non_sync_value_sent.rs`) is `Send`;
//! - 7, a destructor reads through an expired borrow (scoped-arena 0.4):
//!   `box_whose_destructor_reads_an_expired_borrow.rs`.

#![cfg(feature = "std")]

use crate::common::{Liar, address, assert_apart, assert_works, watched};
use ebbtide::{Arena, Fixed, Retain, Scope, StackArena};
use std::mem::MaybeUninit;

#[test]
fn bug_1_a_value_constructed_in_place_does_not_overlap_allocations_of_its_closure() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut inner = None;
    let outer = s.alloc_with(|| {
        inner = Some(s.alloc(7u32));
        u64::MAX
    });
    let inner = inner.unwrap();
    assert_apart(outer, inner);
    assert_eq!((*outer, *inner), (u64::MAX, 7));
}

#[test]
fn bug_1_not_even_if_the_value_fills_a_chunk() {
    let mut arena = Arena::with_chunk_size(64);
    let s = arena.scope();
    let mut inner = None;
    let outer = s.alloc_with(|| {
        inner = Some(s.alloc([7u8; 64]));
        [1u8; 64]
    });
    let inner = inner.unwrap();
    assert_apart(outer, inner);
    assert_eq!((*outer, *inner), ([1; 64], [7; 64]));
}

#[test]
fn bug_2_allocations_of_a_failing_closure_survive() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut kept = None;
    let failed = s.alloc_slice_try_fill_with(4, |i| {
        if i < 2 {
            return Ok(i);
        }
        kept = Some(s.alloc(0x5EED_u64));
        Err(i)
    });
    assert_eq!(failed, Err(2));
    let kept = kept.unwrap();
    let later = s.alloc_slice_fill_copy(16, u64::MAX);
    assert_apart(kept, later);
    assert_eq!(*kept, 0x5EED);
}

#[test]
fn bug_2_a_failing_closure_without_allocations_costs_nothing() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let before = s.stats().used;
    assert_eq!(s.alloc_slice_try_fill_with(4, |i| if i < 2 { Ok(i) } else { Err(i) }), Err(2));
    assert_eq!(s.stats().used, before);
}

#[test]
fn bug_3_an_arena_that_never_allocated_can_be_reset_and_used() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    arena.reset();
    arena.trim();
    arena.reset_with(Retain::Bytes(0));
    arena.reset_with(Retain::OneChunk);
    assert_eq!(log.calls(), 0);
    {
        let _ = arena.scope();
    }
    for bytes in [1, 5_000, 70_000, 3] {
        assert_works(&arena.scope());
        arena.scope().alloc_slice_fill_copy(bytes, 1u8);
        arena.reset();
        arena.root().alloc_slice_fill_copy(bytes * 2, 2u8);
        arena.reset();
        arena.reset_with(Retain::Bytes(0));
        assert_eq!((log.live(), log.held()), (0, 0));
        assert_eq!(arena.stats().held, 0);
    }
    drop(arena);
    assert_eq!(log.releases(), log.calls());
}

#[test]
fn bug_4_swapped_scopes_leave_both_arenas_and_all_values_intact() {
    let (backing_a, log_a) = watched();
    let (backing_b, log_b) = watched();
    let mut a = Arena::new_in(backing_a);
    let mut b = Arena::new_in(backing_b);
    {
        let mut in_a = a.scope();
        let mut in_b = b.scope();
        let from_a = in_a.alloc_slice_fill_with(100, |i| i);
        let from_b = in_b.alloc_slice_fill_with(100, |i| !i);
        std::mem::swap(&mut in_a, &mut in_b);
        // Each variable now allocates chunks for the other arena.
        let more_from_b = in_a.alloc_slice_fill_copy(9_000, 1u8);
        let more_from_a = in_b.alloc_slice_fill_copy(9_000, 2u8);
        {
            let mut child_of_b = in_a.scope();
            let mut child_of_a = in_b.scope();
            std::mem::swap(&mut child_of_b, &mut child_of_a);
            child_of_b.alloc_slice_fill_copy(30_000, 3u8);
            child_of_a.alloc_slice_fill_copy(30_000, 4u8);
        }
        let _ = std::mem::replace(&mut in_a, in_b);
        assert!(from_a.iter().enumerate().all(|(i, value)| *value == i));
        assert!(from_b.iter().enumerate().all(|(i, value)| *value == !i));
        assert!(more_from_b.iter().all(|byte| *byte == 1));
        assert!(more_from_a.iter().all(|byte| *byte == 2));
        assert_works(&in_a);
    }
    assert_eq!(a.stats().held, log_a.held());
    assert_eq!(b.stats().held, log_b.held());
    std::mem::swap(&mut a, &mut b);
    assert_works(&a.scope());
    drop(a);
    assert_eq!((log_b.live(), log_a.live() > 0), (0, true));
    assert_works(&b.scope());
    drop(b);
    assert_eq!(log_a.live(), 0);
}

#[test]
fn bug_4_swapped_fixed_arenas_use_their_own_memory() {
    let mut a = Fixed::new([MaybeUninit::uninit(); 64]);
    let mut b = Fixed::new([MaybeUninit::uninit(); 64]);
    let _ = a.scope().alloc([1u8; 64]);
    std::mem::swap(&mut a, &mut b);
    let (in_a, in_b) = (a.scope(), b.scope());
    let (from_a, from_b) = (in_a.alloc([1u8; 64]), in_b.alloc([2u8; 64]));
    assert_apart(from_a, from_b);
    assert_eq!((*from_a, *from_b), ([1; 64], [2; 64]));
    assert!(in_a.try_alloc(0u8).is_err() && in_b.try_alloc(0u8).is_err());
}

#[test]
fn bug_5_an_error_larger_than_the_value_does_not_overwrite_memory() {
    // The buffer holds exactly the value.
    let mut arena = StackArena::<24>::new();
    let s = arena.scope();
    let first = s.alloc(0xAAAA_AAAA_AAAA_AAAA_u64);
    let failed = s.alloc_try_with(|| Err::<u64, [u8; 64]>([0xFF; 64]));
    assert_eq!(failed, Err([0xFF; 64]));
    let second = s.alloc(0xBBBB_BBBB_BBBB_BBBB_u64);
    let made = s.alloc_try_with(|| Ok::<u64, [u8; 64]>(3)).unwrap();
    assert_apart(first, second);
    assert_eq!((*first, *second, *made), (0xAAAA_AAAA_AAAA_AAAA, 0xBBBB_BBBB_BBBB_BBBB, 3));
    let full = s.try_alloc_try_with(|| Ok::<u64, [u8; 64]>(4));
    assert!(matches!(full, Err(ebbtide::AllocOrInitError::Alloc(_))));
}

#[test]
fn bug_8_abandoning_a_growing_block_frees_nothing_else() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let (mut low, mut high) = (None, None);
    let values = (0..100u64).inspect(|i| {
        if *i == 50 {
            low = Some(s.alloc_slice_from_iter([1u64, 2, 3].into_iter().filter(|_| true)));
            high = Some(s.alloc([4u64; 3]));
        }
        assert!(*i < 90, "abandoned");
    });
    assert!(crate::common::panic_of(|| s.alloc_slice_from_iter(values).len()).is_some());
    let later = s.alloc_slice_from_iter((0..1_000u64).filter(|_| true));
    let (low, high) = (low.unwrap(), high.unwrap());
    assert_apart(low, later);
    assert_apart(high, later);
    assert_eq!((&*low, &*high), (&[1, 2, 3][..], &[4; 3]));
    assert!(later.iter().enumerate().all(|(i, value)| *value == i as u64));
}

#[test]
fn bug_9_an_iterator_with_a_wrong_length_neither_overflows_nor_leaks() {
    fn lie(s: &Scope<'_>, yielded: usize, announced: usize) {
        let values = || Liar { values: 0..yielded, announced };
        let guard_before = s.alloc([0xA5u8; 32]);
        let known = s.alloc_slice_fill_iter(values());
        assert_eq!(s.try_alloc_slice_fill_iter(values()).unwrap(), known);
        let collected = s.alloc_slice_from_iter(values());
        let owned = s.boxed_slice_from_iter(values());
        let guard_after = s.alloc([0x5Au8; 32]);

        assert_eq!(known.len(), yielded.min(announced));
        assert_eq!((collected.len(), owned.len()), (yielded, yielded));
        assert!(known.iter().enumerate().all(|(i, value)| *value == i));
        assert!(collected.iter().enumerate().all(|(i, value)| *value == i));
        for slice in [&*known, &*collected, &*owned] {
            assert_apart(guard_before, slice);
            assert_apart(guard_after, slice);
        }
        assert_eq!((*guard_before, *guard_after), ([0xA5; 32], [0x5A; 32]));
    }

    let mut arena = Arena::with_chunk_size(256);
    for (yielded, announced) in [(0, 1), (1, 0), (10, 3), (3, 10), (500, 2), (2, 500), (0, 0)] {
        lie(&arena.scope(), yielded, announced);
    }
    // A length beyond any memory is refused if it is trusted, and ignored if it is not.
    let s = arena.scope();
    for announced in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 8 + 1] {
        let values = || Liar { values: 0..5_u64, announced };
        assert!(s.try_alloc_slice_fill_iter(values()).is_err());
        assert_eq!(s.alloc_slice_from_iter(values()), [0, 1, 2, 3, 4]);
    }
}

#[test]
fn bug_10_statistics_can_be_read_while_allocating() {
    let arena = Arena::with_chunk_size(64);
    let s = arena.root();
    let first = s.alloc([1u8; 40]);
    let mut chunks = arena.chunks();
    let mut seen = 0;
    let mut last_used = 0;
    for i in 0..20u8 {
        first[0] = i; // under Miri an iterator that lent this memory would make it an error
        let block = s.alloc_slice_fill_copy(100, i);
        seen += usize::from(chunks.next().is_some());
        block[99] = 1;
        let (whole, here) = (arena.stats(), s.stats());
        assert_eq!(whole, here);
        assert!(whole.used > last_used && whole.used <= whole.capacity);
        last_used = whole.used;
        assert_eq!(first[0], i);
        assert_eq!((block[0], block[99]), (i, 1));
    }
    assert!(seen >= 2);
    drop(chunks);
    let sum: usize = arena.chunks().map(|chunk| chunk.capacity).sum();
    assert_eq!(sum, arena.stats().capacity);
    assert_ne!(address(first), 0);
}
