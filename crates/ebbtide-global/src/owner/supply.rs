//! Where another chunk, or the run of a large block, comes from: a tail, holes, the cache, the pools
//! or new addresses. The bound is checked here.
//!
//! `owner/chunks`, `owner/scopes`, `owner/alloc`, `owner/listing` and, for blocks that grow,
//! `owner/resize` call it. It writes the bytes that are held, in a run's entry and in `memory/held`.

use super::{
    Owner,
    holes::{SEARCH_LIMIT, take_holes},
};
use crate::{
    figures::Reason,
    memory::{
        held, pool,
        run::{ChunkRef, Flushed, LARGE_BLOCK, LargeRef, Run},
    },
    scope::bump::LEAD,
    size::{self, BUMP_CLASS, CHUNK, SMALL},
};
use core::sync::atomic::Ordering;

/// The most memory beyond its needs that a large block takes where memory is short.
const MAX_SURPLUS: usize = CHUNK / 4;

/// The number of chunks that are taken from the pool in one search. Some are no longer pinned.
const SKIP_LIMIT: usize = 64;

impl Owner {
    /// Takes a chunk for a scope. Returns the chunk and the start of its free bytes. If memory
    /// [is short](Owner::is_short), the chunk may be one with holes, for which
    /// [`next_hole`](Owner::next_hole) must be called; one of them then has room for `needed`
    /// bytes.
    pub(super) fn take_chunk(
        &self,
        scope: u64,
        is_short: bool,
        needed: usize,
    ) -> Result<(ChunkRef, *mut u8), Reason> {
        // P2: the persistent scope adopts nothing, but scopes nested in it do.
        if self.cache.has_tails() && scope != self.persistence.scope_id() {
            if let Some(adopted) = self.adopt_any(scope) {
                return Ok(adopted);
            }
        }
        if is_short {
            if let Some(adopted) = self.adopt_holes(scope, needed) {
                return Ok(adopted);
            }
        }
        if self.persistence.keeps() && !held::may_pin() {
            return Err(Reason::Waste);
        }
        let chunk = ChunkRef::of(self.take_run(BUMP_CLASS, CHUNK, 0, true)?);
        let entry = chunk.entry();
        entry.touched.set(CHUNK);
        entry.is_sparse.set(false);
        self.own_empty(entry, scope);
        Ok((chunk, chunk.start().wrapping_add(LEAD)))
    }

    /// Adopts a chunk for its free tail, if the cache has one that is still pinned.
    #[cold]
    fn adopt_any(&self, scope: u64) -> Option<(ChunkRef, *mut u8)> {
        while let Some(chunk) = self.cache.take_tail() {
            if self.adopt(chunk, scope).is_none() {
                continue;
            }
            chunk.entry().count_unpinned();
            // Read after the adoption: before it, the value may be an earlier owner's.
            let tail_start = chunk.entry().tail_start.get() as usize;
            invariant!((LEAD..=CHUNK).contains(&tail_start), "G9, the free tail of a pinned chunk");
            return Some((chunk, chunk.start().wrapping_add(tail_start)));
        }
        None
    }

    /// Takes a run of which the first `bytes` are about to be used. `live` is the size of its large
    /// block; for a chunk it is 0.
    pub(super) fn take_run(
        &self,
        class: usize,
        bytes: usize,
        live: usize,
        may_exceed: bool,
    ) -> Result<Run, Reason> {
        self.observe_if_due(live);
        let warm = self.take_warm(class, bytes, may_exceed);
        let held = warm.map_or(0, |run| run.entry().held.get());
        if held >= bytes {
            return warm.ok_or(Reason::Exhausted);
        }
        if !self.may_hold(bytes - held, live) {
            warm.into_iter().for_each(|run| self.cache.give(run));
            return Err(Reason::Waste);
        }
        let run = warm.or_else(|| pool::take_empty(class));
        let Some(run) = run.filter(|run| run.recommit(bytes)) else {
            warm.into_iter().for_each(|run| self.cache.give(run));
            held::BUDGET.shrink(bytes - held);
            self.ledger.publish_bytes(&self.bump, 0);
            return Err(Reason::Exhausted);
        };
        invariant!(bytes <= size::run_bytes(run.class()), "the memory of a run lies in the run");
        run.entry().held.set(bytes);
        Ok(run)
    }

