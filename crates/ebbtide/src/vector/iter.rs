//! Iterators that take elements out of a vector: [`IntoIter`], [`Drain`], [`ExtractIf`],
//! [`Splice`].
//!
//! While one of them borrows a vector, the vector's length covers only elements that the iterator
//! will not remove. So forgetting the iterator leaks elements, and does no other harm.

use super::{
    elements::{Elements, Length},
    gap::Gap,
    memory::{Grow, NoScope},
};
use crate::{
    error::{AllocError, Failure},
    fresh::Fresh,
};
use core::{
    convert::Infallible,
    fmt,
    iter::FusedIterator,
    marker::PhantomData,
    mem::{self, needs_drop},
    ops::Range,
    ptr::NonNull,
};

/// The elements that an iterator owns, in the block of a vector: those with the indices `left`.
struct Owned<T, M> {
    start: NonNull<T>,
    left: Range<usize>,
    /// The block lives as long as an `M`. Because this struct has a destructor, the compiler
    /// requires that the memory outlives the iterator; in a struct around it, a shorter lifetime
    /// would be accepted.
    memory: PhantomData<M>,
}

impl<T, M> Owned<T, M> {
    /// # Safety
    ///
    /// The elements with the indices `left`, counted from `start`, are initialised, no one else
    /// uses or drops them, and their memory lives as long as an `M`.
    #[inline(always)]
    unsafe fn new(start: NonNull<T>, left: Range<usize>) -> Self {
        Owned { start, left, memory: PhantomData }
    }

    /// The element at `index`.
    ///
    /// # Safety
    ///
    /// `index` was just removed from `left`.
    #[inline(always)]
    unsafe fn take(&self, index: usize) -> T {
        // SAFETY: by this function's contract, `index` was in `left`, so it is the index of an
        // element behind `start`, in the same block.
        let place = unsafe { self.start.add(index) };
        // SAFETY: the element is aligned and initialised, and as `left` no longer has it, nobody
        // else reads or drops it.
        unsafe { place.read() }
    }

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        let index = self.left.next()?;
        // SAFETY: `next` has just removed `index` from `left`.
        Some(unsafe { self.take(index) })
    }

    #[inline(always)]
    fn next_back(&mut self) -> Option<T> {
        let index = self.left.next_back()?;
        // SAFETY: `next_back` has just removed `index` from `left`.
        Some(unsafe { self.take(index) })
    }

    /// Skips `count` elements and returns the next.
    #[inline]
    fn nth(&mut self, count: usize) -> Option<T> {
        let count = count.min(self.left.len());
        let end = self.left.start + count;
        let skipped = self.left.start..end;
        self.left.start = end;
        // SAFETY: the elements are initialised, in the same block, and no longer in `left`, so
        // nobody else uses or drops them.
        drop(unsafe { Owned::<T, M>::new(self.start, skipped) });
        self.next()
    }

    #[inline]
    fn as_slice(&self) -> &[T] {
        self.pointer().map_or(&[], |elements| {
            // SAFETY: the elements are initialised, and the slice borrows the iterator.
            unsafe { elements.as_ref() }
        })
    }

    #[inline]
    fn as_mut_slice(&mut self) -> &mut [T] {
        self.pointer().map_or(&mut [], |mut elements| {
            // SAFETY: the elements are initialised, and the slice borrows the iterator exclusively.
            unsafe { elements.as_mut() }
        })
    }

    /// The remaining elements, if there are any.
    #[inline(always)]
    fn pointer(&self) -> Option<NonNull<[T]>> {
        if self.left.is_empty() {
            return None;
        }
        // SAFETY: `left` has indices of the block, so this is inside of it.
        let first = unsafe { self.start.add(self.left.start) };
        Some(NonNull::slice_from_raw_parts(first, self.left.len()))
    }
}

impl<T, M> Drop for Owned<T, M> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() {
            if let Some(elements) = self.pointer() {
                // SAFETY: the elements are initialised, no one else drops them, and this runs once.
                unsafe { elements.drop_in_place() };
            }
        }
    }
}

