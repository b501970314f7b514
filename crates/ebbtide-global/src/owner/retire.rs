//! Owning a chunk and giving it up.
//!
//! `owner/supply`, `owner/scopes` and the ends of persistent scopes call it. It writes the owner
//! and the scope in a chunk's entry, which nothing else does, and settles the chunk's count.

use super::{
    Owner,
    holes::{ENOUGH, NO_HOLE},
};
use crate::{
    figures,
    memory::{
        cache::USEFUL_TAIL,
        held, pool,
        run::{ChunkRef, Entry, Flushed, RETIRED, Saved, ScopeRef},
    },
    shared::suspended::Suspended,
    size::CHUNK,
};
use core::sync::atomic::Ordering;

/// The number of live blocks of a chunk that were bumped since its adoption (G9), as far as its
/// owner knows: frees by others are not subtracted.
fn newer_live(entry: &Entry, _: Flushed) -> i32 {
    entry.local.get().wrapping_add(entry.older_freed.get())
}

impl Owner {
    /// Starts to own a chunk without live blocks.
    pub(super) fn own_empty(&self, entry: &Entry, scope: u64) {
        entry.count.own();
        entry.tail_start.set(0);
        self.own(entry, scope);
    }

    /// Starts to own a chunk whose count is already set.
    pub(super) fn own(&self, entry: &Entry, scope: u64) {
        entry.local.set(0);
        entry.bumped.set(0);
        entry.older_freed.set(0);
        entry.has_listed.set(false);
        entry.next_hole.set(0);
        // Relaxed, like every store to these two fields: see `Entry`.
        entry.scope_id.store(scope, Ordering::Relaxed);
        entry.owner_id.store(self.ids.own(), Ordering::Relaxed);
    }

    /// Starts to own a pinned chunk, with its holes. Returns the number of its live blocks; `None`
    /// if the chunk is no longer pinned.
    pub(super) fn adopt(&self, chunk: ChunkRef, scope: u64) -> Option<u32> {
        let entry = chunk.entry();
        let live = entry.count.adopt()?;
        invariant!(entry.owner_id() == RETIRED, "G2, a pinned chunk");
        self.persistence.record_unpinned(entry);
        self.own(entry, scope);
        Some(live)
    }

    /// Gives up ownership of an empty chunk of a scope. The caller puts it into the cache or a
    /// pool.
    pub(super) fn disown_empty(chunk: ChunkRef, flushed: Flushed) {
        let entry = chunk.entry();
        invariant!(entry.is_empty(flushed), "G4, a chunk with a live block is not given back");
        entry.scope_id.store(RETIRED, Ordering::Relaxed);
        entry.owner_id.store(RETIRED, Ordering::Relaxed);
        entry.count.clear();
    }

    /// Gives up ownership of a chunk of a scope that ends. Its free tail begins at `tail_start`.
    /// Returns true if the chunk is pinned now.
    pub(super) fn retire(&self, chunk: ChunkRef, tail_start: usize, flushed: Flushed) -> bool {
        if chunk.entry().is_empty(flushed) {
            Owner::disown_empty(chunk, flushed);
            self.cache.give(chunk.run());
            return false;
        }
        self.settle(chunk, tail_start, flushed)
    }

    /// Names the label for which a chunk of the innermost scope is counted if it is pinned: that of
    /// the scope, or of the next one around it that has a label. If no block bumped since the
    /// chunk's adoption is alive, it keeps the label that it has.
    pub(super) fn label_pinned(&self, entry: &Entry, flushed: Flushed) {
        if newer_live(entry, flushed) == 0 {
            return;
        }
        entry.set_label(self.scope().and_then(|scope| scope.record().label.get()));
    }

