//! Claim: a typed arena keeps each value where it is, drops each exactly once, and yields them in
//! the order in which they were allocated, whatever panics, is forgotten or allocates meanwhile.

#![cfg(feature = "std")]

use crate::common::{ZeroSized, fewer_under_miri, panics};
use ebbtide::TypedArena;
use std::{
    cell::{Cell, RefCell},
    iter,
    mem::ManuallyDrop,
    rc::{Rc, Weak},
};

/// Records which values were dropped, and selects one that panics when it is dropped.
#[derive(Clone, Default)]
struct Log {
    dropped: Rc<RefCell<Vec<usize>>>,
    panics_at: Rc<Cell<Option<usize>>>,
}

struct Logged {
    number: usize,
    log: Log,
}

impl Log {
    fn value(&self, number: usize) -> Logged {
        Logged { number, log: self.clone() }
    }

    /// The numbers of all dropped values, sorted.
    fn dropped(&self) -> Vec<usize> {
        let mut dropped = self.dropped.borrow().clone();
        dropped.sort_unstable();
        dropped
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        self.log.dropped.borrow_mut().push(self.number);
        assert_ne!(self.log.panics_at.get(), Some(self.number), "asked for");
    }
}

#[test]
fn values_stay_where_they_are_while_others_follow() {
    let half = fewer_under_miri(10_000);
    let arena = TypedArena::new();
    let values: Vec<&mut String> = (0..half).map(|i| arena.alloc(i.to_string())).collect();
    let tail = arena.alloc_extend((half..2 * half).map(|i| i.to_string()));
    for (i, value) in values.into_iter().chain(tail).enumerate() {
        value.push('!');
        assert_eq!(*value, format!("{i}!"));
    }
    assert_eq!(arena.len(), 2 * half);
}

#[test]
fn the_order_is_that_of_allocation() {
    for batch in [0, 1, 2, 3, 7, 100, 5000].map(fewer_under_miri) {
        let mut arena = TypedArena::with_capacity(10);
        let mut next = 0..;
        for _ in 0..40 {
            arena.alloc(next.next().unwrap());
            let slice = arena.alloc_extend(next.by_ref().take(batch));
            assert_eq!(slice.len(), batch);
        }
        let len = 40 * (batch + 1);
        assert_eq!(arena.len(), len);
        let values = arena.iter_mut();
        assert_eq!(values.len(), len);
        assert!(values.map(|value| *value).eq(0..len));
        assert!(arena.iter_mut().rev().map(|value| *value).eq((0..len).rev()));
        let mut ends = arena.iter_mut();
        assert_eq!((ends.next().copied(), ends.next_back().copied()), (Some(0), Some(len - 1)));
        assert_eq!(ends.len(), len - 2);
        let sum = (&mut arena).into_iter().fold(0, |sum, value| sum + *value as u64);
        assert_eq!(sum, (0..len as u64).sum::<u64>());
        assert!(arena.into_vec().into_iter().eq(0..len));
    }
}

#[test]
fn each_value_is_dropped_once() {
    let log = Log::default();
    let arena = TypedArena::new();
    for number in 0..100 {
        arena.alloc(log.value(number));
    }
    arena.alloc_extend((100..300).map(|number| log.value(number)));
    assert!(log.dropped().is_empty());
    drop(arena);
    assert!(log.dropped().into_iter().eq(0..300));
}

#[test]
fn a_panicking_destructor_leaves_no_other_value_behind() {
    for culprit in [0, 41, 99, 150] {
        let log = Log::default();
        let arena = TypedArena::new();
        arena.alloc_extend((0..100).map(|number| log.value(number)));
        arena.alloc_extend((100..200).map(|number| log.value(number)));
        log.panics_at.set(Some(culprit));
        assert!(panics(|| drop(arena)));
        assert!(log.dropped().into_iter().eq(0..200));
    }
}

