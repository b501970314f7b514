//! Runs of chunks, and what the engine knows about each: the entries of the table.
//!
//! The class of a run says how many chunks it has, and what for. Once the frontier has passed it,
//! it stays such a run for ever: it is neither split nor joined.

use crate::{
    count::Count,
    figures::{Label, Usage},
    lists::FreeLists,
    range::{self, ENTRY_BYTES},
    size::{self, CHUNK, CHUNK_SHIFT, LARGEST},
};
use core::{
    cell::Cell,
    num::NonZeroU32,
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

/// The owner and the scope of a chunk that has none.
pub(crate) const RETIRED: u64 = 0;

/// The scope of an owner that has none open, and the ID of one that was not started. No entry names
/// it.
pub(crate) const NO_ID: u64 = 1;

/// What the entry of a run names as its scope while it holds a large block.
pub(crate) const LARGE_BLOCK: u64 = 2;

/// No limit: of a scope's byte budget.
pub(crate) const UNLIMITED: usize = usize::MAX;

/// What the engine knows about the run that begins with a chunk. All bits 0 is a valid entry, of a
/// chunk that was never taken.
///
/// `scope`, `owner`, `next` and `count` are atomics, which anyone may read. Everything else belongs
/// to whoever owns the run (G2 in `owner`): its owner, whoever took it from a pool, or for a large
/// block whoever holds the block. Plain fields pass from one to the next with the run: through
/// `Count`, through a `Stack`, or with the large block.
///
/// # Memory order
///
/// `scope` and `owner` are stored and loaded `Relaxed`, and no fence stands beside them. Whoever
/// loads one owns the run, or holds a live block of it, and asks one of two questions.
///
/// - Of a chunk: does it name my owner, or a scope of mine? IDs are never used twice (G8), so such
///   a value was stored by that owner itself, which stores another one before it gives the run
///   away. A thread never loads a value older than its own last store, and an owner that moves to
///   another thread takes its stores along. So the answer is yes exactly while the owner has the
///   run.
/// - Is it [`LARGE_BLOCK`]? Chunks are never runs for large blocks, so for a chunk it is no at any
///   time. For a large block it was stored, with the owner, before the block was handed out, and
///   both stay until it is freed.
///
/// `next` is the owner's, but in a pool, where [`Stack`](crate::stack::Stack) says what orders it.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Entry {
    /// The scope that the chunk belongs to, or [`RETIRED`], or [`LARGE_BLOCK`].
    pub(crate) scope: AtomicU64,
    /// Who counts in `local`. Of a large block: whose scope took it.
    pub(crate) owner: AtomicU64,
    /// The owner's own count of live blocks. May be below 0, since blocks that others free are
    /// counted elsewhere.
    pub(crate) local: Cell<i32>,
    /// The next run of a scope, or in a pool.
    next: AtomicU32,
    /// Live blocks when the owner adopted the chunk.
    pub(crate) adopted_live: Cell<u32>,
    /// Where the free tail began when the chunk was retired, in bytes from its start. Once it is
    /// adopted: where the blocks of its owner begin; 0 if it was not adopted.
    pub(crate) tail_start: Cell<u32>,
    /// Blocks below `tail_start` that the owner freed.
    pub(crate) older_freed: Cell<i32>,
    /// Blocks that the owner bumped in the chunk and has counted in `local`.
    pub(crate) bumped: Cell<i32>,
    /// The class of the run that begins here.
    class: Cell<u32>,
    /// Whether fewer than a quarter of its blocks were alive when it was pinned.
    pub(crate) is_sparse: Cell<bool>,
    /// Whether one of its medium blocks was put into a free list since it got its owner.
    pub(crate) has_listed: Cell<bool>,
    /// The bytes from the start that may hold something else than zeros.
    pub(crate) touched: Cell<usize>,
    /// The bytes from the start that may have memory behind them, as counted in `memory`.
    pub(crate) held: Cell<usize>,
    // A line of its own: other threads write to it.
    _apart: CacheLine,
    pub(crate) count: Count,
    // Further lines: only the first chunk of a scope uses them.
    _further: CacheLine,
    /// Of the scope that begins in this chunk.
    pub(crate) record: ScopeRecord,
}

#[repr(align(64))]
#[derive(Debug)]
struct CacheLine;

const _: () = assert!(size_of::<Entry>() == ENTRY_BYTES || usize::BITS != 64);
const _: () = assert!(size_of::<Entry>() <= ENTRY_BYTES);

/// What is kept about a scope, in the entry of its first chunk: there it costs no memory, and a
/// scope that is forgotten leaves nothing behind. All bits 0 is valid.
#[derive(Debug)]
pub(crate) struct ScopeRecord {
    /// The scope around this one.
    pub(crate) outer: Cell<Option<Run>>,

    // While another scope is the innermost: this one's state.
    pub(crate) current_chunk: Cell<Option<Run>>,
    pub(crate) top: Cell<*mut u8>,
    pub(crate) limit: Cell<usize>,
    pub(crate) outside_depth: Cell<u32>,
    pub(crate) retry_after: Cell<u32>,
    pub(crate) lists: Cell<Option<NonNull<FreeLists>>>,

