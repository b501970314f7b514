//! Vectors over the memory of a scope: the shell around [`elements`] and [`memory`].
//!
//! All vectors are one struct, [`Vector`], and differ in where their memory comes from. `Vec`
//! shares its scope with other values. `GrowVec` has exclusive use of a scope. `NodeVec` holds no
//! scope: the methods that may grow it take one.
//!
//! Layers, bottom up: `memory` (bytes: where a block comes from and how it grows), `elements`
//! (which elements are initialised), `gap` (the loops that remove some of them), `fill` (the loops
//! over iterators that extend a vector), `iter` (iterators that empty or drain a vector), this file
//! with its children (the public methods), and `bytes` (methods for strings).

mod bytes;
pub(crate) mod elements;
pub(crate) mod fill;
mod gap;
pub(crate) mod iter;
pub(crate) mod memory;
mod node;
pub(crate) mod owning;
mod traits;

pub use self::{
    elements::Length,
    iter::{Drain, ExtractIf, IntoIter, Splice},
    memory::{HasArena, Memory, NoScope, ScopeMut},
    node::WithScope,
};

use self::{
    elements::{Elements, indices},
    memory::Used,
};
use crate::{
    boxed::Box,
    error::{AllocError, Failure},
    fresh::Fresh,
    scope::Scope,
};
use core::{
    alloc::Layout,
    convert::Infallible,
    mem::{MaybeUninit, needs_drop},
    ops::RangeBounds,
    ptr::NonNull,
};

/// A growable array in the memory of a scope. Programs use it under the names of its kinds:
/// [`Vec`], [`GrowVec`] and [`NodeVec`].
///
/// It has the methods of `std::vec::Vec`. Each method that allocates has a `try_` version that
/// returns [`AllocError`]. A `Vector` has no destructor, so a node in an arena can contain one.
/// Elements that need `Drop` are therefore rejected at compile time; use [`Owning`] for those.
///
/// [`Owning`]: crate::collections::Owning
/// [`Vec`]: crate::collections::Vec
/// [`GrowVec`]: crate::GrowVec
/// [`NodeVec`]: crate::collections::NodeVec
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let mut s = arena.scope();
/// use ebbtide::{GrowVec, collections::{NodeVec, Vec}};
///
/// let mut one: Vec<'_, '_, u32> = s.vec(); // shares the scope
/// one.push(1);
/// let mut node: NodeVec<'_, u32> = NodeVec::new(); // is passed it
/// node.push(&s, 2);
/// let mut other: GrowVec<'_, '_, u32> = s.grow_vec(); // has it to itself
/// other.push(3);
/// assert_eq!(other.into_slice(), [3]);
/// ```
pub struct Vector<T, M, L = usize> {
    elements: Elements<T, L>,
    memory: M,
}

// SAFETY: the vector owns its elements (V1) and its block (V2).
unsafe impl<T: Send, M: Send, L: Send> Send for Vector<T, M, L> {}
// SAFETY: a shared reference gives access to the elements and to what `&M` gives access to.
unsafe impl<T: Sync, M: Sync, L: Sync> Sync for Vector<T, M, L> {}

/// A vector in a scope, like `std::vec::Vec` on the heap. Several vectors can grow in one scope, and
/// other values can be allocated in between.
///
/// `'s` is the borrow of the scope, which the vector needs to grow; `'a` is the lifetime of its
/// memory, and of the slice that [`into_slice`](Vector::into_slice) returns. The vector that
/// allocated last grows in place. Any other vector moves when it is full, and its old block stays
/// unused until the scope ends. A `Vec` takes 32 bytes, and allocates nothing before the first
/// element.
///
/// ```
/// use ebbtide::{Arena, Scope, collections::Vec};
///
/// struct Node<'s, 'a> {
///     name: &'a str,
///     children: Vec<'s, 'a, &'a Node<'s, 'a>>,
/// }
///
/// /// The result lives as long as the arena's loan, not as long as the variable `s`.
/// fn primes<'a>(s: Scope<'a>, below: u32) -> &'a mut [u32] {
///     let mut primes = s.vec();
///     primes.extend((2..below).filter(|n| (2..*n).all(|d| n % d != 0)));
///     primes.into_slice()
/// }
///
/// let mut arena = Arena::new();
/// assert_eq!(primes(arena.scope(), 12), [2, 3, 5, 7, 11]);
///
/// let s = arena.scope();
/// let leaf = s.alloc(Node { name: "leaf", children: s.vec() });
/// let root = s.alloc(Node { name: "root", children: s.vec() });
/// root.children.push(leaf);
/// assert_eq!(root.children[0].name, "leaf");
/// ```
pub type Vec<'s, 'a, T> = Vector<T, &'s Scope<'a>>;

/// A vector with exclusive use of its scope while it is built. This is the fastest kind of vector,
/// but only one can be built at a time.
///
/// Its capacity is all the free memory of the chunk: a push is a comparison and a store, and
/// nothing is copied until the chunk is full. [`into_slice`](Vector::into_slice) finishes the
/// vector and leaves its elements in the scope. A vector that is dropped instead leaves the scope
/// unchanged.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// let mut s = arena.scope();
/// let mut squares = s.grow_vec();
/// for n in 1..=5 {
///     squares.push(n * n);
/// }
/// squares.pop();
/// let squares: &mut [i32] = squares.into_slice();
/// assert_eq!(squares, &[1, 4, 9, 16]);
/// assert_eq!(*s.alloc(25), 25); // the scope is free again
/// ```
pub type GrowVec<'s, 'a, T> = Vector<T, ScopeMut<'s, 'a>>;

