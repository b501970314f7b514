//! Claim: accessors, comparisons and formatting report the actual state, and chunks have the
//! documented sizes.

#![cfg(feature = "std")]
#![allow(dead_code, unused_imports, reason = "each set of features uses a part of it")]

use crate::common::watched;
use ebbtide::{AllocError, Arena, Backing, Fixed, Heap, StackArena, Stats};
use std::{alloc::Layout, mem::MaybeUninit, ptr::NonNull};

#[test]
fn backing_returns_the_backing_of_the_arena() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    let _ = arena.scope();
    assert_eq!(log.calls(), 1);
    // It is the same backing, not a copy.
    assert!(format!("{:?}", arena.backing()).contains("calls: 1"));

    let (backing, log) = watched();
    let mut fixed = Fixed::new([MaybeUninit::uninit(); 10]).or_spill(backing);
    fixed.scope().alloc([0u8; 100]);
    assert_eq!(log.calls(), 1);
    assert!(format!("{:?}", fixed.backing()).contains("calls: 1"));
}

#[test]
fn default_arenas_are_empty() {
    let arena = Arena::<Heap>::default();
    assert_eq!((arena.stats().held, arena.limit()), (0, None));
    let mut arena = StackArena::<64>::default();
    let s = arena.scope();
    assert!(s.try_alloc([0u8; 64]).is_ok() && s.try_alloc(0u8).is_err());
}

#[test]
fn debug_of_stack_bytes_prints_only_their_size() {
    let fixed = StackArena::<100>::new().or_spill(Heap);
    assert_eq!(format!("{:?}", fixed.into_memory()), "StackBytes(100)");
}

#[test]
#[cfg_attr(miri, ignore = "allocates many megabytes")]
fn ordinary_chunks_double_from_16_kib_to_4_mib_and_become_whole_huge_pages() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    let s = arena.scope();
    while log.sizes().len() < 12 {
        s.alloc_zeroed_slice::<u8>(4000);
    }
    // The first sizes leave room for the heap's overhead.
    let mut expected: Vec<usize> = (0..7).map(|doublings| (16 * 1024 - 64) << doublings).collect();
    expected.extend([2 << 20, 4 << 20, 4 << 20, 4 << 20, 4 << 20]);
    assert_eq!(log.sizes(), expected);
}

#[test]
#[cfg(all(target_pointer_width = "64", not(any(feature = "poison", ebbtide_asan))))]
fn the_first_block_at_either_end_of_an_ordinary_chunk_lies_in_whole_cache_lines() {
    let mut arena = Arena::new();
    for size in [1000, 20_000, 100_000, 3_000_000] {
        let s = arena.scope();
        s.alloc_zeroed_slice::<u8>(size);
        let s = arena.scope();
        let high = s.alloc_zeroed_slice::<[u8; 64]>(1);
        assert_eq!(high.as_ptr().addr() % 64, 0);
        let mut low = s.vec();
        low.push(1_u8);
        assert_eq!(low.as_ptr().addr() % 64, 0, "{size}");
        arena.reset_with(ebbtide::Retain::Bytes(0));
    }
}

#[test]
fn high_water_counts_every_chunk_entered_or_exact_bytes_with_poison() {
    let exact = cfg!(any(feature = "poison", ebbtide_asan));
    let mut arena = Arena::with_chunk_size(1024);
    let stats = {
        let s = arena.scope();
        while s.stats().chunks < 4 {
            s.alloc([1u8; 100]);
        }
        s.stats()
    };
    assert!(stats.used < stats.capacity);
    let expected = if exact { stats.used } else { stats.capacity };
    assert_eq!((arena.stats().used, arena.stats().high_water), (0, expected));

    let mut arena = Arena::with_chunk_size(1024);
    let (parent, both) = {
        let s = arena.scope();
        s.alloc([1u8; 100]);
        let parent = s.stats();
        let claim = s.claim();
        claim.scope().alloc([1u8; 200]);
        (parent, s.stats().capacity)
    };
    assert!(parent.capacity < both);
    if !exact {
        assert_eq!(arena.stats().high_water, both);
    }

    let mut fixed = Fixed::new([MaybeUninit::uninit(); 100]);
    fixed.scope().alloc([1u8; 10]);
    assert_eq!(fixed.stats().high_water, if exact { 10 } else { 100 });
}

