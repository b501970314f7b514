//! The reserved range of addresses in which all chunks lie.
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
//! `run` calls it, for the place of a block and for new chunks. One addition and one comparison
//! decide whether an address lies in the range. Memory is committed in steps as the frontier moves.
//! Neighbouring committed parts have the same access rights, so the system merges them into one
//! mapping.
//!
//! Nothing here takes a lock. If the process forks while another thread reserves the range, the
//! child has no range, and the inner allocator serves its requests.
#![forbid(unsafe_code)]

pub(crate) use crate::shared::once::Readiness;
use crate::{
    memory::os,
    shared::{
        bounds::Bounds,
        frontier::{Frontier, STEP},
        once::Once,
    },
    size::{CHUNK, CHUNK_SHIFT, MAX_PAGE},
};
use core::{num::NonZeroU32, ptr::NonNull};

/// The size of a table entry in bytes.
pub(crate) const ENTRY_BYTES: usize = 256;

/// The largest reservation: 1 TiB. With 32-bit addresses, on a system that `os` does not know, and under a
/// sanitizer, which checks only blocks of the inner allocator, no reservation is made.
#[cfg(all(target_pointer_width = "64", any(unix, windows), not(any(miri, ebbtide_sanitized))))]
pub(crate) const MAX_RANGE: usize = 1 << 40;
#[cfg(miri)]
pub(crate) const MAX_RANGE: usize = MIN_RANGE;
#[cfg(not(any(
    all(target_pointer_width = "64", any(unix, windows), not(ebbtide_sanitized)),
    miri
)))]
pub(crate) const MAX_RANGE: usize = 0;

/// The smallest reservation.
const MIN_RANGE: usize = 1 << 24;

/// The alignment of the range: 2 MiB, the usual size of a huge page.
const RANGE_ALIGN: usize = 1 << 21;

static BOUNDS: Bounds = Bounds::new();

/// Whether the range is reserved.
static RESERVED: Once = Once::new();

static FRONTIER: Frontier = Frontier::new();

/// The first byte of the table.
#[inline(always)]
pub(crate) fn table() -> *mut u8 {
    BOUNDS.table()
}

/// The first byte of chunk 0, with provenance for the whole range.
#[inline(always)]
pub(crate) fn origin() -> *mut u8 {
    BOUNDS.origin()
}

/// The offset of an address from the origin; `None` if it lies outside of the range.
#[inline(always)]
pub(crate) fn offset_of(address: usize) -> Option<usize> {
    BOUNDS.offset_of(address)
}

/// Returns `block` with provenance for the whole range.
#[inline(always)]
pub(crate) fn widen_provenance(block: *mut u8) -> *mut u8 {
    origin().with_addr(block.addr())
}

/// Reserves the range, unless that was tried before.
pub(crate) fn prepare() -> Readiness {
    RESERVED.prepare(reserve)
}

/// Reserves the range. Tries sizes that are powers of two, from [`MAX_RANGE`], or a quarter of the
/// addresses that are left, down to [`MIN_RANGE`], and takes the first that the system grants.
/// Fails if a page is larger than a chunk.
fn reserve() -> bool {
    // Each chunk is given back on its own, so it must consist of whole pages.
    if os::page_bytes() > MAX_PAGE {
        return false;
    }
    #[allow(clippy::unnecessary_min_or_max, reason = "`MAX_RANGE` may be 0")]
    let mut size_bytes = MAX_RANGE.min(os::addresses_left() / 4);
    if size_bytes > 0 {
        size_bytes = 1 << size_bytes.ilog2();
    }
    while size_bytes >= MIN_RANGE {
        if let Some(start) = os::reserve(size_bytes) {
            lay_out(start, size_bytes);
            return true;
        }
        size_bytes /= 2;
    }
    false
}

/// Places the table and the chunks in a new reservation.
fn lay_out(start: NonNull<u8>, size_bytes: usize) {
    let start = start.as_ptr();
    let slack = start.addr().wrapping_neg() % RANGE_ALIGN;
    let usable = size_bytes - slack;
    let table_bytes = (usable / CHUNK * ENTRY_BYTES).next_multiple_of(RANGE_ALIGN);
    let table = start.wrapping_add(slack);
    BOUNDS.set(table, table.wrapping_add(table_bytes), (usable - table_bytes) / CHUNK * CHUNK);
}

/// The number of chunks that the range has room for.
#[allow(clippy::cast_possible_truncation, reason = "`MAX_RANGE` has fewer chunks")]
fn room() -> u32 {
    (BOUNDS.size_bytes() >> CHUNK_SHIFT) as u32
}

const _: () = assert!(MAX_RANGE / CHUNK < u32::MAX as usize);

/// Commits the chunks `from..to` and their entries.
fn commit(from: u32, to: u32) -> bool {
    let (from_chunk, number) = (from as usize, (to - from) as usize);
    let entries = NonNull::new(table().wrapping_add(from_chunk * ENTRY_BYTES));
    let bytes = NonNull::new(origin().wrapping_add(from_chunk * CHUNK));
    let (Some(entries), Some(bytes)) = (entries, bytes) else { return false };
    // Rounding up is possible in the last step too, because the table ends at a multiple of its
    // alignment.
    let entries_bytes = (number * ENTRY_BYTES).next_multiple_of(STEP as usize * ENTRY_BYTES);
    os::commit(entries, entries_bytes) && os::commit(bytes, number * CHUNK)
}

/// Takes this many new chunks and returns the number of the first. They are committed and zeroed,
/// and have no memory behind them before they are touched. `None` if the range is used up or the
/// system has no memory.
#[cold]
pub(crate) fn advance(chunks: u32) -> Option<NonZeroU32> {
    FRONTIER.advance(chunks, room(), commit)
}

/// The bytes of the range, and those of all chunks that were ever taken.
pub(crate) fn sizes() -> (usize, usize) {
    let used = FRONTIER.next().min(room());
    let claimed = (used.saturating_sub(1) as usize) << CHUNK_SHIFT;
    (BOUNDS.size_bytes(), claimed)
}
