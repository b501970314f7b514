//! Claim: a builder uses the low end exclusively. It copies nothing until the chunk is full, and
//! after any failure its contents and its scope remain usable.
//!
//! The file is long because each claim is checked for every method that may move or end a builder.

#![cfg(feature = "std")]
#![allow(clippy::drop_non_drop, clippy::forget_non_drop, reason = "tests say where a builder ends")]
#![allow(clippy::cast_possible_truncation)]

use crate::common::{Census, address, assert_apart, assert_works, end, extent, panic_of, watched};
use ebbtide::{AllocError, Arena, Fixed, GrowString, GrowVec, Scope, StackArena};
use std::{
    fmt::Write as _,
    mem::{self, MaybeUninit},
    thread,
};

#[test]
fn nothing_is_copied_up_to_the_last_byte_of_the_chunk() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1_000, backing);
    let mut s = arena.scope();
    let capacity = s.stats().capacity;
    s.alloc([0u8; 8]);
    let before = s.alloc_slice_from_iter((0..3u8).filter(|_| true));
    let start = extent(&*before).end;
    let mut v = s.grow_vec();
    assert_eq!(v.capacity(), capacity - 11);
    for i in 0..v.capacity() {
        v.push(i as u8);
        assert_eq!(address(&v[0]), start);
    }
    assert_eq!(log.calls(), 1);
    let v = v.into_slice();
    assert_eq!((s.stats().used, log.calls()), (capacity, 1));
    assert!(v.iter().enumerate().all(|(i, byte)| *byte == i as u8));
    assert_eq!(before, [0, 1, 2]);
    assert!(s.grow_vec::<u8>().capacity() == 0);
}

#[test]
fn one_element_more_moves_all_to_a_chunk_with_room_for_as_many_again() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1_000, backing);
    let mut s = arena.scope();
    let kept = s.alloc([7u8; 30]);
    let mut v = s.grow_vec::<u32>();
    v.extend(0..v.capacity() as u32);
    let (len, calls) = (v.len(), log.calls());
    v.push(len as u32);
    assert_eq!(log.calls(), calls + 1);
    assert!(v.capacity() >= 2 * len);
    v.extend(len as u32 + 1..5_000);
    let v = v.into_slice();
    assert!(v.iter().enumerate().all(|(i, n)| *n == i as u32));
    assert_apart(v, kept);
    assert_eq!(*kept, [7; 30]);
    assert_works(&s);
}

#[test]
fn a_loop_of_builders_asks_the_backing_no_more() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(500, backing);
    let turn = |s: &mut Scope<'_>| {
        for len in [10, 3_000, 200, 20_000] {
            let mut v = s.grow_vec();
            v.extend(0..len);
            assert_eq!(v.into_slice().len(), len);
        }
    };
    turn(&mut arena.scope());
    turn(&mut arena.scope());
    let calls = log.calls();
    for _ in 0..20 {
        turn(&mut arena.scope());
    }
    assert_eq!(log.calls(), calls);
}

/// Builds over fixed buffers of every size up to a few elements, from every address.
fn outgrow<T: Copy + PartialEq + std::fmt::Debug>(value: T) {
    let mut memory = [MaybeUninit::uninit(); 300];
    for skipped in [0, 1, 3, 8] {
        for bytes in (0..40).chain([99, 200, 290]) {
            let mut fixed = Fixed::new(&mut memory[skipped..skipped + bytes]);
            let mut s = fixed.scope();
            let mut v = s.grow_vec();
            let room = v.capacity();
            assert!(
                room * size_of::<T>() <= bytes
                    && (room + 1) * size_of::<T>() + align_of::<T>() > bytes
            );
            for _ in 0..room {
                v.try_push(value).unwrap();
            }
            for _ in 0..2 {
                assert_eq!(v.try_push(value), Err(AllocError));
                assert_eq!(v.try_reserve(1), Err(AllocError));
                assert_eq!(v.try_reserve(usize::MAX), Err(AllocError));
                assert_eq!(v.try_extend_from_slice(&[value; 9]), Err(AllocError));
                assert_eq!(v.try_extend([value; 9]), Err(AllocError));
                assert_eq!((v.len(), v.capacity()), (room, room));
            }
            if v.pop().is_some() {
                assert_eq!(v.try_extend([value; 2]), Err(AllocError), "the first one fits");
            }
            assert!(v.iter().all(|element| *element == value));
            let v = v.into_slice();
            assert_eq!(v.len(), room);
            let used = s.stats().used;
            assert!(used >= size_of_val(v) && used < size_of_val(v) + align_of::<T>());
            assert!(s.try_alloc_slice_fill_copy(bytes - used + 1, 0u8).is_err());
            assert!(s.try_alloc_slice_fill_copy(bytes - used, 0u8).is_ok());
            assert!(v.iter().all(|element| *element == value));
        }
    }
}

