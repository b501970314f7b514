//! The block of a vector, its length and its capacity: everything that needs no memory.
//!
//! All vectors and strings are this struct under a shell. The shell knows where memory comes from
//! ([`memory`](super::memory)); this file knows which elements are initialised.
//!
//! # Invariants
//!
//! - **V1** `len <= capacity`. The first `len` places hold initialised elements, which belong to
//!   the vector.
//! - **V2** `start` is aligned for a `T`, and the `capacity` places behind it are one block that is
//!   the vector's alone and valid as long as the vector. Where `capacity` is 0, or `T` has no size,
//!   there is no block.
//!
//! Whenever code of the user's runs (a destructor, a closure, an iterator, `Clone`), `len` counts
//! only elements that nobody else will drop or hand out: a panic leaks at most the elements in
//! motion.

use super::memory::{Grow, Room, Used};
use crate::{
    chunk::LARGEST_CHUNK,
    copy::copy_bytes,
    error::{AllocError, Failure},
};
use core::{
    alloc::Layout,
    mem::{MaybeUninit, needs_drop},
    ops::{ControlFlow, Range, RangeBounds},
    ptr::NonNull,
};

/// A number of elements as a vector keeps it: `usize`, or `u32` where a vector is to be small.
///
/// It cannot be implemented outside of this crate.
///
/// # Safety
///
/// `of` and `get` are inverse up to `MOST`, and nothing else.
pub unsafe trait Length: Copy + Sealed {
    /// The largest one.
    const MOST: usize;
    /// `len` as this type; `len` is `MOST` at most.
    fn of(len: usize) -> Self;
    /// Converts to a `usize`.
    fn get(self) -> usize;
}

/// Keeps [`Length`] to the types here.
pub trait Sealed {}

impl Sealed for usize {}
impl Sealed for u32 {}

// SAFETY: the identity.
unsafe impl Length for usize {
    const MOST: usize = usize::MAX;

    #[inline(always)]
    fn of(len: usize) -> Self {
        len
    }

    #[inline(always)]
    fn get(self) -> usize {
        self
    }
}

