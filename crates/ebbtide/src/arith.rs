//! Block placement: the address arithmetic of both ends of a region, in safe code over `usize`.
//!
//! The free bytes of a region are the addresses `low..top`. Blocks of known size are taken from the
//! high end ([`down_small`], [`down`], [`down_array`]), blocks that may grow from the low end
//! ([`up`]). At the high end, rounding *down* needs a single conditional branch; rounding up could
//! overflow and would need a second one.
//!
//! Every function returns `None` if the block does not fit. No sum or difference that wraps can
//! cause a wrong result. `tests/arith.rs` compares the functions with a model in wider integers,
//! over 16, 32 and 64 bits.
#![forbid(unsafe_code)]

/// No region begins below this address, so [`down_small`] needs only one comparison.
pub const LOWEST_ADDRESS: usize = 2 * SMALL;

/// The largest size and the largest alignment that [`down_small`] accepts, in bytes.
pub const SMALL: usize = 4096;

/// The alignment of every chunk allocated from a backing, and of the first byte of its region.
pub const CHUNK_ALIGN: usize = 16;

/// The size of a huge page in bytes, on x86-64 and on aarch64 with pages of 4 KiB. On systems with
/// another size this value only loses its benefit: the code stays correct.
pub const HUGE_PAGE: usize = 2 * 1024 * 1024;

macro_rules! arithmetic {
    ($word:ty, $signed:ty) => {
        /// Returns the start of a block of `size` bytes at the high end of `low..top`.
        ///
        /// For `size` and `align` up to [`SMALL`](crate::arith::SMALL) and `low` at or above
        /// [`LOWEST_ADDRESS`](crate::arith::LOWEST_ADDRESS): the subtraction cannot wrap then, so
        /// one comparison is exact.
        #[inline(always)]
        #[must_use]
        pub const fn down_small(
            top: $word,
            low: $word,
            size: $word,
            align: $word,
        ) -> Option<$word> {
            let start = top.wrapping_sub(size) & !(align - 1);
            if start < low { None } else { Some(start) }
        }

        /// Returns the start of a block of `size` bytes at the high end of `low..top`, for any
        /// layout.
        ///
        /// The block fits if the number of bytes left is not negative. Neither a region nor a
        /// layout rounded up to its alignment exceeds half of the address space, so that number
        /// never wraps.
        #[inline(always)]
        #[must_use]
        pub const fn down(top: $word, low: $word, size: $word, align: $word) -> Option<$word> {
            let start = top.wrapping_sub(size) & !(align - 1);
            if (start.wrapping_sub(low) as $signed) < 0 { None } else { Some(start) }
        }

        /// Like [`down`], for a `size` that is a multiple of `align`: the layout of an array.
        ///
        /// The start does not depend on `low`. Otherwise, in a loop that keeps `low` on the stack,
        /// the stores to a block would wait for the load of `low`, and that load for the stores to
        /// earlier blocks (dev/decisions/0019-missed-targets.md).
        ///
        /// The block fits if at least `size` bytes lie between `low` and the rounded `top`. That
        /// number is negative if the rounded `top` lies below `low`, and fits a signed word, as in
        /// [`up`].
        #[inline(always)]
        #[must_use]
        pub const fn down_array(
            top: $word,
            low: $word,
            size: $word,
            align: $word,
        ) -> Option<$word> {
            let end = top & !(align - 1);
            #[allow(clippy::cast_possible_wrap, reason = "no layout exceeds half of the addresses")]
            let signed_size = size as $signed;
            if (end.wrapping_sub(low) as $signed) < signed_size {
                None
            } else {
                Some(end.wrapping_sub(size))
            }
        }

        /// Returns the start of a block of `size` bytes at the low end of `low..top`, for any
        /// layout.
        ///
        /// The block fits if more than `size` bytes lie between its start and `top`: it ends below
        /// `top`, so that no block that may grow ends where its region does (invariant I5 of
        /// `raw`). That number is negative if the rounded start lies above `top`. It fits a signed
        /// word, because neither a region nor `align - 1` exceeds half of the address space. If the
        /// rounding wraps, so does the subtraction, and the number is right. The next `low` is
        /// computed from this one by an addition, a mask and another addition. Computing the
        /// padding first would add a negation.
        #[inline(always)]
        #[must_use]
        pub const fn up(top: $word, low: $word, size: $word, align: $word) -> Option<$word> {
            let start = low.wrapping_add(align - 1) & !(align - 1);
            #[allow(clippy::cast_possible_wrap, reason = "no layout exceeds half of the addresses")]
            let size = size as $signed;
            if (top.wrapping_sub(start) as $signed) <= size { None } else { Some(start) }
        }

        /// The size of a region that can serve `size` bytes at `align` from either end, if the
        /// region begins at a multiple of [`CHUNK_ALIGN`](crate::arith::CHUNK_ALIGN). The result is
        /// a multiple of that, too. `None` on overflow.
        #[must_use]
        pub const fn region_for(size: $word, align: $word) -> Option<$word> {
            #[allow(clippy::cast_possible_truncation, reason = "16 fits every word")]
            const CHUNK_ALIGN: $word = crate::arith::CHUNK_ALIGN as $word;
            // What rounding skips at most, because both ends are multiples of `CHUNK_ALIGN`.
            let slack = if align > CHUNK_ALIGN { align - CHUNK_ALIGN } else { 0 };
            // Not `div_ceil`: the sum must be checked before anything is rounded.
            match size.checked_add(CHUNK_ALIGN - 1) {
                Some(sum) => (sum & !(CHUNK_ALIGN - 1)).checked_add(slack),
                None => None,
            }
        }
    };
}

arithmetic!(usize, isize);

/// The same functions over 16 bits, an address space small enough for exhaustive tests.
#[doc(hidden)]
pub mod word16 {
    arithmetic!(u16, i16);
}

/// The same functions over 32 bits.
#[doc(hidden)]
pub mod word32 {
    arithmetic!(u32, i32);
}