#[test]
fn a_builder_that_outgrows_a_buffer_fails_and_keeps_what_was_built() {
    outgrow(7u8);
    outgrow(7u32);
    outgrow(7u128);
    outgrow([7u8; 13]);
    outgrow([7u64; 3]);
}

#[test]
fn a_string_that_outgrows_a_buffer_fails_and_keeps_whole_characters() {
    let mut stack = StackArena::<10>::new();
    let mut s = stack.scope();
    let mut text = s.grow_string();
    text.push_str("four💧");
    assert_eq!(text.try_push('€'), Err(AllocError));
    assert_eq!(text.try_push_str("now"), Err(AllocError));
    assert_eq!(text.try_reserve(3), Err(AllocError));
    let [one, two, three] = [1, 2, 3];
    assert!(write!(text, "{one}{two}{three}").is_err());
    assert_eq!(text.as_str(), "four💧12", "the pieces that fit");
    assert_eq!(text.into_str(), "four💧12");
}

#[test]
fn if_twice_as_much_is_refused_the_least_needed_is_requested() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1_000, backing);
    let mut s = arena.scope();
    let mut v = s.grow_vec::<u8>();
    v.extend(std::iter::repeat_n(1, v.capacity()));
    let len = v.len();
    log.refuse_above(len + 250);
    v.push(2);
    assert!(v.capacity() < len + 200);
    v.extend(std::iter::repeat_n(2, v.capacity() - v.len()));
    let len = v.len();
    assert_eq!(v.try_reserve(200), Err(AllocError));
    assert_eq!((v.len(), v.capacity()), (len, len));
    assert!(v.into_slice().is_sorted());
    log.allow();
    assert_works(&s);

    // Room for one large element, but not for four.
    let mut arena = Arena::with_chunk_size(1_000);
    let _ = arena.scope();
    arena.set_limit(Some(10_000));
    let mut s = arena.scope();
    let mut v = s.grow_vec();
    v.push([1u8; 6_000]);
    assert!(v.try_push([2; 6_000]).is_err());
    assert_eq!(v.into_slice(), [[1; 6_000]]);
}

#[test]
fn an_upper_bound_reserves_little_and_only_where_there_is_room() {
    let odd = |n: &u32| n % 2 == 1;
    // 256 bytes, 64 elements, are reserved at first. The rest of them is free again.
    let mut arena = Arena::new();
    let s = arena.scope();
    let used = s.stats().used;
    assert_eq!(s.alloc_slice_from_iter((0..300).filter(odd)).len(), 150);
    assert_eq!(s.alloc_slice_from_iter((0..60).filter(odd)).len(), 30);
    assert_eq!(s.stats().used - used, (150 + 30) * size_of::<u32>());

    // If the iterator allocates from the scope meanwhile, at most the reserved bytes are lost.
    let used = s.stats().used;
    let held = s.alloc_slice_from_iter(
        (0..=250u8).filter(|n| n % 2 == 1).map(|n| (n, s.alloc_slice_from_iter(0..n))).take(3),
    );
    assert_eq!(held.len(), 3);
    assert!(s.stats().used - used < 1_000);

    // Nothing is reserved if the reservation does not fit.
    let mut small = StackArena::<20>::new();
    let s = small.scope();
    assert_eq!(s.alloc_slice_from_iter((0..9u32).filter(odd)), [1, 3, 5, 7]);
}