#[test]
fn a_panicking_destructor_leaves_a_cleared_arena_usable() {
    let log = Log::default();
    let mut arena = TypedArena::with_capacity(2);
    for number in 0..10 {
        arena.alloc(log.value(number));
    }
    log.panics_at.set(Some(1));
    assert!(panics(|| arena.clear()));
    arena.alloc(log.value(10));
    assert!(arena.iter_mut().all(|value| !log.dropped().contains(&value.number)));
    drop(arena);
    assert!(log.dropped().into_iter().eq(0..=10));
}

#[test]
fn a_panicking_iterator_leaves_the_arena_as_it_was() {
    let log = Log::default();
    let arena = TypedArena::new();
    let kept = arena.alloc(log.value(0));
    let numbers = (1..50).map(|number| {
        assert_ne!(number, 40, "asked for");
        log.value(number)
    });
    assert!(panics(|| {
        arena.alloc_extend(numbers);
    }));
    assert!(log.dropped().into_iter().eq(1..40));
    assert_eq!((arena.len(), kept.number), (1, 0));
    assert_eq!(arena.alloc_extend([log.value(40)])[0].number, 40);
}

#[test]
fn an_iterator_may_allocate_from_the_arena_that_collects_it() {
    for len in [1, 10, 3000].map(fewer_under_miri) {
        let mut arena = TypedArena::new();
        {
            let inner = RefCell::new(Vec::new());
            let outer = arena.alloc_extend((0..len).map(|i| {
                inner.borrow_mut().push(arena.alloc(format!("inner {i}")));
                let nested = arena.alloc_extend(iter::repeat_n(format!("nested {i}"), 2));
                assert_eq!(nested[1], format!("nested {i}"));
                format!("outer {i}")
            }));
            for (i, (outer, inner)) in outer.iter().zip(inner.into_inner()).enumerate() {
                assert_eq!(*outer, format!("outer {i}"));
                assert_eq!(*inner, format!("inner {i}"));
            }
        }
        assert_eq!(arena.len(), 4 * len);
        let count = |word| arena.iter_mut().filter(|text| text.starts_with(word)).count();
        assert_eq!(["inner", "nested", "outer"].map(count), [len, 2 * len, len]);
    }
}

#[test]
fn an_iterator_that_allocates_does_not_make_the_arena_grow_without_end() {
    let arena = TypedArena::new();
    let turns = fewer_under_miri(1000);
    for i in (0_u32..).take(turns) {
        arena.alloc_extend((0..3).map(|j| {
            arena.alloc([i + j; 4]);
            [0; 4]
        }));
    }
    let mut arena = arena;
    assert_eq!(arena.len(), 6 * turns);
    let values: Vec<_> = arena.iter_mut().map(|value| std::ptr::from_mut(value).addr()).collect();
    let chunks = 1 + values.windows(2).filter(|pair| pair[0] + 16 != pair[1]).count();
    assert!(chunks <= 10, "{chunks} chunks");
}

#[test]
fn an_iterator_sees_the_values_that_were_there_before() {
    for capacity in [0, 2, 100] {
        let arena = TypedArena::with_capacity(capacity);
        arena.alloc(1_u64);
        let lens = RefCell::new(Vec::new());
        arena.alloc_extend((0..5).inspect(|_| lens.borrow_mut().push(arena.len())));
        assert_eq!(lens.into_inner(), [1; 5]);
        assert_eq!(arena.len(), 6);
    }
}

#[test]
fn iterators_that_allocate_within_each_other_lose_nothing() {
    fn nest(arena: &TypedArena<(usize, u64)>, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let mut inside = 0;
        let slice = arena.alloc_extend((0..depth as u64 * 13).map(|i| {
            if i % 5 == 0 {
                arena.alloc((0, i));
                inside += 1 + nest(arena, depth - 1);
            }
            (depth, i)
        }));
        assert!(slice.iter().zip(0..).all(|(value, i)| *value == (depth, i)));
        slice.len() + inside
    }
    let mut arena = TypedArena::new();
    let expected = nest(&arena, if cfg!(miri) { 2 } else { 4 });
    assert_eq!((arena.len(), arena.iter_mut().count()), (expected, expected));
    assert_eq!(arena.into_vec().len(), expected);
}