/// Implements the methods and traits of an iterator that has a field `owned`.
macro_rules! iterator {
    ([$($parameters:tt)*] $name:ty) => {
        impl<$($parameters)*> $name {
            /// The remaining elements.
            ///
            /// ```
            /// # let mut arena = ebbtide::Arena::new();
            /// # let s = arena.scope();
            /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
            /// let mut left = list.drain(..);
            /// left.next();
            /// assert_eq!(left.as_slice(), [2, 3]);
            /// ```
            #[inline]
            #[must_use]
            pub fn as_slice(&self) -> &[T] {
                self.owned.as_slice()
            }
        }

        impl<$($parameters)*> Iterator for $name {
            type Item = T;

            #[inline(always)]
            fn next(&mut self) -> Option<T> {
                self.owned.next()
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.owned.left.size_hint()
            }

            #[inline]
            fn count(self) -> usize {
                self.owned.left.len()
            }

            #[inline]
            fn nth(&mut self, count: usize) -> Option<T> {
                self.owned.nth(count)
            }
        }

        impl<$($parameters)*> DoubleEndedIterator for $name {
            #[inline(always)]
            fn next_back(&mut self) -> Option<T> {
                self.owned.next_back()
            }
        }

        impl<$($parameters)*> ExactSizeIterator for $name {}

        impl<$($parameters)*> FusedIterator for $name {}

        impl<$($parameters)*> fmt::Debug for $name
        where
            T: fmt::Debug,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple("Elements").field(&self.as_slice()).finish()
            }
        }
    };
}

/// The elements of a vector, by value. Returned by its `into_iter`.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let list = ebbtide::collections::vec![in s; 1, 2, 3];
/// assert!(list.into_iter().rev().eq([3, 2, 1]));
/// ```
pub struct IntoIter<T, M> {
    owned: Owned<T, M>,
}

// SAFETY: it owns its elements, which is all that can be reached through it.
unsafe impl<T: Send, M: Send> Send for IntoIter<T, M> {}
// SAFETY: a shared iterator gives shared access to the elements it owns, and to nothing else.
unsafe impl<T: Sync, M: Sync> Sync for IntoIter<T, M> {}

impl<'a, T> IntoIter<T, NoScope<'a>> {
    /// Takes over the elements of a slice.
    #[inline]
    pub(crate) fn from_fresh(elements: Fresh<'a, [T]>) -> Self {
        let elements = elements.into_raw();
        let left = 0..elements.len();
        // SAFETY: F1: the elements are initialised, no one else uses or drops them, and they are
        // valid for `'a`.
        IntoIter { owned: unsafe { Owned::new(elements.cast(), left) } }
    }
}

impl<T, M> IntoIter<T, M> {
    /// Takes over the elements. The vector is empty from then on.
    #[inline]
    pub(super) fn of<L: Length>(elements: &mut Elements<T, L>) -> Self {
        let left = 0..elements.len();
        elements.uncount_all();
        // SAFETY: elements that the vector no longer counts, in its block, which is an `M`'s (V2).
        IntoIter { owned: unsafe { Owned::new(elements.start(), left) } }
    }

    /// The remaining elements, mutably.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut left = ebbtide::collections::vec![in s; 1, 2].into_iter();
    /// left.as_mut_slice()[1] = 3;
    /// assert!(left.eq([1, 3]));
    /// ```
    #[inline]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.owned.as_mut_slice()
    }
}

iterator!([T, M] IntoIter<T, M>);

/// The removed elements of a range. Returned by [`Vector::drain`](super::Vector::drain).
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
/// assert!(list.drain(1..3).eq([2, 3]));
/// assert_eq!(list, [1, 4]);
/// ```
pub struct Drain<'v, T, L: Length = usize> {
    owned: Owned<T, &'v ()>,
    // Behind `owned`, which is dropped first.
    tail: Tail<'v, T, L>,
}

// SAFETY: it owns its elements and borrows the vector exclusively.
unsafe impl<T: Send, L: Length + Send> Send for Drain<'_, T, L> {}
// SAFETY: through a shared reference only its elements can be reached.
unsafe impl<T: Sync, L: Length + Sync> Sync for Drain<'_, T, L> {}

impl<'v, T, L: Length> Drain<'v, T, L> {
    #[inline]
    pub(super) fn of(elements: &'v mut Elements<T, L>, range: Range<usize>) -> Self {
        let len = elements.len();
        debug_assert!(range.start <= range.end && range.end <= len, "the range is in the vector");
        // SAFETY: `range.start <= len`, so the length shrinks to elements that are initialised.
        unsafe { elements.set_len(range.start) };
        // SAFETY: elements that the vector no longer counts, in its block, and it is borrowed.
        let owned = unsafe { Owned::new(elements.start(), range.clone()) };
        Drain { owned, tail: Tail { elements, start: range.end, count: len - range.end } }
    }
}

iterator!(['v, T, L: Length] Drain<'v, T, L>);

/// The elements after a removed range. Dropping this moves them to the end of the elements that the
/// vector still has, and adds them to its length.
struct Tail<'v, T, L: Length> {
    elements: &'v mut Elements<T, L>,
    start: usize,
    count: usize,
}

