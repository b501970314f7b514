//! A list that grows in a scope without moving anything: segments, each twice as long as the one before it.

use std::cell::Cell;

use ebbtide::Scope;

#[derive(Clone, Copy)]
pub(crate) struct Bag<'a, T> {
    ends: Option<Ends<'a, T>>,
    /// How many values are in the last segment.
    in_last: usize,
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
        Self { ends: None, in_last: 0, len: 0 }
    }
}

impl<'a, T: Copy> Bag<'a, T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, scope: &Scope<'a>, value: T) {
        match &mut self.ends {
            Some(ends) if self.in_last < ends.last.values.len() => {
                ends.last.values[self.in_last].set(value)
            }
            Some(ends) => {
                let next = Segment::new(scope, ends.last.values.len() * 2, value);
                ends.last.next.set(Some(next));
                ends.last = next;
                self.in_last = 0;
            }
            None => {
                let first = Segment::new(scope, FIRST_VALUES, value);
                self.ends = Some(Ends { first, last: first });
            }
        }
        self.in_last += 1;
        self.len += 1;
    }

    /// The values in the order they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let segments =
            std::iter::successors(self.ends.map(|ends| ends.first), |segment| segment.next.get());
        segments.flat_map(|segment| segment.values).map(Cell::get).take(self.len)
    }
}

impl<'a, T: Copy> Segment<'a, T> {
    /// A segment whose first value is `value`; the others will be written over.
    fn new(scope: &Scope<'a>, len: usize, value: T) -> &'a Self {
        let values = scope.alloc_slice_fill_with(len, |_| Cell::new(value));
        scope.alloc(Self { values, next: Cell::new(None) })
    }
}
