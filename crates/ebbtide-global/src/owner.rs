//! Owners, which open scopes and allocate in them.
//!
//! # The idea
//!
//! An [`Owner`] has a stack of scopes, each with chunks of its own. Blocks of the innermost scope
//! are bump-allocated from its current chunk. Every chunk counts its live blocks. When a scope
//! ends, it gives back the chunks without live blocks. Each of the others stays until its last
//! block is freed; the thread that frees that block puts the chunk into the shared pool.
//!
//! So scopes only decide where blocks are allocated, and counts decide when memory is reused. No
//! live block becomes invalid when a scope ends, or if a scope is never ended.
//!
//! # Who calls whom
//!
//! ```text
//! alloc          (alloc.rs)                          of any owner; null: "not served"
//!   ├─ small, aligned to the granule, fits ─► top = end                      the fast path
//!   └─ else ─┬─ small, aligned to more, fits ─► top = end
//!            └─ else ─┬─ small, and the scope lists small blocks ─► pop
//!                     └─ else ─► alloc_slow ─┬─ a free list has one ─► pop
//!                                            ├─ the scope is paused ─► refuse
//!                                            ├─ another thread returned one ─► pop_returned
//!                                            ├─ it fits, or fits another chunk ─► next_chunk
//!                                            └─ large ─► alloc_large ─► take_run
//! next_chunk     (chunks.rs)
//!   ├─ a stage of the chunk ends ─► take_turns
//!   ├─ a chunk of the scope is empty ─► take_empty_chunk
//!   └─ else ─► sweep, if it has lists and three quarters of the chunks are empty ─► take_chunk
//! take_chunk     (chunks.rs)
//!   ├─ a pinned chunk with a free tail is known ─► adopt
//!   └─ else ─► take_run ─┬─ with memory behind it ─► cache, pool
//!                        └─ without ─► memory::grow ─► pool, range          the bound is checked here
//! resize         (resize.rs)
//!   ├─ small, the chunk's last block, and there is room ─► top = end         the fast path
//!   └─ else ─► resize ─┬─ the innermost scope's ─► in place, or alloc, copy, free
//!                      ├─ large ─► its headroom, or as above
//!                      └─ another scope's ─► shrinks in place; else the caller moves it
//! free           (free.rs)
//!   ├─ the innermost scope's, small ─► count; the last block: top = block    the fast path
//!   ├─ the same, and it is listed ─► free_listed, free_medium
//!   └─ else ─► free_elsewhere ─┬─ from before the chunk was adopted ─► free_older
//!                              └─ else ─► free_other ─┬─ an outer scope's ─► count
//!                                                     ├─ the persistent scope's ─► list
//!                                                     ├─ large ─► into a pool
//!                                                     ├─ another owner's persistent scope's ─► return_block
//!                                                     └─ another owner's, or pinned ─► Count::free ─► the last one recycles
//! alloc_headed, free_headed, resize_headed   (headed.rs)
//!   a header in front of the block, then as above
//! enter, leave   (scopes.rs)
//!   enter_fast, leave_fast: the outermost scope, in the cached chunk, that leaves nothing behind  the fast path
//!   enter ─┬─ the owner's scopes do not pay off (payoff.rs) ─► none; the inner allocator serves
//!          ├─ a persistent scope is suspended ─► resume_persistent
//!          └─ else ─► take a chunk, save the outer scope in its record ─► persist, if scopes pin sparse chunks
//!   leave ─► close ─┬─ the persistent scope ─► suspend_persistent
//!                   └─ else ─► retire every chunk, restore the outer scope
//! ```
//!
//! An outermost scope may *persist*: instead of ending it is suspended, and the next outermost
//! scope continues it. The module `persistent` explains why.
//!
//! # Invariants
//!
//! - **G1** A block belongs to the run that contains its address. A [`Run`] identifies a run below
//!   the frontier. The run's table entry stays committed for ever, and its memory as long as the
//!   run is in no shared pool.
//! - **G2** A run has at most one owner at a time, and none while it is in a shared pool or is
//!   retired and pinned. Only the owner accesses the plain fields of the run's entry and bumps in
//!   it. The entry of each chunk of a scope, and of the cached chunk, has the owner's ID. An owner
//!   gives up a run by putting it into a pool or by settling the count of a chunk. An owner takes a
//!   run from a pool, adopts a retired chunk by an exchange of its count, takes the chunk whose
//!   last block it frees, or takes the chunks of another owner's suspended scope (P5). In each case
//!   the taker acquires what the giver released. A run with a large block belongs to the thread
//!   that holds the block (G7).
//! - **G3** For a chunk with an owner, `count - BIAS + local` is the number of its live blocks. For
//!   the current chunk, `bumped_blocks - flushed_blocks` is added to that. For a retired chunk, the
//!   number is `count`. Serving a block adds one, freeing a block subtracts one, and resizing in
//!   place changes nothing. A block that another thread returned to a persistent scope counts as
//!   alive until it is taken from the scope's stack (R1).
//! - **G4** A byte is served again only in these cases: the chunk's present owner freed its block,
//!   and rewound or listed it; another thread returned its block to that owner (R3); or no block of
//!   the chunk is alive or listed.
//! - **G5** `top..limit` is free and lies in the innermost scope's current chunk; `open_limit` is
//!   `limit`, or 0 while the scope is closed. `top` is a multiple of the granule, and at least
//!   [`LEAD`] bytes above the start of the chunk. So no block of another run ends at `top`: a block
//!   that ends there lies in the current chunk. If `parked` is not 0, the bytes from this offset on
//!   are also free in the next chunk of the scope's list.
//! - **G6** The blocks in a scope's lists were freed by its owner or returned to it, lie in chunks
//!   of this scope, and lie below the bump pointer of their chunk. A scope keeps its chunks until
//!   it ends or clears its lists, and its lists end with it. A chunk that is bumped again from its
//!   start has no listed block.
//! - **G7** A large block is the only block in its run and is not counted. It is alive as long as
//!   the run is in no pool. The thread that frees it owns the run from then on.
//! - **G8** IDs of owners and scopes are never used twice, so an entry's ID identifies its owner
//!   and its scope.
//! - **G9** For a chunk with an owner, `tail_start` is the offset at which it was adopted, or 0 if
//!   it was not: blocks bumped since the adoption lie above it. `older_freed` counts the blocks
//!   below `tail_start` that the owner freed. If `local + older_freed` is 0, every block above
//!   `tail_start` has been freed, whether or not those below are alive; frees by other threads only
//!   make the sum larger. No block from before the adoption begins at or above `flushed_top`.
//!
//! P1 to P5, which are about persistent scopes, are in the module `persistent`; R1 to R3, about
//! their blocks that other threads free, in the module `returned`.
//!
//! Soundness does not depend on calls to [`leave`](Owner::leave). A call that is missing, repeated
//! or out of order costs only memory. In debug builds, `Owner::check` asserts the observable part
//! of the invariants after every slow operation.

