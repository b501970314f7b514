//! The loops that write the elements of an iterator to a vector. The size of the iterator's type
//! decides which loop runs: dev/decisions/0032-loops-of-vectors.md.
//!
//! Called by everything that extends a vector, by `Splice`, and for slices collected from an
//! iterator. The invariants V1 and V2 are those of [`elements`](super::elements).

use super::{
    elements::{Elements, Length, Written},
    memory::Grow,
};
use crate::{
    chunk::LARGEST_CHUNK,
    error::{AllocError, Failure},
};
use core::{
    any::type_name,
    iter::Zip,
    ops::{ControlFlow, Range},
};

/// Elements of more than this many bytes are pushed one by one. Each takes many stores anyway, and
/// without inlining it would be copied through several stack frames.
pub(crate) const LOOPED: usize = 256;

impl<T, L: Length> Elements<T, L> {
    /// Appends at most `count` elements of an iterator, for which room was reserved. Returns false
    /// if the iterator ended before, which must then not be called again.
    ///
    /// If `count` is the size hint of the iterator, the compiler can prove that both conditions of
    /// the loop are the same, and unroll or vectorise it.
    ///
    /// # Safety
    ///
    /// `count <= capacity - len`.
    #[inline(always)]
    pub(crate) unsafe fn extend_up_to(
        &mut self,
        count: usize,
        values: &mut impl Iterator<Item = T>,
    ) -> bool {
        if count == 0 {
            return true;
        }
        let mut written = Written::begin(self);
        // Internal iteration is ten times as fast as `next` for a chain of iterators.
        let _ = values.try_for_each(|value| {
            // True only if a `try_for_each` of the user ignores `Break`. For others the compiler
            // removes this.
            if written.count() == count {
                return ControlFlow::Break(());
            }
            // SAFETY: fewer than `count` were written.
            unsafe { written.push(value) };
            if written.count() == count {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        written.count() == count
    }

    /// Like [`extend_up_to`](Elements::extend_up_to), but counts down to zero. If `count` is the
    /// size hint, this takes fewer instructions for a chain, and for zipped slices and steps the
    /// compiler can prove that both conditions of the loop are the same.
    ///
    /// # Safety
    ///
    /// `count <= capacity - len`.
    #[inline(always)]
    unsafe fn extend_down_from(
        &mut self,
        count: usize,
        values: &mut impl Iterator<Item = T>,
    ) -> bool {
        let end = self.len() + count;
        debug_assert!(end <= self.capacity(), "there is room");
        // SAFETY: within the capacity.
        let behind = unsafe { self.place(end) };
        let mut unwritten = Unwritten { elements: self, end, left: count };
        let _ = values.try_for_each(|value| {
            // True only if a `try_for_each` of the user ignores `Break`. For others the compiler
            // removes this.
            if unwritten.left == 0 {
                return ControlFlow::Break(());
            }
            // SAFETY: the last `left` places in front of `behind` are within the capacity.
            let place = unsafe { behind.sub(unwritten.left) };
            // SAFETY: free, aligned, and the vector's own (V2).
            unsafe { place.write(value) };
            unwritten.left -= 1;
            if unwritten.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        unwritten.left == 0
    }

    /// Like [`extend_up_to`](Elements::extend_up_to), but calls `next` in a loop with a counter.
    /// The fastest loop over iterators that `zip` reads by index.
    ///
    /// # Safety
    ///
    /// `count <= capacity - len`.
    #[inline(always)]
    unsafe fn extend_by_next(
        &mut self,
        count: usize,
        values: &mut Zip<Range<usize>, impl Iterator<Item = T>>,
    ) -> bool {
        let mut written = Written::begin(self);
        for _ in 0..count {
            let Some((_, value)) = values.next() else {
                return false;
            };
            // SAFETY: fewer than `count` were written.
            unsafe { written.push(value) };
        }
        true
    }

    /// Appends the elements of an iterator: first as many as its size hint says, in a loop of known
    /// length, and then the rest, each of which may have to allocate.
    #[inline(always)]
    pub(crate) fn extend<F: Failure, I: Iterator<Item = T>>(
        &mut self,
        memory: &mut impl Grow,
        values: I,
    ) -> Result<(), F> {
        let announced = values.size_hint().0;
        // A hint beyond the largest chunk is rarely right; an endless iterator has one, too.
        let is_plausible = announced <= LARGEST_CHUNK / size_of::<T>().max(1);
        // If reserving fails, the block grows as elements arrive.
        if announced > 0
            && is_plausible
            && size_of::<T>() <= LOOPED
            && self.reserve::<AllocError>(memory, announced).is_ok()
        {
            // SAFETY: room was reserved for as many.
            return match unsafe { self.extend_announced(announced, values) } {
                Rest::None => Ok(()),
                Rest::Plain(values) => self.extend_rest(memory, values),
                Rest::Zipped(values) => self.extend_rest(memory, values.map(|(_, value)| value)),
            };
        }
        self.extend_rest(memory, values)
    }

    /// Appends the first `announced` elements of an iterator, in a loop of known length, and
    /// returns the rest of the iterator. `announced` is the lower bound of its size hint.
    ///
    /// # Safety
    ///
    /// `announced <= capacity - len`.
    #[inline(always)]
    pub(crate) unsafe fn extend_announced<I: Iterator<Item = T>>(
        &mut self,
        announced: usize,
        mut values: I,
    ) -> Rest<I> {
        debug_assert!(announced <= self.capacity() - self.len(), "there is room");
        if announced == 0 {
            return Rest::Plain(values);
        }
        let words = size_of::<I>() / size_of::<usize>();
        let is_zipped = match words {
            2 => size_of::<T>() != 0 && !is_repetition::<I>(),
            3 => size_of::<T>() >= 4,
            _ => false,
        };
        if is_zipped {
            // A range, or the iterator of a slice, perhaps mapped, skipped or in chunks. The
            // standard library zips these by index, without a check for each element. The range
            // that is zipped with it never ends first, because no vector can have that many
            // elements.
            let mut values = (0..usize::MAX).zip(values);
            // SAFETY: `announced <= capacity - len` by this function's contract.
            let is_left = unsafe { self.extend_by_next(announced, &mut values) };
            return if is_left { Rest::Zipped(values) } else { Rest::None };
        }
        let is_left = if words > 3 {
            // Chains, zipped slices, steps.
            // SAFETY: `announced <= capacity - len` by this function's contract.
            unsafe { self.extend_down_from(announced, &mut values) }
        } else {
            // SAFETY: `announced <= capacity - len` by this function's contract.
            unsafe { self.extend_up_to(announced, &mut values) }
        };
        if is_left { Rest::Plain(values) } else { Rest::None }
    }

    /// Appends the elements of an iterator whose number is unknown: one that may make the vector
    /// grow, then as many as there is room for.
    #[inline(always)]
    fn extend_rest<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        mut values: impl Iterator<Item = T>,
    ) -> Result<(), F> {
        while let Some(value) = values.next() {
            self.push::<F>(memory, value)?;
            let room = self.capacity() - self.len();
            // SAFETY: there is room for as many.
            if !unsafe { self.extend_up_to(room, &mut values) } {
                break;
            }
        }
        Ok(())
    }
}

/// Whether `I` repeats one element: `repeat_n`, or `repeat` and `take`. The compiler turns
/// `try_for_each` over such an iterator into vector code or a `memset`, but not a loop that calls
/// `next`.
///
/// A generic function cannot compare its types, but the name of a type is a constant, so this costs
/// nothing at run time. The standard library may rename its types: only the speed depends on it.
#[inline(always)]
fn is_repetition<I>() -> bool {
    const REPEAT_N: &str = "core::iter::sources::repeat_n::RepeatN<";
    const TAKE_OF_REPEAT: &str =
        "core::iter::adapters::take::Take<core::iter::sources::repeat::Repeat<";
    let name = type_name::<I>();
    name.starts_with(REPEAT_N) || name.starts_with(TAKE_OF_REPEAT)
}

/// The elements that an iterator still has after [`Elements::extend_announced`].
pub(crate) enum Rest<I> {
    /// Nothing is left: the iterator yielded fewer elements than it announced, and was dropped.
    None,
    Plain(I),
    Zipped(Zip<Range<usize>, I>),
}

impl<T, L: Length> Drop for Unwritten<'_, T, L> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the elements below `end` were written, except the last `left`.
        unsafe { self.elements.set_len(self.end - self.left) };
    }
}

/// Like [`Written`], for a loop that counts down: the elements below `end` are written, except the
/// last `left`.
struct Unwritten<'e, T, L: Length> {
    elements: &'e mut Elements<T, L>,
    end: usize,
    left: usize,
}
