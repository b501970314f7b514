//! Where another chunk, or the run of a large block, comes from: a tail, the cache, the pools or new
//! addresses. The bound is checked here.
//!
//! `owner/chunks`, `owner/scopes`, `owner/alloc` and, for blocks that grow, `owner/resize` call it. It
//! writes the bytes that are held, in a run's entry and in `memory/held`.

use super::Owner;
use crate::{
    figures::Reason,
    limits::MAX_SURPLUS,
    memory::{
        held, pool,
        run::{ChunkRef, LARGE_BLOCK, LargeRef, Run},
    },
    scope::bump::LEAD,
    size::{self, BUMP_CLASS, CHUNK},
};
use core::sync::atomic::Ordering;

impl Owner {
    /// Takes a chunk for a scope. Returns the chunk and the start of its free bytes.
    pub(super) fn take_chunk(&self, scope: u64) -> Result<(ChunkRef, *mut u8), Reason> {
        if let Some(adopted) = self.adopt_tail(scope) {
            return Ok(adopted);
        }
        if self.keeping.keeps() && !held::may_pin() {
            return Err(Reason::Waste);
        }
        let chunk = ChunkRef::of(self.take_run(BUMP_CLASS, CHUNK, 0, true)?);
        let entry = chunk.entry();
        entry.touched.set(CHUNK);
        self.own_empty(entry, scope);
        Ok((chunk, chunk.start().wrapping_add(LEAD)))
    }

    /// Adopts the chunk that the last scope left with a free tail, if it is still pinned.
    fn adopt_tail(&self, scope: u64) -> Option<(ChunkRef, *mut u8)> {
        let chunk = self.cache.tail.take().filter(|chunk| self.adopt(*chunk, scope))?;
        // Read after the adoption: before it, the value may be an earlier owner's.
        let tail_start = chunk.entry().tail_start.get() as usize;
        invariant!((LEAD..=CHUNK).contains(&tail_start), "G8, the free tail of a pinned chunk");
        Some((chunk, chunk.start().wrapping_add(tail_start)))
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
            warm.into_iter().for_each(|run| self.give(run));
            return Err(Reason::Waste);
        }
        let run = warm.or_else(|| pool::take_empty(class));
        let Some(run) = run.filter(|run| run.recommit(bytes)) else {
            warm.into_iter().for_each(|run| self.give(run));
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
        if held::has_room(bytes, self.keeping.keeps()) {
            self.give(run);
            return None;
        }
        pool::trim_run(run, bytes);
        Some(run)
    }

    /// Whether the engine may hold this many more bytes. If so, counts them as held. `live` of them
    /// are about to be a block's.
    #[cold]
    pub(super) fn may_hold(&self, bytes: usize, live: usize) -> bool {
        let keeps = self.keeping.keeps();
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
}
