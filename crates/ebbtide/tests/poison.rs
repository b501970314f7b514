//! Claim: with the feature `poison`, the memory of an ended scope is 0xDB when the next one opens,
//! live memory never is, and the high-water mark is exact to the byte.
#![cfg(all(feature = "poison", feature = "std", not(ebbtide_asan)))]
#![allow(clippy::cast_possible_truncation)]

use crate::common::Adjacent;
use ebbtide::{Arena, Backing, Fixed, Scope, StackArena};
use std::mem::MaybeUninit;

const LEFT: u8 = 0xDB;

/// The bytes of a value that was freed.
struct Ghost {
    start: *const u8,
    len: usize,
}

impl Ghost {
    fn of<T: ?Sized>(value: &mut T) -> Self {
        Ghost { len: size_of_val(value), start: std::ptr::from_mut(value).cast() }
    }

    /// The current contents; the chunk still belongs to the arena.
    fn bytes(&self) -> Vec<u8> {
        let read = |i| {
            // SAFETY: the memory belongs to a live arena, and was initialised.
            unsafe { self.start.wrapping_add(i).read() }
        };
        (0..self.len).map(read).collect()
    }

    #[track_caller]
    fn assert_left(&self) {
        let bytes = self.bytes();
        let alive = bytes.iter().position(|byte| *byte != LEFT);
        assert_eq!(alive, None, "byte {alive:?} of {} is as it was", bytes.len());
    }
}

/// Allocates from both ends, until several chunks are in use.
fn haunt(s: &Scope<'_>) -> Vec<Ghost> {
    let mut ghosts = Vec::new();
    for i in 0..40usize {
        ghosts.push(Ghost::of(s.alloc([i as u8; 3])));
        ghosts.push(Ghost::of(s.alloc_slice_from_iter((0..i * 3).map(|_| 1u8).filter(|_| true))));
        ghosts.push(Ghost::of(s.alloc_fmt(format_args!("{i}{i}"))));
        ghosts.push(Ghost::of(s.alloc_aligned(1u64, 64)));
        ghosts.push(Ghost::of(s.alloc_slice_fill_copy(i * 10, 2u8)));
    }
    ghosts.push(Ghost::of(s.alloc_slice_fill_copy(20_000, 3u8)));
    ghosts
}

/// A new scope finds the memory of the previous one poisoned, and further chunks when it enters
/// them.
fn claim<B: Backing>(arena: &mut Arena<B>) {
    for _ in 0..3 {
        let mut outer = arena.scope();
        let kept = outer.alloc_slice_fill_copy(10, 7u8);
        let low = outer.alloc_slice_from_iter((0..10).map(|_| 8u8).filter(|_| true));
        let ghosts = haunt(&outer.scope());
        let first = &ghosts[0];
        {
            let inner = outer.scope();
            first.assert_left();
            // Enters all chunks again.
            let places = inner.stats().chunks;
            while inner.stats().used + 100 < inner.stats().capacity {
                let before = inner.stats().chunks;
                inner.alloc_uninit::<[u8; 16]>();
                assert_eq!(before, places);
            }
            inner.alloc_uninit_slice::<u8>(20_000);
            for ghost in &ghosts {
                ghost.assert_left();
            }
        }
        assert!(kept.iter().all(|byte| *byte == 7));
        assert!(low.iter().all(|byte| *byte == 8));
    }
}

#[test]
fn memory_of_an_ended_scope_is_poisoned_and_live_memory_is_not() {
    for chunk_size in [100, 1_000, 100_000] {
        claim(&mut Arena::with_chunk_size(chunk_size));
        for downwards in [false, true] {
            let backing = Adjacent::new(1 << 20, downwards);
            claim(&mut Arena::with_chunk_size_in(chunk_size, backing));
        }
    }
}

#[test]
fn a_rewind_and_a_failed_initialiser_poison_the_freed_memory() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let kept = s.alloc([7u8; 10]);
    let start = s.checkpoint();
    let high = Ghost::of(s.alloc([1u8; 100]));
    let low = Ghost::of(s.alloc_slice_from_iter((0..100).map(|_| 1u8)));
    // SAFETY: created by this scope; later allocations are only read as ghosts.
    unsafe { s.rewind(start) };
    high.assert_left();
    low.assert_left();

    let mut ghost = None;
    let failed = s.alloc_slice_try_fill_with(30, |i| {
        let room = Ghost { start: s.alloc_slice_copy::<u8>(&[]).as_ptr(), len: 30 };
        ghost.get_or_insert(room);
        if i < 29 { Ok(i as u8) } else { Err(()) }
    });
    assert_eq!(failed, Err(()));
    ghost.unwrap().assert_left();
    assert_eq!(*kept, [7; 10]);
}

/// Hides the value from the compiler: a constant would be copied, not formatted.
fn arena_name() -> char {
    std::hint::black_box('a')
}

