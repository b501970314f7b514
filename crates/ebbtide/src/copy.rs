//! Copying a few bytes without a call.

use crate::prefetch;
use core::ptr::NonNull;

/// The longest copy that is done inline.
const INLINE: usize = 64;

/// Copies `size` bytes. Up to [`INLINE`] bytes are copied inline, in two pieces that may overlap:
/// interners and parsers spend their time on short copies. The pieces are untyped copies of a
/// constant size, so padding and provenance carry over.
///
/// # Safety
///
/// `from` is valid for reads of `size` bytes, `to` for writes of as many, and they do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_bytes(from: NonNull<u8>, to: NonNull<u8>, size: usize) {
    // SAFETY: `copy` has the same contract, which the caller keeps.
    unsafe { copy::<false>(from, to, size, 0) }
}

/// Like [`copy_bytes`], but to a block at the high end with `free` bytes below it: a copy longer
/// than [`INLINE`] also prefetches the memory of the next blocks.
///
/// # Safety
///
/// The contract of [`copy_bytes`].
#[inline(always)]
pub(crate) unsafe fn copy_to_block(from: NonNull<u8>, to: NonNull<u8>, size: usize, free: usize) {
    // SAFETY: `copy` has the same contract, which the caller keeps.
    unsafe { copy::<true>(from, to, size, free) }
}

/// The body of both. With `STREAM`, a longer copy prefetches the memory of the next blocks.
///
/// # Safety
///
/// The contract of [`copy_bytes`].
#[inline(always)]
unsafe fn copy<const STREAM: bool>(from: NonNull<u8>, to: NonNull<u8>, size: usize, free: usize) {
    if size > INLINE {
        if STREAM {
            prefetch::below_copy(to, size, free);
        }
        // SAFETY: the caller says that both are valid for `size` bytes and do not overlap.
        unsafe { to.copy_from_nonoverlapping(from, size) };
    } else if size > 32 {
        // SAFETY: `32 <= size <= 2 * 32`.
        unsafe { copy_ends::<32>(from, to, size) };
    } else if size > 16 {
        // SAFETY: `16 <= size <= 2 * 16`.
        unsafe { copy_ends::<16>(from, to, size) };
    } else if size >= 8 {
        // SAFETY: `8 <= size <= 2 * 8`.
        unsafe { copy_ends::<8>(from, to, size) };
    } else if size >= 4 {
        // SAFETY: `4 <= size <= 2 * 4`.
        unsafe { copy_ends::<4>(from, to, size) };
    } else if size >= 2 {
        // SAFETY: `2 <= size <= 2 * 2`.
        unsafe { copy_ends::<2>(from, to, size) };
    } else if size != 0 {
        // SAFETY: `size` is 1 here, and the caller says that both blocks have `size` bytes.
        unsafe { to.copy_from_nonoverlapping(from, 1) };
    }
}

/// Copies the first `N` and the last `N` of `size` bytes.
///
/// # Safety
///
/// The contract of [`copy_bytes`], and `N <= size <= 2 * N`.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(from: NonNull<u8>, to: NonNull<u8>, size: usize) {
    // SAFETY: `N <= size`.
    unsafe { to.copy_from_nonoverlapping(from, N) };
    // SAFETY: `N <= size`.
    let from = unsafe { from.add(size - N) };
    // SAFETY: `N <= size`.
    let to = unsafe { to.add(size - N) };
    // SAFETY: `N` bytes are left from there.
    unsafe { to.copy_from_nonoverlapping(from, N) };
}
