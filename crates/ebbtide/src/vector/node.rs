//! [`NodeVec`], the vector that holds no scope. Its methods that may allocate take one.
//!
//! # Why any scope with the lifetime is sound
//!
//! A block of a `NodeVec<'a, T>` is valid for `'a`, and so is every block of a `Scope<'a>`. A
//! method that grows the vector requires that both lifetimes are the same, because an exclusive
//! borrow is invariant. So a vector with the parent's lifetime never gets memory of a child scope,
//! whose lifetime is shorter. A vector can be converted to a shorter lifetime and then grow in a
//! child's memory, but it cannot be converted back.
//!
//! A block grows in place only if it is the last one before the free part of the region of the
//! scope that was passed ([`memory`](super::memory)). No other value lies there, whichever scope
//! the block came from.

use super::{Elements, NodeVec, Vector, assert_plain, memory::Detached};
use crate::{boxed::Box, error::AllocError, scope::Scope, value::lend};
use core::{convert::Infallible, ops::RangeBounds, ptr::NonNull};

impl<T> Default for NodeVec<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T, const N: usize> NodeVec<'a, [T; N]> {
    /// Flattens a vector of arrays. Moves nothing.
    ///
    /// # Panics
    ///
    /// If there are more than `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// let pairs = NodeVec::from_array_in([[1, 2], [3, 4]], &s);
    /// assert_eq!(pairs.into_flattened(), [1, 2, 3, 4]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_flattened(self) -> NodeVec<'a, T> {
        Vector { elements: self.elements.into_flattened(), memory: self.memory }
    }
}

