//! Copying short blocks without a call, and cloning slices of plain elements.

use crate::prefetch;
use core::{array, ptr::NonNull};

/// The longest copy that is done inline.
const INLINE: usize = 64;

/// Copies `size` bytes. Up to [`INLINE`] bytes are copied inline, in two pieces that may overlap,
/// because interners and parsers spend much of their time on short copies. The pieces are untyped
/// copies of a constant size, so they preserve padding and provenance.
///
/// # Safety
///
/// `from` is valid for reads of `size` bytes, `to` for writes of as many, and they do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_bytes(from: NonNull<u8>, to: NonNull<u8>, size: usize) {
    // SAFETY: `from` is valid for reads and `to` for writes of `size` bytes, and they do not
    // overlap, by this function's contract.
    unsafe { copy(from, to, size, || ()) }
}

/// Like [`copy_bytes`], for a copy to a block at the high end. A copy that is not inline also
/// prefetches the memory of the next blocks. `used` returns the distance of the block from the end
/// of its region.
///
/// # Safety
///
/// The contract of [`copy_bytes`].
#[inline(always)]
pub(crate) unsafe fn copy_to_block(
    from: NonNull<u8>,
    to: NonNull<u8>,
    size: usize,
    used: impl FnOnce() -> usize,
) {
    // SAFETY: `from` is valid for reads and `to` for writes of `size` bytes, and they do not
    // overlap, by this function's contract.
    unsafe { copy(from, to, size, || prefetch::below_copy(to, size, used)) }
}

/// The body of both. Calls `before` before a copy of more than [`INLINE`] bytes.
///
/// # Safety
///
/// The contract of [`copy_bytes`].
#[inline(always)]
unsafe fn copy(from: NonNull<u8>, to: NonNull<u8>, size: usize, before: impl FnOnce()) {
    // Three or four comparisons for every size. Their order decides how many of the branches are
    // taken, and each of those costs a cycle: dev/decisions/0019-missed-targets.md.
    if size < 8 {
        if size >= 2 {
            if size >= 4 {
                // SAFETY: `4 <= size <= 2 * 4`, and the rest is this function's contract: valid for
                // `size` bytes, no overlap.
                unsafe { copy_ends::<4>(from, to, size) };
            } else {
                // SAFETY: `2 <= size <= 2 * 2`, and the rest is this function's contract: valid for
                // `size` bytes, no overlap.
                unsafe { copy_ends::<2>(from, to, size) };
            }
        } else if size != 0 {
            // SAFETY: `size` is 1 here; `from` is valid for reads and `to` for writes of `size`
            // bytes, and they do not overlap, by this function's contract.
            unsafe { to.copy_from_nonoverlapping(from, 1) };
        }
    } else if size <= INLINE {
        if size <= 16 {
            // SAFETY: `8 <= size <= 2 * 8`, and the rest is this function's contract: valid for
            // `size` bytes, no overlap.
            unsafe { copy_ends::<8>(from, to, size) };
        } else if size <= 32 {
            // SAFETY: `16 <= size <= 2 * 16`, and the rest is this function's contract: valid for
            // `size` bytes, no overlap.
            unsafe { copy_ends::<16>(from, to, size) };
        } else {
            // SAFETY: `32 <= size <= 2 * 32`, and the rest is this function's contract: valid for
            // `size` bytes, no overlap.
            unsafe { copy_ends::<32>(from, to, size) };
        }
    } else {
        before();
        // SAFETY: `from` is valid for reads and `to` for writes of `size` bytes, and they do not
        // overlap, by this function's contract.
        unsafe { to.copy_from_nonoverlapping(from, size) };
    }
}

/// Copies the first `N` and the last `N` of `size` bytes.
///
/// # Safety
///
/// The contract of [`copy_bytes`], and `N <= size <= 2 * N`.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(from: NonNull<u8>, to: NonNull<u8>, size: usize) {
    // SAFETY: both are valid for `size` bytes and do not overlap, by this function's contract, and
    // `N <= size`.
    unsafe { to.copy_from_nonoverlapping(from, N) };
    // SAFETY: `from` is valid for `size` bytes by this function's contract, and `size - N` is no
    // more.
    let from = unsafe { from.add(size - N) };
    // SAFETY: `to` is valid for `size` bytes by this function's contract, and `size - N` is no
    // more.
    let to = unsafe { to.add(size - N) };
    // SAFETY: `N` bytes lie at both, up to the end of `size` bytes, which are valid and do not
    // overlap, by this function's contract.
    unsafe { to.copy_from_nonoverlapping(from, N) };
}

