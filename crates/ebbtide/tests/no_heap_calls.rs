//! A program of its own, because its global allocator counts calls.
//!
//! Claim: a warm scope does not call the global allocator, whatever is allocated.
//!
//! The allocator counts per thread, so that the test harness and other tests do not interfere.

#![cfg(feature = "std")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use ebbtide::{Arena, Fixed, Scope, TypedArena, unsize};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    mem::MaybeUninit,
};

thread_local!(static CALLS: Cell<usize> = const { Cell::new(0) });

struct Counting;

impl Counting {
    fn note() {
        // A thread that is ending has no counter.
        let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
    }
}

// SAFETY: forwards to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::note();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Counting::note();
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Counting::note();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Counting::note();
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// The number of calls to the global allocator that `f` makes on this thread.
fn calls(f: impl FnOnce()) -> usize {
    let before = CALLS.get();
    f();
    CALLS.get() - before
}

/// Runs `turn` once in a scope of a new arena, then repeatedly, and counts the calls of the later
/// turns.
fn warm_calls(mut turn: impl FnMut(&mut Scope<'_>)) -> usize {
    let mut arena = Arena::new();
    let cold = calls(|| turn(&mut arena.scope()));
    assert!(cold > 0, "the first turn takes memory");
    calls(|| {
        for _ in 0..50 {
            turn(&mut arena.scope());
        }
    })
}

#[test]
fn b07_a_warm_scope_calls_no_allocator() {
    let xs = [1, 2, 3];
    let mut total = 0;
    let warm = warm_calls(|s| {
        let ys = s.alloc_slice_fill_with(xs.len(), |i| xs[i] + 1);
        total += ys.iter().sum::<i64>();
    });
    assert_eq!((warm, total), (0, 51 * 9));
}

#[test]
fn b08_scopes_on_an_explicit_buffer_call_no_allocator_even_when_cold() {
    let mut memory = [MaybeUninit::uninit(); 1000];
    let mut total = 0;
    let all = calls(|| {
        let mut buffer = Fixed::new(&mut memory[..]);
        for _ in 0..50 {
            let s = buffer.scope();
            total += s.alloc_slice_fill_copy(100, 1_u64).iter().sum::<u64>();
        }
    });
    assert_eq!((all, total), (0, 5000));
}

fn successor_sum<'a>(s: &Scope<'a>, xs: &[i64]) -> &'a mut i64 {
    let ys = s.alloc_slice_copy(xs);
    ys.iter_mut().for_each(|y| *y += 1);
    s.alloc(ys.iter().sum())
}

#[test]
fn b09_warm_functions_that_take_a_scope_call_no_allocator() {
    let warm = warm_calls(|s| {
        assert_eq!(*successor_sum(&s.scope(), &[1, 2, 3]), 9);
        assert_eq!(*successor_sum(s, &[1, 2, 3]), 9);
    });
    assert_eq!(warm, 0);
}

#[test]
fn every_method_makes_no_heap_calls_when_warm() {
    let warm = warm_calls(|s| {
        s.alloc(1_u64);
        s.alloc_with(|| [1_u8; 100]);
        s.alloc_try_with(|| "1".parse::<u8>()).unwrap();
        s.alloc_uninit::<[u64; 20]>().write([1; 20]);
        s.alloc_zeroed::<[u64; 20]>();
        s.alloc_aligned([0_u8; 100], 512);
        s.alloc_layout(Layout::from_size_align(1000, 64).unwrap());
        s.alloc_slice_copy(&[1_u16; 33]);
        s.alloc_slice_clone(&[Some(1); 9]);
        s.alloc_slice_fill_copy(100, 'x');
        s.alloc_slice_fill_clone(100, &Some(2));
        s.alloc_slice_fill_default::<u32>(100);
        s.alloc_slice_fill_with(100, |i| i);
        s.alloc_slice_try_fill_with(3, u8::try_from).unwrap();
        s.alloc_slice_try_fill_with(3, |i| if i == 2 { Err(()) } else { Ok(i) }).unwrap_err();
        s.alloc_slice_fill_iter([1, 2, 3]);
        s.alloc_slice_from_iter((0..1000).filter(|n| n % 3 == 0));
        s.alloc_array::<usize, 100>(|i| i);
        s.alloc_uninit_slice::<u8>(100);
        s.alloc_uninit_slice_aligned::<u8>(100, 128);
        s.alloc_zeroed_slice::<f64>(100);
        s.alloc_str("as long as a string may well be, and longer");
        s.alloc_fmt(format_args!("{:>200} and {:?}", 1.5, [1, 2, 3]));
        s.alloc_cstr(c"ebb");
        drop(s.boxed(5));
        drop(unsize!(s.boxed_with(|| [1_u8; 300]) => dyn Send));
        drop(s.boxed_slice_fill_with(10, |i| i));
        drop(s.boxed_slice_clone(&[1, 2]));
        drop(s.boxed_slice_from_iter((0..100).filter(|n| n % 7 == 0)));
        drop(s.boxed_str("owned"));
    });
    assert_eq!(warm, 0);
}