/// A vector of 16 bytes that holds no scope, for the nodes of trees.
///
/// Methods that may allocate take a scope: `children.push(&s, node)`. Pass the scope in which the
/// vector grew last, so that it can grow in place. In another scope with the same lifetime it grows
/// by copying. A `NodeVec` is `Send` and `Sync` if its elements are, and holds at most 2³² - 1
/// elements.
///
/// ```
/// use ebbtide::{Arena, Scope, collections::NodeVec};
///
/// struct Node<'a> {
///     name: &'a str,
///     children: NodeVec<'a, &'a Node<'a>>,
/// }
///
/// fn parse<'a>(s: &Scope<'a>, names: &[&'a str]) -> &'a Node<'a> {
///     let mut root = Node { name: "root", children: NodeVec::new() };
///     for name in names {
///         root.children.push(s, s.alloc(Node { name, children: NodeVec::new() }));
///     }
///     s.alloc(root)
/// }
///
/// let mut arena = Arena::new();
/// let s = arena.scope();
/// let tree = parse(&s, &["ebb", "flow"]);
/// assert_eq!(tree.children[1].name, "flow");
/// // Trees of such nodes can be sent to other threads.
/// let count = std::thread::scope(|threads| threads.spawn(|| tree.children.len()).join());
/// assert_eq!((count.unwrap(), size_of::<NodeVec<'_, &str>>()), (2, 16));
/// ```
pub type NodeVec<'a, T> = Vector<T, NoScope<'a>, u32>;

/// Rejects, when code is generated, elements whose destructors would not run. Every public function
/// evaluates it itself, for the reason given at [`assert_no_drop`](crate::value::assert_no_drop).
pub(crate) const fn assert_plain<T>() {
    assert!(
        !needs_drop::<T>(),
        "these elements need `Drop`, which this collection does not run: store `&'a str` from \
         `Scope::alloc_str` instead of a `String`, or use `Scope::owned_vec`, `owned_grow_vec`, \
         `owned_map` or `owned_set`, which do"
    );
}

/// Panics. Out of line, so that callers need not keep the numbers for the message in registers.
#[cold]
#[inline(never)]
#[track_caller]
fn out_of_bounds(index: usize, len: usize) -> ! {
    panic!("the index is {index}, and the length is {len}")
}

impl<'a> Scope<'a> {
    /// An empty vector in this scope. Allocates nothing until the first element.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let (mut even, mut odd) = (s.vec(), s.vec());
    /// for n in 0..10 {
    ///     if n % 2 == 0 { even.push(n) } else { odd.push(n) }
    /// }
    /// assert_eq!(even, [0, 2, 4, 6, 8]);
    /// # assert_eq!(odd, [1, 3, 5, 7, 9]);
    /// ```
    #[inline]
    #[must_use]
    pub fn vec<T>(&self) -> Vec<'_, 'a, T> {
        const { assert_plain::<T>() };
        Vector { elements: Elements::new(), memory: self }
    }

    /// An empty vector with room for `capacity` elements.
    ///
    /// # Panics
    ///
    /// If `capacity` elements exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec_with_capacity(100);
    /// list.push('a');
    /// assert_eq!((list.len(), list.capacity()), (1, 100));
    /// ```
    #[inline]
    #[must_use]
    pub fn vec_with_capacity<T>(&self, capacity: usize) -> Vec<'_, 'a, T> {
        const { assert_plain::<T>() };
        let mut vec = self.vec();
        vec.reserve_exact(capacity);
        vec
    }

    /// Fallible version of [`vec_with_capacity`](Scope::vec_with_capacity).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, or `capacity` exceeds `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.try_vec_with_capacity::<u8>(usize::MAX).is_err());
    /// ```
    #[inline]
    pub fn try_vec_with_capacity<T>(&self, capacity: usize) -> Result<Vec<'_, 'a, T>, AllocError> {
        const { assert_plain::<T>() };
        let mut vec = self.vec();
        vec.try_reserve_exact(capacity)?;
        Ok(vec)
    }

    /// Starts to build a vector at the low end, with exclusive use of the scope. Allocates
    /// nothing yet.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let mut bits = s.grow_vec();
    /// let mut n = 13;
    /// while n > 0 {
    ///     bits.push(n % 2);
    ///     n /= 2;
    /// }
    /// assert_eq!(bits.into_slice(), [1, 0, 1, 1]);
    /// ```
    #[inline]
    #[must_use]
    pub fn grow_vec<T>(&mut self) -> GrowVec<'_, 'a, T> {
        const { assert_plain::<T>() };
        Vector::all_of(self)
    }
}

impl<'s, 'a, T> GrowVec<'s, 'a, T> {
    #[inline]
    fn all_of(scope: &'s mut Scope<'a>) -> Self {
        let memory = ScopeMut::new(scope);
        if size_of::<T>() == 0 {
            return Vector { elements: Elements::new(), memory };
        }
        Vector { elements: Elements::in_room(memory.room(Layout::new::<T>())), memory }
    }

    /// Finishes the vector and returns its elements, which stay in the scope. Costs two stores, and
    /// moves nothing.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let mut list = s.grow_vec();
    /// list.extend("tide".chars().rev());
    /// let list: &mut [char] = list.into_slice();
    /// assert_eq!(list, ['e', 'd', 'i', 't']);
    /// ```
    #[doc(alias = "leak")]
    #[inline]
    #[must_use]
    pub fn into_slice(self) -> &'a mut [T] {
        self.publish().lend()
    }

    /// Moves the low end of the scope behind the elements.
    #[inline]
    fn publish(self) -> Fresh<'a, [T]> {
        let Vector { elements, mut memory } = self;
        let (start, len) = (elements.start().cast(), elements.len());
        let used = Used { start, len, capacity: elements.capacity() };
        // SAFETY: the block is the vector's own, and the vector is not used again.
        unsafe { memory.publish(used, size_of::<T>()) };
        // SAFETY: `publish` left the elements in the scope, where they live for `'a`.
        unsafe { elements.into_fresh() }
    }

    /// Like [`into_slice`](Vector::into_slice), but returns a box, which drops the elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let mut list = s.grow_vec();
    /// list.extend([1, 2]);
    /// let list: ebbtide::boxed::Box<[u8]> = list.into_boxed_slice();
    /// assert_eq!(*list, [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'a, [T]> {
        Box::of(self.publish())
    }
}

