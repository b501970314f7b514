//! The block of a vector, its length and its capacity.
//!
//! All vectors and strings wrap the struct [`Elements`]. This file keeps track of which elements
//! are initialised. It gets their memory from [`memory`](super::memory).
//!
//! # Invariants
//!
//! - **V1** `len <= capacity`. The first `len` places hold initialised elements, which the vector
//!   owns.
//! - **V2** `start` is aligned for a `T`. The `capacity` places from there on are one block, which
//!   only this vector uses and which is valid as long as the vector. There is no block if
//!   `capacity` is 0 or `T` is zero-sized.
//!
//! While user code runs (a destructor, a closure, an iterator, `Clone`), `len` counts only elements
//! that nothing else will drop or return. So a panic leaks at most the elements that were being
//! moved.

use super::memory::{Grow, Room, Used};
use crate::{
    copy::{clone_plain, copy_bytes},
    error::Failure,
    fresh::Fresh,
};
use core::{
    alloc::Layout,
    mem::{ManuallyDrop, MaybeUninit, needs_drop},
    ops::{Range, RangeBounds},
    ptr::NonNull,
};

/// The type of a vector's length and capacity: `usize`, or `u32` for small vectors.
///
/// It cannot be implemented outside of this crate.
///
/// # Safety
///
/// `of` and `get` are inverse functions for values up to `MOST`.
///
/// ```
/// use ebbtide::collections::{Length, Vector};
/// /// Any kind of vector: `Vec`, `GrowVec`, `NodeVec`.
/// fn room<T, M, L: Length>(list: &Vector<T, M, L>) -> usize {
///     list.capacity() - list.len()
/// }
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// assert_eq!(room(&s.vec_with_capacity::<u8>(5)), 5);
/// ```
pub unsafe trait Length: Copy + Sealed {
    /// The largest value.
    const MOST: usize;
    /// Converts from a `usize` of at most `MOST`.
    fn of(len: usize) -> Self;
    /// Converts to a `usize`.
    fn get(self) -> usize;
}

/// Prevents other implementations of [`Length`].
pub trait Sealed {}

impl Sealed for usize {}
impl Sealed for u32 {}

// SAFETY: both are the identity.
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

