//! A slice of unknown length, built at the low end of a scope while user code runs.

use crate::{
    chunk::LARGEST_CHUNK,
    error::{AllocError, Failure},
    init_guard::InitGuard,
    raw::{Cursor, Position},
    vector::{elements::Elements, fill::Rest},
};
use core::{alloc::Layout, mem::needs_drop, ops::ControlFlow, ptr::NonNull};

/// A published block at the low end that grows as elements arrive.
///
/// The block is *published*: the cursor's `low` has moved behind it, so user code that allocates
/// meanwhile gets other memory. Before each growth, the collector checks whether the block is still
/// the last one. If not, the block moves. Dropping an unfinished collector drops its elements and
/// frees the block and those that it moved from, unless something else was allocated meanwhile.
pub(crate) struct Collector<'s, T> {
    cursor: &'s Cursor,
    /// The block. Dangling while `capacity` is 0.
    start: NonNull<T>,
    len: usize,
    /// The number of elements that fit; `usize::MAX` for a zero-sized `T`.
    capacity: usize,
    /// The cursor's positions, as long as nothing else was allocated since; otherwise, and if there
    /// is no block, `None`.
    alone: Option<Alone<'s>>,
}

/// The cursor's position before the first block was allocated, and after this collector last moved
/// it.
struct Alone<'s> {
    before: Position<'s>,
    latest: Position<'s>,
}

impl<'s, T> Collector<'s, T> {
    /// The smallest capacity that is reserved, in elements.
    const MIN_CAPACITY: usize = if size_of::<T>() == 1 { 16 } else { 4 };

    #[inline]
    pub(crate) fn new(cursor: &'s Cursor) -> Self {
        Collector {
            cursor,
            start: NonNull::dangling(),
            len: 0,
            capacity: if size_of::<T>() == 0 { usize::MAX } else { 0 },
            alone: None,
        }
    }

    /// The layout of `capacity` elements. It is valid, because they were allocated.
    fn layout(capacity: usize) -> Layout {
        let size = capacity * size_of::<T>();
        // SAFETY: the size is 0 or that of an allocated block, and a multiple of the alignment, so
        // rounding up does not exceed `isize::MAX`.
        unsafe { Layout::from_size_align_unchecked(size, align_of::<T>()) }
    }

    /// Makes room for `additional` more elements.
    #[inline]
    pub(crate) fn reserve<F: Failure>(&mut self, additional: usize) -> Result<(), F> {
        if additional <= self.capacity - self.len {
            return Ok(());
        }
        match self.len.checked_add(additional) {
            Some(needed) => self.grow(needed),
            None => Err(F::too_large()),
        }
    }

    /// Increases the capacity to at least `needed` elements, and to twice as many as before if
    /// there is room.
    #[cold]
    fn grow<F: Failure>(&mut self, needed: usize) -> Result<(), F> {
        let wanted = needed.max(self.capacity * 2).max(Self::MIN_CAPACITY);
        let layout = Self::layout(self.capacity);
        let here = self.cursor.max_size_in_place(self.start.cast(), layout) / size_of::<T>();
        if wanted <= here {
            return self.grow_to(wanted);
        }
        if needed <= here {
            // Takes half of the chunk's free memory, or what is needed if that is more, so that
            // some is left for other values.
            return self.grow_to(needed.max(self.capacity + (here - self.capacity) / 2));
        }
        if wanted > needed && self.grow_to::<AllocError>(wanted).is_ok() {
            return Ok(());
        }
        self.grow_to(needed)
    }

    /// Increases the capacity to `capacity` elements.
    #[cold]
    fn grow_to<F: Failure>(&mut self, capacity: usize) -> Result<(), F> {
        if self.capacity == 0 {
            return self.begin(capacity);
        }
        let Ok(new) = Layout::array::<T>(capacity) else {
            return Err(F::too_large());
        };
        let position = self.cursor.position();
        let old = Self::layout(self.capacity);
        // SAFETY: the block came from this cursor's low end with the layout `old`.
        let block = unsafe { self.cursor.grow_low::<F>(self.start.cast(), old, new)? };
        self.start = block.cast();
        self.capacity = capacity;
        let alone = self.alone.take().filter(|alone| alone.latest == position);
        self.alone = alone.map(|alone| Alone { latest: self.cursor.position(), ..alone });
        Ok(())
    }

