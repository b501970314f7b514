//! Claim: blocks grow in place at the low end, up to the last byte, whatever else is allocated.

#![cfg(feature = "std")]
#![allow(clippy::cast_possible_truncation)]

use crate::common::{Liar, address, assert_apart, end, extent, watched};
use ebbtide::{Arena, Fixed, Scope, StackArena};
use std::{
    cell::RefCell,
    fmt::{self, Display},
    mem::MaybeUninit,
};

/// An iterator of unknown length, without an upper bound.
fn unknown<T>(values: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let mut values = values.into_iter();
    std::iter::from_fn(move || values.next())
}

/// Prints one character at a time.
struct Piecewise<'t>(&'t str);

impl Display for Piecewise<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| write!(f, "{c}"))
    }
}

#[test]
fn a_collected_slice_grows_where_it_began_and_keeps_what_it_needs() {
    let mut arena = Arena::with_chunk_size(1 << 16);
    let s = arena.scope();
    let one = s.alloc_slice_from_iter(unknown([1u64]));
    let start = address(one);
    let stats = s.stats();
    assert_eq!((stats.used, stats.chunks), (8, 1));
    let many = s.alloc_slice_from_iter(unknown(0..5_000u64));
    assert_eq!(address(many), start + 8, "the next address, though it grew eleven times");
    assert_eq!((s.stats().used, s.stats().chunks), (8 + 40_000, 1), "and no byte more");
    assert_eq!(s.alloc_fmt(format_args!("{}", Piecewise(&"x".repeat(99)))).len(), 99);
    assert_eq!(s.stats().used, 8 + 40_000 + 99);
}

#[test]
fn a_formatted_string_grows_where_it_began_and_keeps_what_it_needs() {
    let mut arena = Arena::with_chunk_size(1 << 16);
    let s = arena.scope();
    let mut end = None;
    for len in [0, 1, 15, 16, 17, 31, 32, 33, 100, 1_000, 20_000] {
        let text = s.alloc_fmt(format_args!("{}", Piecewise(&"é".repeat(len))));
        assert_eq!(text.chars().count(), len);
        if len > 0 {
            assert!(end.is_none_or(|end| end == address(&*text)), "where the last one ended");
            end = Some(extent(&*text).end);
        }
    }
    assert_eq!(s.stats().chunks, 1);
}

#[test]
fn growing_goes_up_to_the_last_byte_but_one_of_a_buffer() {
    for room in 1..200_usize {
        let capacity = room - 1;
        let mut bytes = vec![MaybeUninit::uninit(); room];
        for len in 0..=capacity + 1 {
            let mut fixed = Fixed::new(bytes.as_mut_slice());
            {
                let s = fixed.scope();
                let slice = s.try_alloc_slice_from_iter(unknown((0..len).map(|i| i as u8)));
                assert_eq!(slice.is_ok(), len <= capacity, "{len} of {capacity} bytes");
                assert_eq!(s.stats().used, if len <= capacity { len } else { 0 });
                if let Ok(slice) = slice {
                    assert!(slice.iter().enumerate().all(|(i, value)| *value == i as u8));
                    assert!(s.try_alloc_uninit_slice::<u8>(room - len).is_ok());
                }
            }
            let s = fixed.scope();
            let source = "y".repeat(len);
            let text = s.try_alloc_fmt(format_args!("{}", Piecewise(&source)));
            assert_eq!(text.is_ok(), len <= capacity, "{len} of {capacity} characters");
            let used = if len <= capacity { len } else { 0 };
            assert_eq!(s.stats().used, used);
        }
    }
}

#[test]
fn growing_goes_up_to_what_the_other_end_has_left() {
    let mut arena = StackArena::<1025>::new();
    for high in [0, 8, 16, 504, 1_000, 1_008, 1_016] {
        let s = arena.scope();
        let taken = s.alloc_slice_fill_copy(high, 0xA5u8);
        let room = (1024 - high) / 8;
        let slice = s.try_alloc_slice_from_iter(unknown(0..room as u64)).unwrap();
        assert_apart(slice, taken);
        assert_eq!(s.stats().used, 1024);
        assert!(s.try_alloc_slice_from_iter(unknown([0u8])).is_err());
        assert!(s.try_alloc(0u8).is_ok(), "the last byte");
        assert!(s.try_alloc(0u8).is_err());
        assert!(taken.iter().all(|byte| *byte == 0xA5));
        assert!(slice.iter().enumerate().all(|(i, value)| *value == i as u64));
    }
}

