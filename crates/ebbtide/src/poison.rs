//! Poison: makes memory that a scope left behind unusable, so that a raw pointer which outlived its
//! scope is caught. A debugging aid behind the feature `poison` (the bytes become [`PATTERN`]) and
//! under `AddressSanitizer` (`--cfg ebbtide_asan`: any access is reported). Without either, every
//! function here is empty and nothing is tracked.
//!
//! Memory is poisoned when the next scope opens over it or a cursor enters its chunk, not when a scope
//! ends, since nothing runs then. Each header keeps how far its region was touched, so that opening a
//! scope costs what the last one used, not the size of the chunk.

use crate::chunk::Header;
use core::{cell::Cell, ptr::NonNull};

/// Whether allocations are tracked at all.
pub(crate) const TRACKS: bool = cfg!(any(feature = "poison", ebbtide_asan));

/// What memory of an ended scope is filled with.
#[cfg(feature = "poison")]
pub(crate) const PATTERN: u8 = 0xDB;

/// How far a region was written to from its two ends since it was last poisoned, as addresses.
#[derive(Debug)]
pub(crate) struct Touched {
    low: Cell<usize>,
    top: Cell<usize>,
}

impl Touched {
    /// For a header without a region.
    pub(crate) const fn nowhere() -> Self {
        Touched { low: Cell::new(0), top: Cell::new(0) }
    }

    /// None of the region is touched.
    pub(crate) fn none(&self, low: NonNull<u8>, top: NonNull<u8>) {
        self.low.set(low.addr().get());
        self.top.set(top.addr().get());
    }

    /// Of unknown content, all of the region counts as touched.
    pub(crate) fn all(&self, low: NonNull<u8>, top: NonNull<u8>) {
        self.low.set(top.addr().get());
        self.top.set(low.addr().get());
    }

    pub(crate) fn copy(&self, other: &Touched) {
        self.low.set(other.low.get());
        self.top.set(other.top.get());
    }
}

/// A block of the region of `header` was handed out.
pub(crate) fn hand_out(header: &Header, block: NonNull<u8>, size: usize, high_end: bool) {
    if !TRACKS {
        return;
    }
    let start = block.addr().get();
    let touched = &header.touched;
    if high_end {
        touched.top.set(touched.top.get().min(start));
    } else {
        touched.low.set(touched.low.get().max(start + size));
    }
    lift(block, size);
}

/// A block at the low end was given back, or its tail was. The sanitizer hears of it when the next
/// scope opens.
pub(crate) fn take_back(block: NonNull<u8>, size: usize) {
    if TRACKS {
        fill(block, size);
    }
}

/// `low..top` of the region of `header` is free: poisons what was touched of it.
///
/// A caller's own buffer is only filled: nothing would tell the sanitizer when it is the caller's again.
pub(crate) fn left_behind(header: &Header, low: NonNull<u8>, top: NonNull<u8>) {
    if !TRACKS {
        return;
    }
    let (start, end) = (low.addr().get(), top.addr().get());
    let low_end = header.touched.low.get().clamp(start, end);
    let high_start = header.touched.top.get().clamp(low_end, end);
    for (from, to) in [(start, low_end), (high_start, end)] {
        let block = at(low, from);
        lift(block, to - from);
        fill(block, to - from);
        if header.block_size() != 0 {
            fresh(block, to - from);
        }
    }
    header.touched.low.set(start);
    header.touched.top.set(end);
}

fn at(base: NonNull<u8>, address: usize) -> NonNull<u8> {
    // SAFETY: `address` lies in the region of `base`, which does not hold the null address.
    unsafe { NonNull::new_unchecked(base.as_ptr().with_addr(address)) }
}

/// Fills `size` bytes that nobody uses with the pattern.
fn fill(start: NonNull<u8>, size: usize) {
    #[cfg(feature = "poison")]
    // SAFETY: the bytes lie in one region and are free (I2), so writing to them is ours alone.
    unsafe {
        start.write_bytes(PATTERN, size)
    };
    #[cfg(not(feature = "poison"))]
    let _ = (start, size);
}

/// Tells the sanitizer that nobody may touch these bytes.
pub(crate) fn fresh(start: NonNull<u8>, size: usize) {
    #[cfg(ebbtide_asan)]
    // SAFETY: the bytes are an arena's own and nobody uses them.
    unsafe {
        __asan_poison_memory_region(start.as_ptr().cast(), size)
    };
    #[cfg(not(ebbtide_asan))]
    let _ = (start, size);
}

/// Makes bytes accessible again: they are handed out, or go back to the backing.
pub(crate) fn lift(start: NonNull<u8>, size: usize) {
    #[cfg(ebbtide_asan)]
    // SAFETY: the bytes are an arena's own.
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
