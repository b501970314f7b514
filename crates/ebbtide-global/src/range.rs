//! The one range of addresses that all chunks lie in.
//!
//! ```text
//! reserved when the first scope opens, never given back
//! ┌──────────────────────┬─────────┬─────────┬─────────┬───────────────────┐
//! │ table: one entry for │ chunk 0 │ chunk 1 │ chunk 2 │ … not committed   │
//! │ each chunk           │ (unused)│         │         │                   │
//! └──────────────────────┴─────────┴─────────┴─────────┴───────────────────┘
//! table                  origin              ▲ frontier       origin + size
//! ```
//!
//! Whether an address is the engine's takes one addition and one comparison. Memory is committed in steps as the frontier
//! moves. Neighbouring steps have the same rights, so the system keeps them as one mapping.
//!
//! Nothing here locks. A `fork` while another thread reserves the range leaves a child without one, which the inner
//! allocator serves.
#![forbid(unsafe_code)]

use crate::{
    os,
    size::{CHUNK, CHUNK_SHIFT},
};
use core::{
    num::NonZeroU32,
    ptr::{self, NonNull},
    sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering},
};

/// The bytes of a table entry.
pub(crate) const ENTRY: usize = 256;

/// The first size that is tried, 1 TiB. Where addresses are short none is.
#[cfg(all(target_pointer_width = "64", not(miri)))]
const MOST: usize = 1 << 40;
#[cfg(miri)]
const MOST: usize = LEAST;
#[cfg(not(any(target_pointer_width = "64", miri)))]
const MOST: usize = 0;

/// The smallest size that is of use.
const LEAST: usize = 1 << 24;

/// The chunks that are committed at a time.
const STEP: u32 = 512;

/// The range begins at a multiple of this: a huge page of the common kind.
const RANGE_ALIGN: usize = 1 << 21;

/// What is added to an address before there is a range: for that of any block the sum lies far beyond the size of any
/// range.
const NOWHERE: usize = 1 << (usize::BITS - 1);

/// The words that a free or an allocation of any thread reads. They hardly ever change.
#[repr(align(64))]
struct Range {
    /// 0 less the address of `origin`: adding it takes an instruction less than subtracting the origin.
    minus_origin: AtomicUsize,
    size_bytes: AtomicUsize,
    table: AtomicPtr<u8>,
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

/// Whether there is a range.
static STATE: AtomicU8 = AtomicU8::new(UNTRIED);
const UNTRIED: u8 = 0;
const IN_PROGRESS: u8 = 1;
const READY: u8 = 2;
const UNAVAILABLE: u8 = 3;
/// A thread has waited in vain for another one to reserve it. If that one is still at work, the state becomes `READY` yet.
const ABANDONED: u8 = 4;

/// How often a thread yields to one that reserves the range, which takes some microseconds.
const PATIENCE: u32 = 10_000;

/// The first chunk that was never taken. Chunk 0 never is: it lies between the table and the blocks.
static FRONTIER: AtomicU32 = AtomicU32::new(1);

/// The first chunk that is not committed.
static COMMITTED: AtomicU32 = AtomicU32::new(0);

/// The first byte of the table.
#[inline(always)]
pub(crate) fn table() -> *mut u8 {
    RANGE.table.load(Ordering::Relaxed)
}

/// The first byte of chunk 0, with provenance for the whole range.
#[inline(always)]
pub(crate) fn origin() -> *mut u8 {
    RANGE.origin.load(Ordering::Relaxed)
}

/// How far behind the origin an address lies; `None` outside of the range.
#[inline(always)]
pub(crate) fn offset_of(address: usize) -> Option<usize> {
    let offset = address.wrapping_add(RANGE.minus_origin.load(Ordering::Relaxed));
    (offset < RANGE.size_bytes.load(Ordering::Relaxed)).then_some(offset)
}

/// `block` as a pointer that may reach the whole range.
#[inline(always)]
pub(crate) fn reach(block: *mut u8) -> *mut u8 {
    origin().with_addr(block.addr())
}

/// Whether the range can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    /// Another thread was about to reserve it, and did not come to an end: this process was forked off meanwhile.
    Busy,
    /// None can be had.
    Unavailable,
}