use crate::{
    cache::Cache,
    figures::{self, Counters, Reason},
    helper::{self, EndWindow},
    lists::FreeLists,
    memory, os,
    payoff::{Payoff, Totals},
    persistence::Persistence,
    pool,
    range::{self, Readiness},
    run::{ENDED, Entry, FIRST_ID, NO_SCOPE, NOT_STARTED, Run},
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
mod headed;
mod listing;
mod persistent;
mod resize;
mod returned;
mod scopes;

/// IDs reserved per batch.
const ID_BATCH: u64 = 1 << 20;

static NEXT_IDS: AtomicU64 = AtomicU64::new(FIRST_ID);

/// The bytes at the start of a chunk that belong to no block (G5). The number is such that the
/// first block with a header can begin directly after them: see the module `headed`.
const LEAD: usize = 24;

/// Blocks aligned to more than this come from the inner allocator.
const MAX_ALIGN: usize = 4096;

/// The number of fast scopes that end between two publications of an owner's figures.
const PUBLISH_EVERY: u64 = 64;

/// The bytes that an owner serves between two observations of the whole program's live bytes.
const OBSERVE_EVERY: u64 = 256 << 10;

/// Identifies an open scope, or a call to [`Owner::enter_outside`]. Any use of it is safe: see
/// [`Owner::leave`].
///
/// ```
/// use ebbtide_global::engine::Owner;
/// let owner = Owner::new();
/// # if !owner.start() { return }
/// let outer = owner.enter_default().expect("a started owner opens scopes");
/// let inner = owner.enter_default().expect("scopes nest");
/// owner.leave(outer); // ends both
/// owner.leave(inner); // has ended: nothing happens
/// assert!(!owner.is_open());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The scope's ID. [`OUTSIDE`] is set if the ticket names a call to `enter_outside` in it.
    id: NonZeroU64,
}