// SAFETY: conversions between integers, neither of which loses anything up to `MOST`: it is
// `u32::MAX`, or `usize::MAX` where that is less.
unsafe impl Length for u32 {
    const MOST: usize = if usize::BITS < u32::BITS { usize::MAX } else { u32::MAX as usize };

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "`MOST` at most")]
    fn of(len: usize) -> Self {
        debug_assert!(len <= Self::MOST);
        len as u32
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

/// Larger elements are pushed one by one: each is a copy of many stores anyway.
const LOOPED: usize = 256;

/// See the module. Has no destructor.
pub(crate) struct Elements<T, L = usize> {
    start: NonNull<T>,
    len: L,
    capacity: L,
}

impl<T, L: Length> Elements<T, L> {
    /// How many elements a vector without a block holds.
    const WITHOUT_BLOCK: usize = if size_of::<T>() == 0 { L::MOST } else { 0 };

    #[inline(always)]
    pub(crate) fn new() -> Self {
        let capacity = L::of(Self::WITHOUT_BLOCK);
        Elements { start: NonNull::dangling(), len: L::of(0), capacity }
    }

    /// # Safety
    ///
    /// V1 and V2 hold of the arguments; `capacity` is `L::MOST` at most. For a `T` without a size
    /// it is ignored, and `len` is `L::MOST` at most.
    #[inline(always)]
    pub(crate) unsafe fn from_parts(start: NonNull<T>, len: usize, capacity: usize) -> Self {
        let capacity = if size_of::<T>() == 0 { L::MOST } else { capacity };
        Elements { start, len: L::of(len), capacity: L::of(capacity) }
    }

    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<T> {
        self.start
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity.get()
    }

    /// # Safety
    ///
    /// The first `len` places are initialised, and `len <= capacity`.
    #[inline(always)]
    pub(crate) unsafe fn set_len(&mut self, len: usize) {
        debug_assert!(len <= self.capacity(), "V1");
        self.len = L::of(len);
    }

    /// The place of an element.
    ///
    /// # Safety
    ///
    /// `index <= capacity`.
    #[inline(always)]
    pub(crate) unsafe fn place(&self, index: usize) -> NonNull<T> {
        // SAFETY: in the block, or one past its end (V2).
        unsafe { self.start.add(index) }
    }

    /// The bytes of the block.
    #[inline(always)]
    fn used(&self) -> Used {
        let capacity = if size_of::<T>() == 0 { 0 } else { self.capacity() };
        Used { start: self.start.cast(), len: self.len(), capacity }
    }

    // What needs memory.

    /// Makes room for `additional` more elements than there are, and for more where that saves a
    /// later move.
    #[inline(always)]
    pub(crate) fn reserve<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        additional: usize,
    ) -> Result<(), F> {
        self.reserve_with(memory, additional, false)
    }

    /// Makes room for `additional` more elements than there are, and no more.
    #[inline(always)]
    pub(crate) fn reserve_exact<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        additional: usize,
    ) -> Result<(), F> {
        self.reserve_with(memory, additional, true)
    }

    #[inline(always)]
    fn reserve_with<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        additional: usize,
        exact: bool,
    ) -> Result<(), F> {
        if additional <= self.capacity() - self.len() {
            return Ok(());
        }
        self.grow(memory, additional, exact)
    }

    /// Only values cross the call into the memory, so that a vector which is a local variable stays
    /// in registers.
    #[inline(always)]
    fn grow<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        additional: usize,
        exact: bool,
    ) -> Result<(), F> {
        let needed = self.len().wrapping_add(additional);
        if size_of::<T>() == 0 || needed < additional || needed > L::MOST {
            return Err(F::too_large());
        }
        // SAFETY: the block is of this memory, or there is none (V2).
        let room = unsafe { memory.grow::<F>(self.used(), Layout::new::<T>(), needed, exact)? };
        self.move_to(room);
        Ok(())
    }

    /// Takes the elements to be where the memory put them.
    #[inline(always)]
    fn move_to(&mut self, room: Room) {
        self.start = room.start.cast();
        self.capacity = L::of(room.capacity.min(L::MOST));
    }

    /// Takes what is free at once, where memory lends it.
    #[inline(always)]
    pub(crate) fn in_room(room: Room) -> Self {
        let mut elements = Self::new();
        if size_of::<T>() != 0 && room.capacity != 0 {
            elements.move_to(room);
        }
        elements
    }

    /// Gives the memory back what lies behind the first `capacity` places, where it takes that.
    #[inline]
    pub(crate) fn shrink_to(&mut self, memory: &mut impl Grow, capacity: usize) {
        let capacity = capacity.max(self.len());
        if size_of::<T>() == 0 || capacity >= self.capacity() {
            return;
        }
        // SAFETY: the block is of this memory (V2), and no element lies behind `capacity` (V1).
        let left = unsafe { memory.shrink(self.used(), size_of::<T>(), capacity) };
        self.capacity = L::of(left);
    }

    // One element.

    #[inline(always)]
    pub(crate) fn push<F: Failure>(&mut self, memory: &mut impl Grow, value: T) -> Result<(), F> {
        if self.len() == self.capacity() {
            self.grow::<F>(memory, 1, false)?;
        }
        // SAFETY: there is room for one.
        unsafe { self.push_unchecked(value) };
        Ok(())
    }

    /// # Safety
    ///
    /// `len < capacity`.
    #[inline(always)]
    pub(crate) unsafe fn push_unchecked(&mut self, value: T) {
        let len = self.len();
        // SAFETY: the caller says that `len < capacity`.
        let place = unsafe { self.place(len) };
        // SAFETY: aligned, free, and the vector's alone (V2).
        unsafe { place.write(value) };
        // SAFETY: one more is initialised, and the caller's promise.
        unsafe { self.set_len(len + 1) };
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let len = self.len().checked_sub(1)?;
        // SAFETY: fewer than before.
        unsafe { self.set_len(len) };
        // SAFETY: `len` was an index.
        let place = unsafe { self.place(len) };
        // SAFETY: initialised, and no longer counted.
        Some(unsafe { place.read() })
    }

    /// Puts an element in front of the one at `index`, which is `len` at most.
    #[inline]
    pub(crate) fn insert<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        index: usize,
        value: T,
    ) -> Result<(), F> {
        let len = self.len();
        debug_assert!(index <= len);
        self.reserve::<F>(memory, 1)?;
        // SAFETY: `index <= len`.
        let place = unsafe { self.place(index) };
        // SAFETY: `len < capacity`, since room was made for one more.
        let behind = unsafe { place.add(1) };
        // SAFETY: `len - index` elements lie there, and one place more (V1).
        unsafe { place.copy_to(behind, len - index) };
        // SAFETY: what was there has moved.
        unsafe { place.write(value) };
        // SAFETY: one more is initialised.
        unsafe { self.set_len(len + 1) };
        Ok(())
    }

    /// Takes out the element at `index`, which is below `len`.
    #[inline]
    pub(crate) fn remove(&mut self, index: usize) -> T {
        let len = self.len();
        debug_assert!(index < len);
        // SAFETY: `index < len`.
        let place = unsafe { self.place(index) };
        // SAFETY: initialised (V1); the copy below overwrites it.
        let value = unsafe { place.read() };
        // SAFETY: `index < len`.
        let behind = unsafe { place.add(1) };
        // SAFETY: `len - index - 1` initialised elements follow the one at `index` (V1).
        unsafe { behind.copy_to(place, len - index - 1) };
        // SAFETY: one fewer is left.
        unsafe { self.set_len(len - 1) };
        value
    }

    /// Takes out the element at `index`, which is below `len`, and puts the last one there.
    #[inline]
    pub(crate) fn swap_remove(&mut self, index: usize) -> T {
        let last = self.len() - 1;
        debug_assert!(index <= last);
        // SAFETY: below `len`.
        let place = unsafe { self.place(index) };
        // SAFETY: below `len`.
        let end = unsafe { self.place(last) };
        // SAFETY: initialised (V1); overwritten below, or no longer counted.
        let value = unsafe { place.read() };
        // SAFETY: both are places of elements; they may be the same.
        unsafe { end.copy_to(place, 1) };
        // SAFETY: one fewer is left.
        unsafe { self.set_len(last) };
        value
    }

    // Many elements.

    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        let Some(dropped) = self.len().checked_sub(len) else {
            return;
        };
        // SAFETY: fewer than before. Set before the destructors run, one of which may panic.
        unsafe { self.set_len(len) };
        if needs_drop::<T>() {
            // SAFETY: `len` was within the length.
            let first = unsafe { self.place(len) };
            // SAFETY: `dropped` elements, initialised, and no longer counted.
            unsafe { NonNull::slice_from_raw_parts(first, dropped).drop_in_place() };
        }
    }

    /// Puts `count` elements, which room was reserved for, at the end. They are the vector's from
    /// here on.
    ///
    /// # Safety
    ///
    /// `from` is valid for reads of `count` elements, none of which lies in the block's spare room,
    /// and `count <= capacity - len`.
    #[inline(always)]
    pub(crate) unsafe fn append_unchecked(&mut self, from: NonNull<T>, count: usize) {
        let len = self.len();
        // SAFETY: within the capacity.
        let place = unsafe { self.place(len) };
        // SAFETY: the caller says that `from` is valid for `count` elements outside of the spare
        // room, which has space for them.
        unsafe { from.copy_to_nonoverlapping(place, count) };
        // SAFETY: the copy has initialised the elements up to this length (V1).
        unsafe { self.set_len(len + count) };
    }

    /// Writes what `make` yields, at most `count` elements, to the end, in a loop that looks at
    /// nothing else. Room was reserved for them.
    ///
    /// # Safety
    ///
    /// `count <= capacity - len`.
    #[inline(always)]
    pub(crate) unsafe fn fill_with(&mut self, count: usize, mut make: impl FnMut() -> T) {
        let len = self.len();
        // SAFETY: within the capacity.
        let place = unsafe { self.place(len) };
        let mut written = Written { elements: self, from: len, count: 0 };
        for index in 0..count {
            let value = make();
            // SAFETY: `index < count`, so it is within the capacity.
            let place = unsafe { place.add(index) };
            // SAFETY: free, aligned, and the vector's alone (V2).
            unsafe { place.write(value) };
            written.count = index + 1;
        }
    }

    /// Clones a slice to the end. Of elements that need no `Drop`, and so may be forgotten if a
    /// clone panics, the length is set once: the compiler then makes one copy of a loop over
    /// plain ones.
    ///
    /// # Safety
    ///
    /// `values.len() <= capacity - len`.
    #[inline(always)]
    pub(crate) unsafe fn clone_unchecked(&mut self, values: &[T])
    where
        T: Clone,
    {
        let len = self.len();
        // SAFETY: within the capacity.
        let place = unsafe { self.place(len) };
        if needs_drop::<T>() {
            let mut written = Written { elements: self, from: len, count: 0 };
            for (index, value) in values.iter().enumerate() {
                let value = value.clone();
                // SAFETY: within the capacity.
                let place = unsafe { place.add(index) };
                // SAFETY: free, aligned, and the vector's alone (V2).
                unsafe { place.write(value) };
                written.count = index + 1;
            }
        } else {
            // SAFETY: the block has room for `values.len()` more elements and is the vector's alone
            // (V2).
            unsafe { clone_plain(values, place) };
            // SAFETY: all of them are initialised.
            unsafe { self.set_len(len + values.len()) };
        }
    }

    /// Adds at most `count` elements of an iterator, for which room was reserved. Returns whether
    /// it may have more; if not, it has ended, and must not be asked again.
    ///
    /// Where `count` is what the iterator announced, the compiler finds that the loop's two ends
    /// are one, and takes several elements a turn.
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
        let len = self.len();
        // SAFETY: within the capacity.
        let place = unsafe { self.place(len) };
        let mut written = Written { elements: self, from: len, count: 0 };
        // Not by `next`: a chain goes through its parts one after the other this way, ten times as
        // fast.
        let _ = values.try_for_each(|value| {
            // Only where `try_for_each` is the user's, and does not stop; else the compiler leaves
            // this out.
            if written.count == count {
                return ControlFlow::Break(());
            }
            // SAFETY: within the capacity.
            let place = unsafe { place.add(written.count) };
            // SAFETY: free, aligned, and the vector's alone (V2).
            unsafe { place.write(value) };
            written.count += 1;
            if written.count == count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        written.count == count
    }

    /// In two parts: as many as the iterator announces, in a loop of known length; and the rest, of
    /// which each may need memory.
    #[inline(always)]
    pub(crate) fn extend<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        mut values: impl Iterator<Item = T>,
    ) -> Result<(), F> {
        let announced = values.size_hint().0;
        // More than a chunk holds is hardly true, as it is of an iterator without an end.
        let is_plausible = announced <= LARGEST_CHUNK / size_of::<T>().max(1);
        // Where it is refused the block grows as elements arrive.
        if announced > 0
            && is_plausible
            && size_of::<T>() <= LOOPED
            && self.reserve::<AllocError>(memory, announced).is_ok()
        {
            // SAFETY: room was made for as many.
            if !unsafe { self.extend_up_to(announced, &mut values) } {
                return Ok(());
            }
        }
        // The rest, of which nothing is known: as many as there is room for, and then one that asks
        // for more.
        loop {
            let room = self.capacity() - self.len();
            // SAFETY: there is room for as many.
            if !unsafe { self.extend_up_to(room, &mut values) } {
                return Ok(());
            }
            let Some(value) = values.next() else {
                return Ok(());
            };
            self.push::<F>(memory, value)?;
        }
    }

    /// Moves all elements of another vector to the end.
    #[inline]
    pub(crate) fn append<F: Failure, K: Length>(
        &mut self,
        memory: &mut impl Grow,
        other: &mut Elements<T, K>,
    ) -> Result<(), F> {
        let count = other.len();
        self.reserve::<F>(memory, count)?;
        // SAFETY: none.
        unsafe { other.set_len(0) };
        // SAFETY: elements that the other one no longer counts; room was made for them.
        unsafe { self.append_unchecked(other.start, count) };
        Ok(())
    }

    /// Replaces a range, which is within the length, by copies of `values`.
    #[inline]
    pub(crate) fn replace<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        range: Range<usize>,
        values: &[T],
    ) -> Result<(), F>
    where
        T: Copy,
    {
        let (len, count) = (self.len(), values.len());
        self.reserve::<F>(memory, count.saturating_sub(range.len()))?;
        // SAFETY: within the length.
        let tail = unsafe { self.place(range.end) };
        // SAFETY: within the capacity, as is what follows: room was made for what is added.
        let behind = unsafe { self.place(range.start + count) };
        // SAFETY: the elements behind the range; those of the range are plain and may be
        // overwritten.
        unsafe { tail.copy_to(behind, len - range.end) };
        // SAFETY: within the length.
        let place = unsafe { self.place(range.start) };
        // SAFETY: `count` places up to the tail; `values` are borrowed, and so not the vector's.
        unsafe { copy_bytes(NonNull::from(values).cast(), place.cast(), size_of_val(values)) };
        // SAFETY: all of them are initialised.
        unsafe { self.set_len(len - range.len() + count) };
        Ok(())
    }

    /// Keeps the elements that `keep` says; the order stays.
    #[inline]
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        let len = self.len();
        // SAFETY: no element is counted while `keep` or a destructor may panic.
        unsafe { self.set_len(0) };
        let mut gap = Gap { elements: self, kept: 0, next: 0, len };
        // Nothing has to move before the first one that goes.
        while gap.next < len {
            // SAFETY: below `len`.
            let place = unsafe { gap.elements.place(gap.next) };
            // SAFETY: initialised, and lent to no one else.
            if !keep(unsafe { &mut *place.as_ptr() }) {
                gap.next += 1;
                // SAFETY: initialised, and counted as gone.
                unsafe { place.drop_in_place() };
                break;
            }
            gap.next += 1;
            gap.kept += 1;
        }
        while gap.next < len {
            // SAFETY: below `len`.
            let place = unsafe { gap.elements.place(gap.next) };
            // SAFETY: initialised, and lent to no one else.
            let keeps = keep(unsafe { &mut *place.as_ptr() });
            gap.next += 1;
            if keeps {
                // SAFETY: `kept < next`, since one went.
                let to = unsafe { gap.elements.place(gap.kept) };
                // SAFETY: an element moves to a place whose element is gone or has moved.
                unsafe { place.copy_to_nonoverlapping(to, 1) };
                gap.kept += 1;
            } else {
                // SAFETY: initialised, and counted as gone.
                unsafe { place.drop_in_place() };
            }
        }
    }

    /// Of consecutive elements that `same` says are the same (the later one, the one kept before
    /// it), keeps the first.
    #[inline]
    pub(crate) fn dedup_by(&mut self, mut same: impl FnMut(&mut T, &mut T) -> bool) {
        let len = self.len();
        if len < 2 {
            return;
        }
        // SAFETY: no element is counted while `same` or a destructor may panic.
        unsafe { self.set_len(0) };
        let mut gap = Gap { elements: self, kept: 1, next: 1, len };
        // Nothing has to move before the first one that goes.
        while gap.next < len {
            // SAFETY: below `len`.
            let place = unsafe { gap.elements.place(gap.next) };
            // SAFETY: `next` is at least 1.
            let last = unsafe { place.sub(1) };
            // SAFETY: the last one kept: initialised, and lent to no one else.
            let last = unsafe { &mut *last.as_ptr() };
            // SAFETY: initialised, and another one.
            let goes = same(unsafe { &mut *place.as_ptr() }, last);
            gap.next += 1;
            if goes {
                // SAFETY: initialised, and counted as gone.
                unsafe { place.drop_in_place() };
                break;
            }
            gap.kept += 1;
        }
        while gap.next < len {
            // SAFETY: below `len`.
            let place = unsafe { gap.elements.place(gap.next) };
            // SAFETY: `1 <= kept < next`, since one went.
            let to = unsafe { gap.elements.place(gap.kept) };
            // SAFETY: `kept` is at least 1.
            let last = unsafe { to.sub(1) };
            // SAFETY: the last one kept: initialised, and lent to no one else.
            let last = unsafe { &mut *last.as_ptr() };
            // SAFETY: initialised, and another one, since `kept < next`.
            let goes = same(unsafe { &mut *place.as_ptr() }, last);
            gap.next += 1;
            if goes {
                // SAFETY: initialised, and counted as gone.
                unsafe { place.drop_in_place() };
            } else {
                // SAFETY: `kept < next`, since one went: the element there is gone or has moved.
                unsafe { place.copy_to_nonoverlapping(to, 1) };
                gap.kept += 1;
            }
        }
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: V1, V2; lent no longer than the vector.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len()).as_ref() }
    }

    #[inline(always)]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: V1, V2, and the vector is borrowed exclusively.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len()).as_mut() }
    }

    /// The elements, and the room behind them.
    #[inline]
    pub(crate) fn split_at_spare(&mut self) -> (&mut [T], &mut [MaybeUninit<T>]) {
        let (len, capacity) = (self.len(), self.capacity());
        // SAFETY: within the capacity.
        let spare = unsafe { self.place(len) };
        let mut spare = NonNull::slice_from_raw_parts(spare.cast(), capacity - len);
        // SAFETY: the places behind the elements are the vector's (V2), and need not be
        // initialised.
        let spare = unsafe { spare.as_mut() };
        (self.as_mut_slice(), spare)
    }
}

