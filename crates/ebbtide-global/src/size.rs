//! How large a block really is, and which free list it belongs to. Numbers only.
#![forbid(unsafe_code)]

/// Every block begins and ends at a multiple of this.
pub(crate) const GRANULE: usize = 8;

/// Up to here a block is as large as asked, rounded to the granule; the fast paths serve these.
pub(crate) const SMALL: usize = 1024;

/// A larger request gets chunks of its own, a span, unless a chunk's last block grew to that size in place.
pub(crate) const LARGEST_IN_CHUNK: usize = 8 * 1024;

/// The bytes of a chunk.
pub(crate) const CHUNK: usize = 1 << CHUNK_SHIFT;

/// The binary logarithm of [`CHUNK`].
pub(crate) const CHUNK_SHIFT: u32 = 16;

/// A span has a power of two of chunks; there are so many of these sizes.
pub(crate) const CLASSES: usize = if usize::BITS == 64 { 17 } else { 12 };

/// Larger requests are never served: 1 GiB. What grew takes up to four times its size.
pub(crate) const LARGEST: usize = CHUNK << (CLASSES - 3);

/// The number of free lists: one a granule up to [`SMALL`], then eight a doubling up to [`CHUNK`].
pub(crate) const LISTS: usize = SMALL / GRANULE + 8 * (CHUNK / SMALL).ilog2() as usize;

/// The size of a small block.
#[inline(always)]
pub(crate) const fn round_small(size: usize) -> usize {
    (size + (GRANULE - 1)) & !(GRANULE - 1)
}

/// The size of a block in a chunk. Above [`SMALL`] an eighth is given away at most, so that a free list finds
/// takers.
#[inline]
pub(crate) const fn round(size: usize) -> usize {
    if size <= SMALL {
        return round_small(size);
    }
    let step = 1 << ((size - 1).ilog2() - 3);
    (size + (step - 1)) & !(step - 1)
}

/// The free list of blocks of a size that [`round`] made, other than 0.
#[inline]
pub(crate) const fn list(rounded: usize) -> usize {
    if rounded <= SMALL {
        return rounded / GRANULE - 1;
    }
    let log = (rounded - 1).ilog2();
    let eighth = ((rounded - 1) >> (log - 3)) & 7;
    SMALL / GRANULE + 8 * (log - SMALL.ilog2()) as usize + eighth
}

/// The free list of blocks of a small size other than 0.
#[inline(always)]
pub(crate) const fn small_list(size: usize) -> usize {
    // What `list` says of the rounded size. The remainder changes nothing, and tells the compiler that there is such a list.
    (size - 1) / GRANULE % (SMALL / GRANULE)
}

/// The class of the smallest span that holds `size` bytes: it has `1 << class` chunks.
#[inline]
pub(crate) const fn class(size: usize) -> usize {
    size.div_ceil(CHUNK).next_power_of_two().trailing_zeros() as usize
}

/// The bytes of a span.
#[inline]
pub(crate) const fn span(class: usize) -> usize {
    CHUNK << class
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
            if size <= SMALL {
                assert_eq!(small_list(size), list(rounded));
            }
        }
        assert!(of_list.iter().all(|size| *size > 0), "no list is without a use");
    }

    #[test]
    fn a_span_holds_what_it_was_chosen_for_and_half_of_it_would_not() {
        for size in [1, CHUNK, CHUNK + 1, 3 * CHUNK, 4 * CHUNK, LARGEST - 1, LARGEST] {
            let class = class(size);
            assert!(class < CLASSES && span(class) >= size);
            assert!(class == 0 || span(class - 1) < size);
        }
    }
}