/// Set in tickets of [`Owner::enter_outside`]. IDs never reach this bit.
const OUTSIDE: u64 = 1 << 63;

impl Ticket {
    #[inline(always)]
    fn of(scope: u64) -> Option<Ticket> {
        NonZeroU64::new(scope).map(|id| Ticket { id })
    }

    /// The ticket as a number, for languages that have no such type. Never 0.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default();
    /// // What a C function returns: 0 if there is no scope.
    /// let number = ticket.map_or(0, |ticket| ticket.number());
    /// assert_ne!(number, 0);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn number(self) -> u64 {
        self.id.get()
    }

    /// The ticket for a [`number`](Ticket::number). Returns `None` for 0 and other numbers that no
    /// ticket can have. If a number did not come from a ticket, [`leave`](Owner::leave) ends the
    /// scope that has this number by chance, or does nothing.
    ///
    /// ```
    /// use ebbtide_global::engine::{Owner, Ticket};
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let number = owner.enter_default().map_or(0, Ticket::number);
    /// if let Some(ticket) = Ticket::from_number(number) {
    ///     owner.leave(ticket);
    /// }
    /// assert!(!owner.is_open());
    /// assert_eq!(Ticket::from_number(0), None);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn from_number(number: u64) -> Option<Ticket> {
        if number & !OUTSIDE < FIRST_ID { None } else { Ticket::of(number) }
    }

    /// The ID of the scope.
    fn scope(self) -> u64 {
        self.id.get() & !OUTSIDE
    }
}

/// Opens scopes and allocates in the innermost one. Each thread has an owner. A front end for
/// another language may also create an owner for each of its handles.
///
/// An owner is used by one thread at a time. Its blocks may be freed by any thread, through any
/// owner. Dropping it [ends](Owner::end) it.
///
/// ```
/// use ebbtide_global::engine::Owner;
/// let owner = Owner::new();
/// # if !owner.start() { return }
/// let ticket = owner.enter_default().expect("a started owner opens scopes");
/// let block = owner.alloc(std::alloc::Layout::new::<u64>());
/// assert!(!block.is_null());
/// owner.leave(ticket);
/// drop(owner); // the block stays valid
/// # let _ = block;
/// ```
#[repr(C, align(64))]
pub struct Owner {
    // The first cache line: all that the fast paths access.
    top: Cell<*mut u8>,
    /// `limit`, or 0 if no scope serves requests, so that the fast paths need only one comparison.
    open_limit: Cell<usize>,
    /// The largest size that the fast paths serve: `SMALL`, or 0 if they serve nothing.
    small_max: Cell<usize>,
    /// Blocks of at least this size are listed when they are freed; see `listing`.
    list_floor: Cell<usize>,
    /// The innermost scope's ID; [`NO_SCOPE`], or [`NOT_STARTED`] before the start.
    scope: Cell<u64>,
    /// The number of blocks that this owner has bumped since its start.
    bumped_blocks: Cell<u64>,
    /// The bytes that this owner has freed since its start, except by rewinding the bump pointer.
    freed: Cell<u64>,
    /// The entry of the cached chunk, which stays owned between scopes, so that two stores open a
    /// fast scope. `Some` only while no scope is open or the only open one is fast. The chunk
    /// itself is then in `first_chunk`, and `top`, `flushed_top`, `flushed_blocks` and
    /// `current_chunk` have the values that a fast scope begins with.
    cached_entry: Cell<Option<&'static Entry>>,