#[test]
fn elements_without_size_take_nothing() {
    fn build<'a, T: Copy + 'a>(s: &mut Scope<'a>, value: T) {
        let used = s.stats().used;
        let mut v = s.grow_vec();
        assert_eq!(v.capacity(), usize::MAX);
        v.push(value);
        v.extend([value; 100]);
        v.extend_from_slice(&[value; 10]);
        v.reserve(usize::MAX - 111);
        assert_eq!(v.try_reserve(usize::MAX - 110), Err(AllocError));
        assert!(panic_of(|| v.reserve(usize::MAX - 110)).unwrap().contains("capacity overflow"));
        // SAFETY: values without bytes are always there, wherever they are.
        let all = unsafe { std::slice::from_raw_parts(v.as_ptr(), usize::MAX - 111) };
        v.extend_from_slice_copy(all);
        assert_eq!((v.len(), v.try_push(value)), (usize::MAX, Err(AllocError)));
        v.truncate(7);
        assert!(v.pop().is_some());
        assert_eq!(v.as_ptr().addr() % align_of::<T>(), 0);
        assert_eq!(v.into_slice().len(), 6);
        assert_eq!(s.stats().used, used);
    }

    #[derive(Clone, Copy)]
    #[repr(align(4096))]
    struct Page;

    let empty: &mut [MaybeUninit<u8>] = &mut [];
    build(&mut Fixed::new(empty).scope(), ());
    let mut arena = Arena::new();
    let mut s = arena.scope();
    build(&mut s, ());
    build(&mut s, [0u128; 0]);
    build(&mut s, Page);
}

#[test]
fn elements_of_every_alignment_are_aligned() {
    macro_rules! aligned {
        ($($align:literal)*) => {$({
            #[derive(Clone, Copy, PartialEq, Debug)]
            #[repr(align($align))]
            struct Aligned(u8);

            for chunk_size in [16, 1_000, 50_000] {
                let mut arena = Arena::with_chunk_size(chunk_size);
                let mut s = arena.scope();
                for len in [0, 1, 2, 9] {
                    let odd = s.alloc_slice_from_iter([1u8; 3].into_iter().filter(|_| true));
                    let mut v = s.grow_vec();
                    for i in 0..len {
                        v.push(Aligned(i));
                        assert!(v.as_ptr().is_aligned());
                    }
                    let v = v.into_slice();
                    assert!(v.as_ptr().is_aligned());
                    assert!(v.iter().enumerate().all(|(i, value)| value.0 == i as u8));
                    assert_apart(odd, v);
                }
                assert_works(&s);
            }
        })*};
    }
    aligned!(1 2 4 8 16 32 64 256 1024 4096 8192);
}

#[test]
fn an_abandoned_builder_leaves_nothing() {
    let mut arena = Arena::with_chunk_size(1_000);
    let mut s = arena.scope();
    let low = s.alloc_slice_from_iter((0..5u8).filter(|_| true));
    let used = s.stats().used;
    let next = extent(&*low).end;
    for len in [0, 1, 50] {
        let mut v = s.grow_vec();
        v.extend(0..len);
        drop(v);
        let mut text = s.grow_string();
        text.push_str("abandoned");
        drop(text);
        let mut emptied = s.grow_vec();
        emptied.push(1u8);
        emptied.clear();
        assert!(emptied.into_slice().is_empty());
        assert_eq!(s.stats().used, used);
        assert_eq!(address(&s.grow_vec::<u8>()[..]), next);
    }
    // Also a builder that moved to another chunk, except that the chunk stays.
    let mut v = s.grow_vec();
    v.extend(0..5_000);
    drop(v);
    assert_eq!(s.stats().used, used);
    assert_eq!(low, [0, 1, 2, 3, 4]);
    assert_works(&s);
}

#[test]
fn a_forgotten_builder_leaves_the_scope_whole() {
    let mut arena = Arena::with_chunk_size(200);
    let mut s = arena.scope();
    for len in [3, 100, 1_000] {
        let kept = s.alloc_slice_fill_copy(10, 1u8);
        let mut v = s.grow_vec();
        v.extend(0..len);
        mem::forget(v);
        let mut text = s.grow_string();
        text.push_str("forgotten");
        mem::forget(text);
        let low = s.alloc_slice_from_iter((0..99u8).filter(|_| true));
        assert_apart(low, kept);
        assert_works(&s);
        assert!(low.iter().enumerate().all(|(i, n)| *n == i as u8));
        assert_eq!(kept, [1; 10]);
    }
}

