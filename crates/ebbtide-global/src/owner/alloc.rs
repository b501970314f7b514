//! Serving requests.
//!
//! `scoped`, `engine` and `owner/headed` call it. It writes the bump pointer and, for a large
//! block, the entry of its run and the record of its scope.

use super::{MAX_ALIGN, Owner};
use crate::{
    figures::Reason,
    memory::{
        held, os,
        run::{LargeRef, UNLIMITED},
    },
    size::{self, CLASSES, GRANULE, MEDIUM, SMALL},
};
use core::{alloc::Layout, ptr};

/// The offset of a large block in its first page. If all of them began at the start of a page, they
/// would compete for the same few sets of every cache.
fn colour(large: LargeRef) -> usize {
    (large.run().number().wrapping_mul(0x9E37_79B1) >> 28) as usize * 256
}

/// Whether a large block is likely to grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// It is not known to have grown.
    Unknown,
    /// It has grown to a large block: its run has addresses for two more doublings, which cost no
    /// memory.
    Likely,
    /// It has grown again, so it may take a run that holds more memory than it needs.
    Continued,
}

/// The bytes that the run of a large block may hold: the block begins in the first [`MAX_ALIGN`]
/// bytes.
pub(super) fn large_bytes(size: usize) -> usize {
    size::held_bytes(size + MAX_ALIGN, os::page_bytes())
}

/// The class of the run for a large block.
pub(super) fn large_class(size: usize, growth: Growth) -> usize {
    let headroom = if growth == Growth::Unknown { 0 } else { 2 };
    (size::class(size + MAX_ALIGN) + headroom).min(CLASSES - 1)
}

