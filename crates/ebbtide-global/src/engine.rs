//! The engine: owners, their scopes, and how blocks come and go.
//!
//! # The idea
//!
//! An [`Owner`] has a stack of scopes, each with chunks of its own. A block of the innermost scope is bumped off its
//! current chunk. Every chunk counts its live blocks. A scope that ends gives back at once the chunks in which
//! nothing lives; the others stay as long as something in them does, and whoever frees the last block puts them
//! into a pool. So nothing that a scope's end does, or fails to do, can make a live block invalid: scopes are
//! hints about where to allocate, and counts decide when memory is used again.
//!
//! # Who calls whom
//!
//! ```text
//! alloc                                                   of any owner, null: "not by me"
//!   ├─ small, aligned to the granule, and the chunk has room ─► top = end           the fast path
//!   └─ else ─┬─ small, and aligned to more ─► top = end
//!            └─ else ─┬─ small, and the scope lists such ─► pop
//!                     └─ else ─► alloc_slow ─┬─ a free list has one ─► pop
//!                                            ├─ it fits after all, or into another chunk ─► next_chunk ─► adopt, pool, region
//!                                            └─ larger than 8 KiB ─► alloc_beyond
//! resize
//!   ├─ small, the chunk's last block, bumped since `from`, and there is room ─► top = end    the fast path
//!   └─ else ─► resize ─┬─ the innermost scope's ─┬─ the last block, and there is room ─► top = end
//!                      │                         ├─ it shrinks a little ─► as it is
//!                      │                         └─ else ─► alloc, copy, free
//!                      ├─ a span ─► its headroom, or as above
//!                      └─ another scope's ─► as it is where it shrinks; else the caller moves it
//! free
//!   ├─ the innermost scope's, small ─► count down; if it was the last block, top = block   the fast path
//!   ├─ the same, and it is large or the scope lists all ─► free_listed, free_large
//!   └─ else ─► free_elsewhere ─┬─ from before the chunk was adopted ─► free_older
//!                              └─ else ─► free_other ─┬─ an outer scope's ─► count down
//!                                                     ├─ the standing scope's ─► free_standing
//!                                                     ├─ a span ─► into the pool
//!                                                     └─ another owner's, or nobody's ─► Count::free ─► the last one recycles
//! enter ─┬─ a scope stands ─► go_on
//!        └─ else ─► take a chunk, keep the outer cursor in the outer scope's record ─► stand, where scopes keep little of much
//! leave ─► close ─┬─ the standing scope ─► rest
//!                 └─ else ─► retire every chunk ─► the outer cursor again
//! ```
//!
//! An outermost scope may *stand*: rest at its end, and go on as the next one. The module `standing` has the argument.
//!
//! # Invariants
//!
//! - **G1** A block belongs to the run of chunks that its address lies in. `Chunk`s name runs that the frontier has
//!   passed; their entries stay committed for ever, and their memory while they are in no shared pool.
//! - **G2** A run has at most one of these at a time: an owner (its entry names it), a place in one pool, or,
//!   retired and pinned, nobody. Only the owner touches the plain fields of its entry, and bumps its memory. It
//!   passes on by `Count`: settled by its owner, then taken by the exchange of an adopter or by whoever frees
//!   the last block; or through a pool. A release of the one is acquired by the other.
//! - **G3** For a chunk with an owner, `count - BIAS + local` is the number of its live blocks, where `local` gains
//!   `served - mark` as long as it is current; for a retired one it is `count`. Every block handed out adds one, every
//!   block freed takes one, and what is resized in place changes nothing.
//! - **G4** A byte is handed out again only when its block was freed by the chunk's owner while it owned it (rewound,
//!   or through a list), or when no block of its chunk is alive. A block in a list is listed once.
//! - **G5** `top..end` is free and lies in the innermost scope's current chunk; `top` is a multiple of the granule, and at
//!   least `LEAD` above that chunk's start. So no block of another run ends at `top`: the end of a block equals `top` only
//!   if both lie in the current chunk.
//! - **G6** The blocks in a scope's lists were freed by its owner, lie in chunks of that very scope, and above no chunk's
//!   top. Its chunks stay its own until it ends, and its lists end with it.
//! - **G7** A span has one block, which nobody counts: it is alive exactly while the run is in no pool. Whoever frees it has
//!   the run.
//! - **G8** Ids of owners and scopes are never used twice, so an entry that names one is that one's.
//! - **G9** Of a chunk with an owner, `tail` is where the blocks begin that were bumped since it was adopted; 0 if it was not.
//!   `older` counts the blocks below that its owner freed. So where `local + older` is 0, every block above `tail` was
//!   freed, whatever became of those below; frees of others can only make the sum larger. No block from before the
//!   adoption begins at or behind `from`.
//!
//! S1 to S4, in the module `standing`, are about scopes that stand.
//!
//! No promise is made about the calls of [`leave`](Owner::leave): one that never comes, comes twice or in
//! another order costs memory and no more. `Owner::check` asserts what a program can see of this after every
//! slow operation of a debug build.

use crate::{
    count::BIAS,
    options::Options,
    region::{self, Chunk, Entry, Place, RETAIN},
    report::{self, Label, Node, PINNED, Reason, Sums},
    size::{self, CHUNK, CLASSES, GRANULE, LARGEST, LARGEST_IN_CHUNK, LISTS, SMALL},
};
use core::{
    alloc::Layout,
    cell::Cell,
    fmt,
    num::NonZeroU64,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, Ordering},
};
use standing::Standing;
use std::io::Write;

mod standing;

/// The owner and the scope of a chunk that has none.
const RETIRED: u64 = 0;

/// The id of an owner that may not open scopes, and the scope of one that has none open. No chunk names it.
const STRANGER: u64 = 1;

/// What the entry of a span names as its scope.
const SPAN: u64 = 2;

/// The id of an owner that has ended.
const ENDED: u64 = 3;

/// The first id of an owner or a scope.
const FIRST_ID: u64 = 16;

/// So many ids an owner takes at a time.
const IDS: u64 = 1 << 20;

static NEXT_IDS: AtomicU64 = AtomicU64::new(FIRST_ID);

/// The bytes at the start of a chunk that is bumped in; no block has them (G5).
const LEAD: usize = 16;

/// A block aligned to more goes to the inner allocator.
const MOST_ALIGN: usize = 4096;

/// So many scopes an owner may end before it publishes its figures.
const UNPUBLISHED: u64 = 64;

/// How far ahead of the bump pointer memory is fetched: a scope walks over its memory only once, so the lines it comes to
/// are rarely in the nearest cache. Half a per cent in the mean of the programs measured, two in some.
const AHEAD: usize = 384;

/// Pinned chunks that an owner remembers, for their free tails.
const HINTS: usize = 8;

/// A pinned chunk is worth remembering while its tail is no further than this.
const USEFUL_TAIL: u32 = 3 << 14;

const _: () = assert!(USEFUL_TAIL as usize == CHUNK / 4 * 3);

/// From this chunk on a scope of which a quarter of the blocks is gone lists the small ones too. Before, what
/// it uses fits into a cache of the second level, and to bump is faster than to look for a freed block:
/// docs/decisions/0015-when-to-list.md. Sooner in debug builds, so that tests come there.
const LONG: u32 = if cfg!(debug_assertions) { 2 } else { 32 };

/// `list_floor` where no block is listed.
const NEVER: usize = usize::MAX;

/// `list_floor` where every block is listed, and requests of any size are served.
const ALL: usize = 0;

/// The same, where the scope's options exclude some sizes.
const ALL_FILTERED: usize = 1;

/// Recently freed blocks by their size. Each holds the address of the next in its first bytes. All bits 0 is valid.
#[derive(Debug)]
struct Lists {
    heads: [Cell<*mut u8>; LISTS],
    /// Of a standing scope: its live blocks in chunks, as far as its owner knows.
    live: Cell<i64>,
    /// Of a standing scope: the blocks that were bumped, those that were rewound again among them.
    bumped: Cell<i64>,
}

impl Lists {
    /// Puts a free block into the list of its size.
    ///
    /// # Safety
    ///
    /// The block was freed and is counted, and lies in a chunk of these lists' scope.
    #[inline(always)]
    unsafe fn push(&self, block: *mut u8, list: usize) {
        let list = &self.heads[list];
        // SAFETY: the block is free and the scope's (G6); it has at least `GRANULE` bytes, aligned to that.
        unsafe { block.cast::<*mut u8>().write(list.get()) };
        list.set(block);
    }
}

/// The scopes of an owner that can have lists at a time: they lie in the upper half of one chunk, out of reach of a
/// block that is overrun.
const LISTED_DEPTH: usize = CHUNK / 2 / size_of::<Lists>();