impl<T, L: Length> Tail<'_, T, L> {
    /// The number of free places between the elements and the tail.
    #[inline(always)]
    fn gap(&self) -> usize {
        self.start - self.elements.len()
    }

    /// Moves the tail to `start`.
    ///
    /// # Safety
    ///
    /// The `count` places from `start` on lie in the block and hold no elements other than the
    /// tail's.
    #[inline]
    unsafe fn move_to(&mut self, start: usize) {
        if start == self.start || self.count == 0 {
            self.start = start;
            return;
        }
        debug_assert!(start >= self.elements.len(), "the places are free");
        // SAFETY: the tail lies in the block, and by this function's contract so do the places at
        // `start`, which are free or the tail's own.
        unsafe { self.elements.shift(self.start, start, self.count) };
        self.start = start;
    }
}

impl<T, L: Length> Drop for Tail<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        let len = self.elements.len();
        // SAFETY: `len <= start`, and the elements between the two were removed.
        unsafe { self.move_to(len) };
        // SAFETY: the tail now follows the first `len` elements directly, and all of it is
        // initialised and in the block.
        unsafe { self.elements.set_len(len + self.count) };
    }
}

/// An iterator that removes elements that a closure selects. Returned by
/// [`Vector::extract_if`](super::Vector::extract_if).
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
/// assert!(list.extract_if(.., |n| *n % 2 == 0).eq([2, 4]));
/// assert_eq!(list, [1, 3]);
/// ```
pub struct ExtractIf<'v, T, P, L: Length = usize> {
    gap: Gap<'v, T, L>,
    end: usize,
    takes: P,
}

impl<'v, T, P, L: Length> ExtractIf<'v, T, P, L> {
    #[inline]
    pub(super) fn of(elements: &'v mut Elements<T, L>, range: Range<usize>, takes: P) -> Self {
        ExtractIf { gap: Gap::begin(elements, range.start), end: range.end, takes }
    }
}

impl<T, P: FnMut(&mut T) -> bool, L: Length> Iterator for ExtractIf<'_, T, P, L> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        while self.gap.next < self.end {
            // SAFETY: below the end of the elements, and no other reference to it exists.
            let taken = (self.takes)(unsafe { self.gap.next() });
            let index = self.gap.next;
            self.gap.next += 1;
            if taken {
                // SAFETY: `index` is below the end of the elements, so it is initialised; it counts
                // as removed, so nothing else reads or drops it.
                return Some(unsafe { self.gap.elements.take(index) });
            }
            // SAFETY: an element moves to its own place, or to one whose element is gone or has
            // moved.
            unsafe { self.gap.elements.shift(index, self.gap.kept, 1) };
            self.gap.kept += 1;
        }
        None
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.end - self.gap.next))
    }
}

impl<T, P, L: Length> fmt::Debug for ExtractIf<'_, T, P, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractIf").finish_non_exhaustive()
    }
}

/// The removed elements of a range. Dropping the iterator puts other elements in their place.
/// Returned by [`Vector::splice`](super::Vector::splice).
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
/// assert!(list.splice(1..3, [7, 8, 9]).eq([2, 3]));
/// assert_eq!(list, [1, 7, 8, 9, 4]);
/// ```
pub struct Splice<'v, I: Iterator, M: Grow, L: Length = usize> {
    drain: Drain<'v, I::Item, L>,
    memory: &'v mut M,
    values: I,
    /// Whether the elements were replaced, or that was given up.
    is_finished: bool,
}

impl<'v, I: Iterator, M: Grow, L: Length> Splice<'v, I, M, L> {
    #[inline]
    pub(super) fn of(
        elements: &'v mut Elements<I::Item, L>,
        memory: &'v mut M,
        range: Range<usize>,
        values: I,
    ) -> Self {
        Splice { drain: Drain::of(elements, range), memory, values, is_finished: false }
    }

    /// Drops the removed elements that are left and replaces them now. Dropping the iterator does
    /// nothing then.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the vector cannot grow. The removed elements are dropped, and some of the
    /// others may be in their place.
    ///
    /// # Panics
    ///
    /// If the iterator of the elements does.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1_u8, 2, 3];
    /// assert!(list.splice(1..2, [7, 8]).try_finish().is_ok());
    /// assert!(list.splice(1..2, [9; 100]).try_finish().is_err());
    /// assert_eq!(list[0], 1);
    /// ```
    pub fn try_finish(&mut self) -> Result<(), AllocError> {
        self.finish()
    }

