//! A heap that counts its calls and live bytes. Counting is off while time is measured; it then
//! costs one load and one branch per call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// The system's allocator, with counters.
pub(crate) struct CountingHeap;

static COUNTING: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
/// Relative to the start of counting. May become negative, because older memory may be freed.
static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);
static PEAK_BYTES: AtomicI64 = AtomicI64::new(0);

/// Heap usage of a piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeapUse {
    /// Calls to allocate, resize and free.
    pub(crate) calls: u64,
    /// The most bytes live at once, above those at the start, plus the memory that the transparent
    /// allocator took from the system.
    pub(crate) peak_bytes: u64,
}

/// Runs `work` and counts the heap usage of the process meanwhile.
pub(crate) fn count<R>(work: impl FnOnce() -> R) -> (R, HeapUse) {
    ebbtide_global::release_pool();
    let scopes_before = ebbtide_global::report().scopes;
    CALLS.store(0, Relaxed);
    LIVE_BYTES.store(0, Relaxed);
    PEAK_BYTES.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    let result = work();
    COUNTING.store(false, Relaxed);
    let peak_bytes = u64::try_from(PEAK_BYTES.load(Relaxed)).unwrap_or(0);
    let held = held_by_arenas(scopes_before);
    (result, HeapUse { calls: CALLS.load(Relaxed), peak_bytes: peak_bytes + held })
}

/// The memory that the transparent allocator took from the system, if the work opened scopes. It
/// keeps the memory of ended scopes, so after the work this is the peak. One chunk, reserved for
/// the next scope, is not counted as kept.
fn held_by_arenas(scopes_before: u64) -> u64 {
    let report = ebbtide_global::report();
    if report.scopes == scopes_before {
        return 0;
    }
    const CHUNK_BYTES: usize = 64 << 10;
    (report.kept + report.escapes.pinned_bytes + CHUNK_BYTES) as u64
}

fn note(bytes_taken: usize, bytes_given_back: usize) {
    if COUNTING.load(Relaxed) {
        CALLS.fetch_add(1, Relaxed);
        // A size is at most `isize::MAX`, so the difference of two fits.
        let change = bytes_taken as i64 - bytes_given_back as i64;
        let live = LIVE_BYTES.fetch_add(change, Relaxed) + change;
        PEAK_BYTES.fetch_max(live, Relaxed);
    }
}

// SAFETY: each method forwards to `System`. `note` uses only atomics, so it neither allocates nor
// unwinds.
unsafe impl GlobalAlloc for CountingHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller guarantees a layout of non-zero size.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller guarantees a layout of non-zero size.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: the caller guarantees that `block` came from this allocator, and so from
        // `System`, with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size, layout.size());
        // SAFETY: the caller guarantees that `block` came from this allocator with this layout, and
        // that `new_size` is not zero and makes a valid layout.
        unsafe { System.realloc(block, layout, new_size) }
    }
}