    // The second cache line: fields that opening and ending a fast scope accesses as well.
    /// The scope ID in the cached chunk's entry; 0 if there is no cached chunk. Successive fast
    /// scopes share it as long as they leave no block behind.
    cached_scope: Cell<u64>,
    /// Where the cached chunk ends.
    cached_end: Cell<usize>,
    /// `bumped_blocks` at the last [`flush`](Owner::flush).
    flushed_blocks: Cell<u64>,
    /// The address of `top` at the last [`flush`](Owner::flush).
    flushed_top: Cell<usize>,
    /// How many more fast scopes may end before the figures are published. Those that have ended
    /// since the last publication are not in `scopes_ended` yet.
    scopes_until_publish: Cell<u64>,
    /// The bytes that this owner has served since its start, up to the last
    /// [`flush`](Owner::flush).
    bytes: Cell<u64>,
    /// This owner's ID; [`NOT_STARTED`] before it is started and [`ENDED`] afterwards.
    id: Cell<u64>,
    /// The first chunk of the innermost scope, which identifies the scope and has its record; if no
    /// scope is open, the cached chunk.
    first_chunk: Cell<Option<Run>>,
    /// The chunk in which the innermost scope bumps.
    current_chunk: Cell<Option<Run>>,
    /// The innermost scope's free lists, once they were created.
    lists: Cell<Option<NonNull<FreeLists>>>,

    /// The chunk of the innermost scope after which the next search for an empty chunk starts;
    /// `None` for the current chunk.
    search_position: Cell<Option<Run>>,
    /// The address up to which the innermost scope may bump: the end of the current chunk, of a
    /// stage of it, or of the bytes that the scope's limit allows.
    limit: Cell<usize>,
    /// The offset of the free bytes in the chunk that takes turns with the current one, the next in
    /// the scope's list; 0 if it is full or there is none.
    parked: Cell<u32>,
    /// The number of nested calls to [`enter_outside`](Owner::enter_outside) in the innermost
    /// scope.
    outside_depth: Cell<u32>,
    /// If the innermost scope is paused, because the memory bound refused it a chunk: the number of
    /// requests that the inner allocator serves before the scope asks for memory again. Otherwise
    /// 0.
    retry_after: Cell<u32>,
    /// The chunk that holds the lists of all scopes.
    lists_run: Cell<Option<Run>>,
    persistence: Persistence,
    payoff: Payoff,
    cache: Cache,
    /// The next ID of the reserved batch, which ends before `id_end`.
    next_id: Cell<u64>,
    id_end: Cell<u64>,
    counters: Cell<Option<&'static Counters>>,
    /// `bytes` at the last observation of the whole program's live bytes.
    observed_bytes: Cell<u64>,
    /// The blocks that were served without bumping: from free lists, and large blocks.
    other_blocks: Cell<u64>,
    /// The blocks that were resized in place.
    grown: Cell<u64>,
    escaped: Cell<u64>,
    scopes_ended: Cell<u64>,
    /// The window in which a scope last gave back empty chunks because it was refused one.
    swept_in: Cell<u64>,
    /// The bytes of the requests larger than `SMALL` that paused scopes left to the inner allocator
    /// since a scope was paused last.
    refused_while_paused: Cell<u64>,
    /// The bytes served when a scope was paused last.
    bytes_at_pause: Cell<u64>,
    /// The bytes of the large blocks that this owner served, less those that it freed before their
    /// scope ended.
    escaped_large_bytes: Cell<u64>,
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("id", &self.id.get())
            .field("scope", &self.scope.get())
            .finish_non_exhaustive()
    }
}