impl<'a, T> NodeVec<'a, T> {
    /// An empty vector. Allocates nothing until the first element.
    ///
    /// ```
    /// use ebbtide::collections::NodeVec;
    /// let none: NodeVec<'_, u8> = NodeVec::new();
    /// assert_eq!((none.len(), size_of_val(&none)), (0, 16));
    /// ```
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        const { assert_plain::<T>() };
        Vector { elements: Elements::new(), memory: Detached::default() }
    }

    /// An empty vector with room for `capacity` elements.
    ///
    /// # Panics
    ///
    /// If `capacity` exceeds `u32::MAX` elements or `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// assert_eq!(NodeVec::<u8>::with_capacity_in(9, &s).capacity(), 9);
    /// ```
    #[inline]
    #[must_use]
    pub fn with_capacity_in(capacity: usize, scope: &Scope<'a>) -> Self {
        const { assert_plain::<T>() };
        let mut vec = Self::new();
        vec.reserve_exact(scope, capacity);
        vec
    }

    /// Fallible version of [`with_capacity_in`](NodeVec::with_capacity_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, or `capacity` exceeds `u32::MAX` elements or
    /// `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// assert!(NodeVec::<u8>::try_with_capacity_in(usize::MAX, &s).is_err());
    /// assert_eq!(NodeVec::<u8>::try_with_capacity_in(9, &s)?.capacity(), 9);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_with_capacity_in(capacity: usize, scope: &Scope<'a>) -> Result<Self, AllocError> {
        const { assert_plain::<T>() };
        let mut vec = Self::new();
        vec.try_reserve_exact(scope, capacity)?;
        Ok(vec)
    }

    /// Creates a vector with the elements of an iterator.
    ///
    /// # Panics
    ///
    /// If the iterator panics, or yields more than `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// assert_eq!(NodeVec::from_iter_in(1..4, &s), [1, 2, 3]);
    /// ```
    #[inline]
    #[must_use]
    pub fn from_iter_in(values: impl IntoIterator<Item = T>, scope: &Scope<'a>) -> Self {
        const { assert_plain::<T>() };
        let mut vec = Self::new();
        vec.extend(scope, values);
        vec
    }

    /// Fallible version of [`from_iter_in`](NodeVec::from_iter_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the elements are dropped, and their memory is free again.
    ///
    /// # Panics
    ///
    /// If the iterator does.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// assert_eq!(NodeVec::try_from_iter_in(1..4, &s)?, [1, 2, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_iter_in(
        values: impl IntoIterator<Item = T>,
        scope: &Scope<'a>,
    ) -> Result<Self, AllocError> {
        const { assert_plain::<T>() };
        let mut vec = Self::new();
        let outcome = vec.try_extend(scope, values);
        if outcome.is_err() {
            vec.clear();
            vec.shrink_to_fit(scope);
        }
        outcome.map(|()| vec)
    }

    /// Creates a vector with the elements of an array.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// assert_eq!(NodeVec::from_array_in(["ebb", "flow"], &s).len(), 2);
    /// ```
    #[inline]
    #[must_use]
    pub fn from_array_in<const N: usize>(values: [T; N], scope: &Scope<'a>) -> Self {
        const { assert_plain::<T>() };
        let mut vec = Self::new();
        let Ok(()) = vec.elements.append_array::<Infallible, N>(&mut { scope }, values);
        vec
    }

    /// Fallible version of [`from_array_in`](NodeVec::from_array_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the elements are dropped.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// assert_eq!(NodeVec::try_from_array_in(["ebb", "flow"], &s)?, ["ebb", "flow"]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_array_in<const N: usize>(
        values: [T; N],
        scope: &Scope<'a>,
    ) -> Result<Self, AllocError> {
        const { assert_plain::<T>() };
        let mut vec = Self::new();
        vec.elements.append_array::<AllocError, N>(&mut { scope }, values)?;
        Ok(vec)
    }

    /// Creates a vector of `len` clones of `value`.
    ///
    /// # Panics
    ///
    /// If `clone` panics, or `len` exceeds `u32::MAX` elements or `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// assert_eq!(NodeVec::from_elem_in(0, 3, &s), [0, 0, 0]);
    /// ```
    #[inline]
    #[must_use]
    pub fn from_elem_in(value: T, len: usize, scope: &Scope<'a>) -> Self
    where
        T: Clone,
    {
        const { assert_plain::<T>() };
        let mut vec = Self::with_capacity_in(len, scope);
        vec.resize(scope, len, value);
        vec
    }

    /// Fallible version of [`from_elem_in`](NodeVec::from_elem_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` does.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// assert_eq!(NodeVec::try_from_elem_in('x', 3, &s)?, ['x'; 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_elem_in(value: T, len: usize, scope: &Scope<'a>) -> Result<Self, AllocError>
    where
        T: Clone,
    {
        const { assert_plain::<T>() };
        let mut vec = Self::try_with_capacity_in(len, scope)?;
        vec.try_resize(scope, len, value)?;
        Ok(vec)
    }

    /// Appends an element. Amortised, costs two instructions besides the store.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.push(&s, "ebb");
    /// assert_eq!(list, ["ebb"]);
    /// ```
    #[inline]
    pub fn push(&mut self, scope: &Scope<'a>, value: T) {
        let Ok(()) = self.elements.push::<Infallible>(&mut { scope }, value);
    }

    /// Fallible version of `push`.
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and the value is dropped.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.try_push(&s, "ebb")?;
    /// assert_eq!(list, ["ebb"]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_push(&mut self, scope: &Scope<'a>, value: T) -> Result<(), AllocError> {
        self.elements.push(&mut { scope }, value)
    }

    /// Like [`push`](NodeVec::push), but returns a reference to the element.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// *list.push_mut(&s, 1) += 1;
    /// assert_eq!(list, [2]);
    /// ```
    #[inline]
    pub fn push_mut(&mut self, scope: &Scope<'a>, value: T) -> &mut T {
        self.push(scope, value);
        let last = self.len() - 1;
        &mut self.as_mut_slice()[last]
    }

    /// Fallible version of [`push_mut`](NodeVec::push_mut).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and the value is dropped.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// *list.try_push_mut(&s, 1)? += 1;
    /// assert_eq!(list, [2]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_push_mut(&mut self, scope: &Scope<'a>, value: T) -> Result<&mut T, AllocError> {
        self.try_push(scope, value)?;
        let last = self.len() - 1;
        Ok(&mut self.as_mut_slice()[last])
    }

    /// Reserves room for an element, then writes the one that `make` returns directly to it. Saves
    /// a copy of large elements.
    ///
    /// # Panics
    ///
    /// If `make` panics, or the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut pages = ebbtide::collections::NodeVec::new();
    /// pages.push_with(&s, || [0u8; 4096]);
    /// assert_eq!(pages.len(), 1);
    /// ```
    #[inline]
    pub fn push_with(&mut self, scope: &Scope<'a>, make: impl FnOnce() -> T) {
        let Ok(()) = self.elements.push_with::<Infallible>(&mut { scope }, make);
    }

    /// Fallible version of [`push_with`](NodeVec::push_with).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` does.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut pages = ebbtide::collections::NodeVec::new();
    /// pages.try_push_with(&s, || [0u8; 4096])?;
    /// assert_eq!(pages.len(), 1);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_push_with(
        &mut self,
        scope: &Scope<'a>,
        make: impl FnOnce() -> T,
    ) -> Result<(), AllocError> {
        self.elements.push_with(&mut { scope }, make)
    }

    /// Reserves room for at least `additional` more elements. May reserve more, so that repeated
    /// calls take amortised constant time.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::<u8>::new();
    /// list.reserve(&s, 10);
    /// assert!(list.capacity() >= 10);
    /// ```
    #[inline]
    pub fn reserve(&mut self, scope: &Scope<'a>, additional: usize) {
        let Ok(()) = self.elements.reserve::<Infallible>(&mut { scope }, additional);
    }

    /// Fallible version of `reserve`.
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::<u8>::new();
    /// assert!(list.try_reserve(&s, usize::MAX).is_err());
    /// ```
    #[inline]
    pub fn try_reserve(&mut self, scope: &Scope<'a>, additional: usize) -> Result<(), AllocError> {
        self.elements.reserve(&mut { scope }, additional)
    }

    /// Reserves room for exactly `additional` more elements.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::<u8>::new();
    /// list.reserve_exact(&s, 10);
    /// assert_eq!(list.capacity(), 10);
    /// ```
    #[inline]
    pub fn reserve_exact(&mut self, scope: &Scope<'a>, additional: usize) {
        let Ok(()) = self.elements.reserve_exact::<Infallible>(&mut { scope }, additional);
    }

    /// Fallible version of [`reserve_exact`](NodeVec::reserve_exact).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::<u8>::new();
    /// list.try_reserve_exact(&s, 10)?;
    /// assert_eq!(list.capacity(), 10);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_reserve_exact(
        &mut self,
        scope: &Scope<'a>,
        additional: usize,
    ) -> Result<(), AllocError> {
        self.elements.reserve_exact(&mut { scope }, additional)
    }

    /// Reduces the capacity to the length. The memory is free again if the vector grew in `scope`
    /// last, and nothing was allocated there since.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::with_capacity_in(100, &s);
    /// list.push(&s, 1);
    /// list.shrink_to_fit(&s);
    /// assert_eq!(list.capacity(), 1);
    /// ```
    #[inline]
    pub fn shrink_to_fit(&mut self, scope: &Scope<'a>) {
        self.elements.shrink_to(&mut { scope }, 0);
    }

    /// Like [`shrink_to_fit`](NodeVec::shrink_to_fit), but keeps a capacity of at least `capacity`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::<u8>::with_capacity_in(100, &s);
    /// list.shrink_to(&s, 10);
    /// assert_eq!(list.capacity(), 10);
    /// ```
    #[inline]
    pub fn shrink_to(&mut self, scope: &Scope<'a>, capacity: usize) {
        self.elements.shrink_to(&mut { scope }, capacity);
    }

    /// Inserts an element at `index`. Moves all elements from `index` on.
    ///
    /// # Panics
    ///
    /// If `index` is greater than the length, or the vector would exceed `isize::MAX` bytes or
    /// `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::from_iter_in([1, 3], &s);
    /// list.insert(&s, 1, 2);
    /// assert_eq!(list, [1, 2, 3]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert(&mut self, scope: &Scope<'a>, index: usize, value: T) {
        self.assert_place(index);
        let Ok(()) = self.elements.insert::<Infallible>(&mut { scope }, index, value);
    }

    /// Fallible version of [`insert`](NodeVec::insert).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and the value is dropped.
    ///
    /// # Panics
    ///
    /// If `index` is greater than the length.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::from_iter_in([1, 3], &s);
    /// list.try_insert(&s, 1, 2)?;
    /// assert_eq!(list, [1, 2, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_insert(
        &mut self,
        scope: &Scope<'a>,
        index: usize,
        value: T,
    ) -> Result<(), AllocError> {
        self.assert_place(index);
        self.elements.insert(&mut { scope }, index, value)
    }

    /// Like [`insert`](NodeVec::insert), but returns a reference to the element.
    ///
    /// # Panics
    ///
    /// If `index` is greater than the length, or the vector would exceed `isize::MAX` bytes or
    /// `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::from_array_in([1, 3], &s);
    /// *list.insert_mut(&s, 1, 20) += 2;
    /// assert_eq!(list, [1, 22, 3]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert_mut(&mut self, scope: &Scope<'a>, index: usize, value: T) -> &mut T {
        self.insert(scope, index, value);
        &mut self.as_mut_slice()[index]
    }

    /// Fallible version of [`insert_mut`](NodeVec::insert_mut).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and the value is dropped.
    ///
    /// # Panics
    ///
    /// If `index` is greater than the length.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::from_array_in([1, 3], &s);
    /// *list.try_insert_mut(&s, 1, 20)? += 2;
    /// assert_eq!(list, [1, 22, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_insert_mut(
        &mut self,
        scope: &Scope<'a>,
        index: usize,
        value: T,
    ) -> Result<&mut T, AllocError> {
        self.try_insert(scope, index, value)?;
        Ok(&mut self.as_mut_slice()[index])
    }

    /// Appends clones of the elements of a slice. Many elements that are `Copy` are copied at
    /// once; for a few, [`extend_from_slice_copy`](NodeVec::extend_from_slice_copy) is faster.
    ///
    /// # Panics
    ///
    /// If `clone` panics, or the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.extend_from_slice(&s, &[1, 2]);
    /// assert_eq!(list, [1, 2]);
    /// ```
    #[inline]
    pub fn extend_from_slice(&mut self, scope: &Scope<'a>, values: &[T])
    where
        T: Clone,
    {
        let Ok(()) = self.elements.extend_clone::<Infallible>(&mut { scope }, values);
    }

    /// Fallible version of [`extend_from_slice`](NodeVec::extend_from_slice).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` does.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.try_extend_from_slice(&s, &["ebb", "flow"])?;
    /// assert_eq!(list, ["ebb", "flow"]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_extend_from_slice(
        &mut self,
        scope: &Scope<'a>,
        values: &[T],
    ) -> Result<(), AllocError>
    where
        T: Clone,
    {
        self.elements.extend_clone(&mut { scope }, values)
    }

    /// Appends a copy of a slice, up to 64 bytes of it without a call.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut bytes = ebbtide::collections::NodeVec::new();
    /// bytes.extend_from_slice_copy(&s, b"ebb");
    /// assert_eq!(bytes, b"ebb");
    /// ```
    #[inline]
    pub fn extend_from_slice_copy(&mut self, scope: &Scope<'a>, values: &[T])
    where
        T: Copy,
    {
        let Ok(()) = self.elements.extend_copy::<Infallible>(&mut { scope }, values);
    }

    /// Fallible version of [`extend_from_slice_copy`](NodeVec::extend_from_slice_copy).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut bytes = ebbtide::collections::NodeVec::new();
    /// bytes.try_extend_from_slice_copy(&s, b"ebb")?;
    /// assert_eq!(bytes, b"ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_extend_from_slice_copy(
        &mut self,
        scope: &Scope<'a>,
        values: &[T],
    ) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.elements.extend_copy(&mut { scope }, values)
    }

    /// Appends copies of several slices, one after the other. Reserves memory once.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut bytes = ebbtide::collections::NodeVec::new();
    /// bytes.extend_from_slices_copy(&s, &[b"ebb", b" and ", b"flow"]);
    /// assert_eq!(bytes, b"ebb and flow");
    /// ```
    pub fn extend_from_slices_copy(&mut self, scope: &Scope<'a>, slices: &[&[T]])
    where
        T: Copy,
    {
        let Ok(()) = self.elements.extend_copies::<Infallible>(&mut { scope }, slices);
    }

    /// Fallible version of [`extend_from_slices_copy`](NodeVec::extend_from_slices_copy).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut bytes = ebbtide::collections::NodeVec::new();
    /// bytes.try_extend_from_slices_copy(&s, &[b"ebb", b" and ", b"flow"])?;
    /// assert_eq!(bytes, b"ebb and flow");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    pub fn try_extend_from_slices_copy(
        &mut self,
        scope: &Scope<'a>,
        slices: &[&[T]],
    ) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.elements.extend_copies(&mut { scope }, slices)
    }

    /// Appends clones of a range of the vector's own elements.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds, `clone` panics, or the vector would exceed `isize::MAX` bytes
    /// or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::from_iter_in([1, 2], &s);
    /// list.extend_from_within(&s, 1..);
    /// assert_eq!(list, [1, 2, 2]);
    /// ```
    #[track_caller]
    pub fn extend_from_within(&mut self, scope: &Scope<'a>, range: impl RangeBounds<usize>)
    where
        T: Clone,
    {
        let Ok(()) = self.elements.extend_within::<Infallible>(&mut { scope }, range);
    }

    /// Fallible version of [`extend_from_within`](NodeVec::extend_from_within).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and nothing was cloned.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds, or `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::from_iter_in([1, 2], &s);
    /// list.try_extend_from_within(&s, ..)?;
    /// assert_eq!(list, [1, 2, 1, 2]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[track_caller]
    pub fn try_extend_from_within(
        &mut self,
        scope: &Scope<'a>,
        range: impl RangeBounds<usize>,
    ) -> Result<(), AllocError>
    where
        T: Clone,
    {
        self.elements.extend_within(&mut { scope }, range)
    }

    /// Appends the elements of an iterator.
    ///
    /// # Panics
    ///
    /// If the iterator panics, or the vector would exceed `isize::MAX` bytes or `u32::MAX`
    /// elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.extend(&s, (1..4).map(|n| s.alloc(n * n)));
    /// assert_eq!(*list[2], 9);
    /// ```
    #[inline]
    pub fn extend(&mut self, scope: &Scope<'a>, values: impl IntoIterator<Item = T>) {
        let Ok(()) = self.elements.extend::<Infallible, _>(&mut { scope }, values.into_iter());
    }

    /// Fallible version of `extend`.
    ///
    /// # Errors
    ///
    /// [`AllocError`]; elements added before stay, and the current one is dropped.
    ///
    /// # Panics
    ///
    /// If the iterator panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.try_extend(&s, 1..4)?;
    /// assert_eq!(list, [1, 2, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_extend(
        &mut self,
        scope: &Scope<'a>,
        values: impl IntoIterator<Item = T>,
    ) -> Result<(), AllocError> {
        self.elements.extend(&mut { scope }, values.into_iter())
    }

    /// Changes the length to `len`: drops elements at the end or appends clones of `value`.
    ///
    /// # Panics
    ///
    /// If `clone` panics, or the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.resize(&s, 2, 'x');
    /// assert_eq!(list, ['x', 'x']);
    /// ```
    #[inline]
    pub fn resize(&mut self, scope: &Scope<'a>, len: usize, value: T)
    where
        T: Clone,
    {
        let Ok(()) = self.elements.resize::<Infallible>(&mut { scope }, len, value);
    }

    /// Fallible version of [`resize`](NodeVec::resize).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` does.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// assert!(list.try_resize(&s, usize::MAX, 'x').is_err());
    /// list.try_resize(&s, 2, 'x')?;
    /// assert_eq!(list, ['x', 'x']);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_resize(&mut self, scope: &Scope<'a>, len: usize, value: T) -> Result<(), AllocError>
    where
        T: Clone,
    {
        self.elements.resize(&mut { scope }, len, value)
    }

    /// Changes the length to `len`: drops elements at the end or appends the results of `make`.
    ///
    /// # Panics
    ///
    /// If `make` panics, or the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.resize_with(&s, 2, || s.alloc_str("a string of its own"));
    /// assert_eq!(list.len(), 2);
    /// ```
    #[inline]
    pub fn resize_with(&mut self, scope: &Scope<'a>, len: usize, make: impl FnMut() -> T) {
        let Ok(()) = self.elements.resize_with::<Infallible>(&mut { scope }, len, make);
    }

    /// Fallible version of [`resize_with`](NodeVec::resize_with).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` does.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.try_resize_with(&s, 2, u32::default)?;
    /// assert_eq!(list, [0, 0]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_resize_with(
        &mut self,
        scope: &Scope<'a>,
        len: usize,
        make: impl FnMut() -> T,
    ) -> Result<(), AllocError> {
        self.elements.resize_with(&mut { scope }, len, make)
    }

    /// Moves all elements of another vector, of any kind, to the end of this one.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes or `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.append(&s, &mut ebbtide::collections::vec![in s; 1, 2]);
    /// assert_eq!(list, [1, 2]);
    /// ```
    #[inline]
    pub fn append<N, L: super::Length>(&mut self, scope: &Scope<'a>, other: &mut Vector<T, N, L>) {
        let Ok(()) = self.elements.append::<Infallible, _>(&mut { scope }, &mut other.elements);
    }

    /// Fallible version of [`append`](NodeVec::append).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; both vectors are unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.try_append(&s, &mut ebbtide::collections::vec![in s; 1, 2])?;
    /// assert_eq!(list, [1, 2]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_append<N, L: super::Length>(
        &mut self,
        scope: &Scope<'a>,
        other: &mut Vector<T, N, L>,
    ) -> Result<(), AllocError> {
        self.elements.append(&mut { scope }, &mut other.elements)
    }

    /// Splits off the elements from `at` on, as a vector of their own. Takes no memory.
    ///
    /// Divides the block, and moves nothing. The spare capacity goes to the returned vector; this
    /// one has none left.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::NodeVec;
    /// let mut list = NodeVec::from_array_in([1, 2, 3, 4], &s);
    /// assert_eq!(list.split_off(3), [4]);
    /// assert_eq!(list, [1, 2, 3]);
    /// ```
    #[inline]
    #[must_use = "the elements are lost with the vector that is returned; `truncate` drops them"]
    #[track_caller]
    pub fn split_off(&mut self, at: usize) -> Self {
        self.assert_place(at);
        Vector { elements: self.elements.split_off(at), memory: self.memory }
    }

    /// Clones the vector into `scope`.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let list = ebbtide::collections::NodeVec::from_iter_in([1, 2], &s);
    /// assert_eq!(list.clone_in(&s), list);
    /// ```
    #[must_use]
    pub fn clone_in<'b>(&self, scope: &Scope<'b>) -> NodeVec<'b, T>
    where
        T: Clone,
    {
        let mut clone = NodeVec::with_capacity_in(self.len(), scope);
        clone.extend_from_slice(scope, self);
        clone
    }

    /// Fallible version of [`clone_in`](NodeVec::clone_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` does.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let list = ebbtide::collections::NodeVec::from_iter_in([1, 2], &s);
    /// assert_eq!(list.try_clone_in(&s)?, list);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    pub fn try_clone_in<'b>(&self, scope: &Scope<'b>) -> Result<NodeVec<'b, T>, AllocError>
    where
        T: Clone,
    {
        let mut clone = NodeVec::try_with_capacity_in(self.len(), scope)?;
        clone.try_extend_from_slice(scope, self)?;
        Ok(clone)
    }

    /// Finishes the vector and returns its elements, which stay in the scope for `'a`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let list = ebbtide::collections::NodeVec::from_iter_in([1, 2], &s);
    /// let slice: &mut [i32] = list.into_slice();
    /// assert_eq!(slice, [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_slice(self) -> &'a mut [T] {
        let elements = NonNull::slice_from_raw_parts(self.elements.start(), self.len());
        // SAFETY: the elements are initialised (V1), in a block that lives for `'a` (V2), and the
        // vector is not used again.
        unsafe { lend(elements) }
    }

    /// Like [`into_slice`](Vector::into_slice), but returns a box, which drops the elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let list = ebbtide::collections::NodeVec::from_iter_in([1, 2], &s);
    /// assert_eq!(*list.into_boxed_slice(), [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'a, [T]> {
        // SAFETY: `into_slice` returns the only reference to initialised elements that live for
        // `'a`; it ends here, and the box owns them.
        unsafe { Box::own(NonNull::from(self.into_slice())) }
    }

    /// Converts to a `Vec` that grows in `scope`. Moves nothing.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::from_iter_in([1, 2], &s).into_vec(&s);
    /// list.push(3);
    /// assert_eq!(list, [1, 2, 3]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_vec<'s>(self, scope: &'s Scope<'a>) -> super::Vec<'s, 'a, T> {
        let (start, len) = (self.elements.start(), self.elements.len());
        // SAFETY: the parts of this vector, whose block lives for `'a`.
        let elements = unsafe { Elements::from_parts(start, len, self.elements.capacity()) };
        Vector { elements, memory: scope }
    }
}
