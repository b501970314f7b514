//! A list that grows in a scope without moving its elements: segments, each twice as long as the
//! previous one.

use std::cell::Cell;
use std::iter;

use ebbtide::Scope;

#[derive(Clone, Copy)]
pub(crate) struct Bag<'a, T> {
    ends: Option<Ends<'a, T>>,
    /// The unused part of the last segment.
    room: &'a [Cell<T>],
    len: usize,
}

#[derive(Clone, Copy)]
struct Ends<'a, T> {
    first: &'a Segment<'a, T>,
    last: &'a Segment<'a, T>,
}

struct Segment<'a, T> {
    values: &'a [Cell<T>],
    next: Cell<Option<&'a Segment<'a, T>>>,
}

const FIRST_VALUES: usize = 2;

impl<T> Default for Bag<'_, T> {
    fn default() -> Self {
        Self { ends: None, room: &[], len: 0 }
    }
}

impl<'a, T: Copy> Bag<'a, T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, scope: &Scope<'a>, value: T) {
        if self.room.is_empty() {
            self.extend(scope, value);
        }
        if let Some((free, room)) = self.room.split_first() {
            free.set(value);
            self.room = room;
            self.len += 1;
        }
    }

    /// Adds a segment, filled with `filler` until it is overwritten.
    fn extend(&mut self, scope: &Scope<'a>, filler: T) {
        let len = self.ends.map_or(FIRST_VALUES, |ends| ends.last.values.len() * 2);
        self.room = scope.alloc_slice_fill_with(len, |_| Cell::new(filler));
        let segment = scope.alloc(Segment { values: self.room, next: Cell::new(None) });
        match &mut self.ends {
            None => {
                self.ends = Some(Ends { first: segment, last: segment });
            }
            Some(ends) => {
                ends.last.next.set(Some(segment));
                ends.last = segment;
            }
        }
    }

    /// The values in insertion order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let first = self.ends.map(|ends| ends.first);
        let segments = iter::successors(first, |segment| segment.next.get());
        segments.flat_map(|segment| segment.values).map(Cell::get).take(self.len)
    }
}
