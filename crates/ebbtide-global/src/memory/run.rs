//! Runs of chunks, their table entries, and the lookup of a block's run by address.
//!
//! The class of a run determines its number of chunks, and whether scopes bump in it or it holds a
//! large block. Runs are never split or merged.
//!
//! All of `owner` and `memory` call it, and `scoped` for the lookup. [`Entry`] says who may write
//! which field.

use crate::{
    figures::{self, Counted, Label, Usage},
    memory::{
        os,
        range::{self, ENTRY_BYTES},
    },
    scope::mode::Mode,
    shared::count::Count,
    size::{self, BUMP_CLASS, CHUNK, CHUNK_SHIFT, LARGEST},
};
use core::{
    cell::Cell,
    num::NonZeroU32,
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

/// The scope and the ID of an owner that was not started. It is 0, so that all-zero bytes are such
/// an owner. Entries of chunks that were never taken have the same value, but no block lies in
/// those chunks.
pub(crate) const NOT_STARTED: u64 = 0;

/// The scope of an owner without an open scope. It is in no entry.
pub(crate) const NO_SCOPE: u64 = 1;

/// The scope in the entry of a run that holds a large block.
pub(crate) const LARGE_BLOCK: u64 = 2;

/// The ID of an owner that has ended. It is in no entry.
pub(crate) const ENDED: u64 = 3;

/// The scope and owner in the entry of a chunk that has no owner.
pub(crate) const RETIRED: u64 = 4;

/// The first ID of an owner or a scope.
pub(crate) const FIRST_ID: u64 = 16;

/// The allowance of a scope without a byte limit. Adding to it, without overflow, changes nothing.
pub(crate) const UNLIMITED: usize = usize::MAX;

/// The table entry of the run that begins with a chunk. All-zero bytes are a valid entry, of a
/// chunk that was never taken.
///
/// `scope_id`, `owner_id`, `next` and `count` are atomics, which any thread may read. Only the thread
/// that owns the run accesses the other fields (G2 in `owner`): the run's owner, the thread that took
/// it from a pool, or the thread that holds its large block. `Count`, `Stack`, or the handing over of
/// the large block orders their accesses.
///
/// # Memory order
///
/// `scope_id` and `owner_id` are stored and loaded `Relaxed`, without fences. A thread that loads one
/// owns the run or holds a live block of it, and compares the value in one of two ways:
///
/// - With the ID of its own owner, or of a scope of that owner. IDs are never used twice (G7), so
///   only that owner stores such a value, and it stores another one before it gives up the run. A
///   thread never loads a value older than its own last store, and moving an owner to another
///   thread orders the owner's earlier stores before its later loads. So the two values are equal
///   exactly as long as the owner has the run.
/// - With [`LARGE_BLOCK`]. A chunk never has this value, because a run never changes its class. The
///   run of a large block had it, and the ID of the owner, before the block was handed out, and
///   keeps both until the block is freed.
///
/// Only the run's owner uses `next`, except in a pool, where [`Stack`](crate::shared::stack::Stack) orders
/// it.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Entry {
    /// The ID of the scope that the chunk belongs to, or [`RETIRED`] or [`LARGE_BLOCK`].
    pub(crate) scope_id: AtomicU64,
    /// The ID of the owner, which counts in `local`; for a large block, of the owner that served
    /// it.
    pub(crate) owner_id: AtomicU64,
    /// Blocks that the owner served less those that it freed. Negative if it freed more than it
    /// served. Frees by other threads are counted in `count`.
    pub(crate) local: Cell<i32>,
    /// The next run in the list of a scope or of a pool.
    next: AtomicU32,
    /// The offset of the free tail. In a pinned chunk, the bytes that the last owner left unused
    /// begin there. In a chunk with an owner, the blocks that this owner bumped begin there; 0 if
    /// the owner did not adopt the chunk.
    pub(crate) tail_start: Cell<u32>,
    /// Blocks below `tail_start` that the owner has freed.
    pub(crate) older_freed: Cell<i32>,
    /// The class of the run that begins here.
    class: Cell<u32>,
    /// The bytes from the start of the run that may be other than zero.
    pub(crate) touched: Cell<usize>,
    /// The bytes from the start of the run that may have memory behind them, as counted in
    /// `memory`.
    pub(crate) held: Cell<usize>,
    // A cache line of its own, because other threads write to it.
    _apart: CacheLine,
    pub(crate) count: Count,
    /// The label of the scope that pinned the chunk. While the chunk has an owner, it is the label
    /// of the scope that pinned it last.
    label: Cell<Option<&'static Label>>,
    /// The part of `held` behind the end of a large block that shrank.
    pub(crate) slack: Cell<usize>,
    // Further cache lines, used only in the first chunk of a scope.
    _further: CacheLine,
    /// The record of the scope whose first chunk this is.
    pub(crate) record: ScopeRecord,
}