impl<'s, 'a, T, const N: usize> Vec<'s, 'a, [T; N]> {
    /// Flattens a vector of arrays. Moves nothing.
    ///
    /// # Panics
    ///
    /// If there are more than `usize::MAX` elements, which are then zero-sized.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(ebbtide::collections::vec![in s; [1, 2], [3, 4]].into_flattened(), [1, 2, 3, 4]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_flattened(self) -> Vec<'s, 'a, T> {
        // Arrays of no elements need no `Drop`, whatever their elements do.
        const { assert_plain::<T>() };
        Vector { elements: self.elements.into_flattened(), memory: self.memory }
    }
}

impl<'s, 'a, T> Vec<'s, 'a, T> {
    /// An empty vector in `scope`; the same as [`scope.vec()`](Scope::vec).
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Vec;
    /// assert!(Vec::<u8>::new_in(&s).is_empty());
    /// ```
    #[inline]
    #[must_use]
    pub fn new_in(scope: &'s Scope<'a>) -> Self {
        const { assert_plain::<T>() };
        scope.vec()
    }

    /// An empty vector with room for `capacity` elements; see [`Scope::vec_with_capacity`].
    ///
    /// # Panics
    ///
    /// If `capacity` elements exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Vec;
    /// assert_eq!(Vec::<u8>::with_capacity_in(9, &s).capacity(), 9);
    /// ```
    #[inline]
    #[must_use]
    pub fn with_capacity_in(capacity: usize, scope: &'s Scope<'a>) -> Self {
        const { assert_plain::<T>() };
        scope.vec_with_capacity(capacity)
    }