/// What is kept about a scope, in the entry of its first chunk: there it costs no memory, and a scope that is
/// forgotten leaves nothing behind. All bits 0 is valid.
#[derive(Debug)]
pub(crate) struct Record {
    /// The scope around this one.
    outer: Cell<Option<Chunk>>,
    /// While another scope is the innermost: this one's state.
    current: Cell<Option<Chunk>>,
    top: Cell<*mut u8>,
    end: Cell<usize>,
    small_max: Cell<usize>,
    list_floor: Cell<usize>,
    lists: Cell<Option<NonNull<Lists>>>,
    min_size: Cell<usize>,
    max_size: Cell<usize>,
    /// The bytes that may still be taken; [`NEVER`] where there is no limit.
    budget: Cell<usize>,
    label: Cell<Option<&'static Label>>,
    /// The owner's figures when the scope began.
    blocks: Cell<u64>,
    bytes: Cell<u64>,
    escaped: Cell<u64>,
    /// Live spans that the scope took.
    spans: Cell<u32>,
    /// How often it moved on to another chunk.
    moves: Cell<u32>,
}

impl Record {
    /// Makes it that of an outermost scope with the default options, see [`Owner::enter_plain`].
    fn reset(&self) {
        self.outer.set(None);
        self.min_size.set(0);
        self.max_size.set(LARGEST);
        self.budget.set(NEVER);
        self.label.set(None);
        self.spans.set(0);
        self.moves.set(0);
    }

    /// The figures as the scope began.
    fn begun(&self) -> (Option<&'static Label>, Sums) {
        let before = Sums {
            blocks: self.blocks.get(),
            bytes: self.bytes.get(),
            escaped: self.escaped.get(),
        };
        (self.label.get(), before)
    }
}

/// Names a scope that was entered. It is no proof of anything: see [`Owner::leave`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    scope: NonZeroU64,
}

impl Ticket {
    #[inline(always)]
    fn of(scope: u64) -> Option<Ticket> {
        NonZeroU64::new(scope).map(|scope| Ticket { scope })
    }
}

/// Where a scope begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// In a chunk of its own.
    Anywhere,
    /// In the free tail of this chunk, if it is pinned.
    At(Chunk),
    /// It serves nothing, and has a chunk only for its record.
    Outside,
}

/// Who opens scopes, and allocates in the innermost one: a thread, or a handle that another language keeps.
///
/// It is used by one thread at a time. What it hands out may be freed by any thread, through any owner.
#[repr(C, align(64))]
pub struct Owner {
    // The first line is all that the fast paths touch.
    top: Cell<*mut u8>,
    /// 0 where no scope serves: the fast paths rely on it.
    end: Cell<usize>,
    /// Larger blocks take the slow path: [`SMALL`], or 0.
    small_max: Cell<usize>,
    /// Blocks of at least this size are listed when they are freed: [`ALL`] and [`ALL_FILTERED`] are all of them.
    list_floor: Cell<usize>,
    scope: Cell<u64>,
    /// Blocks ever bumped.
    served: Cell<u64>,
    /// `served` when the current chunk's count was last brought up to date.
    mark: Cell<u64>,
    /// The entry of a chunk that stays owned between scopes, so that a plain scope is opened by two stores: `Some` while
    /// no scope is open, and while none is but a plain one that did nothing but bump in this chunk. `top`, `from`, `mark`,
    /// `first` and `current` are then as that scope needs them; the chunk is `first`.
    idle: Cell<Option<&'static Entry>>,

    // The second line: what a plain scope needs at its beginning and at its end.
    /// The scope that the idle chunk's entry names; 0 where there is none. Plain scopes that leave nothing behind use it one after the other.
    idle_scope: Cell<u64>,
    /// Where the idle chunk ends.
    idle_end: Cell<usize>,
    /// Where the bump pointer was when its bytes were last added up.
    from: Cell<usize>,
    /// How many more plain scopes may end before the figures are published. Those that did are not in `scopes` yet.
    unpublished: Cell<u64>,
    bytes: Cell<u64>,
    id: Cell<u64>,
    /// The first chunk of the innermost scope.
    first: Cell<Option<Chunk>>,
    current: Cell<Option<Chunk>>,
    lists: Cell<Option<NonNull<Lists>>>,

    lists_chunk: Cell<Option<Chunk>>,
    standing: Standing,
    pools: [Cell<Option<Chunk>>; CLASSES],
    /// The bytes in the pools that have memory behind them.
    kept: Cell<usize>,
    hints: [Cell<Option<Chunk>>; HINTS],
    next_hint: Cell<usize>,
    next_id: Cell<u64>,
    last_id: Cell<u64>,
    node: Cell<Option<&'static Node>>,
    /// Blocks that came from lists or are spans.
    others: Cell<u64>,
    grown: Cell<u64>,
    escaped: Cell<u64>,
    scopes: Cell<u64>,
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("id", &self.id.get())
            .field("scope", &self.scope.get())
            .finish()
    }
}

/// Where a block begins that is asked for at `top`. An address beyond every chunk where there is none.
#[inline(always)]
fn aligned(top: *mut u8, align: usize) -> *mut u8 {
    top.map_addr(|address| address.wrapping_add(align - 1) & !(align - 1))
}

/// Fetches the line that a coming block will be written to.
#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing, and any address will do.
        unsafe { _mm_prefetch::<{ _MM_HINT_T0 }>(at.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}

/// Makes a freed block useless to whoever still reads it.
///
/// # Safety
///
/// The block has that many bytes and nobody uses it.
#[inline(always)]
unsafe fn poison(block: *mut u8, size_bytes: usize) {
    if cfg!(any(feature = "poison", debug_assertions)) {
        // SAFETY: passed on.
        unsafe { block.write_bytes(0xDE, size_bytes) }
    }
}

/// Where in its chunk a block begins.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "chunks are that large, and aligned to their size"
)]
fn offset(block: *mut u8) -> u32 {
    const { assert!(CHUNK == 1 << 16) };
    u32::from(block.addr() as u16)
}

/// Where in its chunk a block ends.
#[allow(clippy::cast_possible_truncation, reason = "a block in a chunk is smaller than that")]
fn end_offset(begin: u32, rounded: usize) -> u32 {
    begin + rounded as u32
}

/// The count of a number of blocks.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the true sum is small (G3); on the way it may wrap"
)]
fn change(blocks: u64) -> i32 {
    blocks as i32
}

fn bump(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get().wrapping_add(more));
}

/// What a counter has grown by. Nothing where a scope freed more of what was there before than it took.
fn since(before: u64, now: u64) -> u64 {
    let grown = now.wrapping_sub(before);
    if i64::try_from(grown).is_ok() { grown } else { 0 }
}

/// Takes what a span grows by from its scope's budget, or gives back what it shrinks by. `false`, and nothing has changed,
/// where the budget does not reach.
fn charge(budget: &Cell<usize>, old_size: usize, new_size: usize) -> bool {
    let left = budget.get();
    if left == NEVER {
        return true;
    }
    let after = if new_size > old_size {
        left.checked_sub(new_size - old_size)
    } else {
        Some(left.saturating_add(old_size - new_size).min(NEVER - 1))
    };
    match after {
        Some(after) => budget.set(after),
        None => return false,
    }
    true
}

impl Owner {
    /// An owner that may not open scopes yet.
    #[must_use]
    pub const fn new() -> Self {
        Owner {
            top: Cell::new(ptr::null_mut()),
            end: Cell::new(0),
            small_max: Cell::new(0),
            list_floor: Cell::new(NEVER),
            scope: Cell::new(STRANGER),
            served: Cell::new(0),
            mark: Cell::new(0),
            idle: Cell::new(None),
            idle_scope: Cell::new(0),
            idle_end: Cell::new(0),
            from: Cell::new(0),
            unpublished: Cell::new(UNPUBLISHED),
            bytes: Cell::new(0),
            id: Cell::new(STRANGER),
            first: Cell::new(None),
            current: Cell::new(None),
            lists: Cell::new(None),
            lists_chunk: Cell::new(None),
            standing: Standing::new(),
            pools: [const { Cell::new(None) }; CLASSES],
            kept: Cell::new(0),
            hints: [const { Cell::new(None) }; HINTS],
            next_hint: Cell::new(0),
            next_id: Cell::new(0),
            last_id: Cell::new(0),
            node: Cell::new(None),
            others: Cell::new(0),
            grown: Cell::new(0),
            escaped: Cell::new(0),
            scopes: Cell::new(0),
        }
    }