// SAFETY: both convert between integers without loss for values up to `MOST`, which is the smaller
// one of `u32::MAX` and `usize::MAX`.
unsafe impl Length for u32 {
    const MOST: usize = if usize::BITS < u32::BITS { usize::MAX } else { u32::MAX as usize };

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "at most `MOST`")]
    fn of(len: usize) -> Self {
        debug_assert!(len <= Self::MOST);
        len as u32
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

/// The block of a vector, with its length and capacity. Has no destructor: the type around it
/// decides whether the elements are dropped.
pub(crate) struct Elements<T, L = usize> {
    start: NonNull<T>,
    len: L,
    capacity: L,
}

impl<T, L: Length> Elements<T, L> {
    /// The capacity of a vector without a block.
    const WITHOUT_BLOCK: usize = if size_of::<T>() == 0 { L::MOST } else { 0 };

    #[inline(always)]
    pub(crate) fn new() -> Self {
        let capacity = L::of(Self::WITHOUT_BLOCK);
        Elements { start: NonNull::dangling(), len: L::of(0), capacity }
    }

    /// # Safety
    ///
    /// V1 and V2 hold for the arguments, and `capacity` is at most `L::MOST`. If `T` is zero-sized,
    /// `capacity` is ignored and `len` is at most `L::MOST`.
    #[inline(always)]
    pub(crate) unsafe fn from_parts(start: NonNull<T>, len: usize, capacity: usize) -> Self {
        let capacity = if size_of::<T>() == 0 { L::MOST } else { capacity };
        let elements = Elements { start, len: L::of(len), capacity: L::of(capacity) };
        elements.check();
        elements
    }

    /// An empty vector whose block is `room`.
    #[inline(always)]
    pub(crate) fn in_fresh(room: Fresh<'_, [MaybeUninit<T>]>) -> Self {
        // SAFETY: F1 gives V2, as long as the room is valid. No element is initialised (V1).
        unsafe { Self::from_parts(room.start(), 0, room.len()) }
    }

    /// Gives up the elements.
    ///
    /// # Safety
    ///
    /// The block is valid for `'a`, and not given back before.
    #[inline(always)]
    pub(crate) unsafe fn into_fresh<'a>(self) -> Fresh<'a, [T]> {
        // SAFETY: F1: the elements are initialised (V1) and aligned, and only the vector used them
        // (V2). By this function's contract, they are valid for `'a`.
        unsafe { Fresh::new(NonNull::slice_from_raw_parts(self.start, self.len())) }
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
        debug_assert!(index <= self.capacity(), "V2");
        // SAFETY: in the block, or one past its end (V2).
        unsafe { self.start.add(index) }
    }

    /// Asserts V1 and the observable part of V2, in debug builds.
    #[inline(always)]
    pub(super) fn check(&self) {
        debug_assert!(self.len() <= self.capacity(), "V1");
        debug_assert!(self.start.is_aligned(), "V2");
        if cfg!(debug_assertions) && size_of::<T>() != 0 {
            let bytes = self.capacity().checked_mul(size_of::<T>());
            debug_assert!(bytes.is_some_and(|bytes| bytes <= isize::MAX as usize), "V2");
        } else {
            debug_assert!(size_of::<T>() != 0 || self.capacity() == L::MOST, "V2");
        }
    }

    /// Counts no element from here on. They are leaked, unless something else owns them.
    #[inline(always)]
    pub(super) fn uncount_all(&mut self) {
        self.len = L::of(0);
    }

    /// Moves an element out.
    ///
    /// # Safety
    ///
    /// `index < capacity`. The place there is initialised, and not read or dropped again.
    #[inline(always)]
    pub(super) unsafe fn take(&mut self, index: usize) -> T {
        // SAFETY: by this function's contract, `index < capacity`.
        let place = unsafe { self.place(index) };
        // SAFETY: aligned and valid (V2); by this function's contract, initialised, and neither
        // read nor dropped again.
        unsafe { place.read() }
    }

    /// Writes an element, without dropping what is there.
    ///
    /// # Safety
    ///
    /// `index < capacity`.
    #[inline(always)]
    unsafe fn put(&mut self, index: usize, value: T) {
        debug_assert!(index < self.capacity(), "V2");
        // SAFETY: by this function's contract, `index < capacity`.
        let place = unsafe { self.place(index) };
        // SAFETY: aligned and valid for the write of an element, as `index < capacity`, and the
        // vector's own (V2).
        unsafe { place.write(value) };
    }

    /// Copies `count` elements within the block, without dropping what is there.
    ///
    /// # Safety
    ///
    /// Both `from + count` and `to + count` are at most the capacity. Of each element, at most one
    /// copy is used again.
    #[inline(always)]
    pub(super) unsafe fn shift(&mut self, from: usize, to: usize, count: usize) {
        debug_assert!(from.max(to) <= self.capacity() - count, "V2");
        // SAFETY: by this function's contract, `from + count <= capacity`, so `from` is in the
        // block or one past its end.
        let from = unsafe { self.place(from) };
        // SAFETY: by this function's contract, `to + count <= capacity`, so `to` is in the block or
        // one past its end.
        let to = unsafe { self.place(to) };
        // SAFETY: both are aligned and valid for `count` elements (V2), which may overlap. At most
        // one copy of each is used again.
        unsafe { from.copy_to(to, count) };
    }

    /// A reference to an initialised place, counted or not.
    ///
    /// # Safety
    ///
    /// `index < capacity`. The place there is initialised and stays valid during `'e`, and no other
    /// reference to it exists meanwhile.
    #[inline(always)]
    pub(super) unsafe fn element<'e>(&self, index: usize) -> &'e mut T {
        // SAFETY: by this function's contract, `index < capacity`.
        let place = unsafe { self.place(index) };
        // SAFETY: aligned and valid (V2); by this function's contract, initialised, and no other
        // reference to it exists during `'e`.
        unsafe { &mut *place.as_ptr() }
    }

    /// The block without the type of its elements, for [`Grow`].
    #[inline(always)]
    fn used(&self) -> Used {
        let capacity = if size_of::<T>() == 0 { 0 } else { self.capacity() };
        Used { start: self.start.cast(), len: self.len(), capacity }
    }

    // Growing and shrinking.

    /// Reserves room for at least `additional` more elements.
    #[inline(always)]
    pub(crate) fn reserve<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        additional: usize,
    ) -> Result<(), F> {
        self.reserve_with(memory, additional, false)
    }

    /// Reserves room for exactly `additional` more elements.
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

    /// Passes and returns only values, no reference to `self`, so that a local vector can stay in
    /// registers.
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
        // SAFETY: the block came from this memory, or there is none (V2).
        let room = unsafe { memory.grow::<F>(self.used(), Layout::new::<T>(), needed, exact)? };
        self.move_to(room);
        debug_assert!(self.capacity() >= needed, "the contract of `Grow::grow`");
        Ok(())
    }

    /// Sets the block to the one that the memory returned.
    #[inline(always)]
    fn move_to(&mut self, room: Room) {
        self.start = room.start.cast();
        self.capacity = L::of(room.capacity.min(L::MOST));
        self.check();
    }

    /// Creates an empty vector whose block is `room`.
    #[inline(always)]
    pub(crate) fn in_room(room: Room) -> Self {
        let mut elements = Self::new();
        if size_of::<T>() != 0 && room.capacity != 0 {
            elements.move_to(room);
        }
        elements
    }

    /// Reduces the capacity to `capacity`, or to the length if that is greater, as far as the
    /// memory supports it.
    #[inline]
    pub(crate) fn shrink_to(&mut self, memory: &mut impl Grow, capacity: usize) {
        let capacity = capacity.max(self.len());
        if size_of::<T>() == 0 || capacity >= self.capacity() {
            return;
        }
        // SAFETY: the block came from this memory (V2), and `len <= capacity`.
        let left = unsafe { memory.shrink(self.used(), size_of::<T>(), capacity) };
        debug_assert!(
            (capacity..=self.capacity()).contains(&left),
            "the contract of `Grow::shrink`"
        );
        self.capacity = L::of(left);
        self.check();
    }

    // One element.

    #[inline(always)]
    pub(crate) fn push<F: Failure>(&mut self, memory: &mut impl Grow, value: T) -> Result<(), F> {
        if self.len() == self.capacity() {
            self.grow::<F>(memory, 1, false)?;
        }
        // SAFETY: there is room for one element.
        unsafe { self.push_unchecked(value) };
        Ok(())
    }

    /// Reserves room for one element, then appends the one that `make` returns.
    #[inline(always)]
    pub(crate) fn push_with<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        make: impl FnOnce() -> T,
    ) -> Result<(), F> {
        self.reserve::<F>(memory, 1)?;
        let value = make();
        // SAFETY: room was reserved for one element.
        unsafe { self.push_unchecked(value) };
        Ok(())
    }

    /// # Safety
    ///
    /// `len < capacity`.
    #[inline(always)]
    pub(crate) unsafe fn push_unchecked(&mut self, value: T) {
        let len = self.len();
        // SAFETY: by this function's contract, `len < capacity`.
        unsafe { self.put(len, value) };
        // SAFETY: the first `len + 1` elements are initialised (V1), and `len < capacity` by this
        // function's contract.
        unsafe { self.set_len(len + 1) };
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let len = self.len().checked_sub(1)?;
        // SAFETY: the length shrinks.
        unsafe { self.set_len(len) };
        // SAFETY: initialised (V1), and no longer counted.
        Some(unsafe { self.take(len) })
    }

    /// Inserts an element at `index`, which is at most `len`.
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
        // SAFETY: `index <= len < capacity`, because room was reserved for one element. Those that
        // are moved are used where they are then.
        unsafe { self.shift(index, index + 1, len - index) };
        // SAFETY: in the block; the element that was there has moved.
        unsafe { self.put(index, value) };
        // SAFETY: the first `len + 1` elements are initialised, and room was reserved for one more.
        unsafe { self.set_len(len + 1) };
        Ok(())
    }

    /// Removes the element at `index`, which is less than `len`.
    #[inline]
    pub(crate) fn remove(&mut self, index: usize) -> T {
        let len = self.len();
        debug_assert!(index < len);
        // SAFETY: initialised (V1); what follows overwrites it, or it is no longer counted.
        let value = unsafe { self.take(index) };
        // SAFETY: `index < len`, and those that are moved are used where they are then.
        unsafe { self.shift(index + 1, index, len - index - 1) };
        // SAFETY: the `len - 1` elements that are left are the first ones, initialised.
        unsafe { self.set_len(len - 1) };
        value
    }

    /// Removes the element at `index`, which is less than `len`, and moves the last one there.
    #[inline]
    pub(crate) fn swap_remove(&mut self, index: usize) -> T {
        let last = self.len() - 1;
        debug_assert!(index <= last);
        // SAFETY: initialised (V1); overwritten below, or no longer counted.
        let value = unsafe { self.take(index) };
        // SAFETY: both are places of elements, possibly the same. The last one is no longer counted.
        unsafe { self.shift(last, index, 1) };
        // SAFETY: the first `last` places hold the elements that are left, initialised.
        unsafe { self.set_len(last) };
        value
    }

    // Many elements.

    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        let Some(dropped) = self.len().checked_sub(len) else {
            return;
        };
        // Set before the destructors run, because one may panic.
        // SAFETY: the length shrinks.
        unsafe { self.set_len(len) };
        if needs_drop::<T>() {
            // SAFETY: `len` was within the length.
            let first = unsafe { self.place(len) };
            // SAFETY: `dropped` elements are aligned, initialised (V1) and the vector's own (V2).
            // They are no longer counted, so nothing else drops them.
            unsafe { NonNull::slice_from_raw_parts(first, dropped).drop_in_place() };
        }
    }

    /// Splits the block at `at`, which is at most `len`. The returned vector owns the elements from
    /// there on and the spare capacity.
    #[inline]
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        debug_assert!(at <= self.len());
        // SAFETY: `at <= len`.
        let start = unsafe { self.place(at) };
        let (count, capacity) = (self.len() - at, self.capacity() - at);
        // SAFETY: the length shrinks.
        unsafe { self.set_len(at) };
        if size_of::<T>() != 0 {
            self.capacity = L::of(at);
        }
        self.check();
        // SAFETY: `count` elements and `capacity` places, which are no longer this vector's.
        unsafe { Self::from_parts(start, count, capacity) }
    }

    /// Moves `count` elements from `from` to the end of the vector, which then owns them.
    ///
    /// # Safety
    ///
    /// `from` is aligned and valid for reads of `count` elements, none of which lies in the block's
    /// spare room, and which nobody else uses or drops again. `count <= capacity - len`.
    #[inline(always)]
    pub(crate) unsafe fn append_unchecked(&mut self, from: NonNull<T>, count: usize) {
        let len = self.len();
        debug_assert!(count <= self.capacity() - len, "there is room");
        // SAFETY: by this function's contract, `count <= capacity - len`, so `len` is in the block
        // or one past its end.
        let place = unsafe { self.place(len) };
        // SAFETY: by this function's contract, `from` is aligned and valid for reads of `count`
        // elements outside of the spare room, which has space for them (V2).
        unsafe { from.copy_to_nonoverlapping(place, count) };
        // SAFETY: the copy has initialised the elements up to this length (V1).
        unsafe { self.set_len(len + count) };
    }

    /// Appends the elements of an array. Reserves room for exactly as many.
    #[inline(always)]
    pub(crate) fn append_array<F: Failure, const N: usize>(
        &mut self,
        memory: &mut impl Grow,
        values: [T; N],
    ) -> Result<(), F> {
        self.reserve_exact::<F>(memory, N)?;
        // SAFETY: room was reserved for `N` elements.
        unsafe { self.append_array_unchecked(values) };
        Ok(())
    }

    /// Appends the elements of an array. Reserves more if necessary, as [`push`](Self::push) does.
    #[inline(always)]
    pub(crate) fn push_array<F: Failure, const N: usize>(
        &mut self,
        memory: &mut impl Grow,
        values: [T; N],
    ) -> Result<(), F> {
        self.reserve::<F>(memory, N)?;
        // SAFETY: room was reserved for `N` elements.
        unsafe { self.append_array_unchecked(values) };
        Ok(())
    }

    /// Appends the elements of an array.
    ///
    /// # Safety
    ///
    /// There is room for `N` elements.
    #[inline(always)]
    unsafe fn append_array_unchecked<const N: usize>(&mut self, values: [T; N]) {
        let values = ManuallyDrop::new(values);
        // SAFETY: there is room for `N` elements, by this function's contract. The array is outside
        // of the block and not used again, so the vector owns the copies.
        unsafe { self.append_unchecked(NonNull::from(&*values).cast(), N) };
    }

    /// Changes the length to `len`: drops elements at the end or appends the results of `make`.
    #[inline(always)]
    pub(crate) fn resize_with<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        len: usize,
        make: impl FnMut() -> T,
    ) -> Result<(), F> {
        let Some(more) = len.checked_sub(self.len()) else {
            self.truncate(len);
            return Ok(());
        };
        self.reserve::<F>(memory, more)?;
        // SAFETY: room was reserved for as many.
        unsafe { self.fill_with(more, make) };
        Ok(())
    }

    /// Appends `count` results of `make`, for which room was reserved.
    ///
    /// # Safety
    ///
    /// `count <= capacity - len`.
    #[inline(always)]
    pub(crate) unsafe fn fill_with(&mut self, count: usize, mut make: impl FnMut() -> T) {
        debug_assert!(count <= self.capacity() - self.len(), "there is room");
        let mut written = Written::begin(self);
        for _ in 0..count {
            let value = make();
            // SAFETY: fewer than `count` were written.
            unsafe { written.push(value) };
        }
    }

    /// Appends copies of several slices. Reserves room for all of them first.
    #[inline]
    pub(crate) fn extend_copies<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        slices: &[&[T]],
    ) -> Result<(), F>
    where
        T: Copy,
    {
        let total = slices.iter().try_fold(0usize, |sum, slice| sum.checked_add(slice.len()));
        let total = total.ok_or_else(F::too_large)?;
        self.reserve::<F>(memory, total)?;
        let len = self.len();
        // SAFETY: `len <= capacity`.
        let mut place = unsafe { self.place(len) };
        for slice in slices {
            // SAFETY: room was made for `total` elements, and the slices are the same as in the sum, so
            // this one fits behind those before. The room was free, so it does not overlap the slice.
            unsafe { copy_bytes(NonNull::from(*slice).cast(), place.cast(), size_of_val(*slice)) };
            // SAFETY: the end of the copy, which lies in the room.
            place = unsafe { place.add(slice.len()) };
        }
        // SAFETY: the copies have initialised the elements up to this length (V1).
        unsafe { self.set_len(len + total) };
        Ok(())
    }

    /// Appends clones of a slice. For elements that need no `Drop`, the length is set once at the
    /// end, because leaking them if a clone panics does no harm. The compiler can then turn the
    /// loop into one copy.
    ///
    /// # Safety
    ///
    /// `values.len() <= capacity - len`.
    #[inline(always)]
    pub(crate) unsafe fn clone_unchecked(&mut self, values: &[T])
    where
        T: Clone,
    {
        debug_assert!(values.len() <= self.capacity() - self.len(), "there is room");
        if needs_drop::<T>() {
            let mut written = Written::begin(self);
            for value in values {
                let value = value.clone();
                // SAFETY: fewer than `values.len()` were written.
                unsafe { written.push(value) };
            }
        } else {
            let len = self.len();
            // SAFETY: within the capacity.
            let place = unsafe { self.place(len) };
            // SAFETY: the block has room for `values.len()` more elements and is the vector's alone
            // (V2).
            unsafe { clone_plain(values, place) };
            // SAFETY: the first `len + values.len()` elements are initialised, and within the
            // capacity by this function's contract.
            unsafe { self.set_len(len + values.len()) };
        }
    }

    /// Appends clones of a slice.
    #[inline(always)]
    pub(crate) fn extend_clone<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        values: &[T],
    ) -> Result<(), F>
    where
        T: Clone,
    {
        self.reserve::<F>(memory, values.len())?;
        // SAFETY: room was reserved for as many.
        unsafe { self.clone_unchecked(values) };
        Ok(())
    }

    /// Appends clones of a range of the elements.
    #[inline]
    #[track_caller]
    pub(crate) fn extend_within<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        range: impl RangeBounds<usize>,
    ) -> Result<(), F>
    where
        T: Clone,
    {
        let range = indices(range, self.len());
        self.reserve::<F>(memory, range.len())?;
        // SAFETY: within the length.
        let from = unsafe { self.place(range.start) };
        let from = NonNull::slice_from_raw_parts(from, range.len());
        // SAFETY: these are elements (V1). While they are read, only places after the length are
        // written.
        let from = unsafe { from.as_ref() };
        // SAFETY: room was reserved for as many.
        unsafe { self.clone_unchecked(from) };
        Ok(())
    }

    /// Changes the length to `len`: drops elements at the end, or appends clones of `value`.
    #[inline(always)]
    pub(crate) fn resize<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        len: usize,
        value: T,
    ) -> Result<(), F>
    where
        T: Clone,
    {
        let Some(more) = len.checked_sub(self.len()).filter(|more| *more > 0) else {
            self.truncate(len);
            return Ok(());
        };
        self.reserve::<F>(memory, more)?;
        // SAFETY: room was reserved for one more than that.
        unsafe { self.fill_with(more - 1, || value.clone()) };
        // SAFETY: the room was reserved for `more` elements, of which `more - 1` were written.
        unsafe { self.push_unchecked(value) };
        Ok(())
    }

    /// Copies a slice to the end.
    #[inline(always)]
    pub(crate) fn extend_copy<F: Failure>(
        &mut self,
        memory: &mut impl Grow,
        values: &[T],
    ) -> Result<(), F>
    where
        T: Copy,
    {
        self.reserve::<F>(memory, values.len())?;
        let len = self.len();
        // SAFETY: `len <= capacity`.
        let place = unsafe { self.place(len) };
        // SAFETY: room was made for this many elements. It was free, so it does not overlap the
        // values.
        unsafe { copy_bytes(NonNull::from(values).cast(), place.cast(), size_of_val(values)) };
        // SAFETY: the copy has initialised the elements up to this length (V1).
        unsafe { self.set_len(len + values.len()) };
        Ok(())
    }

    /// Moves all elements to the end of another vector.
    ///
    /// # Panics
    ///
    /// If the other vector has no room for them.
    pub(crate) fn move_all_to(&mut self, other: &mut Self) {
        let count = self.len();
        assert!(count <= other.capacity() - other.len());
        self.uncount_all();
        // SAFETY: this vector no longer counts them, and there is room, in another block (V2).
        unsafe { other.append_unchecked(self.start, count) };
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
        other.uncount_all();
        // SAFETY: the other vector no longer counts these elements, and room was reserved for them.
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
        // SAFETY: the elements after the range, and as many places within the capacity: room was
        // reserved. They are `Copy`.
        unsafe { self.shift(range.end, range.start + count, len - range.end) };
        // SAFETY: within the length.
        let place = unsafe { self.place(range.start) };
        // SAFETY: there are `count` places before the tail. `values` are borrowed, so they do not
        // lie in the vector.
        unsafe { copy_bytes(NonNull::from(values).cast(), place.cast(), size_of_val(values)) };
        // SAFETY: all of them are initialised.
        unsafe { self.set_len(len - range.len() + count) };
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: V1 and V2, and the slice borrows the vector.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len()).as_ref() }
    }

    #[inline(always)]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: V1 and V2, and the slice borrows the vector exclusively.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len()).as_mut() }
    }

    /// The elements and the uninitialised places after them.
    #[inline]
    pub(crate) fn split_at_spare(&mut self) -> (&mut [T], &mut [MaybeUninit<T>]) {
        let (len, capacity) = (self.len(), self.capacity());
        // SAFETY: within the capacity.
        let spare = unsafe { self.place(len) };
        let mut spare = NonNull::slice_from_raw_parts(spare.cast(), capacity - len);
        // SAFETY: the places after the elements are the vector's own (V2), and `MaybeUninit` needs
        // no initialisation.
        let spare = unsafe { spare.as_mut() };
        (self.as_mut_slice(), spare)
    }
}