#[test]
fn whatever_was_announced_growing_goes_up_to_what_the_other_end_has_left() {
    for room in [0_usize, 1, 3, 4, 5, 63, 128] {
        for announced in [0, 1, room / 2, room.saturating_sub(1), room, room + 1, 1_000, usize::MAX]
        {
            for yielded in [0, 1, room / 2, room.saturating_sub(1), room, room + 1] {
                let mut arena = StackArena::<1025>::new();
                let s = arena.scope();
                let taken = s.alloc_slice_fill_copy(1024 - 8 * room, 0xA5u8);
                let values = Liar { values: 0..yielded as u64, announced };
                let slice = s.try_alloc_slice_from_iter(values);
                assert_eq!(slice.is_ok(), yielded <= room, "{yielded} of {announced} in {room}");
                assert!(taken.iter().all(|byte| *byte == 0xA5));
                let used = slice.map_or(0, |slice| {
                    assert!(slice.iter().enumerate().all(|(i, value)| *value == i as u64));
                    slice.len() * 8
                });
                assert_eq!(s.stats().used, 1024 - 8 * room + used, "the rest is given back");
            }
        }
    }
}

#[test]
fn room_for_what_was_announced_is_reserved_before_the_first_element() {
    let mut arena = Arena::with_chunk_size(1 << 12);
    for (yielded, announced, moves) in [(100, 100, false), (60, 100, false), (100, 60, true)] {
        let s = arena.scope();
        let between = RefCell::new(Vec::new());
        let values = (0..yielded).inspect(|&i| {
            between.borrow_mut().push(s.alloc_slice_from_iter([i; 3]));
        });
        let slice = s.alloc_slice_from_iter(Liar { values, announced });
        let between = between.into_inner();
        assert!(slice.iter().copied().eq(0..yielded));
        assert_eq!(address(slice) > address(&*between[0]), moves, "{yielded} of {announced}");
        assert!(between.iter().all(|block| extent(&**block).start >= extent(&*slice).end) != moves);
        assert!((0..).zip(&between).all(|(i, block)| **block == [i; 3]));
    }
}

/// An iterator that must not be asked again when it has ended.
struct Once {
    left: u64,
    announced: usize,
    ended: bool,
}

impl Iterator for Once {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        assert!(!self.ended, "asked again");
        let left = self.left.checked_sub(1);
        self.ended = left.is_none();
        self.left = left?;
        left
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.announced, None)
    }
}

#[test]
fn an_iterator_that_has_ended_is_not_asked_again() {
    let mut arena = Arena::with_chunk_size(200);
    for left in [0, 1, 3, 4, 5, 16, 17, 39] {
        for announced in [0, 1, 3, 4, 5, 16, 17, 39, 500] {
            let s = arena.scope();
            let slice = s.alloc_slice_from_iter(Once { left, announced, ended: false });
            assert!(slice.iter().copied().eq((0..left).rev()), "{left} of {announced}");
        }
    }
}

#[test]
fn a_slice_of_a_chain_holds_all_parts_in_order() {
    let mut arena = Arena::with_chunk_size(200);
    for (first, second) in [(0, 9), (9, 0), (4, 4), (30, 1), (1, 30), (100, 100)] {
        let s = arena.scope();
        let parts = || (0..first).chain(std::iter::once(7)).chain(0..second);
        let slice = s.alloc_slice_from_iter(parts());
        assert!(slice.iter().copied().eq(parts()));
        // The size hint covers the first two parts.
        let slice = s.alloc_slice_from_iter((0..first).chain([7]).chain(unknown(0..second)));
        assert!(slice.iter().copied().eq(parts()));
    }
}

