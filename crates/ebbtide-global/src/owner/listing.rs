//! Free lists of scopes: when a scope puts freed blocks into them, and where they are stored.
//!
//! Every scope lists freed medium blocks. It lists small blocks, too, after
//! [`begin_listing`](Owner::begin_listing): if it persists (`owner/persistent`), if it is long and
//! *churns*, which means that a quarter of its blocks has been freed (here), if the memory bound
//! refuses it a chunk (`owner/chunks`), or if it may persist and memory is short or the pinned
//! chunks are mostly free (`owner/chunks`, `owner/scopes`). In other scopes, bumping is faster than
//! searching for a freed block. `owner/ebb` ends listing.
//!
//! Besides these, `owner/alloc` and `scoped` call it to serve listed blocks. It writes the lists,
//! and `local` of the chunk of a block that it serves.

use super::Owner;
use crate::{
    memory::{
        held,
        lists::FreeLists,
        pool,
        run::{self, ChunkRef, Flushed, ScopeRef},
    },
    scope::mode::Mode,
    size::{self, BUMP_CLASS, CHUNK, SMALL},
};
use core::{iter::successors, ptr::NonNull};

/// A scope that has taken this many chunks besides its first is long: it lists small blocks once a
/// quarter of its blocks has been freed. A shorter scope fits into the second-level cache, where
/// bumping is faster than searching for a freed block (docs/decisions/0015-when-to-list.md). Lower
/// in debug builds, so that tests reach it.
const LONG_SCOPE_CHUNKS: u32 = if cfg!(debug_assertions) { 2 } else { 32 };

/// The number of nested scopes of an owner that can have lists. The lists lie in the upper half of
/// one chunk, so that a program that writes a little past a block in the chunk below does not
/// overwrite them.
const LISTED_DEPTH: usize = CHUNK / 2 / size_of::<FreeLists>();

impl Owner {
    /// The innermost scope's lists, created on first use. `None` if the scope is nested too deeply
    /// or there is no memory.
    pub(super) fn ensure_lists(&self) -> Option<&FreeLists> {
        if self.innermost.lists().is_none() {
            self.make_lists();
        }
        self.innermost.lists()
    }

    #[cold]
    fn make_lists(&self) {
        let Some(scope) = self.scope() else { return };
        let place = successors(scope.outer(), |outer| outer.outer()).take(LISTED_DEPTH).count();
        if place == LISTED_DEPTH {
            return;
        }
        self.promote();
        if self.lists_chunk.get().is_none() {
            self.lists_chunk.set(self.take_lists_chunk());
        }
        let Some(chunk) = self.lists_chunk.get() else { return };
        chunk.entry().touched.set(CHUNK);
        let offset = CHUNK / 2 + place * size_of::<FreeLists>();
        let lists = NonNull::new(chunk.start().wrapping_add(offset).cast::<FreeLists>());
        let Some(lists) = lists else { return };
        // SAFETY: the place lies in a chunk that holds only lists. No other scope uses it, because
        // each depth has its own and the persistent scope is the outermost (P1). All-zero bytes are
        // valid lists.
        unsafe { lists.write_bytes(0, 1) };
        // SAFETY: the same place.
        unsafe { self.innermost.set_lists(lists) };
    }

    /// Takes a chunk for lists. The memory bound does not apply to it, because a scope needs lists
    /// most when it is refused other chunks. The promise has room for one such chunk per thread.
    fn take_lists_chunk(&self) -> Option<ChunkRef> {
        let run = self.take_run(BUMP_CLASS, CHUNK, 0, true).ok().or_else(|| {
            let run = pool::take_empty(BUMP_CLASS)?;
            held::hold(CHUNK);
            run.entry().held.set(CHUNK);
            Some(run)
        });
        run.map(ChunkRef::of)
    }

    /// Makes the innermost scope list blocks of every size from now on. Returns false if it cannot
    /// have lists.
    pub(super) fn begin_listing(&self) -> bool {
        if self.bump.lists_small() {
            return true;
        }
        if self.ensure_lists().is_none() {
            return false;
        }
        self.set_mode(Mode { lists_all: true, ..self.innermost.mode() });
        self.count_live_blocks();
        true
    }

    /// Starts to list small blocks if the innermost scope, which has just taken another chunk, is long
    /// and churns, but has not ebbed.
    pub(super) fn list_if_it_churns(&self, scope: ScopeRef, newest: ChunkRef, flushed: Flushed) {
        let added_chunks = scope.record().added_chunks.get();
        let left = self.innermost.lists().map_or(0, |lists| lists.left_chunks.get());
        if added_chunks >= left + LONG_SCOPE_CHUNKS
            && churns(newest, is_counted_at(added_chunks))
            && self.ensure_lists().is_some()
            && !self.sweep_at_ebb(flushed)
        {
            self.begin_listing();
        }
    }

    /// Serves a small block from the innermost scope's lists, if it begins `PHASE` bytes above a
    /// multiple of `align`. `None` if the scope does not list small blocks or has none of this size:
    /// [`alloc_slow`](Owner::alloc_slow) serves the request.
    #[inline(always)]
    pub(crate) fn alloc_listed<const PHASE: usize>(
        &self,
        size: usize,
        align: usize,
    ) -> Option<*mut u8> {
        if !self.bump.serves_listed() || size > SMALL {
            return None;
        }
        self.pop::<PHASE>(size::round_small(size), size::small_list(size), align)
    }

    /// Takes the most recently freed block of exactly this size, if it begins `PHASE` bytes above a
    /// multiple of `align`.
    #[inline(always)]
    pub(super) fn pop<const PHASE: usize>(
        &self,
        rounded: usize,
        list: usize,
        align: usize,
    ) -> Option<*mut u8> {
        let lists = self.innermost.lists()?;
        // SAFETY: listed blocks stay free until they are popped (G6).
        let block = unsafe { lists.pop::<PHASE>(list, align) }?;
        // SAFETY: the block was popped from a list, so it lies in a chunk of the scope (G6).
        let place = unsafe { run::place_of(block) };
        // The chunk is this scope's, so its count is this owner's.
        invariant!(place.entry().scope_id() == self.bump.scope_id(), "G6, popped");
        let local = &place.entry().local;
        local.set(local.get().wrapping_add(1));
        lists.count_live(1);
        self.ledger.count_unbumped(rounded);
        Some(block)
    }
}

/// Whether all chunks of a long scope are counted when it has added this many. Between two counts,
/// their number grows by at most a quarter, so that each chunk is counted only a few times.
fn is_counted_at(added_chunks: u32) -> bool {
    let eighth_of_next_power = 1 << added_chunks.ilog2().saturating_sub(2);
    added_chunks % eighth_of_next_power == 0
}

/// Whether a quarter of the blocks that a scope bumped has been freed: in its newest chunk or, if
/// `all` is true, in all of its chunks. All chunks matter for a queue, whose blocks are freed long
/// after the scope has left their chunk.
fn churns(newest: ChunkRef, all: bool) -> bool {
    let (mut live, mut bumped) = (0, 0);
    for chunk in ChunkRef::list(Some(newest)).take(if all { usize::MAX } else { 1 }) {
        live += i64::from(chunk.entry().local.get());
        bumped += i64::from(chunk.entry().bumped.get());
    }
    live * 4 < bumped * 3
}
