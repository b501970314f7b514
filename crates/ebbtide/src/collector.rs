//! A slice of unknown length, built at the low end of a scope while user code runs.

use crate::{
    chunk::LARGEST_CHUNK,
    error::{AllocError, Failure},
    fresh::Fresh,
    raw::Position,
    scope::Scope,
    vector::{
        elements::Elements,
        fill::Rest,
        memory::{Grow, Room, Used},
    },
};
use core::{alloc::Layout, mem};

/// A published block at the low end that grows as elements arrive, like the one of a vector.
///
/// The block is *published*: the cursor's `low` has moved behind it, so user code that allocates
/// meanwhile gets other memory. Before each growth, [`Grow`] checks whether the block is still the
/// last one. If not, the block moves. Dropping an unfinished collector drops its elements and frees
/// the block and those that it moved from, unless something else was allocated meanwhile.
pub(crate) struct Collector<'s, 'a, T> {
    elements: Elements<T>,
    memory: Recorded<'s, 'a>,
}

/// The memory of a scope, with the positions between which only one vector allocated.
struct Recorded<'s, 'a> {
    scope: &'s Scope<'a>,
    /// The cursor's positions, as long as nothing else was allocated since; otherwise, and if there
    /// is no block, `None`.
    alone: Option<Alone<'s>>,
}

/// The cursor's position before the first block was allocated, and after this collector last moved
/// it.
#[derive(Clone, Copy)]
struct Alone<'s> {
    before: Position<'s>,
    latest: Position<'s>,
}

impl<'s, 'a> Recorded<'s, 'a> {
    fn position(&self) -> Position<'s> {
        self.scope.cursor().position()
    }

    /// Records that the only vector allocated, when the cursor was at `position`. Its first block
    /// is the new one unless it `had_block`.
    fn record(&mut self, position: Position<'s>, had_block: bool) {
        let before = match &self.alone {
            Some(alone) if alone.latest == position => alone.before,
            None if !had_block => position,
            _ => {
                self.alone = None;
                return;
            }
        };
        self.alone = Some(Alone { before, latest: self.position() });
        debug_assert!(self.position() != position, "something was allocated");
    }
}

// SAFETY: `grow` and `shrink` are those of `&Scope`.
unsafe impl Grow for Recorded<'_, '_> {
    #[cold]
    #[inline(never)]
    unsafe fn grow<F: Failure>(
        &mut self,
        used: Used,
        element: Layout,
        needed: usize,
        exact: bool,
    ) -> Result<Room, F> {
        let position = self.position();
        // SAFETY: `used` is empty or was returned by `grow` of this scope, and `needed` exceeds its
        // capacity, by this function's contract, which is the same.
        let room = unsafe { self.scope.grow::<F>(used, element, needed, exact)? };
        self.record(position, used.has_block());
        Ok(room)
    }

    #[inline]
    unsafe fn shrink(&mut self, used: Used, size: usize, capacity: usize) -> usize {
        // SAFETY: `used` was returned by `grow` of this scope, and `used.len <= capacity <
        // used.capacity`, by this function's contract, which is the same.
        unsafe { self.scope.shrink(used, size, capacity) }
    }
}

impl<'s, 'a, T> Collector<'s, 'a, T> {
    #[inline]
    pub(crate) fn new(scope: &'s Scope<'a>) -> Self {
        Collector { elements: Elements::new(), memory: Recorded { scope, alone: None } }
    }

    /// Whether no block was reserved. Always false for zero-sized elements, which need none.
    #[inline(always)]
    fn is_without_block(&self) -> bool {
        self.elements.capacity() == 0
    }

    /// Reserves room for the size hint of an iterator, if there is no block yet. At most as many as
    /// an ordinary chunk holds, because the hint may be wrong.
    #[inline(always)]
    pub(crate) fn hint(&mut self, elements: usize) {
        let elements = elements.min(LARGEST_CHUNK / size_of::<T>().max(1));
        if elements > 0 && self.is_without_block() {
            // If reserving fails, the block grows as elements arrive.
            let _ = self.elements.reserve_exact::<AllocError>(&mut self.memory, elements);
        }
    }

    /// Like [`hint`](Collector::hint), but reserves only in the current chunk. Returns whether
    /// there is now room for `elements`.
    #[inline(always)]
    pub(crate) fn hint_here(&mut self, elements: usize) -> bool {
        if !self.is_without_block() {
            return true;
        }
        let before = self.memory.position();
        let Some(start) = self.memory.scope.cursor().take_low(elements, Layout::new::<T>()) else {
            return false;
        };
        self.elements = Elements::in_room(Room { start, capacity: elements });
        self.memory.alone = Some(Alone { before, latest: self.memory.position() });
        true
    }