    /// Fallible version of [`with_capacity_in`](Vector::with_capacity_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, or `capacity` exceeds `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Vec;
    /// assert_eq!(Vec::<u8>::try_with_capacity_in(9, &s)?.capacity(), 9);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_with_capacity_in(capacity: usize, scope: &'s Scope<'a>) -> Result<Self, AllocError> {
        const { assert_plain::<T>() };
        scope.try_vec_with_capacity(capacity)
    }

    /// Creates a vector with the elements of an iterator.
    ///
    /// # Panics
    ///
    /// If the iterator panics, or yields more than `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Vec;
    /// assert_eq!(Vec::from_iter_in(1..4, &s), [1, 2, 3]);
    /// ```
    #[inline]
    #[must_use]
    pub fn from_iter_in(values: impl IntoIterator<Item = T>, scope: &'s Scope<'a>) -> Self {
        const { assert_plain::<T>() };
        let mut vec = scope.vec();
        vec.extend(values);
        vec
    }

    /// Fallible version of [`from_iter_in`](Vector::from_iter_in).
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
    /// use ebbtide::collections::Vec;
    /// assert_eq!(Vec::try_from_iter_in(1..4, &s)?, [1, 2, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_iter_in(
        values: impl IntoIterator<Item = T>,
        scope: &'s Scope<'a>,
    ) -> Result<Self, AllocError> {
        const { assert_plain::<T>() };
        let mut vec = scope.vec();
        let outcome = vec.try_extend(values);
        if outcome.is_err() {
            vec.clear();
            vec.shrink_to_fit();
        }
        outcome.map(|()| vec)
    }

    /// Creates a vector with the elements of an array.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Vec;
    /// assert_eq!(Vec::from_array_in(["ebb", "flow"], &s).len(), 2);
    /// ```
    #[inline]
    #[must_use]
    pub fn from_array_in<const N: usize>(values: [T; N], scope: &'s Scope<'a>) -> Self {
        const { assert_plain::<T>() };
        let mut vec = scope.vec();
        let Ok(()) = vec.elements.append_array::<Infallible, N>(&mut vec.memory, values);
        vec
    }

    /// Fallible version of [`from_array_in`](Vector::from_array_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the elements are dropped.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Vec;
    /// assert_eq!(Vec::try_from_array_in(["ebb", "flow"], &s)?, ["ebb", "flow"]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_array_in<const N: usize>(
        values: [T; N],
        scope: &'s Scope<'a>,
    ) -> Result<Self, AllocError> {
        const { assert_plain::<T>() };
        let mut vec = scope.vec();
        vec.elements.append_array::<AllocError, N>(&mut vec.memory, values)?;
        Ok(vec)
    }

    /// Creates a vector of `len` clones of `value`, like [`vec!`](crate::collections::vec).
    ///
    /// # Panics
    ///
    /// If `clone` panics, or `len` elements exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Vec;
    /// assert_eq!(Vec::from_elem_in(0, 3, &s), [0, 0, 0]);
    /// ```
    #[inline]
    #[must_use]
    pub fn from_elem_in(value: T, len: usize, scope: &'s Scope<'a>) -> Self
    where
        T: Clone,
    {
        const { assert_plain::<T>() };
        let mut vec = scope.vec_with_capacity(len);
        vec.resize(len, value);
        vec
    }

    /// Fallible version of [`from_elem_in`](Vector::from_elem_in).
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
    /// use ebbtide::collections::Vec;
    /// assert_eq!(Vec::try_from_elem_in('x', 3, &s)?, ['x'; 3]);
    /// assert!(Vec::try_from_elem_in('x', usize::MAX, &s).is_err());
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_elem_in(value: T, len: usize, scope: &'s Scope<'a>) -> Result<Self, AllocError>
    where
        T: Clone,
    {
        const { assert_plain::<T>() };
        let mut vec = scope.try_vec_with_capacity(len)?;
        vec.try_resize(len, value)?;
        Ok(vec)
    }

    /// Creates a vector from the parts that [`into_raw_parts`](Vector::into_raw_parts) returned.
    ///
    /// # Safety
    ///
    /// `start`, `len` and `capacity` are the parts of a vector in the scope `scope`, and that
    /// vector is not used again.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Vec;
    /// let (start, len, capacity) = Vec::from_array_in([1, 2], &s).into_raw_parts();
    /// // SAFETY: the parts of a vector in `s`, which is not used again.
    /// let list = unsafe { Vec::from_raw_parts_in(start, len, capacity, &s) };
    /// assert_eq!(list, [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub unsafe fn from_raw_parts_in(
        start: NonNull<T>,
        len: usize,
        capacity: usize,
        scope: &'s Scope<'a>,
    ) -> Self {
        const { assert_plain::<T>() };
        // SAFETY: by this function's contract, these are the parts of a vector in `scope` that is
        // not used again, so V1 and V2 hold for them.
        Vector { elements: unsafe { Elements::from_parts(start, len, capacity) }, memory: scope }
    }

    /// Returns the address of the elements, the length and the capacity. The elements stay in the
    /// scope.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let (_, len, capacity) = s.vec_with_capacity::<u8>(7).into_raw_parts();
    /// assert_eq!((len, capacity), (0, 7));
    /// ```
    #[inline]
    #[must_use]
    pub fn into_raw_parts(self) -> (NonNull<T>, usize, usize) {
        (self.elements.start(), self.elements.len(), self.elements.capacity())
    }

    /// The scope of the vector.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec();
    /// list.push(list.scope().alloc_str("in the same scope"));
    /// assert_eq!(list.len(), 1);
    /// ```
    #[inline]
    pub fn scope(&self) -> &'s Scope<'a> {
        self.memory
    }

    /// Finishes the vector and returns its elements, which stay in the scope for `'a`. The spare
    /// capacity is free again if the vector allocated last.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// fn digits<'a>(s: &ebbtide::Scope<'a>, mut n: u32) -> &'a [u32] {
    ///     let mut digits = s.vec();
    ///     while n > 0 {
    ///         digits.push(n % 10);
    ///         n /= 10;
    ///     }
    ///     digits.reverse();
    ///     digits.into_slice()
    /// }
    /// # let s = arena.scope();
    /// assert_eq!(digits(&s, 1905), [1, 9, 0, 5]);
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
    /// use ebbtide::{boxed::Box, collections::vec};
    /// let list: Box<[u8]> = vec![in s; 1, 2].into_boxed_slice();
    /// assert_eq!(*list, [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'a, [T]> {
        Box::of(self.finish())
    }

    #[inline]
    fn finish(mut self) -> Fresh<'a, [T]> {
        self.shrink_to_fit();
        // SAFETY: a block of the scope is valid for `'a` (I2), and the vector does not give it
        // back.
        unsafe { self.elements.into_fresh() }
    }

    /// Splits off the elements from `at` on, as a vector of their own in the same scope.
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
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
    /// assert_eq!(list.split_off(3), [4]);
    /// assert_eq!(list, [1, 2, 3]);
    /// ```
    #[inline]
    #[must_use = "the elements are lost with the vector that is returned; `truncate` drops them"]
    #[track_caller]
    pub fn split_off(&mut self, at: usize) -> Self {
        const { assert_plain::<T>() };
        self.split_off_in(at)
    }

    /// The same as [`split_off`](Vector::split_off), which takes no memory.
    ///
    /// # Errors
    ///
    /// None.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
    /// assert_eq!(list.try_split_off(1)?, [2, 3, 4]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_split_off(&mut self, at: usize) -> Result<Self, AllocError> {
        const { assert_plain::<T>() };
        Ok(self.split_off_in(at))
    }

    #[inline]
    #[track_caller]
    fn split_off_in(&mut self, at: usize) -> Self {
        self.assert_place(at);
        Vector { elements: self.elements.split_off(at), memory: self.memory }
    }

    /// Converts to a `NodeVec` with the same elements. Moves nothing.
    ///
    /// # Panics
    ///
    /// If there are more than `u32::MAX` elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let list: ebbtide::collections::NodeVec<u8> = ebbtide::collections::vec![in s; 1, 2].into_node_vec();
    /// assert_eq!(list, [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_node_vec(self) -> NodeVec<'a, T> {
        let (start, len, capacity) = self.into_raw_parts();
        assert!(len <= u32::MOST, "a `NodeVec` holds {} elements at most", u32::MOST);
        // SAFETY: the parts of this vector, whose block lives for `'a`. A smaller capacity than
        // the real one is valid.
        let elements = unsafe { Elements::from_parts(start, len, capacity.min(u32::MOST)) };
        Vector { elements, memory: NoScope::default() }
    }
}