impl Owner {
    /// Allocates a block in the innermost scope. Returns null if no scope is open or the scope does
    /// not serve the request. A request for 0 bytes is not served: its address would be that of the
    /// next block, or of the next chunk.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// # use std::alloc::Layout;
    /// assert!(owner.alloc(Layout::new::<u64>()).is_null(), "no scope is open");
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let block = owner.alloc(Layout::new::<u64>()).cast::<u64>();
    /// assert!(block.is_aligned() && !block.is_null());
    /// owner.leave(ticket);
    /// ```
    #[inline(always)]
    pub fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() == 0 {
            return ptr::null_mut();
        }
        self.alloc_or(layout, || self.alloc_aligned(layout))
    }

    /// The fast path of [`alloc`](Owner::alloc). If it cannot serve the request it calls `slow`,
    /// which must continue with [`alloc_aligned_fast`](Owner::alloc_aligned_fast). The size is not 0.
    /// With a result in place of `slow`, the compiler makes two tests of the size.
    #[inline(always)]
    pub(crate) fn alloc_or(&self, layout: Layout, slow: impl FnOnce() -> *mut u8) -> *mut u8 {
        // Nearly all requests need no more alignment than the granule.
        let fast = if layout.align() <= GRANULE { self.bump.alloc(layout.size()) } else { None };
        fast.unwrap_or_else(slow)
    }

    /// Out-of-line path for requests that the fast path does not serve.
    #[cold]
    #[inline(never)]
    fn alloc_aligned(&self, layout: Layout) -> *mut u8 {
        self.alloc_aligned_fast(layout.size(), layout.align())
            .unwrap_or_else(|| self.alloc_slow(layout))
    }

    /// Serves a small block of any alignment, if aligning and bumping is enough. `None` for a request
    /// that [`alloc_slow`](Owner::alloc_slow) serves.
    #[inline(always)]
    pub(crate) fn alloc_aligned_fast(&self, size: usize, align: usize) -> Option<*mut u8> {
        self.bump.alloc_aligned(size, align)
    }

    /// Like [`alloc`](Owner::alloc), but the block is filled with zeros.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let block = owner.alloc_zeroed(std::alloc::Layout::new::<[u32; 4]>()).cast::<[u32; 4]>();
    /// // SAFETY: aligned, filled with zeros, and alive.
    /// assert_eq!(unsafe { block.read() }, [0; 4]);
    /// owner.leave(ticket);
    /// ```
    #[inline]
    pub fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MEDIUM {
            return self.alloc_large(layout, Growth::Unknown, true);
        }
        let block = self.alloc(layout);
        if !block.is_null() {
            // SAFETY: the block is new and as large as the layout says.
            unsafe { block.write_bytes(0, layout.size()) }
        }
        block
    }

    /// Out-of-line path: another chunk, or a large block.
    #[inline(never)]
    pub(crate) fn alloc_slow(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        if size > MEDIUM {
            return self.alloc_large(layout, Growth::Unknown, false);
        }
        self.alloc_in_chunk::<0>(layout)
    }

    /// Serves a block of at most [`MEDIUM`] bytes, which begins `PHASE` bytes above a multiple of
    /// its alignment.
    #[inline(always)]
    pub(super) fn alloc_in_chunk<const PHASE: usize>(&self, layout: Layout) -> *mut u8 {
        if let Err(reason) = self.accept(layout) {
            return self.refuse(reason);
        }
        if self.is_paused_for(layout) {
            return self.refuse(Some(Reason::Waste));
        }
        let rounded = size::round(layout.size());
        loop {
            if let Some(block) = self.bump.alloc_rounded::<PHASE>(rounded, layout.align()) {
                return block;
            }
            if self.end_unit() {
                return self.refuse(Some(Reason::SkippedRequest));
            }
            // The loop ends: a chunk that was not adopted always has room.
            if let Err(reason) = self.next_chunk(rounded + layout.align()) {
                return self.refuse(Some(reason));
            }
        }
    }

    /// Whether the innermost scope serves requests like this one. `Err(None)` if no scope is open
    /// to requests; otherwise the reason for refusing it.
    #[inline]
    fn accept(&self, layout: Layout) -> Result<(), Option<Reason>> {
        let Some(scope) = self.scope() else { return Err(None) };
        if self.innermost.mode().is_outside() {
            return Err(None);
        }
        let record = &scope.record();
        if layout.size() < record.min_size() {
            return Err(Some(Reason::TooSmall));
        }
        if layout.size() > record.max_size() {
            return Err(Some(Reason::TooLarge));
        }
        if layout.align() > MAX_ALIGN {
            return Err(Some(Reason::Alignment));
        }
        if self.skips_accepted() {
            return Err(None);
        }
        Ok(())
    }

    /// Whether the innermost scope leaves a request to the inner allocator because it was refused
    /// a chunk a short while ago.
    #[inline]
    fn is_paused_for(&self, layout: Layout) -> bool {
        if self.bump.is_open() || self.resume_paused() {
            return false;
        }
        if layout.size() > SMALL {
            self.refusals.count(layout.size());
        }
        true
    }

    #[cold]
    fn refuse(&self, reason: Option<Reason>) -> *mut u8 {
        if let Some(reason) = reason {
            self.ledger.count_fallback(reason);
        }
        ptr::null_mut()
    }

    /// Allocates a block in a run of its own.
    #[inline(never)]
    pub(super) fn alloc_large(&self, layout: Layout, growth: Growth, zeroed: bool) -> *mut u8 {
        if let Err(reason) = self.accept(layout) {
            return self.refuse(reason);
        }
        if self.is_paused_for(layout) {
            return self.refuse(Some(Reason::Waste));
        }
        let Some(scope) = self.scope() else { return ptr::null_mut() };
        let size = layout.size();
        let record = &scope.record();
        let allowance = record.allowance.get();
        // The allowance granted to the current chunk and not yet used counts as well.
        let left = self.bump.left();
        if allowance.saturating_add(left) < size {
            return self.refuse(Some(Reason::ByteLimit));
        }
        let class = large_class(size, growth);
        let may_exceed = growth == Growth::Continued;
        let take = || self.take_run(class, large_bytes(size), size, may_exceed);
        let taken = match take() {
            Err(Reason::Waste) if self.sweep_for_large() => take(),
            taken => taken,
        };
        let run = match taken {
            Ok(run) => run,
            Err(reason) => {
                if reason == Reason::Waste {
                    held::refused(size, 0);
                }
                return self.refuse(Some(reason));
            }
        };
        self.promote();
        if allowance != UNLIMITED {
            record.allowance.set(allowance.saturating_sub(size));
            self.bump.set_limit(self.bump.limit() - size.saturating_sub(allowance));
        }
        record.large.set(record.large.get().saturating_add(1));
        let large = LargeRef::of(run);
        self.own_large(large);
        let entry = large.entry();
        let lead = colour(large).next_multiple_of(layout.align());
        invariant!(lead + size <= entry.held.get(), "G6, a large block lies in its run's memory");
        let block = run.start().wrapping_add(lead);
        let dirty = entry.touched.get().saturating_sub(lead).min(size);
        if zeroed {
            // SAFETY: the run is this owner's and has room for the block, and `dirty <= size`. The
            // bytes above the touched part are zero already.
            unsafe { block.write_bytes(0, dirty) }
        }
        entry.touched.set(entry.touched.get().max(lead + size));
        self.ledger.count_large(size);
        block
    }
}