#[test]
fn memory_of_a_builder_is_poisoned_whether_it_was_finished_or_not() {
    let mut arena = Arena::with_chunk_size(4_000);
    for (len, finished) in [(100, false), (3_000, false), (100, true), (3_000, true)] {
        let ghost = {
            let mut s = arena.scope();
            let mut bytes = s.grow_vec::<u8>();
            bytes.extend(std::iter::repeat_n(7, len));
            let ghost = Ghost::of(&mut *bytes);
            if finished {
                assert_eq!(bytes.into_slice().len(), len);
            }
            ghost
        };
        let _next = arena.scope();
        ghost.assert_left();
    }
}

#[test]
fn a_reset_poisons_the_contents_of_the_root() {
    let mut arena = Arena::new();
    for _ in 0..3 {
        let ghost = Ghost::of(arena.root().alloc([1u8; 100]));
        arena.reset();
        ghost.assert_left();
        assert_eq!(*arena.root().alloc([2u8; 10]), [2; 10]);
    }
}

#[test]
fn a_block_that_shrinks_poisons_its_end() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let text = s.alloc_fmt(format_args!("{}{}", arena_name(), "0123456789012345"));
    let behind = Ghost { start: text.as_bytes().as_ptr_range().end, len: 10 };
    behind.assert_left();
    assert_eq!(text, "a0123456789012345");
}

#[test]
fn a_caller_provided_buffer_is_poisoned_too() {
    let mut buffer = vec![MaybeUninit::new(1u8); 500];
    let all = Ghost { start: buffer.as_ptr().cast(), len: 500 };
    let mut fixed = Fixed::new(buffer.as_mut_slice());
    {
        let s = fixed.scope();
        all.assert_left();
        s.alloc_slice_fill_copy(300, 1u8);
    }
    {
        let mut s = fixed.scope();
        all.assert_left();
        s.alloc_slice_fill_copy(100, 2u8);
        {
            let inner = s.scope();
            inner.alloc_slice_fill_copy(100, 3u8);
            inner.alloc_slice_from_iter((0..100).map(|_| 3u8));
        }
        let _ = s.scope();
        let bytes = all.bytes();
        // A child starts at a multiple of 16, so some bytes above it were never used.
        assert!(bytes[..385].iter().all(|byte| *byte == LEFT));
        assert!(bytes[400..].iter().all(|byte| *byte == 2));
    }
}

#[test]
fn a_buffer_adjacent_to_the_chunk_it_spills_to_is_poisoned_too() {
    // The first byte of the block is at the end of the cursor's chunk, but not in it.
    let pool = Adjacent::new(1 << 20, true);
    let start = pool.take(128).unwrap();
    // SAFETY: bytes of the pool, used only here; the pool lives in the arena, beside the buffer.
    let mut fixed = unsafe { Fixed::from_raw_parts(start, 128) }.or_spill(pool);
    let mut s = fixed.scope();
    let low = {
        let inner = s.scope();
        inner.alloc_slice_fill_copy(100_000, 1u8);
        assert_eq!(inner.stats().oversize, 1, "the buffer is still the region");
        Ghost::of(inner.alloc_slice_from_iter((0..20).map(|_| 1u8)))
    };
    let _ = s.scope();
    low.assert_left();
}

#[test]
fn the_high_water_mark_is_exact_to_the_byte() {
    let mut arena = Arena::with_chunk_size(1 << 12);
    assert_eq!(arena.stats().high_water, 0);
    {
        let s = arena.scope();
        assert_eq!(s.stats().high_water, 0);
        s.alloc([0u8; 37]);
        assert_eq!(s.stats().high_water, 37);
        s.alloc_slice_copy(&[0u8; 11]);
        assert_eq!(s.stats().high_water, 48);
        s.alloc(0u64);
        assert_eq!(s.stats().high_water, 56);
        s.alloc_slice_fill_iter([0u8; 100]);
        assert_eq!(s.stats().high_water, 156);
    }
    {
        let mut s = arena.scope();
        s.alloc([0u8; 100]);
        for bytes in [16, 32, 64, 48] {
            let before = s.stats().high_water;
            let inner = s.scope();
            let base = inner.stats().used;
            inner.alloc_slice_fill_copy(bytes, 0u8);
            assert_eq!(inner.stats().high_water, before.max(base + bytes));
        }
        s.alloc([0u8; 1]);
        assert_eq!(s.stats().high_water, arena.stats().high_water);
    }
    let before = arena.stats().high_water;
    arena.reset();
    arena.trim();
    assert_eq!(arena.stats().high_water, before);

    let mut stack = StackArena::<100>::new();
    stack.scope().alloc([0u8; 41]);
    stack.scope().alloc([0u8; 7]);
    assert_eq!(stack.scope().stats().high_water, 41);
}
