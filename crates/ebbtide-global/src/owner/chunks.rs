//! What a scope does when its chunk is full: it continues in another of its chunks, gets one from
//! `owner/supply`, or pauses.
//!
//! `owner/alloc` calls it when a block does not fit, and `owner/scopes` for the first chunk. It
//! writes the list of the innermost scope's chunks, and the mode when the bound refuses one.

use super::Owner;
use crate::{
    figures::Reason,
    memory::{
        held,
        run::{ChunkRef, Flushed, UNLIMITED},
    },
    policy::refusals::Refusals,
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
    /// Makes a chunk the current one of the innermost scope, as far as the scope's limit allows. Its
    /// stage has room for `needed` bytes, if the chunk has.
    pub(super) fn begin_chunk(
        &self,
        chunk: ChunkRef,
        top: *mut u8,
        needed: usize,
        flushed: Flushed,
    ) {
        let takes_turns = self.partner(chunk).is_some();
        let end = if takes_turns { stage_end(chunk, top.addr() + needed) } else { chunk.end() };
        let Some(scope) = self.innermost.scope() else { return };
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
        let take = || self.take_chunk(self.bump.scope_id());
        let taken = match take() {
            Err(Reason::Waste) if self.sweep(flushed) => take(),
            taken => taken,
        };
        if taken.is_err_and(|reason| reason == Reason::Waste) {
            self.pause();
        }
        let (chunk, top) = taken?;
        record.allowance.set(with_left());
        chunk.set_next(Some(current));
        self.begin_chunk(chunk, top, needed, flushed);
        self.check();
        Ok(())
    }

    /// The chunk that takes turns with the current one: the one behind it in the scope's list. `None`
    /// if the scope has a byte limit, which does not count what is left of a parked chunk.
    fn partner(&self, current: ChunkRef) -> Option<ChunkRef> {
        let has_limit = self.scope().is_some_and(|scope| scope.record().has_limit());
        current.next().filter(|_| !has_limit)
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
        let empty = self.partner(current).filter(|partner| partner.entry().is_empty(flushed));
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
        if current.entry().is_empty(flushed) {
            self.reuse(current, flushed);
            return Some(current);
        }
        let mut before = self.innermost.search_position.get().unwrap_or(current);
        for _ in 0..SEARCH_LIMIT {
            let Some(chunk) = before.next() else {
                self.innermost.search_position.set(None);
                return None;
            };
            if chunk.entry().is_empty(flushed) {
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

    /// [Sweeps](Owner::sweep) the innermost scope if that is due, because it was refused a large block.
    fn sweep_if_due(&self, window: u64, flushed: Flushed) -> bool {
        let Some((scope, current)) = self.scope().zip(self.bump.chunk()) else { return false };
        let pauses = &scope.record().pauses_until_sweep;
        if !self.refusals.is_sweep_due(pauses, window) {
            return false;
        }
        let has_swept = self.sweep(flushed);
        pauses.set(Refusals::pauses_for(current.following().count()));
        has_swept
    }

    /// Gives back the empty chunks of the innermost scope, except for its first, the current one, and a
    /// parked one, which continues where it stopped (G5). Returns whether there were any.
    #[cold]
    fn sweep(&self, flushed: Flushed) -> bool {
        let Some((scope, current)) = self.scope().zip(self.bump.chunk()) else { return false };
        let parked = current.next().filter(|_| self.bump.parked() > 0);
        // It may be a chunk that is given back.
        self.innermost.search_position.set(None);
        // Given back together, because neighbours then take fewer calls of the system.
        let mut given: Option<ChunkRef> = None;
        let mut before = parked.unwrap_or(current);
        while let Some(chunk) = before.next() {
            if chunk != scope.first_chunk() && chunk.entry().is_empty(flushed) {
                before.set_next(chunk.next());
                Owner::disown_empty(chunk, flushed);
                chunk.set_next(given.replace(chunk));
            } else {
                before = chunk;
            }
        }
        self.cache.give_all(given.map(ChunkRef::run), true);
        given.is_some()
    }

    /// Looks for empty chunks of the innermost scope, which was refused a large block.
    pub(super) fn sweep_for_large(&self) -> bool {
        self.promote();
        self.sweep_if_due(held::BUDGET.window(), self.flush())
    }

    /// Resets an empty chunk of the innermost scope to the state of a new one.
    fn reuse(&self, chunk: ChunkRef, flushed: Flushed) {
        invariant!(
            chunk.entry().is_empty(flushed),
            "G4, a chunk with a live block is not bumped again"
        );
        self.own_empty(chunk.entry(), self.bump.scope_id());
    }

    /// Closes the innermost scope for a while, because the memory bound does not allow it another chunk.
    /// Before it asks again, and [sweeps](Owner::sweep), eight requests are refused for each chunk that
    /// it has, so that the search costs little for each.
    fn pause(&self) {
        self.refusals.pause(self.ledger.bytes());
        let chunks = ChunkRef::list(self.bump.chunk()).count();
        let retry_after = RETRY + u32::try_from(8 * chunks).unwrap_or(u32::MAX / 2);
        self.set_mode(Mode { retry_after, ..self.innermost.mode() });
    }

    /// Called for each request to a paused scope. Returns true if the scope is open now.
    #[cold]
    pub(super) fn resume_paused(&self) -> bool {
        let mode = self.innermost.mode();
        if mode.retry_after == 0 || mode.is_outside() {
            return false;
        }
        self.set_mode(Mode { retry_after: mode.retry_after - 1, ..mode });
        mode.retry_after == 1
    }
}

#[cfg(all(test, target_pointer_width = "64", not(miri)))]
#[allow(clippy::expect_used)]
mod tests {
    use super::{super::switch::signed, *};
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

    #[test]
    fn a_scope_counts_more_blocks_in_one_chunk_than_32_bits_hold() {
        with_owner(|owner| {
            let scope = owner.scope().expect("a scope is open");
            let blocks: Vec<_> = (0..10).map(|_| owner.alloc(BLOCK)).collect();
            let local = &scope.first_chunk().entry().local;
            owner.flush();
            // As if so many blocks had been bumped and rewound.
            for rewound in [1 << 31, (1 << 32) - 1, 5 << 32] {
                owner.bump.count_rewound(rewound);
                local.set(local.get().wrapping_sub(signed(rewound)));
                owner.flush();
            }
            assert_eq!(local.get(), 10);
            free_all(owner, &blocks);
        });
    }

    #[test]
    fn a_scope_that_is_refused_large_blocks_looks_for_empty_chunks_once_per_chunk_that_it_has() {
        with_owner(|owner| {
            let scope = owner.scope().expect("a scope is open");
            let sweep = |window| owner.sweep_if_due(window, owner.flush());
            let pauses = &scope.record().pauses_until_sweep;
            let (kept, freed) = (fill(owner, 128), fill(owner, 64));
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