#[cfg(feature = "serde")]
mod seeds {
    use ebbtide::Arena;
    use serde::de::{
        DeserializeSeed,
        value::{BorrowedBytesDeserializer, BorrowedStrDeserializer, BytesDeserializer, Error},
    };

    #[test]
    fn bytes_are_borrowed_from_text_and_text_from_bytes() {
        let mut arena = Arena::new();
        let s = arena.scope();
        let text = BorrowedBytesDeserializer::<Error>::new(b"ebb");
        assert_eq!(s.borrowing_seed::<str>().deserialize(text), Ok("ebb"));
        let copied = BytesDeserializer::<Error>::new(b"flow");
        assert_eq!(s.borrowing_seed::<str>().deserialize(copied), Ok("flow"));
        let wrong = BorrowedBytesDeserializer::<Error>::new(b"\xFF");
        assert!(s.borrowing_seed::<str>().deserialize(wrong).is_err());
        let bytes = BorrowedStrDeserializer::<Error>::new("tide");
        assert_eq!(s.borrowing_seed::<[u8]>().deserialize(bytes), Ok(&b"tide"[..]));
        let none = serde::de::value::UnitDeserializer::<Error>::new();
        let error = s.borrowing_seed::<[u8]>().deserialize(none).unwrap_err();
        assert!(error.to_string().contains("expected bytes"), "{error}");
    }

    #[test]
    fn debug_of_seeds_prints_their_names() {
        let mut arena = Arena::new();
        let s = arena.scope();
        assert_eq!(format!("{:?}", s.seed::<str>()), "Seed { .. }");
    }

    #[test]
    fn errors_of_collection_seeds_name_the_expected_type() {
        let mut arena = Arena::new();
        let s = arena.scope();
        let s = &s;
        let none = || serde::de::value::UnitDeserializer::<Error>::new();
        let seed = s.seed_vec(s.seed::<str>());
        assert_eq!(format!("{seed:?}"), "VecSeed { .. }");
        let error = seed.deserialize(none()).unwrap_err();
        assert!(error.to_string().contains("expected a sequence"), "{error}");
        let seed = s.seed_string();
        assert_eq!(format!("{seed:?}"), "StringSeed { .. }");
        let error = seed.deserialize(none()).unwrap_err();
        assert!(error.to_string().contains("expected a string"), "{error}");
        let text = BytesDeserializer::<Error>::new(b"ebb");
        assert_eq!(s.seed_string().deserialize(text).unwrap().as_str(), "ebb");
    }

    #[cfg(feature = "hashbrown-017")]
    #[test]
    fn errors_of_map_seeds_name_the_expected_type() {
        let mut arena = Arena::new();
        let s = arena.scope();
        let s = &s;
        let none = || serde::de::value::UnitDeserializer::<Error>::new();
        let seed = s.seed_map(s.seed::<str>(), s.seed::<str>());
        assert_eq!(format!("{seed:?}"), "MapSeed { .. }");
        assert!(seed.deserialize(none()).unwrap_err().to_string().contains("expected a map"));
        let seed = s.seed_set(s.seed::<str>());
        assert_eq!(format!("{seed:?}"), "SetSeed { .. }");
        assert!(seed.deserialize(none()).unwrap_err().to_string().contains("expected a sequence"));
    }
}

/// For any chunk size and any address of its block, so that blocks touch as few cache lines as
/// possible.
#[test]
fn chunks_end_at_a_cache_line() {
    fn check<B: Backing + Default>(capacity: usize) {
        let mut arena = Arena::with_chunk_size_in(capacity, B::default());
        let s = arena.scope();
        assert!(s.stats().capacity >= capacity);
        let block = s.alloc([0_u8; 64]);
        let end = std::ptr::from_ref(block).addr() + 64;
        assert_eq!(end % 64, 0, "a chunk for {capacity} bytes");
    }
    for capacity in (64..1_100).step_by(16) {
        check::<Heap>(capacity);
        check::<crate::common::Skewed>(capacity);
    }
}