    /// Lets the owner open scopes. False where no range of addresses can be had, or it has [ended](Owner::end).
    /// Allocates a little, once; not to be called from inside an allocator.
    pub fn start(&self) -> bool {
        if self.id.get() == STRANGER && region::is_ready() {
            let node = Node::take();
            // A node that another thread has left keeps what that one counted.
            self.served.set(node.blocks.load(Ordering::Relaxed));
            self.scopes.set(node.scopes.load(Ordering::Relaxed));
            self.bytes.set(node.bytes.load(Ordering::Relaxed));
            self.grown.set(node.grown.load(Ordering::Relaxed));
            self.escaped.set(node.escaped.load(Ordering::Relaxed));
            self.node.set(Some(node));
            self.id.set(self.new_id());
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
        self.scope.get() != STRANGER
    }

    /// Whether the innermost scope serves requests.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.end.get() != 0
    }

    #[inline]
    fn new_id(&self) -> u64 {
        if self.next_id.get() == self.last_id.get() {
            self.more_ids();
        }
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        id
    }

    #[cold]
    fn more_ids(&self) {
        // In 64 bits this never comes round (G8).
        let first = NEXT_IDS.fetch_add(IDS, Ordering::Relaxed);
        self.next_id.set(first);
        self.last_id.set(first + IDS);
    }

    // Scopes

    /// Opens a scope. `None` where that fails; then requests are served as before.
    #[inline]
    pub fn enter(&self, options: &Options) -> Option<Ticket> {
        self.enter_at(options, None, Begin::Anywhere)
    }

    /// Opens a scope that serves nothing.
    #[inline]
    pub fn enter_outside(&self) -> Option<Ticket> {
        self.enter_at(&Options::new(), None, Begin::Outside)
    }

    /// Opens a plain scope over the idle chunk: the outermost, with the default options. `None` where another is open, or
    /// there is no such chunk.
    #[inline(always)]
    pub(crate) fn enter_plain(&self) -> Option<Ticket> {
        if self.has_scope() {
            return None;
        }
        let ticket = Ticket::of(self.idle_scope.get())?;
        self.scope.set(ticket.scope.get());
        self.end.set(self.idle_end.get());
        Some(ticket)
    }

    /// Opens a scope.
    #[inline(never)]
    pub(crate) fn enter_at(
        &self,
        options: &Options,
        label: Option<&'static Label>,
        begin: Begin,
    ) -> Option<Ticket> {
        if !self.is_started() {
            return None;
        }
        // What an outermost scope asks that may go on in a standing one.
        let is_plain = options.serves_all() && begin != Begin::Outside && !self.has_scope();
        if let Some(ticket) = self.go_on(is_plain, label) {
            return Some(ticket);
        }
        let stands = is_plain && self.is_to_stand();
        if stands {
            // S2: it adopts nothing.
            self.next_hint.set(0);
        }
        let begin = if stands { Begin::Anywhere } else { begin };
        let scope = self.new_id();
        let outer = self.innermost();
        let idle = if outer.is_none() { self.take_idle() } else { None };
        self.complicate();
        let adopted = match begin {
            Begin::At(chunk) => self.adopt(chunk, scope),
            _ => None,
        };
        let taken = match (adopted, idle) {
            (None, Some(idle)) => {
                self.own(idle.entry(), scope);
                Some((idle, idle.start().wrapping_add(LEAD)))
            }
            (None, None) => self.take_chunk(scope),
            (adopted, idle) => {
                if let Some(idle) = idle {
                    self.retire(idle, CHUNK);
                }
                adopted
            }
        };
        let Some((chunk, top)) = taken else {
            self.fell_back(Reason::Exhausted);
            return None;
        };
        if let Some(outer) = outer {
            self.suspend(&outer.entry().record);
        }
        let record = &chunk.entry().record;
        record.outer.set(outer);
        record.min_size.set(options.min_size);
        record.max_size.set(options.max_size.min(LARGEST));
        // No limit that a program could reach is left out.
        let has_limit = options.byte_limit <= isize::MAX.unsigned_abs();
        record.budget.set(if has_limit { options.byte_limit } else { NEVER });
        self.begin_figures(record, label);
        record.moves.set(0);
        chunk.set_next(None);
        self.first.set(Some(chunk));
        self.scope.set(scope);
        self.lists.set(None);
        self.begin_chunk(chunk, top);
        if begin == Begin::Outside {
            self.end.set(0);
            self.small_max.set(0);
        } else {
            // Options that exclude small blocks are looked at on the slow path alone.
            let is_plain = options.min_size <= 1 && options.max_size >= SMALL;
            self.small_max.set(if is_plain { SMALL } else { 0 });
        }
        self.list_floor.set(SMALL + 1);
        let session = if stands { self.stand(chunk) } else { None };
        self.check();
        session.or(Ticket::of(scope))
    }

    /// Ends a plain scope that left no block behind: the chunk stays as it is, for the next one. Returns what is told of it.
    /// `None` where the ticket's scope is none such: [`leave_at`](Owner::leave_at) ends it.
    #[inline(always)]
    pub(crate) fn leave_plain(&self, ticket: Option<Ticket>) -> Option<Sums> {
        // No scope is 0, so this is one comparison.
        if self.scope.get() != ticket.map_or(0, |ticket| ticket.scope.get()) {
            return None;
        }
        let entry = self.idle.get()?;
        let served = self.served.get();
        let blocks = served.wrapping_sub(self.mark.get());
        // The idle chunk is no adopted one. So if its owner freed as many blocks as it bumped, nobody else freed one (G3), and
        // the shared count need not be looked at.
        if entry.local.get().wrapping_add(change(blocks)) != 0 {
            return None;
        }
        entry.local.set(0);
        self.mark.set(served);
        let from = self.from.get();
        let bytes = self.top.get().addr().wrapping_sub(from) as u64;
        if bytes != 0 {
            bump(&self.bytes, bytes);
            self.top.set(self.top.get().with_addr(from));
        }
        self.end.set(0);
        self.scope.set(STRANGER);
        let more = self.unpublished.get() - 1;
        self.unpublished.set(more);
        if more == 0 {
            self.publish(bytes);
        }
        Some(Sums { blocks, bytes, escaped: 0 })
    }

    /// Before a plain scope does anything but bump in the idle chunk: from then on it is like any other.
    #[inline]
    fn complicate(&self) {
        if let Some(entry) = self.idle.take() {
            self.idle_scope.set(0);
            let record = &entry.record;
            // `mark` was set when the scope before ended.
            record.blocks.set(self.mark.get().wrapping_add(self.others.get()));
            record.bytes.set(self.bytes.get());
            record.escaped.set(self.escaped.get());
        }
    }

    /// The idle chunk, which is idle no longer.
    #[inline]
    fn take_idle(&self) -> Option<Chunk> {
        self.idle_scope.set(0);
        self.idle.take().and(self.first.get())
    }

    /// The first chunk of the innermost scope.
    #[inline]
    fn innermost(&self) -> Option<Chunk> {
        if self.has_scope() { self.first.get() } else { None }
    }

    /// Ends a scope, and those that were opened in it and have not ended. Does nothing if it has ended already, or is
    /// another owner's.
    #[inline]
    pub fn leave(&self, ticket: Ticket) {
        let _ = self.leave_at(ticket);
    }

    /// As [`leave`](Owner::leave); returns what the scope did, and its current chunk if that is pinned now.
    #[inline]
    pub(crate) fn leave_at(&self, ticket: Ticket) -> Option<(Sums, Option<Chunk>)> {
        if self.scope.get() != ticket.scope.get() {
            self.leave_above(ticket)?;
        }
        let closed = self.close();
        self.check();
        closed
    }

    /// Ends the scopes inside of the one that the ticket names. `None` if that one is not open.
    #[cold]
    fn leave_above(&self, ticket: Ticket) -> Option<()> {
        let mut named = self.innermost()?;
        while !self.is_named(named, ticket) {
            named = named.entry().record.outer.get()?;
        }
        while self.first.get() != Some(named) {
            self.close()?;
        }
        Some(())
    }

    /// Whether a ticket is that of the open scope that begins in this chunk.
    fn is_named(&self, first: Chunk, ticket: Ticket) -> bool {
        let scope = if self.is_standing(first) {
            self.standing.session.get()
        } else {
            first.entry().scope.load(Ordering::Relaxed)
        };
        scope == ticket.scope.get()
    }

    /// Ends the innermost scope, or lets it rest.
    #[inline(never)]
    fn close(&self) -> Option<(Sums, Option<Chunk>)> {
        let first = self.innermost()?;
        if self.is_standing(first) {
            return Some((self.rest(first), None));
        }
        self.complicate();
        bump(&self.scopes, 1);
        let begun = first.entry().record.begun();
        let pinned = self.give_up(first);
        let sums = self.tell(begun);
        if !self.has_scope() {
            self.publish(sums.bytes);
        }
        Some((sums, pinned))
    }

