//! Claim: a front end can allocate with the words of a scope alone, and restore earlier words.

// With `ebbtide_asan` the core poisons free memory. A front end that takes blocks by itself would
// have to unpoison them.
#![cfg(not(ebbtide_asan))]
#![cfg(feature = "alloc")]

use ebbtide::{
    Arena, Fixed, Heap, Scope,
    front_end::{self, SMALL, Words},
};
use std::{alloc::Layout, mem::MaybeUninit, ptr::NonNull};

/// The fast path of the high end, as the module documents it.
fn take(words: &mut Words, layout: Layout) -> Option<NonNull<u8>> {
    assert!(layout.size() <= SMALL && layout.align() <= SMALL);
    let start = words.top.wrapping_sub(layout.size()) & !(layout.align() - 1);
    if start < words.low.addr() {
        return None;
    }
    words.top = start;
    NonNull::new(words.low.with_addr(start))
}

/// Fast path, then cold path.
fn alloc(words: &mut Words, layout: Layout) -> NonNull<u8> {
    take(words, layout).unwrap_or_else(|| {
        // SAFETY: each test uses the words of one scope of an arena that stays in its place.
        unsafe { words.scope() }.try_alloc_layout(layout).unwrap()
    })
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

#[test]
fn the_fast_path_by_hand_takes_the_same_blocks_as_the_scope() {
    let mut arenas = [Arena::with_capacity(1000), Arena::with_capacity(1000)];
    let [by_hand, by_scope] = &mut arenas;
    let mut words = Words::of(by_hand.scope());
    let start = (words.top, Words::of(by_scope.scope()).top);
    let (scope, mut offsets) = (by_scope.scope(), Vec::new());
    for (size, align) in [(1, 1), (8, 8), (3, 2), (24, 8), (100, 32), (7, 1), (16, 16)] {
        let block = alloc(&mut words, layout(size, align)).addr().get();
        let same = scope.alloc_layout(layout(size, align)).addr().get();
        if size > 0 {
            offsets.push((start.0 - block, start.1 - same));
        }
    }
    // Every region ends at a multiple of 64, so both arenas have the same padding.
    assert!(offsets.iter().all(|(mine, its)| mine == its), "{offsets:?}");
}

#[test]
fn words_written_back_end_what_was_allocated_since_whatever_chunks_it_is_in() {
    let mut arena = Arena::new();
    let mut words = Words::of(arena.scope());
    let kept = alloc(&mut words, layout(8, 8)).cast::<u64>();
    // SAFETY: eight bytes, aligned.
    unsafe { kept.write(42) };
    let mark = words;
    let mut held = None;
    for turn in 0..if cfg!(miri) { 10 } else { 100_u8 } {
        for size in [1, 100, 5_000, 40_000] {
            let block = alloc(&mut words, layout(size.min(SMALL), 8));
            // SAFETY: as many bytes.
            unsafe { block.write_bytes(turn, size.min(SMALL)) };
            // SAFETY: the words of the only scope.
            let large = unsafe { words.scope() }.try_alloc_layout(layout(size, 8)).unwrap();
            // SAFETY: as many bytes.
            unsafe { large.write_bytes(turn, size) };
        }
        // SAFETY: the words of the only scope.
        let now = unsafe { words.scope() }.stats().held;
        assert_eq!(*held.get_or_insert(now), now, "every turn finds the chunks of the first");
        words = mark;
    }
    // SAFETY: allocated before the mark.
    assert_eq!(unsafe { kept.read() }, 42);
    // SAFETY: the words of the only scope.
    assert_eq!(unsafe { words.scope() }.stats().used, 8);
}

#[test]
fn a_mark_in_a_full_chunk_is_moved_on_so_that_a_loop_does_not_enter_the_next_one_each_turn() {
    let mut arena = Arena::with_chunk_size(4096);
    let mut words = Words::of(arena.scope());
    let first = words.chunk;
    alloc(&mut words, layout(4000, 8));
    alloc(&mut words, layout(50, 1));
    // A second chunk, and back.
    let mark = words;
    alloc(&mut words, layout(4000, 8));
    words = mark;
    assert_eq!(words.chunk, first);
    // SAFETY: the words of the only scope.
    let _ = unsafe { words.scope() }.scope();
    assert_ne!(words.chunk, first, "the scope itself moved on");
    let mark = words;
    for _ in 0..10 {
        assert!(take(&mut words, layout(64, 8)).is_some(), "by the fast path");
        words = mark;
    }
}

#[test]
fn the_last_block_of_the_low_end_grows_and_shrinks_as_low_moves() {
    let mut arena = Arena::with_capacity(1000);
    let mut words = Words::of(arena.scope());
    // SAFETY: the words of the only scope.
    let first = front_end::alloc_low(unsafe { words.scope() }, layout(10, 2)).unwrap();
    assert_eq!(words.low.addr(), first.addr().get() + 10);
    words.low = words.low.wrapping_add(90);
    // SAFETY: a hundred bytes, now.
    unsafe { first.write_bytes(7, 100) };
    // SAFETY: the words of the only scope.
    let second = front_end::alloc_low(unsafe { words.scope() }, layout(1, 1)).unwrap();
    assert_eq!(second.addr().get(), first.addr().get() + 100);
    words.low = words.low.wrapping_sub(1);
    // SAFETY: the words of the only scope.
    assert_eq!(front_end::alloc_low(unsafe { words.scope() }, layout(1, 1)), Ok(second));
    // In a chunk of its own, because the rest of this one is too small. SAFETY: the words of the
    // only scope.
    let third = front_end::alloc_low(unsafe { words.scope() }, layout(2000, 16)).unwrap();
    assert_eq!(words.low.addr(), third.addr().get() + 2000);
    assert_ne!(words.low.addr(), second.addr().get() + 1);
    // SAFETY: a hundred bytes that were written.
    assert_eq!(unsafe { first.cast::<[u8; 100]>().read() }, [7; 100]);
}

#[test]
fn failure_leaves_the_words_as_they_were() {
    let mut buffer = [MaybeUninit::uninit(); 100];
    let mut fixed = Fixed::new(&mut buffer[..]);
    let mut words = Words::of(fixed.scope());
    // SAFETY: the words of the only scope.
    front_end::alloc_low(unsafe { words.scope() }, layout(40, 1)).unwrap();
    let before = words;
    let large = 1 << (usize::BITS - 4);
    for (size, align) in [(61, 1), (large, 1), (1, large), (isize::MAX as usize, 1)] {
        // SAFETY: the words of the only scope.
        let scope: &Scope<'_> = unsafe { words.scope() };
        assert!(scope.try_alloc_layout(layout(size, align)).is_err());
        assert!(front_end::alloc_low(scope, layout(size, align)).is_err());
        assert_eq!(words, before);
    }
    // SAFETY: the words of the only scope.
    assert!(unsafe { words.scope() }.try_alloc_layout(layout(60, 1)).is_ok());
}

#[test]
fn the_free_ranges_are_what_is_left_of_the_region_and_the_chunks_behind() {
    let mut fixed = Fixed::new([MaybeUninit::uninit(); 256]).or_spill(Heap);
    let mut words = Words::of(fixed.scope());
    let mark = words;
    alloc(&mut words, layout(200, 1));
    alloc(&mut words, layout(1000, 1));
    // SAFETY: the words of the only scope.
    let ranges: Vec<_> = front_end::free_ranges(unsafe { words.scope() }).collect();
    assert_eq!(ranges.len(), 1, "the buffer's rest is lost until the scope ends");
    assert_eq!(ranges[0].cast::<u8>().as_ptr(), words.low);
    assert_eq!(ranges[0].len(), words.top - words.low.addr());
    words = mark;
    // SAFETY: the words of the only scope.
    let scope = unsafe { words.scope() };
    let ranges: Vec<_> = front_end::free_ranges(scope).map(|range| range.len()).collect();
    assert_eq!(ranges.iter().sum::<usize>(), scope.stats().capacity);
    assert_eq!(ranges[0], 256);
}

#[test]
fn a_scope_knows_what_was_allocated_from_it() {
    let mut arena = Arena::with_chunk_size(1000);
    let mut words = Words::of(arena.scope());
    let mut blocks = Vec::new();
    // In several chunks.
    for size in [1, 8, 900, 500, 3000] {
        let block = alloc(&mut words, layout(size, 1)).addr().get();
        blocks.extend([block, block + size - 1]);
    }
    // SAFETY: the words of the only scope.
    let low = front_end::alloc_low(unsafe { words.scope() }, layout(8, 8)).unwrap().addr().get();
    let (free, outside) = (words.low.addr()..words.top, std::ptr::from_ref(&blocks).addr());
    // SAFETY: the words of the only scope.
    let scope = unsafe { words.scope() };
    assert!(blocks.iter().all(|&block| front_end::has_allocated(scope, block)));
    assert!(blocks.iter().all(|&block| front_end::has_allocated_high(scope, block)));
    assert!(front_end::has_allocated(scope, low) && !front_end::has_allocated_high(scope, low));
    for address in [free.start, free.end - 1, outside, 1] {
        assert!(!front_end::has_allocated(scope, address));
        assert!(!front_end::has_allocated_high(scope, address));
    }
}

#[test]
fn a_mark_lies_in_its_chunk_or_is_empty() {
    let mut arena = Arena::new();
    let mut words = Words::of(arena.scope());
    let mark = words;
    let elsewhere = Words { low: (&raw mut words).cast(), ..mark };
    let beyond = Words { top: mark.top + 1, ..mark };
    let before = Words { top: mark.low.addr() - 1, ..mark };
    let (nowhere, empty) = (std::ptr::without_provenance_mut(SMALL), Words { top: SMALL, ..mark });
    // SAFETY: the words of the only scope.
    let scope = unsafe { words.scope() };
    assert!(front_end::is_mark(scope, &mark));
    assert!(![elsewhere, beyond].iter().any(|words| front_end::is_mark(scope, words)));
    // Nothing was free there. A scope that has more free was not there afterwards.
    assert!(!front_end::is_mark(scope, &Words { low: nowhere, ..empty }));
    scope.alloc_zeroed_slice::<u8>(100_000);
    assert!(front_end::is_mark(scope, &Words { low: nowhere, ..empty }));
    assert!(![elsewhere, beyond, before].iter().any(|words| front_end::is_mark(scope, words)));
}

#[test]
fn the_limit_is_set_through_a_scope() {
    let mut arena = Arena::with_chunk_size(1000);
    let mut words = Words::of(arena.scope());
    // SAFETY: the words of the only scope.
    let scope: &Scope<'_> = unsafe { words.scope() };
    front_end::set_limit(scope, Some(5000));
    assert!(scope.try_alloc_layout(layout(5000, 1)).is_err());
    front_end::set_limit(scope, None);
    assert!(scope.try_alloc_layout(layout(5000, 1)).is_ok());
    assert_eq!(arena.limit(), None);
}
