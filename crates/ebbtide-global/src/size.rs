//! Size classes: how request sizes are rounded, and which free list or run class serves them. Safe
//! code over `usize`.
#![forbid(unsafe_code)]

/// Blocks begin and end at multiples of this.
pub(crate) const GRANULE: usize = 8;

/// The largest small block. Small blocks are rounded up to the granule, and the fast paths serve
/// them.
pub(crate) const SMALL: usize = 1024;

/// The largest size of a medium block when it is allocated. Medium blocks lie in chunks, and may
/// grow in place beyond this size. Larger requests are served as large blocks, each in a run of its
/// own.
pub(crate) const MEDIUM: usize = 8 * 1024;

/// The bytes of a chunk.
pub(crate) const CHUNK: usize = 1 << CHUNK_SHIFT;

/// The binary logarithm of [`CHUNK`].
pub(crate) const CHUNK_SHIFT: u32 = 16;

/// The number of run classes. A run of class 0 is a chunk to bump in. A run of class `n > 0` has
/// `1 << (n - 1)` chunks and holds one large block. Class 1 is separate from class 0, because a
/// chunk to bump in is used up to its end and a large block may leave part of its run untouched.
pub(crate) const CLASSES: usize = if usize::BITS == 64 { 18 } else { 13 };

/// The class of chunks to bump in.
pub(crate) const BUMP_CLASS: usize = 0;

/// The largest request that is served: 1 GiB. The classes above it are for blocks that grew, which
/// get addresses for further growth.
pub(crate) const LARGEST: usize = CHUNK << (CLASSES - 4);

/// The number of free lists: one for each granule up to [`SMALL`], then eight for each doubling up
/// to [`CHUNK`].
pub(crate) const LISTS: usize = SMALL / GRANULE + 8 * (CHUNK / SMALL).ilog2() as usize;

/// The size in memory of a small block.
#[inline(always)]
pub(crate) const fn round_small(size: usize) -> usize {
    (size + (GRANULE - 1)) & !(GRANULE - 1)
}

/// The size in memory of a block in a chunk. Above [`SMALL`], sizes are rounded up by at most an
/// eighth, so that a freed block fits more requests.
pub(crate) const fn round(size: usize) -> usize {
    if size <= SMALL {
        return round_small(size);
    }
    let step = 1 << ((size - 1).ilog2() - 3);
    (size + (step - 1)) & !(step - 1)
}

/// The free list for a size that [`round`] returned, other than 0.
pub(crate) const fn list(rounded: usize) -> usize {
    if rounded <= SMALL {
        return rounded / GRANULE - 1;
    }
    let log = (rounded - 1).ilog2();
    let eighth = ((rounded - 1) >> (log - 3)) & 7;
    SMALL / GRANULE + 8 * (log - SMALL.ilog2()) as usize + eighth
}

/// The free list for a small size other than 0, rounded or not.
#[inline(always)]
pub(crate) const fn small_list(size: usize) -> usize {
    // The remainder never changes the result. It allows the compiler to omit a bounds check.
    (size - 1) / GRANULE % (SMALL / GRANULE)
}

/// The size of the blocks in a free list.
pub(crate) const fn list_bytes(list: usize) -> usize {
    let Some(medium) = list.checked_sub(SMALL / GRANULE) else { return (list + 1) * GRANULE };
    let (log, eighth) = (SMALL.ilog2() as usize + medium / 8, medium % 8);
    (8 + eighth + 1) << (log - 3)
}

/// The class of the smallest run that holds `size` bytes of a large block.
pub(crate) const fn class(size: usize) -> usize {
    1 + size.div_ceil(CHUNK).next_power_of_two().trailing_zeros() as usize
}

/// The chunks of a run.
pub(crate) const fn run_chunks(class: usize) -> u32 {
    if class == BUMP_CLASS { 1 } else { 1 << (class - 1) }
}

/// The bytes of a run.
pub(crate) const fn run_bytes(class: usize) -> usize {
    (run_chunks(class) as usize) << CHUNK_SHIFT
}

/// The largest pages that a run may have behind it, in bytes.
pub(crate) const MAX_PAGE: usize = CHUNK;

/// The bytes that count as held if the first `bytes` of a large block's run are in use, with pages
/// of `page_bytes`.
///
/// A page takes memory as a whole as soon as one of its bytes is touched, so the result is rounded
/// up to whole pages. Pages of 4 KiB or less need no rounding: `bytes` includes the first 4 KiB of
/// the run, in which the block begins somewhere. On average, the untouched bytes there are as many
/// as the unused bytes in the last page.
pub(crate) const fn held_bytes(bytes: usize, page_bytes: usize) -> usize {
    if page_bytes > 4096 { bytes.next_multiple_of(page_bytes) } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_at_least_as_large_as_asked_and_rounding_is_stable() {
        for size in 1..=CHUNK {
            let rounded = round(size);
            assert!(rounded >= size && rounded % GRANULE == 0);
            assert!(rounded - size < GRANULE.max(size / 8 + 1), "{size} became {rounded}");
            assert_eq!(round(rounded), rounded);
            if size <= SMALL {
                assert_eq!(round_small(size), rounded);
            }
        }
    }

    #[test]
    fn two_sizes_share_a_list_only_if_they_are_rounded_to_the_same() {
        let mut of_list = [0; LISTS];
        for size in 1..=CHUNK {
            let rounded = round(size);
            let known = &mut of_list[list(rounded)];
            assert!(*known == 0 || *known == rounded, "{known} and {rounded}");
            *known = rounded;
            assert_eq!(list_bytes(list(rounded)), rounded);
            if size <= SMALL {
                assert_eq!(small_list(size), list(rounded));
            }
        }
        assert!(of_list.iter().all(|size| *size > 0), "no list is without a use");
    }

    #[test]
    fn large_pages_count_as_a_whole_and_never_as_more_than_the_run() {
        for page_bytes in [4096, 16 << 10, 64 << 10] {
            for bytes in (1..4 * CHUNK).step_by(509).chain([CHUNK, CHUNK + 1, 4 * CHUNK]) {
                let held = held_bytes(bytes, page_bytes);
                assert!((bytes..bytes + page_bytes).contains(&held));
                assert!(held % page_bytes == 0 || page_bytes == 4096 && held == bytes);
                assert!(held <= run_bytes(class(bytes)), "{bytes} bytes hold {held}");
            }
        }
    }

    #[test]
    fn a_run_holds_its_size_and_half_of_it_would_not() {
        for size in [1, CHUNK, CHUNK + 1, 3 * CHUNK, 4 * CHUNK, LARGEST - 1, LARGEST] {
            let class = class(size);
            assert!((1..CLASSES).contains(&class) && run_bytes(class) >= size);
            assert!(class == 1 || run_bytes(class - 1) < size);
        }
    }
}
