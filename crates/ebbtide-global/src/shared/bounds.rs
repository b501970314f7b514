//! The address and size of the range, which every allocation and free reads.
//!
//! The fields are written once, and read `Relaxed` because the fast paths read them. Two kinds of
//! threads do so:
//!
//! - A thread that has a started owner, or holds a block of the range. An owner is started after
//!   [`Once`](crate::shared::once::Once) returned `Ready`, which acquires the written values. A block comes
//!   from a thread with such an owner, and was passed on by an operation that synchronises. So the
//!   writes happen before the relaxed load, which returns the written values.
//! - Any other thread only asks whether a block of another allocator lies in the range, and the
//!   answer must be no. It may see any mixture of old and new values. With the old size, 0, no
//!   offset is small enough. With the old `minus_origin`, every offset is too large. With the new
//!   values of both, the answer is right, because no block of another allocator lies in a new
//!   reservation. Such a thread does not use `table` and `origin`.
//!
//! The model in `tests/loom_range.rs` covers every mixture.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicPtr, AtomicUsize, Ordering};
use core::ptr;

/// `minus_origin` before the range exists. Added to the address of any block, it gives a sum far
/// beyond the size of any range.
const NOWHERE: usize = 1 << (usize::BITS - 1);

/// The address and size of the range, on a cache line of their own.
#[repr(align(64))]
#[derive(Debug)]
pub(crate) struct Bounds {
    /// The negated address of `origin`. Adding it takes one instruction less than subtracting the
    /// address.
    minus_origin: AtomicUsize,
    size_bytes: AtomicUsize,
    table: AtomicPtr<u8>,
    origin: AtomicPtr<u8>,
}

impl Bounds {
    // The bounds before the range exists.
    new_atomic!(Bounds {
        minus_origin: AtomicUsize::new(NOWHERE),
        size_bytes: AtomicUsize::new(0),
        table: AtomicPtr::new(ptr::null_mut()),
        origin: AtomicPtr::new(ptr::null_mut()),
    });

    /// Sets the bounds, once: the table, chunk 0, and the bytes of all chunks.
    pub(crate) fn set(&self, table: *mut u8, origin: *mut u8, size_bytes: usize) {
        // Relaxed, all of them: published by `Once`, or not relied on, as the module's head says.
        self.table.store(table, Ordering::Relaxed);
        self.origin.store(origin, Ordering::Relaxed);
        self.size_bytes.store(size_bytes, Ordering::Relaxed);
        self.minus_origin.store(origin.addr().wrapping_neg(), Ordering::Relaxed);
    }

    /// The first byte of the table.
    #[inline(always)]
    pub(crate) fn table(&self) -> *mut u8 {
        self.table.load(Ordering::Relaxed)
    }

    /// The first byte of chunk 0, with provenance for the whole range.
    #[inline(always)]
    pub(crate) fn origin(&self) -> *mut u8 {
        self.origin.load(Ordering::Relaxed)
    }

    /// The offset of an address from the origin; `None` outside of the range.
    #[inline(always)]
    pub(crate) fn offset_of(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_add(self.minus_origin.load(Ordering::Relaxed));
        (offset < self.size_bytes()).then_some(offset)
    }

    #[inline(always)]
    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes.load(Ordering::Relaxed)
    }
}
