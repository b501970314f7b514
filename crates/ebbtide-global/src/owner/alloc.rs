//! Serving requests.

use super::{MAX_ALIGN, Owner, bump};
use crate::{
    figures::Reason,
    run::{Run, UNLIMITED},
    size::{self, CLASSES, GRANULE, MEDIUM},
};
use core::{alloc::Layout, ptr};

/// How far ahead of the bump pointer memory is fetched: a scope walks over its memory only once, so
/// the lines it comes to are rarely in the nearest cache. Half a per cent in the mean of the
/// programs measured, two in some.
const PREFETCH: usize = 384;

/// Where a block begins that is asked for at `top`. An address beyond every chunk where there is no
/// such place.
#[inline(always)]
fn align_up(top: *mut u8, align: usize) -> *mut u8 {
    top.map_addr(|address| address.wrapping_add(align - 1) & !(align - 1))
}

/// Fetches the line that a coming block will be written to.
#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing, and any address will do.
        unsafe { _mm_prefetch::<{ _MM_HINT_T0 }>(at.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}

/// Where in its first page a large block begins. Blocks that all begin a page would meet in the
/// same few lines of every cache.
fn colour(run: Run) -> usize {
    (run.number().wrapping_mul(0x9E37_79B1) >> 28) as usize * 256
}

impl Owner {
    /// A block of the innermost scope; null where none is open or it does not serve the request. A
    /// block of no bytes is not served: its address would be the next block's, or the next chunk's.
    #[inline(always)]
    pub fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() == 0 {
            return ptr::null_mut();
        }
        self.alloc_or(layout, || self.alloc_aligned(layout))
    }

    /// The fast path of [`alloc`](Owner::alloc). Calls `slow` where it does not serve the request,
    /// which has to go on with [`alloc_aligned_or`](Owner::alloc_aligned_or). The size is not 0.
    #[inline(always)]
    pub(crate) fn alloc_or(&self, layout: Layout, slow: impl FnOnce() -> *mut u8) -> *mut u8 {
        let size = layout.size();
        // `top` is a multiple of the granule (G5). Nearly every request asks for no more, and needs
        // no rounding.
        if size <= self.small_max.get() && layout.align() <= GRANULE {
            let start = self.top.get();
            if let Some(end) = self.fits(start, size) {
                self.bump_to(end);
                return start;
            }
        }
        slow()
    }

    /// Out-of-line path for what the fast path does not serve.
    #[cold]
    #[inline(never)]
    fn alloc_aligned(&self, layout: Layout) -> *mut u8 {
        self.alloc_aligned_or(layout, || self.alloc_slow(layout))
    }

    /// Serves small blocks of any alignment. Calls `slow`, which has to end like
    /// [`alloc_slow`](Owner::alloc_slow), where there is more to do than to align and to bump.
    #[inline(always)]
    pub(crate) fn alloc_aligned_or(
        &self,
        layout: Layout,
        slow: impl FnOnce() -> *mut u8,
    ) -> *mut u8 {
        let size = layout.size();
        if size <= self.small_max.get() {
            let top = self.top.get();
            let start = align_up(top, layout.align());
            if let Some(end) = self.fits(start, size) {
                self.count_padding(top, start);
                self.bump_to(end);
                return start;
            }
        }
        slow()
    }

    /// Where a small block ends that begins at `start`; `None` where it does not fit.
    #[inline(always)]
    fn fits(&self, start: *mut u8, size: usize) -> Option<*mut u8> {
        let end = start.wrapping_add(size::round_small(size));
        (end.addr() <= self.end.get()).then_some(end)
    }

    /// Hands out what lies between `top` and `end`. It is free (G5), and counted with `served`
    /// (G3).
    #[inline(always)]
    fn bump_to(&self, end: *mut u8) {
        self.top.set(end);
        self.served.set(self.served.get().wrapping_add(1));
        prefetch(end.wrapping_add(PREFETCH));
    }

    /// Nobody will free the bytes below an aligned block.
    #[inline(always)]
    fn count_padding(&self, top: *mut u8, start: *mut u8) {
        bump(&self.freed, start.addr().wrapping_sub(top.addr()) as u64);
    }

    /// Like [`alloc`](Owner::alloc), but the block is filled with zeros.
    #[inline]
    pub fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MEDIUM {
            return self.alloc_large(layout, 0, true);
        }
        let block = self.alloc(layout);
        if !block.is_null() {
            // SAFETY: the block is new and as large as the layout says.
            unsafe { block.write_bytes(0, layout.size()) }
        }
        block
    }

    /// Serves what the paths without a frame do not.
    #[inline(never)]
    pub(crate) fn alloc_slow(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        if size > MEDIUM {
            return self.alloc_large(layout, 0, false);
        }
        if let Err(reason) = self.accept(layout) {
            return self.refuse(reason);
        }
        let rounded = size::round(size);
        if let Some(block) = self.pop(rounded, size::list(rounded), layout.align()) {
            return block;
        }
        loop {
            let top = self.top.get();
            let start = align_up(top, layout.align());
            let end = start.wrapping_add(rounded);
            if end.addr() <= self.end.get() {
                self.count_padding(top, start);
                self.top.set(end);
                self.served.set(self.served.get().wrapping_add(1));
                return start;
            }
            // Ends: the first chunk that is not adopted has room.
            if let Err(reason) = self.next_chunk(rounded + layout.align()) {
                return self.refuse(Some(reason));
            }
        }
    }

    /// Whether the innermost scope serves such a request. `Err` with the reason, or with none where
    /// no scope serves.
    #[inline]
    fn accept(&self, layout: Layout) -> Result<(), Option<Reason>> {
        let Some(first) = self.innermost() else { return Err(None) };
        if !self.is_open() && !self.resume() {
            return Err((self.outside.get() == 0).then_some(Reason::Waste));
        }
        let record = &first.entry().record;
        if layout.size() < record.min_size.get() {
            return Err(Some(Reason::TooSmall));
        }
        if layout.size() > record.max_size.get() {
            return Err(Some(Reason::TooLarge));
        }
        if layout.align() > MAX_ALIGN {
            return Err(Some(Reason::Alignment));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, reason: Option<Reason>) -> *mut u8 {
        if let Some(reason) = reason {
            self.fell_back(reason);
        }
        ptr::null_mut()
    }

    /// A block with a run of its own, which has `1 << headroom` times as many addresses as it
    /// needs.
    #[inline(never)]
    pub(super) fn alloc_large(&self, layout: Layout, headroom: usize, zeroed: bool) -> *mut u8 {
        if let Err(reason) = self.accept(layout) {
            return self.refuse(reason);
        }
        let Some(first) = self.innermost() else { return ptr::null_mut() };
        let size = layout.size();
        let record = &first.entry().record;
        let budget = record.budget.get();
        // What the current chunk was granted and has left counts too.
        let left = self.end.get() - self.top.get().addr();
        if budget != UNLIMITED && budget.saturating_add(left) < size {
            return self.refuse(Some(Reason::ByteLimit));
        }
        // The block begins in the first `MAX_ALIGN` bytes.
        let bytes = size + MAX_ALIGN;
        let class = (size::class(bytes) + headroom).min(CLASSES - 1);
        let run = match self.take_run(class, bytes, size) {
            Ok(run) => run,
            Err(reason) => return self.refuse(Some(reason)),
        };
        self.promote();
        if budget != UNLIMITED {
            record.budget.set(budget.saturating_sub(size));
            self.limit.set(self.limit.get() - size.saturating_sub(budget));
            self.end.set(self.limit.get());
        }
        record.large.set(record.large.get().saturating_add(1));
        self.own_large(run);
        let entry = run.entry();
        let lead = colour(run).next_multiple_of(layout.align());
        let block = run.start().wrapping_add(lead);
        let dirty = entry.touched.get().saturating_sub(lead).min(size);
        if zeroed {
            // SAFETY: the run is this owner's and has room for the block. Behind what was touched
            // it is zero.
            unsafe { block.write_bytes(0, dirty) }
        }
        entry.touched.set(entry.touched.get().max(lead + size));
        bump(&self.others, 1);
        bump(&self.bytes, size as u64);
        block
    }
}