#[test]
fn crossing_chunks_makes_no_heap_calls_when_warm() {
    let warm = warm_calls(|s| {
        for i in 0..3000_u64 {
            s.alloc([i; 10]);
        }
        let mut inner = s.scope();
        for i in 0..3000_u64 {
            inner.scope().alloc([i; 100]);
            inner.alloc([i; 10]);
        }
        s.alloc([1_u8; 3000]);
    });
    assert_eq!(warm, 0);
}

#[test]
fn oversize_requests_make_no_heap_calls_when_warm() {
    let warm = warm_calls(|s| {
        s.alloc(1_u8);
        s.alloc_zeroed_slice::<u64>(100_000);
        s.alloc(2_u8);
        s.scope().alloc_zeroed_slice::<u64>(200_000);
        s.alloc_uninit_slice_aligned::<u8>(100, 1 << 16);
    });
    assert_eq!(warm, 0);
}

#[test]
fn growing_across_chunks_makes_no_heap_calls_when_warm() {
    let warm = warm_calls(|s| {
        let numbers = s.alloc_slice_from_iter((0..50_000_u32).filter(|n| n % 2 == 0));
        assert_eq!(numbers.len(), 25_000);
        let text = s.alloc_fmt(format_args!("{:>60000}", numbers.len()));
        assert_eq!(text.len(), 60_000);
        // One block grows while its iterator allocates another.
        let lengths = s.alloc_slice_from_iter((0..1000_u32).filter_map(|n| {
            let line = s.alloc_fmt(format_args!("{n} of a thousand"));
            (n % 2 == 1).then_some(line.len())
        }));
        assert_eq!(lengths.len(), 500);
    });
    assert_eq!(warm, 0);
}

#[test]
fn resetting_a_root_makes_no_heap_calls_when_warm() {
    let mut arena = Arena::new();
    let turn = |arena: &mut Arena| {
        for i in 0..10_000_u64 {
            arena.root().alloc(i);
        }
        arena.reset();
    };
    turn(&mut arena);
    assert_eq!(calls(|| (0..10).for_each(|_| turn(&mut arena))), 0);
}

#[test]
fn a_new_arena_makes_no_heap_calls_before_its_first_scope() {
    assert_eq!(
        calls(|| {
            let arena = Arena::new();
            assert_eq!(arena.stats().capacity, 0);
        }),
        0
    );
}

#[test]
fn a_typed_arena_for_a_few_values_makes_one_chunk_and_nothing_else() {
    let few = calls(|| {
        let arena = TypedArena::new();
        for i in 0..10_u64 {
            arena.alloc(i);
        }
        arena.alloc_extend(0..10);
    });
    assert_eq!(few, 2, "one call takes the chunk, and one frees it");
}

#[test]
fn a_cleared_typed_arena_calls_no_allocator() {
    let mut arena = TypedArena::new();
    let mut turn = || {
        for i in 0..300_usize {
            arena.alloc(i);
            arena.alloc_extend((0..i % 7).map(|i| i + arena.len()));
        }
        arena.clear();
    };
    assert!(calls(&mut turn) > 3);
    for _ in 0..10 {
        assert_eq!(calls(&mut turn), 0);
    }
}
