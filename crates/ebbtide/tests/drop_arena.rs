//! Claim: an arena for values of any type drops each value exactly once, in reverse order, whatever
//! panics, fails or is forgotten.

#![cfg(feature = "std")]

use crate::common::{ZeroSized, panics, watched};
use ebbtide::{Arena, DropArena, Heap, Retain};
use std::{
    cell::{Cell, RefCell},
    marker::PhantomPinned,
    mem::{ManuallyDrop, MaybeUninit},
    ptr,
    rc::Rc,
};

/// The numbers of the dropped values, in order, and the one that panics when it is dropped.
#[derive(Clone, Default)]
struct Log {
    dropped: Rc<RefCell<Vec<u32>>>,
    panics_at: Rc<Cell<Option<u32>>>,
}

/// A value that records its drop. Has the size and the alignment of an `A` in addition.
struct Logged<A>(u32, Log, #[allow(dead_code, reason = "for its layout")] Layout<A>);

/// The size and the alignment of an `A`.
type Layout<A> = MaybeUninit<A>;

#[repr(align(128))]
struct Line;

impl Log {
    fn value<A>(&self, number: u32) -> Logged<A> {
        Logged(number, self.clone(), Layout::uninit())
    }

    fn taken(&self) -> Vec<u32> {
        self.dropped.take()
    }
}

impl<A> Drop for Logged<A> {
    fn drop(&mut self) {
        self.1.dropped.borrow_mut().push(self.0);
        assert_ne!(self.1.panics_at.get(), Some(self.0), "asked for");
    }
}

/// Values of several types and slices of them, numbered 0 to 8.
fn fill(arena: &DropArena<'_>, log: &Log) {
    let byte = arena.alloc(log.value::<u8>(0));
    let line = arena.alloc(log.value::<Line>(1));
    assert_eq!(ptr::from_ref(line).addr() % 128, 0);
    let slice = arena.alloc_slice_from_iter((2..5).map(|number| log.value::<[u64; 7]>(number)));
    let plain = arena.alloc(7_u16);
    let long = arena.try_alloc_slice_from_iter((5..8).map(|n| log.value::<[u64; 900]>(n))).unwrap();
    let last = arena.try_alloc(log.value::<()>(8)).unwrap();
    let text = arena.alloc_str("ebb");
    let more = arena.try_alloc_str("flow").unwrap();
    assert_eq!((byte.0, line.0, slice[2].0, *plain, long[2].0, last.0), (0, 1, 4, 7, 7, 8));
    assert_eq!((&*text, &*more), ("ebb", "flow"));
}

const ORDER: [u32; 9] = [8, 5, 6, 7, 2, 3, 4, 1, 0];

#[test]
fn the_value_that_was_allocated_last_is_dropped_first() {
    let log = Log::default();
    let arena = DropArena::new();
    fill(&arena, &log);
    assert!(log.taken().is_empty());
    drop(arena);
    assert_eq!(log.taken(), ORDER);
}

#[test]
fn a_reset_drops_the_values_once_and_keeps_the_memory() {
    let log = Log::default();
    let mut arena = DropArena::default();
    for _ in 0..3 {
        fill(&arena, &log);
        let held = arena.stats().held;
        arena.reset();
        assert_eq!(log.taken(), ORDER);
        assert_eq!((arena.stats().used, arena.stats().held), (0, held));
    }
    fill(&arena, &log);
    arena.reset_with(Retain::Bytes(0));
    assert_eq!((log.taken(), arena.stats().held), (ORDER.to_vec(), 0));
    drop(arena);
    assert!(log.taken().is_empty());
}

#[test]
fn a_panicking_destructor_leaves_no_other_value_behind() {
    for culprit in 0..9 {
        for by_reset in [false, true] {
            let log = Log::default();
            log.panics_at.set(Some(culprit));
            let mut arena = DropArena::new();
            fill(&arena, &log);
            if by_reset {
                assert!(panics(|| arena.reset()));
                assert_eq!(log.taken(), ORDER);
                log.panics_at.set(None);
                fill(&arena, &log);
                drop(arena);
            } else {
                assert!(panics(|| drop(arena)));
            }
            assert_eq!(log.taken(), ORDER);
        }
    }
}

#[test]
fn values_without_a_destructor_take_no_more_than_their_size() {
    let arena = DropArena::new();
    arena.alloc(1_u64);
    arena.alloc_slice_from_iter([1_u64, 2]);
    assert_eq!(arena.stats().used, 24);
    arena.alloc(Box::new(1_u64));
    assert_eq!(arena.stats().used, 24 + 3 * size_of::<usize>());
    assert!(arena.alloc_slice_from_iter::<String>([]).is_empty());
    assert_eq!(arena.stats().used, 24 + 3 * size_of::<usize>());
}

#[test]
fn values_without_bytes_are_dropped_too() {
    let arena = DropArena::new();
    arena.alloc(ZeroSized);
    arena.alloc_slice_from_iter((0..10).map(|_| ZeroSized));
    assert_eq!(ZeroSized::dropped(), 0);
    drop(arena);
    assert_eq!(ZeroSized::dropped(), 11);
}

#[test]
fn a_panicking_iterator_drops_what_it_yielded_and_nothing_else() {
    let log = Log::default();
    let arena = DropArena::new();
    arena.alloc(log.value::<u8>(0));
    assert!(panics(|| {
        arena.alloc_slice_from_iter((1..10).map(|number| {
            arena.alloc(log.value::<u8>(100 + number));
            assert_ne!(number, 3, "asked for");
            log.value::<u8>(number)
        }));
    }));
    assert_eq!(log.taken(), [1, 2]);
    drop(arena);
    assert_eq!(log.taken(), [103, 102, 101, 0]);
}

#[test]
fn an_iterator_may_allocate_from_the_arena_that_collects_it() {
    let log = Log::default();
    let arena = DropArena::new();
    let slice = arena.alloc_slice_from_iter((0..1000).map(|number| {
        arena.alloc(log.value::<u8>(1000 + number));
        log.value::<u8>(number)
    }));
    assert!(slice.iter().map(|value| value.0).eq(0..1000));
    drop(arena);
    let expected: Vec<u32> = (0..1000).chain((1000..2000).rev()).collect();
    assert_eq!(log.taken(), expected);
}

#[test]
fn a_refused_value_is_dropped_at_once() {
    let log = Log::default();
    let (backing, calls) = watched();
    let arena = DropArena::new_in(backing);
    arena.alloc(log.value::<u8>(0));
    arena.set_limit(Some(arena.stats().held));
    assert_eq!(arena.limit(), Some(arena.stats().held));
    assert!(arena.try_alloc(log.value::<[u64; 2_200]>(1)).is_err());
    assert_eq!(log.taken(), [1]);
    let many = (0..100_000).map(|_| log.value::<[u64; 20]>(2));
    assert!(arena.try_alloc_slice_from_iter(many).is_err());
    assert!(log.taken().iter().all(|number| *number == 2));
    while arena.try_alloc([1_u8; 64]).is_ok() {}
    while arena.try_alloc(1_u8).is_ok() {}
    // Not even the entry of a slice fits.
    assert!(arena.try_alloc_slice_from_iter([log.value::<()>(3)]).is_err());
    assert!(arena.try_alloc_str("ebb").is_err());
    assert_eq!(log.taken(), [3]);
    drop(arena);
    assert_eq!(log.taken(), [0]);
    assert_eq!(calls.live(), 0);
}

#[test]
fn an_arena_that_is_taken_over_keeps_its_chunks() {
    let arena = Arena::with_capacity(100_000);
    let held = arena.stats().held;
    let arena = DropArena::from(arena);
    arena.alloc(vec![1]);
    assert_eq!(arena.stats().held, held);
    let _: &Heap = arena.backing();
    assert!(format!("{arena:?}").starts_with("DropArena { stats: Stats"));
}

#[test]
fn values_may_borrow_what_outlives_the_arena() {
    struct Appends<'v>(&'v RefCell<String>, &'static str);
    impl Drop for Appends<'_> {
        fn drop(&mut self) {
            self.0.borrow_mut().push_str(self.1);
        }
    }
    let text = RefCell::new(String::new());
    let arena = DropArena::new();
    for word in ["flow", " and ", "ebb"] {
        arena.alloc(Appends(&text, word));
    }
    let moved = arena; // the values stay where they are
    drop(moved);
    assert_eq!(text.into_inner(), "ebb and flow");
}