#[test]
fn a_panic_within_an_iterator_that_allocated_loses_nothing() {
    let log = Log::default();
    let arena = TypedArena::with_capacity(3);
    assert!(panics(|| {
        arena.alloc_extend((0..100).map(|number| {
            arena.alloc(log.value(1000 + number));
            assert_ne!(number, 50, "asked for");
            log.value(number)
        }));
    }));
    assert!(log.dropped().into_iter().eq(0..50));
    assert_eq!(arena.len(), 51);
    drop(arena);
    assert!(log.dropped().into_iter().eq((0..50).chain(1000..=1050)));
}

#[test]
fn a_destructor_may_allocate_while_a_batch_is_given_up() {
    struct Heir {
        number: usize,
        arena: Weak<TypedArena<Heir>>,
    }
    impl Drop for Heir {
        fn drop(&mut self) {
            if let Some(arena) = self.arena.upgrade() {
                arena.alloc(Heir { number: 100 + self.number, arena: Weak::new() });
            }
        }
    }
    for capacity in [1, 2, 100] {
        let mut arena = Rc::new(TypedArena::with_capacity(capacity));
        arena.alloc(Heir { number: 0, arena: Weak::new() });
        let made = (1..10).map(|number| {
            assert_ne!(number, 6, "asked for");
            Heir { number, arena: Rc::downgrade(&arena) }
        });
        assert!(panics(|| {
            arena.alloc_extend(made);
        }));
        let arena = Rc::get_mut(&mut arena).unwrap();
        let mut numbers: Vec<_> = arena.iter_mut().map(|heir| heir.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 101, 102, 103, 104, 105]);
    }
}

#[test]
fn hints_that_lie_cost_nothing_but_room() {
    struct Liar(usize, (usize, Option<usize>));
    impl Iterator for Liar {
        type Item = String;
        fn next(&mut self) -> Option<String> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0.to_string())
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            self.1
        }
    }
    for hint in [(0, Some(0)), (usize::MAX, None), (usize::MAX >> 24, Some(0))] {
        let arena = TypedArena::new();
        assert!(arena.alloc_extend(Liar(0, hint)).is_empty());
        assert_eq!(arena.alloc_extend(Liar(3, hint)), ["2", "1", "0"]);
        assert_eq!(arena.try_alloc_extend(Liar(2, hint)).unwrap(), &["1", "0"]);
        assert_eq!(arena.len(), 5);
    }
}

#[test]
fn values_without_bytes_are_counted_and_dropped() {
    let mut arena = TypedArena::new();
    arena.alloc(ZeroSized);
    arena.alloc_extend(iter::repeat_with(|| ZeroSized).take(100));
    assert_eq!((arena.len(), arena.iter_mut().count(), ZeroSized::dropped()), (101, 101, 0));
    arena.alloc_extend((0..10).map(|_| {
        arena.alloc(ZeroSized);
        ZeroSized
    }));
    assert_eq!((arena.len(), ZeroSized::dropped()), (121, 0));
    drop(arena);
    assert_eq!(ZeroSized::dropped(), 121);
}

#[test]
fn too_many_values_are_refused() {
    let arena = TypedArena::<u64>::new();
    let most = isize::MAX as usize / 8;
    // A 32-bit process may get that much, and Miri aborts at a request that it cannot serve.
    let is_refused = cfg!(all(target_pointer_width = "64", not(miri)));
    let too_many = if is_refused { most } else { most + 1 };
    for values in [too_many, most + 1, usize::MAX] {
        assert!(arena.try_reserve(values).is_err());
        assert!(TypedArena::<u64>::try_with_capacity(values).is_err());
    }
    assert!(panics(|| arena.reserve(usize::MAX)));
    assert!(arena.is_empty());
    assert_eq!(arena.try_alloc(1), Ok(&mut 1));
}

