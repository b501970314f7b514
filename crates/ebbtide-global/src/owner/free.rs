//! Freeing blocks.
//!
//! `scoped`, `engine`, `owner/headed` and `owner/resize` call it. It writes `local` of chunks of
//! this owner, and the counts of other chunks. A thread that frees the last block of a pinned chunk
//! owns the chunk and puts it into the shared pool.

use super::Owner;
use crate::{
    memory::{
        pool,
        run::{
            self, ChunkRef, LARGE_BLOCK, LargeRef, Place, RETIRED, ScopeRecord, UNLIMITED,
            offset_in_chunk,
        },
    },
    size,
};
use core::{alloc::Layout, cell::Cell, sync::atomic::Ordering};

/// Fills a freed block with 0xDE, so that a use after free does not find the old contents.
///
/// # Safety
///
/// The block has `size_bytes` bytes, and nobody uses it.
#[inline(always)]
unsafe fn poison(block: *mut u8, size_bytes: usize) {
    if cfg!(any(feature = "poison", debug_assertions)) {
        // SAFETY: `block` is valid for writes of `size_bytes` bytes, and nobody uses them, by this
        // function's contract.
        unsafe { block.write_bytes(0xDE, size_bytes) }
    }
}

/// Subtracts the growth of a large block from the allowance of its scope, or adds the bytes by
/// which the block shrinks. Returns `false`, and changes nothing, if the allowance is too small.
pub(super) fn charge(allowance: &Cell<usize>, old_size: usize, new_size: usize) -> bool {
    let left = allowance.get();
    if left == UNLIMITED {
        return true;
    }
    let after = if new_size > old_size {
        left.checked_sub(new_size - old_size)
    } else {
        Some(left.saturating_add(old_size - new_size).min(UNLIMITED - 1))
    };
    after.map(|after| allowance.set(after)).is_some()
}

impl Owner {
    /// Frees a block of the engine. Returns false, and changes nothing, if the block belongs to
    /// another allocator.
    ///
    /// # Safety
    ///
    /// The block is alive and belongs to some allocator. If it belongs to the engine, it has this
    /// layout. If the result is true, the block is not used again.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let layout = std::alloc::Layout::new::<u64>();
    /// let block = owner.alloc(layout);
    /// owner.leave(ticket); // the block outlives its scope
    /// // SAFETY: the block is alive, has this layout, and is not used again.
    /// assert!(unsafe { Owner::new().dealloc(block, layout) }, "through any owner");
    /// ```
    #[inline]
    pub unsafe fn dealloc(&self, block: *mut u8, layout: Layout) -> bool {
        // SAFETY: `block` is alive and belongs to some allocator, by this function's contract.
        let Some(place) = (unsafe { run::find(block) }) else { return false };
        // SAFETY: `find` returned `place`, so the block is the engine's. By this function's
        // contract, it is alive, has this layout, and is not used again.
        unsafe { self.free(place, block, layout.size()) };
        true
    }

    /// Frees a block of any owner.
    ///
    /// # Safety
    ///
    /// The block is alive, [`find`](run::find) returned `place` for it, and it has this size. It is
    /// not used again.
    #[inline(always)]
    pub(crate) unsafe fn free(&self, place: Place, block: *mut u8, size: usize) {
        // SAFETY: the block is alive, has this place and size, and is not used again, by this
        // function's contract.
        if !unsafe { self.free_fast(place, block, size) } {
            // SAFETY: `free_fast` returned false, so the block is still alive, with this place and
            // size. Nobody uses it again, by this function's contract.
            unsafe { self.free_elsewhere(place, block, size) }
        }
    }

