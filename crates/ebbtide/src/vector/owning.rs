//! The vector with a destructor.

use super::{Elements, HasArena, IntoIter, Memory, ScopeMut, Vector};
use crate::{boxed::Box, error::AllocError, scope::Scope};
use core::{
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// A vector that drops its elements, which may need `Drop`. Returned by [`Scope::owned_vec`] and
/// [`Scope::owned_grow_vec`].
///
/// It derefs to [`Vector`] and so has all its methods. Dropping it drops the elements, with what
/// they own on the heap. Its own block can be reused immediately if it is the scope's last, and
/// otherwise when the scope ends.
///
/// Because it needs `Drop`, `alloc` rejects it. Put it into a [`Box`](crate::boxed::Box), or
/// convert it with [`into_boxed_slice`](Owning::into_boxed_slice).
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let mut names = s.owned_vec();
/// names.push(String::from("Kattegat")); // freed when `names` is dropped
/// names.push(String::from("Skagerrak"));
/// assert_eq!(names, ["Kattegat", "Skagerrak"]);
/// ```
pub struct Owning<T, M: Memory> {
    vector: ManuallyDrop<Vector<T, M>>,
}

impl<'a> Scope<'a> {
    /// An empty vector that drops its elements. Allocates nothing until the first element.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut lines = s.owned_vec();
    /// lines.extend("ebb and flow".split(' ').map(String::from));
    /// assert_eq!(lines.len(), 3);
    /// ```
    #[inline]
    #[must_use]
    pub fn owned_vec<T>(&self) -> Owning<T, &Scope<'a>> {
        Owning::of(Vector { elements: super::Elements::new(), memory: self })
    }

    /// Starts to build a vector with exclusive use of the scope. It drops its elements unless it is
    /// finished.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let mut names = s.owned_grow_vec();
    /// names.extend(["ebb", "flow"].map(String::from));
    /// let names: ebbtide::boxed::Box<[String]> = names.into_boxed_slice();
    /// assert_eq!(names.concat(), "ebbflow");
    /// ```
    #[inline]
    #[must_use]
    pub fn owned_grow_vec<T>(&mut self) -> Owning<T, ScopeMut<'_, 'a>> {
        Owning::of(Vector::all_of(self))
    }
}

impl<T, M: Memory> Owning<T, M> {
    #[inline]
    fn of(vector: Vector<T, M>) -> Self {
        Owning { vector: ManuallyDrop::new(vector) }
    }

    /// The inner vector, which does not drop its elements.
    #[inline]
    fn into_vector(self) -> Vector<T, M> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, so the vector is taken once.
        unsafe { ManuallyDrop::take(&mut this.vector) }
    }
}

impl<'a, T> Owning<T, &Scope<'a>> {
    /// Finishes the vector and returns its elements, which stay in the scope, as a box.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut names = s.owned_vec();
    /// names.push(String::from("Kattegat"));
    /// let names: ebbtide::boxed::Box<[String]> = names.into_boxed_slice();
    /// assert_eq!(names[0], "Kattegat");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'a, [T]> {
        self.into_vector().into_boxed_slice()
    }

    /// Moves the elements from `at` on to a new vector in the same scope.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut names = s.owned_vec();
    /// names.extend(["ebb", "flow"].map(String::from));
    /// assert_eq!(names.split_off(1), ["flow"]);
    /// ```
    #[must_use = "the elements are dropped with the vector that is returned"]
    #[track_caller]
    pub fn split_off(&mut self, at: usize) -> Self {
        Owning::of(self.vector.split_off_in(at))
    }

    /// Fallible version of [`split_off`](Owning::split_off).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut names = s.owned_vec();
    /// names.extend(["ebb", "flow"].map(String::from));
    /// assert_eq!(names.try_split_off(1)?, ["flow"]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[track_caller]
    pub fn try_split_off(&mut self, at: usize) -> Result<Self, AllocError> {
        Ok(Owning::of(self.vector.split_off_in(at)))
    }
}