    /// Reserves room for the size hint of an iterator, if there is no block yet. At most as many as
    /// an ordinary chunk holds, because the hint may be wrong.
    #[inline(always)]
    pub(crate) fn hint(&mut self, elements: usize) {
        let elements = elements.min(LARGEST_CHUNK / size_of::<T>().max(1));
        if elements > 0 && self.capacity == 0 {
            // If reserving fails, the block grows as elements arrive.
            let _ = self.begin::<AllocError>(elements);
        }
    }

    /// Like [`hint`](Collector::hint), but reserves only in the current chunk. Returns whether
    /// there is now room for `elements`.
    #[inline(always)]
    pub(crate) fn hint_here(&mut self, elements: usize) -> bool {
        if self.capacity > 0 {
            return true;
        }
        let before = self.cursor.position();
        let Some(block) = self.cursor.take_low(elements, Layout::new::<T>()) else {
            return false;
        };
        self.start = block.cast();
        self.capacity = elements;
        self.alone = Some(Alone { before, latest: self.cursor.position() });
        true
    }

    /// Allocates the first block, with room for `capacity` elements.
    #[inline(always)]
    fn begin<F: Failure>(&mut self, capacity: usize) -> Result<(), F> {
        let Ok(layout) = Layout::array::<T>(capacity) else {
            return Err(F::too_large());
        };
        let before = self.cursor.position();
        self.start = self.cursor.reserve_low::<F>(layout)?.cast();
        self.capacity = capacity;
        self.alone = Some(Alone { before, latest: self.cursor.position() });
        Ok(())
    }

    /// Appends an element. On failure the element is dropped.
    #[inline]
    pub(crate) fn push<F: Failure>(&mut self, value: T) -> Result<(), F> {
        self.reserve(1)?;
        // SAFETY: `len < capacity`, so the place is inside the block.
        let place = unsafe { self.start.add(self.len) };
        // SAFETY: the place is aligned and a free part of the block.
        unsafe { place.write(value) };
        self.len += 1;
        Ok(())
    }

