//! Claim: an arena of typed-arena does what ebbtide's does, with the places of values that the
//! caller writes. The tests of typed-arena itself run in `ci/others/same.sh`.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is a failure")]

use std::cell::Cell;
use typed_arena::Arena;

struct Counted<'c>(&'c Cell<u32>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn places_are_values_once_they_are_counted() {
    let dropped = Cell::new(0);
    let arena = Arena::with_capacity(2);
    arena.alloc(Counted(&dropped));
    let unused = arena.uninitialized_array();
    assert_eq!(unused.len(), 1);
    for count in 0..100 {
        // SAFETY: every place is written before the arena is used again.
        for place in unsafe { arena.alloc_uninitialized(count) } {
            place.write(Counted(&dropped));
        }
    }
    assert_eq!((arena.len(), dropped.get()), (1 + 99 * 100 / 2, 0));
    drop(arena);
    assert_eq!(dropped.get(), 1 + 99 * 100 / 2);
}

#[test]
fn a_value_that_was_written_but_not_counted_is_not_dropped() {
    let dropped = Cell::new(0);
    let arena = Arena::<Counted<'_>>::new();
    arena.reserve_extend(1);
    let place: *mut Counted<'_> = arena.uninitialized_array().cast();
    // SAFETY: there is room, and nobody else writes there meanwhile.
    unsafe { place.write(Counted(&dropped)) };
    drop(arena);
    assert_eq!(dropped.get(), 0);
}

#[test]
fn values_may_refer_to_each_other_and_keep_their_order() {
    struct Node<'a>(u32, Cell<Option<&'a Node<'a>>>);
    let arena = Arena::new();
    let first: &Node = arena.alloc(Node(1, Cell::new(None)));
    let second: &Node = arena.alloc(Node(2, Cell::new(Some(first))));
    first.1.set(Some(second));
    assert_eq!(first.1.get().unwrap().0 + second.1.get().unwrap().0, 3);

    let mut texts = Arena::default();
    texts.alloc_extend(["ebb", "flow"].map(String::from));
    texts.iter_mut().for_each(|text| text.push('!'));
    assert_eq!(texts.into_vec().concat(), "ebb!flow!");
    assert_eq!(Arena::new().alloc_str("tide"), "tide");
}
