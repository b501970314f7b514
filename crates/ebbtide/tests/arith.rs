//! Claim: the arithmetic of both ends of a region is exact, for every layout that Rust allows.
//!
//! The model computes in `i128`, where nothing wraps, and divides instead of masking. Valid
//! layouts: `align` is a power of two, and `size` rounded up to it is at most the greatest signed
//! word. Valid regions: `low <= top`, and their distance is at most the greatest signed word.

#[cfg(target_pointer_width = "64")]
use ebbtide::arith;
use ebbtide::arith::{CHUNK_ALIGN, LOWEST_ADDRESS, SMALL, word16, word32};
use proptest::prelude::*;

/// The model: the greatest multiple of `align` with `size` bytes between it and `top`.
fn model_down(top: i128, low: i128, size: i128, align: i128) -> Option<i128> {
    let start = (top - size).div_euclid(align) * align;
    (start >= low).then_some(start)
}

/// The model: the least multiple of `align` at or above `low`, if `size` bytes fit from there.
fn model_up(top: i128, low: i128, size: i128, align: i128) -> Option<i128> {
    let start = (low + align - 1).div_euclid(align) * align;
    (start + size < top).then_some(start)
}

/// Whether a layout of `bits` bits may have this size and alignment.
fn valid(size: i128, align: i128, bits: u32) -> bool {
    let rounded = (size + align - 1).div_euclid(align) * align;
    rounded < 1_i128 << (bits - 1)
}

/// Whether a region may have this size.
fn possible(top: i128, low: i128, bits: u32) -> bool {
    low <= top && top - low < 1_i128 << (bits - 1)
}

fn in_region(start: Option<i128>, top: i128, low: i128, size: i128, align: i128) {
    if let Some(start) = start {
        assert!(low <= start && start + size <= top, "{start} + {size} in {low}..{top}");
        assert_eq!(start % align, 0);
    }
}

macro_rules! against_the_model {
    ($name:ident, $word:ty, $arith:path) => {
        /// Compares every function with the model for one region and one layout.
        fn $name(top: $word, low: $word, size: $word, align: $word) {
            use $arith as subject;
            let wide = (i128::from(top), i128::from(low), i128::from(size), i128::from(align));
            let (w_top, w_low, w_size, w_align) = wide;
            assert!(possible(w_top, w_low, <$word>::BITS), "the test's own fault");
            assert!(valid(w_size, w_align, <$word>::BITS), "the test's own fault");
            let down = model_down(w_top, w_low, w_size, w_align);
            let up = model_up(w_top, w_low, w_size, w_align);
            in_region(down, w_top, w_low, w_size, w_align);
            in_region(up, w_top, w_low, w_size, w_align);
            let case = (top, low, size, align);
            assert_eq!(subject::down(top, low, size, align).map(i128::from), down, "{case:?}");
            assert_eq!(subject::up(top, low, size, align).map(i128::from), up, "{case:?}");
            if size % align == 0 {
                let array = subject::down_array(top, low, size, align);
                assert_eq!(array.map(i128::from), down, "{case:?}");
            }
            let small = usize::try_from(size).is_ok_and(|size| size <= SMALL)
                && usize::try_from(align).is_ok_and(|align| align <= SMALL);
            if small && usize::try_from(low).is_ok_and(|low| low >= LOWEST_ADDRESS) {
                let small = subject::down_small(top, low, size, align);
                assert_eq!(small.map(i128::from), down, "{case:?}");
            }
        }
    };
}
against_the_model!(check16, u16, ebbtide::arith::word16);
against_the_model!(check32, u32, ebbtide::arith::word32);

/// Like the others, but `usize` does not convert into `i128` by `From`. Its corners have 64 bits;
/// shorter words are tested as `word16` and `word32`.
#[cfg(target_pointer_width = "64")]
fn check_native(top: usize, low: usize, size: usize, align: usize) {
    let wide = |word: usize| i128::try_from(word).unwrap();
    let (w_top, w_low, w_size, w_align) = (wide(top), wide(low), wide(size), wide(align));
    assert!(possible(w_top, w_low, usize::BITS), "the test's own fault");
    assert!(valid(w_size, w_align, usize::BITS), "the test's own fault");
    let down = model_down(w_top, w_low, w_size, w_align);
    let case = (top, low, size, align);
    assert_eq!(arith::down(top, low, size, align).map(wide), down, "{case:?}");
    let up = model_up(w_top, w_low, w_size, w_align);
    assert_eq!(arith::up(top, low, size, align).map(wide), up, "{case:?}");
    if size % align == 0 {
        assert_eq!(arith::down_array(top, low, size, align).map(wide), down, "{case:?}");
    }
    if size <= SMALL && align <= SMALL && low >= LOWEST_ADDRESS {
        assert_eq!(arith::down_small(top, low, size, align).map(wide), down, "{case:?}");
    }
}

