//! How scopes get chunks and give them back.

use super::{Entry, LEAD, OBSERVE_EVERY, Owner, Run, bump, listing::MEDIUM_ONLY};
use crate::{
    cache::USEFUL_TAIL,
    figures::{self, PINNED, Reason},
    memory, pool,
    run::{LARGE, RETIRED, UNLIMITED},
    size::{BUMPED, CHUNK},
};
use core::sync::atomic::Ordering;

/// Requests that a paused scope passes to the inner allocator before it asks for memory again.
const RETRY: u32 = 64;

/// How many of its chunks a scope examines for an empty one each time it needs another chunk.
const LOOKED_AT: usize = 4;

/// Converts a number of blocks to the type of a chunk's count.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the true sum is small (G3); on the way it may wrap"
)]
pub(super) fn signed(blocks: u64) -> i32 {
    blocks as i32
}

impl Owner {
    /// Takes a run of which the first `bytes` are about to be used. `live` of them are a block's;
    /// in a chunk, none are yet.
    pub(super) fn take_run(&self, class: usize, bytes: usize, live: usize) -> Result<Run, Reason> {
        if self.bytes.get().wrapping_sub(self.observed.get()) >= OBSERVE_EVERY {
            self.observe(live);
        }
        let warm = self.cache.take_warm(class);
        let held = warm.map_or(0, |run| run.entry().held.get());
        if held < bytes && !self.may_hold(bytes - held, live) {
            if let Some(run) = warm {
                self.cache.give(run, class);
            }
            return Err(Reason::Waste);
        }
        let Some(run) = warm.or_else(|| pool::take_empty(class)) else {
            memory::shrink(bytes - held);
            return Err(Reason::Exhausted);
        };
        if held < bytes {
            run.entry().held.set(bytes);
        } else if held - bytes >= CHUNK / 4 && class != BUMPED && memory::is_tight() {
            // The run's last block was larger. Nobody else could use the surplus.
            pool::trim_run(run, bytes);
        }
        Ok(run)
    }

    /// Whether so many bytes more may get memory. If so they are counted.
    #[cold]
    pub(super) fn may_hold(&self, bytes: usize, live: usize) -> bool {
        if memory::grow(bytes) {
            return true;
        }
        self.observe(live);
        if memory::grow(bytes) {
            return true;
        }
        // What lies in pools of other classes makes room.
        pool::trim(bytes + memory::excess());
        memory::grow(bytes)
    }

    /// Takes a chunk for a scope. Returns it, owned, with the start of its free bytes.
    #[inline]
    pub(super) fn take_chunk(&self, scope: u64) -> Result<(Run, *mut u8), Reason> {
        // P2: the persistent scope adopts nothing, but scopes nested in it do.
        if self.cache.has_tails() && scope != self.persistence.scope.get() {
            if let Some(adopted) = self.adopt_any(scope) {
                return Ok(adopted);
            }
        }
        let chunk = self.take_run(BUMPED, CHUNK, 0)?;
        let entry = chunk.entry();
        entry.touched.set(CHUNK);
        entry.is_sparse.set(false);
        self.own_empty(entry, scope);
        Ok((chunk, chunk.start().wrapping_add(LEAD)))
    }

    /// Starts to own a chunk without live blocks.
    #[inline]
    pub(super) fn own_empty(&self, entry: &Entry, scope: u64) {
        entry.count.own();
        entry.pinned.set(0);
        entry.tail.set(0);
        self.own(entry, scope);
    }

    /// Starts to own a chunk whose count is already that of an owned chunk.
    #[inline]
    pub(super) fn own(&self, entry: &Entry, scope: u64) {
        entry.local.set(0);
        entry.bumped.set(0);
        entry.older.set(0);
        entry.has_listed.set(false);
        // Relaxed, like every store to the two: see `Entry`.
        entry.scope.store(scope, Ordering::Relaxed);
        entry.owner.store(self.id.get(), Ordering::Relaxed);
    }

    /// Adopts a chunk for its free tail, if the cache knows one that is still pinned.
    #[cold]
    fn adopt_any(&self, scope: u64) -> Option<(Run, *mut u8)> {
        while let Some(chunk) = self.cache.take_tail() {
            let entry = chunk.entry();
            let Some(live) = entry.count.adopt() else { continue };
            PINNED.fetch_sub(1, Ordering::Relaxed);
            self.persistence.unpinned(entry);
            entry.pinned.set(live);
            self.own(entry, scope);
            // `tail` is read after the exchange: before it, the value may be an earlier owner's.
            return Some((chunk, chunk.start().wrapping_add(entry.tail.get() as usize)));
        }
        None
    }

