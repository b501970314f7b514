//! Owners, which open scopes and allocate in them.
//!
//! # The idea
//!
//! An [`Owner`] has a stack of scopes, each with chunks of its own. Blocks of the innermost scope
//! are bump-allocated from its current chunk. Every chunk counts its live blocks. A chunk without
//! live blocks is free: its scope bumps in it again, and when the scope ends, it gives such chunks
//! back. Each of the others stays until its last block is freed; the thread that frees that block
//! puts the chunk into the shared pool.
//!
//! So scopes only decide where blocks are allocated, and counts decide when memory is reused. No
//! live block becomes invalid when a scope ends, or if a scope is never ended. Whether that is faster
//! than the inner allocator is measured (`sites`).
//!
//! # Who calls whom
//!
//! ```text
//! alloc          (alloc.rs)                          of any owner; null: "not served"
//!   ├─ small, aligned to the granule, fits ─► top = end                      the fast path
//!   └─ else ─┬─ small, aligned to more, fits ─► top = end
//!            └─ else ─► alloc_slow ─┬─ the scope is paused ─► refuse
//!                                   ├─ it fits, or fits another chunk ─► next_chunk
//!                                   └─ large ─► alloc_large ─► take_run
//! next_chunk     (chunks.rs)
//!   ├─ a stage of the chunk ends ─► take_turns
//!   ├─ a chunk of the scope is empty ─► take_empty_chunk
//!   └─ else ─► take_chunk ─► the bound refuses one ─► sweep, pause
//! take_chunk     (supply.rs)
//!   ├─ the last scope left a chunk with a free tail ─► adopt_tail
//!   └─ else ─► take_run ─┬─ with memory behind it ─► cache, pool
//!                        └─ without ─► held::try_hold ─► pool, range        the bound is checked here
//! resize         (resize.rs)
//!   ├─ small, the chunk's last block, and there is room ─► top = end         the fast path
//!   └─ else ─► resize ─┬─ the innermost scope's ─► in place, or alloc, copy, free
//!                      ├─ large ─► its headroom, or as above
//!                      └─ another scope's ─► shrinks in place; else the caller moves it
//! free           (free.rs)
//!   ├─ the innermost scope's ─► count; the last block: top = block           the fast path
//!   └─ else ─► free_elsewhere ─┬─ large ─► into a pool
//!                              ├─ of this owner ─► count
//!                              └─ another owner's, or pinned ─► Count::free ─► the last one recycles
//! alloc_headed, free_headed, resize_headed   (headed.rs)
//!   a header in front of the block, then as above
//! enter, leave   (scopes.rs)
//!   enter_fast, leave_fast: the outermost scope, in the cached chunk, that leaves nothing behind  the fast path
//!   enter ─┬─ its site does not pay (sites.rs) ─► none; what served before goes on
//!          └─ else ─► take a chunk, save the outer scope in its record
//!   leave ─► close ─► retire every chunk, restore the outer scope
//! ```
//!
//! # The state
//!
//! An owner consists of states, each with a file of its own: where it bumps ([`Bump`]), the empty
//! chunk for the next fast scope ([`CachedChunk`]), what it has served ([`Ledger`]), the innermost
//! scope ([`Innermost`]), its IDs ([`Ids`]), what it did when memory was refused ([`Refusals`]),
//! whether its scopes keep blocks ([`Keeping`]), and the memory for its next scopes ([`Cache`]). The
//! methods here and in the modules below act on several of them.
//!
//! # Invariants
//!
//! - **G1** A block belongs to the run that contains its address. A [`Run`](crate::memory::run::Run) identifies a run below
//!   the frontier. The run's table entry stays committed for ever, and its memory as long as the
//!   run is in no shared pool.
//! - **G2** A run has at most one owner at a time, and none while it is in a shared pool or is
//!   retired and pinned. Only the owner accesses the plain fields of the run's entry and bumps in
//!   it. The entry of each chunk of a scope, and of the cached chunk, has the owner's ID. An owner
//!   gives up a run by putting it into a pool or by settling the count of a chunk. An owner takes a
//!   run from a pool, adopts a retired chunk by an exchange of its count, or takes the chunk whose
//!   last block it frees. In each case the taker acquires what the giver released. A run with a large
//!   block belongs to the thread that holds the block (G6).
//! - **G3** For a chunk with an owner, `count - BIAS + local` is the number of its live blocks. For
//!   the current chunk, the blocks that [`Bump`] has not flushed are added to that. For a retired
//!   chunk, the number is `count`. Serving a block adds one, freeing a block subtracts one, and
//!   resizing in place changes nothing.
//! - **G4** A byte is served again only in these cases: the chunk's present owner freed its block and
//!   rewound the bump pointer; or no block of the chunk is alive.
//! - **G5** `top..limit` is free and lies in the innermost scope's current chunk; `open_limit` is
//!   `limit`, or 0 while the scope is closed. `top` is a multiple of the granule, and at least
//!   `LEAD` bytes above the start of the chunk. So no block of another run ends at `top`: a block
//!   that ends there lies in the current chunk. If `parked` is not 0, the bytes from this offset on
//!   are also free in the next chunk of the scope's list.
//! - **G6** A large block is the only block in its run and is not counted. It is alive as long as
//!   the run is in no pool. The thread that frees it owns the run from then on.
//! - **G7** IDs of owners and scopes are never used twice, so an entry's ID identifies its owner
//!   and its scope. Only fast scopes that follow each other in the cached chunk and leave no block have
//!   one ID.
//! - **G8** For a chunk with an owner, `tail_start` is the offset at which it was adopted, or 0 if
//!   it was not: blocks bumped since the adoption lie above it. `older_freed` counts the blocks below
//!   `tail_start` that the owner freed. If `local + older_freed` is 0, every block above
//!   `tail_start` has been freed, whether or not those below are alive; frees by other threads only
//!   make the sum larger. No block from before the adoption begins at or above `flushed_top`.
//!
//! Soundness does not depend on calls to [`leave`](Owner::leave). A call that is missing, repeated
//! or out of order costs only memory. In debug builds, `Owner::check` asserts the observable part
//! of the invariants after every slow operation; each state has a `check` of its own.

