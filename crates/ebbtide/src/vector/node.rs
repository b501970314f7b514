//! [`NodeVec`], the vector that holds no scope, and [`WithScope`], which adds one for a while.
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
//!
//! # Why the vector of a `WithScope` may be replaced
//!
//! A `WithScope` moves the elements to a vector with the scope, and moves that vector's elements
//! back when it is dropped. Meanwhile the `NodeVec` is empty, so forgetting the `WithScope` leaks
//! the elements. Safe code can exchange the inner vector for any other of its type. Its type
//! contains `'a`, and the exclusive borrow makes it invariant, so the memory of the other vector
//! is valid for `'a` too.

use super::{Elements, NodeVec, Vector, assert_plain, memory::NoScope};
use crate::{boxed::Box, error::AllocError, fresh::Fresh, scope::Scope};
use core::{
    convert::Infallible,
    fmt, mem,
    ops::{Deref, DerefMut},
};

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
    /// use ebbtide::collections::{CollectIn, NodeVec};
    /// let pairs: NodeVec<[u8; 2]> = [[1, 2], [3, 4]].into_iter().collect_in(&s);
    /// assert_eq!(pairs.into_flattened(), [1, 2, 3, 4]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_flattened(self) -> NodeVec<'a, T> {
        // Arrays of no elements need no `Drop`, whatever their elements do.
        const { assert_plain::<T>() };
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
        Vector { elements: Elements::new(), memory: NoScope::default() }
    }

    /// Lends the vector together with a scope, as a [`Vector`] with all methods. Ends when the
    /// result is dropped, usually at the end of the statement. So a reference to an element does not
    /// outlive the statement (error E0716). Methods that take no memory need no scope:
    /// `list.last_mut()`.
    ///
    /// Takes two copies of 16 bytes, so that [`push`](NodeVec::push) is faster for single elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::NodeVec::new();
    /// list.with(&s).extend_from_slice(&[1, 3]);
    /// list.with(&s).insert(1, 2);
    /// assert_eq!(list, [1, 2, 3]);
    ///
    /// let mut edited = list.with(&s);
    /// edited.reserve(10);
    /// edited.splice(..2, [7, 8, 9]);
    /// drop(edited);
    /// assert_eq!(list, [7, 8, 9, 3]);
    /// ```
    #[inline(always)]
    #[must_use = "does nothing unless a method of the result is called"]
    pub fn with<'n, 's>(&'n mut self, scope: &'s Scope<'a>) -> WithScope<'n, 's, 'a, T> {
        let elements = mem::replace(&mut self.elements, Elements::new());
        WithScope { node: self, vector: Vector { elements, memory: scope } }
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
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4].into_node_vec();
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

    /// Finishes the vector and returns its elements, which stay in the scope for `'a`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let list = ebbtide::collections::vec![in s; 1, 2].into_node_vec();
    /// let slice: &mut [i32] = list.into_slice();
    /// assert_eq!(slice, [1, 2]);
    /// ```
    #[doc(alias = "leak")]
    #[inline]
    #[must_use]
    pub fn into_slice(self) -> &'a mut [T] {
        self.finish().lend()
    }

    /// Like [`into_slice`](Vector::into_slice), but returns a box, which drops the elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let list = ebbtide::collections::vec![in s; 1, 2].into_node_vec();
    /// assert_eq!(*list.into_boxed_slice(), [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'a, [T]> {
        Box::of(self.finish())
    }

    #[inline]
    fn finish(self) -> Fresh<'a, [T]> {
        // SAFETY: the block of a `NodeVec<'a, T>` is valid for `'a` (I2), and the vector does not
        // give it back.
        unsafe { self.elements.into_fresh() }
    }

    /// Converts to a `Vec` that grows in `scope`. Moves nothing.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let node = ebbtide::collections::vec![in s; 1, 2].into_node_vec();
    /// let mut list = node.into_vec(&s);
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

/// A [`NodeVec`] together with a scope, returned by [`NodeVec::with`]. It derefs to a [`Vector`].
///
/// Dropping it gives the elements back to the `NodeVec`. Forgetting it leaves the `NodeVec` empty.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// use ebbtide::collections::{Memory, NodeVec, Vector};
/// fn squares<M: Memory>(list: &mut Vector<u32, M, u32>) {
///     list.extend((1..=3).map(|n| n * n));
/// }
/// let mut node = NodeVec::new();
/// squares(&mut node.with(&s));
/// assert_eq!(node, [1, 4, 9]);
/// ```
pub struct WithScope<'n, 's, 'a, T> {
    node: &'n mut NodeVec<'a, T>,
    vector: Vector<T, &'s Scope<'a>, u32>,
}

impl<'s, 'a, T> Deref for WithScope<'_, 's, 'a, T> {
    type Target = Vector<T, &'s Scope<'a>, u32>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.vector
    }
}

impl<T> DerefMut for WithScope<'_, '_, '_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.vector
    }
}

impl<T> Drop for WithScope<'_, '_, '_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.node.elements = mem::replace(&mut self.vector.elements, Elements::new());
    }
}

impl<T: fmt::Debug> fmt::Debug for WithScope<'_, '_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.vector.fmt(f)
    }
}