    #[inline]
    fn finish<F: Failure>(&mut self) -> Result<(), F> {
        if mem::replace(&mut self.is_finished, true) {
            return Ok(());
        }
        self.drain.by_ref().for_each(drop);
        // Dropping the tail closes what is left of the gap, however this function is left.
        let tail = &mut self.drain.tail;
        let announced = self.values.size_hint().0;
        if announced <= tail.gap() {
            // SAFETY: this many places in front of the tail are free.
            if !unsafe { tail.elements.extend_up_to(announced, &mut self.values) } {
                return Ok(());
            }
        }
        // SAFETY: this many places in front of the tail are free.
        if !unsafe { tail.elements.extend_up_to(tail.gap(), &mut self.values) } {
            return Ok(());
        }
        let Some(value) = self.values.next() else {
            return Ok(());
        };
        make_way::<F, _, _>(tail, self.memory, self.values.size_hint().0.saturating_add(1))?;
        // SAFETY: there is a free place in front of the tail now.
        unsafe { tail.elements.push_unchecked(value) };
        // SAFETY: this many places in front of the tail are free.
        if !unsafe { tail.elements.extend_up_to(tail.gap(), &mut self.values) } {
            return Ok(());
        }
        if let Some(value) = self.values.next() {
            let behind = Behind::of(tail);
            behind.tail.elements.push::<F>(self.memory, value)?;
            behind.tail.elements.extend::<F, _>(self.memory, &mut self.values)?;
        }
        Ok(())
    }
}

impl<I: Iterator, M: Grow, L: Length> Iterator for Splice<'_, I, M, L> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.drain.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.drain.size_hint()
    }
}

impl<I: Iterator, M: Grow, L: Length> DoubleEndedIterator for Splice<'_, I, M, L> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        self.drain.next_back()
    }
}

impl<I: Iterator, M: Grow, L: Length> ExactSizeIterator for Splice<'_, I, M, L> {}

impl<I: Iterator, M: Grow, L: Length> FusedIterator for Splice<'_, I, M, L> {}

impl<I: Iterator, M: Grow, L: Length> Drop for Splice<'_, I, M, L> {
    #[inline]
    fn drop(&mut self) {
        let Ok(()) = self.finish::<Infallible>();
    }
}

/// Makes a gap for `announced` elements, at least one, between the elements and the tail that
/// directly follows them. The hint may be wrong, so the gap is limited to the vector's length plus
/// 16.
fn make_way<F: Failure, T, L: Length>(
    tail: &mut Tail<'_, T, L>,
    memory: &mut impl Grow,
    announced: usize,
) -> Result<(), F> {
    let len = tail.elements.len();
    // Does not overflow: the elements and the tail fit into the capacity.
    let total = len + tail.count;
    // The length of zero-sized elements may be close to `usize::MAX`.
    let gap = announced.min(total.saturating_add(16));
    // Growing copies the elements up to the length, so the length includes the tail meanwhile.
    // SAFETY: the tail follows the first `len` elements directly, so `total` elements are
    // initialised, within the capacity.
    unsafe { tail.elements.set_len(total) };
    let uncount = Uncount { elements: tail.elements, len };
    uncount.elements.reserve::<F>(memory, gap)?;
    drop(uncount);
    // SAFETY: room was made for `gap` places and the tail, so these lie in the block; nothing but
    // the tail is behind `len`.
    unsafe { tail.move_to(len + gap) };
    Ok(())
}

/// The state of a loop that appends elements behind the tail, because their number is unknown: a
/// gap that is too small would move the tail again and again. The vector's length includes the tail
/// and what was appended. Dropping this moves the tail to the end, even after a panic.
struct Behind<'t, 'v, T, L: Length> {
    tail: &'t mut Tail<'v, T, L>,
    /// The number of elements before the tail.
    before: usize,
}

impl<'t, 'v, T, L: Length> Behind<'t, 'v, T, L> {
    /// The tail follows the elements directly.
    fn of(tail: &'t mut Tail<'v, T, L>) -> Self {
        let before = tail.elements.len();
        debug_assert_eq!(before, tail.start);
        // SAFETY: the tail follows the first `before` elements directly, so all of them are
        // initialised, within the capacity.
        unsafe { tail.elements.set_len(before + tail.count) };
        Behind { tail, before }
    }
}

impl<T, L: Length> Drop for Behind<'_, '_, T, L> {
    fn drop(&mut self) {
        let Tail { elements, start, count } = &mut *self.tail;
        elements.as_mut_slice()[self.before..].rotate_left(*count);
        *start = elements.len() - *count;
        // SAFETY: fewer than are counted.
        unsafe { elements.set_len(*start) };
    }
}

/// Sets the length back to `len`, without the tail, even if growing panics.
struct Uncount<'e, T, L: Length> {
    elements: &'e mut Elements<T, L>,
    len: usize,
}

impl<T, L: Length> Drop for Uncount<'_, T, L> {
    fn drop(&mut self) {
        // SAFETY: fewer than are counted.
        unsafe { self.elements.set_len(self.len) };
    }
}

impl<I: Iterator, M: Grow, L: Length> fmt::Debug for Splice<'_, I, M, L>
where
    I::Item: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Splice").field(&self.drain.as_slice()).finish()
    }
}