/// Methods that allocate nothing.
impl<T, M, L: Length> Vector<T, M, L> {
    /// The number of elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(ebbtide::collections::vec![in s; 'a', 'b'].len(), 2);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether the vector is empty.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.vec::<u8>().is_empty());
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements that fit without allocating. For a `GrowVec`, as many as the chunk
    /// has room for.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.vec_with_capacity::<u8>(100).capacity(), 100);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.elements.capacity()
    }

    /// The elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(ebbtide::collections::vec![in s; 1, 2].as_slice(), &[1, 2]);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self.elements.as_slice()
    }

    /// The elements, mutably.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 2, 1];
    /// list.as_mut_slice().sort();
    /// assert_eq!(list, [1, 2]);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.elements.as_mut_slice()
    }

    /// The address of the first element. Dangling if the capacity is 0.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.vec::<u64>().as_ptr().is_aligned());
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.elements.start().as_ptr()
    }

    /// The address of the first element, for writing. Dangling if the capacity is 0.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2];
    /// // SAFETY: the vector is not empty.
    /// unsafe { list.as_mut_ptr().write(3) };
    /// assert_eq!(list, [3, 2]);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.elements.start().as_ptr()
    }

    /// The uninitialised places after the elements, up to the capacity.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec_with_capacity(2);
    /// list.spare_capacity_mut()[0].write(7);
    /// // SAFETY: the capacity is 2, and the first element was just written.
    /// unsafe { list.set_len(1) };
    /// assert_eq!(list, [7]);
    /// ```
    #[inline]
    #[must_use]
    pub fn spare_capacity_mut(&mut self) -> &mut [MaybeUninit<T>] {
        self.elements.split_at_spare().1
    }

    /// Sets the length.
    ///
    /// # Safety
    ///
    /// `len` is at most the capacity, and the first `len` elements are initialised.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
    /// // SAFETY: the vector has at least one element.
    /// unsafe { list.set_len(1) };
    /// assert_eq!(list, [1]);
    /// ```
    #[inline(always)]
    pub unsafe fn set_len(&mut self, len: usize) {
        // SAFETY: by this function's contract, `len <= capacity` and the first `len` elements are
        // initialised (V1).
        unsafe { self.elements.set_len(len) };
    }

    /// Removes the last element and returns it; `None` if the vector is empty.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2];
    /// assert_eq!((list.pop(), list.pop(), list.pop()), (Some(2), Some(1), None));
    /// ```
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.elements.pop()
    }

    /// Removes the last element and returns it, if `predicate` returns true for it.
    ///
    /// # Panics
    ///
    /// If `predicate` panics. The vector is then unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2];
    /// assert_eq!(list.pop_if(|last| *last == 2), Some(2));
    /// assert_eq!(list.pop_if(|last| *last == 2), None);
    /// ```
    #[inline]
    pub fn pop_if(&mut self, predicate: impl FnOnce(&mut T) -> bool) -> Option<T> {
        let last = self.last_mut()?;
        if predicate(last) { self.pop() } else { None }
    }

    /// Drops all but the first `len` elements. No-op if there are no more.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
    /// list.truncate(2);
    /// assert_eq!(list, [1, 2]);
    /// ```
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.elements.truncate(len);
    }

    /// Drops all elements and keeps the capacity.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
    /// list.clear();
    /// assert_eq!((list.len(), list.capacity()), (0, 3));
    /// ```
    #[inline]
    pub fn clear(&mut self) {
        self.elements.truncate(0);
    }

    /// Removes the element at `index` and returns it. Moves all elements after it.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
    /// assert_eq!(list.remove(0), 1);
    /// assert_eq!(list, [2, 3]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn remove(&mut self, index: usize) -> T {
        self.assert_element(index);
        self.elements.remove(index)
    }

    /// Removes the element at `index` and returns it. Moves only the last element, to its place.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
    /// assert_eq!(list.swap_remove(0), 1);
    /// assert_eq!(list, [3, 2]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn swap_remove(&mut self, index: usize) -> T {
        self.assert_element(index);
        self.elements.swap_remove(index)
    }

    /// Asserts that `index` is at most the length.
    #[inline(always)]
    #[track_caller]
    fn assert_place(&self, index: usize) {
        let len = self.len();
        if index > len {
            out_of_bounds(index, len);
        }
    }

    #[inline(always)]
    #[track_caller]
    fn assert_element(&self, index: usize) {
        let len = self.len();
        if index >= len {
            out_of_bounds(index, len);
        }
    }

    /// Keeps the elements for which `keep` returns true, in their order.
    ///
    /// # Panics
    ///
    /// If `keep` panics. Elements that were not removed before the panic stay.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
    /// list.retain(|n| n % 2 == 0);
    /// assert_eq!(list, [2, 4]);
    /// ```
    #[inline]
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.elements.retain(|value| keep(value));
    }

    /// Like [`retain`](Vector::retain), but `keep` may change the elements.
    ///
    /// # Panics
    ///
    /// If `keep` panics. Elements that were not removed before the panic stay.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
    /// list.retain_mut(|n| {
    ///     *n *= 10;
    ///     *n > 20
    /// });
    /// assert_eq!(list, [30, 40]);
    /// ```
    #[inline]
    pub fn retain_mut(&mut self, keep: impl FnMut(&mut T) -> bool) {
        self.elements.retain(keep);
    }

    /// Removes all but the first of consecutive equal elements.
    ///
    /// # Panics
    ///
    /// If the comparison panics. Elements that were not removed before the panic stay.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 1, 2, 1];
    /// list.dedup();
    /// assert_eq!(list, [1, 2, 1]);
    /// ```
    #[inline]
    pub fn dedup(&mut self)
    where
        T: PartialEq,
    {
        self.elements.dedup_by(|one, other| one == other);
    }

    /// Removes all but the first of consecutive elements with equal keys.
    ///
    /// # Panics
    ///
    /// If `key` or the comparison panics. Elements that were not removed before the panic stay.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 10, 11, 25, 30];
    /// list.dedup_by_key(|n| *n / 10);
    /// assert_eq!(list, [10, 25, 30]);
    /// ```
    #[inline]
    pub fn dedup_by_key<K: PartialEq>(&mut self, mut key: impl FnMut(&mut T) -> K) {
        self.elements.dedup_by(|one, other| key(one) == key(other));
    }

    /// Removes each element for which `same` returns true. Its arguments are the element and the
    /// last one before it that was kept.
    ///
    /// # Panics
    ///
    /// If `same` panics. Elements that were not removed before the panic stay.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; "a", "A", "b"];
    /// list.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
    /// assert_eq!(list, ["a", "b"]);
    /// ```
    #[inline]
    pub fn dedup_by(&mut self, same: impl FnMut(&mut T, &mut T) -> bool) {
        self.elements.dedup_by(same);
    }

    /// Removes a range of elements and returns them as an iterator. Dropping the iterator drops
    /// those that are left. Forgetting it leaks all elements from the start of the range on.
    ///
    /// # Panics
    ///
    /// If the start of the range is greater than its end, or its end greater than the length.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
    /// assert_eq!(list.drain(1..3).sum::<i32>(), 5);
    /// assert_eq!(list, [1, 4]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> Drain<'_, T, L> {
        let range = indices(range, self.len());
        Drain::of(&mut self.elements, range)
    }

    /// Returns an iterator that removes the elements of a range for which `takes` returns true.
    /// Elements that the iterator does not reach stay in the vector.
    ///
    /// # Panics
    ///
    /// If the start of the range is greater than its end, or its end greater than the length. The
    /// iterator panics if `takes` does. Elements that were not removed before the panic stay.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
    /// assert_eq!(list.extract_if(.., |n| *n % 2 == 0).sum::<i32>(), 6);
    /// assert_eq!(list, [1, 3]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn extract_if<P: FnMut(&mut T) -> bool>(
        &mut self,
        range: impl RangeBounds<usize>,
        takes: P,
    ) -> ExtractIf<'_, T, P, L> {
        let range = indices(range, self.len());
        ExtractIf::of(&mut self.elements, range, takes)
    }
}