#[test]
fn builders_of_two_scopes_may_be_swapped() {
    fn swapped<'a>(one: &mut Scope<'a>, other: &mut Scope<'a>) {
        let (mut first, mut second) = (one.grow_vec(), other.grow_vec());
        first.extend(0..10u64);
        second.extend(100..2_000u64);
        mem::swap(&mut first, &mut second);
        first.extend(2_000..3_000);
        second.extend(10..20);
        let (first, second) = (first.into_slice(), second.into_slice());
        let (low, high) = (one.alloc([0u8; 99]), other.alloc([0u8; 99]));
        one.alloc_slice_from_iter((0..99).filter(|_| true));
        other.alloc_slice_from_iter((0..99).filter(|_| true));
        assert!(first.iter().copied().eq(100..3_000) && second.iter().copied().eq(0..20));
        assert_apart(low, second);
        assert_apart(high, first);
    }

    let mut arenas = [300, 300].map(Arena::with_chunk_size);
    let [one, other] = &mut arenas;
    swapped(&mut one.scope(), &mut other.scope());
    swapped(&mut one.scope(), &mut StackArena::<50_000>::new().scope());
    let (mut one, mut other) = (one.scope(), other.scope());
    // Swaps the scopes themselves between two builders.
    let kept = one.grow_string().into_str();
    mem::swap(&mut one, &mut other);
    let mut text = one.grow_string();
    text.push_str("after the swap");
    assert_eq!(
        (text.into_str(), kept),
        ("after the swap".to_owned().as_mut(), String::new().as_mut())
    );
    assert_works(&one);
    assert_works(&other);
}

#[test]
fn a_builder_moves_to_another_thread() {
    let mut arena = Arena::with_chunk_size(100);
    let mut s = arena.scope();
    let mut v = s.grow_vec();
    v.push(0u32);
    let v = thread::scope(|threads| {
        let work = move || {
            v.extend(1..1_000);
            v.into_slice()
        };
        threads.spawn(work).join().unwrap()
    });
    assert!(v.iter().copied().eq(0..1_000));
}

#[test]
fn a_builder_in_a_child_grows_behind_what_the_parent_has() {
    let mut arena = Arena::with_chunk_size(500);
    let mut outer = arena.scope();
    let mut text = outer.grow_string();
    text.push_str("odd");
    let text = text.into_str();
    for len in [5, 100, 3_000] {
        let mut inner = outer.scope();
        let mut v = inner.grow_vec();
        v.extend(0..len);
        let v = v.into_slice();
        assert_apart(text, v);
        assert!(v.iter().copied().eq(0..len));
    }
    assert_eq!(text, "odd");
    assert_eq!(outer.stats().used, 3);
}

#[test]
fn an_extend_that_fails_in_the_middle_keeps_what_was_added_and_drops_the_rest() {
    let census = Census::forever();
    let mut stack = StackArena::<240>::new();
    let mut s = stack.scope();
    let mut v = s.owned_grow_vec();
    let room = v.capacity();
    assert_eq!(v.try_extend((0..100).map(|i| census.make(i))), Err(AllocError));
    assert_eq!((v.len(), census.made(), census.live()), (room, room + 1, room));
    assert_eq!(v.try_push(census.make(0)), Err(AllocError));
    assert_eq!(census.live(), room);
    drop(v);
    assert_eq!(census.live(), 0);
}

#[test]
fn a_panic_in_a_destructor_drops_the_others_and_none_twice() {
    struct Fragile<'c>(crate::common::Counted<'c>);
    impl Drop for Fragile<'_> {
        fn drop(&mut self) {
            assert_ne!(self.0.id(), 3, "fragile");
        }
    }

    let census = Census::forever();
    let mut arena = Arena::with_chunk_size(100);
    let mut s = arena.scope();
    let fill = |v: &mut GrowVec<'_, '_, Fragile<'static>>| {
        v.extend((0..9).map(|i| Fragile(census.make(i))));
    };
    let mut v = s.owned_grow_vec();
    fill(&mut v);
    assert!(panic_of(|| v.truncate(2)).is_some());
    assert_eq!((v.len(), census.live()), (2, 2));
    fill(&mut v);
    assert!(panic_of(|| v.clear()).is_some());
    assert_eq!((v.len(), census.live()), (0, 0));
    fill(&mut v);
    assert!(panic_of(|| drop(v)).is_some());
    assert_eq!(census.live(), 0);
    let mut v = s.owned_grow_vec();
    fill(&mut v);
    let owned = v.into_boxed_slice();
    assert!(panic_of(|| drop(owned)).is_some());
    assert_eq!(census.live(), 0);
    assert_works(&s);
}

