//! The interface of [typed-arena](https://docs.rs/typed-arena/2.0) over
//! [ebbtide](https://docs.rs/ebbtide).
//!
//! A program that uses typed-arena needs one other line in its Cargo.toml:
//!
//! ```toml
//! typed-arena = { package = "ebbtide-typed-arena", version = "2" }
//! ```
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::mem::MaybeUninit;
use ebbtide::{TypedArena, typed_arena};

/// An arena for values of one type, which are dropped with it and may refer to each other.
///
/// ```
/// use typed_arena::Arena;
///
/// let names = Arena::new();
/// let name = names.alloc(String::from("ebb"));
/// name.push('!');
/// assert_eq!(name, "ebb!");
/// ```
pub struct Arena<T> {
    inner: TypedArena<T>,
}

impl<T> Arena<T> {
    /// An arena without values. Takes no memory.
    ///
    /// ```
    /// assert_eq!(typed_arena::Arena::<u32>::new().len(), 0);
    /// ```
    #[must_use]
    pub const fn new() -> Arena<T> {
        Arena { inner: TypedArena::new() }
    }

    /// An arena with room for `n` values.
    ///
    /// ```
    /// let arena = typed_arena::Arena::<u32>::with_capacity(10);
    /// assert_eq!(arena.uninitialized_array().len(), 10);
    /// ```
    #[must_use]
    pub fn with_capacity(n: usize) -> Arena<T> {
        Arena { inner: TypedArena::with_capacity(n) }
    }

    /// The number of values.
    ///
    /// ```
    /// let arena = typed_arena::Arena::new();
    /// arena.alloc_extend([1, 2]);
    /// assert_eq!(arena.len(), 2);
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "typed-arena has no such method")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Moves a value into the arena.
    ///
    /// ```
    /// let arena = typed_arena::Arena::new();
    /// assert_eq!(arena.alloc(1), &1);
    /// ```
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    pub fn alloc(&self, value: T) -> &mut T {
        self.inner.alloc(value)
    }

    /// Moves the values of an iterator into the arena, next to each other.
    ///
    /// ```
    /// let arena = typed_arena::Arena::new();
    /// assert_eq!(arena.alloc_extend(1..3), [1, 2]);
    /// ```
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    pub fn alloc_extend<I>(&self, iterable: I) -> &mut [T]
    where
        I: IntoIterator<Item = T>,
    {
        self.inner.alloc_extend(iterable)
    }

    /// Counts `num` places as values, and returns them, still uninitialised.
    ///
    /// # Safety
    ///
    /// The caller initialises them before the arena is used otherwise or dropped, also if it
    /// panics.
    ///
    /// ```
    /// let arena = typed_arena::Arena::new();
    /// // SAFETY: the value is written.
    /// let places = unsafe { arena.alloc_uninitialized(1) };
    /// places[0].write(7);
    /// assert_eq!(arena.into_vec(), [7]);
    /// ```
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    pub unsafe fn alloc_uninitialized(&self, num: usize) -> &mut [MaybeUninit<T>] {
        // SAFETY: the contract is the same.
        unsafe { self.inner.assume_alloc(num) }
    }

    /// Makes room for `num` values next to each other.
    ///
    /// ```
    /// let arena = typed_arena::Arena::<u32>::new();
    /// arena.reserve_extend(100);
    /// assert!(arena.uninitialized_array().len() >= 100);
    /// ```
    pub fn reserve_extend(&self, num: usize) {
        self.inner.reserve(num);
    }

    /// The room behind the last value. It belongs to the arena, which uses it for the next values.
    ///
    /// ```
    /// let arena = typed_arena::Arena::<u32>::with_capacity(2);
    /// assert_eq!(arena.uninitialized_array().len(), 2);
    /// ```
    #[must_use]
    pub fn uninitialized_array(&self) -> *mut [MaybeUninit<T>] {
        self.inner.unused()
    }

    /// Moves all values to a vector, in the order in which they were allocated.
    ///
    /// ```
    /// let arena = typed_arena::Arena::new();
    /// arena.alloc(1);
    /// assert_eq!(arena.into_vec(), [1]);
    /// ```
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.inner.into_vec()
    }

    /// The values, in the order in which they were allocated.
    ///
    /// ```
    /// let mut arena = typed_arena::Arena::new();
    /// arena.alloc_extend([1, 2]);
    /// arena.iter_mut().for_each(|n| *n *= 2);
    /// assert_eq!(arena.into_vec(), [2, 4]);
    /// ```
    #[allow(clippy::iter_without_into_iter, reason = "typed-arena has no such implementation")]
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut { inner: self.inner.iter_mut() }
    }
}

impl Arena<u8> {
    /// Copies a string.
    ///
    /// ```
    /// let arena = typed_arena::Arena::<u8>::new();
    /// assert_eq!(arena.alloc_str("ebb"), "ebb");
    /// ```
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    pub fn alloc_str(&self, s: &str) -> &mut str {
        let bytes = self.inner.alloc_extend(s.bytes());
        // SAFETY: a copy of a string.
        unsafe { core::str::from_utf8_unchecked_mut(bytes) }
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> core::fmt::Debug for Arena<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Arena").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Returned by [`Arena::iter_mut`].
pub struct IterMut<'a, T: 'a> {
    inner: typed_arena::IterMut<'a, T>,
}

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = &'a mut T;

    fn next(&mut self) -> Option<&'a mut T> {
        self.inner.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<T> core::fmt::Debug for IterMut<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IterMut").finish_non_exhaustive()
    }
}