/// Methods that may allocate.
///
/// If there is no memory, the methods without `try_` call `handle_alloc_error`.
impl<T, M: Memory, L: Length> Vector<T, M, L> {
    #[inline(always)]
    pub(crate) fn push_in<F: Failure>(&mut self, value: T) -> Result<(), F> {
        self.elements.push(&mut self.memory, value)
    }

    /// Appends an element. Costs two instructions besides the store, unless the vector has to grow.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec();
    /// list.push("ebb");
    /// assert_eq!(list, ["ebb"]);
    /// ```
    #[inline]
    pub fn push(&mut self, value: T) {
        let Ok(()) = self.push_in::<Infallible>(value);
    }

    /// Like [`push`](Vector::push), but returns a reference to the element.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec();
    /// *list.push_mut(1) += 1;
    /// assert_eq!(list, [2]);
    /// ```
    #[inline]
    pub fn push_mut(&mut self, value: T) -> &mut T {
        self.push(value);
        let last = self.len() - 1;
        &mut self.as_mut_slice()[last]
    }

    /// Reserves room for an element, and then writes the result of `make` directly to it. This
    /// saves a copy of large elements.
    ///
    /// # Panics
    ///
    /// If `make` panics, or the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut pages = s.vec();
    /// pages.push_with(|| [0u8; 4096]);
    /// assert_eq!(pages.len(), 1);
    /// ```
    #[inline]
    pub fn push_with(&mut self, make: impl FnOnce() -> T) {
        let Ok(()) = self.elements.push_with::<Infallible>(&mut self.memory, make);
    }