#[test]
fn a_backing_that_panics_leaves_builder_and_scope_as_they_were() {
    for push in [false, true] {
        let (backing, log) = watched();
        let mut arena = Arena::with_chunk_size_in(1_000, backing);
        let mut s = arena.scope();
        let kept = s.alloc_slice_from_iter((0..33u8).filter(|_| true));
        let used = s.stats().used;
        let mut v = s.grow_vec();
        v.extend((0..v.capacity() - 100).map(|i| i as u8));
        let (len, capacity) = (v.len(), v.capacity());
        if push {
            v.extend(std::iter::repeat_n(0, 100));
            log.panic_nth(1);
            assert!(panic_of(|| v.push(1)).is_some());
            log.panic_nth(1);
            assert!(panic_of(|| v.try_push(1)).is_some());
            v.truncate(len);
        } else {
            log.panic_nth(1);
            assert!(panic_of(|| v.reserve(101)).is_some());
            log.panic_nth(1);
            assert!(panic_of(|| v.try_reserve(101)).is_some());
        }
        assert_eq!((v.len(), v.capacity()), (len, capacity));
        v.extend([1u8; 50]);
        let v = v.into_slice();
        assert_eq!(s.stats().used, used + len + 50);
        let low = s.alloc_slice_from_iter((0..200).map(|_| 3u8).filter(|_| true));
        assert_apart(low, v);
        assert_works(&s);
        assert!(v[..len].iter().enumerate().all(|(i, byte)| *byte == i as u8));
        assert!(kept.iter().copied().eq(0..33) && v[len..] == [1; 50]);
    }
}

#[test]
fn boxed_slices_own_their_elements() {
    let census = Census::forever();
    let mut arena = Arena::with_chunk_size(64);
    let mut s = arena.scope();
    let mut v = s.owned_grow_vec();
    for i in 0..200 {
        v.push(census.make(i));
    }
    end(v.pop());
    v.truncate(150);
    assert_eq!(census.live(), 150);
    let mut owned = v.into_boxed_slice();
    owned.reverse();
    assert_works(&s);
    assert!(owned.iter().rev().enumerate().all(|(i, value)| value.id() == i));
    drop(owned);
    assert_eq!(census.live(), 0);
    let mut abandoned = s.owned_grow_vec();
    abandoned.extend((0..50).map(|i| census.make(i)));
    drop(abandoned);
    assert_eq!(census.live(), 0);
}

#[test]
fn builders_take_part_in_what_a_function_is_given() {
    fn fill(v: &mut GrowVec<'_, '_, u8>, text: &mut GrowString<'_, '_>) {
        v.push(1);
        text.push('x');
    }
    let (mut one, mut other) = (Arena::new(), Arena::new());
    let (mut one, mut other) = (one.scope(), other.scope());
    let (mut v, mut text) = (one.grow_vec(), other.grow_string());
    fill(&mut v, &mut text);
    fill(&mut v, &mut text);
    // Both outlive the builders, and the scopes' own variables.
    let (v, text) = (v.into_slice(), text.into_str());
    end((one, other));
    assert_eq!((&v[..], &*text), (&[1, 1][..], "xx"));
}

#[cfg(feature = "poison")]
#[test]
fn finished_builders_count_as_high_water_to_the_byte() {
    let mut arena = Arena::with_chunk_size(1 << 12);
    {
        let mut s = arena.scope();
        let mut text = s.grow_string();
        text.push_str("abandoned");
        drop(text);
        let mut v = s.grow_vec();
        v.extend_from_slice(&[0u8; 777]);
        v.into_slice().fill(1);
    }
    assert_eq!(arena.stats().high_water, 777);
}