use crate::{
    memory::{
        cache::Cache,
        run::{FIRST_ID, ScopeRef},
    },
    policy::{keeping::Keeping, refusals::Refusals},
    scope::{
        bump::Bump, cached_chunk::CachedChunk, ids::Ids, innermost::Innermost, ledger::Ledger,
    },
};
use core::{cell::Cell, fmt, mem::MaybeUninit, num::NonZeroU64};

mod alloc;
mod check;
mod chunks;
mod free;
mod headed;
mod life;
mod publish;
mod resize;
mod retire;
mod scopes;
mod skip;
mod supply;
mod switch;

/// Blocks aligned to more than this come from the inner allocator.
const MAX_ALIGN: usize = 4096;

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
    // The first two cache lines: all that the fast paths access, and the beginning and the end of a
    // fast scope.
    bump: Bump,
    cached: CachedChunk,
    ledger: Ledger,

    /// The number of the site of the outermost scope, while it is fast.
    site: Cell<u32>,
    /// The scopes of the site `batch_site` that are still to be skipped without a look at it.
    batch_left: Cell<u32>,
    /// `batch_left` when the batch began.
    batch_uncounted: Cell<u32>,
    batch_site: Cell<u32>,
    /// The scopes that were skipped since the live bytes were observed last.
    unobserved: Cell<u32>,
    /// The blocks that the owner had served when the unit of a long scope began.
    unit_began: Cell<u64>,
    /// The requests of a skipped unit.
    unit: Cell<u32>,
    /// The requests that the innermost scope still skips.
    skips_left: Cell<u32>,
    innermost: Innermost,
    ids: Ids,
    refusals: Refusals,
    keeping: Keeping,
    cache: Cache,
}

// `Bump` begins the first cache line, and the first two fields of `Ledger` end the second one.
const _: () = assert!(
    usize::BITS != 64
        || Bump::FAST_BYTES <= 64 && size_of::<Bump>() + size_of::<CachedChunk>() <= 112
);

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("id", &self.ids.own())
            .field("scope", &self.bump.scope_id())
            .finish_non_exhaustive()
    }
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
        // SAFETY: all-zero bytes are valid for each of the states, as they say. They consist of cells
        // with integers, `bool`s, null pointers, and `Option`s of references and of numbers other
        // than 0, for which zero is `None`.
        unsafe { MaybeUninit::zeroed().assume_init() }
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
        self.ids.is_started()
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
        self.bump.has_scope()
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
        self.bump.is_open()
    }

    /// The innermost open scope.
    fn scope(&self) -> Option<ScopeRef> {
        if self.has_scope() { self.innermost.scope() } else { None }
    }
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
