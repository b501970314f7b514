//! Resizing blocks.
//!
//! `scoped`, `engine` and `owner/headed` call it. It writes the bump pointer, or the entry of a
//! large block's run.

use super::{
    Owner,
    alloc::{Growth, large_bytes, large_class},
    free::charge,
};
use crate::{
    memory::{
        held, os, pool, range,
        run::{self, Entry, LARGE_BLOCK, LargeRef, Place, offset_in_chunk},
    },
    size::{self, CHUNK, GRANULE, MEDIUM, SMALL},
};
use core::{alloc::Layout, ptr};

/// Blocks of at most this size shrink in place: the inner allocator would hardly take less.
const TINY: usize = 4 * GRANULE;

/// The offset in its chunk at which a block of `rounded` bytes ends.
#[allow(clippy::cast_possible_truncation, reason = "a block in a chunk is smaller than that")]
fn end_offset(begin: u32, rounded: usize) -> u32 {
    begin + rounded as u32
}

impl Owner {
    /// Resizes a block in place, or moves it within the innermost scope if it belongs to that
    /// scope. Returns null, and changes nothing, if neither is possible or the block belongs to
    /// another allocator. The caller may then move the contents elsewhere.
    ///
    /// # Safety
    ///
    /// The block is alive and belongs to some allocator. If it belongs to the engine, it has this
    /// layout. `new_size` is not 0, and at most `isize::MAX` when rounded up to the alignment. If
    /// the result is not null, the block is used only through the result from then on.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let layout = std::alloc::Layout::new::<[u64; 4]>();
    /// let block = owner.alloc(layout);
    /// // SAFETY: the block is alive, has this layout, and is used only through the result.
    /// let larger = unsafe { owner.realloc(block, layout, 64) };
    /// assert_eq!(larger, block, "the last block grows in place");
    /// owner.leave(ticket);
    /// ```
    #[inline]
    pub unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: `block` is alive and belongs to some allocator, by this function's contract.
        let Some(place) = (unsafe { run::find(block) }) else { return ptr::null_mut() };
        // SAFETY: `find` returned `place`, so the block is the engine's. By this function's
        // contract, it is alive with `layout`, and the new size is not 0 and fits.
        let slow = || unsafe { self.resize(place, block, layout, new_size) };
        // SAFETY: the block is alive with this size; the new size is not 0, and only the result is
        // used then, by this function's contract.
        unsafe { self.resize_or(block, layout.size(), new_size, slow) }
    }

    /// Resizes a block of any owner in place, or moves it within the innermost scope if it belongs
    /// to that scope. Returns null, and changes nothing, if neither is possible.
    ///
    /// # Safety
    ///
    /// The block is alive, [`find`](run::find) returned `place` for it, and it has this layout.
    /// `new_size` is not 0, and no more than `isize::MAX` when rounded up to the alignment. If the
    /// result is not null, the block is used only through the result from then on.
    #[inline]
    pub(crate) unsafe fn resize(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        let entry = place.entry();
        let scope = entry.scope_id();
        if scope == LARGE_BLOCK {
            // SAFETY: its entry says that the block is large. The rest is this function's contract:
            // alive at `place`, this layout, a size that fits, the result's use.
            return unsafe { self.resize_large(place, block, layout, new_size) };
        }
        if scope == self.bump.scope_id() {
            if self.resize_in_chunk(entry, block, layout, new_size) {
                self.ledger.count_grown();
                return range::widen_provenance(block);
            }
            // SAFETY: its entry says that the block is the innermost scope's (G7). The rest is this
            // function's contract: alive at `place`, this layout, a size that fits.
            return unsafe { self.resize_by_moving(place, block, layout, new_size) };
        }
        if self.shrinks_elsewhere(layout.size(), new_size) { block } else { ptr::null_mut() }
    }

    /// Resizes a block in a chunk of another scope. Returns true if the block shrinks in place.
    /// Otherwise the caller moves it out of the arena: a block that grows, and a block that shrinks
    /// to or below a power of two, because the rest of its memory is not used again before its
    /// chunk is empty. So however often a block shrinks, it keeps less than twice its size.
    #[inline(always)]
    pub(super) fn shrinks_elsewhere(&self, old_size: usize, new_size: usize) -> bool {
        let least = if old_size > TINY { old_size.next_power_of_two() / 2 } else { 0 };
        let shrinks = new_size <= old_size && new_size > least;
        if shrinks {
            self.ledger.count_freed(&self.bump, size::round(old_size) - size::round(new_size));
        }
        shrinks
    }

    /// Shrinks a block where it is, because there is no memory to move it to.
    pub(crate) fn shrink_in_place(
        &self,
        place: Place,
        block: *mut u8,
        old_size: usize,
        new_size: usize,
    ) {
        if place.entry().scope_id() == LARGE_BLOCK {
            // Shrinking never fails.
            let _ = self.resize_run(place.large(), block, old_size, new_size);
        } else {
            self.ledger.count_freed(&self.bump, size::round(old_size) - size::round(new_size));
        }
    }

    /// Resizes a block of the innermost scope in place. Returns false, and changes nothing, if that
    /// is impossible or moving the block is better.
    pub(super) fn resize_in_chunk(
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
        let is_last = self.bump.is_last(block, old);
        let end = block.addr().wrapping_add(new);
        if is_last && self.bump.may_end_at(end) {
            invariant!(entry.owner_id() == self.ids.own(), "G2, a resized block");
            // The last block of the current chunk (G5); it stays counted (G3).
            self.bump.set_end(end);
            if offset_in_chunk(block) < entry.tail_start.get() {
                // The block is older than the adoption, so this scope's blocks begin after it (G8).
                entry.tail_start.set(end_offset(offset_in_chunk(block), new));
            }
            return true;
        }
        // When a block shrinks in place, the freed part stays unused until the chunk is empty.
        let stays = new < old && layout.size() <= SMALL;
        if stays {
            self.bump.count_freed(old - new);
        }
        stays
    }

    /// The fast path of [`resize`](Owner::resize): resizes a small block that is the last one of
    /// the current chunk, if there is room. For any other block it calls `slow`, which must do the
    /// same as `resize`. With a result in place of `slow`, the fast path has a jump more.
    ///
    /// # Safety
    ///
    /// The contract of [`resize`](Owner::resize), for a block of `size` bytes.
    #[inline(always)]
    pub(crate) unsafe fn resize_or(
        &self,
        block: *mut u8,
        size: usize,
        new_size: usize,
        slow: impl FnOnce() -> *mut u8,
    ) -> *mut u8 {
        self.bump.resize_last_or(block, size, new_size, || self.ledger.count_grown(), slow)
    }

    /// Resizes a large block: within its run, or by moving it within the innermost scope.
    ///
    /// # Safety
    ///
    /// The contract of [`resize`](Owner::resize), for a large block.
    unsafe fn resize_large(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        let large = place.large();
        let entry = large.entry();
        let end = block.addr() - large.run().start().addr() + new_size;
        let fits = end <= size::run_bytes(large.run().class());
        let is_innermost = entry.record.large_scope_id.get() == self.bump.scope_id();
        if is_innermost {
            let moves = !fits
                || new_size < layout.size() / 2
                || end > entry.held.get() && self.has_warm_run(new_size);
            // SAFETY: the run's record says that the block is the innermost scope's. The rest is
            // this function's contract: alive at `place`, this layout, a size that fits.
            let moved = unsafe {
                if moves {
                    self.resize_by_moving(place, block, layout, new_size)
                } else {
                    ptr::null_mut()
                }
            };
            if !moved.is_null() {
                return moved;
            }
        } else if new_size <= MEDIUM {
            // Moved out of the arena, where it takes less than a page.
            return ptr::null_mut();
        }
        if !fits || !self.resize_run(large, block, layout.size(), new_size) {
            return ptr::null_mut();
        }
        self.ledger.count_grown();
        range::widen_provenance(block)
    }

    /// Whether this owner's cache has a run with memory for a large block that grows to `size`.
    /// Moving the block there costs a copy. Growing in place would cost page faults for at least as
    /// many bytes. Besides, a smaller block would later take the cached run, and the rest of the
    /// run's memory would be given back.
    fn has_warm_run(&self, size: usize) -> bool {
        size > MEDIUM
            && self.cache.bring_forward(large_class(size, Growth::Continued), |held| {
                held >= large_bytes(size)
            })
    }

    /// Resizes a large block within its run, which the caller owns because it holds the block (G6).
    /// Returns false, and changes nothing, if its scope's limit or the memory bound does not allow
    /// it to grow. If it shrinks, the pages behind its new end go back to the system.
    fn resize_run(
        &self,
        large: LargeRef,
        block: *mut u8,
        old_size: usize,
        new_size: usize,
    ) -> bool {
        let (run, entry) = (large.run(), large.entry());
        let end = block.addr() - run.start().addr() + new_size;
        invariant!(entry.scope_id() == LARGE_BLOCK, "G6, a large block is resized");
        invariant!(end <= size::run_bytes(run.class()), "G6, a large block ends in its run");
        let held = size::held_bytes(end, os::page_bytes());
        let more = held.saturating_sub(entry.held.get());
        if more > 0 && !self.may_hold(more, new_size.saturating_sub(old_size)) {
            return false;
        }
        // If the scope has ended or belongs to another owner, its byte limit does not apply.
        let is_own = entry.owner_id() == self.ids.own();
        let record = if is_own { self.record_of_large(large) } else { None };
        let is_allowed = (more == 0 || run.recommit(held))
            && record.is_none_or(|record| charge(&record.allowance, old_size, new_size));
        if !is_allowed {
            held::BUDGET.shrink(more);
            // The bytes that were published will not be served.
            self.ledger.publish_bytes(&self.bump, 0);
            return false;
        }
        entry.held.set(entry.held.get() + more);
        if new_size > old_size {
            entry.touched.set(entry.touched.get().max(end));
            self.ledger.count_bytes((new_size - old_size) as u64);
            self.observe_if_due(0);
            if entry.slack.get() > 0 {
                // The block has grown into it.
                pool::trim_shrunk(large, end);
            }
        } else {
            pool::trim_shrunk(large, end);
            self.ledger.count_freed(&self.bump, old_size - new_size);
        }
        true
    }

    /// Moves a block of the innermost scope to a new one.
    ///
    /// # Safety
    ///
    /// The contract of [`resize`](Owner::resize), for a block of the innermost scope.
    #[inline(always)]
    unsafe fn resize_by_moving(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        // SAFETY: the alignment is a layout's, and `new_size` rounded up to it is at most
        // `isize::MAX`, by this function's contract.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let new = if new_size > MEDIUM {
            let growth = match layout.size() {
                old if old >= new_size => Growth::Unknown,
                old if old > MEDIUM => Growth::Continued,
                _ => Growth::Likely,
            };
            self.alloc_large(new_layout, growth, false)
        } else {
            self.alloc(new_layout)
        };
        if new.is_null() {
            return new;
        }
        // SAFETY: both blocks have at least this many bytes, and the new one was free until now, so
        // it does not overlap the old one.
        unsafe { new.copy_from_nonoverlapping(block, layout.size().min(new_size)) };
        // SAFETY: the old block is alive at `place` with this size; its contents were copied, and
        // only `new` is used from now on, by this function's contract.
        unsafe { self.free(place, block, layout.size()) };
        new
    }
}