impl<T, L: Length, const N: usize> Elements<[T; N], L> {
    /// The elements of the arrays, in the same block.
    ///
    /// # Panics
    ///
    /// If there are more than `L::MOST`.
    #[inline]
    pub(crate) fn into_flattened(self) -> Elements<T, L> {
        let len = self.len().checked_mul(N).filter(|len| *len <= L::MOST);
        let len = len.unwrap_or_else(|| panic!("a vector holds {} elements at most", L::MOST));
        // Not for zero-sized arrays, which have no block.
        let has_block = size_of::<[T; N]>() != 0 && self.capacity() != 0;
        // A block does not exceed `isize::MAX` bytes, so this does not overflow.
        let capacity = if has_block { (self.capacity() * N).min(L::MOST) } else { 0 };
        let start = if has_block { self.start.cast() } else { NonNull::dangling() };
        // SAFETY: the same block has `N` elements for each array, without padding between them, and
        // the same alignment. A smaller capacity than the real one is valid. Without a block, `len`
        // is 0, or `T` is zero-sized.
        unsafe { Elements::from_parts(start, len, capacity) }
    }
}

impl<'e, T, L: Length> Written<'e, T, L> {
    #[inline(always)]
    pub(super) fn begin(elements: &'e mut Elements<T, L>) -> Self {
        let from = elements.len();
        // SAFETY: within the capacity (V1).
        let place = unsafe { elements.place(from) };
        Written { elements, place, from, count: 0 }
    }

