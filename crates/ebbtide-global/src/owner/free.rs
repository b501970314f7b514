//! Freeing blocks.
//!
//! `scoped`, `engine`, `owner/headed` and `owner/resize` call it. It writes `local` of chunks of
//! this owner and the innermost scope's lists; other chunks are for `owner/remote`.

use super::{Freed, Owner};
use crate::{
    memory::{
        held, pool, range,
        run::{
            self, Entry, LARGE_BLOCK, LargeRef, Place, RETIRED, ScopeRecord, UNLIMITED,
            offset_in_chunk,
        },
    },
    size::{self, SMALL},
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
        // SAFETY: the caller says that the block is that large and unused.
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
        // SAFETY: the caller says that the block is alive.
        let Some(place) = (unsafe { run::find(block) }) else { return false };
        // SAFETY: the block lies in the engine's range, so it is the engine's and has this size.
        // The caller does not use it again.
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
        // SAFETY: the caller's block, with its place and size.
        match unsafe { self.free_fast(place, block, size) } {
            Freed::Entirely => {}
            Freed::ToBeListed => {
                // SAFETY: the same block, which is not free yet and is to be listed.
                if !unsafe { self.free_listed(place, block, size) } {
                    // SAFETY: the same block, which `free_listed` has left alone.
                    unsafe { self.free_medium(place, block, size) }
                }
            }
            // SAFETY: the same block, which is not free yet.
            Freed::Elsewhere => unsafe { self.free_elsewhere(place, block, size) },
        }
    }

    /// The fast path of [`free`](Owner::free): counts a small block of the innermost scope, and
    /// rewinds the bump pointer if it is the last one. The result says which method frees other
    /// blocks.
    ///
    /// # Safety
    ///
    /// The contract of [`free`](Owner::free).
    #[inline(always)]
    pub(crate) unsafe fn free_fast(&self, place: Place, block: *mut u8, size: usize) -> Freed {
        let entry = place.entry();
        // Relaxed, here and in every load of an ID below: see `Entry`. `tail_start`
        // is plain, and read only where the scope is this owner's.
        let is_innermost = entry.scope_id() == self.bump.scope_id()
            && offset_in_chunk(block) >= entry.tail_start.get();
        if !is_innermost {
            return Freed::Elsewhere;
        }
        if self.bump.lists(size) {
            return Freed::ToBeListed;
        }
        // The innermost scope's ID is in the entry, so this owner has the chunk (G2, G8).
        entry.local.set(entry.local.get().wrapping_sub(1));
        // SAFETY: the caller no longer uses the block, which has this size.
        unsafe { poison(block, size) };
        self.bump.free(block, size::round_small(size));
        Freed::Entirely
    }

    /// Frees a small block in a scope that lists them: rewinds the bump pointer if the block is the
    /// last one, and lists it otherwise. Returns false for a block that
    /// [`free_medium`](Owner::free_medium) frees: one that is not small, or after which so few are
    /// alive that the scope [may have ebbed](Owner::at_low_water).
    ///
    /// # Safety
    ///
    /// The contract of [`free`](Owner::free). The block belongs to the innermost scope, lies above
    /// its chunk's tail and has a size that the scope lists.
    #[inline(always)]
    pub(crate) unsafe fn free_listed(&self, place: Place, block: *mut u8, size: usize) -> bool {
        if size > SMALL {
            return false;
        }
        // A scope that lists small blocks has lists.
        let Some(lists) = self.innermost.lists() else { return false };
        if lists.count_live(-1) {
            return false;
        }
        // SAFETY: the caller no longer uses the block, which has this size.
        unsafe { poison(block, size) };
        let local = &place.entry().local;
        local.set(local.get().wrapping_sub(1));
        let (block, rounded) = (range::widen_provenance(block), size::round_small(size));
        if self.bump.is_last(block, rounded) {
            self.bump.rewind(block);
        } else {
            self.bump.count_freed(rounded);
            // SAFETY: the block was alive a moment ago, so it is in no list; it is free and counted
            // now, and lies in a chunk of the innermost scope, whose lists these are.
            unsafe { lists.push(block, size::small_list(size)) };
        }
        true
    }

    /// Frees a block for which [`free_listed`](Owner::free_listed) returned false.
    ///
    /// # Safety
    ///
    /// The contract of [`free_listed`](Owner::free_listed).
    #[inline]
    pub(crate) unsafe fn free_medium(&self, place: Place, block: *mut u8, size: usize) {
        if size <= SMALL {
            // SAFETY: the caller's block, which `free_listed` has counted.
            return unsafe { self.free_at_low_water(place, block, size) };
        }
        // SAFETY: the caller no longer uses the block, which has this size.
        unsafe { poison(block, size) };
        let entry = place.entry();
        entry.local.set(entry.local.get().wrapping_sub(1));
        let rounded = size::round(size);
        let is_last = self.bump.free(block, rounded);
        let lists = if is_last { self.innermost.lists() } else { self.ensure_lists() };
        if let Some(lists) = lists {
            lists.count_live(-1);
        }
        if let Some(lists) = lists.filter(|_| !is_last) {
            let block = range::widen_provenance(block);
            entry.has_listed.set(true);
            // SAFETY: the block was alive a moment ago, so it is in no list; it is free and counted
            // now, and lies in a chunk of the innermost scope, whose lists these are.
            unsafe { lists.push(block, size::list(rounded)) };
        }
    }

    /// Frees a small block of a scope of which few blocks are alive.
    ///
    /// # Safety
    ///
    /// The contract of [`free_listed`](Owner::free_listed), which has counted the block as freed.
    #[cold]
    #[inline(never)]
    unsafe fn free_at_low_water(&self, place: Place, block: *mut u8, size: usize) {
        self.at_low_water();
        // SAFETY: the caller's block, which is alive.
        unsafe { self.free(place, block, size) }
    }

    /// Frees a block that does not belong to the innermost scope, or was allocated before the
    /// adoption of its chunk.
    ///
    /// # Safety
    ///
    /// The contract of [`free`](Owner::free).
    #[inline]
    pub(crate) unsafe fn free_elsewhere(&self, place: Place, block: *mut u8, size: usize) {
        // SAFETY: the caller no longer uses the block, which has this size.
        unsafe { poison(block, size) };
        let entry = place.entry();
        if entry.scope_id() == self.bump.scope_id() {
            self.free_older(entry, block, size);
        } else {
            // SAFETY: the block is the caller's, and has this size.
            unsafe { self.free_other(place, block, size) };
        }
    }

    /// Frees a block that lies in a chunk of the innermost scope but was allocated before the
    /// chunk's adoption. Rewinds the bump pointer if the block is the last one.
    fn free_older(&self, entry: &Entry, block: *mut u8, size: usize) {
        let offset = offset_in_chunk(block);
        invariant!(offset < entry.tail_start.get(), "G9, a block from before the adoption");
        entry.local.set(entry.local.get().wrapping_sub(1));
        entry.older_freed.set(entry.older_freed.get().wrapping_add(1));
        let rounded = size::round(size);
        if self.bump.is_last(block, rounded) {
            // What is bumped here from now on is this scope's (G9).
            self.bump.set_end(block.addr());
            entry.tail_start.set(offset);
        } else {
            self.ledger.count_freed(&self.bump, rounded);
        }
    }

    /// Frees a block that is not in a chunk of the innermost scope.
    ///
    /// # Safety
    ///
    /// The block was freed and has this size.
    unsafe fn free_other(&self, place: Place, block: *mut u8, size: usize) {
        let entry = place.entry();
        if entry.scope_id() == LARGE_BLOCK {
            // The block was the run's only one, so the run is the caller's (G7).
            return self.free_large(place.large(), size);
        }
        self.ledger.count_freed(&self.bump, size::round(size));
        let is_own = entry.owner_id() == self.ids.own();
        if !self.has_scope() {
            // SAFETY: the block was freed and has this size.
            unsafe { self.free_without_scope(place.chunk(), block, size, is_own) };
            return;
        }
        // SAFETY: the block was freed, is counted and has this size.
        if !is_own && unsafe { self.return_block(entry, block, size) } {
            return;
        }
        if is_own || (size <= SMALL && held::is_tight() && self.adopt_whole(place.chunk())) {
            // The block belongs to an outer scope or to the persistent scope.
            // SAFETY: the block was freed, is counted and has this size.
            unsafe { self.free_own(entry, block, size) };
        } else {
            // SAFETY: the block was freed, is counted and has this size.
            unsafe { self.free_shared(place.chunk(), block, size) };
        }
    }

    /// Puts the run of a large block into a pool.
    fn free_large(&self, large: LargeRef, size: usize) {
        self.ledger.count_freed(&self.bump, size);
        let entry = large.entry();
        invariant!(size <= entry.held.get(), "G7, a large block lies in its run's memory");
        entry.scope_id.store(RETIRED, Ordering::Relaxed);
        pool::forget_slack(large);
        if entry.owner_id() != self.ids.own() {
            return pool::give(large.run());
        }
        if let Some(record) = self.record_of_large(large) {
            record.large.set(record.large.get().saturating_sub(1));
            charge(&record.allowance, size, 0);
        }
        self.cache.give(large.run());
    }

    /// The record of the scope that served a large block, if it is an open scope of this owner. The
    /// caller owns the run, whose block this owner served.
    pub(super) fn record_of_large(&self, large: LargeRef) -> Option<&ScopeRecord> {
        let entry = large.entry();
        // While a scope is open, none is suspended (P1). So the first chunk has the ID only while
        // this owner has the chunk and the scope is open (G8).
        let scope = entry.record.large_scope.get().filter(|_| self.bump.has_scope())?;
        (scope.id() == entry.record.large_scope_id.get()).then(|| scope.record())
    }
}