/// The end of a region at a page that nobody has written to would make comparing the strings there
/// slow.
#[test]
fn chunks_do_not_end_at_a_page() {
    /// Blocks at an offset from the start of a page, as common heaps return large ones.
    struct Paged<const OFFSET: usize>;

    fn paged(layout: Layout, offset: usize) -> Layout {
        Layout::from_size_align(layout.size() + offset, 4096).unwrap()
    }

    // SAFETY: a block of the heap, behind `OFFSET` bytes of it; both are multiples of 16.
    unsafe impl<const OFFSET: usize> Backing for Paged<OFFSET> {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            let block = Heap.allocate(paged(layout, OFFSET))?.cast::<u8>();
            // SAFETY: the block of the heap has `OFFSET` bytes more.
            let block = unsafe { block.add(OFFSET) };
            Ok(NonNull::slice_from_raw_parts(block, layout.size()))
        }

        unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
            // SAFETY: `allocate` moved the block by as much.
            let block = unsafe { block.sub(OFFSET) };
            // SAFETY: it is the heap's, with this layout.
            unsafe { Heap.release(block, paged(layout, OFFSET)) };
        }
    }

    fn check<const OFFSET: usize>() {
        for capacity in (4096..2 * 4096).step_by(64) {
            let mut arena = Arena::with_chunk_size_in(capacity, Paged::<OFFSET>);
            let s = arena.scope();
            let end = std::ptr::from_ref(s.alloc(0_u8)).addr() + 1;
            assert_ne!(end % 4096, 0, "a chunk for {capacity} bytes, {OFFSET} behind a page");
        }
    }
    check::<0>();
    check::<16>();
    check::<32>();
    check::<48>();
}

/// It is often moved: into a struct, a box, a result.
#[test]
#[cfg(all(target_pointer_width = "64", not(any(feature = "poison", ebbtide_asan))))]
fn an_arena_takes_88_bytes() {
    assert_eq!((size_of::<Arena>(), align_of::<Arena>()), (88, 8));
}

/// The header, and what aligning both ends to cache lines costs; from a page on, also what keeps the
/// end from a page. Any size can be asked for, and is exact.
#[test]
fn a_chunk_costs_two_cache_lines_a_first_and_a_large_one_more() {
    let is_64_bit = cfg!(target_pointer_width = "64");
    let tracks = cfg!(any(feature = "poison", ebbtide_asan));
    let lines = if tracks && is_64_bit { 3 } else { 2 };
    let control = if is_64_bit { 128 } else { 64 };
    for capacity in (16..9_000).step_by(16) {
        let mut arena = Arena::with_chunk_size(capacity);
        let _ = arena.scope();
        let first = arena.stats();
        let overhead = control + 64 * (lines + usize::from(capacity + control >= 4096));
        assert_eq!((first.capacity, first.held - capacity), (capacity, overhead));
        assert_eq!(Arena::<Heap>::chunk_overhead(capacity), overhead);

        arena.alloc_slice_fill_copy(capacity, 0_u8);
        arena.alloc(0_u8);
        let both = arena.stats();
        let second = both.capacity - capacity;
        let overhead = 64 * (lines + usize::from(second >= 4096));
        assert_eq!((both.chunks, both.held - first.held - second), (2, overhead), "{capacity}");
    }
}

/// A limit between the sizes of the largest small chunk and the smallest large one is not exceeded,
/// and as much of it serves as possible.
#[test]
fn a_limit_decides_the_size_of_a_chunk() {
    let most_small = 4080 - if cfg!(target_pointer_width = "64") { 128 } else { 64 };
    for limit in 1_000..9_000 {
        let mut arena = Arena::with_chunk_size(100_000);
        arena.set_limit(Some(limit));
        let _ = arena.scope();
        let stats = arena.stats();
        assert!(stats.held <= limit && stats.held >= limit - 79, "{limit}: {stats:?}");
        assert!(stats.held > limit - 16 || stats.capacity == most_small, "{limit}: {stats:?}");
    }
}

#[test]
fn sizes_are_rounded_to_two_decimals_of_the_largest_unit() {
    for (size, text) in [
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1029, "1.00 KiB"),
        (1030, "1.01 KiB"),
        (1_048_575, "1024.00 KiB"),
        (1 << 20, "1.00 MiB"),
        (3 << 29, "1.50 GiB"),
        #[cfg(target_pointer_width = "64")]
        (5 << 49, "2560.00 TiB"),
        #[cfg(target_pointer_width = "64")]
        (usize::MAX, "16777216.00 TiB"),
    ] {
        let mut stats = Stats::default();
        stats.used = size;
        assert_eq!(stats.to_string(), format!("{text} used of 0 B in 0 chunks"));
    }
}