#[repr(align(64))]
#[derive(Debug)]
struct CacheLine;

const _: () = assert!(size_of::<Entry>() == ENTRY_BYTES || usize::BITS != 64);
const _: () = assert!(size_of::<Entry>() <= ENTRY_BYTES);

/// The state of a scope, stored in the entry of its first chunk. There it takes no extra memory,
/// and a scope whose ticket is forgotten leaks nothing. All-zero bytes are valid.
#[derive(Debug)]
pub(crate) struct ScopeRecord {
    /// The enclosing scope.
    pub(crate) outer: Cell<Option<ScopeRef>>,

    /// The state of the scope while it is open but not the innermost one.
    pub(crate) saved: Cell<Saved>,
    /// Saved as well: the requests of the present unit that the scope still skips or, if it skips
    /// none, has served; see `owner/skip`.
    pub(crate) unit: Cell<u32>,

    /// The number of times that the scope may still be refused a large block before it looks for empty
    /// chunks again.
    pub(crate) pauses_until_sweep: Cell<u16>,
    /// The sizes that the scope serves: at least `min_size`, at most `max_size`.
    min_size: Cell<u32>,
    max_size: Cell<u32>,
    /// The bytes that the scope may still take; [`UNLIMITED`] if it has no byte limit.
    pub(crate) allowance: Cell<usize>,
    /// The label for which the chunks that the scope pins are counted: its own, or that of the next
    /// scope around it that has one.
    pub(crate) label: Cell<Option<&'static Label>>,
    /// Whether the label is the scope's own.
    has_label: Cell<bool>,
    /// See [`Counted::continues`].
    continues: Cell<bool>,
    /// See [`Counted::site`].
    site: Cell<u32>,
    /// The owner's figures when the scope began.
    pub(crate) at_start: Cell<Usage>,
    /// The scope's live large blocks.
    pub(crate) large: Cell<u32>,
    /// In a run that holds a large block: the scope that served it, and the ID of that scope.
    pub(crate) large_scope: Cell<Option<ScopeRef>>,
    pub(crate) large_scope_id: Cell<u64>,
}

/// The state of a scope that is open but not the innermost one. All-zero bytes are valid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    pub(crate) position: Position,
    pub(crate) mode: Mode,
}

/// Where a scope bumps; see the fields of [`Bump`](crate::scope::bump::Bump).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) chunk: Option<ChunkRef>,
    pub(crate) parked: u32,
    pub(crate) top: *mut u8,
    pub(crate) limit: usize,
}

impl Position {
    /// The offset in the chunk at which the free bytes begin.
    pub(crate) fn offset(&self) -> usize {
        self.chunk.map_or(0, |chunk| self.top.addr().wrapping_sub(chunk.start().addr()))
    }
}

impl Entry {
    /// Relaxed: see [`Entry`].
    #[inline(always)]
    pub(crate) fn scope_id(&self) -> u64 {
        self.scope_id.load(Ordering::Relaxed)
    }

    /// Relaxed: see [`Entry`].
    #[inline(always)]
    pub(crate) fn owner_id(&self) -> u64 {
        self.owner_id.load(Ordering::Relaxed)
    }

    /// Whether no block of this chunk of the caller's is alive. If so, nobody else can name the chunk.
    pub(crate) fn is_empty(&self, _: Flushed) -> bool {
        self.count.is_empty(self.local.get())
    }

    /// Names the label of the scope that is about to pin the chunk.
    pub(crate) fn set_label(&self, label: Option<&'static Label>) {
        self.label.set(label);
    }

    /// Counts the chunk as pinned. Called before the chunk is pinned.
    pub(crate) fn count_pinned(&self) {
        figures::count_pinned(self.label.get());
    }

    /// Reverses [`count_pinned`](Entry::count_pinned). The caller owns the chunk.
    pub(crate) fn count_unpinned(&self) {
        figures::count_unpinned(self.label.get());
    }
}

impl ScopeRecord {
    /// Sets how the figures count the scope. `outer` is set before.
    pub(crate) fn count_as(&self, counted: Counted) {
        let around = self.outer.get().and_then(|outer| outer.record().label.get());
        self.label.set(counted.label.or(around));
        self.has_label.set(counted.label.is_some());
        self.continues.set(counted.continues);
        self.site.set(counted.site);
    }

