//! A program of its own, because its global allocator can run out of memory.
//!
//! Claim: shrinking a block never fails, even if the system has no memory. A block whose scope has
//! ended would move to the inner allocator; if that has no memory, the block stays where it is.

// Without a range no block is an arena's.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Scoped, arena, report, set_skipping};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, Ordering},
};

/// The system's allocator, or one that has nothing left.
struct Short;

static IS_SHORT: AtomicBool = AtomicBool::new(false);

// SAFETY: the system's, or null.
unsafe impl GlobalAlloc for Short {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_SHORT.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller guarantees a layout of non-zero size.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees that the block came from here, and so from `System`, with
        // this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOC: Scoped<Short> = Scoped::new(Short);

#[test]
fn a_shrinking_block_stays_in_place_if_there_is_no_other_memory() {
    set_skipping(false);
    let scope = |number: u8| {
        let blocks: Vec<Vec<u8>> = (0..200).map(|_| vec![number; 300]).collect();
        blocks.into_iter().step_by(20).collect::<Vec<_>>()
    };
    let mut kept: Vec<Vec<Vec<u8>>> = (0..50).map(|number| arena(|| scope(number))).collect();
    assert!(report().escapes.pinned_chunks > 0 && report().fallbacks.total() == 0);

    IS_SHORT.store(true, Ordering::Relaxed);
    for block in kept.iter_mut().flatten() {
        block.truncate(10);
        block.shrink_to_fit();
    }
    IS_SHORT.store(false, Ordering::Relaxed);
    let later: Vec<_> = (0..50).map(|number| arena(|| scope(number))).collect();

    for (number, blocks) in (0..50).zip(&kept) {
        assert!(blocks.iter().all(|block| *block == [number; 10]));
    }
    for (number, blocks) in (0..50).zip(&later) {
        assert!(blocks.iter().all(|block| *block == [number; 300]));
    }
}
