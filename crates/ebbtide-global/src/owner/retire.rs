//! Owning a chunk and giving it up.
//!
//! `owner/supply` and `owner/scopes` call it. It writes the owner and the scope in a chunk's entry,
//! which nothing else does, and settles the chunk's count.

use super::Owner;
use crate::memory::{
    cache::USEFUL_TAIL,
    run::{ChunkRef, Entry, Flushed, RETIRED, Run},
};
use core::sync::atomic::Ordering;

/// The number of live blocks of a chunk that were bumped since its adoption (G8), as far as its
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
        entry.older_freed.set(0);
        // Relaxed, like every store to these two fields: see `Entry`.
        entry.scope_id.store(scope, Ordering::Relaxed);
        entry.owner_id.store(self.ids.own(), Ordering::Relaxed);
    }

    /// Starts to own a pinned chunk. Returns false if the chunk is no longer pinned.
    pub(super) fn adopt(&self, chunk: ChunkRef, scope: u64) -> bool {
        let entry = chunk.entry();
        let is_pinned = entry.count.adopt();
        if is_pinned {
            invariant!(entry.owner_id() == RETIRED, "G2, a pinned chunk");
            entry.count_unpinned();
            self.own(entry, scope);
        }
        is_pinned
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

    /// Keeps a run of this owner's in which no block is alive, for later scopes.
    pub(super) fn give(&self, run: Run) {
        self.cache.give(run, self.has_scope());
    }

    /// Gives up ownership of a chunk of a scope that ends. Its free tail begins at `tail_start`.
    pub(super) fn retire(&self, chunk: ChunkRef, tail_start: usize, flushed: Flushed) {
        if chunk.entry().is_empty(flushed) {
            Owner::disown_empty(chunk, flushed);
            self.give(chunk.run());
        } else {
            self.settle(chunk, tail_start, flushed);
        }
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
    fn settle(&self, chunk: ChunkRef, tail_start: usize, flushed: Flushed) {
        let entry = chunk.entry();
        let newer = newer_live(entry, flushed);
        let local = entry.local.replace(0);
        // If everything bumped since the adoption has been freed, the tail begins where it did
        // before (G8).
        let is_as_before = newer == 0 && entry.tail_start.get() > 0;
        #[allow(clippy::cast_possible_truncation, reason = "at most a chunk")]
        let tail_start = if is_as_before { entry.tail_start.get() } else { tail_start as u32 };
        entry.tail_start.set(tail_start);
        entry.scope_id.store(RETIRED, Ordering::Relaxed);
        entry.owner_id.store(RETIRED, Ordering::Relaxed);
        // Counted before `settle`, so that the thread that frees the last block finds it counted.
        // Both are Relaxed, but `Count` orders them.
        entry.count_pinned();
        let live = entry.count.settle(local);
        if live == 0 {
            entry.count_unpinned();
            return self.give(chunk.run());
        }
        // From here on the chunk has no owner (G2): its entry must not be accessed. The blocks of
        // this scope that escaped are those that no thread has freed yet. In an adopted chunk this is
        // an upper bound, because nothing tells which blocks other threads have freed.
        self.ledger.count_escaped(u64::from(live.min(u32::try_from(newer).unwrap_or(0))));
        if newer > 0 {
            self.ledger.count_pinned();
        }
        if tail_start <= USEFUL_TAIL {
            self.cache.tail.set(Some(chunk));
        }
    }
}
