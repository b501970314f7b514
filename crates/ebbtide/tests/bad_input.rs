//! Claim: a request that cannot be met is a documented error without side effects.

#![cfg(feature = "std")]

use crate::common::{Liar, assert_works, end, panic_of, watched};
use ebbtide::{AllocError, Arena, Fixed, Scope, StackArena};
use std::{alloc::Layout, mem::MaybeUninit};

/// An arena whose backing has at most 1 MiB, so that tests do not depend on the machine's memory.
fn small_world(test: impl Fn(&Scope<'_>)) {
    let (backing, log) = watched();
    log.refuse_above(1 << 20);
    let mut arena = Arena::with_chunk_size_in(1_000, backing);
    {
        let s = arena.scope();
        let kept = s.alloc([0xA5u8; 100]);
        test(&s);
        assert_eq!(*kept, [0xA5; 100]);
        assert_works(&s);
    }
    drop(arena);
    assert_eq!(log.live(), 0);
    let mut fixed = StackArena::<8_192>::new();
    let s = fixed.scope();
    test(&s);
    assert!(s.try_alloc([0u8; 4_096]).is_ok());
}

/// Checks that the method fails and changes nothing.
#[track_caller]
fn refused<T>(s: &Scope<'_>, attempt: impl FnOnce() -> Result<T, AllocError>) {
    let before = s.stats();
    assert!(attempt().is_err());
    assert_eq!(s.stats(), before);
}

const MAX: usize = isize::MAX as usize;

/// A terabyte in 64 bits, 16 MiB in 32 bits: more than the backing has.
const MUCH: usize = 1 << (usize::BITS / 2 + 8);

/// The size of this many 8-byte elements wraps to 0.
const WRAPS: usize = 1 << (usize::BITS - 3);

#[test]
fn lengths_beyond_any_memory_are_refused() {
    small_world(|s| {
        for len in [usize::MAX, usize::MAX / 2, MAX + 1, MAX, MAX - 1, MAX - 15, MAX - 4_096, MUCH]
        {
            refused(s, || s.try_alloc_uninit_slice::<u8>(len));
            refused(s, || s.try_alloc_zeroed_slice::<u8>(len));
            refused(s, || s.try_alloc_slice_fill_copy(len, 0u8));
            refused(s, || s.try_alloc_slice_fill_clone(len, &0u8));
            refused(s, || s.try_alloc_slice_fill_default::<u8>(len));
            refused(s, || s.try_alloc_slice_fill_with(len, |_| 0u8));
            refused(s, || s.try_boxed_slice_fill_with(len, |_| 0u8));
            refused(s, || s.try_alloc_uninit_slice_aligned::<u8>(len, 64));
            refused(s, || s.try_alloc_uninit_slice_aligned::<u8>(len, MUCH));
            let known = || Liar { values: std::iter::empty::<u8>(), announced: len };
            refused(s, || s.try_alloc_slice_fill_iter(known()));
            let failed = s.try_alloc_slice_try_fill_with(len, |_| Ok::<u8, ()>(0));
            assert_eq!(failed, Err(ebbtide::AllocOrInitError::Alloc(AllocError)));
        }
    });
}

#[test]
fn lengths_times_sizes_that_overflow_are_refused() {
    small_world(|s| {
        // The product wraps to 0, to a small number, and to one just above `isize::MAX`.
        for len in [WRAPS, WRAPS + 1, WRAPS / 2, MAX / 8, MAX / 8 + 1, usize::MAX / 8 + 1] {
            refused(s, || s.try_alloc_uninit_slice::<u64>(len));
            refused(s, || s.try_alloc_zeroed_slice::<u64>(len));
            refused(s, || s.try_alloc_slice_fill_copy(len, 0u64));
            refused(s, || s.try_alloc_slice_fill_clone(len, &0u64));
            refused(s, || s.try_alloc_slice_fill_default::<u64>(len));
            refused(s, || s.try_alloc_uninit_slice_aligned::<u64>(len, 16));
            refused(s, || s.try_alloc_slice_fill_with(len, |_| [0u64; 3]));
            refused(s, || s.try_boxed_slice_fill_with(len, |_| 0u64));
            let known = || Liar { values: std::iter::empty::<u64>(), announced: len };
            refused(s, || s.try_alloc_slice_fill_iter(known()));
        }
    });
}

#[test]
fn infallible_methods_panic_if_the_length_is_too_large() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let before = s.stats();
    let attempts: [&dyn Fn(); 8] = [
        &|| end(s.alloc_uninit_slice::<u8>(MAX + 1)),
        &|| end(s.alloc_zeroed_slice::<u64>(WRAPS)),
        &|| end(s.alloc_slice_fill_copy(usize::MAX, 0u16)),
        &|| end(s.alloc_slice_fill_default::<u64>(usize::MAX)),
        &|| end(s.alloc_slice_fill_with(MAX, |_| 0u16)),
        &|| end(s.alloc_slice_fill_iter(Liar { values: 0..3u64, announced: usize::MAX })),
        &|| end(s.boxed_slice_fill_with(usize::MAX, |_| 0u64)),
        &|| end(s.alloc_uninit_slice_aligned::<u8>(MAX, 4_096)),
    ];
    for (i, attempt) in attempts.iter().enumerate() {
        let message = panic_of(attempt).unwrap_or_else(|| panic!("attempt {i} was granted"));
        assert!(message.contains("isize::MAX bytes"), "{message}");
        assert_eq!(s.stats(), before);
    }
    assert_works(&s);
}