/// Reserves the range if nobody has tried yet.
pub(crate) fn prepare() -> Readiness {
    let acquire = Ordering::Acquire;
    if STATE.compare_exchange(UNTRIED, IN_PROGRESS, acquire, acquire).is_ok() {
        let state = if reserve() { READY } else { UNAVAILABLE };
        STATE.store(state, Ordering::Release);
    }
    for _ in 0..PATIENCE {
        if STATE.load(acquire) != IN_PROGRESS {
            break;
        }
        std::thread::yield_now();
    }
    let given_up = STATE.compare_exchange(IN_PROGRESS, ABANDONED, acquire, acquire);
    match given_up.err() {
        Some(READY) => Readiness::Ready,
        Some(UNAVAILABLE) => Readiness::Unavailable,
        _ => Readiness::Busy,
    }
}

/// Reserves the largest range that the system gives, of at most a quarter of the addresses that are left.
fn reserve() -> bool {
    let mut size_bytes = MOST.min(os::addresses_left() / 4);
    if size_bytes > 0 {
        size_bytes = 1 << size_bytes.ilog2();
    }
    while size_bytes >= LEAST {
        if let Some(start) = os::reserve(size_bytes) {
            lay_out(start, size_bytes);
            return true;
        }
        size_bytes /= 2;
    }
    false
}

/// Divides a new reservation.
fn lay_out(start: NonNull<u8>, size_bytes: usize) {
    let start = start.as_ptr();
    let slack = start.addr().wrapping_neg() % RANGE_ALIGN;
    let usable = size_bytes - slack;
    let table_bytes = (usable / CHUNK * ENTRY).next_multiple_of(RANGE_ALIGN);
    let chunks = (usable - table_bytes) / CHUNK;
    let table = start.wrapping_add(slack);
    #[allow(clippy::cast_possible_truncation, reason = "`MOST` has fewer chunks")]
    let count = chunks as u32;
    RANGE.table.store(table, Ordering::Relaxed);
    RANGE.chunks.store(count, Ordering::Relaxed);
    RANGE.size_bytes.store(chunks * CHUNK, Ordering::Relaxed);
    let origin = table.wrapping_add(table_bytes);
    RANGE.origin.store(origin, Ordering::Relaxed);
    // A thread that holds a block of the range got it from a thread that saw these stores. Other threads may see any mixture
    // of old and new words. None of their blocks is taken for ours: with the old size no offset is small enough, with the old
    // NOWHERE every offset is too large, and no block of another allocator lies in a new reservation.
    RANGE.minus_origin.store(origin.addr().wrapping_neg(), Ordering::Release);
}

const _: () = assert!(MOST / CHUNK < u32::MAX as usize);

/// Commits the chunks up to `end` and their entries.
fn commit(end: u32) -> bool {
    let from = COMMITTED.load(Ordering::Acquire);
    if end <= from {
        return true;
    }
    let chunks = RANGE.chunks.load(Ordering::Relaxed);
    let to = end.next_multiple_of(STEP).min(chunks);
    let (from_chunk, number) = (from as usize, (to - from) as usize);
    let entries = NonNull::new(table().wrapping_add(from_chunk * ENTRY));
    let bytes = NonNull::new(origin().wrapping_add(from_chunk * CHUNK));
    let (Some(entries), Some(bytes)) = (entries, bytes) else { return false };
    // The table ends at a multiple of its alignment, so the last step may round up.
    let entries_bytes = (number * ENTRY).next_multiple_of(STEP as usize * ENTRY);
    // Several threads may do the same at once: committing twice changes nothing.
    if !os::commit(entries, entries_bytes) || !os::commit(bytes, number * CHUNK) {
        return false;
    }
    COMMITTED.fetch_max(to, Ordering::AcqRel);
    true
}

/// Moves the frontier past so many chunks, and returns the number of the first one. They are committed, hold zeros and have no memory
/// behind them yet. `None` where the range or the system's memory is used up.
#[cold]
pub(crate) fn advance(chunks: u32) -> Option<NonZeroU32> {
    let room = RANGE.chunks.load(Ordering::Relaxed);
    let mut first = FRONTIER.load(Ordering::Relaxed);
    loop {
        let end = first.checked_add(chunks).filter(|end| *end <= room)?;
        if !commit(end) {
            return None;
        }
        match FRONTIER.compare_exchange_weak(first, end, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return NonZeroU32::new(first),
            Err(now) => first = now,
        }
    }
}

/// The bytes of the range, and of the chunks that the frontier has passed.
pub(crate) fn sizes() -> (usize, usize) {
    let used = FRONTIER.load(Ordering::Relaxed).min(RANGE.chunks.load(Ordering::Relaxed));
    let claimed = (used.saturating_sub(1) as usize) << CHUNK_SHIFT;
    (RANGE.size_bytes.load(Ordering::Relaxed), claimed)
}