/// Clones elements that need no `Drop`.
///
/// This is a separate function because the compiler then knows that nothing writes to `values`
/// meanwhile, and turns a loop over plain values into one copy.
///
/// # Safety
///
/// `to` is aligned and valid for writes of `values.len()` elements.
unsafe fn clone_plain<T: Clone>(values: &[T], to: NonNull<T>) {
    for (index, value) in values.iter().enumerate() {
        let value = value.clone();
        // SAFETY: `index < values.len()`, and the caller says that `to` has room for that many
        // elements.
        let place = unsafe { to.add(index) };
        // SAFETY: the caller says that the place is aligned and valid for writes.
        unsafe { place.write(value) };
    }
}

impl<T, L: Length> Drop for Written<'_, T, L> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `count` elements behind the first `from` were written.
        unsafe { self.elements.set_len(self.from + self.count) };
    }
}

/// Counts elements that were written behind the first `from`, also if a panic comes between.
struct Written<'e, T, L: Length> {
    elements: &'e mut Elements<T, L>,
    from: usize,
    count: usize,
}

/// Elements of which some go: the first `kept` stay where they are, those from `next` on are not
/// yet decided. Nothing is counted meanwhile. Dropped, it closes the gap between the two.
pub(super) struct Gap<'e, T, L: Length> {
    pub(super) elements: &'e mut Elements<T, L>,
    pub(super) kept: usize,
    pub(super) next: usize,
    pub(super) len: usize,
}