    /// Makes a chunk the current one of the innermost scope.
    #[inline]
    pub(super) fn begin_chunk(&self, chunk: Run, top: *mut u8) {
        let chunk_end = chunk.start().addr() + CHUNK;
        self.current.set(Some(chunk));
        self.top.set(top);
        self.from.set(top.addr());
        self.mark.set(self.served.get());
        let Some(first) = self.first.get() else { return };
        let budget = &first.entry().record.budget;
        let limit = if budget.get() == UNLIMITED {
            chunk_end
        } else {
            let granted = budget.get().min(chunk_end - top.addr());
            budget.set(budget.get() - granted);
            top.addr() + granted
        };
        self.limit.set(limit);
        self.end.set(limit);
    }

    /// Adds the blocks and bytes bumped in the current chunk to the counts.
    #[inline]
    pub(super) fn flush(&self) {
        let Some(chunk) = self.current.get() else { return };
        let entry = chunk.entry();
        let bumped = signed(self.served.get().wrapping_sub(self.mark.get()));
        entry.local.set(entry.local.get().wrapping_add(bumped));
        entry.bumped.set(entry.bumped.get().wrapping_add(bumped));
        self.mark.set(self.served.get());
        if let Some(lists) = self.listed() {
            lists.live.set(lists.live.get() + i64::from(bumped));
            lists.bumped.set(lists.bumped.get() + i64::from(bumped));
        }
        let top = self.top.get().addr();
        // Negative if the bump pointer was rewound.
        bump(&self.bytes, top.wrapping_sub(self.from.get()) as u64);
        self.from.set(top);
    }

    /// Moves the innermost scope to another chunk, for a block that takes `needed` bytes with its
    /// padding.
    #[cold]
    pub(super) fn next_chunk(&self, needed: usize) -> Result<(), Reason> {
        let (Some(first), Some(current)) = (self.innermost(), self.current.get()) else {
            return Err(Reason::Exhausted);
        };
        self.promote();
        let record = &first.entry().record;
        let left = self.limit.get() - self.top.get().addr();
        let is_limited = record.budget.get() != UNLIMITED;
        if is_limited && record.budget.get() + left < needed {
            return Err(Reason::ByteLimit);
        }
        self.flush();
        if let Some(chunk) = self.take_empty_chunk(first, current) {
            if is_limited {
                record.budget.set(record.budget.get() + left);
            }
            self.begin_chunk(chunk, chunk.start().wrapping_add(LEAD));
            self.check();
            return Ok(());
        }
        let taken = match self.take_chunk(self.scope.get()) {
            Err(Reason::Waste) if self.sweep(first, current) => self.take_chunk(self.scope.get()),
            taken => taken,
        };
        if taken.is_err_and(|reason| reason == Reason::Waste) {
            self.pause();
        }
        let (chunk, top) = taken?;
        if is_limited {
            record.budget.set(record.budget.get() + left);
        }
        let moves = record.moves.get().saturating_add(1);
        record.moves.set(moves);
        if self.is_persistent(first) {
            self.persistent_grew(moves);
        } else {
            self.list_if_it_churns(current, moves);
        }
        chunk.set_next(Some(current));
        self.begin_chunk(chunk, top);
        self.check();
        Ok(())
    }

    /// Finds an empty chunk of the innermost scope and makes it the scope's newest. Its memory is
    /// still in the processor's caches, unlike that of a fresh chunk.
    fn take_empty_chunk(&self, first: Run, current: Run) -> Option<Run> {
        if self.is_reusable(current) {
            self.reuse(current);
            return Some(current);
        }
        let mut before = self.looked_at.get().unwrap_or(current);
        for _ in 0..LOOKED_AT {
            let Some(chunk) = before.next() else {
                self.looked_at.set(None);
                return None;
            };
            // The first chunk holds the scope's record and stays the last of the list.
            if chunk != first && self.is_reusable(chunk) {
                before.set_next(chunk.next());
                chunk.set_next(Some(current));
                self.looked_at.set(Some(before));
                self.reuse(chunk);
                return Some(chunk);
            }
            before = chunk;
        }
        self.looked_at.set(Some(before));
        None
    }

    /// Gives back the empty chunks of the innermost scope. Its free lists are cleared as well,
    /// because some listed blocks lie in those chunks. Returns false, and changes nothing, if there
    /// are no empty chunks.
    #[cold]
    fn sweep(&self, first: Run, current: Run) -> bool {
        let is_persistent = self.is_persistent(first);
        let adopted = if is_persistent { self.persistence.adopted.get() } else { None };
        let is_swept = |chunk: Run| chunk != first && self.is_empty(chunk);
        if !current.following().any(is_swept) && !Run::list(adopted).any(is_swept) {
            return false;
        }
        if let Some(lists) = self.listed() {
            lists.clear();
        }
        // These must not name a chunk that is given back.
        self.looked_at.set(None);
        self.persistence.probe.set(None);
        let give_up = |chunk: Run| {
            if let Some(lists) = self.listed() {
                // Frees by others were not subtracted yet.
                lists.live.set(lists.live.get() - i64::from(chunk.entry().local.get()));
            }
            if is_persistent {
                PINNED.fetch_sub(1, Ordering::Relaxed);
            }
            self.retire(chunk, CHUNK);
        };
        let moves = &first.entry().record.moves;
        current.entry().has_listed.set(false);
        let mut before = current;
        while let Some(chunk) = before.next() {
            chunk.entry().has_listed.set(false);
            if is_swept(chunk) {
                before.set_next(chunk.next());
                moves.set(moves.get().saturating_sub(1));
                give_up(chunk);
            } else {
                before = chunk;
            }
        }
        if is_persistent {
            self.persistence.adopted.set(None);
            let mut next = adopted;
            while let Some(chunk) = next {
                next = chunk.next();
                if is_swept(chunk) {
                    give_up(chunk);
                } else {
                    chunk.set_next(self.persistence.adopted.replace(Some(chunk)));
                }
            }
        }
        true
    }

