//! Keeping the memory of dropped arenas for the next ones.
//!
//! A program that makes an arena for each document or request, and drops it, asks the heap for the
//! same blocks again and again. With large ones the system then takes the pages away and gives new
//! ones, at a page fault for each. So [`Heap`](crate::Heap), with the feature `std`, keeps the blocks
//! that arenas give back, and gives them to the next arena that wants one of the same size:
//!
//! - **Below 32 KiB**, each thread keeps one block between each two powers of two: less than 64 KiB
//!   in all. They go back to the heap when the thread ends. A dropped arena leaves its largest one
//!   ready for the next arena that is made like it, which so begins with about as much memory as the
//!   last one needed; its statistics show that. An arena with a limit neither leaves nor takes one.
//! - **Larger blocks** are kept for all threads, on 64-bit Linux (x86-64, aarch64, RISC-V), for at most
//!   two seconds: 2 MiB in all and, beyond that, as much as arenas have needed again after they had
//!   given it back. So the second of two large arenas gets new memory, and the third finds it warm. One
//!   that is made like the last that was dropped, and that did not grow, finds it ready. A thread of the library gives kept blocks back while the program does nothing. While it keeps 8 MiB
//!   or more, it reads `/proc/self/statm` every few milliseconds, and gives everything back when the
//!   process has become a sixteenth larger than it needs to be: then something else needs the memory.
//!   It ends when no block is left.
//!
//! What is kept for all threads, and for the thread that asks, goes back before a fork, by [`trim`], and
//! when the heap refuses a request of an arena; a request of anything else, which the heap refuses,
//! fails. The small blocks of other threads stay. What a thread drops while it ends is not kept, and a
//! library with arenas can be unloaded once its helper thread has ended. A program that must have a
//! single thread, or may not open a file, calls [`set_limit(0)`](set_limit) first. Under
//! `AddressSanitizer` and with the feature `poison`, kept memory counts as dead. Under Miri and sanitizers
//! nothing is kept.
//!
//! ```
//! use ebbtide::{Arena, warm};
//!
//! for line in ["ebb", "flow"] {
//!     let arena = Arena::new(); // from the second turn on, without a call of the heap
//!     arena.root().alloc_str(line);
//! }
//! assert!(warm::held() > 0 || cfg!(miri));
//! warm::trim();
//! assert_eq!(warm::held(), 0);
//! ```

// Heap::take_prepared ─► own::take_prepared or shared::take_prepared, the first block of an arena
// Heap::allocate ─► allocate
//   ├─ below 32 KiB ─► own::take                 no lock
//   ├─ larger ───────► shared::take              a lock
//   └─ else ─────────► the heap; if it refuses, after `trim`
// Heap::release ─► release
//   ├─ below 32 KiB ─► own::keep
//   └─ larger ───────► shared::keep ─► helper::start ─► Windows::end
//
// A `Block` owns its memory, so this code is safe but for the two ends, `allocate` and `release`.

mod block;
mod helper;
mod limit;
mod lock;
mod own;
mod shared;

use self::block::Block;
use crate::{arith::CHUNK_ALIGN, heap, poison};
use core::{alloc::Layout, ptr::NonNull};

/// Requests a block like [`heap::request`], from what is kept if possible.
#[inline]
pub(crate) fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    if layout.align() != CHUNK_ALIGN {
        return heap::request(layout);
    }
    // Before the block can be given back. So the blocks of this thread end before those thread-locals
    // that have arenas, and what these drop is not kept.
    own::is_open();
    let size = layout.size();
    let block = if size <= own::LARGEST {
        own::take(size).or_else(|| request(size))
    } else {
        shared::take(size, || request(size))
    };
    block.map(Block::into_start)
}

/// Takes a block back like [`heap::release`], and keeps it if that is allowed.
///
/// # Safety
///
/// [`allocate`] returned `start` for `layout`, and nobody uses it any more.
#[inline]
pub(crate) unsafe fn release(start: NonNull<u8>, layout: Layout) {
    if layout.align() != CHUNK_ALIGN {
        // SAFETY: by this function's contract, the block was requested with this layout, which
        // `allocate` passed on to the heap, and nobody uses it.
        return unsafe { heap::release(start, layout) };
    }
    // SAFETY: `allocate` took the start of a block of `layout.size()` bytes, and nobody uses it any
    // more, by this function's contract.
    keep(unsafe { Block::new(start, layout.size()) }, 0);
}

