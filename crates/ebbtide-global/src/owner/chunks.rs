//! How scopes take chunks and give them back.

use super::{Entry, LEAD, Owner, Run, add, listing::MEDIUM_ONLY};
use crate::{
    cache::USEFUL_TAIL,
    figures::{self, Reason},
    lists::FreeLists,
    memory, pool,
    run::{LARGE_BLOCK, RETIRED, ScopeRecord, UNLIMITED, offset_in_chunk},
    size::{BUMP_CLASS, CHUNK},
};
use core::{cell::Cell, sync::atomic::Ordering};

/// The number of requests that a paused scope leaves to the inner allocator before it asks for
/// memory again.
const RETRY: u32 = 64;

/// The number of chunks that a scope examines for an empty one each time that it needs a chunk.
const SEARCH_LIMIT: usize = 4;

/// The most memory beyond its needs that a large block takes where memory is short.
const MAX_SURPLUS: usize = CHUNK / 4;

/// Where the stages of a chunk end before the last one, in bytes from its start. The first stages
/// of two chunks fit into a first-level cache.
const STAGES: [usize; 2] = [CHUNK / 8, CHUNK / 2];

/// Converts a number of blocks to the type of a chunk's count.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the true sum is small (G3); on the way it may wrap"
)]
pub(super) fn signed(blocks: u64) -> i32 {
    blocks as i32
}

/// The number of live blocks of a chunk that were bumped since its adoption (G9), as far as its
/// owner knows: frees by others are not subtracted. Its count must be up to date.
fn newer_live(entry: &Entry) -> i32 {
    entry.local.get().wrapping_add(entry.older_freed.get())
}

/// The end of the stage of a chunk that an address lies in.
fn stage_end(chunk: Run, address: usize) -> usize {
    let start = chunk.start().addr();
    let end = STAGES.into_iter().find(|&end| address < start + end);
    start + end.unwrap_or(CHUNK)
}

