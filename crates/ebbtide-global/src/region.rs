//! The one range of addresses that every chunk lies in, and the pools that all threads share.
//!
//! ```text
//! reserved at the first scope, never given back
//! ┌──────────────────────┬─────────┬─────────┬─────────┬───────────────────┐
//! │ table: one Entry a   │ chunk 0 │ chunk 1 │ chunk 2 │ … not committed   │
//! │ chunk, out of line   │ (none)  │         │         │                   │
//! └──────────────────────┴─────────┴─────────┴─────────┴───────────────────┘
//! table                  origin              ▲ frontier       origin + size
//! ```
//!
//! Whether a pointer is the engine's is one addition and one comparison. Memory is committed in steps as the
//! frontier moves; neighbouring steps have the same rights, so the system keeps them as one mapping. A run of
//! `1 << class` chunks that the frontier passed stays such a run for ever: it is never split, nor joined.
//!
//! Nothing here locks, so a `fork` at any moment leaves nothing locked.

use crate::{
    count::Count,
    os::{self, Purged},
    size::{self, CHUNK, CHUNK_SHIFT, CLASSES},
};
use core::{
    cell::Cell,
    num::NonZeroU32,
    ptr::{self, NonNull},
    sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};
use std::sync::OnceLock;

/// The first size that is tried, 1 TiB, and the last. Where addresses are short none is.
#[cfg(all(target_pointer_width = "64", not(miri)))]
const MOST: usize = 1 << 40;
#[cfg(miri)]
const MOST: usize = LEAST;
#[cfg(not(any(target_pointer_width = "64", miri)))]
const MOST: usize = 0;
const LEAST: usize = 1 << 26;

/// The chunks that are committed at a time.
const STEP: u32 = 512;

/// The range begins at a multiple of this: a huge page of the common kind.
const RANGE_ALIGN: usize = 1 << 21;

/// What is added to an address before there is a range: for that of any block the sum is far beyond any range's size.
const NOWHERE: usize = 1 << (usize::BITS - 1);

/// The words that a free or an allocation of any thread reads, and that hardly ever change.
#[repr(align(64))]
struct Range {
    /// 0 less the address of `origin`: to add is an instruction less than to subtract.
    minus_origin: AtomicUsize,
    size_bytes: AtomicUsize,
    table: AtomicPtr<Entry>,
    origin: AtomicPtr<u8>,
    /// The number of chunks that the range has room for.
    chunks: AtomicU32,
}

static RANGE: Range = Range {
    minus_origin: AtomicUsize::new(NOWHERE),
    size_bytes: AtomicUsize::new(0),
    table: AtomicPtr::new(ptr::null_mut()),
    origin: AtomicPtr::new(ptr::null_mut()),
    chunks: AtomicU32::new(0),
};

/// The first chunk that was never taken. Chunk 0 never is: it lies between the table and the blocks.
static FRONTIER: AtomicU32 = AtomicU32::new(1);

/// The first chunk that is not committed.
static COMMITTED: AtomicU32 = AtomicU32::new(0);

/// The bytes that a pool may keep with memory behind them: each thread's, and the shared one.
pub(crate) static RETAIN: AtomicUsize = AtomicUsize::new(128 << 20);

/// The bytes with memory behind them in the shared pools.
static KEPT: AtomicUsize = AtomicUsize::new(0);

static POOLS: [Stack; CLASSES] = [const { Stack::new() }; CLASSES];