    /// Appends an element. On failure the element is dropped.
    #[inline]
    pub(crate) fn push<F: Failure>(&mut self, value: T) -> Result<(), F> {
        if self.elements.len() == self.elements.capacity() {
            self.grow::<F>()?;
        }
        // SAFETY: there is room for one more.
        unsafe { self.elements.push_unchecked(value) };
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn grow<F: Failure>(&mut self) -> Result<(), F> {
        self.elements.reserve::<F>(&mut self.memory, 1)
    }

    /// Appends elements as long as there is room. Returns false if the iterator ended, which must
    /// then not be called again.
    #[inline(always)]
    pub(crate) fn fill(&mut self, values: &mut impl Iterator<Item = T>) -> bool {
        let room = self.elements.capacity() - self.elements.len();
        // SAFETY: there is room for as many.
        unsafe { self.elements.extend_up_to(room, values) }
    }

    /// Like [`fill`](Collector::fill), in the loops of vectors: appends as many elements of an
    /// iterator as it announces, as long as there is room.
    #[inline(always)]
    pub(crate) fn fill_announced<I: Iterator<Item = T>>(
        &mut self,
        announced: usize,
        values: I,
    ) -> Rest<I> {
        let room = announced.min(self.elements.capacity() - self.elements.len());
        // SAFETY: there is room for as many.
        unsafe { self.elements.extend_announced(room, values) }
    }

    /// Frees the spare capacity and returns the elements.
    #[inline]
    pub(crate) fn finish(mut self) -> Fresh<'a, [T]> {
        self.give_back(self.elements.len());
        let elements = mem::replace(&mut self.elements, Elements::new());
        mem::forget(self);
        // SAFETY: a block of the scope lives for `'a`, and only the end of it was given back.
        unsafe { elements.into_fresh() }
    }

    /// Gives back the block behind `len` elements, which is at least the length, if it can.
    #[inline]
    fn give_back(&self, len: usize) {
        debug_assert!(len >= self.elements.len(), "V1");
        if size_of::<T>() == 0 {
            return;
        }
        let (old, new) = (self.elements.capacity() * size_of::<T>(), len * size_of::<T>());
        // SAFETY: the block came from this cursor's low end and has `old` bytes, of which those
        // beyond `new` are not initialised; or there is none, and both sizes are 0.
        unsafe { self.memory.scope.cursor().shrink_low(self.elements.start().cast(), old, new) };
    }

    /// Moves the elements back to the chunk that the cursor was in before, if they fit there: the
    /// hint of an iterator may be too large.
    pub(crate) fn go_back(&mut self) {
        let cursor = self.memory.scope.cursor();
        let layout = Layout::for_value(self.elements.as_slice());
        let Some(Alone { before, latest }) = self.memory.alone else { return };
        let moved = before.chunk() != latest.chunk();
        if !moved || latest != cursor.position() || !before.fits_low(layout) {
            return;
        }
        // SAFETY: nothing was allocated since but this block and those that it moved from. Its
        // chunk is behind the cursor then, where nothing touches it before it is copied.
        unsafe { cursor.restore(before) };
        let Ok(start) = cursor.reserve_low::<AllocError>(layout) else {
            unreachable!("it fits, as was just tested")
        };
        let mut place = Elements::in_room(Room { start, capacity: self.elements.len() });
        debug_assert!(cursor.position().chunk() == before.chunk(), "it fits there");
        self.elements.move_all_to(&mut place);
        self.elements = place;
        self.memory.alone = None;
    }
}

impl Collector<'_, '_, u8> {
    /// Appends bytes.
    #[inline]
    pub(crate) fn extend<F: Failure>(&mut self, bytes: &[u8]) -> Result<(), F> {
        self.elements.extend_copy(&mut self.memory, bytes)
    }
}

impl<T> Drop for Collector<'_, '_, T> {
    fn drop(&mut self) {
        self.elements.truncate(0);
        let cursor = self.memory.scope.cursor();
        match self.memory.alone {
            Some(alone) if alone.latest == cursor.position() => {
                // SAFETY: nothing was allocated since but this block and those that it moved from,
                // and nothing in them is used again.
                unsafe { cursor.restore(alone.before) };
            }
            _ => self.give_back(0),
        }
    }
}
