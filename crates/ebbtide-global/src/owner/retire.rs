//! Owning a chunk and giving it up.

use super::{Owner, holes::NO_HOLE};
use crate::{
    cache::USEFUL_TAIL,
    figures, memory,
    run::{Entry, RETIRED, Run},
    size::{BUMP_CLASS, CHUNK},
    suspended::Suspended,
};
use core::sync::atomic::Ordering;

/// The number of live blocks of a chunk that were bumped since its adoption (G9), as far as its
/// owner knows: frees by others are not subtracted. Its count must be up to date.
fn newer_live(entry: &Entry) -> i32 {
    entry.local.get().wrapping_add(entry.older_freed.get())
}

impl Owner {
    /// Starts to own a chunk without live blocks.
    #[inline]
    pub(super) fn own_empty(&self, entry: &Entry, scope: u64) {
        entry.count.own();
        entry.adopted_live.set(0);
        entry.tail_start.set(0);
        self.own(entry, scope);
    }

    /// Starts to own a chunk whose count is already set.
    #[inline]
    pub(super) fn own(&self, entry: &Entry, scope: u64) {
        entry.local.set(0);
        entry.bumped.set(0);
        entry.older_freed.set(0);
        entry.has_listed.set(false);
        entry.next_hole.set(0);
        // Relaxed, like every store to these two fields: see `Entry`.
        entry.scope.store(scope, Ordering::Relaxed);
        entry.owner.store(self.ids.own(), Ordering::Relaxed);
    }

    /// Starts to own a pinned chunk, with its holes. Returns the number of its live blocks; `None`
    /// if the chunk is no longer pinned.
    pub(super) fn adopt(&self, chunk: Run, scope: u64) -> Option<u32> {
        let entry = chunk.entry();
        let live = entry.count.adopt()?;
        invariant!(entry.owner.load(Ordering::Relaxed) == RETIRED, "G2, a pinned chunk");
        self.persistence.record_unpinned(entry);
        entry.adopted_live.set(live);
        self.own(entry, scope);
        Some(live)
    }

    /// Gives up ownership of an empty chunk of a scope. The caller puts it into the cache or a
    /// pool.
    #[inline]
    pub(super) fn disown_empty(chunk: Run) {
        let entry = chunk.entry();
        invariant!(entry.is_empty(), "G4, a chunk with a live block is not given back");
        entry.scope.store(RETIRED, Ordering::Relaxed);
        entry.owner.store(RETIRED, Ordering::Relaxed);
        entry.count.clear();
    }

    /// Gives up ownership of a chunk of a scope that ends. Its free tail begins at `tail_start`.
    /// Returns true if the chunk is pinned now.
    #[inline]
    pub(super) fn retire(&self, chunk: Run, tail_start: usize) -> bool {
        if chunk.entry().is_empty() {
            Owner::disown_empty(chunk);
            self.cache.give(chunk, BUMP_CLASS);
            return false;
        }
        self.settle(chunk, tail_start)
    }

    /// Names the label for which a chunk of the innermost scope is counted if it is pinned: that of
    /// the scope, or of the next one around it that has a label. If no block bumped since the
    /// chunk's adoption is alive, it keeps the label that it has.
    pub(super) fn label_pinned(&self, entry: &Entry) {
        if newer_live(entry) == 0 {
            return;
        }
        entry.set_label(self.innermost().and_then(|scope| scope.entry().record.label.get()));
    }

    /// Retires a chunk that has live blocks. Other threads may free the last one at any moment.
    #[inline(never)]
    pub(super) fn settle(&self, chunk: Run, tail_start: usize) -> bool {
        let entry = chunk.entry();
        let newer = newer_live(entry);
        invariant!(entry.next_hole.get() <= NO_HOLE, "H2, a pinned chunk has left its holes");
        let local = entry.local.replace(0);
        let pinned_before = entry.adopted_live.get();
        // If everything bumped since the adoption has been freed, the tail begins where it did
        // before (G9).
        let is_as_before = newer == 0 && entry.tail_start.get() > 0;
        #[allow(clippy::cast_possible_truncation, reason = "at most a chunk")]
        let tail_start = if is_as_before { entry.tail_start.get() } else { tail_start as u32 };
        entry.tail_start.set(tail_start);
        self.persistence.record_pinned(entry, newer);
        entry.scope.store(RETIRED, Ordering::Relaxed);
        entry.owner.store(RETIRED, Ordering::Relaxed);
        // Counted before `settle`, so that the thread that frees the last block finds it counted.
        // Both are Relaxed, but `Count` orders them.
        entry.count_pinned();
        let (live, holes) = entry.count.settle(local);
        if live == 0 {
            entry.count_unpinned();
            self.persistence.record_unpinned(entry);
            self.cache.give(chunk, BUMP_CLASS);
            return false;
        }
        // From here on the chunk has no owner (G2): its entry must not be accessed. The blocks of
        // this scope that escaped are those that no thread has freed yet.
        self.ledger.count_escaped(u64::from(live.min(u32::try_from(newer).unwrap_or(0))));
        if pinned_before == 0 {
            self.ledger.count_pinned();
        }
        if tail_start <= USEFUL_TAIL {
            self.cache.remember_tail(chunk);
        }
        Owner::leave_if_holey(chunk, holes, tail_start);
        true
    }

    /// The state of the suspended scope that this owner shares with other threads.
    pub(super) fn suspended(&self) -> Option<&'static Suspended> {
        self.ledger.counters().map(|counters| &counters.suspended)
    }

    /// Retires the chunks of a suspended scope of any owner, for which the caller has the lease.
    pub(super) fn retire_suspended(&self, first_chunk: Run, adopted: Option<Run>) {
        // `retire` counts escaped blocks, but these were counted at each suspension.
        let escaped = self.ledger.escaped();
        let record = &first_chunk.entry().record;
        let position = record.saved.get().position;
        // Before the first chunk is given up (R2): its next owner may open the stack again.
        let returned = first_chunk.entry().returned.close();
        let tail = Owner::end_region(&position);
        let mut empty = None;
        for chunk in Run::list(position.chunk).chain(Run::list(adopted)) {
            chunk.entry().count_unpinned();
            Owner::refuse_returns(chunk);
            if chunk.entry().is_empty() {
                Owner::disown_empty(chunk);
                chunk.set_next(empty);
                empty = Some(chunk);
            } else {
                self.settle(chunk, if Some(chunk) == position.chunk { tail } else { CHUNK });
            }
        }
        self.cache.give_all(empty, BUMP_CLASS);
        self.free_returned(returned);
        self.ledger.reset_escaped(escaped);
    }

    /// If more is held than the bound allows, ends the suspended scopes of owners that opened no
    /// scope for a whole window. Other threads may have freed the blocks of such a scope, and its
    /// owner may never run again. Called at the end of each window.
    #[cold]
    pub(super) fn end_idle_scopes(&self) {
        let is_over = memory::excess(true) > 0;
        // Restored below: chunks that are pinned here say nothing about this owner's own scopes.
        let sparse_chunks = self.persistence.sparse_chunks.get();
        for counters in figures::counters() {
            let is_idle = counters.suspended.is_idle();
            let taken = if is_over && is_idle { counters.suspended.take() } else { None };
            let Some(chunks) = taken else { continue };
            if let Some(first_chunk) = Run::from_number(chunks.first) {
                self.retire_suspended(first_chunk, Run::from_number(chunks.adopted));
            }
            counters.suspended.ended();
        }
        self.persistence.sparse_chunks.set(sparse_chunks);
    }
}