/// What the engine knows about a chunk. All bits 0 is a valid entry, of a chunk that was never taken.
///
/// Who may touch what: `scope`, `owner`, `next` and `count` are atomics, read by anyone. Everything else belongs to
/// whoever owns the chunk (G2 in [`engine`](crate::engine)): its owner, the pool's last taker, or for a span whoever
/// holds the block in it.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Entry {
    /// The scope that the chunk belongs to, or one of the constants in [`engine`](crate::engine).
    pub(crate) scope: AtomicU64,
    /// Who counts in `local`. Of a span: whose pool it returns to.
    pub(crate) owner: AtomicU64,
    /// The owner's own count of live blocks; may be below 0, since others' frees count elsewhere.
    pub(crate) local: Cell<i32>,
    /// The next chunk of a scope, or in a pool.
    next: AtomicU32,
    /// Live blocks when the owner adopted the chunk.
    pub(crate) pinned: Cell<u32>,
    /// Where the free tail began when the chunk was retired, in bytes from its start. Once it is adopted: where the blocks of
    /// its owner begin; 0 if it is no adopted one.
    pub(crate) tail: Cell<u32>,
    /// Blocks below `tail` that the owner freed.
    pub(crate) older: Cell<i32>,
    /// Blocks that the owner bumped in it and has counted in `local`.
    pub(crate) bumped: Cell<i32>,
    /// The run that begins here has `1 << class` chunks.
    class: Cell<u32>,
    /// The run is in a shared pool, and the system takes its memory when it needs some.
    is_offered: Cell<bool>,
    /// Whether it is pinned for little: see [`standing`](crate::engine).
    pub(crate) is_sparse: Cell<bool>,
    /// The bytes from the start that may have memory behind them. None of the others was ever written to since
    /// the system gave them, and the system gives zeros.
    pub(crate) touched: Cell<usize>,
    /// Of a span: the scope that took it.
    pub(crate) home: Cell<u64>,
    // A line of its own: other threads write to it.
    _apart: Apart,
    pub(crate) count: Count,
    // Further lines: only the first chunk of a scope uses them.
    _further: Apart,
    /// The scope that begins in this chunk.
    pub(crate) record: crate::engine::Record,
}

#[repr(align(64))]
#[derive(Debug)]
struct Apart;

const _: () = assert!(size_of::<Entry>() == 256 || usize::BITS != 64);

/// A run of chunks that the frontier has passed, by the number of its first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk(NonZeroU32);

impl Chunk {
    #[inline(always)]
    pub(crate) fn entry(self) -> &'static Entry {
        let table = RANGE.table.load(Ordering::Relaxed);
        let entry = table.wrapping_add(self.0.get() as usize);
        // SAFETY: the frontier has passed the chunk, so its entry is committed memory of the table, which is never
        // given back; all bits 0 is a valid entry. Nobody ever makes a `&mut Entry`, and its fields allow what is
        // done to them through `&` (G2).
        unsafe { &*entry }
    }

    /// The first byte, with provenance for the whole range.
    #[inline(always)]
    pub(crate) fn start(self) -> *mut u8 {
        let origin = RANGE.origin.load(Ordering::Relaxed);
        origin.wrapping_add((self.0.get() as usize) << CHUNK_SHIFT)
    }

    pub(crate) fn number(self) -> u32 {
        self.0.get()
    }

    pub(crate) fn class(self) -> usize {
        self.entry().class.get() as usize
    }

    /// The bytes that the shared pools keep from the system in this run.
    fn kept(self) -> usize {
        let entry = self.entry();
        if entry.is_offered.get() { 0 } else { entry.touched.get() }
    }

    #[inline]
    pub(crate) fn next(self) -> Option<Chunk> {
        NonZeroU32::new(self.entry().next.load(Ordering::Relaxed)).map(Chunk)
    }

    #[inline]
    pub(crate) fn set_next(self, next: Option<Chunk>) {
        self.entry().next.store(next.map_or(0, Chunk::number), Ordering::Relaxed);
    }
}

/// `block`, of the caller's provenance, as a pointer that may reach the whole range.
#[inline(always)]
pub(crate) fn reach(block: *mut u8) -> *mut u8 {
    RANGE.origin.load(Ordering::Relaxed).with_addr(block.addr())
}

/// Where in the range a block lies: behind its first chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(usize);

impl Place {
    /// The chunk that the block lies in.
    #[inline(always)]
    pub(crate) fn chunk(self) -> Chunk {
        #[allow(clippy::cast_possible_truncation, reason = "a range has fewer than 2^32 chunks")]
        let number = (self.0 >> CHUNK_SHIFT) as u32;
        // SAFETY: no block lies in chunk 0, and nobody else has memory in the range.
        Chunk(unsafe { NonZeroU32::new_unchecked(number) })
    }

    /// The chunk's entry. The same as that of [`chunk`](Place::chunk), without cutting the number to 32 bits.
    #[inline(always)]
    pub(crate) fn entry(self) -> &'static Entry {
        let entry = RANGE.table.load(Ordering::Relaxed).wrapping_add(self.0 >> CHUNK_SHIFT);
        // SAFETY: as in `Chunk::entry`; the block is alive, so the frontier has passed its chunk.
        unsafe { &*entry }
    }
}