    /// How the figures count the scope.
    pub(crate) fn counted(&self) -> Counted {
        let label = self.label.get().filter(|_| self.has_label.get());
        Counted { label, continues: self.continues.get(), site: self.site.get() }
    }

    /// The smallest size that the scope serves.
    pub(crate) fn min_size(&self) -> usize {
        self.min_size.get() as usize
    }

    /// The largest size that the scope serves, at most [`LARGEST`].
    pub(crate) fn max_size(&self) -> usize {
        self.max_size.get() as usize
    }

    /// Sets the sizes that the scope serves.
    #[allow(clippy::cast_possible_truncation, reason = "neither is above `LARGEST + 1`")]
    pub(crate) fn set_sizes(&self, min: usize, max: usize) {
        self.min_size.set(min.min(LARGEST + 1) as u32);
        self.max_size.set(max.min(LARGEST) as u32);
    }

    /// Whether the scope has a byte limit.
    pub(crate) fn has_limit(&self) -> bool {
        self.allowance.get() != UNLIMITED
    }

    /// Resets the record to that of an outermost scope with the default options and no label.
    pub(crate) fn reset(&self) {
        self.outer.set(None);
        self.pauses_until_sweep.set(0);
        self.set_sizes(0, LARGEST);
        self.allowance.set(UNLIMITED);
        self.count_as(Counted::default());
        self.large.set(0);
    }
}

/// Proof that the counts of an owner's chunks include every block that it bumped. Whoever needs exact
/// counts, or makes another chunk the current one, asks for it. It is out of date as soon as the owner
/// bumps again, so it is in no field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flushed(());

impl Flushed {
    /// Only for `flush` in `owner/switch`, which counts the blocks.
    pub(crate) fn all_counted() -> Flushed {
        Flushed(())
    }

    /// For chunks in which nobody bumps: no scope is open, or the chunk was just adopted.
    pub(crate) fn nothing_bumped() -> Flushed {
        Flushed(())
    }
}

/// A run of chunks below the frontier, identified by the number of its first chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Run(NonZeroU32);

impl Run {
    /// Takes new chunks for a run. They are zeroed and have no memory behind them yet. `None` if
    /// the range is used up or the system has no memory.
    pub(crate) fn fresh(class: usize) -> Option<Run> {
        let run = Run(range::advance(size::run_chunks(class))?);
        #[allow(clippy::cast_possible_truncation, reason = "below `CLASSES`")]
        run.entry().class.set(class as u32);
        Some(run)
    }

    /// The run for a number that [`number`](Run::number) returned; `None` for 0.
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
        // table (G1), which is aligned for entries and never given back. All-zero bytes are a valid
        // entry. No `&mut Entry` exists: the fields are atomics, or cells that only the thread that
        // owns the run accesses (G2).
        unsafe { &*entry }
    }

    /// The first byte, with provenance for the whole range.
    #[inline(always)]
    pub(crate) fn start(self) -> *mut u8 {
        range::origin().wrapping_add((self.0.get() as usize) << CHUNK_SHIFT)
    }

    /// Makes the first `bytes` bytes usable again after memory of the run went back to the system.
    /// Returns false if the system has no memory.
    pub(crate) fn recommit(self, bytes: usize) -> bool {
        let bytes = bytes.next_multiple_of(os::page_bytes());
        NonNull::new(self.start()).is_some_and(|start| os::recommit(start, bytes))
    }

    /// The run class; see [`CLASSES`](size::CLASSES).
    pub(crate) fn class(self) -> usize {
        self.entry().class.get() as usize
    }

    /// The next run in a list.
    pub(crate) fn next(self) -> Option<Run> {
        NonZeroU32::new(self.entry().next.load(Ordering::Relaxed)).map(Run)
    }

    /// The runs of a list that begins with `first`. The next run is read before a run is returned, so
    /// that the caller may give it up or put it into another list.
    pub(crate) fn list(first: Option<Run>) -> impl Iterator<Item = Run> {
        core::iter::successors(first, |run| run.next())
    }

    /// Sets the next run in the list.
    pub(crate) fn set_next(self, next: Option<Run>) {
        invariant!(next != Some(self), "a list has no cycle");
        self.entry().next.store(next.map_or(0, Run::number), Ordering::Relaxed);
    }
}

/// A chunk in which scopes bump: a run of class [`BUMP_CLASS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ChunkRef(Run);

impl ChunkRef {
    pub(crate) fn of(run: Run) -> ChunkRef {
        invariant!(run.class() == BUMP_CLASS, "the run of a chunk");
        ChunkRef(run)
    }