    /// The fast path of [`free`](Owner::free): counts a block in a chunk of the innermost scope, and
    /// rewinds the bump pointer if it is the last one. Returns false for any other block, which
    /// [`free_elsewhere`](Owner::free_elsewhere) frees.
    ///
    /// # Safety
    ///
    /// The contract of [`free`](Owner::free).
    #[inline(always)]
    pub(crate) unsafe fn free_fast(&self, place: Place, block: *mut u8, size: usize) -> bool {
        let entry = place.entry();
        // Relaxed, here and in every load of an ID below: see `Entry`. `tail_start`
        // is plain, and read only where the scope is this owner's.
        let is_innermost = entry.scope_id() == self.bump.scope_id()
            && offset_in_chunk(block) >= entry.tail_start.get();
        if !is_innermost {
            return false;
        }
        // The innermost scope's ID is in the entry, so this owner has the chunk (G2, G7).
        entry.local.set(entry.local.get().wrapping_sub(1));
        // SAFETY: the block was alive with `size` bytes, so they lie in committed memory (G1), and
        // nobody uses them again, by this function's contract.
        unsafe { poison(block, size) };
        self.bump.free(block, size::round(size));
        true
    }

    /// Frees a block that does not belong to the innermost scope, or was allocated before the
    /// adoption of its chunk.
    ///
    /// # Safety
    ///
    /// The contract of [`free`](Owner::free).
    pub(crate) unsafe fn free_elsewhere(&self, place: Place, block: *mut u8, size: usize) {
        // SAFETY: the block was alive with `size` bytes, so they lie in committed memory (G1), and
        // nobody uses them again, by this function's contract.
        unsafe { poison(block, size) };
        let entry = place.entry();
        if entry.scope_id() == LARGE_BLOCK {
            // The block was the run's only one, so the run is the caller's (G6).
            return self.free_large(place.large(), size);
        }
        let rounded = size::round(size);
        if entry.owner_id() != self.ids.own() {
            self.ledger.count_freed(&self.bump, rounded);
            return self.free_shared(place.chunk());
        }
        entry.local.set(entry.local.get().wrapping_sub(1));
        let offset = offset_in_chunk(block);
        let is_older = offset < entry.tail_start.get();
        if is_older {
            entry.older_freed.set(entry.older_freed.get().wrapping_add(1));
        }
        if entry.scope_id() == self.bump.scope_id() && self.bump.is_last(block, rounded) {
            invariant!(is_older, "G8, a block from before the adoption");
            // What is bumped here from now on is this scope's (G8).
            self.bump.set_end(block.addr());
            entry.tail_start.set(offset);
        } else {
            self.ledger.count_freed(&self.bump, rounded);
        }
    }

    /// Counts a block as freed of a chunk that belongs to another owner or to none.
    fn free_shared(&self, chunk: ChunkRef) {
        let entry = chunk.entry();
        if entry.count.free() {
            // It was the last block, so the chunk is now the caller's. It goes to the shared pool and
            // not to this thread's cache, so that a thread that only frees does not keep memory that
            // others need.
            entry.count_unpinned();
            pool::give(chunk.run(), self.has_scope());
        }
    }

    /// Puts the run of a large block into a pool.
    fn free_large(&self, large: LargeRef, size: usize) {
        self.ledger.count_freed(&self.bump, size);
        let entry = large.entry();
        invariant!(size <= entry.held.get(), "G6, a large block lies in its run's memory");
        entry.scope_id.store(RETIRED, Ordering::Relaxed);
        pool::forget_slack(large);
        if entry.owner_id() != self.ids.own() {
            return pool::give(large.run(), self.has_scope());
        }
        if let Some(record) = self.record_of_large(large) {
            record.large.set(record.large.get().saturating_sub(1));
            charge(&record.allowance, size, 0);
        }
        self.give(large.run());
    }

    /// The record of the scope that served a large block, if it is an open scope of this owner. The
    /// caller owns the run, whose block this owner served.
    pub(super) fn record_of_large(&self, large: LargeRef) -> Option<&ScopeRecord> {
        let entry = large.entry();
        // The first chunk has the ID only while this owner has the chunk and the scope is open (G7).
        let scope = entry.record.large_scope.get().filter(|_| self.bump.has_scope())?;
        (scope.id() == entry.record.large_scope_id.get()).then(|| scope.record())
    }
}