/// Where a block lies, or `None` where it is not the engine's.
///
/// # Safety
///
/// `block` is alive: some allocator's, or the engine's own.
#[inline(always)]
pub(crate) unsafe fn find(block: *mut u8) -> Option<Place> {
    offset_of(block.addr()).map(Place)
}

/// Whether an address lies in the range.
pub(crate) fn contains(address: usize) -> bool {
    offset_of(address).is_some()
}

/// How far behind the origin an address in the range lies.
#[inline(always)]
fn offset_of(address: usize) -> Option<usize> {
    let offset = address.wrapping_add(RANGE.minus_origin.load(Ordering::Relaxed));
    (offset < RANGE.size_bytes.load(Ordering::Relaxed)).then_some(offset)
}

/// Reserves the range, once. False if none can be had.
pub(crate) fn is_ready() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    *READY.get_or_init(|| {
        let mut size_bytes = MOST;
        while size_bytes >= LEAST {
            if let Some(start) = os::reserve(size_bytes) {
                lay_out(start, size_bytes);
                return true;
            }
            size_bytes /= 2;
        }
        false
    })
}

/// Divides a fresh reservation.
fn lay_out(start: NonNull<u8>, size_bytes: usize) {
    let start = start.as_ptr();
    let slack = start.addr().wrapping_neg() % RANGE_ALIGN;
    let usable = size_bytes - slack;
    let table_bytes = (usable / CHUNK * size_of::<Entry>()).next_multiple_of(RANGE_ALIGN);
    let chunks = (usable - table_bytes) / CHUNK;
    let table = start.wrapping_add(slack);
    #[allow(clippy::cast_possible_truncation, reason = "`MOST` has fewer chunks")]
    let count = chunks as u32;
    RANGE.table.store(table.cast(), Ordering::Relaxed);
    RANGE.chunks.store(count, Ordering::Relaxed);
    RANGE.size_bytes.store(chunks * CHUNK, Ordering::Relaxed);
    let origin = table.wrapping_add(table_bytes);
    RANGE.origin.store(origin, Ordering::Relaxed);
    // Whoever sees a block of the range got it from a thread that saw these stores. Others may see any mixture of old and new
    // words, and find no pointer of theirs in the range: with the old size none is, with the old NOWHERE none, and with both
    // new ones none of theirs, for no block of another allocator lies in a fresh reservation.
    RANGE.minus_origin.store(origin.addr().wrapping_neg(), Ordering::Release);
}

const _: () = assert!(MOST / CHUNK < u32::MAX as usize);

/// Puts memory behind the chunks up to `end`.
fn commit(end: u32) -> bool {
    let from = COMMITTED.load(Ordering::Acquire);
    if end <= from {
        return true;
    }
    let chunks = RANGE.chunks.load(Ordering::Relaxed);
    let to = end.next_multiple_of(STEP).min(chunks);
    let (from_chunk, number) = (from as usize, (to - from) as usize);
    let entries = RANGE.table.load(Ordering::Relaxed).wrapping_add(from_chunk);
    let bytes = RANGE.origin.load(Ordering::Relaxed).wrapping_add(from_chunk * CHUNK);
    let (Some(entries), Some(bytes)) = (NonNull::new(entries.cast()), NonNull::new(bytes)) else {
        return false;
    };
    // The table ends at a multiple of its alignment, so the last step may round up.
    let entries_bytes =
        (number * size_of::<Entry>()).next_multiple_of(STEP as usize * size_of::<Entry>());
    // Several threads may do the same at once: committing twice changes nothing.
    if !os::commit(entries, entries_bytes) || !os::commit(bytes, number * CHUNK) {
        return false;
    }
    COMMITTED.fetch_max(to, Ordering::AcqRel);
    true
}

/// A run that nobody had before: zeros, without memory behind it.
#[cold]
fn take_fresh(class: usize) -> Option<Chunk> {
    let room = RANGE.chunks.load(Ordering::Relaxed);
    let mut first = FRONTIER.load(Ordering::Relaxed);
    loop {
        let end = first.checked_add(1 << class).filter(|end| *end <= room)?;
        if !commit(end) {
            return None;
        }
        match FRONTIER.compare_exchange_weak(first, end, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                let chunk = Chunk(NonZeroU32::new(first)?);
                #[allow(clippy::cast_possible_truncation, reason = "below `CLASSES`")]
                chunk.entry().class.set(class as u32);
                return Some(chunk);
            }
            Err(now) => first = now,
        }
    }
}

