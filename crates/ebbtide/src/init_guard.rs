//! [`InitGuard`]: drops the initialised elements of a slice if a panic interrupts its creation.

use crate::{fresh::Fresh, vector::elements::Elements};
use core::{
    marker::PhantomData,
    mem::{self, MaybeUninit},
};

/// The initialised elements of a reserved slice. Drops them, unless it is finished before.
pub(crate) struct InitGuard<'a, T> {
    elements: Elements<T>,
    memory: PhantomData<&'a ()>,
}

impl<'a, T> InitGuard<'a, T> {
    #[inline(always)]
    pub(crate) fn new(room: Fresh<'a, [MaybeUninit<T>]>) -> Self {
        InitGuard { elements: Elements::in_fresh(room), memory: PhantomData }
    }

    /// Fills the room with the results of `make`, which is passed the index.
    #[inline(always)]
    pub(crate) fn fill(
        room: Fresh<'a, [MaybeUninit<T>]>,
        mut make: impl FnMut(usize) -> T,
    ) -> Fresh<'a, [T]> {
        let len = room.len();
        let mut guard = InitGuard::new(room);
        for index in 0..len {
            let value = make(index);
            // SAFETY: `index` elements were pushed, which is less than `len`, the capacity of the
            // room.
            unsafe { guard.elements.push_unchecked(value) };
        }
        guard.finish()
    }

    /// Like [`fill`](InitGuard::fill), until `make` fails.
    #[inline(always)]
    pub(crate) fn try_fill<E>(
        room: Fresh<'a, [MaybeUninit<T>]>,
        mut make: impl FnMut(usize) -> Result<T, E>,
    ) -> Result<Fresh<'a, [T]>, E> {
        let len = room.len();
        let mut guard = InitGuard::new(room);
        for index in 0..len {
            let value = make(index)?;
            // SAFETY: `index` elements were pushed, which is less than `len`, the capacity of the
            // room.
            unsafe { guard.elements.push_unchecked(value) };
        }
        Ok(guard.finish())
    }

    /// Fills the room, or the start of it, with the elements of an iterator.
    #[inline(always)]
    pub(crate) fn fill_from(
        room: Fresh<'a, [MaybeUninit<T>]>,
        mut values: impl Iterator<Item = T>,
    ) -> Fresh<'a, [T]> {
        let len = room.len();
        let mut guard = InitGuard::new(room);
        for _ in 0..len {
            let Some(value) = values.next() else { break };
            // SAFETY: at most `len` are pushed, which is the capacity.
            unsafe { guard.elements.push_unchecked(value) };
        }
        guard.finish()
    }

    /// Appends an element.
    ///
    /// # Errors
    ///
    /// The element, if there is no room.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) -> Result<(), T> {
        if self.elements.len() == self.elements.capacity() {
            return Err(value);
        }
        // SAFETY: there is room for one more.
        unsafe { self.elements.push_unchecked(value) };
        Ok(())
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// Moves the elements to `room`, which must have more room than they take.
    #[cfg(feature = "alloc")]
    pub(crate) fn move_to(&mut self, room: Fresh<'a, [MaybeUninit<T>]>) {
        assert!(room.len() > self.len());
        let mut moved = InitGuard::new(room);
        self.elements.move_all_to(&mut moved.elements);
        *self = moved;
    }

    #[inline(always)]
    pub(crate) fn finish(mut self) -> Fresh<'a, [T]> {
        let elements = mem::replace(&mut self.elements, Elements::new());
        // SAFETY: the elements are in the room of a `Fresh`, which is valid for `'a`.
        unsafe { elements.into_fresh() }
    }
}

impl<T> Drop for InitGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.elements.truncate(0);
    }
}