    /// Gives up the chunks of the innermost scope, which begins in this one, for the scope around it. Returns its current chunk if
    /// that is pinned now.
    #[inline]
    fn give_up(&self, first: Chunk) -> Option<Chunk> {
        let current = self.current.get()?;
        self.flush();
        let record = &first.entry().record;
        bump(&self.escaped, u64::from(record.spans.get()));
        let outer = record.outer.get();
        let tail = self.top.get().addr().wrapping_sub(current.start().addr());
        let mut is_pinned = false;
        let mut next = Some(current);
        // The first chunk is put into the pool last, so that the next scope begins where this one did.
        while let Some(chunk) = next {
            next = chunk.next();
            if outer.is_none() && chunk == first && self.is_clean(chunk) && !self.is_to_stand() {
                // An outermost scope's first chunk stays for the next one, unless that is to stand.
                self.idle_in(chunk);
            } else if chunk == current {
                is_pinned = self.retire(chunk, tail);
            } else {
                self.retire(chunk, CHUNK);
            }
        }
        self.resume(outer);
        is_pinned.then_some(current)
    }

    /// Keeps the figures as a scope begins.
    #[inline]
    fn begin_figures(&self, record: &Record, label: Option<&'static Label>) {
        record.label.set(label);
        record.blocks.set(self.blocks());
        record.bytes.set(self.bytes.get());
        record.escaped.set(self.escaped.get());
        record.spans.set(0);
    }

    /// What a scope that ends did, by the figures as it began.
    #[inline]
    fn tell(&self, (label, before): (Option<&'static Label>, Sums)) -> Sums {
        let sums = Sums {
            blocks: self.blocks().wrapping_sub(before.blocks),
            bytes: since(before.bytes, self.bytes.get()),
            escaped: self.escaped.get().wrapping_sub(before.escaped),
        };
        if let Some(label) = label {
            label.count(&sums);
        }
        sums
    }

    /// Keeps a clean chunk as the idle one.
    #[inline]
    fn idle_in(&self, chunk: Chunk) {
        let scope = self.new_id();
        let entry = chunk.entry();
        entry.record.reset();
        entry.is_sparse.set(false);
        entry.pinned.set(0);
        entry.tail.set(0);
        entry.older.set(0);
        entry.bumped.set(0);
        entry.scope.store(scope, Ordering::Relaxed);
        self.idle.set(Some(entry));
        self.idle_scope.set(scope);
        self.idle_end.set(chunk.start().addr() + CHUNK);
    }

    /// Whether nothing in a chunk of this owner's is alive; its count is up to date.
    #[inline]
    fn is_clean(&self, chunk: Chunk) -> bool {
        let entry = chunk.entry();
        entry.local.get() == 0 && entry.count.is_untouched()
    }

    /// Keeps the innermost scope's state in its record, before another becomes the innermost.
    #[inline]
    fn suspend(&self, record: &Record) {
        self.flush();
        record.current.set(self.current.get());
        record.top.set(self.top.get());
        record.end.set(self.end.get());
        record.small_max.set(self.small_max.get());
        record.list_floor.set(self.list_floor.get());
        record.lists.set(self.lists.get());
    }

    /// Makes the scope that begins in a chunk the innermost again; none, if there is none.
    #[inline]
    fn resume(&self, outer: Option<Chunk>) {
        self.mark.set(self.served.get());
        let Some(first) = outer else {
            // As a plain scope over the idle chunk needs it.
            let idle = self.idle.get().and(self.first.get());
            let top = idle.map_or(ptr::null_mut(), |idle| idle.start().wrapping_add(LEAD));
            self.top.set(top);
            self.from.set(top.addr());
            self.first.set(idle);
            self.current.set(idle);
            self.lists.set(None);
            self.small_max.set(SMALL);
            self.list_floor.set(SMALL + 1);
            self.end.set(0);
            self.scope.set(STRANGER);
            return;
        };
        let entry = first.entry();
        let record = &entry.record;
        self.top.set(record.top.get());
        self.from.set(record.top.get().addr());
        self.first.set(outer);
        self.current.set(record.current.get());
        self.lists.set(record.lists.get());
        self.small_max.set(record.small_max.get());
        self.list_floor.set(record.list_floor.get());
        self.end.set(record.end.get());
        self.scope.set(entry.scope.load(Ordering::Relaxed));
    }

    /// Ends every scope, gives everything back to the pools that all share, and never opens a scope again. What is alive stays
    /// so.
    pub fn end(&self) {
        while self.innermost().is_some() {
            self.close();
        }
        // Ends the standing scope, too.
        self.release_pools();
        self.publish(0);
        if let Some(node) = self.node.take() {
            node.leave();
        }
        self.id.set(ENDED);
    }

    /// Gives what this owner's pools hold to those that all share.
    pub fn release_pools(&self) {
        // Of an open scope, one may be the first chunk, and in the other lie its lists.
        if self.innermost().is_none() {
            self.end_standing();
            if let Some(chunk) = self.take_idle() {
                self.resume(None);
                self.retire(chunk, CHUNK);
            }
            if let Some(chunk) = self.lists_chunk.take() {
                region::give(chunk);
            }
        }
        for pool in &self.pools {
            let mut next = pool.take();
            while let Some(chunk) = next {
                next = chunk.next();
                region::give(chunk);
            }
        }
        self.kept.set(0);
        if let Some(node) = self.node.get() {
            node.kept.store(0, Ordering::Relaxed);
        }
    }

    /// Hands this owner's figures to the report; `bytes` are those of one scope.
    #[inline(never)]
    pub(crate) fn publish(&self, bytes: u64) {
        let ended = UNPUBLISHED - self.unpublished.replace(UNPUBLISHED);
        bump(&self.scopes, ended);
        let Some(node) = self.node.get() else { return };
        node.scopes.store(self.scopes.get(), Ordering::Relaxed);
        node.blocks.store(self.blocks(), Ordering::Relaxed);
        node.bytes.store(self.bytes.get(), Ordering::Relaxed);
        node.grown.store(self.grown.get(), Ordering::Relaxed);
        node.escaped.store(self.escaped.get(), Ordering::Relaxed);
        node.kept.store(self.kept.get(), Ordering::Relaxed);
        if node.high_water.load(Ordering::Relaxed) < bytes {
            node.high_water.store(bytes, Ordering::Relaxed);
        }
    }

    /// Publishes what the last outermost scope left, unless another one is open.
    pub(crate) fn publish_at_rest(&self) {
        if self.innermost().is_none() {
            self.publish(0);
        }
    }

    #[inline]
    fn blocks(&self) -> u64 {
        self.served.get().wrapping_add(self.others.get())
    }

    fn fell_back(&self, reason: Reason) {
        if let Some(node) = self.node.get() {
            node.fell_back(reason);
        }
    }

    // Chunks

    /// Takes a run from this owner's pool, or from the shared one.
    #[inline]
    fn take(&self, class: usize) -> Option<Chunk> {
        let Some(chunk) = self.pools[class].get() else { return region::take(class) };
        self.pools[class].set(chunk.next());
        self.kept.set(self.kept.get() - chunk.entry().touched.get());
        Some(chunk)
    }

    /// Puts a run into this owner's pool, or where that has enough into the shared one.
    #[inline]
    fn give(&self, chunk: Chunk, class: usize) {
        let kept = self.kept.get() + chunk.entry().touched.get();
        if kept > RETAIN.load(Ordering::Relaxed) {
            region::give(chunk);
        } else {
            self.kept.set(kept);
            chunk.set_next(self.pools[class].get());
            self.pools[class].set(Some(chunk));
        }
    }

    /// A chunk for a scope, owned, and where its free bytes begin.
    #[inline]
    fn take_chunk(&self, scope: u64) -> Option<(Chunk, *mut u8)> {
        // S2: the standing scope adopts nothing; those inside of it do.
        if self.next_hint.get() > 0 && scope != self.standing.scope.get() {
            if let Some(adopted) = self.adopt_hint(scope) {
                return Some(adopted);
            }
        }
        let chunk = self.take(0)?;
        let entry = chunk.entry();
        entry.count.own();
        entry.touched.set(CHUNK);
        entry.is_sparse.set(false);
        entry.pinned.set(0);
        entry.tail.set(0);
        self.own(entry, scope);
        Some((chunk, chunk.start().wrapping_add(LEAD)))
    }

    #[inline]
    fn own(&self, entry: &Entry, scope: u64) {
        entry.local.set(0);
        entry.bumped.set(0);
        entry.older.set(0);
        entry.scope.store(scope, Ordering::Relaxed);
        entry.owner.store(self.id.get(), Ordering::Relaxed);
    }

    /// Takes over a chunk that is pinned, for its free tail.
    fn adopt(&self, chunk: Chunk, scope: u64) -> Option<(Chunk, *mut u8)> {
        let entry = chunk.entry();
        let live = entry.count.adopt()?;
        PINNED.fetch_sub(1, Ordering::Relaxed);
        self.standing.unpinned(entry);
        entry.pinned.set(live);
        self.own(entry, scope);
        // Read after the exchange: what was there before it may be an earlier owner's.
        Some((chunk, chunk.start().wrapping_add(entry.tail.get() as usize)))
    }

    /// Adopts the first of the remembered chunks that is still pinned, and forgets those before it.
    #[cold]
    fn adopt_hint(&self, scope: u64) -> Option<(Chunk, *mut u8)> {
        while let Some(last) = self.next_hint.get().checked_sub(1) {
            self.next_hint.set(last);
            let hint = self.hints[last % HINTS].take();
            if let Some(adopted) = hint.and_then(|chunk| self.adopt(chunk, scope)) {
                return Some(adopted);
            }
        }
        None
    }

    /// Begins to bump in a chunk of the innermost scope.
    #[inline]
    fn begin_chunk(&self, chunk: Chunk, top: *mut u8) {
        let limit = chunk.start().addr() + CHUNK;
        self.current.set(Some(chunk));
        self.top.set(top);
        self.from.set(top.addr());
        self.mark.set(self.served.get());
        let Some(first) = self.first.get() else { return };
        let budget = &first.entry().record.budget;
        if budget.get() == NEVER {
            self.end.set(limit);
        } else {
            let granted = budget.get().min(limit - top.addr());
            budget.set(budget.get() - granted);
            self.end.set(top.addr() + granted);
        }
    }

    /// Brings the count of the current chunk up to date, and the bytes.
    #[inline]
    fn flush(&self) {
        let Some(chunk) = self.current.get() else { return };
        let entry = chunk.entry();
        let bumped = change(self.served.get().wrapping_sub(self.mark.get()));
        entry.local.set(entry.local.get().wrapping_add(bumped));
        entry.bumped.set(entry.bumped.get().wrapping_add(bumped));
        self.mark.set(self.served.get());
        if let Some(lists) = self.listed() {
            lists.live.set(lists.live.get() + i64::from(bumped));
            lists.bumped.set(lists.bumped.get() + i64::from(bumped));
        }
        let top = self.top.get().addr();
        // Below 0 where the bump pointer came back.
        bump(&self.bytes, top.wrapping_sub(self.from.get()) as u64);
        self.from.set(top);
    }

    /// Leaves the current chunk of the innermost scope for another one, for a block that takes so many bytes with
    /// its padding.
    #[cold]
    fn next_chunk(&self, needed: usize) -> Result<(), Reason> {
        let (Some(first), Some(old)) = (self.innermost(), self.current.get()) else {
            return Err(Reason::Exhausted);
        };
        self.complicate();
        let budget = &first.entry().record.budget;
        let left = self.end.get() - self.top.get().addr();
        if budget.get() != NEVER && budget.get() + left < needed {
            return Err(Reason::ByteLimit);
        }
        let (chunk, top) = self.take_chunk(self.scope.get()).ok_or(Reason::Exhausted)?;
        if budget.get() != NEVER {
            budget.set(budget.get() + left);
        }
        self.flush();
        let moves = &first.entry().record.moves;
        moves.set(moves.get().saturating_add(1));
        if self.is_standing(first) {
            self.standing_grew(moves.get());
        } else if moves.get() >= LONG && self.churns(old, moves.get().is_power_of_two()) {
            self.begin_listing();
        }
        chunk.set_next(self.current.get());
        self.begin_chunk(chunk, top);
        self.check();
        Ok(())
    }

    /// Whether a quarter of what the innermost scope bumped is gone: in its newest chunk, or in all of them. In a queue blocks
    /// go when their chunk was left long ago.
    fn churns(&self, newest: Chunk, all: bool) -> bool {
        let (mut live, mut bumped) = (0, 0);
        let mut next = Some(newest);
        while let Some(chunk) = next {
            live += i64::from(chunk.entry().local.get());
            bumped += i64::from(chunk.entry().bumped.get());
            next = if all { chunk.next() } else { None };
        }
        live * 4 < bumped * 3
    }

    /// Ends the ownership of a chunk of a scope that ends, `tail` bytes of which are in use or lost. True if it is pinned.
    #[inline]
    fn retire(&self, chunk: Chunk, tail: usize) -> bool {
        let entry = chunk.entry();
        if self.is_clean(chunk) {
            entry.scope.store(RETIRED, Ordering::Relaxed);
            entry.owner.store(RETIRED, Ordering::Relaxed);
            entry.count.clear();
            self.give(chunk, 0);
            return false;
        }
        self.settle(chunk, tail)
    }

    /// As [`retire`](Owner::retire), where other threads may be about to free the last block.
    #[inline(never)]
    fn settle(&self, chunk: Chunk, tail: usize) -> bool {
        let entry = chunk.entry();
        let local = entry.local.replace(0);
        let pinned_before = entry.pinned.get();
        // If all that was bumped since the adoption is free again, the tail begins where it did (G9).
        let newer = local.wrapping_add(entry.older.get());
        let is_as_before = newer == 0 && entry.tail.get() > 0;
        #[allow(clippy::cast_possible_truncation, reason = "at most a chunk")]
        let tail = if is_as_before { entry.tail.get() } else { tail as u32 };
        entry.tail.set(tail);
        self.standing.pinning(entry, newer);
        entry.scope.store(RETIRED, Ordering::Relaxed);
        entry.owner.store(RETIRED, Ordering::Relaxed);
        // Counted before, so that whoever frees the last block finds it counted.
        PINNED.fetch_add(1, Ordering::Relaxed);
        let live = entry.count.settle(local);
        if live == 0 {
            PINNED.fetch_sub(1, Ordering::Relaxed);
            self.standing.unpinned(entry);
            self.give(chunk, 0);
            return false;
        }
        // From here on the chunk is nobody's (G2): its entry must not be touched.
        // Those of the scope that its owner did not free, unless another thread did.
        bump(&self.escaped, u64::from(live.min(u32::try_from(newer).unwrap_or(0))));
        if let Some(node) = self.node.get() {
            report::add(&node.pinned, u64::from(pinned_before == 0));
        }
        if tail <= USEFUL_TAIL {
            let place = self.next_hint.get();
            self.hints[place % HINTS].set(Some(chunk));
            self.next_hint.set((place + 1).min(HINTS));
        }
        true
    }

    // Allocating

    /// A block of the innermost scope; null where none is open or it does not serve the request. One of no bytes is not
    /// served: its address would be the next block's, or the next chunk's.
    #[inline(always)]
    pub fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() == 0 {
            return ptr::null_mut();
        }
        self.alloc_or(layout, || self.alloc_aligned(layout))
    }