impl<T, L: Length> Drop for Gap<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        let left = self.len - self.next;
        if left > 0 && self.kept < self.next {
            // SAFETY: below `len`.
            let from = unsafe { self.elements.place(self.next) };
            // SAFETY: below `next`.
            let to = unsafe { self.elements.place(self.kept) };
            // SAFETY: `left` elements, moved to places whose elements are gone, or to each other's.
            unsafe { from.copy_to(to, left) };
        }
        // SAFETY: those that were kept and those that were not yet decided.
        unsafe { self.elements.set_len(self.kept + left) };
    }
}

/// The indices of a range, as slices understand it.
///
/// # Panics
///
/// If the range begins behind its end, or ends behind `len`.
#[inline]
#[track_caller]
pub(crate) fn indices(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    use core::ops::Bound::{Excluded, Included, Unbounded};
    let start = match range.start_bound() {
        Included(start) => *start,
        Excluded(before) => before.checked_add(1).unwrap_or_else(|| out_of_range(len)),
        Unbounded => 0,
    };
    let end = match range.end_bound() {
        Included(last) => last.checked_add(1).unwrap_or_else(|| out_of_range(len)),
        Excluded(end) => *end,
        Unbounded => len,
    };
    if start > end || end > len {
        range_out_of_range(start, end, len);
    }
    start..end
}

#[cold]
#[inline(never)]
#[track_caller]
fn out_of_range(len: usize) -> ! {
    panic!("a range goes beyond usize::MAX, and the length is {len}")
}

#[cold]
#[inline(never)]
#[track_caller]
fn range_out_of_range(start: usize, end: usize, len: usize) -> ! {
    panic!("the range {start}..{end} is out of bounds of the length {len}")
}