/// 16-bit words worth testing: near powers of two, near both ends, and a few others.
fn corners16() -> Vec<u16> {
    let mut words = vec![0, 1, 100, 1000, 12_345, 40_000, u16::MAX];
    for shift in 0..16 {
        let power = 1_u16 << shift;
        words.extend([power - 1, power, power.saturating_add(1), u16::MAX - power]);
    }
    words.sort_unstable();
    words.dedup();
    words
}

fn aligns16() -> impl Iterator<Item = u16> {
    (0..16).map(|shift| 1 << shift)
}

#[test]
fn every_corner_of_16_bits_agrees_with_the_model() {
    let corners = corners16();
    let mut cases = 0;
    for &top in &corners {
        for &low in corners.iter().filter(|low| possible(top.into(), (**low).into(), 16)) {
            for align in aligns16() {
                for &size in &corners {
                    if valid(size.into(), align.into(), 16) {
                        check16(top, low, size, align);
                        cases += 1;
                    }
                }
            }
        }
    }
    assert!(cases > 200_000, "{cases}");
}

#[test]
fn sizes_around_that_of_the_region_agree_with_the_model() {
    for top in (0..=u16::MAX).rev().step_by(257).take(40).chain([1, 15, 8192, 8193, 12_289]) {
        for room in (0..70).chain([255, 256, 257, 4095, 4096, 4097, 32_766, 32_767]) {
            let Some(low) = top.checked_sub(room) else { continue };
            for align in aligns16() {
                for size in room.saturating_sub(align.min(20))..=room.saturating_add(2) {
                    if valid(size.into(), align.into(), 16) {
                        check16(top, low, size, align);
                    }
                }
            }
        }
    }
}

#[test]
fn the_largest_layouts_never_fit_and_never_wrap() {
    for shift in 0..31 {
        let align = 1_u32 << shift;
        let greatest = (1_u32 << 31) - align;
        for size in [greatest, greatest - greatest.min(1), 0] {
            for (low, top) in [
                (8192, 8192),
                (8192, 1 << 31),
                (1 << 31, u32::MAX),
                (u32::MAX - 5, u32::MAX),
                (0, 0),
            ] {
                check32(top, low, size, align);
            }
        }
    }
    #[cfg(target_pointer_width = "64")]
    for shift in 0..63 {
        let align = 1_usize << shift;
        let greatest = (1_usize << 63) - align;
        for size in [greatest, greatest - greatest.min(1), 0] {
            for (low, top) in [
                (8192, 8192),
                (8192, 1 << 47),
                (8192, 1 << 63),
                (1 << 63, usize::MAX),
                (usize::MAX - 5, usize::MAX),
                (1 << 47, (1 << 47) + 4096),
            ] {
                check_native(top, low, size, align);
            }
        }
    }
}

/// A comparison of addresses alone would be wrong here: the region is so low that the subtraction
/// wraps.
#[test]
fn eight_gibibytes_from_a_low_region_are_refused() {
    #[cfg(target_pointer_width = "64")]
    assert_eq!(arith::down(0x40_1000, 0x40_0000, 8 << 30, 8), None);
    assert_eq!(word32::down(0x40_1000, 0x40_0000, 0x7fff_fff8, 8), None);
    assert_eq!(word16::down(8292, 8192, 32_760, 8), None);
}

