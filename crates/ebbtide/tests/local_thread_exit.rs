//! A program of its own, because its global allocator counts blocks.
//!
//! Claim: a thread that ends leaves no memory behind, and warm default scopes and pools allocate
//! none.
//!
//! There is only one test, so that only the test harness runs at the same time. It allocates a few
//! times, at any moment, so a count that differs is taken again.

#![cfg(feature = "std")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use ebbtide::{Arena, Pool, local};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};

static BLOCKS: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: forwards to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BLOCKS.fetch_add(1, SeqCst);
        CALLS.fetch_add(1, SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BLOCKS.fetch_sub(1, SeqCst);
        CALLS.fetch_add(1, SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

thread_local! {
    static AT_EXIT: AtExit = const { AtExit };
}

struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        nested(5);
    }
}

fn nested(depth: usize) {
    ebbtide::scope(|s| {
        s.alloc_slice_fill_copy(10_000, depth);
        if depth > 0 {
            nested(depth - 1);
            local::with(&mut Arena::new().scope(), || ebbtide::scope(|t| *t.alloc(depth)));
        }
    });
}

/// Starts threads that use default scopes in every way, and waits for them to end.
fn threads() {
    for order in 0..4 {
        let outcome = thread::spawn(move || {
            if order & 1 == 0 {
                AT_EXIT.with(|_| ());
            }
            nested(order);
            if order == 3 {
                AT_EXIT.with(|_| ());
                nested(7);
                local::set_default_capacity(100_000).unwrap();
                nested(2);
                local::trim();
                nested(1);
                // Without the panic hook, which prints.
                ebbtide::scope(|_| ebbtide::scope(|_| std::panic::resume_unwind(Box::new(()))));
            }
        })
        .join();
        assert_eq!(outcome.is_err(), order == 3);
    }
}

#[test]
fn all_memory_is_returned_and_warm_use_allocates_none() {
    threads();
    let leave_no_blocks = || {
        let before = BLOCKS.load(SeqCst);
        (0..20).for_each(|_| threads());
        BLOCKS.load(SeqCst) == before
    };
    assert!((0..10).any(|_| leave_no_blocks()), "blocks that threads left behind");

    let pool = Pool::new();
    let turn = || {
        nested(0);
        ebbtide::scope(|s| ebbtide::scope(|t| *s.alloc(1) + *t.alloc(1)));
        pool.scope(|s| s.alloc_slice_fill_copy(10_000, 1_u64).len());
        let (mut one, mut two) = (pool.get(), pool.get());
        assert_eq!(*one.scope().alloc(1) + *two.scope().alloc(2), 3);
    };
    turn();
    turn();
    let makes_no_calls = || {
        let before = CALLS.load(SeqCst);
        (0..100).for_each(|_| turn());
        CALLS.load(SeqCst) == before
    };
    assert!((0..10).any(|_| makes_no_calls()), "calls of the heap in warm scopes");

    let before = BLOCKS.load(SeqCst);
    local::trim();
    pool.trim();
    assert!(BLOCKS.load(SeqCst) < before);
}
