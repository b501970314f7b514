//! Where the range lies, in the words that a free or an allocation of any thread reads.
//!
//! The words are written once, and read without an order: they must not cost the fast paths a
//! thing. Two kinds of threads read them:
//!
//! - One that relies on what it reads holds a block of the range, or has an owner that was started.
//!   The block came to it, through whatever the program hands things over by, from a thread with
//!   such an owner; and an owner is started once [`Once`](crate::once::Once) has said `Ready`,
//!   which acquires what was written. So the writes have happened before, and a load without an
//!   order returns what they wrote.
//! - Any other thread asks about the address of a block of another allocator, and must be told no.
//!   It may see any mixture of old and new words. With the old size no offset is small enough. With
//!   the old `minus_origin` every offset is too large. With both new the answer is right, for no
//!   block of another allocator lies in a new reservation. `table` and `origin` it does not use.
//!
//! `tests/loom_range.rs` tries every mixture.
#![forbid(unsafe_code)]

use core::ptr;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// What is added to an address before there is a range: for that of any block the sum lies far
/// beyond the size of any range.
const NOWHERE: usize = 1 << (usize::BITS - 1);

/// See the module's head.
#[repr(align(64))]
#[derive(Debug)]
pub(crate) struct Bounds {
    /// 0 less the address of `origin`: adding it takes an instruction less than subtracting the
    /// origin.
    minus_origin: AtomicUsize,
    size_bytes: AtomicUsize,
    table: AtomicPtr<u8>,
    origin: AtomicPtr<u8>,
    /// The number of chunks that the range has room for.
    chunks: AtomicU32,
}

macro_rules! nowhere {
    () => {
        Bounds {
            minus_origin: AtomicUsize::new(NOWHERE),
            size_bytes: AtomicUsize::new(0),
            table: AtomicPtr::new(ptr::null_mut()),
            origin: AtomicPtr::new(ptr::null_mut()),
            chunks: AtomicU32::new(0),
        }
    };
}

impl Bounds {
    /// Those of a range that is not there yet.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        nowhere!()
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        nowhere!()
    }

    /// Sets the bounds, once: the table, chunk 0, and how many chunks of how many bytes there are.
    pub(crate) fn set(&self, table: *mut u8, origin: *mut u8, chunks: u32, chunk_bytes: usize) {
        // Relaxed, all of them: published by `Once`, or not relied on, as the module's head says.
        self.table.store(table, Ordering::Relaxed);
        self.origin.store(origin, Ordering::Relaxed);
        self.chunks.store(chunks, Ordering::Relaxed);
        self.size_bytes.store(chunks as usize * chunk_bytes, Ordering::Relaxed);
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

    /// How far behind the origin an address lies; `None` outside of the range.
    #[inline(always)]
    pub(crate) fn offset_of(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_add(self.minus_origin.load(Ordering::Relaxed));
        (offset < self.size_bytes()).then_some(offset)
    }

    #[inline(always)]
    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes.load(Ordering::Relaxed)
    }

    /// The number of chunks that the range has room for.
    pub(crate) fn chunks(&self) -> u32 {
        self.chunks.load(Ordering::Relaxed)
    }
}