#[test]
fn growing_up_to_the_end_of_a_chunk_asks_for_no_other() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1_000, backing);
    let s = arena.scope();
    let capacity = s.stats().capacity;
    let start = s.alloc_slice_from_iter(unknown(std::iter::repeat_n(1u8, capacity - 701)));
    let calls = log.calls();
    let rest = s.alloc_slice_from_iter(unknown(std::iter::repeat_n(2u8, 700)));
    assert_eq!(log.calls(), calls);
    assert_eq!(extent(&*start).end, extent(&*rest).start);
    assert_eq!(s.stats().used, capacity - 1);
}

#[test]
fn both_ends_grow_towards_each_other_and_never_meet() {
    for chunk_size in [64, 256, 1_000, 1 << 14] {
        let mut arena = Arena::with_chunk_size(chunk_size);
        let s = arena.scope();
        let high = RefCell::new(Vec::new());
        let low = RefCell::new(Vec::new());
        let values = (0..400u32).inspect(|&i| {
            high.borrow_mut().push(s.alloc([i; 3]));
            if i % 7 == 0 {
                low.borrow_mut().push(s.alloc_slice_from_iter(unknown([i; 5])));
            }
            if i % 11 == 0 {
                s.alloc_fmt(format_args!("{i}-{i}"));
            }
        });
        let grown = s.alloc_slice_from_iter(unknown(values));
        assert!(grown.iter().enumerate().all(|(i, value)| *value == i as u32));
        for (i, block) in high.borrow().iter().enumerate() {
            assert_eq!(**block, [i as u32; 3]);
            assert_apart(&**block, &*grown);
        }
        for (i, block) in low.borrow().iter().enumerate() {
            assert_eq!(**block, [i as u32 * 7; 5]);
            assert_apart(&**block, &*grown);
            for other in high.borrow().iter() {
                assert_apart(&**block, &**other);
            }
        }
    }
}

#[test]
fn high_end_allocations_in_between_do_not_move_what_grows() {
    let mut arena = Arena::with_chunk_size(1 << 16);
    let s = arena.scope();
    let start = address(s.alloc_slice_from_iter(unknown([0u8; 16]))) + 16;
    let values = (0..2_000u64).inspect(|i| end(s.alloc(*i)));
    let grown = s.alloc_slice_from_iter(unknown(values));
    assert_eq!(address(grown), start);
    assert_eq!(s.stats().used, 16 + 2 * 16_000);
}

#[test]
fn a_block_that_is_not_the_last_moves_and_leaves_the_other_alone() {
    let mut arena = Arena::with_chunk_size(1 << 16);
    let s = arena.scope();
    let kept = RefCell::new(Vec::new());
    let values = (0..100u64).inspect(|i| {
        if *i == 3 {
            kept.borrow_mut().push(s.alloc_slice_from_iter(unknown(100..110u64)));
        }
    });
    let grown = s.alloc_slice_from_iter(unknown(values));
    let kept = kept.into_inner();
    assert_apart(&*kept[0], &*grown);
    assert!(kept[0].iter().zip(100..).all(|(value, i)| *value == i));
    assert!(grown.iter().enumerate().all(|(i, value)| *value == i as u64));
}

#[test]
fn an_oversize_request_in_between_does_not_move_what_grows() {
    let mut arena = Arena::with_chunk_size(1 << 12);
    let s = arena.scope();
    let start = address(s.alloc_slice_from_iter(unknown([0u8; 16]))) + 16;
    let values = (0..100u64).inspect(|i| {
        if i % 30 == 0 {
            s.alloc_slice_fill_copy(1 << 16, 0u8);
        }
    });
    let grown = s.alloc_slice_from_iter(unknown(values));
    assert_eq!(address(grown), start);
    assert!(s.stats().oversize >= 1);
}

#[test]
fn a_block_that_outgrew_its_chunk_takes_the_scope_along_and_grows_in_place() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1 << 12, backing);
    let s = arena.scope();
    let first = s.alloc_slice_from_iter(unknown(0..10_000u64));
    s.alloc_slice_from_iter(0..100_000u64);
    assert_eq!(s.stats().oversize, 0, "only blocks that keep their size get a chunk of their own");
    let first = s.alloc_slice_from_iter(unknown(0..first.len() as u64));
    let calls = log.calls();
    let next = s.alloc_slice_from_iter(unknown([1u8]));
    assert_eq!((address(next), log.calls()), (extent(&*first).end, calls));
}