    /// Appends elements as long as there is room. Returns false if the iterator ended, which must
    /// then not be called again.
    #[inline(always)]
    pub(crate) fn fill(&mut self, values: &mut impl Iterator<Item = T>) -> bool {
        let room = self.capacity - self.len;
        if room == 0 {
            return true;
        }
        // SAFETY: `len < capacity`, so this is inside the block.
        let start = unsafe { self.start.add(self.len) };
        // SAFETY: the block has room for as many elements there. It is published and `values` has
        // no access to `self`, so what `values` allocates lies elsewhere, and the block does not
        // move meanwhile.
        let mut guard = unsafe { InitGuard::new(start) };
        // Internal iteration is ten times as fast as `next` for a chain of iterators.
        let _ = values.try_for_each(|value| {
            // True only if a `try_for_each` of the user ignores `Break`. For others the compiler
            // removes this.
            if guard.len() == room {
                return ControlFlow::Break(());
            }
            // SAFETY: there is room for one more.
            unsafe { guard.push(value) };
            if guard.len() == room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        // If `values` panics before, `guard` drops the new elements and `self` the earlier ones.
        self.len += guard.finish().len();
        self.len == self.capacity
    }

    /// Like [`fill`](Collector::fill), in the loops of vectors: appends as many elements of an
    /// iterator as it announces, as long as there is room.
    #[inline(always)]
    pub(crate) fn fill_announced<I: Iterator<Item = T>>(
        &mut self,
        announced: usize,
        values: I,
    ) -> Rest<I> {
        let room = announced.min(self.capacity - self.len);
        // SAFETY: the first `len` elements are initialised, and the block is the collector's. It is
        // published and `values` has no access to `self`, so what `values` allocates lies
        // elsewhere, and the block does not move meanwhile.
        let elements = unsafe { Elements::from_parts(self.start, self.len, self.capacity) };
        let mut filled = Filled { elements, len: &mut self.len };
        // SAFETY: there is room for as many.
        unsafe { filled.elements.extend_announced(room, values) }
    }

    /// Frees the spare capacity and returns the elements, which live as long as the scope.
    #[inline]
    pub(crate) fn finish(self) -> NonNull<[T]> {
        let (old, new) = (self.len_bytes(self.capacity), self.len_bytes(self.len));
        // SAFETY: the block came from this cursor's low end and has `old` bytes, of which those
        // beyond `new` were never initialised; or both sizes are 0, which gives back nothing.
        unsafe { self.cursor.shrink_low(self.start.cast(), old, new) };
        let slice = NonNull::slice_from_raw_parts(self.start, self.len);
        core::mem::forget(self);
        slice
    }

    /// Moves the elements back to the chunk that the cursor was in before, if they fit there: the
    /// hint of an iterator may be too large.
    pub(crate) fn go_back(&mut self) {
        let layout = Self::layout(self.len);
        let Some(alone) = self.alone.take() else { return };
        let moved = alone.before.chunk() != alone.latest.chunk();
        if !moved || alone.latest != self.cursor.position() || !alone.before.fits_low(layout) {
            self.alone = Some(alone);
            return;
        }
        // SAFETY: nothing was allocated since but this block and those that it moved from. Its
        // chunk is behind the cursor then, where nothing touches it before it is copied.
        unsafe { self.cursor.restore(alone.before) };
        let Ok(place) = self.cursor.reserve_low::<AllocError>(layout) else {
            unreachable!("it fits, as was just tested")
        };
        // SAFETY: the elements are initialised; the place has room for them, in another chunk.
        unsafe { place.cast().copy_from_nonoverlapping(self.start, self.len) };
        self.start = place.cast();
        self.capacity = self.len;
    }

    fn len_bytes(&self, elements: usize) -> usize {
        if size_of::<T>() == 0 { 0 } else { elements * size_of::<T>() }
    }
}

impl Collector<'_, u8> {
    /// Appends bytes.
    #[inline]
    pub(crate) fn extend<F: Failure>(&mut self, bytes: &[u8]) -> Result<(), F> {
        self.reserve(bytes.len())?;
        // SAFETY: `len <= capacity`, so this is inside the block or one past its end.
        let place = unsafe { self.start.add(self.len) };
        // SAFETY: `reserve` made room for them, which was free, so `bytes` do not overlap it.
        unsafe { place.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        self.len += bytes.len();
        Ok(())
    }
}

/// The elements of a collector while a loop of vectors appends to them. Dropping this sets the
/// collector's length, even after a panic.
struct Filled<'c, T> {
    elements: Elements<T>,
    len: &'c mut usize,
}

impl<T> Drop for Filled<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.len = self.elements.len();
    }
}

impl<T> Drop for Collector<'_, T> {
    fn drop(&mut self) {
        if needs_drop::<T>() {
            let elements = NonNull::slice_from_raw_parts(self.start, self.len);
            // SAFETY: the first `len` elements are initialised, and no one else owns them.
            unsafe { elements.drop_in_place() };
        }
        match &self.alone {
            Some(alone) if alone.latest == self.cursor.position() => {
                // SAFETY: nothing was allocated since but this block and those that it moved from,
                // and nothing in them is used again.
                unsafe { self.cursor.restore(alone.before) };
            }
            _ => {
                let size = self.len_bytes(self.capacity);
                // SAFETY: the block came from this cursor's low end and has `size` bytes, or there
                // is none and `size` is 0; nothing in it is used again.
                unsafe { self.cursor.shrink_low(self.start.cast(), size, 0) };
            }
        }
    }
}