    /// Takes a run with memory behind it. If memory is short, takes the run of a large block that
    /// fits best. If that holds much more than is needed, it is left for a larger block if the
    /// bound allows a new run, and is trimmed otherwise. A block that `may_exceed` its needs takes
    /// any run as it is.
    fn take_warm(&self, class: usize, bytes: usize, may_exceed: bool) -> Option<Run> {
        if may_exceed || !held::is_tight() {
            return self.cache.take_warm(class);
        }
        let most = bytes + MAX_SURPLUS.max(bytes / 8);
        let fits = |held| (bytes..most).contains(&held);
        if self.cache.bring_forward(class, fits) {
            return self.cache.take_warm(class);
        }
        let run = pool::take_fitting(class, bytes).or_else(|| self.cache.take_warm(class))?;
        if run.entry().held.get() < most {
            return Some(run);
        }
        if held::has_room(bytes, self.persistence.keeps()) {
            self.cache.give(run);
            return None;
        }
        pool::trim_run(run, bytes);
        Some(run)
    }

    /// Whether the engine may hold this many more bytes. If so, counts them as held. `live` of them
    /// are about to be a block's.
    #[cold]
    pub(super) fn may_hold(&self, bytes: usize, live: usize) -> bool {
        let keeps = self.persistence.keeps();
        let try_hold = || held::try_hold(bytes, keeps);
        if try_hold() {
            return true;
        }
        self.observe(live);
        if try_hold() {
            return true;
        }
        // Memory is refused only if the pools and this owner's cache do not hold it. In that case
        // they keep what they have.
        let lacking = held::lacking(bytes, keeps);
        let has_enough = pool::pooled() + self.cache.held() >= lacking;
        let is_allowed = has_enough && {
            if pool::pooled() < lacking {
                self.cache.release_runs();
            }
            pool::trim(lacking);
            try_hold()
        };
        if !is_allowed {
            // The bytes that were published will not be served.
            self.ledger.publish_bytes(&self.bump, 0);
        }
        is_allowed
    }

    /// Starts to own a run for a large block.
    pub(super) fn own_large(&self, large: LargeRef) {
        let entry = large.entry();
        entry.scope_id.store(LARGE_BLOCK, Ordering::Relaxed);
        entry.owner_id.store(self.ids.own(), Ordering::Relaxed);
        entry.record.large_scope.set(self.scope());
        entry.record.large_scope_id.set(self.bump.scope_id());
    }

    /// Whether memory is short: it is tight, and no empty chunk may be taken that has memory behind
    /// it. Only scopes that may persist ask. Others would take holes and leave them again in each
    /// scope, which takes half as many instructions again as the inner allocator.
    pub(super) fn is_short(&self) -> bool {
        held::is_tight() && !(held::may_pin() && self.cache.has_warm(BUMP_CLASS))
    }

    /// Adopts a pinned chunk for its holes, one of which has room for `needed` bytes. Returns the
    /// chunk and its end; [`next_hole`](Owner::next_hole) begins to bump in a hole.
    #[cold]
    pub(super) fn adopt_holes(&self, scope: u64, needed: usize) -> Option<(ChunkRef, *mut u8)> {
        let (mut examined, mut unsuited) = (0, None::<ChunkRef>);
        let mut adopted = None;
        for _ in 0..SKIP_LIMIT {
            let Some(chunk) = pool::take_holey() else { break };
            let Some(live) = self.adopt(chunk, scope) else { continue };
            chunk.entry().count_unpinned();
            let largest = take_holes(chunk, Flushed::nothing_bumped());
            if largest >= needed {
                self.persistent_adopted(scope, live);
                if largest <= SMALL {
                    // Many holes, which each of the next scopes would take and leave again.
                    self.persistence.demand();
                }
                adopted = Some((chunk, chunk.start().wrapping_add(CHUNK)));
                break;
            }
            chunk.set_next(unsuited.replace(chunk));
            examined += 1;
            if examined == SEARCH_LIMIT {
                break;
            }
        }
        for chunk in ChunkRef::list(unsuited) {
            Owner::leave_next_holes(chunk);
            self.settle(chunk, CHUNK, Flushed::nothing_bumped());
        }
        adopted
    }
}
