//! Poisoning of memory after its scope ended.
//!
//! This helps to find raw pointers that outlived their scope. With the feature `poison`, the memory
//! is filled with [`PATTERN`]. In a build for `AddressSanitizer` (`cfg(ebbtide_asan)`, set by `build.rs`),
//! any access to it is reported. Otherwise every function here is empty and nothing is tracked.
//!
//! Nothing runs when a scope ends, so its memory is poisoned when the next scope opens over it or
//! when a cursor enters its chunk. Each region records which part of it was touched, and only that
//! part is poisoned. So the cost of opening a scope depends on what the last scope used, not on the
//! size of the chunk.

use core::{num::NonZero, ptr::NonNull};

/// Whether allocations are tracked at all.
pub(crate) const TRACKS: bool = cfg!(any(feature = "poison", ebbtide_asan));

/// Fills memory of an ended scope.
#[cfg(feature = "poison")]
const PATTERN: u8 = 0xDB;

/// What a region records of its use.
pub(crate) struct Touched(Record);

/// The parts at both ends of a region that were written to since it was last poisoned, as
/// addresses.
#[derive(Clone, Copy)]
struct Ends {
    low: NonZero<usize>,
    top: NonZero<usize>,
    /// Whether the region lies in a block of the backing. The sanitizer is not informed about a
    /// caller's buffer, because nothing would inform it when the caller uses the buffer again.
    is_ours: bool,
}

impl Ends {
    const NOWHERE: Ends =
        Ends { low: NonZero::<usize>::MIN, top: NonZero::<usize>::MIN, is_ours: false };
}

#[cfg(any(feature = "poison", ebbtide_asan))]
type Record = core::cell::Cell<Ends>;

/// Without tracking, takes no memory.
#[cfg(not(any(feature = "poison", ebbtide_asan)))]
struct Record;

#[cfg(not(any(feature = "poison", ebbtide_asan)))]
impl Record {
    const fn new(_: Ends) -> Self {
        Record
    }

    fn set(&self, _: Ends) {}

    fn get(&self) -> Ends {
        Ends::NOWHERE
    }
}

impl Touched {
    /// The state of a header without a region.
    pub(crate) const fn nowhere() -> Self {
        Touched(Record::new(Ends::NOWHERE))
    }

    /// Resets to a region of a fresh block, in which nothing is touched.
    pub(crate) fn reset(&self, low: NonNull<u8>, top: NonNull<u8>) {
        self.0.set(Ends { low: low.addr(), top: top.addr(), is_ours: true });
    }

    /// Marks a caller's whole buffer as touched, because its contents are unknown.
    pub(crate) fn mark_all(&self, low: NonNull<u8>, top: NonNull<u8>) {
        self.0.set(Ends { low: top.addr(), top: low.addr(), is_ours: false });
    }

    /// Records that a block was handed out, and makes it accessible.
    pub(crate) fn hand_out(&self, block: NonNull<u8>, size: usize, from_high_end: bool) {
        if !TRACKS {
            return;
        }
        let mut ends = self.0.get();
        if from_high_end {
            ends.top = ends.top.min(block.addr());
        } else {
            ends.low = ends.low.max(block.addr().saturating_add(size));
        }
        self.0.set(ends);
        lift(block, size);
    }

    /// Poisons the touched part of `low..top`.
    ///
    /// # Safety
    ///
    /// `low..top` is part of one region, and nobody uses it.
    pub(crate) unsafe fn poison(&self, low: NonNull<u8>, top: NonNull<u8>) {
        if !TRACKS {
            return;
        }
        let (start, end) = (low.addr(), top.addr());
        let Ends { low: touched_low, top: touched_top, is_ours } = self.0.get();
        let low_end = touched_low.clamp(start, end);
        let high_start = touched_top.clamp(low_end, end);
        for (from, to) in [(start, low_end), (high_start, end)] {
            let (block, size) = (low.with_addr(from), to.get() - from.get());
            lift(block, size);
            // SAFETY: `from..to` is part of `low..top`.
            unsafe { fill(block, size) };
            if is_ours {
                forbid(block, size);
            }
        }
        self.0.set(Ends { low: start, top: end, is_ours });
    }
}

/// Fills a low-end block that was given back, or the end of it. The sanitizer is informed when the
/// next scope opens.
///
/// # Safety
///
/// The `size` bytes at `block` lie in one region, and nobody uses them.
pub(crate) unsafe fn take_back(block: NonNull<u8>, size: usize) {
    if TRACKS {
        // SAFETY: the bytes lie in one region, and nobody uses them, by this function's contract.
        unsafe { fill(block, size) };
    }
}

/// Fills `size` bytes with the pattern.
///
/// # Safety
///
/// The bytes lie in one region, and nobody uses them.
unsafe fn fill(start: NonNull<u8>, size: usize) {
    #[cfg(feature = "poison")]
    // SAFETY: the bytes lie in one region, so they are valid for writes; nobody uses them, by this
    // function's contract.
    unsafe {
        start.write_bytes(PATTERN, size)
    };
    #[cfg(not(feature = "poison"))]
    let _ = (start, size);
}

/// Informs the sanitizer that nobody may access these bytes.
pub(crate) fn forbid(start: NonNull<u8>, size: usize) {
    #[cfg(ebbtide_asan)]
    // SAFETY: the sanitizer notes a range of addresses and touches none of them.
    unsafe {
        __asan_poison_memory_region(start.as_ptr().cast(), size)
    };
    #[cfg(not(ebbtide_asan))]
    let _ = (start, size);
}

/// Makes bytes accessible again that are handed out or go back to the backing.
pub(crate) fn lift(start: NonNull<u8>, size: usize) {
    #[cfg(ebbtide_asan)]
    // SAFETY: the sanitizer notes a range of addresses and touches none of them.
    unsafe {
        __asan_unpoison_memory_region(start.as_ptr().cast(), size)
    };
    #[cfg(not(ebbtide_asan))]
    let _ = (start, size);
}

#[cfg(ebbtide_asan)]
unsafe extern "C" {
    fn __asan_poison_memory_region(start: *const core::ffi::c_void, size: usize);
    fn __asan_unpoison_memory_region(start: *const core::ffi::c_void, size: usize);
}