/// Keeps a block whose contents are prepared for this, or dead if that is 0.
#[inline]
fn keep(block: Block, prepared_for: usize) {
    if block.size() <= own::LARGEST {
        own::keep(block, prepared_for);
    } else {
        shared::keep(block, prepared_for);
    }
}

/// The block that [`release_prepared`] kept last for this, if it still is kept: its contents are as they
/// were. It has `wanted` bytes, but for a few, or more, if it is a small one.
#[inline]
pub(crate) fn take_prepared(wanted: usize) -> Option<NonNull<u8>> {
    let block = if wanted <= own::LARGEST {
        own::take_prepared(wanted)
    } else {
        // As in `allocate`.
        own::is_open();
        shared::take_prepared(wanted)
    };
    block.map(Block::into_start)
}

/// The most bytes of a block for which [`release_prepared`] keeps the contents even if less was wanted.
#[inline]
pub(crate) fn most_prepared() -> usize {
    if poison::TRACKS { 0 } else { own::LARGEST }
}

/// Takes a block back like [`release`], for whoever can use its contents again.
///
/// # Safety
///
/// The contract of [`release`].
#[inline]
pub(crate) unsafe fn release_prepared(start: NonNull<u8>, layout: Layout, wanted: usize) {
    if layout.align() != CHUNK_ALIGN || poison::TRACKS {
        // SAFETY: `allocate` returned the block for this layout, and nobody uses it any more, by
        // this function's contract.
        return unsafe { release(start, layout) };
    }
    let is_kept = layout.size() <= wanted.max(own::LARGEST);
    // SAFETY: `allocate` took the start of a block of `layout.size()` bytes, and nobody uses it any
    // more, by this function's contract.
    keep(unsafe { Block::new(start, layout.size()) }, if is_kept { wanted } else { 0 });
}

/// Requests a block of the heap. If it refuses although something was kept, that goes back, and the
/// request is made again.
#[inline]
fn request(size: usize) -> Option<Block> {
    Block::request(size).or_else(|| request_after_trim(size))
}

/// Requests a block that the heap just refused. Other threads may keep more meanwhile, so not only once.
#[cold]
#[inline(never)]
fn request_after_trim(size: usize) -> Option<Block> {
    for _ in 0..100 {
        // Before the request: another thread may be about to give it back.
        let was_held = held();
        let block = Block::request(size);
        if block.is_some() || was_held == 0 || size == 0 {
            return block;
        }
        trim();
        shared::wait_for_heap();
    }
    None
}

/// Sets how many bytes may be kept for all threads, besides the 64 KiB of each. 0 turns everything
/// off, and gives back what is kept, but for the small blocks of other threads: each gives them back when
/// it drops an arena or ends. Unless set, there is no limit but the recent use.
///
/// ```
/// use ebbtide::{Arena, warm};
///
/// warm::set_limit(0);
/// Arena::new().root().alloc(1);
/// assert_eq!(warm::held(), 0);
/// ```
pub fn set_limit(bytes: usize) {
    limit::set(bytes);
    if bytes == 0 {
        trim();
    } else {
        shared::shrink();
    }
}

/// Gives back to the heap what is kept for all threads and for this one. Other threads keep their small
/// blocks, less than 64 KiB each. Costs a call of the heap for each block.
///
/// ```
/// ebbtide::warm::trim();
/// assert_eq!(ebbtide::warm::held(), 0);
/// ```
pub fn trim() {
    own::trim();
    shared::trim();
}

/// The bytes that are kept at present for all threads and for this one.
///
/// ```
/// use ebbtide::{Arena, warm};
///
/// let before = warm::held();
/// Arena::new().root().alloc(1);
/// assert!(warm::held() >= before);
/// ```
#[must_use]
pub fn held() -> usize {
    own::held() + shared::held()
}