#[test]
fn a_child_scope_grows_behind_what_its_parent_grew() {
    let mut arena = Arena::with_chunk_size(1 << 12);
    let mut outer = arena.scope();
    let kept = outer.alloc_slice_from_iter(unknown(0..10u8));
    let inner_start = {
        let inner = outer.scope();
        let gone = inner.alloc_slice_from_iter(unknown(0..100u8));
        assert_apart(kept, gone);
        address(gone)
    };
    let next = outer.alloc_slice_from_iter(unknown(0..100u8));
    assert_eq!((address(next), extent(&*kept).end), (inner_start, inner_start));
}

#[test]
fn values_of_every_alignment_and_size_grow() {
    #[repr(align(64))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Line([u8; 64]);

    fn grow<T: Copy + PartialEq>(s: &Scope<'_>, value: T) {
        for len in [0, 1, 2, 3, 4, 5, 17, 300] {
            s.alloc_fmt(format_args!("{:>len$}", 1));
            let slice = s.alloc_slice_from_iter(unknown(std::iter::repeat_n(value, len)));
            assert_eq!(slice.len(), len);
            assert_eq!(slice.as_ptr().addr() % align_of::<T>(), 0);
            assert!(slice.iter().all(|element| *element == value));
        }
    }

    for chunk_size in [16, 1 << 10, 1 << 17] {
        let mut arena = Arena::with_chunk_size(chunk_size);
        grow(&arena.scope(), 7u8);
        grow(&arena.scope(), 7u16);
        grow(&arena.scope(), (1u8, 7u32));
        grow(&arena.scope(), [7u64; 3]);
        grow(&arena.scope(), 7u128);
        grow(&arena.scope(), Line([7; 64]));
        grow(&arena.scope(), ());
    }
}

/// Whatever order the chunks have in the list, and though the smaller ones would do for what is
/// asked.
#[test]
fn a_block_that_outgrows_its_chunk_goes_to_the_largest_one() {
    for sizes in [[3_000, 50_000, 9_000], [50_000, 9_000, 3_000], [9_000, 3_000, 50_000]] {
        let mut arena = Arena::with_chunk_size(64);
        // So that it does not begin in the block of a dropped one.
        arena.set_limit(None);
        {
            let s = arena.scope();
            for size in sizes {
                s.alloc_slice_fill_copy(size, 0_u8);
            }
        }
        let held = arena.stats().held;
        let mut s = arena.scope();
        s.alloc([0_u8; 60]);
        let mut bytes = s.grow_vec::<u8>();
        bytes.extend_from_slice(&[1; 100]);
        assert!(bytes.capacity() >= 50_000, "{} of {sizes:?}", bytes.capacity());
        let bytes = bytes.into_slice();
        let more = s.alloc_slice_from_iter((0..40_000).map(|_| 2_u8).filter(|_| true));
        assert_eq!(address(more), extent(bytes).end, "right behind it, and never moved");
        assert_eq!(s.stats().held, held, "no other chunk was asked for");
    }
}

/// What grows asks for more than its first element takes; where only the one has room, the chunk is
/// not left.
#[test]
fn a_first_element_takes_the_last_room_of_a_chunk() {
    for offset in 0..=8 {
        for left in 0..100 {
            let mut arena = Arena::with_chunk_size(512);
            let s = arena.scope();
            let low = s.alloc_slice_from_iter(unknown([1_u8].repeat(offset + 1)));
            let start = address(low);
            let stats = s.stats();
            s.alloc_uninit_slice::<u8>(stats.capacity - stats.used - left);
            let end = start + stats.capacity;
            let behind = start + offset + 1;
            let fits = behind.next_multiple_of(align_of::<u64>()) + 8 < behind + left;
            let words = s.alloc_slice_from_iter(unknown([7_u64]));
            assert_eq!(words, [7]);
            let here = (start..end).contains(&address(words));
            assert_eq!(here, fits, "{left} bytes left, behind {offset} and one");
        }
    }
}