/// Takes a run from the shared pool, or a fresh one.
pub(crate) fn take(class: usize) -> Option<Chunk> {
    let Some(chunk) = POOLS[class].pop() else { return take_fresh(class) };
    let entry = chunk.entry();
    // Its memory is gone; where none can be had for it, it waits in the pool.
    if entry.touched.get() == 0 && !recommit(chunk) {
        POOLS[class].push(chunk);
        return None;
    }
    KEPT.fetch_sub(chunk.kept(), Ordering::Relaxed);
    entry.is_offered.set(false);
    Some(chunk)
}

/// Puts a run into the shared pool; its memory goes back to the system where the pool has enough.
pub(crate) fn give(chunk: Chunk) {
    if KEPT.load(Ordering::Relaxed) + chunk.kept() > RETAIN.load(Ordering::Relaxed) {
        purge(chunk);
    }
    KEPT.fetch_add(chunk.kept(), Ordering::Relaxed);
    POOLS[chunk.class()].push(chunk);
}

/// Gives the memory behind a run back that goes into a shared pool next. The caller owns it, and nothing in it is in use.
fn purge(chunk: Chunk) {
    if chunk.kept() == 0 {
        return;
    }
    let entry = chunk.entry();
    // What was touched, to a page of the largest kind.
    let size_bytes = entry.touched.get().next_multiple_of(CHUNK).min(size::span(chunk.class()));
    let Some(start) = NonNull::new(chunk.start()) else { return };
    // SAFETY: the run is committed, the caller's own, and holds no live block.
    match unsafe { os::purge(start, size_bytes) } {
        Purged::Gone => entry.touched.set(0),
        Purged::Offered => entry.is_offered.set(true),
        Purged::Not => {}
    }
}

/// Puts memory behind a run again of which it is gone.
fn recommit(chunk: Chunk) -> bool {
    NonNull::new(chunk.start()).is_some_and(|start| os::recommit(start, size::span(chunk.class())))
}

/// Gives the memory of everything in the shared pools back.
pub(crate) fn purge_pools() {
    for pool in &POOLS {
        let mut mine: Option<Chunk> = None;
        while let Some(chunk) = pool.pop() {
            KEPT.fetch_sub(chunk.kept(), Ordering::Relaxed);
            purge(chunk);
            chunk.set_next(mine);
            mine = Some(chunk);
        }
        while let Some(chunk) = mine {
            mine = chunk.next();
            KEPT.fetch_add(chunk.kept(), Ordering::Relaxed);
            pool.push(chunk);
        }
    }
}

/// The bytes that the range has, and those behind which memory was put.
pub(crate) fn sizes() -> (usize, usize) {
    let chunk = |number: u32| number as usize * CHUNK;
    let used = FRONTIER.load(Ordering::Relaxed).min(RANGE.chunks.load(Ordering::Relaxed));
    (RANGE.size_bytes.load(Ordering::Relaxed), chunk(used.saturating_sub(1)))
}

/// The bytes that the shared pools keep.
pub(crate) fn kept() -> usize {
    KEPT.load(Ordering::Relaxed)
}

/// Chunks that nobody owns, last in, first out, without a lock. The upper half of the word counts the changes, so
/// that a head which went and came back is not taken for one that stayed.
struct Stack(AtomicU64);

impl Stack {
    const fn new() -> Self {
        Stack(AtomicU64::new(0))
    }

    fn word(before: u64, head: u32) -> u64 {
        ((before >> 32).wrapping_add(1) << 32) | u64::from(head)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn head(word: u64) -> Option<Chunk> {
        NonZeroU32::new(word as u32).map(Chunk)
    }

    fn push(&self, chunk: Chunk) {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            chunk.set_next(Self::head(word));
            let new = Self::word(word, chunk.number());
            match self.0.compare_exchange_weak(word, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    fn pop(&self) -> Option<Chunk> {
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            let chunk = Self::head(word)?;
            // Another thread may take the chunk at this moment and link it elsewhere; then the exchange fails.
            let next = chunk.next().map_or(0, Chunk::number);
            let new = Self::word(word, next);
            match self.0.compare_exchange_weak(word, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(chunk),
                Err(now) => word = now,
            }
        }
    }
}