    /// Retires a chunk that has live blocks. Other threads may free the last one at any moment.
    #[inline(never)]
    pub(super) fn settle(&self, chunk: ChunkRef, tail_start: usize, flushed: Flushed) -> bool {
        let entry = chunk.entry();
        let newer = newer_live(entry, flushed);
        invariant!(entry.next_hole.get() <= NO_HOLE, "H2, a pinned chunk has left its holes");
        let local = entry.local.replace(0);
        // If everything bumped since the adoption has been freed, the tail begins where it did
        // before (G9).
        let is_as_before = newer == 0 && entry.tail_start.get() > 0;
        #[allow(clippy::cast_possible_truncation, reason = "at most a chunk")]
        let tail_start = if is_as_before { entry.tail_start.get() } else { tail_start as u32 };
        entry.tail_start.set(tail_start);
        self.persistence.record_pinned(entry, newer);
        entry.scope_id.store(RETIRED, Ordering::Relaxed);
        entry.owner_id.store(RETIRED, Ordering::Relaxed);
        // Counted before `settle`, so that the thread that frees the last block finds it counted.
        // Both are Relaxed, but `Count` orders them.
        entry.count_pinned();
        let (live, holes) = entry.count.settle(local);
        if live == 0 {
            entry.count_unpinned();
            self.persistence.record_unpinned(entry);
            self.cache.give(chunk.run());
            return false;
        }
        // From here on the chunk has no owner (G2): its entry must not be accessed. The blocks of
        // this scope that escaped are those that no thread has freed yet. In an adopted chunk this is
        // an upper bound, because nothing tells which blocks other threads have freed.
        self.ledger.count_escaped(u64::from(live.min(u32::try_from(newer).unwrap_or(0))));
        if newer > 0 {
            self.ledger.count_pinned();
        }
        if tail_start <= USEFUL_TAIL {
            self.cache.remember_tail(chunk);
        }
        if holes.bytes() + CHUNK - tail_start as usize >= ENOUGH {
            pool::leave_holey(chunk);
        }
        true
    }

    /// The state of the suspended scope that this owner shares with other threads.
    pub(super) fn suspended(&self) -> Option<&'static Suspended> {
        self.ledger.counters().map(|counters| &counters.suspended)
    }

    /// Retires the chunks of a suspended scope of any owner, for which the caller has the lease. Its
    /// listed blocks become holes of the chunks that stay pinned.
    pub(super) fn retire_suspended(&self, scope: ScopeRef) {
        // `retire` counts escaped blocks, but these were counted at each suspension.
        let escaped = self.ledger.escaped();
        let flushed = Flushed::nothing_bumped();
        let Saved { position, lists, .. } = scope.record().saved.get();
        let adopted = scope.record().adopted.get();
        let chunks = || ChunkRef::list(position.chunk).chain(ChunkRef::list(adopted));
        // SAFETY: the lists of a persistent scope were initialised when it began (P3), and nobody
        // else accesses them, because the caller has the lease (P5).
        if let Some(lists) = lists.map(|lists| unsafe { lists.as_ref() }) {
            Owner::leave_listed(lists, chunks(), true, flushed);
        }
        // Before the first chunk is given up (R2): its next owner may open the stack again.
        let returned = scope.first_chunk().entry().returned.close();
        let tail = Owner::end_region(&position);
        let mut empty: Option<ChunkRef> = None;
        for chunk in chunks() {
            chunk.entry().count_unpinned();
            Owner::refuse_returns(chunk);
            if chunk.entry().is_empty(flushed) {
                Owner::disown_empty(chunk, flushed);
                chunk.set_next(empty);
                empty = Some(chunk);
            } else {
                self.settle(
                    chunk,
                    if Some(chunk) == position.chunk { tail } else { CHUNK },
                    flushed,
                );
            }
        }
        self.cache.give_all(empty.map(ChunkRef::run));
        self.free_returned(returned);
        self.ledger.reset_escaped(escaped);
    }

    /// If more is held than the bound allows, ends the suspended scopes of owners that opened no
    /// scope for a whole window. Other threads may have freed the blocks of such a scope, and its
    /// owner may never run again. Called at the end of each window.
    #[cold]
    pub(super) fn end_idle_scopes(&self) {
        let is_over = held::excess(true) > 0;
        // Restored below: chunks that are pinned here say nothing about this owner's own scopes.
        let sparse_chunks = self.persistence.sparse_chunks.get();
        for counters in figures::counters() {
            if counters.suspended.is_idle() && is_over {
                self.end_suspended(&counters.suspended);
            }
        }
        self.persistence.sparse_chunks.set(sparse_chunks);
    }

    /// Ends the suspended scope of any owner, unless it has a session now.
    fn end_suspended(&self, suspended: &Suspended) {
        let Some(first_chunk) = suspended.take() else { return };
        if let Some(scope) = ChunkRef::from_number(first_chunk).map(ScopeRef::beginning_in) {
            let lists = scope.record().saved.get().lists;
            self.retire_suspended(scope);
            if let Some(chunk) = lists.and_then(|lists| ChunkRef::containing(lists.as_ptr().cast()))
            {
                // The owner finds that the scope has ended, and takes another chunk for lists (P5).
                pool::give(chunk.run());
            }
        }
        suspended.ended();
    }
}