#[test]
fn layouts_at_the_limit_are_refused() {
    small_world(|s| {
        for align in [1, 2, 16, 4_096, 1 << 20, WRAPS * 2] {
            let most = MAX - (align - 1);
            for size in [most, most - 1, most / 2 + 1, MUCH * 2] {
                let Ok(layout) = Layout::from_size_align(size, align) else { continue };
                refused(s, || s.try_alloc_layout(layout));
            }
        }
    });
}

#[test]
fn an_alignment_that_is_not_a_power_of_two_is_an_error_or_a_panic() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for align in [0, 3, 6, 100, MAX, usize::MAX, usize::MAX - 1] {
        refused(&s, || s.try_alloc_aligned(7u32, align));
        refused(&s, || s.try_alloc_aligned((), align));
        refused(&s, || s.try_alloc_uninit_slice_aligned::<u32>(3, align));
        refused(&s, || s.try_alloc_uninit_slice_aligned::<u32>(0, align));
        let before = s.stats();
        let attempts: [&dyn Fn(); 3] = [
            &|| end(s.alloc_aligned(7u32, align)),
            &|| end(s.alloc_uninit_slice_aligned::<u32>(3, align)),
            &|| end(s.alloc_uninit_slice_aligned::<u32>(0, align)),
        ];
        for attempt in attempts {
            let message = panic_of(attempt).expect("a panic");
            assert_eq!(message, format!("the alignment must be a power of two, and it is {align}"));
            assert_eq!(s.stats(), before);
        }
    }
    // A power of two, but larger than any block.
    let largest = MAX + 1;
    refused(&s, || s.try_alloc_aligned(7u32, largest));
    refused(&s, || s.try_alloc_aligned(7u32, largest / 2));
    refused(&s, || s.try_alloc_uninit_slice_aligned::<u8>(1, largest));
    assert!(panic_of(|| end(s.alloc_aligned(7u32, largest))).is_some());
    // A smaller alignment than the type's is raised to the type's.
    s.alloc(1u8);
    assert_eq!(s.alloc_aligned(7u64, 1) as *mut u64 as usize % 8, 0);
    assert_eq!(s.alloc_uninit_slice_aligned::<u64>(2, 1).as_ptr().addr() % 8, 0);
    assert_works(&s);
}

#[test]
fn capacities_beyond_any_memory_are_refused() {
    for capacity in [usize::MAX, usize::MAX - 15, usize::MAX - 100, MAX + 1, MAX, MAX - 16] {
        let (backing, log) = watched();
        assert!(Arena::try_with_capacity_in(capacity, backing).is_err());
        assert_eq!((log.calls(), log.live()), (0, 0), "{capacity}");
        assert!(Arena::try_with_capacity(capacity).is_err());
        let message = panic_of(|| Arena::with_capacity(capacity)).expect("a panic");
        assert!(message.contains("isize::MAX bytes"), "{message}");
    }
}