    /// As [`alloc`](Owner::alloc), but calls `slow`, which is to go on with [`alloc_aligned_or`](Owner::alloc_aligned_or), where
    /// the fast path does not serve the request. The size is not 0.
    #[inline(always)]
    pub(crate) fn alloc_or(&self, layout: Layout, slow: impl FnOnce() -> *mut u8) -> *mut u8 {
        let size = layout.size();
        // `top` is a multiple of the granule (G5): what asks for no more needs no rounding, and is nearly everything.
        if size <= self.small_max.get() && layout.align() <= GRANULE {
            let start = self.top.get();
            if let Some(end) = self.fits(start, size) {
                self.bump_to(end);
                return start;
            }
        }
        slow()
    }

    /// What is left of [`alloc`](Owner::alloc), out of line.
    #[cold]
    #[inline(never)]
    fn alloc_aligned(&self, layout: Layout) -> *mut u8 {
        self.alloc_aligned_or(layout, || self.alloc_slow(layout))
    }

    /// As [`alloc`](Owner::alloc), but calls `slow`, which is to do the same as [`alloc_slow`](Owner::alloc_slow), where there is
    /// more to do than to align and to bump.
    #[inline(always)]
    pub(crate) fn alloc_aligned_or(
        &self,
        layout: Layout,
        slow: impl FnOnce() -> *mut u8,
    ) -> *mut u8 {
        let size = layout.size();
        if size <= self.small_max.get() {
            let start = aligned(self.top.get(), layout.align());
            if let Some(end) = self.fits(start, size) {
                self.bump_to(end);
                return start;
            }
        }
        slow()
    }

    /// Where a small block ends that begins at `start`; `None` where it does not fit.
    #[inline(always)]
    fn fits(&self, start: *mut u8, size: usize) -> Option<*mut u8> {
        let end = start.wrapping_add(size::round_small(size));
        (end.addr() <= self.end.get()).then_some(end)
    }

