//! Owners: who opens scopes and allocates in them.
//!
//! # The idea
//!
//! An [`Owner`] has a stack of scopes, each with chunks of its own. Blocks of the innermost scope
//! are bumped off its current chunk. Every chunk counts its live blocks. A scope that ends gives
//! back the chunks in which nothing lives. The others stay as long as something in them lives, and
//! whoever frees the last block puts the chunk into the shared pool. So nothing that a scope's end
//! does, or fails to do, can make a live block invalid: scopes are hints about where to allocate,
//! and counts decide when memory is used again.
//!
//! # Who calls whom
//!
//! ```text
//! alloc          (alloc.rs)                          of any owner; null: "not served"
//!   ├─ small, aligned to the granule, fits ─► top = end                      the fast path
//!   └─ else ─┬─ small, aligned to more, fits ─► top = end
//!            └─ else ─┬─ small, and the scope lists small blocks ─► pop
//!                     └─ else ─► alloc_slow ─┬─ a free list has one ─► pop
//!                                            ├─ it fits, or fits another chunk ─► next_chunk ─► take_chunk
//!                                            └─ large ─► alloc_large ─► take_run
//! take_chunk     (chunks.rs)
//!   ├─ a pinned chunk with a free tail is known ─► adopt
//!   └─ else ─► take_run ─┬─ with memory behind it ─► cache, pool
//!                        └─ without ─► memory::grow ─► pool, range          the bound is asked here
//! resize         (resize.rs)
//!   ├─ small, the chunk's last block, and there is room ─► top = end         the fast path
//!   └─ else ─► resize ─┬─ the innermost scope's ─► in place, or alloc, copy, free
//!                      ├─ large ─► its headroom, or as above
//!                      └─ another scope's ─► stays where it shrinks; else the caller moves it
//! free           (free.rs)
//!   ├─ the innermost scope's, small ─► count; the last block: top = block    the fast path
//!   ├─ the same, and it is listed ─► free_listed, free_medium
//!   └─ else ─► free_elsewhere ─┬─ from before the chunk was adopted ─► free_older
//!                              └─ else ─► free_other ─┬─ an outer scope's ─► count
//!                                                     ├─ the persistent scope's ─► list
//!                                                     ├─ large ─► into a pool
//!                                                     └─ another owner's, or nobody's ─► Count::free ─► the last one recycles
//! enter, leave   (scopes.rs)
//!   enter_fast, leave_fast: the outermost scope, in the cached chunk, that leaves nothing behind  the fast path
//!   enter ─┬─ the owner's scopes do not pay (payoff.rs) ─► none; the inner allocator serves
//!          ├─ a persistent scope is suspended ─► resume_persistent
//!          └─ else ─► take a chunk, save the outer scope in its record ─► persist, where scopes keep little of much
//!   leave ─► close ─┬─ the persistent scope ─► suspend_persistent
//!                   └─ else ─► retire every chunk, restore the outer scope
//! ```
//!
//! An outermost scope may *persist*: it is suspended where it would end, and the next outermost one
//! continues it. The module `persistent` has the argument.
//!
//! # Invariants
//!
//! - **G1** A block belongs to the run of chunks that its address lies in. A [`Run`] names a run
//!   that the frontier has passed. Its entry stays committed for ever, and its memory while it is
//!   in no shared pool.
//! - **G2** A run has at most one of these at a time: an owner (its entry names it), a place in one
//!   pool, or, retired and pinned, nobody. Only the owner touches the plain fields of its entry and
//!   bumps its memory. It passes on by `Count`: settled by its owner, then taken by the exchange of
//!   an adopter or by whoever frees the last block; or through a pool. Each release is acquired by
//!   the next owner.
//! - **G3** For a chunk with an owner, `count - BIAS + local` is the number of its live blocks,
//!   where `local` gains `served - mark` as long as it is current. For a retired one it is `count`.
//!   Every block that is served adds one, every block that is freed takes one, and resizing in
//!   place changes nothing.
//! - **G4** A byte is served again only when its block was freed by the chunk's owner while it
//!   owned it (rewound, or through a list), or when no block of its chunk is alive and none is in a
//!   list.
//! - **G5** `top..limit` is free and lies in the innermost scope's current chunk; `end` is `limit`,
//!   or 0 while the scope is closed. `top` is a multiple of the granule, and at least [`LEAD`]
//!   above that chunk's start. So no block of another run ends at `top`: the end of a block equals
//!   `top` only if both lie in the current chunk.
//! - **G6** The blocks in a scope's lists were freed by its owner, lie in chunks of that very
//!   scope, and above no chunk's top. Its chunks stay its own until it ends, and its lists end with
//!   it. A chunk that is bumped again from its start has no listed block.
//! - **G7** A large block is the only one of its run, and nobody counts it: it is alive exactly
//!   while the run is in no pool. Whoever frees it has the run.
//! - **G8** IDs of owners and scopes are never used twice, so an entry's ID identifies its owner
//!   and its scope.
//! - **G9** Of a chunk with an owner, `tail` is where the blocks begin that were bumped since it
//!   was adopted; 0 if it was not. `older` counts the blocks below that its owner freed. So where
//!   `local + older` is 0, every block above `tail` was freed, whatever became of those below;
//!   frees of others can only make the sum larger. No block from before the adoption begins at or
//!   behind `from`.
//!
//! P1 to P4, in the module `persistent`, are about persistent scopes.
//!
//! Nothing is assumed about the calls of [`leave`](Owner::leave): one that never comes, comes twice
//! or in another order costs memory and no more. `Owner::check` asserts what a program can see of
//! the invariants after every slow operation of a debug build.