#[test]
fn odd_capacities_hold_as_many_bytes_as_requested() {
    for capacity in [0, 1, 15, 16, 17, 31, 100, 4_095, 4_097] {
        let (backing, log) = watched();
        let mut arena = Arena::try_with_capacity_in(capacity, backing).unwrap();
        assert_eq!(log.calls(), usize::from(capacity > 0));
        assert!((capacity..=capacity + 16).contains(&arena.stats().capacity));
        let s = arena.scope();
        let calls = log.calls();
        s.alloc_slice_fill_copy(capacity, 1u8);
        assert_eq!(log.calls(), calls, "the promised room was not there");
        s.alloc_aligned(1u8, 256);
        assert_works(&s);
    }
}

#[test]
fn an_arena_works_with_any_chunk_size() {
    for size in [0, 1, 15, 16, 17, 1_000, MAX - 100, MAX, MAX + 1, usize::MAX - 15, usize::MAX] {
        let (backing, log) = watched();
        log.refuse_above(1 << 16);
        let mut arena = Arena::with_chunk_size_in(size, backing);
        assert_eq!(log.calls(), 0);
        let s = arena.scope();
        if size <= 1_000 {
            assert!(s.stats().capacity >= size);
        }
        assert!(log.sizes().iter().all(|asked| *asked <= MAX), "{:?}", log.sizes());
        assert_works(&s);
        s.alloc_aligned(1u8, 512);
        drop(arena);
        assert_eq!(log.live(), 0);
    }
}

#[test]
fn zero_sized_values_use_no_memory_and_are_aligned() {
    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Line;
    #[derive(Clone, Copy)]
    #[repr(align(4096))]
    struct Page;

    fn claim<T: Copy>(s: &Scope<'_>, value: T) {
        let before = s.stats();
        let one = std::ptr::from_mut(s.alloc(value)).addr();
        let boxed = std::ptr::from_ref(&*s.boxed(value)).addr();
        let slice = s.alloc_slice_copy(&[value; 9]);
        let huge = s.alloc_uninit_slice::<T>(usize::MAX);
        let collected = s.alloc_slice_from_iter(std::iter::repeat_n(value, 9).filter(|_| true));
        for address in [one, boxed, slice.as_ptr().addr(), huge.as_ptr().addr()] {
            assert_eq!(address % align_of::<T>(), 0);
        }
        assert_eq!((slice.len(), huge.len(), collected.len()), (9, usize::MAX, 9));
        assert_eq!(collected.as_ptr().addr() % align_of::<T>(), 0);
        assert_eq!(s.stats().chunks, before.chunks);
    }

    let empty: &mut [MaybeUninit<u8>] = &mut [];
    let mut empty = Fixed::new(empty);
    let mut arena = Arena::new();
    for s in [empty.scope(), arena.scope()] {
        claim(&s, ());
        claim(&s, [0u64; 0]);
        claim(&s, Line);
        claim(&s, Page);
    }
}

#[test]
fn a_hint_that_lies_takes_no_more_than_the_elements_do() {
    for announced in [1, 100, 500, 5000, usize::MAX] {
        for len in [0, 1, 3] {
            let arena = Arena::with_chunk_size(1000);
            let s = arena.root();
            let held = s.stats().held;
            let values = || Liar { values: 0..len as u64, announced };
            let slice = s.alloc_slice_from_iter(values());
            assert_eq!(slice.len(), len);
            let boxed = s.boxed_slice_from_iter(values());
            assert!(slice.iter().chain(&*boxed).copied().eq((0..len as u64).chain(0..len as u64)));
            assert_eq!(s.stats().used, 16 * len);
            let first = arena.chunks().next().unwrap();
            assert_eq!(first.used, 16 * len, "the rest of the chunk is not lost");
            assert!(len > 0 || s.stats().held == held, "no chunk for nothing");
            s.alloc([7_u64; 100]);
            assert!(slice.iter().copied().eq(0..len as u64));
        }
    }
}

#[test]
fn allocations_of_an_iterator_with_a_wrong_hint_stay() {
    let mut arena = Arena::with_chunk_size(1000);
    let s = arena.scope();
    let mut inner = Vec::new();
    let values = (0..5_u64).inspect(|i| inner.push(s.alloc(*i)));
    let slice = s.alloc_slice_from_iter(Liar { values, announced: 5000 });
    for _ in 0..200 {
        s.alloc_slice_fill_copy(1000, 0xFF_u8);
    }
    assert!(slice.iter().copied().eq(0..5));
    assert!(inner.iter().map(|value| **value).eq(0..5));
}