    /// Hands out what lies between `top` and `end`. G5: it is free. It is counted with `served` (G3).
    #[inline(always)]
    fn bump_to(&self, end: *mut u8) {
        self.top.set(end);
        self.served.set(self.served.get().wrapping_add(1));
        prefetch(end.wrapping_add(AHEAD));
    }

    /// As [`alloc`](Owner::alloc), filled with zeros.
    #[inline]
    pub fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST_IN_CHUNK {
            return self.alloc_beyond(layout, 0, true);
        }
        let block = self.alloc(layout);
        if !block.is_null() {
            // SAFETY: the block is new and as large as the layout says.
            unsafe { block.write_bytes(0, layout.size()) }
        }
        block
    }

    /// As [`alloc`](Owner::alloc), for what the fast path does not serve.
    #[inline(never)]
    pub(crate) fn alloc_slow(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        if size > LARGEST_IN_CHUNK {
            return self.alloc_beyond(layout, 0, false);
        }
        let (Some(first), true) = (self.innermost(), self.is_open()) else {
            return ptr::null_mut();
        };
        let record = &first.entry().record;
        if size < record.min_size.get() {
            return self.refuse(Reason::Small);
        }
        if size > record.max_size.get() {
            return self.refuse(Reason::Large);
        }
        if layout.align() > MOST_ALIGN {
            return self.refuse(Reason::Alignment);
        }
        let rounded = size::round(size);
        if let Some(block) = self.pop(rounded, size::list(rounded), layout.align()) {
            return block;
        }
        loop {
            let start = aligned(self.top.get(), layout.align());
            let end = start.wrapping_add(rounded);
            if end.addr() <= self.end.get() {
                self.top.set(end);
                self.served.set(self.served.get().wrapping_add(1));
                return start;
            }
            // Ends: the first chunk that is not adopted has room.
            if let Err(reason) = self.next_chunk(rounded + layout.align()) {
                return self.refuse(reason);
            }
        }
    }

    #[cold]
    fn refuse(&self, reason: Reason) -> *mut u8 {
        self.fell_back(reason);
        ptr::null_mut()
    }

    /// A block in chunks of its own: `1 << headroom` times as many as it needs.
    #[inline(never)]
    fn alloc_beyond(&self, layout: Layout, headroom: usize, zeroed: bool) -> *mut u8 {
        let (Some(first), true) = (self.innermost(), self.is_open()) else {
            return ptr::null_mut();
        };
        let size = layout.size();
        let record = &first.entry().record;
        if size < record.min_size.get() {
            return self.refuse(Reason::Small);
        }
        if size > record.max_size.get() {
            return self.refuse(Reason::Large);
        }
        if layout.align() > MOST_ALIGN {
            return self.refuse(Reason::Alignment);
        }
        let budget = record.budget.get();
        // What the current chunk was granted and has left counts too.
        let left = self.end.get() - self.top.get().addr();
        if budget != NEVER && budget.saturating_add(left) < size {
            return self.refuse(Reason::ByteLimit);
        }
        let class = (size::class(size + MOST_ALIGN) + headroom).min(CLASSES - 1);
        let Some(chunk) = self.take(class) else { return self.refuse(Reason::Exhausted) };
        self.complicate();
        if budget != NEVER {
            record.budget.set(budget.saturating_sub(size));
            self.end.set(self.end.get() - size.saturating_sub(budget));
        }
        record.spans.set(record.spans.get().saturating_add(1));
        let entry = chunk.entry();
        entry.scope.store(SPAN, Ordering::Relaxed);
        entry.owner.store(self.id.get(), Ordering::Relaxed);
        entry.home.set(self.scope.get());
        let lead = colour(chunk).next_multiple_of(layout.align());
        let block = chunk.start().wrapping_add(lead);
        let dirty = entry.touched.get().saturating_sub(lead).min(size);
        if zeroed {
            // SAFETY: the run is this owner's and has room for the block. Behind what was touched it is zero.
            unsafe { block.write_bytes(0, dirty) }
        }
        entry.touched.set(entry.touched.get().max(lead + size));
        bump(&self.others, 1);
        bump(&self.bytes, size as u64);
        block
    }

    // Freeing

    /// Frees a block. False if it is not the engine's; then nothing has changed.
    ///
    /// # Safety
    ///
    /// The block is alive, some allocator's, and if it is the engine's it has this layout. If the result is true it is used no
    /// more.
    #[inline]
    pub unsafe fn dealloc(&self, block: *mut u8, layout: Layout) -> bool {
        // SAFETY: passed on.
        let Some(place) = (unsafe { region::find(block) }) else { return false };
        // SAFETY: passed on.
        unsafe { self.free(place, block, layout.size()) };
        true
    }

    /// Frees a block of any owner.
    ///
    /// # Safety
    ///
    /// The block is alive, [`find`](region::find) returned `place` for it, and it has this size. It is not used again.
    #[inline(always)]
    pub(crate) unsafe fn free(&self, place: Place, block: *mut u8, size: usize) {
        // SAFETY: passed on.
        let large = || unsafe { self.free_large(place, block, size) };
        // SAFETY: passed on.
        let listed = || unsafe { self.free_listed(place, block, size, large) };
        // SAFETY: passed on.
        let elsewhere = || unsafe { self.free_elsewhere(place, block, size) };
        // SAFETY: passed on.
        unsafe { self.free_or(place, block, size, listed, elsewhere) }
    }

    /// As [`free`](Owner::free). Where there is more to do than to count and to rewind it calls `listed` or `elsewhere`, which are to
    /// do the same as [`free_listed`](Owner::free_listed) and [`free_elsewhere`](Owner::free_elsewhere).
    ///
    /// # Safety
    ///
    /// As [`free`](Owner::free).
    #[inline(always)]
    pub(crate) unsafe fn free_or(
        &self,
        place: Place,
        block: *mut u8,
        size: usize,
        listed: impl FnOnce(),
        elsewhere: impl FnOnce(),
    ) {
        let entry = place.entry();
        let is_here = entry.scope.load(Ordering::Relaxed) == self.scope.get()
            && offset(block) >= entry.tail.get();
        if !is_here {
            return elsewhere();
        }
        if size >= self.list_floor.get() {
            return listed();
        }
        // The innermost scope's id is in the entry, so this owner has the chunk (G2, G8).
        entry.local.set(entry.local.get().wrapping_sub(1));
        // SAFETY: passed on.
        unsafe { poison(block, size) };
        let end = block.addr().wrapping_add(size::round_small(size));
        if end == self.top.get().addr() {
            // The last block of the current chunk (G5).
            self.top.set(self.top.get().with_addr(block.addr()));
        }
    }

    /// Lists a block, or rewinds. Calls `large`, which is to do the same as [`free_large`](Owner::free_large), for a large one.
    ///
    /// # Safety
    ///
    /// As [`free`](Owner::free), for a block of the innermost scope's that is above its chunk's tail and not below the size that the
    /// scope lists.
    #[inline(always)]
    pub(crate) unsafe fn free_listed(
        &self,
        place: Place,
        block: *mut u8,
        size: usize,
        large: impl FnOnce(),
    ) {
        if size > SMALL {
            return large();
        }
        // Whoever lists small blocks has lists.
        let Some(lists) = self.listed() else { return large() };
        // SAFETY: passed on.
        unsafe { poison(block, size) };
        let local = &place.entry().local;
        local.set(local.get().wrapping_sub(1));
        lists.live.set(lists.live.get() - 1);
        let block = region::reach(block);
        if block.addr() + size::round_small(size) == self.top.get().addr() {
            self.top.set(block);
        } else {
            // SAFETY: the block is free, counted, and lies in a chunk of the innermost scope.
            unsafe { lists.push(block, size::small_list(size)) };
        }
    }

    /// As [`free_listed`](Owner::free_listed), for a block of any size.
    ///
    /// # Safety
    ///
    /// As [`free_listed`](Owner::free_listed).
    #[inline]
    pub(crate) unsafe fn free_large(&self, place: Place, block: *mut u8, size: usize) {
        // SAFETY: passed on.
        unsafe { poison(block, size) };
        let local = &place.entry().local;
        local.set(local.get().wrapping_sub(1));
        let rounded = size::round(size);
        let block = region::reach(block);
        let is_last = block.addr() + rounded == self.top.get().addr();
        let lists = if is_last { self.listed() } else { self.lists() };
        if let Some(lists) = lists {
            lists.live.set(lists.live.get() - 1);
        }
        if is_last {
            self.top.set(block);
        } else if let Some(lists) = lists {
            // SAFETY: the block is free, counted, and lies in a chunk of the innermost scope.
            unsafe { lists.push(block, size::list(rounded)) };
        }
    }

    /// Frees a block of any owner that is not one of those that [`free_listed`](Owner::free_listed) frees: of another scope, or older than
    /// the adoption of its chunk.
    ///
    /// # Safety
    ///
    /// As [`free`](Owner::free).
    #[inline]
    pub(crate) unsafe fn free_elsewhere(&self, place: Place, block: *mut u8, size: usize) {
        // SAFETY: passed on.
        unsafe { poison(block, size) };
        let entry = place.entry();
        if entry.scope.load(Ordering::Relaxed) == self.scope.get() {
            self.free_older(entry, block, size);
        } else {
            // SAFETY: passed on.
            unsafe { self.free_other(place.chunk(), block, size) };
        }
    }

    /// Rewinds where a block ends that was freed and lay in a chunk of the innermost scope, below its tail: it is from before the
    /// chunk was adopted.
    fn free_older(&self, entry: &Entry, block: *mut u8, size: usize) {
        entry.local.set(entry.local.get().wrapping_sub(1));
        entry.older.set(entry.older.get().wrapping_add(1));
        if block.addr() + size::round(size) == self.top.get().addr() {
            // The last block of the current chunk (G5). What is bumped here from now on is this scope's (G9).
            self.top.set(self.top.get().with_addr(block.addr()));
            entry.tail.set(offset(block));
        }
    }

    /// Counts a block that was freed and is not in a chunk of the innermost scope.
    ///
    /// # Safety
    ///
    /// The block has this size and was freed.
    unsafe fn free_other(&self, chunk: Chunk, block: *mut u8, size: usize) {
        let entry = chunk.entry();
        if entry.scope.load(Ordering::Relaxed) == SPAN {
            // The block was the run's only one, so the run is the caller's (G7).
            self.free_span(chunk, size);
        } else if entry.owner.load(Ordering::Relaxed) == self.id.get() {
            // An outer scope's, or the standing one's.
            entry.local.set(entry.local.get().wrapping_sub(1));
            if entry.scope.load(Ordering::Relaxed) == self.standing.scope.get() {
                // SAFETY: passed on; it is counted.
                unsafe { self.free_standing(block, size) };
            } else if offset(block) < entry.tail.get() {
                entry.older.set(entry.older.get().wrapping_add(1));
            }
        } else if free_foreign(chunk.entry()) {
            self.standing.unpinned(chunk.entry());
            region::give(chunk);
        }
    }

    /// Puts the run of a span into a pool.
    fn free_span(&self, chunk: Chunk, size: usize) {
        let entry = chunk.entry();
        entry.scope.store(RETIRED, Ordering::Relaxed);
        if entry.owner.load(Ordering::Relaxed) != self.id.get() {
            region::give(chunk);
            return;
        }
        if let Some(record) = self.record_of(entry.home.get()) {
            record.spans.set(record.spans.get().saturating_sub(1));
            charge(&record.budget, size, 0);
        }
        self.give(chunk, chunk.class());
    }

    /// The record of an open scope of this owner.
    fn record_of(&self, scope: u64) -> Option<&Record> {
        let mut next = self.innermost().or(self.standing.first.get());
        while let Some(first) = next {
            let entry = first.entry();
            if entry.scope.load(Ordering::Relaxed) == scope {
                return Some(&entry.record);
            }
            next = entry.record.outer.get();
        }
        None
    }

    // Resizing

    /// Resizes a block in place, or within the innermost scope if it is that scope's. Null if that cannot be done, or the
    /// block is not the engine's: then nothing has changed, and the caller may move what is in it elsewhere.
    ///
    /// # Safety
    ///
    /// As [`dealloc`](Owner::dealloc). `new_size` is not 0, and at most `isize::MAX` when rounded up to the alignment. If the
    /// result is not null the block is used no more, but through the result.
    #[inline]
    pub unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: passed on.
        let Some(place) = (unsafe { region::find(block) }) else { return ptr::null_mut() };
        // SAFETY: passed on.
        let slow = || unsafe { self.resize(place, block, layout, new_size) };
        // SAFETY: passed on.
        unsafe { self.resize_or(block, layout.size(), new_size, slow) }
    }

    /// Resizes a block of any owner: in place, or within the innermost scope if the block is its own. Null if neither can be
    /// done: then nothing has changed.
    ///
    /// # Safety
    ///
    /// As [`free`](Owner::free); `new_size` is not 0, and no more than `isize::MAX` when rounded up to the alignment. If
    /// the result is not null, the block is used no more, but through the result.
    #[inline]
    pub(crate) unsafe fn resize(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        let entry = place.entry();
        let scope = entry.scope.load(Ordering::Relaxed);
        if scope == self.scope.get() {
            let old = size::round_small(layout.size());
            let is_last = block.addr() + old == self.top.get().addr();
            // Where small blocks are listed the limit is 0.
            if !is_last && layout.size() <= SMALL && new_size <= self.small_max.get() {
                if new_size <= old {
                    bump(&self.grown, 1);
                    return region::reach(block);
                }
                // SAFETY: passed on.
                return unsafe { self.resize_by_moving(place, block, layout, new_size) };
            }
            let old = size::round(layout.size());
            if new_size < CHUNK {
                let new = size::round(new_size);
                let end = block.addr().wrapping_add(new);
                if block.addr() + old == self.top.get().addr() && end <= self.end.get() {
                    if self.list_floor.get() <= ALL_FILTERED && new != old {
                        // Were it resized where it is, blocks that are made with one size and freed with another
                        // would fill a list that nobody asks.
                        if let Some(listed) = self.pop(new, size::list(new), layout.align()) {
                            // SAFETY: passed on; the listed block has the new size.
                            return unsafe { self.move_to(listed, place, block, layout, new_size) };
                        }
                    }
                    // The last block of the current chunk (G5); it stays counted (G3).
                    self.top.set(self.top.get().with_addr(end));
                    if offset(block) < entry.tail.get() {
                        // One from before the adoption: this scope's blocks begin behind it (G9).
                        entry.tail.set(end_offset(offset(block), new));
                    }
                    bump(&self.grown, 1);
                    return region::reach(block);
                }
                if new == old || (new < old && old <= SMALL) {
                    bump(&self.grown, 1);
                    return region::reach(block);
                }
            }
            // SAFETY: passed on.
            return unsafe { self.resize_by_moving(place, block, layout, new_size) };
        }
        if scope == SPAN {
            // SAFETY: passed on.
            return unsafe { self.resize_span(place, block, layout, new_size) };
        }
        // What shrinks stays where it is; what grows leaves the arena. So does what shrinks by half or more in a standing scope: the
        // rest of the block would be of no use to that until its end.
        let is_standing = scope == self.standing.scope.get();
        let least = if is_standing { layout.size() / 2 } else { 0 };
        let stays = new_size > least && new_size <= layout.size();
        if stays { block } else { ptr::null_mut() }
    }

    /// As [`resize`](Owner::resize), but calls `slow`, which is to do the same, unless a small block ends the current chunk and
    /// finds room.
    ///
    /// # Safety
    ///
    /// As [`resize`](Owner::resize), for a block of this size.
    #[inline(always)]
    pub(crate) unsafe fn resize_or(
        &self,
        block: *mut u8,
        size: usize,
        new_size: usize,
        slow: impl FnOnce() -> *mut u8,
    ) -> *mut u8 {
        let (old, new) = (size::round_small(size), size::round_small(new_size));
        let top = self.top.get();
        // The last block of the current chunk (G5), bumped since that was adopted (G9). A block of more than `SMALL` that is
        // rounded further ends beyond this.
        let is_last = block.addr().wrapping_add(old) == top.addr();
        if is_last && block.addr() >= self.from.get() && new_size <= self.small_max.get() {
            let start = top.wrapping_sub(old);
            let end = start.wrapping_add(new);
            if end.addr() <= self.end.get() {
                // It stays counted (G3).
                self.top.set(end);
                bump(&self.grown, 1);
                return start;
            }
        }
        slow()
    }

    /// Moves what a block holds to a new one, and frees it.
    ///
    /// # Safety
    ///
    /// As [`resize`](Owner::resize); `new` is a block of so many bytes that nobody has used yet.
    #[inline(always)]
    unsafe fn move_to(
        &self,
        new: *mut u8,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        // SAFETY: both blocks have so many bytes, and the new one was free a moment ago.
        unsafe { new.copy_from_nonoverlapping(block, layout.size().min(new_size)) };
        // SAFETY: the caller uses the old block no more.
        unsafe { self.free(place, block, layout.size()) };
        new
    }

    /// # Safety
    ///
    /// As [`resize`](Owner::resize), for a span.
    unsafe fn resize_span(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        // Whoever holds the block has the run (G7).
        let chunk = place.chunk();
        let entry = chunk.entry();
        let lead = block.addr() - chunk.start().addr();
        let fits = new_size <= size::span(chunk.class()) - lead;
        if fits && new_size >= layout.size() / 2 {
            // A scope of another owner's, or one that has ended, has no limit to keep.
            let is_own = entry.owner.load(Ordering::Relaxed) == self.id.get();
            let record = if is_own { self.record_of(entry.home.get()) } else { None };
            if record.is_some_and(|record| !charge(&record.budget, layout.size(), new_size)) {
                return ptr::null_mut();
            }
            entry.touched.set(entry.touched.get().max(lead + new_size));
            bump(&self.grown, 1);
            return region::reach(block);
        }
        if entry.home.get() != self.scope.get() {
            return if fits && new_size <= layout.size() { block } else { ptr::null_mut() };
        }
        // SAFETY: passed on.
        unsafe { self.resize_by_moving(place, block, layout, new_size) }
    }

    /// # Safety
    ///
    /// As [`resize`](Owner::resize), for a block of the innermost scope.
    #[inline(always)]
    unsafe fn resize_by_moving(
        &self,
        place: Place,
        block: *mut u8,
        layout: Layout,
        new_size: usize,
    ) -> *mut u8 {
        // SAFETY: the caller says that the size is not too large for the alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let new = if new_size > LARGEST_IN_CHUNK {
            // What grew once grows again: room for two doublings more. It costs addresses, no memory.
            let headroom = if new_size > layout.size() { 2 } else { 0 };
            self.alloc_beyond(new_layout, headroom, false)
        } else {
            self.alloc(new_layout)
        };
        if new.is_null() {
            return new;
        }
        // SAFETY: passed on; the new block was asked for with the new size.
        unsafe { self.move_to(new, place, block, layout, new_size) }
    }

    // Lists

    /// The innermost scope's lists, if it has any.
    #[inline(always)]
    fn listed(&self) -> Option<&Lists> {
        // SAFETY: the place is this owner's, was set to null pointers, and is another scope's only after this one's end.
        self.lists.get().map(|lists| unsafe { lists.as_ref() })
    }

    /// The innermost scope's lists, made if there are none yet. `None` where it is nested too deeply.
    #[inline]
    fn lists(&self) -> Option<&Lists> {
        if self.lists.get().is_none() {
            self.make_lists();
        }
        self.listed()
    }

    #[cold]
    fn make_lists(&self) {
        let Some(first) = self.innermost() else { return };
        let mut place = 0;
        let mut next = first.entry().record.outer.get();
        while let Some(outer) = next {
            next = outer.entry().record.outer.get();
            place += 1;
            if place == LISTED_DEPTH {
                return;
            }
        }
        self.complicate();
        if self.lists_chunk.get().is_none() {
            self.lists_chunk.set(self.take(0));
        }
        let Some(chunk) = self.lists_chunk.get() else { return };
        chunk.entry().touched.set(CHUNK);
        let offset = CHUNK / 2 + place * size_of::<Lists>();
        let lists = NonNull::new(chunk.start().wrapping_add(offset).cast::<Lists>());
        if let Some(lists) = lists {
            // SAFETY: the place lies in the chunk, which holds nothing but lists, and no other scope has the same place: there
            // is one a depth, and a scope that stands is the outermost one (S1).
            unsafe { lists.write_bytes(0, 1) };
        }
        self.lists.set(lists);
    }

    /// From now on the innermost scope lists what it frees, of any size.
    fn begin_listing(&self) {
        // Once: afterwards the limit tells nothing of the options.
        if self.list_floor.get() > ALL_FILTERED && self.lists().is_some() {
            let serves_all = self.small_max.get() > 0;
            self.list_floor.set(if serves_all { ALL } else { ALL_FILTERED });
            self.small_max.set(0);
        }
    }

    /// As [`alloc_slow`](Owner::alloc_slow), but calls `slow`, which is to do the same, unless the innermost scope lists small
    /// blocks and has one of this size.
    #[inline(always)]
    pub(crate) fn alloc_listed_or(
        &self,
        layout: Layout,
        slow: impl FnOnce() -> *mut u8,
    ) -> *mut u8 {
        if self.list_floor.get() == ALL && layout.size() <= SMALL {
            let (size, list) = (layout.size(), size::small_list(layout.size()));
            if let Some(block) = self.pop(size::round_small(size), list, layout.align()) {
                return block;
            }
        }
        slow()
    }

    /// A block that was freed lately, of exactly this size.
    #[inline(always)]
    fn pop(&self, rounded: usize, list: usize, align: usize) -> Option<*mut u8> {
        let lists = self.listed()?;
        let list = &lists.heads[list];
        let block = list.get();
        if block.is_null() || block.addr() & (align - 1) != 0 {
            return None;
        }
        // SAFETY: the block is free, and its first bytes are the link that `free_listed` wrote (G6).
        list.set(unsafe { block.cast::<*mut u8>().read() });
        // SAFETY: the block is the engine's own.
        let place = unsafe { region::find(block) }?;
        // The chunk is this scope's (G6), so its count is this owner's.
        let local = &place.entry().local;
        local.set(local.get().wrapping_add(1));
        lists.live.set(lists.live.get() + 1);
        bump(&self.others, 1);
        bump(&self.bytes, rounded as u64);
        Some(block)
    }

    /// Ends the program where an invariant does not hold, as far as it shows. A panic must not leave an allocator.
    fn check(&self) {
        if cfg!(debug_assertions) {
            if let Some(broken) = self.broken() {
                let _ = writeln!(std::io::stderr(), "ebbtide-global: {broken} is broken");
                std::process::abort();
            }
        }
    }

    /// An invariant that does not hold.
    fn broken(&self) -> Option<&'static str> {
        let Some(first) = self.innermost() else {
            let has_chunk = self.first.get().is_some();
            let at_rest = self.end.get() == 0 && has_chunk == self.idle.get().is_some();
            if !at_rest {
                return Some("an owner without scopes");
            }
            if self.has_standing() && has_chunk {
                return Some("S1");
            }
            let is_clean = self.idle.get().is_none_or(|idle| idle.count.peek() == BIAS);
            return (!is_clean).then_some("G3, of the idle chunk");
        };
        let Some(current) = self.current.get() else { return Some("a scope without a chunk") };
        let is_idle = |idle: &Entry| ptr::eq(idle, first.entry()) && first == current;
        if self.idle.get().is_some_and(|idle| !is_idle(idle)) {
            return Some("the idle chunk");
        }
        if self.is_standing(first) && current.entry().tail.get() > 0 {
            return Some("S2");
        }
        let (start, top) = (current.start().addr(), self.top.get().addr());
        let end = self.end.get();
        if top < start + LEAD || top > start + CHUNK || top % GRANULE != 0 {
            return Some("G5, top");
        }
        if end != 0 && (end < top || end > start + CHUNK) {
            return Some("G5, end");
        }
        let mut next = Some(current);
        // Not all of them: every chunk is checked when it is new.
        for _ in 0..8 {
            let Some(chunk) = next else { break };
            let entry = chunk.entry();
            let is_own = entry.scope.load(Ordering::Relaxed) == self.scope.get()
                && entry.owner.load(Ordering::Relaxed) == self.id.get();
            if !is_own || entry.count.peek() <= BIAS / 2 {
                return Some("G2");
            }
            next = chunk.next();
            if next.is_none() && chunk != first {
                return Some("the list of a scope's chunks");
            }
        }
        None
    }
}