use crate::{
    cache::Cache,
    figures::{self, Counters, Reason},
    lists::FreeLists,
    memory, os,
    payoff::Payoff,
    persistence::Persistence,
    pool,
    range::{self, Readiness},
    run::{Entry, NONE, Run},
};
use core::{
    cell::Cell,
    fmt,
    num::NonZeroU64,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, Ordering},
};

mod alloc;
mod check;
mod chunks;
mod free;
mod listing;
mod persistent;
mod resize;
mod scopes;

/// The ID of an owner that has ended.
const ENDED: u64 = 3;

/// The first ID of an owner or a scope.
const FIRST_ID: u64 = 16;

/// IDs reserved per batch.
const ID_BATCH: u64 = 1 << 20;

static NEXT_IDS: AtomicU64 = AtomicU64::new(FIRST_ID);

/// The bytes at the start of a chunk that no block has (G5).
const LEAD: usize = 16;

/// Blocks aligned to more than this come from the inner allocator.
const MAX_ALIGN: usize = 4096;

/// Fast scopes that may end before an owner publishes its figures.
const PUBLISH_EVERY: u64 = 64;

/// Bytes that an owner serves before it looks at the live bytes of the whole program again.
const OBSERVE_EVERY: u64 = 256 << 10;

/// Names a scope that was entered, or a call of [`Owner::enter_outside`]. It is no proof of
/// anything: see [`Owner::leave`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The scope's ID; with [`OUTSIDE`], where the ticket names a call of `enter_outside` in it.
    id: NonZeroU64,
}

/// Set in tickets of [`Owner::enter_outside`]. No ID is so large.
const OUTSIDE: u64 = 1 << 63;

impl Ticket {
    #[inline(always)]
    fn of(scope: u64) -> Option<Ticket> {
        NonZeroU64::new(scope).map(|id| Ticket { id })
    }

    /// The ID of the scope.
    fn scope(self) -> u64 {
        self.id.get() & !OUTSIDE
    }
}

/// Opens scopes, and allocates in the innermost one: a thread, or a handle that another language
/// keeps.
///
/// An owner is used by one thread at a time. What it serves may be freed by any thread, through any
/// owner. Dropping it [ends](Owner::end) it.
#[repr(C, align(64))]
pub struct Owner {
    // The first cache line is all that the fast paths touch.
    top: Cell<*mut u8>,
    /// `limit`, or 0 where no scope serves: the fast paths rely on it.
    end: Cell<usize>,
    /// Larger blocks take the slow path: `SMALL`, or 0.
    small_max: Cell<usize>,
    /// Blocks of at least this size are listed when they are freed; see `listing`.
    list_floor: Cell<usize>,
    /// The innermost scope's ID, or [`NONE`].
    scope: Cell<u64>,
    /// Blocks ever bumped.
    served: Cell<u64>,
    /// Bytes ever freed, without those that were rewound.
    freed: Cell<u64>,
    /// The entry of a chunk that stays owned between scopes, so that a fast scope is opened by two
    /// stores: `Some` while no scope is open, and while none is but a fast one. `top`, `from`,
    /// `mark`, `first` and `current` are then as that scope needs them; the chunk is `first`.
    cached: Cell<Option<&'static Entry>>,

    // The second line: what a fast scope needs at its beginning and at its end.
    /// The scope that the cached chunk's entry names; 0 where there is none. Fast scopes that leave
    /// nothing behind use it in turn.
    cached_scope: Cell<u64>,
    /// Where the cached chunk ends.
    cached_end: Cell<usize>,
    /// `served` when the current chunk's count was last brought up to date.
    mark: Cell<u64>,
    /// Where the bump pointer was when its bytes were last added up.
    from: Cell<usize>,
    /// How many more fast scopes may end before the figures are published. Those that did are not
    /// in `scopes_ended` yet.
    unpublished: Cell<u64>,
    /// Bytes ever served.
    bytes: Cell<u64>,
    id: Cell<u64>,
    /// The first chunk of the innermost scope.
    first: Cell<Option<Run>>,
    current: Cell<Option<Run>>,
    lists: Cell<Option<NonNull<FreeLists>>>,

