//! A program of its own, because its global allocator uses a pool.
//!
//! Claim: a global allocator may itself use a pool, even while that pool calls it.

#![cfg(feature = "std")]

use ebbtide::Pool;
use ebbtide_patience::eventually;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    process,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

static POOL: Pool = Pool::with_chunk_size(100);

/// Set once the timer runs that ends a deadlocked test.
static ARMED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Borrows an arena of the pool for every call.
struct Pooling;

/// The second level uses the pool while the first one is inside it. Without a limit, every call of
/// the allocator would lead to another one.
fn use_the_pool() {
    let depth = DEPTH.with(Cell::get);
    if depth < 2 && ARMED.load(Relaxed) {
        DEPTH.with(|cell| cell.set(depth + 1));
        let kept = POOL.get();
        POOL.scope(|s| assert_eq!(*s.alloc(depth), depth));
        drop(kept);
        DEPTH.with(|cell| cell.set(depth));
    }
}

// SAFETY: blocks are those of `System`, with their layouts.
unsafe impl GlobalAlloc for Pooling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        use_the_pool();
        // SAFETY: the caller promises a layout of at least one byte.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        use_the_pool();
        // SAFETY: the block came from `System.alloc` with this layout.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static GLOBAL: Pooling = Pooling;

#[test]
fn the_pool_of_a_global_allocator_never_waits_for_itself() {
    thread::spawn(|| {
        ARMED.store(true, Relaxed);
        eventually(|| false);
        process::abort();
    });
    while !ARMED.load(Relaxed) {
        thread::yield_now();
    }
    let work = || {
        for turn in 0..40 {
            // More at the same time than before, so that the pool's storage has to grow.
            let lent: Vec<_> = (0..turn).map(|_| POOL.get()).collect();
            drop(lent);
            POOL.scope(|s| assert_eq!(s.alloc_slice_fill_copy(turn, turn).len(), turn));
        }
        let texts = POOL.map(0..100_usize, |s, n| s.alloc_fmt(format_args!("{n}")).len());
        assert_eq!(texts.iter().sum::<usize>(), 190);
    };
    thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(work);
        }
        work();
    });
    assert!(POOL.stats().chunks > 0);
    POOL.trim();
}
