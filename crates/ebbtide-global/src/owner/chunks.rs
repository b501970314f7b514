//! What a scope does when its chunk is full: it continues in another of its chunks, gets one from
//! `owner/supply`, or pauses.
//!
//! `owner/alloc` calls it when a block does not fit, and `owner/scopes` for the first chunk. It
//! writes the list of the innermost scope's chunks, and the mode when the bound refuses one.

use super::{Owner, ebb};
use crate::{
    figures::Reason,
    memory::{
        held,
        run::{ChunkRef, Flushed, UNLIMITED},
    },
    policy::{persistence, refusals::Refusals},
    scope::{
        bump::LEAD,
        mode::{Mode, RETRY},
    },
    size::CHUNK,
};

/// The number of chunks that a scope examines for an empty one each time that it needs a chunk.
const SEARCH_LIMIT: usize = 4;

/// Where the stages of a chunk end before the last one, in bytes from its start. The first stages
/// of two chunks fit into a first-level cache.
const STAGES: [usize; 2] = [CHUNK / 8, CHUNK / 2];

/// The end of the stage of a chunk that an address lies in.
fn stage_end(chunk: ChunkRef, address: usize) -> usize {
    let start = chunk.start().addr();
    let end = STAGES.into_iter().find(|&end| address < start + end);
    start + end.unwrap_or(CHUNK)
}

impl Owner {
    /// Makes a chunk the current one of the innermost scope. Its stage has room for `needed` bytes,
    /// if the chunk has.
    pub(super) fn begin_chunk(
        &self,
        chunk: ChunkRef,
        top: *mut u8,
        needed: usize,
        flushed: Flushed,
    ) {
        let takes_turns = self.partner(chunk).is_some();
        let end = if takes_turns { stage_end(chunk, top.addr() + needed) } else { chunk.end() };
        self.begin_region(chunk, top, end, flushed);
    }

    /// Begins to bump in the free bytes from `top` to `end` of a chunk, or in those of them that the
    /// scope's limit allows.
    fn begin_region(&self, chunk: ChunkRef, top: *mut u8, end: usize, flushed: Flushed) {
        let Some(scope) = self.innermost.scope() else { return };
        invariant!((top.addr()..=chunk.end()).contains(&end), "G5, a region lies in its chunk");
        let allowance = &scope.record().allowance;
        let limit = if allowance.get() == UNLIMITED {
            end
        } else {
            let granted = allowance.get().min(end - top.addr());
            allowance.set(allowance.get() - granted);
            top.addr() + granted
        };
        self.bump.begin(chunk, top, limit, flushed);
    }

    /// Moves the innermost scope to another chunk, for a block that takes `needed` bytes with its
    /// padding.
    #[cold]
    pub(super) fn next_chunk(&self, needed: usize) -> Result<(), Reason> {
        let (Some(scope), Some(current)) = (self.scope(), self.bump.chunk()) else {
            return Err(Reason::Exhausted);
        };
        self.promote();
        let record = &scope.record();
        let with_left = || record.allowance.get().saturating_add(self.bump.left());
        if with_left() < needed {
            return Err(Reason::ByteLimit);
        }
        let flushed = self.flush();
        if self.next_hole(needed, flushed) {
            return Ok(());
        }
        if !record.has_limit() && self.take_turns(current, needed, flushed) {
            self.check();
            return Ok(());
        }
        if let Some(chunk) = self.take_empty_chunk(current, flushed) {
            record.allowance.set(with_left());
            self.begin_chunk(chunk, chunk.start().wrapping_add(LEAD), needed, flushed);
            self.check();
            return Ok(());
        }
        if self
            .innermost
            .lists()
            .is_some_and(|lists| ebb::has_ebbed(lists, record, current, flushed))
        {
            // The chunks that a persistent scope adopted were not counted. There may be very many.
            self.sweep(None, flushed);
        }
        let may_persist = record.may_persist() && self.persistence.keeps();
        let is_short = may_persist && self.is_short();
        let keeps_track = is_short || may_persist && persistence::are_mostly_free();
        if keeps_track {
            self.begin_listing();
        }
        let take = || self.take_chunk(self.bump.scope_id(), is_short, needed);
        let taken = match take() {
            Err(Reason::Waste) if self.sweep_if_due(held::BUDGET.window(), flushed) => take(),
            taken => taken,
        };
        let taken = match taken {
            // A scope that keeps nothing looks for holes only now: bumping in a new chunk is faster.
            Err(Reason::Waste) if record.may_persist() && !is_short && self.begin_listing() => {
                self.adopt_holes(self.bump.scope_id(), needed).ok_or(Reason::Waste)
            }
            taken => taken,
        };
        if taken.is_err_and(|reason| reason == Reason::Waste) {
            self.pause();
        }
        let (chunk, top) = taken?;
        record.allowance.set(with_left());
        let added_chunks = record.added_chunks.get().saturating_add(1);
        record.added_chunks.set(added_chunks);
        if self.is_persistent() {
            self.persistent_grew(chunk, added_chunks);
        } else if self.bump.lists_small() {
            self.set_low_water();
        } else {
            self.list_if_it_churns(scope, current, flushed);
        }
        chunk.set_next(Some(current));
        self.begin_chunk(chunk, top, needed, flushed);
        self.next_hole(needed, flushed);
        self.check();
        Ok(())
    }