/// Vectors over the [root](crate::Arena::root) of an arena, with a single lifetime. `A` is an
/// [`Arena`](crate::Arena), or a type that [contains one](HasArena).
impl<'m, T, A: HasArena> Owning<T, &'m A> {
    /// An empty vector. Allocates nothing until the first element.
    ///
    /// ```
    /// use ebbtide::{Arena, collections::Owning};
    ///
    /// struct Lines<'m> {
    ///     lines: Owning<String, &'m Arena>,
    /// }
    ///
    /// let arena = Arena::new();
    /// let mut text = Lines { lines: Owning::over(&arena) };
    /// text.lines.push("ebb".to_owned());
    /// assert_eq!(text.lines[0], "ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn over(memory: &'m A) -> Self {
        Owning::of(Vector { elements: Elements::new(), memory })
    }

    /// Puts a vector together from its parts.
    ///
    /// # Safety
    ///
    /// The parts are those of an [`Owning`](Owning) vector over the same memory that was forgotten.
    /// A capacity of 0 has no block.
    ///
    /// ```
    /// use ebbtide::{Arena, collections::Owning};
    /// use std::{mem::ManuallyDrop, ptr::NonNull};
    ///
    /// let arena = Arena::new();
    /// let mut list = ManuallyDrop::new(Owning::over(&arena));
    /// list.extend([1, 2]);
    /// let start = NonNull::new(list.as_mut_ptr()).unwrap();
    /// // SAFETY: the parts of a vector that was forgotten.
    /// let list = unsafe { Owning::from_parts(start, list.len(), list.capacity(), &arena) };
    /// assert_eq!(list, [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub unsafe fn from_parts(
        start: NonNull<T>,
        len: usize,
        capacity: usize,
        memory: &'m A,
    ) -> Self {
        // SAFETY: by this function's contract, these are the parts of a forgotten vector over this
        // memory, so V1 and V2 hold for them.
        let elements = unsafe { Elements::from_parts(start, len, capacity) };
        Owning::of(Vector { elements, memory })
    }

    /// The arena, or what contains it.
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let list = ebbtide::collections::Owning::<u8, _>::over(&arena);
    /// assert!(std::ptr::eq(list.memory(), &arena));
    /// ```
    #[inline]
    #[must_use]
    pub fn memory(&self) -> &'m A {
        self.vector.memory
    }

    /// Finishes the vector and returns its elements, which stay in the arena, as a box.
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let mut names = ebbtide::collections::Owning::over(&arena);
    /// names.push(String::from("Kattegat"));
    /// let names: ebbtide::boxed::Box<[String]> = names.into_boxed_slice();
    /// assert_eq!(names[0], "Kattegat");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'m, [T]> {
        let mut vector = self.into_vector();
        vector.shrink_to_fit();
        // SAFETY: a block of the root lives as long as the arena is borrowed.
        Box::of(unsafe { vector.elements.into_fresh() })
    }

    /// Moves the elements from `at` on to a new vector over the same memory. Takes no memory.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length.
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let mut names = ebbtide::collections::Owning::over(&arena);
    /// names.extend(["ebb", "flow"].map(String::from));
    /// assert_eq!(names.split_off(1), ["flow"]);
    /// ```
    #[must_use = "the elements are dropped with the vector that is returned"]
    #[track_caller]
    pub fn split_off(&mut self, at: usize) -> Self {
        self.vector.assert_place(at);
        let elements = self.vector.elements.split_off(at);
        Owning::of(Vector { elements, memory: self.vector.memory })
    }
}

impl<'a, T> Owning<T, ScopeMut<'_, 'a>> {
    /// Finishes the vector and returns its elements, which stay in the scope, as a box.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let mut names = s.owned_grow_vec();
    /// names.push(String::from("Kattegat"));
    /// assert_eq!(names.into_boxed_slice()[0], "Kattegat");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'a, [T]> {
        self.into_vector().into_boxed_slice()
    }
}

impl<T, M: Memory> Drop for Owning<T, M> {
    #[inline]
    fn drop(&mut self) {
        self.vector.clear();
        self.vector.shrink_to_fit();
    }
}

impl<T, M: Memory> Deref for Owning<T, M> {
    type Target = Vector<T, M>;

    #[inline(always)]
    fn deref(&self) -> &Vector<T, M> {
        &self.vector
    }
}

impl<T, M: Memory> DerefMut for Owning<T, M> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vector<T, M> {
        &mut self.vector
    }
}

/// Clones into the same scope.
impl<T: Clone, M: Memory + Copy> Clone for Owning<T, M> {
    fn clone(&self) -> Self {
        let mut clone =
            Owning::of(Vector { elements: super::Elements::new(), memory: self.memory });
        clone.extend_from_slice(self);
        clone
    }
}

impl<T, M: Memory> Extend<T> for Owning<T, M> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.vector.extend(values);
    }
}

impl<'x, T: Copy + 'x, M: Memory> Extend<&'x T> for Owning<T, M> {
    #[inline]
    fn extend<I: IntoIterator<Item = &'x T>>(&mut self, values: I) {
        self.vector.extend(values);
    }
}

impl<T, M: Memory> IntoIterator for Owning<T, M> {
    type Item = T;
    type IntoIter = IntoIter<T, M>;

    #[inline]
    fn into_iter(self) -> IntoIter<T, M> {
        self.into_vector().into_iter()
    }
}

impl<'v, T, M: Memory> IntoIterator for &'v Owning<T, M> {
    type Item = &'v T;
    type IntoIter = core::slice::Iter<'v, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'v, T, M: Memory> IntoIterator for &'v mut Owning<T, M> {
    type Item = &'v mut T;
    type IntoIter = core::slice::IterMut<'v, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