    /// The chunk of the innermost scope behind which the next empty one is looked for; `None`:
    /// behind the newest.
    looked_at: Cell<Option<Run>>,
    /// Where the innermost scope's part of the current chunk ends.
    limit: Cell<usize>,
    /// How often the innermost scope was closed by [`enter_outside`](Owner::enter_outside) and not
    /// opened again.
    outside: Cell<u32>,
    /// How many requests a scope that was closed for want of memory lets pass before it tries
    /// again; 0 where it was not.
    retry: Cell<u32>,
    /// The chunk that the lists of all scopes lie in.
    lists_run: Cell<Option<Run>>,
    persistence: Persistence,
    payoff: Payoff,
    cache: Cache,
    next_id: Cell<u64>,
    last_id: Cell<u64>,
    counters: Cell<Option<&'static Counters>>,
    /// `bytes` when the live bytes of the program were last looked at.
    observed: Cell<u64>,
    /// Blocks that were popped from lists, or are large.
    others: Cell<u64>,
    grown: Cell<u64>,
    escaped: Cell<u64>,
    scopes_ended: Cell<u64>,
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("id", &self.id.get())
            .field("scope", &self.scope.get())
            .finish_non_exhaustive()
    }
}

/// Adds to a counter. They may wrap.
#[inline(always)]
fn bump(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get().wrapping_add(more));
}

impl Owner {
    /// An owner that may not open scopes yet.
    #[must_use]
    pub const fn new() -> Self {
        Owner {
            top: Cell::new(ptr::null_mut()),
            end: Cell::new(0),
            small_max: Cell::new(0),
            list_floor: Cell::new(usize::MAX),
            scope: Cell::new(NONE),
            served: Cell::new(0),
            freed: Cell::new(0),
            cached: Cell::new(None),
            cached_scope: Cell::new(0),
            cached_end: Cell::new(0),
            mark: Cell::new(0),
            from: Cell::new(0),
            unpublished: Cell::new(PUBLISH_EVERY),
            bytes: Cell::new(0),
            id: Cell::new(NONE),
            first: Cell::new(None),
            current: Cell::new(None),
            lists: Cell::new(None),
            looked_at: Cell::new(None),
            limit: Cell::new(0),
            outside: Cell::new(0),
            retry: Cell::new(0),
            lists_run: Cell::new(None),
            persistence: Persistence::new(),
            payoff: Payoff::new(),
            cache: Cache::new(),
            next_id: Cell::new(0),
            last_id: Cell::new(0),
            counters: Cell::new(None),
            observed: Cell::new(0),
            others: Cell::new(0),
            grown: Cell::new(0),
            escaped: Cell::new(0),
            scopes_ended: Cell::new(0),
        }
    }

    /// Lets the owner open scopes. False where no range of addresses can be had, or the owner has
    /// [ended](Owner::end). Allocates a little, once; not to be called from inside an allocator.
    pub fn start(&self) -> bool {
        if self.id.get() == NONE && range::prepare() == Readiness::Ready {
            let counters = Counters::take();
            // Those of an owner that has ended keep what it counted.
            self.served.set(counters.blocks.load(Ordering::Relaxed));
            self.scopes_ended.set(counters.scopes_ended.load(Ordering::Relaxed));
            self.bytes.set(counters.bytes.load(Ordering::Relaxed));
            self.freed.set(counters.freed.load(Ordering::Relaxed));
            self.grown.set(counters.grown.load(Ordering::Relaxed));
            self.escaped.set(counters.escaped.load(Ordering::Relaxed));
            self.observed.set(self.bytes.get());
            self.counters.set(Some(counters));
            self.id.set(self.new_id());
            self.cache.adopt_tails();
            self.observe(0);
        }
        self.is_started()
    }

    #[inline(always)]
    pub(crate) fn is_started(&self) -> bool {
        self.id.get() >= FIRST_ID
    }

    /// Whether a scope is open, be it one that serves nothing.
    #[inline(always)]
    pub(crate) fn has_scope(&self) -> bool {
        self.scope.get() != NONE
    }