impl Owner {
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
        if held < bytes && !self.may_hold(bytes - held, live) {
            if let Some(run) = warm {
                self.cache.give(run, run.class());
            }
            return Err(Reason::Waste);
        }
        if held >= bytes {
            return warm.ok_or(Reason::Exhausted);
        }
        let run = warm.or_else(|| pool::take_empty(class));
        let Some(run) = run.filter(|run| run.recommit(bytes)) else {
            if let Some(run) = warm {
                self.cache.give(run, run.class());
            }
            memory::shrink(bytes - held);
            self.publish_served();
            return Err(Reason::Exhausted);
        };
        run.entry().held.set(bytes);
        Ok(run)
    }

    /// Takes a run with memory behind it. If memory is short, takes the run of a large block that
    /// fits best. If that holds much more than is needed, it is left for a larger block if the
    /// bound allows a new run, and is trimmed otherwise. A block that `may_exceed` its needs takes
    /// any run as it is.
    fn take_warm(&self, class: usize, bytes: usize, may_exceed: bool) -> Option<Run> {
        if may_exceed || !memory::is_tight() {
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
        if memory::has_room(bytes) {
            self.cache.give(run, run.class());
            return None;
        }
        pool::trim_run(run, bytes);
        Some(run)
    }

    /// Whether the engine may hold this many more bytes. If so, counts them as held. `live` of them
    /// are about to be a block's.
    #[cold]
    pub(super) fn may_hold(&self, bytes: usize, live: usize) -> bool {
        if memory::grow(bytes) {
            return true;
        }
        self.observe(live);
        if memory::grow(bytes) {
            return true;
        }
        // Memory is refused only if the pools and this owner's cache do not hold it. In that case
        // they keep what they have.
        let lacking = memory::lacking(bytes);
        let has_enough = pool::pooled() + self.cache.held() >= lacking;
        let is_allowed = has_enough && {
            if pool::pooled() < lacking {
                self.cache.release_runs();
            }
            pool::trim(lacking);
            memory::grow(bytes)
        };
        if !is_allowed {
            // The bytes that were published will not be served.
            self.publish_served();
        }
        is_allowed
    }

    /// Takes a chunk for a scope. Returns the chunk and the start of its free bytes.
    #[inline]
    pub(super) fn take_chunk(&self, scope: u64) -> Result<(Run, *mut u8), Reason> {
        // P2: the persistent scope adopts nothing, but scopes nested in it do.
        if self.cache.has_tails() && scope != self.persistence.scope.get() {
            if let Some(adopted) = self.adopt_any(scope) {
                return Ok(adopted);
            }
        }
        let chunk = self.take_run(BUMP_CLASS, CHUNK, 0, true)?;
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
        // Relaxed, like every store to these two fields: see `Entry`.
        entry.scope.store(scope, Ordering::Relaxed);
        entry.owner.store(self.id.get(), Ordering::Relaxed);
    }

    /// Adopts a chunk for its free tail, if the cache has one that is still pinned.
    #[cold]
    fn adopt_any(&self, scope: u64) -> Option<(Run, *mut u8)> {
        while let Some(chunk) = self.cache.take_tail() {
            let entry = chunk.entry();
            let Some(live) = entry.count.adopt() else { continue };
            entry.count_unpinned();
            self.persistence.record_unpinned(entry);
            entry.adopted_live.set(live);
            self.own(entry, scope);
            // `tail_start` is read after the exchange: before it, the value may be an earlier
            // owner's.
            return Some((chunk, chunk.start().wrapping_add(entry.tail_start.get() as usize)));
        }
        None
    }

    /// Makes a chunk the current one of the innermost scope. Its stage has room for `needed` bytes,
    /// if the chunk has.
    #[inline]
    pub(super) fn begin_chunk(&self, chunk: Run, top: *mut u8, needed: usize) {
        let chunk_end = chunk.start().addr() + CHUNK;
        self.current_chunk.set(Some(chunk));
        self.top.set(top);
        self.flushed_top.set(top.addr());
        self.flushed_blocks.set(self.bumped_blocks.get());
        let Some(first_chunk) = self.first_chunk.get() else { return };
        let allowance = &first_chunk.entry().record.allowance;
        let limit = if allowance.get() == UNLIMITED {
            let takes_turns = self.partner(chunk).is_some();
            if takes_turns { stage_end(chunk, top.addr() + needed) } else { chunk_end }
        } else {
            let granted = allowance.get().min(chunk_end - top.addr());
            allowance.set(allowance.get() - granted);
            top.addr() + granted
        };
        self.limit.set(limit);
        self.open_limit.set(limit);
    }

    /// Adds the blocks and bytes bumped in the current chunk to the counts.
    #[inline]
    pub(super) fn flush(&self) {
        let Some(chunk) = self.current_chunk.get() else { return };
        let entry = chunk.entry();
        let blocks = self.bumped_blocks.get().wrapping_sub(self.flushed_blocks.get());
        // Truncated to 32 bits: the frees were subtracted already, and the true sum is small (G3).
        entry.local.set(entry.local.get().wrapping_add(signed(blocks)));
        // Not truncated below, because a scope that rewinds may bump more than 2^31 blocks in one
        // chunk.
        let bumped_before = i64::from(entry.bumped.get());
        let bumped = i32::try_from(bumped_before + blocks as i64).unwrap_or(i32::MAX);
        entry.bumped.set(bumped);
        self.flushed_blocks.set(self.bumped_blocks.get());
        if let Some(lists) = self.existing_lists() {
            lists.live.set(lists.live.get() + blocks as i64);
            lists.bumped.set(lists.bumped.get() + i64::from(bumped) - bumped_before);
        }
        let top = self.top.get().addr();
        // Negative if the bump pointer was rewound.
        add(&self.bytes, top.wrapping_sub(self.flushed_top.get()) as u64);
        self.flushed_top.set(top);
    }

    /// Moves the innermost scope to another chunk, for a block that takes `needed` bytes with its
    /// padding.
    #[cold]
    pub(super) fn next_chunk(&self, needed: usize) -> Result<(), Reason> {
        let (Some(first_chunk), Some(current)) = (self.innermost(), self.current_chunk.get())
        else {
            return Err(Reason::Exhausted);
        };
        self.promote();
        let record = &first_chunk.entry().record;
        let left = self.limit.get() - self.top.get().addr();
        let is_limited = record.allowance.get() != UNLIMITED;
        if is_limited && record.allowance.get() + left < needed {
            return Err(Reason::ByteLimit);
        }
        self.flush();
        if !is_limited && self.take_turns(current, needed) {
            self.check();
            return Ok(());
        }
        if let Some(chunk) = self.take_empty_chunk(current) {
            if is_limited {
                record.allowance.set(record.allowance.get() + left);
            }
            self.begin_chunk(chunk, chunk.start().wrapping_add(LEAD), needed);
            self.check();
            return Ok(());
        }
        if self.existing_lists().is_some_and(|lists| self.is_mostly_empty(lists, record, current)) {
            // The chunks that a persistent scope adopted were not counted. There may be very many.
            self.sweep(first_chunk, current, None);
        }
        let taken = match self.take_chunk(self.scope.get()) {
            Err(Reason::Waste) if self.sweep_if_due(first_chunk, current, memory::window()) => {
                self.take_chunk(self.scope.get())
            }
            taken => taken,
        };
        if taken.is_err_and(|reason| reason == Reason::Waste) {
            self.pause();
        }
        let (chunk, top) = taken?;
        if is_limited {
            record.allowance.set(record.allowance.get() + left);
        }
        let added_chunks = record.added_chunks.get().saturating_add(1);
        record.added_chunks.set(added_chunks);
        if self.is_persistent(first_chunk) {
            self.persistent_grew(chunk, added_chunks);
        } else {
            self.list_if_it_churns(current, added_chunks);
        }
        chunk.set_next(Some(current));
        self.begin_chunk(chunk, top, needed);
        self.check();
        Ok(())
    }

    /// The chunk that takes turns with the current one: the one behind it in the scope's list.
    /// `None` if the scope lists small blocks, because it bumps no chunk again.
    #[inline]
    fn partner(&self, current: Run) -> Option<Run> {
        current.next().filter(|_| self.list_floor.get() == MEDIUM_ONLY)
    }

    /// At the end of a stage, makes the partner the current chunk if it is empty. So a scope that
    /// frees what it allocates bumps in the first stages of two chunks, which stay in the
    /// first-level cache. Otherwise the next stage of the current chunk begins; after the last one,
    /// the partner continues where it stopped. Returns false if neither chunk has room.
    ///
    /// A chunk that is bumped from its start gets a stage with room for `needed` bytes. Otherwise,
    /// for a block as large as the first stage, two empty chunks would alternate for ever.
    fn take_turns(&self, current: Run, needed: usize) -> bool {
        let (start, limit) = (current.start().addr(), self.limit.get());
        let is_full = limit == start + CHUNK;
        let parked = self.parked.get();
        if is_full && parked == 0 {
            return false;
        }
        let empty = self.partner(current).filter(|&partner| self.is_reusable(partner));
        let (partner, top) = match (empty, current.next()) {
            (Some(partner), _) => {
                self.reuse(partner);
                (partner, partner.start().wrapping_add(LEAD))
            }
            (None, Some(partner)) if is_full => {
                (partner, partner.start().wrapping_add(parked as usize))
            }
            _ => {
                self.limit.set(stage_end(current, limit));
                self.open_limit.set(self.limit.get());
                return true;
            }
        };
        current.set_next(partner.next());
        partner.set_next(Some(current));
        self.parked.set(if is_full { 0 } else { offset_in_chunk(self.top.get()) });
        self.begin_chunk(partner, top, needed);
        true
    }

    /// Finds an empty chunk of the innermost scope and makes it the scope's newest. Its memory is
    /// still in the processor's caches, unlike that of a fresh chunk.
    fn take_empty_chunk(&self, current: Run) -> Option<Run> {
        if self.is_reusable(current) {
            self.reuse(current);
            return Some(current);
        }
        let mut before = self.search_position.get().unwrap_or(current);
        for _ in 0..SEARCH_LIMIT {
            let Some(chunk) = before.next() else {
                self.search_position.set(None);
                return None;
            };
            if self.is_reusable(chunk) {
                before.set_next(chunk.next());
                chunk.set_next(Some(current));
                self.search_position.set(Some(before));
                self.reuse(chunk);
                return Some(chunk);
            }
            before = chunk;
        }
        self.search_position.set(Some(before));
        None
    }

    /// Whether about three quarters of the innermost scope's chunks are empty. The scope has free
    /// lists, and does not reuse chunks whose blocks may be listed. If the sizes of blocks change
    /// over time, the lists serve few requests, and the scope would take one fresh chunk after
    /// another. The chunks are counted again only after their number has grown by a quarter.
    fn is_mostly_empty(&self, lists: &FreeLists, record: &ScopeRecord, current: Run) -> bool {
        let added = record.added_chunks.get();
        if added < lists.count_at.get() {
            return false;
        }
        let is_used = |chunk| u32::from(!self.is_empty(chunk));
        let used: u32 = Run::list(Some(current)).map(is_used).sum();
        let is_mostly_empty = used < added / 4;
        let left = if is_mostly_empty { used } else { added };
        lists.count_at.set(left + (left / 4).max(4));
        is_mostly_empty
    }

    /// The chunks that the scope of this first chunk has adopted as a whole, if it is persistent.
    fn adopted_by(&self, first_chunk: Run) -> Option<Run> {
        if self.is_persistent(first_chunk) { self.persistence.adopted.get() } else { None }
    }

    /// Gives back the empty chunks of the innermost scope but its first and its current one, as
    /// [`sweep`](Owner::sweep) does.
    pub(super) fn sweep_innermost(&self) {
        if let (Some(first_chunk), Some(current)) = (self.innermost(), self.current_chunk.get()) {
            self.sweep(first_chunk, current, self.adopted_by(first_chunk));
        }
    }

    /// [Sweeps](Owner::sweep) the innermost scope, because it was refused a chunk. Before the next
    /// sweep, as many requests must be refused as the scope has chunks left, or the next window
    /// must begin. So the sweeps take constant time for each request, however many chunks there
    /// are.
    fn sweep_if_due(&self, first_chunk: Run, current: Run, window: u64) -> bool {
        let pauses = &first_chunk.entry().record.pauses_until_sweep;
        if pauses.get() > 0 && self.swept_in.get() == window {
            pauses.set(pauses.get() - 1);
            return false;
        }
        self.swept_in.set(window);
        let has_swept = self.sweep(first_chunk, current, self.adopted_by(first_chunk));
        let left = current.following().chain(Run::list(self.adopted_by(first_chunk))).count();
        pauses.set(u16::try_from(left / RETRY as usize).unwrap_or(u16::MAX));
        has_swept
    }

    /// Like [`sweep_if_due`](Owner::sweep_if_due), because the scope was refused a large block.
    pub(super) fn sweep_for_large(&self) -> bool {
        // A parked chunk may be empty, but continues where it stopped (G5).
        if self.parked.get() > 0 {
            return false;
        }
        let (Some(first_chunk), Some(current)) = (self.innermost(), self.current_chunk.get())
        else {
            return false;
        };
        self.promote();
        self.sweep_if_due(first_chunk, current, memory::window())
    }

    /// Gives back the empty chunks of the innermost scope, `adopted` among them, and clears its
    /// free lists, because listed blocks may lie in those chunks. Returns false, and changes
    /// nothing, if there are none. No chunk may be parked, since it could be one of them (G5): a
    /// chunk that is full continues in the parked one first, and a persistent scope parks none,
    /// because it lists small blocks from its beginning.
    #[cold]
    fn sweep(&self, first_chunk: Run, current: Run, adopted: Option<Run>) -> bool {
        debug_assert_eq!(self.parked.get(), 0);
        let is_persistent = self.is_persistent(first_chunk);
        let is_swept = |chunk: Run| chunk != first_chunk && self.is_empty(chunk);
        if !current.following().any(is_swept) && !Run::list(adopted).any(is_swept) {
            return false;
        }
        if let Some(lists) = self.existing_lists() {
            lists.clear();
        }
        // It may be a chunk that is given back.
        self.search_position.set(None);
        // Given back together, because neighbours then take fewer calls of the system.
        let given_up = Cell::new(None);
        let give_up = |chunk: Run| {
            if is_persistent {
                if let Some(lists) = self.existing_lists() {
                    let bumped = i64::from(chunk.entry().bumped.get());
                    lists.bumped.set(lists.bumped.get() - bumped);
                }
                chunk.entry().count_unpinned();
                Owner::refuse_returns(chunk);
            }
            Owner::disown_empty(chunk);
            chunk.set_next(given_up.replace(Some(chunk)));
        };
        let added_chunks = &first_chunk.entry().record.added_chunks;
        current.entry().has_listed.set(false);
        let mut before = current;
        while let Some(chunk) = before.next() {
            chunk.entry().has_listed.set(false);
            if is_swept(chunk) {
                before.set_next(chunk.next());
                added_chunks.set(added_chunks.get().saturating_sub(1));
                give_up(chunk);
            } else {
                before = chunk;
            }
        }
        if adopted.is_some() {
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
        self.cache.give_all(given_up.get(), BUMP_CLASS);
        if is_persistent {
            // Other threads have freed blocks of the empty chunks.
            self.recount();
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

    /// Gives up ownership of a chunk of a scope that ends. Its free tail begins at `tail_start`.
    /// Returns true if the chunk is pinned now.
    #[inline]
    pub(super) fn retire(&self, chunk: Run, tail_start: usize) -> bool {
        if self.is_empty(chunk) {
            Owner::disown_empty(chunk);
            self.cache.give(chunk, BUMP_CLASS);
            return false;
        }
        self.settle(chunk, tail_start)
    }

    /// Gives up ownership of an empty chunk of a scope. The caller puts it into the cache or a
    /// pool.
    #[inline]
    pub(super) fn disown_empty(chunk: Run) {
        let entry = chunk.entry();
        entry.scope.store(RETIRED, Ordering::Relaxed);
        entry.owner.store(RETIRED, Ordering::Relaxed);
        entry.count.clear();
    }

    /// Names the label for which a chunk of the innermost scope is counted if it is pinned: that of
    /// the scope, or of the next one around it that has a label. If no block bumped since the
    /// chunk's adoption is alive, it keeps the label that it has.
    pub(super) fn label_pinned(&self, entry: &Entry) {
        if newer_live(entry) == 0 {
            return;
        }
        let mut scope = self.innermost();
        let mut label = None;
        while let (Some(first_chunk), None) = (scope, label) {
            let record = &first_chunk.entry().record;
            label = record.counted.get().label;
            scope = record.outer.get();
        }
        entry.set_label(label);
    }

    /// Retires a chunk that has live blocks. Other threads may free the last one at any moment.
    #[inline(never)]
    pub(super) fn settle(&self, chunk: Run, tail_start: usize) -> bool {
        let entry = chunk.entry();
        let newer = newer_live(entry);
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
        let live = entry.count.settle(local);
        if live == 0 {
            entry.count_unpinned();
            self.persistence.record_unpinned(entry);
            self.cache.give(chunk, BUMP_CLASS);
            return false;
        }
        // From here on the chunk has no owner (G2): its entry must not be accessed. The blocks of
        // this scope that escaped are those that no thread has freed yet.
        add(&self.escaped, u64::from(live.min(u32::try_from(newer).unwrap_or(0))));
        if let Some(counters) = self.counters.get() {
            figures::add(&counters.pinned, u64::from(pinned_before == 0));
        }
        if tail_start <= USEFUL_TAIL {
            self.cache.remember_tail(chunk);
        }
        true
    }

    /// Closes the innermost scope for the next [`RETRY`] requests, because the memory bound does
    /// not allow it another chunk. Meanwhile it can serve only listed blocks, so from now on it
    /// lists blocks of every size.
    fn pause(&self) {
        if self.list_floor.get() == MEDIUM_ONLY {
            self.begin_listing();
        }
        let refused = self.refused_while_paused.take();
        let served = self.bytes.get().wrapping_sub(self.bytes_at_pause.replace(self.bytes.get()));
        let bytes = |count| usize::try_from(count).unwrap_or(usize::MAX);
        memory::refused(bytes(refused), bytes(served));
        self.persistence.demand();
        self.retry_after.set(RETRY);
        self.open_limit.set(0);
    }

    /// Called for each request for which a paused scope has no listed block. Reopens the scope
    /// after [`RETRY`] of them. Returns true if the scope is open now.
    #[cold]
    pub(super) fn resume_paused(&self) -> bool {
        let retry = self.retry_after.get();
        if retry == 0 || self.outside_depth.get() > 0 {
            return false;
        }
        self.retry_after.set(retry - 1);
        if retry == 1 {
            self.open_limit.set(self.limit.get());
        }
        retry == 1
    }

    /// Starts to own a run for a large block.
    pub(super) fn own_large(&self, run: Run) {
        let entry = run.entry();
        entry.scope.store(LARGE_BLOCK, Ordering::Relaxed);
        entry.owner.store(self.id.get(), Ordering::Relaxed);
        entry.record.large_scope.set(self.scope.get());
    }
}

#[cfg(all(test, target_pointer_width = "64", not(miri)))]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
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

    /// Makes the innermost scope persistent. Returns its first chunk.
    fn persist(owner: &Owner) -> Run {
        let first_chunk = owner.innermost().expect("a scope is open");
        assert!(owner.persist(first_chunk).is_some());
        first_chunk
    }

    #[test]
    fn a_scope_counts_more_blocks_in_one_chunk_than_32_bits_hold() {
        with_owner(|owner| {
            let first_chunk = persist(owner);
            let blocks = fill(owner, 0).len() as i64;
            let lists = owner.existing_lists().expect("a persistent scope has lists");
            // As if so many blocks had been bumped and rewound.
            for rewound in [1 << 31, (1 << 32) - 1, 5 << 32] {
                add(&owner.bumped_blocks, rewound);
                lists.live.set(lists.live.get() - rewound as i64);
                let local = &first_chunk.entry().local;
                local.set(local.get().wrapping_sub(signed(rewound)));
                owner.flush();
                assert_eq!((lists.live.get(), local.get()), (blocks, 0));
                assert_eq!(first_chunk.entry().bumped.get(), i32::MAX);
                assert_eq!(lists.bumped.get(), i64::from(i32::MAX));
            }
        });
    }

    #[test]
    fn what_a_scope_has_bumped_falls_with_the_chunks_that_it_gives_back() {
        with_owner(|owner| {
            persist(owner);
            let lists = owner.existing_lists().expect("a persistent scope has lists");
            for _ in 0..5 {
                free_all(owner, &fill(owner, 8));
                owner.flush();
                owner.sweep_innermost();
                let chunks = || Run::list(owner.current_chunk.get());
                assert!(chunks().count() <= 2, "only the first and the current one are left");
                let bumped: i64 = chunks().map(|chunk| i64::from(chunk.entry().bumped.get())).sum();
                assert_eq!(lists.bumped.get(), bumped);
            }
        });
    }

    #[test]
    fn a_scope_that_is_refused_chunks_looks_for_empty_ones_once_per_chunk_that_it_has() {
        with_owner(|owner| {
            let first_chunk = owner.innermost().expect("a scope is open");
            let sweep = |window| {
                let current = owner.current_chunk.get().expect("a scope has a current chunk");
                owner.sweep_if_due(first_chunk, current, window)
            };
            let pauses = &first_chunk.entry().record.pauses_until_sweep;
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
