//! The heap, with a counter before it: how often it is called, and how many bytes are live at once.
//! Counting is off while time is taken; what is left then is one load and one branch a call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// The system's allocator, counted.
pub(crate) struct CountingHeap;

static COUNTING: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
/// Relative to the start of counting: memory from before may be freed while it is on.
static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);
static PEAK_BYTES: AtomicI64 = AtomicI64::new(0);

/// What a piece of work asked of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeapUse {
    /// Calls to allocate, to resize and to free.
    pub(crate) calls: u64,
    /// The most bytes live at once, beyond those at the start, and what the transparent arena took
    /// of the system for itself.
    pub(crate) peak_bytes: u64,
}

/// Runs `work` and counts what the process asks of the heap meanwhile.
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

/// What the transparent arena has of the system and not of the heap, if the work opened scopes. It
/// keeps what a scope took, so after the work this is the most that the work held. The chunk at hand
/// for the next scope is not among those kept.
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

// SAFETY: each method passes its arguments on to `System` and returns what that returns; `note`
// touches only atomics, so it neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller promises what `System` asks for: a layout whose size is not zero.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: the caller promises that `block` came from this allocator, thus from `System`,
        // with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size, layout.size());
        // SAFETY: as in `dealloc`; the caller also promises that `new_size` is not zero and makes a
        // valid layout.
        unsafe { System.realloc(block, layout, new_size) }
    }
}