    /// Whether the innermost scope serves requests.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.end.get() != 0
    }

    #[inline]
    fn new_id(&self) -> u64 {
        if self.next_id.get() == self.last_id.get() {
            self.reserve_ids();
        }
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        id
    }

    #[cold]
    fn reserve_ids(&self) {
        // In 64 bits this never wraps (G8). Relaxed: a batch is given out once in any order of
        // events.
        let first = NEXT_IDS.fetch_add(ID_BATCH, Ordering::Relaxed);
        self.next_id.set(first);
        self.last_id.set(first + ID_BATCH);
    }

    /// Ends every scope, gives everything to the pools that all share, and never opens a scope
    /// again. Live blocks stay valid.
    pub fn end(&self) {
        if !self.is_started() {
            return;
        }
        while self.innermost().is_some() {
            self.close();
        }
        self.release_pools();
        self.cache.leave_tails();
        self.publish(0);
        if let Some(counters) = self.counters.take() {
            counters.leave();
        }
        self.id.set(ENDED);
        // The bound falls with the number of owners.
        observe(0);
        pool::trim(memory::excess());
    }

    /// Gives what this owner keeps for its next scopes to the pools that all share. While a scope
    /// is open, that is not all of it.
    pub fn release_pools(&self) {
        // Of an open scope, one of these may be the first chunk, and in the other one lie its
        // lists.
        if self.innermost().is_none() {
            self.end_persistent();
            if let Some(chunk) = self.take_cached() {
                self.restore(None);
                self.retire(chunk, crate::size::CHUNK);
            }
            if let Some(run) = self.lists_run.take() {
                pool::give(run);
            }
        }
        self.cache.release_runs();
        if let Some(counters) = self.counters.get() {
            counters.cached.store(0, Ordering::Relaxed);
        }
    }

    // Figures

    /// Hands this owner's figures to the report; `bytes` are those of one scope.
    #[inline(never)]
    pub(crate) fn publish(&self, bytes: u64) {
        let ended = PUBLISH_EVERY - self.unpublished.replace(PUBLISH_EVERY);
        bump(&self.scopes_ended, ended);
        let Some(counters) = self.counters.get() else { return };
        counters.scopes_ended.store(self.scopes_ended.get(), Ordering::Relaxed);
        counters.blocks.store(self.blocks(), Ordering::Relaxed);
        counters.grown.store(self.grown.get(), Ordering::Relaxed);
        counters.escaped.store(self.escaped.get(), Ordering::Relaxed);
        counters.cached.store(self.cache.held(), Ordering::Relaxed);
        self.publish_bytes(counters);
        if counters.high_water.load(Ordering::Relaxed) < bytes {
            counters.high_water.store(bytes, Ordering::Relaxed);
        }
        if self.bytes.get().wrapping_sub(self.observed.get()) >= OBSERVE_EVERY {
            self.observe(0);
        }
    }

    fn publish_bytes(&self, counters: &Counters) {
        // What was bumped since they were added up counts, too.
        let bumped = self.top.get().addr().wrapping_sub(self.from.get()) as u64;
        counters.bytes.store(self.bytes.get().wrapping_add(bumped), Ordering::Relaxed);
        counters.freed.store(self.freed.get(), Ordering::Relaxed);
    }

    /// Publishes what the last outermost scope left, unless another one is open.
    pub(crate) fn publish_at_rest(&self) {
        if self.innermost().is_none() {
            self.publish(0);
        }
        self.observe(0);
    }

    /// Looks at the live bytes of the whole program, of which so many more are about to be served
    /// here.
    #[cold]
    fn observe(&self, more: usize) {
        let Some(counters) = self.counters.get() else { return };
        self.observed.set(self.bytes.get());
        self.publish_bytes(counters);
        observe(more);
    }

    /// Counts bytes that were freed, by an owner that was not started, too.
    #[inline]
    fn count_freed(&self, bytes: usize) {
        bump(&self.freed, bytes as u64);
        let Some(counters) = self.counters.get() else {
            return figures::freed_elsewhere(bytes as u64);
        };
        let unpublished = self.freed.get().wrapping_sub(counters.freed.load(Ordering::Relaxed));
        // Outside of scopes none will end and publish it; and one that only frees may last for
        // ever. What was served is published with it: fast scopes that ended may have freed what
        // they served, and published neither.
        if !self.has_scope() || unpublished >= OBSERVE_EVERY {
            self.publish_bytes(counters);
        }
    }

    #[inline]
    fn blocks(&self) -> u64 {
        self.served.get().wrapping_add(self.others.get())
    }

    fn fell_back(&self, reason: Reason) {
        if let Some(counters) = self.counters.get() {
            counters.fell_back(reason);
        }
    }
}

/// Looks at the live bytes that owners have published, and sets the bound by them and so many more.
fn observe(more: usize) {
    let live = figures::live_bytes().saturating_add(more);
    if memory::observe(live, os::milliseconds()) {
        pool::end_window();
    }
}

// SAFETY: nothing in an owner belongs to the thread that made it. Its chunks are its own whoever
// runs it (G2), and moving it to another thread orders what it did before.
unsafe impl Send for Owner {}

impl Default for Owner {
    fn default() -> Self {
        Owner::new()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.end();
    }
}
