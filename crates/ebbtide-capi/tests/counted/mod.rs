//! A heap that counts the bytes in use, as the global allocator of a test program.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

struct Counted;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// The bytes in use.
pub(crate) fn in_use() -> usize {
    IN_USE.load(Relaxed)
}

// SAFETY: the system's allocator; the count changes nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static HEAP: Counted = Counted;