// SAFETY: nothing in an owner belongs to the thread that made it. Its chunks are its own whoever runs it (G2), and moving it to
// another thread puts what it did before in order.
unsafe impl Send for Owner {}

impl Default for Owner {
    fn default() -> Self {
        Owner::new()
    }
}

/// Whether a block is the engine's, whatever owner handed it out.
///
/// ```
/// use ebbtide_global::{Scoped, arena, engine};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// let (inside, outside) = (arena(|| Box::new(1)), Box::new(2));
/// assert!(engine::is_ours(&raw const *inside));
/// assert!(!engine::is_ours(&raw const *outside));
/// ```
#[must_use]
pub fn is_ours<T>(block: *const T) -> bool {
    region::contains(block.addr())
}

/// Frees a block of a chunk that the caller does not own. If it was the last one, the chunk is the caller's: for the shared pool,
/// so that a thread which only frees does not hoard what another one allocates.
#[inline]
fn free_foreign(entry: &Entry) -> bool {
    let last = entry.count.free();
    if last {
        PINNED.fetch_sub(1, Ordering::Relaxed);
    }
    last
}

/// Where in its first page a span's block begins. Blocks that all begin a page would meet in the same few lines of
/// every cache.
fn colour(chunk: Chunk) -> usize {
    (chunk.number().wrapping_mul(0x9E37_79B1) >> 28) as usize * 256
}