/// Adds to a counter, wrapping on overflow.
#[inline(always)]
fn add(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get().wrapping_add(more));
}

impl Owner {
    /// Creates an owner, which cannot open scopes before it is [started](Owner::start). It serves
    /// no requests, but can free blocks of other owners. All of its bytes are zero, so zeroed
    /// memory is a valid new owner. Front ends use this if another language defines their
    /// thread-locals.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = const { Owner::new() };
    /// assert!(owner.enter_default().is_none(), "it is not started");
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Owner {
            top: Cell::new(ptr::null_mut()),
            open_limit: Cell::new(0),
            small_max: Cell::new(0),
            list_floor: Cell::new(0),
            scope: Cell::new(NOT_STARTED),
            bumped_blocks: Cell::new(0),
            freed: Cell::new(0),
            cached_entry: Cell::new(None),
            cached_scope: Cell::new(0),
            cached_end: Cell::new(0),
            flushed_blocks: Cell::new(0),
            flushed_top: Cell::new(0),
            scopes_until_publish: Cell::new(0),
            bytes: Cell::new(0),
            id: Cell::new(NOT_STARTED),
            first_chunk: Cell::new(None),
            current_chunk: Cell::new(None),
            lists: Cell::new(None),
            search_position: Cell::new(None),
            limit: Cell::new(0),
            parked: Cell::new(0),
            outside_depth: Cell::new(0),
            retry_after: Cell::new(0),
            lists_run: Cell::new(None),
            persistence: Persistence::new(),
            payoff: Payoff::new(),
            cache: Cache::new(),
            next_id: Cell::new(0),
            id_end: Cell::new(0),
            counters: Cell::new(None),
            observed_bytes: Cell::new(0),
            other_blocks: Cell::new(0),
            grown: Cell::new(0),
            escaped: Cell::new(0),
            scopes_ended: Cell::new(0),
            swept_in: Cell::new(0),
            refused_while_paused: Cell::new(0),
            bytes_at_pause: Cell::new(0),
            escaped_large_bytes: Cell::new(0),
        }
    }

    /// Enables the owner to open scopes. Returns false if no range of addresses is available or the
    /// owner has [ended](Owner::end). Also returns false if another thread has been reserving the
    /// range for a third of a second, which happens after a fork or on a very busy machine; call it
    /// again later in this case. The first call allocates a little memory, so do not call it from
    /// inside an allocator.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// if owner.start() {
    ///     assert!(owner.enter_default().is_some());
    /// }
    /// owner.end();
    /// assert!(!owner.start());
    /// ```
    pub fn start(&self) -> bool {
        if self.id.get() == NOT_STARTED && range::prepare() == Readiness::Ready {
            let counters = Counters::take();
            // Counters of an ended owner still have its values.
            self.bumped_blocks.set(counters.blocks.load(Ordering::Relaxed));
            self.scopes_ended.set(counters.scopes_ended.load(Ordering::Relaxed));
            self.bytes.set(counters.bytes.load(Ordering::Relaxed));
            self.freed.set(counters.freed.load(Ordering::Relaxed));
            self.grown.set(counters.grown.load(Ordering::Relaxed));
            self.escaped.set(counters.escaped.load(Ordering::Relaxed));
            self.observed_bytes.set(self.bytes.get());
            self.counters.set(Some(counters));
            self.scopes_until_publish.set(PUBLISH_EVERY);
            self.persistence.start();
            self.scope.set(NO_SCOPE);
            self.id.set(self.new_id());
            self.cache.adopt_tails();
            self.observe(0);
        }
        self.is_started()
    }

    /// Whether the owner was started and has not ended.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// assert!(!owner.is_started());
    /// assert_eq!(owner.start(), owner.is_started());
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn is_started(&self) -> bool {
        self.id.get() >= FIRST_ID
    }

    /// Whether a scope is open, even one that serves nothing.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let scope = owner.enter_default().expect("a started owner opens scopes");
    /// let pause = owner.enter_outside().expect("a scope is open");
    /// assert!(owner.has_scope() && !owner.is_open());
    /// owner.leave(pause);
    /// owner.leave(scope);
    /// assert!(!owner.has_scope());
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn has_scope(&self) -> bool {
        self.scope.get() > NO_SCOPE
    }

    /// Whether the innermost scope serves requests.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let scope = owner.enter_default().expect("a started owner opens scopes");
    /// assert!(owner.is_open());
    /// let pause = owner.enter_outside().expect("a scope is open");
    /// assert!(!owner.is_open(), "requests go to the inner allocator");
    /// owner.leave(pause);
    /// owner.leave(scope);
    /// assert!(!owner.is_open());
    /// ```
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.open_limit.get() != 0
    }

    #[inline]
    fn new_id(&self) -> u64 {
        if self.next_id.get() == self.id_end.get() {
            self.reserve_ids();
        }
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        id
    }

    #[cold]
    fn reserve_ids(&self) {
        // 64 bits never wrap (G8). Relaxed: each batch is handed out once in any order of events.
        let first = NEXT_IDS.fetch_add(ID_BATCH, Ordering::Relaxed);
        self.next_id.set(first);
        self.id_end.set(first + ID_BATCH);
    }

    /// Ends every scope and gives all unused memory to the shared pools. The owner never opens a
    /// scope again. Live blocks stay valid.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// owner.enter_default();
    /// let block = owner.alloc_headed(100, 16);
    /// owner.end();
    /// // SAFETY: the block is alive, and not used again.
    /// assert!(unsafe { owner.free_headed(block) });
    /// assert!(owner.enter_default().is_none());
    /// ```
    pub fn end(&self) {
        if !self.is_started() {
            return;
        }
        while self.innermost().is_some() {
            self.close();
        }
        self.publish(0);
        self.release_pools();
        if let Some(counters) = self.counters.take() {
            counters.leave();
        }
        self.id.set(ENDED);
        // The bound falls with the number of owners.
        if observe() {
            self.end_window();
        }
        // Last, because the end of a window fills the cache.
        self.cache.release_runs();
        self.cache.leave_tails();
        pool::trim(memory::excess());
        helper::wait_for_start();
    }

    /// Gives the memory that this owner keeps for its next scopes to the shared pools. While a
    /// scope is open, part of it stays.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// owner.leave(ticket);
    /// owner.release_pools(); // before a thread waits for long
    /// assert!(owner.enter_default().is_some(), "it takes memory again");
    /// ```
    pub fn release_pools(&self) {
        // While a scope is open, the cached chunk may be its first chunk, and `lists_run` may hold
        // its lists.
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

    /// Publishes this owner's figures for the report. `bytes` is the number of bytes that the scope
    /// just ended took, for the high-water mark.
    #[inline(never)]
    pub(crate) fn publish(&self, bytes: u64) {
        let ended = PUBLISH_EVERY - self.scopes_until_publish.replace(PUBLISH_EVERY);
        add(&self.scopes_ended, ended);
        let Some(counters) = self.counters.get() else { return };
        counters.scopes_ended.store(self.scopes_ended.get(), Ordering::Relaxed);
        counters.blocks.store(self.blocks(), Ordering::Relaxed);
        counters.grown.store(self.grown.get(), Ordering::Relaxed);
        counters.escaped.store(self.escaped.get(), Ordering::Relaxed);
        counters.cached.store(self.cache.held(), Ordering::Relaxed);
        self.publish_bytes(counters, 0);
        if counters.high_water.load(Ordering::Relaxed) < bytes {
            counters.high_water.store(bytes, Ordering::Relaxed);
        }
        self.observe_if_due(0);
    }

    /// Publishes the bytes that this owner served and freed, and `more` that it is about to serve.
    fn publish_bytes(&self, counters: &Counters, more: usize) {
        // `bytes` lacks what was bumped since the last flush.
        let bumped = self.top.get().addr().wrapping_sub(self.flushed_top.get());
        let unflushed = bumped.wrapping_add(more) as u64;
        counters.bytes.store(self.bytes.get().wrapping_add(unflushed), Ordering::Relaxed);
        counters.freed.store(self.freed.get(), Ordering::Relaxed);
    }

    /// Publishes the figures of this owner, so that the [report](crate::report) includes its last
    /// outermost scope. Call it before `report`, while no scope is open. `report` itself does so
    /// only for the owner of the calling thread.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// owner.leave(ticket);
    /// owner.publish_at_rest();
    /// assert!(ebbtide_global::report().scopes >= 1);
    /// ```
    pub fn publish_at_rest(&self) {
        if self.innermost().is_none() {
            self.publish(0);
        }
        self.observe(0);
    }

    /// Observes the live bytes of the whole program if this owner has served enough since it last
    /// did, with `more` bytes that are about to be served here.
    #[inline]
    fn observe_if_due(&self, more: usize) {
        let unobserved = self.bytes.get().wrapping_sub(self.observed_bytes.get());
        if unobserved.wrapping_add(more as u64) >= OBSERVE_EVERY {
            self.observe(more);
        }
    }

    /// Observes the live bytes of the whole program. `more` bytes are about to be served here. They
    /// are published before they are served. Otherwise two threads that are about to serve large
    /// blocks would not know of each other's, and one would be refused.
    #[cold]
    fn observe(&self, more: usize) {
        let Some(counters) = self.counters.get() else { return };
        self.observed_bytes.set(self.bytes.get());
        self.publish_bytes(counters, more);
        if observe() {
            self.end_window();
        }
    }

    /// Gives back the memory that was not used in the window that has just ended.
    #[cold]
    fn end_window(&self) {
        self.end_idle_scopes();
        pool::end_window();
    }

    /// Counts freed bytes, even if this owner was never started.
    #[inline]
    fn count_freed(&self, bytes: usize) {
        add(&self.freed, bytes as u64);
        let Some(counters) = self.counters.get() else {
            return figures::freed_elsewhere(bytes as u64);
        };
        let unpublished = self.freed.get().wrapping_sub(counters.freed.load(Ordering::Relaxed));
        // Usually the end of a scope publishes the count. Outside of scopes there is no such end,
        // and a scope that only frees may last for ever. `publish_bytes` publishes the served bytes
        // as well, because fast scopes may have served and freed blocks and published neither.
        if !self.has_scope() || unpublished >= OBSERVE_EVERY {
            self.publish_bytes(counters, 0);
        }
    }

    /// Publishes the bytes that this owner served and freed.
    fn publish_served(&self) {
        if let Some(counters) = self.counters.get() {
            self.publish_bytes(counters, 0);
        }
    }

    #[inline]
    fn blocks(&self) -> u64 {
        self.bumped_blocks.get().wrapping_add(self.other_blocks.get())
    }

    fn totals(&self) -> Totals {
        Totals {
            blocks: self.blocks(),
            escaped: self.escaped.get(),
            bytes: self.bytes.get(),
            freed_bytes: self.freed.get(),
            escaped_large_bytes: self.escaped_large_bytes.get(),
        }
    }

    fn count_fallback(&self, reason: Reason) {
        if let Some(counters) = self.counters.get() {
            counters.count_fallback(reason);
        }
    }
}

/// Observes the live bytes that all owners have published, for the memory bound. Returns true if
/// that ended a window.
fn observe() -> bool {
    memory::observe(figures::live_bytes(), os::milliseconds())
}

// SAFETY: nothing in an owner is tied to the thread that made it. Its chunks belong to the owner,
// not to a thread (G2), and moving it to another thread orders its earlier accesses before the
// later ones.
unsafe impl Send for Owner {}

impl Default for Owner {
    fn default() -> Self {
        Owner::new()
    }
}

impl EndWindow for Owner {
    fn end_window_if_due() {
        if observe() {
            let owner = Owner::new();
            owner.end_window();
            owner.cache.release_runs();
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.end();
    }
}