/// `region_for` returns a multiple of 16 that is large enough, and never wraps.
fn check_region16(size: u16, align: u16) {
    let wide = i128::from(size) + 15;
    let rounded = wide.div_euclid(16) * 16;
    let expected = rounded + i128::from(align).max(16) - 16;
    let Some(region) = word16::region_for(size, align) else {
        assert!(expected > i128::from(u16::MAX) || wide > i128::from(u16::MAX), "{size} {align}");
        return;
    };
    assert_eq!((i128::from(region), region % 16), (expected, 0));
    // A region of that size at any multiple of 16 serves the request from both ends.
    let chunk_align = u16::try_from(CHUNK_ALIGN).unwrap();
    for low in (8192..8192 + 4 * align.min(1024)).step_by(chunk_align.into()).chain([16, 32, 48]) {
        if let Some(top) = low.checked_add(region).filter(|_| region < 1 << 15) {
            assert!(word16::down(top, low, size, align).is_some(), "{size} {align} at {low}");
            // At the low end, blocks end below `top`.
            let smaller = size.saturating_sub(1);
            assert!(
                size == 0 || word16::up(top, low, smaller, align).is_some(),
                "{size} {align} at {low}"
            );
        }
    }
}

#[test]
fn a_region_made_for_a_request_serves_it_from_both_ends() {
    for align in aligns16() {
        for size in (0..50).chain(corners16()) {
            if valid(size.into(), align.into(), 16) {
                check_region16(size, align);
            }
        }
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_region_too_large_for_the_word_is_refused() {
    assert_eq!(arith::region_for(usize::MAX, 1), None);
    assert_eq!(arith::region_for(usize::MAX - 14, 16), None);
    assert_eq!(arith::region_for(usize::MAX - 15, 16), Some(usize::MAX - 15));
    assert_eq!(arith::region_for(0, 1 << 63), Some((1 << 63) - 16));
    assert_eq!(arith::region_for(17, 1 << 63), Some((1 << 63) + 16));
    assert_eq!(arith::region_for((1 << 63) + 1, 1 << 63), None);
    assert_eq!(arith::region_for(isize::MAX as usize, 1), Some(1 << 63));
    assert_eq!(arith::region_for(0, 1), Some(0));
}

/// Words spread over the orders of magnitude, and near both ends.
fn word(bits: u32) -> impl Strategy<Value = u64> {
    let max = u64::MAX >> (64 - bits);
    prop_oneof![
        (0..bits, any::<u64>()).prop_map(move |(shift, word)| (word & max) >> shift),
        (0..10_000_u64).prop_map(move |below| max - below),
        (0..bits, 0..32_u64).prop_map(move |(shift, off)| (1_u64 << shift).saturating_sub(off)),
        (0..bits, 0..32_u64).prop_map(move |(shift, off)| ((1_u64 << shift) + off).min(max)),
    ]
}

/// A valid layout: sizes up to the maximum for the alignment, often near it.
fn layout(bits: u32) -> impl Strategy<Value = (u64, u64)> {
    (0..bits, word(bits), any::<bool>()).prop_map(move |(shift, size, near)| {
        let align = 1_u64 << shift;
        let greatest = (1_u64 << (bits - 1)) - align;
        (if near { greatest - (size % 64).min(greatest) } else { size.min(greatest) }, align)
    })
}

/// A region, and a size close to that of the region.
fn region(bits: u32) -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![
        (word(bits), word(bits)),
        (word(bits), 0..10_000_u64).prop_map(|(top, room)| (top, top.saturating_sub(room))),
    ]
    .prop_map(move |(a, b)| {
        let greatest = (1_u64 << (bits - 1)) - 1;
        (a.max(b), a.min(b).max(a.max(b).saturating_sub(greatest)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_32_bit_case_agrees_with_the_model(
        (top, low) in region(32), (size, align) in layout(32), near in 0..40_u64, exact: bool,
    ) {
        let size = if exact { (top - low).saturating_sub(20) + near } else { size };
        if valid(size.into(), align.into(), 32) {
            let word = |word: u64| u32::try_from(word).unwrap();
            check32(word(top), word(low), word(size), word(align));
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn any_64_bit_case_agrees_with_the_model(
        (top, low) in region(64), (size, align) in layout(64), near in 0..40_u64, exact: bool,
    ) {
        let size = if exact { (top - low).saturating_sub(20).saturating_add(near) } else { size };
        if valid(size.into(), align.into(), 64) {
            let word = |word: u64| usize::try_from(word).unwrap();
            check_native(word(top), word(low), word(size), word(align));
        }
    }
}