    /// Whether blocks of every size are listed when they are freed.
    pub(crate) lists_all: Cell<bool>,
    /// The sizes that the scope serves.
    pub(crate) min_size: Cell<usize>,
    pub(crate) max_size: Cell<usize>,
    /// The bytes that may still be taken; [`UNLIMITED`] where there is no limit.
    pub(crate) budget: Cell<usize>,
    pub(crate) label: Cell<Option<&'static Label>>,
    /// The owner's figures when the scope began.
    pub(crate) blocks_at_start: Cell<u64>,
    pub(crate) bytes_at_start: Cell<u64>,
    pub(crate) escaped_at_start: Cell<u64>,
    /// Live large blocks that the scope took.
    pub(crate) large: Cell<u32>,
    /// How many chunks the scope took after its first.
    pub(crate) added_chunks: Cell<u32>,
    /// Where the run holds a large block: the scope that took it.
    pub(crate) large_scope: Cell<u64>,
}

impl ScopeRecord {
    /// Makes it that of an outermost scope with the default options and no label.
    pub(crate) fn reset(&self) {
        self.outer.set(None);
        self.lists_all.set(false);
        self.min_size.set(0);
        self.max_size.set(LARGEST);
        self.budget.set(UNLIMITED);
        self.label.set(None);
        self.large.set(0);
        self.added_chunks.set(0);
    }

    /// The owner's figures when the scope began.
    pub(crate) fn usage_at_start(&self) -> Usage {
        Usage {
            blocks: self.blocks_at_start.get(),
            bytes: self.bytes_at_start.get(),
            escaped: self.escaped_at_start.get(),
        }
    }

    /// How many chunks a scope has that adopted none.
    pub(crate) fn chunks(&self) -> usize {
        self.added_chunks.get() as usize + 1
    }
}

/// A run of chunks that the frontier has passed, by the number of its first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run(NonZeroU32);

impl Run {
    /// A run that nobody had before: zeros, without memory behind it. `None` where the range or the
    /// system's memory is used up.
    pub(crate) fn fresh(class: usize) -> Option<Run> {
        let run = Run(range::advance(size::run_chunks(class))?);
        #[allow(clippy::cast_possible_truncation, reason = "below `CLASSES`")]
        run.entry().class.set(class as u32);
        Some(run)
    }

    /// The run with a number that [`number`](Run::number) returned.
    pub(crate) fn from_number(number: u32) -> Option<Run> {
        NonZeroU32::new(number).map(Run)
    }

    #[inline(always)]
    pub(crate) fn number(self) -> u32 {
        self.0.get()
    }

    /// The run's entry.
    #[inline(always)]
    pub(crate) fn entry(self) -> &'static Entry {
        let entry =
            range::table().wrapping_add(self.0.get() as usize * ENTRY_BYTES).cast::<Entry>();
        // SAFETY: numbers of runs come from the frontier, so the entry is committed memory of the
        // table (G1), which is aligned to more than an entry and never given back; all bits 0 is a
        // valid entry. Nobody makes a `&mut Entry`, and its fields allow through `&` what is done
        // to them by whom G2 permits.
        unsafe { &*entry }
    }

    /// The first byte, with provenance for the whole range.
    #[inline(always)]
    pub(crate) fn start(self) -> *mut u8 {
        range::origin().wrapping_add((self.0.get() as usize) << CHUNK_SHIFT)
    }

    /// See [`CLASSES`](size::CLASSES).
    pub(crate) fn class(self) -> usize {
        self.entry().class.get() as usize
    }

    /// The next run in a list.
    #[inline]
    pub(crate) fn next(self) -> Option<Run> {
        NonZeroU32::new(self.entry().next.load(Ordering::Relaxed)).map(Run)
    }

    /// The runs of a list, by its first one.
    pub(crate) fn list(first: Option<Run>) -> impl Iterator<Item = Run> {
        core::iter::successors(first, |run| run.next())
    }

    /// The runs behind this one in its list.
    pub(crate) fn following(self) -> impl Iterator<Item = Run> {
        Run::list(self.next())
    }

    /// Links the run to the next one of a list.
    #[inline]
    pub(crate) fn set_next(self, next: Option<Run>) {
        self.entry().next.store(next.map_or(0, Run::number), Ordering::Relaxed);
    }
}

/// Where in the range a live block lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Behind the origin.
    offset: usize,
}

impl Place {
    /// The run that the block lies in.
    #[inline(always)]
    pub(crate) fn run(self) -> Run {
        #[allow(clippy::cast_possible_truncation, reason = "a range has fewer than 2^32 chunks")]
        let number = (self.offset >> CHUNK_SHIFT) as u32;
        // SAFETY: `find` makes places for live blocks only. The engine's lie in runs, and a run
        // never begins with chunk 0. No other allocator has memory in the range.
        Run(unsafe { NonZeroU32::new_unchecked(number) })
    }

    /// The entry of [`run`](Place::run), computed without cutting the number to 32 bits.
    #[inline(always)]
    pub(crate) fn entry(self) -> &'static Entry {
        let entry = range::table().cast::<Entry>().wrapping_add(self.offset >> CHUNK_SHIFT);
        // SAFETY: the block is alive, so the frontier has passed its chunk; then it is as for
        // `Run::entry`.
        unsafe { &*entry }
    }
}

/// Where a block lies; `None` where it is not the engine's.
///
/// # Safety
///
/// `block` is alive: some allocator's, or the engine's own.
#[inline(always)]
pub(crate) unsafe fn find(block: *mut u8) -> Option<Place> {
    range::offset_of(block.addr()).map(|offset| Place { offset })
}

/// Where in its chunk an address lies.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "chunks are that large, and aligned to their size"
)]
pub(crate) fn offset_in_chunk(block: *mut u8) -> u32 {
    const { assert!(CHUNK == 1 << 16) };
    u32::from(block.addr() as u16)
}
