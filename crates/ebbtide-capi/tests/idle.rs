//! Claim: a thread keeps a bounded number of idle arenas, however many scopes it has closed.

use ebbtide_capi::{ebb_scope, ebb_thread_close_, ebb_thread_open_, ebb_thread_trim};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    mem::MaybeUninit,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The heap, with a count of the bytes in use.
struct Counted;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

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

fn open() -> ebb_scope {
    let mut scope = MaybeUninit::uninit();
    // SAFETY: a variable.
    unsafe { ebb_thread_open_(scope.as_mut_ptr()) };
    // SAFETY: written by the call.
    unsafe { scope.assume_init() }
}

fn close(scope: ebb_scope) {
    let arena = scope.state.map_addr(|address| address & !63).cast();
    // SAFETY: the arena of an open scope, which is not used again.
    unsafe { ebb_thread_close_(arena) };
}

#[test]
fn a_thread_keeps_a_bounded_number_of_idle_arenas() {
    let before = IN_USE.load(Relaxed);
    let mut scopes = Vec::with_capacity(500);
    for _ in 0..500 {
        scopes.push(open());
    }
    let while_open = IN_USE.load(Relaxed) - before;
    assert!(while_open > 500 << 15, "{while_open}");
    scopes.into_iter().for_each(close);
    let idle = IN_USE.load(Relaxed) - before;
    assert!(idle < 40 << 16, "{idle}");
    assert!(idle > 8 << 15, "some stay: {idle}");
    ebb_thread_trim();
    assert!(IN_USE.load(Relaxed) - before < 1 << 15);
}