    /// Fallible version of [`push_with`](Vector::push_with).
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
    /// let mut pages = s.vec();
    /// pages.try_push_with(|| [0u8; 4096])?;
    /// assert_eq!(pages.len(), 1);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_push_with(&mut self, make: impl FnOnce() -> T) -> Result<(), AllocError> {
        self.elements.push_with(&mut self.memory, make)
    }

    /// Fallible version of [`push_mut`](Vector::push_mut).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and the value is dropped.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec();
    /// *list.try_push_mut(1)? += 1;
    /// assert_eq!(list, [2]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_push_mut(&mut self, value: T) -> Result<&mut T, AllocError> {
        self.try_push(value)?;
        let last = self.len() - 1;
        Ok(&mut self.as_mut_slice()[last])
    }

    /// Fallible version of [`push`](Vector::push).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and the value is dropped.
    ///
    /// ```
    /// let mut stack = ebbtide::StackArena::<17>::new(); // a byte stays free behind a vector
    /// let s = stack.scope();
    /// let mut list = s.vec_with_capacity(2);
    /// assert!(list.try_push(1u64).is_ok() && list.try_push(2).is_ok());
    /// assert!(list.try_push(3).is_err());
    /// ```
    #[inline]
    pub fn try_push(&mut self, value: T) -> Result<(), AllocError> {
        self.elements.push(&mut self.memory, value)
    }

    /// Reserves room for at least `additional` more elements. May reserve more, so that repeated
    /// calls take amortised constant time.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1];
    /// list.reserve(10);
    /// assert!(list.capacity() >= 11);
    /// ```
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        let Ok(()) = self.elements.reserve::<Infallible>(&mut self.memory, additional);
    }

    /// Fallible version of [`reserve`](Vector::reserve).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.vec::<u8>().try_reserve(usize::MAX).is_err());
    /// ```
    #[inline]
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), AllocError> {
        self.elements.reserve(&mut self.memory, additional)
    }

    /// Reserves room for exactly `additional` more elements.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1];
    /// list.reserve_exact(10);
    /// assert_eq!(list.capacity(), 11);
    /// ```
    #[inline]
    pub fn reserve_exact(&mut self, additional: usize) {
        let Ok(()) = self.elements.reserve_exact::<Infallible>(&mut self.memory, additional);
    }

    /// Fallible version of [`reserve_exact`](Vector::reserve_exact).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.vec::<u8>().try_reserve_exact(usize::MAX).is_err());
    /// ```
    #[inline]
    pub fn try_reserve_exact(&mut self, additional: usize) -> Result<(), AllocError> {
        self.elements.reserve_exact(&mut self.memory, additional)
    }

    /// Reduces the capacity to the length. The memory is free again if the vector allocated last. A
    /// `GrowVec` keeps its capacity, because the rest is free when the vector is finished.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec_with_capacity(100);
    /// list.push(1);
    /// list.shrink_to_fit();
    /// assert_eq!(list.capacity(), 1);
    /// ```
    #[inline]
    pub fn shrink_to_fit(&mut self) {
        self.elements.shrink_to(&mut self.memory, 0);
    }

    /// Like [`shrink_to_fit`](Vector::shrink_to_fit), but keeps a capacity of at least `capacity`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec_with_capacity::<u8>(100);
    /// list.shrink_to(10);
    /// assert_eq!(list.capacity(), 10);
    /// ```
    #[inline]
    pub fn shrink_to(&mut self, capacity: usize) {
        self.elements.shrink_to(&mut self.memory, capacity);
    }

    /// Inserts an element at `index`. Moves all elements from `index` on.
    ///
    /// # Panics
    ///
    /// If `index` is greater than the length, or the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 3];
    /// list.insert(1, 2);
    /// assert_eq!(list, [1, 2, 3]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert(&mut self, index: usize, value: T) {
        self.assert_place(index);
        let Ok(()) = self.elements.insert::<Infallible>(&mut self.memory, index, value);
    }

    /// Fallible version of [`insert`](Vector::insert).
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
    /// let mut list = ebbtide::collections::vec![in s; 1, 3];
    /// list.try_insert(1, 2)?;
    /// assert_eq!(list, [1, 2, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_insert(&mut self, index: usize, value: T) -> Result<(), AllocError> {
        self.assert_place(index);
        self.elements.insert(&mut self.memory, index, value)
    }

    /// Like [`insert`](Vector::insert), but returns a reference to the element.
    ///
    /// # Panics
    ///
    /// If `index` is greater than the length, or the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 3];
    /// *list.insert_mut(1, 20) += 2;
    /// assert_eq!(list, [1, 22, 3]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert_mut(&mut self, index: usize, value: T) -> &mut T {
        self.insert(index, value);
        &mut self.as_mut_slice()[index]
    }

    /// Fallible version of [`insert_mut`](Vector::insert_mut).
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
    /// let mut list = ebbtide::collections::vec![in s; 1, 3];
    /// *list.try_insert_mut(1, 20)? += 2;
    /// assert_eq!(list, [1, 22, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_insert_mut(&mut self, index: usize, value: T) -> Result<&mut T, AllocError> {
        self.try_insert(index, value)?;
        Ok(&mut self.as_mut_slice()[index])
    }

    /// Appends clones of the elements of a slice. If the elements are `Copy` and there are many,
    /// they are copied by one `memcpy`. For a few,
    /// [`extend_from_slice_copy`](Vector::extend_from_slice_copy) is faster.
    ///
    /// # Panics
    ///
    /// If `clone` panics, or the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1];
    /// list.extend_from_slice(&[2, 3]);
    /// assert_eq!(list, [1, 2, 3]);
    /// ```
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[T])
    where
        T: Clone,
    {
        let Ok(()) = self.elements.extend_clone::<Infallible>(&mut self.memory, values);
    }

    /// Fallible version of [`extend_from_slice`](Vector::extend_from_slice).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec();
    /// list.try_extend_from_slice(&["ebb", "flow"])?;
    /// assert_eq!(list, ["ebb", "flow"]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_extend_from_slice(&mut self, values: &[T]) -> Result<(), AllocError>
    where
        T: Clone,
    {
        self.elements.extend_clone(&mut self.memory, values)
    }

    /// Appends a copy of a slice. Up to 64 bytes are copied without a call.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut bytes = s.vec();
    /// bytes.extend_from_slice_copy(b"ebb");
    /// assert_eq!(bytes, b"ebb");
    /// ```
    #[inline]
    pub fn extend_from_slice_copy(&mut self, values: &[T])
    where
        T: Copy,
    {
        let Ok(()) = self.extend_from_slice_copy_in::<Infallible>(values);
    }

    /// Fallible version of [`extend_from_slice_copy`](Vector::extend_from_slice_copy).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut bytes = s.vec();
    /// bytes.try_extend_from_slice_copy(b"ebb")?;
    /// assert_eq!(bytes, b"ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_extend_from_slice_copy(&mut self, values: &[T]) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.extend_from_slice_copy_in(values)
    }

    #[inline(always)]
    pub(crate) fn extend_from_slice_copy_in<F: Failure>(&mut self, values: &[T]) -> Result<(), F>
    where
        T: Copy,
    {
        self.elements.extend_copy(&mut self.memory, values)
    }

    /// Appends copies of several slices, one after the other. Reserves memory once.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut bytes = s.vec();
    /// bytes.extend_from_slices_copy(&[b"ebb", b" and ", b"flow"]);
    /// assert_eq!(bytes, b"ebb and flow");
    /// ```
    pub fn extend_from_slices_copy(&mut self, slices: &[&[T]])
    where
        T: Copy,
    {
        let Ok(()) = self.elements.extend_copies::<Infallible>(&mut self.memory, slices);
    }

    /// Fallible version of [`extend_from_slices_copy`](Vector::extend_from_slices_copy).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut bytes = s.vec();
    /// bytes.try_extend_from_slices_copy(&[b"ebb", b" and ", b"flow"])?;
    /// assert_eq!(bytes, b"ebb and flow");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    pub fn try_extend_from_slices_copy(&mut self, slices: &[&[T]]) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.elements.extend_copies(&mut self.memory, slices)
    }

    /// Appends clones of a range of the vector's own elements.
    ///
    /// # Panics
    ///
    /// If the start of the range is greater than its end, or its end greater than the length, if
    /// `clone` panics, or if the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
    /// list.extend_from_within(1..);
    /// assert_eq!(list, [1, 2, 3, 2, 3]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn extend_from_within(&mut self, range: impl RangeBounds<usize>)
    where
        T: Clone,
    {
        let Ok(()) = self.elements.extend_within::<Infallible>(&mut self.memory, range);
    }

    /// Fallible version of [`extend_from_within`](Vector::extend_from_within).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and nothing was cloned.
    ///
    /// # Panics
    ///
    /// If the start of the range is greater than its end, or its end greater than the length, or if
    /// `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
    /// list.try_extend_from_within(..1)?;
    /// assert_eq!(list, [1, 2, 3, 1]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_extend_from_within(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<(), AllocError>
    where
        T: Clone,
    {
        self.elements.extend_within(&mut self.memory, range)
    }

    /// Changes the length to `len`: drops elements at the end or appends clones of `value`.
    ///
    /// # Panics
    ///
    /// If `clone` panics, or the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1];
    /// list.resize(3, 0);
    /// assert_eq!(list, [1, 0, 0]);
    /// ```
    #[inline]
    pub fn resize(&mut self, len: usize, value: T)
    where
        T: Clone,
    {
        let Ok(()) = self.elements.resize::<Infallible>(&mut self.memory, len, value);
    }

    /// Fallible version of [`resize`](Vector::resize).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec();
    /// list.try_resize(3, 'x')?;
    /// assert_eq!(list, ['x'; 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_resize(&mut self, len: usize, value: T) -> Result<(), AllocError>
    where
        T: Clone,
    {
        self.elements.resize(&mut self.memory, len, value)
    }

    /// Changes the length to `len`: drops elements at the end or appends the results of `make`.
    ///
    /// # Panics
    ///
    /// If `make` panics, or the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec();
    /// list.resize_with(2, || s.alloc_str("a string of its own"));
    /// assert_eq!(list.len(), 2);
    /// ```
    #[inline]
    pub fn resize_with(&mut self, len: usize, make: impl FnMut() -> T) {
        let Ok(()) = self.elements.resize_with::<Infallible>(&mut self.memory, len, make);
    }

    /// Fallible version of [`resize_with`](Vector::resize_with).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is unchanged, and `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = s.vec();
    /// list.try_resize_with(2, u32::default)?;
    /// assert_eq!(list, [0, 0]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_resize_with(
        &mut self,
        len: usize,
        make: impl FnMut() -> T,
    ) -> Result<(), AllocError> {
        self.elements.resize_with(&mut self.memory, len, make)
    }

    /// Moves all elements of another vector, of any kind, to the end of this one.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let (mut one, mut other) = (ebbtide::collections::vec![in s; 1], ebbtide::collections::vec![in s; 2, 3]);
    /// one.append(&mut other);
    /// assert_eq!((one.as_slice(), other.len()), (&[1, 2, 3][..], 0));
    /// ```
    #[inline]
    pub fn append<N, K: Length>(&mut self, other: &mut Vector<T, N, K>) {
        let Ok(()) = self.elements.append::<Infallible, K>(&mut self.memory, &mut other.elements);
    }

    /// Fallible version of [`append`](Vector::append).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; both vectors are unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let (mut one, mut other) = (ebbtide::collections::vec![in s; 1], ebbtide::collections::vec![in s; 2, 3]);
    /// one.try_append(&mut other)?;
    /// assert_eq!(one, [1, 2, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_append<N, K: Length>(
        &mut self,
        other: &mut Vector<T, N, K>,
    ) -> Result<(), AllocError> {
        self.elements.append(&mut self.memory, &mut other.elements)
    }

    /// Appends the elements of an iterator until there is no memory.
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
    /// let mut stack = ebbtide::StackArena::<11>::new(); // a byte stays free behind a vector
    /// let s = stack.scope();
    /// let mut bytes = s.vec();
    /// assert!(bytes.try_extend(0u8..).is_err());
    /// assert_eq!(bytes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    /// ```
    #[inline]
    pub fn try_extend(&mut self, values: impl IntoIterator<Item = T>) -> Result<(), AllocError> {
        self.elements.extend(&mut self.memory, values.into_iter())
    }

    /// Replaces a range of elements by those of `values`, and returns the removed elements as an
    /// iterator. The elements are replaced when the iterator is dropped. Forgetting it leaks all
    /// elements from the start of the range on.
    ///
    /// # Panics
    ///
    /// If the start of the range is greater than its end, or its end greater than the length.
    /// Dropping the iterator panics if `values` does, or if the vector would exceed `isize::MAX`
    /// bytes. If there may be no memory, call [`Splice::try_finish`].
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut list = ebbtide::collections::vec![in s; 1, 2, 3, 4];
    /// assert_eq!(list.splice(1..3, [20, 25, 30]).sum::<i32>(), 5);
    /// assert_eq!(list, [1, 20, 25, 30, 4]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn splice<I: IntoIterator<Item = T>>(
        &mut self,
        range: impl RangeBounds<usize>,
        values: I,
    ) -> Splice<'_, I::IntoIter, M, L> {
        let range = indices(range, self.len());
        Splice::of(&mut self.elements, &mut self.memory, range, values.into_iter())
    }
}