/// Clones elements that need no `Drop`.
///
/// # Safety
///
/// `to` is aligned and valid for writes of `values.len()` elements.
#[inline(always)]
pub(crate) unsafe fn clone_plain<T: Clone>(values: &[T], to: NonNull<T>) {
    // The compiler turns a loop over integers into one copy wherever it is inlined, and a loop over
    // larger elements only in `clone_many`. For a few elements, a call of `memcpy` takes longer than
    // to copy them.
    let is_integer = size_of::<T>() <= size_of::<u64>();
    if is_integer && values.len() < MANY {
        // SAFETY: `to` is aligned and valid for writes of `values.len()` elements by this
        // function's contract, and there are fewer than `MANY`.
        unsafe { clone_few(values, to) };
    } else if is_integer || values.len() < MANY {
        // SAFETY: `to` is aligned and valid for writes of `values.len()` elements by this
        // function's contract.
        unsafe { clone_each(values, to) };
    } else {
        // SAFETY: `to` is aligned and valid for writes of `values.len()` elements by this
        // function's contract.
        unsafe { clone_many(values, to) };
    }
}

/// Slices with at least this many elements are cloned by one copy: out of line, unless the elements
/// are integers.
const MANY: usize = 16;

/// Clones fewer than [`MANY`] elements, without a loop.
///
/// # Safety
///
/// The contract of [`clone_plain`].
#[inline(always)]
unsafe fn clone_few<T: Clone>(values: &[T], to: NonNull<T>) {
    // SAFETY: `to` is aligned and valid for writes of `values.len()` elements by this function's
    // contract.
    let (values, to) = unsafe { clone_piece::<T, 8>(values, to) };
    // SAFETY: the place is behind the first piece, so it has room for the elements that are left.
    let (values, to) = unsafe { clone_piece::<T, 4>(values, to) };
    // SAFETY: the place has room for the elements that are left.
    let (values, to) = unsafe { clone_piece::<T, 2>(values, to) };
    // SAFETY: the place has room for the element that is left, if any.
    unsafe { clone_piece::<T, 1>(values, to) };
}

/// Clones the first `N` elements if there are as many. Returns the others, and the place for them.
///
/// # Safety
///
/// The contract of [`clone_plain`].
#[inline(always)]
unsafe fn clone_piece<T: Clone, const N: usize>(
    values: &[T],
    to: NonNull<T>,
) -> (&[T], NonNull<T>) {
    let Some((piece, rest)) = values.split_first_chunk::<N>() else { return (values, to) };
    // SAFETY: `to` is aligned and valid for writes of `values.len()` elements by this function's
    // contract, and `split_first_chunk` found at least `N`.
    unsafe { to.cast::<[T; N]>().write(piece.clone()) };
    // SAFETY: `to` is valid for `values.len()` elements by this function's contract, which are at
    // least `N`, so this is inside or at the end.
    (rest, unsafe { to.add(N) })
}

/// Clones elements, out of line: the compiler turns the loop into one copy here, because it knows
/// that nothing writes to `values` meanwhile.
///
/// # Safety
///
/// The contract of [`clone_plain`].
#[inline(never)]
unsafe fn clone_many<T: Clone>(values: &[T], to: NonNull<T>) {
    // SAFETY: `to` is aligned and valid for writes of `values.len()` elements by this function's
    // contract.
    unsafe { clone_each(values, to) };
}

/// Clones elements one by one.
///
/// A separate function, so that the compiler knows that nothing writes to `values` meanwhile, and
/// turns a loop over integers into one copy.
///
/// # Safety
///
/// The contract of [`clone_plain`].
unsafe fn clone_each<T: Clone>(values: &[T], to: NonNull<T>) {
    for (index, value) in values.iter().enumerate() {
        // Cloned as an array, because the standard library clones an array of `Copy` elements by
        // one copy. Otherwise the clone of a reference to a slice, for example, would be two: of
        // the address and of the length.
        let value = array::from_ref(value).clone();
        // SAFETY: `to` is valid for `values.len()` elements by this function's contract, and
        // `index` is less.
        let place = unsafe { to.add(index) };
        // SAFETY: `to` is aligned and valid for writes of `values.len()` elements by this
        // function's contract; this is the one at `index`.
        unsafe { place.cast::<[T; 1]>().write(value) };
    }
}