    /// Writes the next element.
    ///
    /// # Safety
    ///
    /// The vector has room for it: `from + count < capacity`.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, value: T) {
        debug_assert!(self.from + self.count < self.elements.capacity(), "there is room");
        // SAFETY: by this function's contract, `from + count < capacity`, so this is in the block.
        let place = unsafe { self.place.add(self.count) };
        // SAFETY: aligned, the vector's own (V2) and valid for the write of an element, because
        // `from + count < capacity`; no element is there.
        unsafe { place.write(value) };
        self.count += 1;
    }

    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

impl<T, L: Length> Drop for Written<'_, T, L> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `count` elements after the first `from` were written, each within the capacity.
        unsafe { self.elements.set_len(self.from + self.count) };
    }
}

/// The state of a loop that writes elements after the first `from`. Dropping it adds the `count`
/// written ones to the length, even after a panic.
pub(super) struct Written<'e, T, L: Length> {
    elements: &'e mut Elements<T, L>,
    /// The place after the first `from` elements. In a variable of its own, so that the compiler
    /// knows that writing an element does not change it.
    place: NonNull<T>,
    from: usize,
    count: usize,
}

/// The indices of a range, as slices understand it.
///
/// # Panics
///
/// If the start of the range is greater than its end, or its end greater than `len`.
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