#[cfg(all(test, target_pointer_width = "64", not(miri)))]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use core::{alloc::Layout, mem::MaybeUninit, slice};
    use std::vec::Vec;

    fn started() -> Owner {
        let owner = Owner::new();
        assert!(owner.start());
        owner
    }

    /// A block that is filled with its address, with the number of its words.
    type Filled = (*mut u64, usize);

    fn layout(words: usize) -> Layout {
        Layout::array::<u64>(words).expect("a short block")
    }

    fn serve(owner: &Owner, words: usize) -> Option<Filled> {
        let block = owner.alloc(layout(words)).cast::<u64>();
        if block.is_null() {
            return None;
        }
        // SAFETY: the block was served with room for so many words, and nobody else accesses it.
        let room = unsafe { slice::from_raw_parts_mut(block.cast::<MaybeUninit<u64>>(), words) };
        room.fill(MaybeUninit::new(block.addr() as u64));
        Some((block, words))
    }

    /// Frees a block, which must be as it was filled.
    fn free(owner: &Owner, (block, words): Filled) {
        // SAFETY: the block is alive, and was filled when it was served.
        let contents = unsafe { slice::from_raw_parts(block, words) };
        assert!(contents.iter().all(|word| *word == block.addr() as u64), "it was served twice");
        // SAFETY: the block is alive, has this layout, and is not used again.
        assert!(unsafe { owner.dealloc(block.cast(), layout(words)) });
    }

    /// Ends the suspended scope of an owner, as another owner does at the end of a window.
    fn end(owner: &Owner, ender: &Owner) {
        ender.end_suspended(owner.suspended().expect("a started owner has figures"));
    }

    /// Another owner ends the suspended scope between any two steps of its owner: no byte is served
    /// twice, no block is lost, and what the owner has listed is served again.
    #[test]
    fn a_scope_may_be_ended_from_outside_at_any_moment() {
        let (owner, ender) = (started(), started());
        let mut random = 1_u64;
        let mut below = |bound: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % bound
        };
        let mut kept: Vec<Filled> = Vec::new();
        for _ in 0..1_000 {
            if below(2) == 0 {
                owner.persistence.demand();
            }
            assert!(owner.enter_default().is_some());
            for _ in 0..below(400) {
                kept.extend(serve(&owner, 1 + below(40)));
                if below(3) == 0 {
                    free(&owner, kept.swap_remove(below(kept.len())));
                }
            }
            let nested = if below(4) == 0 { owner.enter_default() } else { None };
            (0..below(40)).for_each(|_| kept.extend(serve(&owner, 1 + below(2_000))));
            nested.into_iter().for_each(|nested| owner.leave(nested));
            owner.close();
            for _ in 0..3 {
                let frees = if kept.len() > 20_000 { 2_000 } else { below(300) };
                for _ in 0..frees.min(kept.len()) {
                    let by = if below(8) == 0 { &ender } else { &owner };
                    free(by, kept.swap_remove(below(kept.len())));
                }
                if below(3) == 0 {
                    end(&owner, &ender);
                }
            }
            owner.check();
        }
        kept.into_iter().for_each(|block| free(&ender, block));
    }
}