#[test]
fn a_forgotten_arena_runs_no_destructor() {
    let log = Log::default();
    let arena = ManuallyDrop::new(DropArena::new());
    arena.alloc(log.value::<u8>(0));
    assert!(log.taken().is_empty());
    drop(ManuallyDrop::into_inner(arena));
    assert_eq!(log.taken(), [0]);
}

/// A value that was pinned at an address, and is dropped there.
struct Pinned<'l> {
    at: Cell<usize>,
    dropped: &'l Cell<u32>,
    _pinned: PhantomPinned,
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        assert_eq!(ptr::from_ref(self).addr(), self.at.get(), "it was moved");
        self.dropped.set(self.dropped.get() + 1);
    }
}

fn pin<'v>(arena: &DropArena<'v>, value: Pinned<'v>) {
    let value = arena.alloc_pinned(value);
    value.at.set(ptr::from_ref(&*value).addr());
}

#[test]
fn pinned_values_stay_where_they_are_until_they_are_dropped() {
    let dropped = Cell::new(0);
    let value = || Pinned { at: Cell::new(0), dropped: &dropped, _pinned: PhantomPinned };
    let mut arena = DropArena::new();
    for turn in 1..=3 {
        for _ in 0..1000 {
            pin(&arena, value());
        }
        arena.reset();
        assert_eq!(dropped.get(), turn * 1000);
    }
    pin(&arena, value());
    let moved = Box::new(arena);
    pin(&moved, value());
    drop(moved);
    assert_eq!(dropped.get(), 3002);
}