#[test]
fn reserved_room_serves_without_another_chunk() {
    let most = fewer_under_miri(5000);
    let arena = TypedArena::<[u8; 100]>::new();
    arena.reserve(most);
    let first = std::ptr::from_mut(arena.alloc([0; 100])).addr();
    let last = (1..most).map(|_| std::ptr::from_mut(arena.alloc([0; 100])).addr()).last();
    assert_eq!(last, Some(first + (most - 1) * 100));
    // Requests for no values, while there is room.
    arena.reserve(0);
    assert!(arena.try_reserve(0).is_ok());
}

#[test]
fn the_order_stays_that_of_allocation_after_a_clear() {
    let mut arena = TypedArena::new();
    for turn in [1000, 3000, 100, 5000].map(fewer_under_miri) {
        for i in 0..turn {
            arena.alloc(2 * i);
            arena.alloc_extend([2 * i + 1]);
        }
        assert!(arena.iter().copied().eq(0..2 * turn));
        assert!(arena.iter_mut().map(|value| *value).eq(0..2 * turn));
        arena.clear();
    }
    assert!(arena.into_vec().is_empty());
}

#[test]
fn results_are_collected_up_to_the_first_error() {
    for (values, error_at) in [(3, None), (3, Some(0)), (100, Some(99)), (1000, Some(700))] {
        let log = Log::default();
        let arena = TypedArena::with_capacity(10);
        arena.alloc(log.value(0));
        let made = (1..=values).map(|number| match error_at {
            Some(at) if number == at + 1 => Err(number),
            _ => Ok(log.value(number)),
        });
        let made = arena.alloc_try_extend(made).map(|made| made.len());
        match error_at {
            None => assert_eq!((made, arena.len()), (Ok(values), 1 + values)),
            Some(at) => {
                assert_eq!((made, arena.len()), (Err(at + 1), 1));
                assert!(log.dropped().into_iter().eq(1..=at));
            }
        }
        // The room of the values before the error serves again.
        arena.alloc(log.value(values + 1));
        drop(arena);
        assert!(log.dropped().contains(&(values + 1)));
    }
}

#[test]
fn shared_iteration_can_be_repeated_and_reversed() {
    let mut arena = TypedArena::new();
    arena.alloc_extend((0..500).inspect(|i| {
        if i % 100 == 0 {
            arena.alloc(1000 + i);
        }
    }));
    let values = arena.iter();
    assert_eq!(values.len(), 505);
    let mut backwards: Vec<_> = values.clone().rev().collect();
    backwards.reverse();
    assert!(values.clone().eq(backwards));
    assert_eq!(values.sum::<i32>(), 499 * 250 + 6000);
}

#[test]
fn a_vector_of_the_only_chunk_is_that_chunk() {
    let arena = TypedArena::new();
    let first = std::ptr::from_mut(arena.alloc(1_u8));
    let values = arena.try_into_vec().unwrap();
    assert_eq!(values.as_ptr(), first.cast_const());
    assert_eq!(TypedArena::<u8>::default().into_vec(), [0_u8; 0]);
}

#[test]
fn a_forgotten_arena_runs_no_destructor() {
    let log = Log::default();
    let arena = ManuallyDrop::new(TypedArena::new());
    arena.alloc(log.value(1));
    assert!(log.dropped().is_empty());
    drop(ManuallyDrop::into_inner(arena));
    assert_eq!(log.dropped(), [1]);
}

#[test]
fn an_arena_moves_while_nothing_is_lent() {
    let arena = TypedArena::new();
    arena.alloc(String::from("ebb"));
    let mut moved = Box::new(arena);
    moved.alloc(String::from("flow"));
    let thread = std::thread::spawn(move || {
        moved.iter_mut().for_each(|text| text.push('!'));
        moved.into_vec()
    });
    assert_eq!(thread.join().unwrap(), ["ebb!", "flow!"]);
}

#[test]
fn debug_shows_the_length() {
    let arena = TypedArena::new();
    arena.alloc(1);
    assert_eq!(format!("{arena:?}"), "TypedArena { len: 1, .. }");
}
