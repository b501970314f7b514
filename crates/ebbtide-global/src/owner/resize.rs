//! Resizing blocks.

use super::{Owner, bump, free::charge, listing::ALL_SLOWLY};
use crate::{
    range, run,
    run::{Entry, LARGE, Place, offset_in_chunk},
    size::{self, CHUNK, GRANULE, MEDIUM, SMALL},
};
use core::{alloc::Layout, ptr, sync::atomic::Ordering};

/// Where in its chunk a block ends.
#[allow(clippy::cast_possible_truncation, reason = "a block in a chunk is smaller than that")]
fn end_offset(begin: u32, rounded: usize) -> u32 {
    begin + rounded as u32
}

impl Owner {
    /// Resizes a block in place, or within the innermost scope if it is that scope's. Null if that
    /// cannot be done, or the block is not the engine's: then nothing has changed, and the caller
    /// may move what is in it elsewhere.
    ///
    /// # Safety
    ///
    /// The block is alive, some allocator's, and if it is the engine's it has this layout.
    /// `new_size` is not 0, and at most `isize::MAX` when rounded up to the alignment. If the
    /// result is not null the block is used no more, but through the result.
    #[inline]
    pub unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller says that the block is alive.
        let Some(place) = (unsafe { run::find(block) }) else { return ptr::null_mut() };
        // SAFETY: the range is the engine's, so the block is, and has this layout; the new size is
        // as `resize` asks.
        let slow = || unsafe { self.resize(place, block, layout, new_size) };
        // SAFETY: the block is alive and has this size.
        unsafe { self.resize_or(block, layout.size(), new_size, slow) }
    }

    /// Resizes a block of any owner: in place, or within the innermost scope if the block is its
    /// own. Null if neither can be done: then nothing has changed.
    ///
    /// # Safety
    ///
    /// The block is alive, [`find`](run::find) returned `place` for it, and it has this layout.
    /// `new_size` is not 0, and no more than `isize::MAX` when rounded up to the alignment. If the
    /// result is not null, the block is used no more, but through the result.
    #[inline]
    pub(crate) unsafe fn resize(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        let entry = place.entry();
        let scope = entry.scope.load(Ordering::Relaxed);
        if scope == LARGE {
            // SAFETY: the block is a large one, and as the caller says.
            return unsafe { self.resize_large(place, block, layout, new_size) };
        }
        if scope == self.scope.get() {
            if self.resize_in_chunk(entry, block, layout, new_size) {
                bump(&self.grown, 1);
                return range::reach(block);
            }
            // SAFETY: the block is the innermost scope's, and as the caller says.
            return unsafe { self.resize_by_moving(place, block, layout, new_size) };
        }
        // What shrinks stays where it is; what grows leaves the arena. So does what shrinks by half
        // or more in a persistent scope: the rest of the block would be of no use to that until its
        // end.
        let is_persistent = scope == self.persistence.scope.get();
        let least = if is_persistent { layout.size() / 2 } else { 0 };
        if new_size > layout.size() || new_size <= least {
            return ptr::null_mut();
        }
        self.count_shrunk(place, layout.size(), new_size);
        block
    }

    /// Counts a block that shrank where it lies, and will be freed with the smaller size.
    pub(crate) fn count_shrunk(&self, place: Place, old_size: usize, new_size: usize) {
        let is_large = place.entry().scope.load(Ordering::Relaxed) == LARGE;
        let size = |size| if is_large { size } else { size::round(size) };
        self.count_freed(size(old_size) - size(new_size));
    }

    /// Resizes a block of the innermost scope where it lies. False, and nothing has changed, where
    /// that cannot be done, or moving it serves better.
    fn resize_in_chunk(
        &self,
        entry: &Entry,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> bool {
        if new_size >= CHUNK {
            return false;
        }
        let (old, new) = (size::round(layout.size()), size::round(new_size));
        if new == old {
            return true;
        }
        let lists_all = self.list_floor.get() <= ALL_SLOWLY;
        let is_last = block.addr() + old == self.top.get().addr();
        let end = block.addr().wrapping_add(new);
        if is_last && end <= self.end.get() {
            if lists_all && self.is_listed(new) {
                // Were it resized where it is, blocks that are made with one size and freed with
                // another would fill a list that nobody asks.
                return false;
            }
            // The last block of the current chunk (G5); it stays counted (G3).
            self.top.set(self.top.get().with_addr(end));
            if offset_in_chunk(block) < entry.tail.get() {
                // One from before the adoption: this scope's blocks begin behind it (G9).
                entry.tail.set(end_offset(offset_in_chunk(block), new));
            }
            return true;
        }
        // A block that shrinks leaves a rest that nobody uses before the chunk is empty. Where
        // blocks are listed, a block that is worth it moves, and its old place serves again as a
        // whole.
        let is_small = layout.size() <= SMALL;
        let stays = new < old && is_small && (!lists_all || new * 2 > old || old <= 4 * GRANULE);
        if stays {
            bump(&self.freed, (old - new) as u64);
        }
        stays
    }

    /// Whether the innermost scope's list of a size has a block.
    fn is_listed(&self, rounded: usize) -> bool {
        self.listed().is_some_and(|lists| lists.has(size::list(rounded)))
    }

    /// The fast path of [`resize`](Owner::resize): a small block that ends the current chunk, and
    /// finds room. Calls `slow`, which has to do what `resize` does, for any other.
    ///
    /// # Safety
    ///
    /// As for [`resize`](Owner::resize), for a block of this size.
    #[inline(always)]
    pub(crate) unsafe fn resize_or(
        &self,
        block: *mut u8,
        size: usize,
        new_size: usize,
        slow: impl FnOnce() -> *mut u8,
    ) -> *mut u8 {
        let (old, new) = (size::round_small(size), size::round_small(new_size));
        let top = self.top.get();
        // The last block of the current chunk (G5), bumped since that was adopted (G9). A block of
        // more than `SMALL` that is rounded further ends beyond this.
        let is_last = block.addr().wrapping_add(old) == top.addr();
        if is_last && block.addr() >= self.from.get() && new_size <= self.small_max.get() {
            let start = top.wrapping_sub(old);
            let end = start.wrapping_add(new);
            if end.addr() <= self.end.get() {
                // It stays counted (G3).
                self.top.set(end);
                bump(&self.grown, 1);
                return start;
            }
        }
        slow()
    }

    /// Resizes a large block: within its run, or by moving it within the innermost scope.
    ///
    /// # Safety
    ///
    /// As for [`resize`](Owner::resize), for a large block.
    unsafe fn resize_large(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        // Whoever holds the block has the run (G7).
        let run = place.run();
        let entry = run.entry();
        let lead = block.addr() - run.start().addr();
        let fits = new_size <= size::run_bytes(run.class()) - lead;
        if fits && new_size >= layout.size() / 2 {
            if !self.hold_large(entry, lead + new_size, layout.size(), new_size) {
                return ptr::null_mut();
            }
            bump(&self.grown, 1);
            return range::reach(block);
        }
        if entry.record.large_scope.get() != self.scope.get() {
            if !fits || new_size > layout.size() {
                return ptr::null_mut();
            }
            self.count_shrunk(place, layout.size(), new_size);
            return block;
        }
        // SAFETY: the block is the innermost scope's, and as the caller says.
        unsafe { self.resize_by_moving(place, block, layout, new_size) }
    }

    /// Counts a large block that is resized in place so that `bytes` of its run are in use. False,
    /// and nothing has changed, where its scope's limit or the memory does not allow it.
    fn hold_large(&self, entry: &Entry, bytes: usize, old_size: usize, new_size: usize) -> bool {
        let more = bytes.saturating_sub(entry.held.get());
        if more > 0 && !self.may_hold(more, new_size.saturating_sub(old_size)) {
            return false;
        }
        // A scope of another owner's, or one that has ended, has no limit to keep.
        let is_own = entry.owner.load(Ordering::Relaxed) == self.id.get();
        let record = if is_own { self.record_of(entry.record.large_scope.get()) } else { None };
        if record.is_some_and(|record| !charge(&record.budget, old_size, new_size)) {
            crate::memory::shrink(more);
            return false;
        }
        entry.held.set(entry.held.get() + more);
        entry.touched.set(entry.touched.get().max(bytes));
        if new_size > old_size {
            bump(&self.bytes, (new_size - old_size) as u64);
        } else {
            self.count_freed(old_size - new_size);
        }
        true
    }

    /// Moves a block of the innermost scope to a new one.
    ///
    /// # Safety
    ///
    /// As for [`resize`](Owner::resize), for a block of the innermost scope.
    #[inline(always)]
    unsafe fn resize_by_moving(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        // SAFETY: the caller says that the size is not too large for the alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let new = if new_size > MEDIUM {
            // What grew once grows again: room for two doublings more. It costs addresses, no
            // memory.
            let headroom = if new_size > layout.size() { 2 } else { 0 };
            self.alloc_large(new_layout, headroom, false)
        } else {
            self.alloc(new_layout)
        };
        if new.is_null() {
            return new;
        }
        // SAFETY: both blocks have so many bytes, and the new one was free a moment ago.
        unsafe { new.copy_from_nonoverlapping(block, layout.size().min(new_size)) };
        // SAFETY: the block is alive with this size, and the caller uses it no more.
        unsafe { self.free(place, block, layout.size()) };
        new
    }
}
