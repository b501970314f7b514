//! Fetching the memory of coming blocks before they are written to.
//!
//! A scope walks through its memory once, so the lines it comes to are rarely in the nearest cache, and a stream of
//! stores that goes down is one that processors foresee badly: blocks of a few lines then wait for memory one after
//! the other. The scope knows where it is going. For every block it asks for as many lines
//! further below, which has them on their way together: docs/decisions/0017-fetching-ahead.md.

use core::ptr::NonNull;

/// How far below a block memory is fetched, in bytes.
const DISTANCE: usize = 1024;

/// How far below a large one, at most. What is fetched below one of more than [`DISTANCE`] is the next like it: nearer, a part
/// would be the block itself, which is about to be written to.
const FARTHEST: usize = 4096;

/// What is fetched at a time, in bytes.
const LINE: usize = 64;

/// Blocks of up to so many bytes, which one or two stores fill, take longer with a fetch beside them if their memory
/// is in the nearest cache.
const TWO_STORES: usize = 16;

/// Where less than this is free, memory of the second-level cache is likely to be had, and fetching costs more than
/// it gains.
const FAR: usize = 256 << 10;

/// Of a larger block no more is fetched, for it would push itself out of the nearest cache.
const MOST: usize = 16 << 10;

/// Fetches what will follow a `T` that was placed at `block`, where `free` bytes are free below it.
///
/// A call in debug builds, where what is inlined makes the frame of whoever allocates larger.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn below_value<T>(block: NonNull<u8>, free: usize) {
    let size = size_of::<T>();
    if size <= TWO_STORES {
        return;
    }
    if size <= LINE {
        below_line(block);
    } else {
        below_block(block, size, free);
    }
}

/// Fetches what will follow a block of up to a line. To ask how much is free would take longer.
#[inline(always)]
pub(crate) fn below_line(block: NonNull<u8>) {
    prefetch(block.as_ptr().wrapping_sub(DISTANCE));
}

/// Fetches what will follow a block of `size` bytes, where `free` bytes are free below it.
#[inline(always)]
pub(crate) fn below_block(block: NonNull<u8>, size: usize, free: usize) {
    if free < FAR {
        return;
    }
    let below = block.as_ptr().wrapping_sub(size.clamp(DISTANCE, FARTHEST));
    prefetch(below);
    let mut offset = LINE;
    while offset < size.min(MOST) {
        // Two lines a turn, which takes as long as two fetches.
        prefetch(below.wrapping_add(offset));
        prefetch(below.wrapping_add(offset + LINE));
        offset += 2 * LINE;
    }
}

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