    /// The chunk that takes turns with the current one: the one behind it in the scope's list.
    /// `None` if the scope lists small blocks, because it bumps no chunk again, or has a byte limit,
    /// which does not count what is left of a parked chunk.
    fn partner(&self, current: ChunkRef) -> Option<ChunkRef> {
        let has_limit = self.scope().is_some_and(|scope| scope.record().has_limit());
        current.next().filter(|_| !has_limit && !self.bump.lists_small())
    }

    /// At the end of a stage, makes the partner the current chunk if it is empty. So a scope that
    /// frees what it allocates bumps in the first stages of two chunks, which stay in the
    /// first-level cache. Otherwise the next stage of the current chunk begins; after the last one,
    /// the partner continues where it stopped. Returns false if neither chunk has room.
    ///
    /// A chunk that is bumped from its start gets a stage with room for `needed` bytes. Otherwise,
    /// for a block as large as the first stage, two empty chunks would alternate for ever.
    fn take_turns(&self, current: ChunkRef, needed: usize, flushed: Flushed) -> bool {
        let (start, limit) = (current.start().addr(), self.bump.limit());
        let is_full = limit == start + CHUNK;
        let parked = self.bump.parked();
        if is_full && parked == 0 {
            return false;
        }
        let empty = self.partner(current).filter(|&partner| self.is_reusable(partner, flushed));
        let (partner, top) = match (empty, current.next()) {
            (Some(partner), _) => {
                self.reuse(partner, flushed);
                (partner, partner.start().wrapping_add(LEAD))
            }
            (None, Some(partner)) if is_full => {
                (partner, partner.start().wrapping_add(parked as usize))
            }
            _ => {
                self.bump.set_limit(stage_end(current, limit));
                return true;
            }
        };
        current.set_next(partner.next());
        partner.set_next(Some(current));
        self.bump.park(if is_full { 0 } else { self.bump.offset() });
        self.begin_chunk(partner, top, needed, flushed);
        true
    }

    /// Finds an empty chunk of the innermost scope and makes it the scope's newest. Its memory is
    /// still in the processor's caches, unlike that of a fresh chunk.
    fn take_empty_chunk(&self, current: ChunkRef, flushed: Flushed) -> Option<ChunkRef> {
        if self.is_reusable(current, flushed) {
            self.reuse(current, flushed);
            return Some(current);
        }
        let mut before = self.innermost.search_position.get().unwrap_or(current);
        for _ in 0..SEARCH_LIMIT {
            let Some(chunk) = before.next() else {
                self.innermost.search_position.set(None);
                return None;
            };
            if self.is_reusable(chunk, flushed) {
                before.set_next(chunk.next());
                chunk.set_next(Some(current));
                self.innermost.search_position.set(Some(before));
                self.reuse(chunk, flushed);
                return Some(chunk);
            }
            before = chunk;
        }
        self.innermost.search_position.set(Some(before));
        None
    }

    /// [Sweeps](Owner::sweep) the innermost scope if that is due, because it was refused a chunk.
    fn sweep_if_due(&self, window: u64, flushed: Flushed) -> bool {
        let Some((scope, current)) = self.scope().zip(self.bump.chunk()) else { return false };
        let pauses = &scope.record().pauses_until_sweep;
        if !self.refusals.is_sweep_due(pauses, window) {
            return false;
        }
        let has_swept = self.sweep(self.adopted(), flushed);
        let left = current.following().chain(ChunkRef::list(self.adopted())).count();
        pauses.set(Refusals::pauses_for(left));
        has_swept
    }

    /// Like [`sweep_if_due`](Owner::sweep_if_due), because the scope was refused a large block.
    pub(super) fn sweep_for_large(&self) -> bool {
        // A parked chunk may be empty, but continues where it stopped (G5).
        if self.bump.parked() > 0 {
            return false;
        }
        self.promote();
        self.sweep_if_due(held::BUDGET.window(), self.flush())
    }

    /// Whether a chunk of the innermost scope may be bumped again from its start.
    fn is_reusable(&self, chunk: ChunkRef, flushed: Flushed) -> bool {
        // G6: no block of it is in a list.
        chunk.entry().is_empty(flushed)
            && !self.bump.lists_small()
            && !chunk.entry().has_listed.get()
    }