    /// Whether a chunk of the innermost scope may be bumped again from its start.
    #[inline]
    fn is_reusable(&self, chunk: Run) -> bool {
        // G6: no block of it is in a list.
        self.is_empty(chunk)
            && self.list_floor.get() == MEDIUM_ONLY
            && !chunk.entry().has_listed.get()
    }

    /// Resets an empty chunk of the innermost scope to the state of a new one.
    fn reuse(&self, chunk: Run) {
        self.own_empty(chunk.entry(), self.scope.get());
    }

    /// Whether a chunk of this owner has no live block. Its count must be up to date. If so, nobody
    /// else can name the chunk.
    #[inline]
    pub(super) fn is_empty(&self, chunk: Run) -> bool {
        let entry = chunk.entry();
        entry.count.is_empty(entry.local.get())
    }

    /// Gives up ownership of a chunk when its scope ends. The first `tail` bytes of the chunk are
    /// in use or lost. Returns true if the chunk is pinned now.
    #[inline]
    pub(super) fn retire(&self, chunk: Run, tail: usize) -> bool {
        let entry = chunk.entry();
        if self.is_empty(chunk) {
            entry.scope.store(RETIRED, Ordering::Relaxed);
            entry.owner.store(RETIRED, Ordering::Relaxed);
            entry.count.clear();
            self.cache.give(chunk, BUMPED);
            return false;
        }
        self.settle(chunk, tail)
    }

    /// Retires a chunk that has live blocks. Other threads may free the last one at any moment.
    #[inline(never)]
    fn settle(&self, chunk: Run, tail: usize) -> bool {
        let entry = chunk.entry();
        let local = entry.local.replace(0);
        let pinned_before = entry.pinned.get();
        // If everything bumped since the adoption has been freed, the tail begins where it did
        // before (G9).
        let newer = local.wrapping_add(entry.older.get());
        let is_as_before = newer == 0 && entry.tail.get() > 0;
        #[allow(clippy::cast_possible_truncation, reason = "at most a chunk")]
        let tail = if is_as_before { entry.tail.get() } else { tail as u32 };
        entry.tail.set(tail);
        self.persistence.pinned(entry, newer);
        entry.scope.store(RETIRED, Ordering::Relaxed);
        entry.owner.store(RETIRED, Ordering::Relaxed);
        // Counted before `settle`, so that whoever frees the last block finds it counted. Both are
        // Relaxed, but `Count` orders them.
        PINNED.fetch_add(1, Ordering::Relaxed);
        let live = entry.count.settle(local);
        if live == 0 {
            PINNED.fetch_sub(1, Ordering::Relaxed);
            self.persistence.unpinned(entry);
            self.cache.give(chunk, BUMPED);
            return false;
        }
        // From here on the chunk has no owner (G2): its entry must not be accessed.
        // Escaped: blocks of the scope that neither its owner nor another thread has freed.
        bump(&self.escaped, u64::from(live.min(u32::try_from(newer).unwrap_or(0))));
        if let Some(counters) = self.counters.get() {
            figures::add(&counters.pinned, u64::from(pinned_before == 0));
        }
        if tail <= USEFUL_TAIL {
            self.cache.remember_tail(chunk);
        }
        true
    }

    /// Closes the innermost scope for the next requests, because it may not take more memory.
    fn pause(&self) {
        self.persistence.demand();
        self.retry.set(RETRY);
        self.end.set(0);
    }

    /// Called for each request to a paused scope; reopens it after [`RETRY`] of them. Returns true
    /// if the scope is open now.
    #[cold]
    pub(super) fn resume(&self) -> bool {
        let retry = self.retry.get();
        if retry == 0 || self.outside.get() > 0 {
            return false;
        }
        self.retry.set(retry - 1);
        if retry == 1 {
            self.end.set(self.limit.get());
        }
        retry == 1
    }

    /// Starts to own a run for a large block.
    pub(super) fn own_large(&self, run: Run) {
        let entry = run.entry();
        entry.scope.store(LARGE, Ordering::Relaxed);
        entry.owner.store(self.id.get(), Ordering::Relaxed);
        entry.record.large_scope.set(self.scope.get());
    }
}
