//! Size classes: how request sizes are rounded, and which run class serves them. Safe code over
//! `usize`.
#![forbid(unsafe_code)]

/// Blocks begin and end at multiples of this.
pub(crate) const GRANULE: usize = 8;

/// The largest small block. The fast paths serve small blocks.
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

/// The size in memory of a block in a chunk.
#[inline(always)]
pub(crate) const fn round(size: usize) -> usize {
    (size + (GRANULE - 1)) & !(GRANULE - 1)
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
            assert!(rounded >= size && rounded % GRANULE == 0 && rounded - size < GRANULE);
            assert_eq!(round(rounded), rounded);
        }
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