    /// Resets an empty chunk of the innermost scope to the state of a new one.
    fn reuse(&self, chunk: ChunkRef, flushed: Flushed) {
        invariant!(
            chunk.entry().is_empty(flushed),
            "G4, a chunk with a live block is not bumped again"
        );
        self.own_empty(chunk.entry(), self.bump.scope_id());
    }

    /// Closes the innermost scope for the next [`RETRY`] requests, because the memory bound does
    /// not allow it another chunk. Meanwhile it can serve only listed blocks, so from now on it
    /// lists blocks of every size.
    fn pause(&self) {
        self.begin_listing();
        self.refusals.pause(self.ledger.bytes());
        self.persistence.demand();
        self.set_mode(Mode { retry_after: RETRY, ..self.innermost.mode() });
    }

    /// Called for each request for which a paused scope has no listed block. Reopens the scope
    /// after [`RETRY`] of them. Returns true if the scope is open now.
    #[cold]
    pub(super) fn resume_paused(&self) -> bool {
        let mode = self.innermost.mode();
        if mode.retry_after == 0 || mode.is_outside() {
            return false;
        }
        self.set_mode(Mode { retry_after: mode.retry_after - 1, ..mode });
        mode.retry_after == 1
    }

    /// Moves the bump pointer of the innermost scope to the next hole of its current chunk that has
    /// room for `needed` bytes. Returns false if there is none.
    pub(super) fn next_hole(&self, needed: usize, flushed: Flushed) -> bool {
        let Some((chunk, top, end)) = self.next_region(needed, flushed) else { return false };
        self.begin_region(chunk, top, end, flushed);
        self.check();
        end > top.addr()
    }
}

#[cfg(all(test, target_pointer_width = "64", not(miri)))]
#[allow(clippy::expect_used)]
mod tests {
    use super::{super::switch::signed, *};
    use crate::memory::run::ScopeRef;
    use core::alloc::Layout;

    const BLOCK: Layout = Layout::new::<[u64; 64]>();

    fn with_owner(test: impl FnOnce(&Owner)) {
        let owner = Owner::new();
        if owner.start() {
            let _ = owner.enter_default();
            test(&owner);
        }
    }

    /// Blocks of so many chunks besides the first.
    fn fill(owner: &Owner, chunks: usize) -> Vec<*mut u8> {
        (0..chunks * CHUNK / BLOCK.size()).map(|_| owner.alloc(BLOCK)).collect()
    }

    fn free_all(owner: &Owner, blocks: &[*mut u8]) {
        for &block in blocks {
            // SAFETY: the tests allocate their blocks with this layout, and free each one once.
            assert!(unsafe { owner.dealloc(block, BLOCK) });
        }
    }

    /// Makes the innermost scope persistent.
    fn persist(owner: &Owner) -> ScopeRef {
        let scope = owner.scope().expect("a scope is open");
        assert!(owner.persist(scope).is_some());
        scope
    }

    #[test]
    fn a_scope_counts_more_blocks_in_one_chunk_than_32_bits_hold() {
        with_owner(|owner| {
            let scope = persist(owner);
            let blocks = fill(owner, 0).len() as i64;
            let lists = owner.innermost.lists().expect("a persistent scope has lists");
            // As if so many blocks had been bumped and rewound.
            for rewound in [1 << 31, (1 << 32) - 1, 5 << 32] {
                owner.bump.count_rewound(rewound);
                lists.count_live(-(rewound as i64));
                let local = &scope.first_chunk().entry().local;
                local.set(local.get().wrapping_sub(signed(rewound)));
                owner.flush();
                assert_eq!((lists.live(), local.get()), (blocks, 0));
                assert_eq!(scope.first_chunk().entry().bumped.get(), i32::MAX);
            }
        });
    }

    #[test]
    fn a_scope_that_is_refused_chunks_looks_for_empty_ones_once_per_chunk_that_it_has() {
        with_owner(|owner| {
            let scope = owner.scope().expect("a scope is open");
            let sweep = |window| owner.sweep_if_due(window, owner.flush());
            let pauses = &scope.record().pauses_until_sweep;
            let (kept, freed) = (fill(owner, 2 * RETRY as usize), fill(owner, RETRY as usize));
            owner.flush();
            assert!(!sweep(1), "no chunk is empty");
            free_all(owner, &freed);
            let waited = (0..10).take_while(|_| !sweep(1)).count();
            assert_eq!((waited, pauses.get()), (3, 2));
            free_all(owner, &kept[..2 * CHUNK / BLOCK.size()]);
            assert!(sweep(2), "a window has begun");
            free_all(owner, &kept[2 * CHUNK / BLOCK.size()..]);
            let waited = (0..10).take_while(|_| !sweep(2)).count();
            assert_eq!((waited, pauses.get()), (2, 0), "few chunks are left");
        });
    }
}