    #[inline(always)]
    pub(crate) fn run(self) -> Run {
        self.0
    }

    #[inline(always)]
    pub(crate) fn entry(self) -> &'static Entry {
        self.0.entry()
    }

    /// The first byte, with provenance for the whole range.
    #[inline(always)]
    pub(crate) fn start(self) -> *mut u8 {
        self.0.start()
    }

    /// The address at which the chunk ends.
    #[inline(always)]
    pub(crate) fn end(self) -> usize {
        self.start().addr() + CHUNK
    }

    /// The next chunk of the scope.
    pub(crate) fn next(self) -> Option<ChunkRef> {
        self.0.next().map(ChunkRef)
    }

    pub(crate) fn set_next(self, next: Option<ChunkRef>) {
        self.0.set_next(next.map(ChunkRef::run));
    }

    /// Like [`Run::list`].
    pub(crate) fn list(first: Option<ChunkRef>) -> impl Iterator<Item = ChunkRef> {
        Run::list(first.map(ChunkRef::run)).map(ChunkRef)
    }

    /// The chunks after this one in its list.
    pub(crate) fn following(self) -> impl Iterator<Item = ChunkRef> {
        ChunkRef::list(self.next())
    }
}

/// The run of a large block (G6 in `owner`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct LargeRef(Run);

impl LargeRef {
    pub(crate) fn of(run: Run) -> LargeRef {
        invariant!(run.class() != BUMP_CLASS, "G6, the run of a large block");
        LargeRef(run)
    }

    pub(crate) fn run(self) -> Run {
        self.0
    }

    pub(crate) fn entry(self) -> &'static Entry {
        self.0.entry()
    }
}

/// A scope: open or, between two fast scopes, the next one. Its first chunk identifies it, and the entry of that chunk has its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ScopeRef {
    first_chunk: ChunkRef,
}

impl ScopeRef {
    /// The scope that begins in this chunk.
    pub(crate) fn beginning_in(first_chunk: ChunkRef) -> ScopeRef {
        ScopeRef { first_chunk }
    }

    #[inline(always)]
    pub(crate) fn first_chunk(self) -> ChunkRef {
        self.first_chunk
    }

    /// The scope's ID. If the scope has ended, the ID of another one, or a constant that is no ID.
    #[inline(always)]
    pub(crate) fn id(self) -> u64 {
        self.first_chunk.entry().scope_id()
    }

    #[inline(always)]
    pub(crate) fn record(self) -> &'static ScopeRecord {
        &self.first_chunk.entry().record
    }

    /// The enclosing scope.
    pub(crate) fn outer(self) -> Option<ScopeRef> {
        self.record().outer.get()
    }
}

/// The place of a live block in the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The offset from the origin.
    offset: usize,
}

impl Place {
    #[inline(always)]
    fn run(self) -> Run {
        #[allow(clippy::cast_possible_truncation, reason = "a range has fewer than 2^32 chunks")]
        let number = (self.offset >> CHUNK_SHIFT) as u32;
        // SAFETY: `find` returns places of live blocks only. No other allocator has memory in the
        // range, so the block is the engine's and lies in a run. No run contains chunk 0.
        Run(unsafe { NonZeroU32::new_unchecked(number) })
    }

    /// The chunk that the block lies in, if it is not a large block.
    #[inline(always)]
    pub(crate) fn chunk(self) -> ChunkRef {
        ChunkRef::of(self.run())
    }

    /// The run of the block, if it is a large one.
    pub(crate) fn large(self) -> LargeRef {
        LargeRef::of(self.run())
    }

    /// The entry of the block's run, computed without truncating the number to 32 bits.
    #[inline(always)]
    pub(crate) fn entry(self) -> &'static Entry {
        let entry = range::table().cast::<Entry>().wrapping_add(self.offset >> CHUNK_SHIFT);
        // SAFETY: the block is alive, or its chunk has an owner. So its chunk lies below the frontier
        // and its entry is committed. The rest of the argument is that of `Run::entry`.
        unsafe { &*entry }
    }
}

/// The place of a block; `None` if the block belongs to another allocator.
///
/// # Safety
///
/// `block` is null, or alive and the engine's or any other allocator's.
#[inline(always)]
pub(crate) unsafe fn find(block: *mut u8) -> Option<Place> {
    range::offset_of(block.addr()).map(|offset| Place { offset })
}

/// The offset of a block in its chunk.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "chunks are that large, and aligned to their size"
)]
pub(crate) fn offset_in_chunk(block: *mut u8) -> u32 {
    const { assert!(CHUNK == 1 << 16) };
    u32::from(block.addr() as u16)
}
