//! Vectors in an arena.

#[cfg(feature = "boxed")]
use crate::boxed::Box;
use crate::{
    Bump,
    error::{CollectionAllocErr, or_panic},
};
use core::{
    borrow::{Borrow, BorrowMut},
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    iter::FusedIterator,
    marker::PhantomData,
    ops::{Deref, DerefMut, Index, IndexMut, RangeBounds},
    ptr::NonNull,
    slice::{self, SliceIndex},
};
use ebbtide::collections as inner;

/// Creates a vector in an arena.
///
/// ```
/// let bump = bumpalo::Bump::new();
/// assert_eq!(bumpalo::vec![in &bump; 1, 2], [1, 2]);
/// assert_eq!(bumpalo::vec![in &bump; 0; 3], [0, 0, 0]);
/// let none: bumpalo::collections::Vec<u32> = bumpalo::vec![in &bump];
/// assert!(none.is_empty());
/// ```
#[macro_export]
macro_rules! vec {
    (in $bump:expr) => {
        $crate::collections::Vec::new_in($bump)
    };
    (in $bump:expr; $value:expr; $len:expr) => {{
        let len = $len;
        let mut vec = $crate::collections::Vec::with_capacity_in(len, $bump);
        vec.resize(len, $value);
        vec
    }};
    (in $bump:expr; $($value:expr),* $(,)?) => {
        $crate::collections::Vec::from_iter_in([$($value),*], $bump)
    };
}

/// A growable array in an arena. It drops its elements.
///
/// The vector that allocated last grows in place, and gives its memory back when it is dropped.
///
/// ```
/// use bumpalo::{Bump, collections::Vec};
///
/// let bump = Bump::new();
/// let mut words = Vec::new_in(&bump);
/// words.push(String::from("ebb"));
/// words.extend(["and", "flow"].map(String::from));
/// assert_eq!(words.concat(), "ebbandflow");
/// ```
pub struct Vec<'bump, T: 'bump>(pub(super) inner::Owning<T, &'bump Bump>);

/// Methods that differ from those of [`std::vec::Vec`] in the arena or in the name.
impl<'bump, T: 'bump> Vec<'bump, T> {
    /// An empty vector. Allocates nothing until the first element.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(bumpalo::collections::Vec::<u32>::new_in(&bump).is_empty());
    /// ```
    #[inline]
    #[must_use]
    pub fn new_in(bump: &'bump Bump) -> Vec<'bump, T> {
        Vec(inner::Owning::over(bump))
    }

    /// An empty vector with room for `capacity` elements.
    ///
    /// # Panics
    ///
    /// If there is no memory, like all methods that allocate.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let list = bumpalo::collections::Vec::<u32>::with_capacity_in(9, &bump);
    /// assert_eq!(list.capacity(), 9);
    /// ```
    #[inline]
    #[must_use]
    pub fn with_capacity_in(capacity: usize, bump: &'bump Bump) -> Vec<'bump, T> {
        let mut vec = Vec::new_in(bump);
        vec.reserve_exact(capacity);
        vec
    }

    /// Collects an iterator.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::collections::Vec::from_iter_in(1..3, &bump), [1, 2]);
    /// ```
    #[inline]
    pub fn from_iter_in<I: IntoIterator<Item = T>>(iter: I, bump: &'bump Bump) -> Vec<'bump, T> {
        let mut vec = Vec::new_in(bump);
        vec.extend(iter);
        vec
    }

    /// Puts a vector together from its parts.
    ///
    /// # Safety
    ///
    /// The parts are those of a vector in `bump` that was forgotten.
    ///
    /// ```
    /// use bumpalo::{Bump, collections::Vec};
    /// let bump = Bump::new();
    /// let mut list = std::mem::ManuallyDrop::new(bumpalo::vec![in &bump; 1, 2]);
    /// let (start, len, capacity) = (list.as_mut_ptr(), list.len(), list.capacity());
    /// // SAFETY: the parts of a vector that was forgotten.
    /// let list = unsafe { Vec::from_raw_parts_in(start, len, capacity, &bump) };
    /// assert_eq!(list, [1, 2]);
    /// ```
    pub unsafe fn from_raw_parts_in(
        ptr: *mut T,
        length: usize,
        capacity: usize,
        bump: &'bump Bump,
    ) -> Vec<'bump, T> {
        // SAFETY: the parts are those of a vector, by this function's contract, and the address of
        // a vector's elements is not null.
        let start = unsafe { NonNull::new_unchecked(ptr) };
        // SAFETY: the parts are those of a forgotten vector in `bump`, by this function's contract,
        // so nothing else uses the block or drops its elements.
        Vec(unsafe { inner::Owning::from_parts(start, length, capacity, bump) })
    }

    /// The arena.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let list = bumpalo::vec![in &bump; 1];
    /// assert!(std::ptr::eq(list.bump(), &bump));
    /// ```
    #[inline]
    #[must_use]
    pub fn bump(&self) -> &'bump Bump {
        self.0.memory()
    }

    /// Finishes the vector and returns its elements, which are not dropped any more.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::vec![in &bump; 1, 2].into_bump_slice(), [1, 2]);
    /// ```
    #[must_use]
    pub fn into_bump_slice(self) -> &'bump [T] {
        self.into_bump_slice_mut()
    }

    /// Like [`into_bump_slice`](Vec::into_bump_slice), but the elements can be changed.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let list = bumpalo::vec![in &bump; 1, 2].into_bump_slice_mut();
    /// list[0] = 3;
    /// assert_eq!(list, [3, 2]);
    /// ```
    #[must_use]
    pub fn into_bump_slice_mut(self) -> &'bump mut [T] {
        ebbtide::boxed::Box::leak(self.0.into_boxed_slice())
    }

    /// Finishes the vector and returns its elements as a box.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(*bumpalo::vec![in &bump; 1, 2].into_boxed_slice(), [1, 2]);
    /// ```
    #[cfg(feature = "boxed")]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'bump, [T]> {
        Box::of(self.0.into_boxed_slice())
    }

    /// Whether `additional` more elements exceed what a collection can hold.
    fn capacity_error(&self, additional: usize) -> CollectionAllocErr {
        let capacity = self.len().checked_add(additional);
        let bytes = capacity.and_then(|capacity| capacity.checked_mul(size_of::<T>()));
        match bytes {
            Some(bytes) if bytes <= isize::MAX as usize => CollectionAllocErr::AllocErr,
            _ => CollectionAllocErr::CapacityOverflow,
        }
    }

    /// Fallible version of [`reserve`](Vec::reserve).
    ///
    /// # Errors
    ///
    /// [`CollectionAllocErr`]; the vector is unchanged.
    ///
    /// ```
    /// use bumpalo::collections::CollectionAllocErr;
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::vec![in &bump; 1];
    /// assert_eq!(list.try_reserve(usize::MAX), Err(CollectionAllocErr::CapacityOverflow));
    /// ```
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), CollectionAllocErr> {
        self.0.try_reserve(additional).map_err(|_| self.capacity_error(additional))
    }

    /// Fallible version of [`reserve_exact`](Vec::reserve_exact).
    ///
    /// # Errors
    ///
    /// [`CollectionAllocErr`]; the vector is unchanged.
    ///
    /// ```
    /// use bumpalo::collections::CollectionAllocErr;
    /// let bump = bumpalo::Bump::new();
    /// bump.set_allocation_limit(Some(10));
    /// let mut list = bumpalo::collections::Vec::<u8>::new_in(&bump);
    /// assert_eq!(list.try_reserve_exact(100), Err(CollectionAllocErr::AllocErr));
    /// ```
    pub fn try_reserve_exact(&mut self, additional: usize) -> Result<(), CollectionAllocErr> {
        self.0.try_reserve_exact(additional).map_err(|_| self.capacity_error(additional))
    }

    /// Removes the elements for which `filter` returns true, and returns them. Dropping the iterator
    /// removes the rest of them.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::vec![in &bump; 1, 2, 3, 4];
    /// assert!(list.drain_filter(|n| *n % 2 == 0).eq([2, 4]));
    /// assert_eq!(list, [1, 3]);
    /// ```
    pub fn drain_filter<'a, F>(&'a mut self, filter: F) -> DrainFilter<'a, 'bump, T, F>
    where
        F: FnMut(&mut T) -> bool,
    {
        DrainFilter { inner: self.0.extract_if(.., filter), is_filtering: false, bump: PhantomData }
    }
}

/// Defines methods that call the one of the inner vector with the same name or, if `$try_name` is
/// given, its fallible version.
macro_rules! forward {
    ($(
        $(#[$attribute:meta])*
        $name:ident $(by $try_name:ident)? [$($generics:tt)*](
            &mut self $(, $argument:ident: $type:ty)*
        ) $(-> $result:ty)? $(where [$($bounds:tt)*])?;
    )*) => {
        $(
            #[doc = concat!("The same as [`ebbtide::collections::Vector::", stringify!($name), "`].")]
            $(#[$attribute])*
            #[inline]
            #[track_caller]
            pub fn $name<$($generics)*>(&mut self $(, $argument: $type)*) $(-> $result)?
            $(where $($bounds)*)? {
                forward!(@ self.0, $name $($try_name)?, ($($argument),*))
            }
        )*
    };
    (@ $inner:expr, $name:ident, $arguments:tt) => { $inner.$name $arguments };
    (@ $inner:expr, $name:ident $try_name:ident, $arguments:tt) => {
        or_panic($inner.$try_name $arguments)
    };
}

/// Methods with the same names as in ebbtide.
///
/// ```
/// let bump = bumpalo::Bump::new();
/// let mut list = bumpalo::vec![in &bump; 3, 1, 2];
/// list.insert(1, 5);
/// list.retain(|n| n % 2 == 1);
/// assert_eq!(list, [3, 5, 1]);
/// ```
impl<'bump, T: 'bump> Vec<'bump, T> {
    forward! {
        insert by try_insert [](&mut self, index: usize, element: T);
        reserve by try_reserve [](&mut self, additional: usize);
        reserve_exact by try_reserve_exact [](&mut self, additional: usize);
        shrink_to_fit [](&mut self);
        truncate [](&mut self, len: usize);
        clear [](&mut self);
        as_mut_slice [](&mut self) -> &mut [T];
        as_mut_ptr [](&mut self) -> *mut T;
        swap_remove [](&mut self, index: usize) -> T;
        remove [](&mut self, index: usize) -> T;
        pop [](&mut self) -> Option<T>;
        pop_if [](&mut self, predicate: impl FnOnce(&mut T) -> bool) -> Option<T>;
        retain [F](&mut self, f: F) where [F: FnMut(&T) -> bool];
        retain_mut [F](&mut self, f: F) where [F: FnMut(&mut T) -> bool];
        dedup_by_key [F, K](&mut self, key: F) where [F: FnMut(&mut T) -> K, K: PartialEq<K>];
        dedup_by [F](&mut self, same_bucket: F) where [F: FnMut(&mut T, &mut T) -> bool];
        dedup [](&mut self) where [T: PartialEq];
        resize by try_resize [](&mut self, new_len: usize, value: T) where [T: Clone];
        extend_from_slice by try_extend_from_slice [](&mut self, other: &[T]) where [T: Clone];
        extend_from_slice_copy by try_extend_from_slice_copy [](&mut self, other: &[T])
            where [T: Copy];
        extend_from_slices_copy by try_extend_from_slices_copy [](&mut self, slices: &[&[T]])
            where [T: Copy];
    }

    /// Appends `value`. The first block has room for one element if that has 64 bytes or more,
    /// because many vectors of a syntax tree have no other.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::collections::Vec::new_in(&bump);
    /// list.push([0; 100]);
    /// assert_eq!(list.capacity(), 1);
    /// ```
    #[inline]
    #[track_caller]
    pub fn push(&mut self, value: T) {
        if size_of::<T>() >= 64 && self.capacity() == 0 {
            self.reserve_first();
        }
        or_panic(self.0.try_push(value));
    }

    #[inline(never)]
    #[track_caller]
    fn reserve_first(&mut self) {
        or_panic(self.0.try_reserve_exact(1));
    }

    /// Moves the elements of `other` to the end.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let (mut one, mut two) = (bumpalo::vec![in &bump; 1], bumpalo::vec![in &bump; 2]);
    /// one.append(&mut two);
    /// assert_eq!((one.len(), two.len()), (2, 0));
    /// ```
    #[inline]
    pub fn append(&mut self, other: &mut Self) {
        or_panic(self.0.try_append(&mut *other.0));
    }

    /// The number of elements.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::vec![in &bump; 1, 2].len(), 2);
    /// ```
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(!bumpalo::vec![in &bump; 1, 2].is_empty());
    /// ```
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of elements that fit without growing.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(bumpalo::vec![in &bump; 1, 2].capacity() >= 2);
    /// ```
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// The elements.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::vec![in &bump; 1, 2].as_slice(), [1, 2]);
    /// ```
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// The address of the first element.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(!bumpalo::vec![in &bump; 1, 2].as_ptr().is_null());
    /// ```
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }

    /// Sets the number of elements.
    ///
    /// # Safety
    ///
    /// `new_len` is at most the capacity, and that many elements are initialised.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::vec![in &bump; 1, 2];
    /// // SAFETY: there are more elements.
    /// unsafe { list.set_len(1) };
    /// assert_eq!(list, [1]);
    /// ```
    #[inline]
    pub unsafe fn set_len(&mut self, new_len: usize) {
        // SAFETY: `new_len` is at most the capacity, and as many elements are initialised, by this
        // function's contract.
        unsafe { self.0.set_len(new_len) };
    }

    /// Moves the elements from `at` on to a new vector. Takes no memory: this vector has no spare
    /// capacity afterwards.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::vec![in &bump; 1, 2, 3];
    /// assert_eq!(list.split_off(1), [2, 3]);
    /// ```
    #[inline]
    #[must_use = "the elements are dropped with the vector that is returned"]
    #[track_caller]
    pub fn split_off(&mut self, at: usize) -> Self {
        Vec(self.0.split_off(at))
    }

    /// Removes a range of elements, and returns them. The same as [`std::vec::Vec::drain`].
    ///
    /// # Panics
    ///
    /// If the range exceeds the length.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::vec![in &bump; 1, 2, 3];
    /// assert!(list.drain(..2).eq([1, 2]));
    /// assert_eq!(list, [3]);
    /// ```
    #[track_caller]
    pub fn drain<'a, R>(&'a mut self, range: R) -> Drain<'a, 'bump, T>
    where
        R: RangeBounds<usize>,
    {
        Drain { inner: self.0.drain(range), bump: PhantomData }
    }

    /// Replaces a range of elements, and returns the old ones. The same as
    /// [`std::vec::Vec::splice`]. If there is no memory, ends the process instead of panicking.
    ///
    /// # Panics
    ///
    /// If the range exceeds the length.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::vec![in &bump; 1, 2, 3];
    /// assert!(list.splice(..2, [7, 8, 9]).eq([1, 2]));
    /// assert_eq!(list, [7, 8, 9, 3]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn splice<'a, R, I>(
        &'a mut self,
        range: R,
        replace_with: I,
    ) -> Splice<'a, 'bump, I::IntoIter>
    where
        R: RangeBounds<usize>,
        I: IntoIterator<Item = T>,
    {
        Splice { inner: self.0.splice(range, replace_with) }
    }
}

impl<'bump, T: 'bump + Clone> Clone for Vec<'bump, T> {
    fn clone(&self) -> Self {
        let mut clone = Vec::with_capacity_in(self.len(), self.bump());
        clone.extend_from_slice(self);
        clone
    }
}

impl<'bump, T: 'bump + Hash> Hash for Vec<'bump, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<'bump, T, I: SliceIndex<[T]>> Index<I> for Vec<'bump, T> {
    type Output = I::Output;

    #[inline]
    fn index(&self, index: I) -> &Self::Output {
        &(**self)[index]
    }
}

impl<'bump, T, I: SliceIndex<[T]>> IndexMut<I> for Vec<'bump, T> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut Self::Output {
        &mut (**self)[index]
    }
}

impl<'bump, T: 'bump> Deref for Vec<'bump, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.0.as_slice()
    }
}

impl<'bump, T: 'bump> DerefMut for Vec<'bump, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_mut_slice()
    }
}

impl<'bump, T: 'bump> IntoIterator for Vec<'bump, T> {
    type Item = T;
    type IntoIter = IntoIter<'bump, T>;

    #[inline]
    fn into_iter(self) -> IntoIter<'bump, T> {
        IntoIter { inner: self.0.into_boxed_slice().into_iter(), implied: PhantomData }
    }
}

impl<'a, 'bump, T> IntoIterator for &'a Vec<'bump, T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, 'bump, T> IntoIterator for &'a mut Vec<'bump, T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> slice::IterMut<'a, T> {
        self.iter_mut()
    }
}

impl<'bump, T: 'bump> Extend<T> for Vec<'bump, T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, iter: I) {
        or_panic(self.0.try_extend(iter));
    }
}

impl<'a, 'bump, T: 'a + Copy> Extend<&'a T> for Vec<'bump, T> {
    #[inline]
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, iter: I) {
        self.extend(iter.into_iter().copied());
    }
}

macro_rules! equal {
    ($($other:ty $(, $len:ident)?;)*) => {
        $(
            impl<'a, 'b, A: PartialEq<B>, B $(, const $len: usize)?> PartialEq<$other>
                for Vec<'a, A>
            {
                #[inline]
                fn eq(&self, other: &$other) -> bool {
                    self[..] == other[..]
                }
            }
        )*
    };
}
equal! {
    Vec<'b, B>;
    &'b [B];
    &'b mut [B];
    [B; N], N;
    &'b [B; N], N;
    &'b mut [B; N], N;
}

impl<'bump, T: 'bump + PartialOrd> PartialOrd for Vec<'bump, T> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<'bump, T: 'bump + Eq> Eq for Vec<'bump, T> {}

impl<'bump, T: 'bump + Ord> Ord for Vec<'bump, T> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<'bump, T: 'bump + fmt::Debug> fmt::Debug for Vec<'bump, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'bump, T: 'bump> AsRef<Vec<'bump, T>> for Vec<'bump, T> {
    fn as_ref(&self) -> &Vec<'bump, T> {
        self
    }
}

impl<'bump, T: 'bump> AsMut<Vec<'bump, T>> for Vec<'bump, T> {
    fn as_mut(&mut self) -> &mut Vec<'bump, T> {
        self
    }
}

impl<'bump, T: 'bump> AsRef<[T]> for Vec<'bump, T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<'bump, T: 'bump> AsMut<[T]> for Vec<'bump, T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<'bump, T: 'bump> Borrow<[T]> for Vec<'bump, T> {
    fn borrow(&self) -> &[T] {
        self
    }
}

impl<'bump, T: 'bump> BorrowMut<[T]> for Vec<'bump, T> {
    fn borrow_mut(&mut self) -> &mut [T] {
        self
    }
}

#[cfg(feature = "boxed")]
impl<'a, A> Box<'a, [A]> {
    /// Collects an iterator.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    ///
    /// ```
    /// use bumpalo::{Bump, boxed::Box};
    /// let bump = Bump::new();
    /// assert_eq!(*Box::from_iter_in(1..3, &bump), [1, 2]);
    /// ```
    pub fn from_iter_in<T: IntoIterator<Item = A>>(iter: T, a: &'a Bump) -> Self {
        Vec::from_iter_in(iter, a).into_boxed_slice()
    }
}

#[cfg(feature = "boxed")]
impl<'bump, T: 'bump> From<Vec<'bump, T>> for Box<'bump, [T]> {
    fn from(vec: Vec<'bump, T>) -> Self {
        vec.into_boxed_slice()
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Vec<'_, u8> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.extend_from_slice_copy(bytes);
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.extend_from_slice_copy(bytes);
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize> serde::Serialize for Vec<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

/// Returned by [`Vec::into_iter`].
pub struct IntoIter<'bump, T> {
    inner: inner::IntoIter<T, inner::NoScope<'bump>>,
    // Implies `T: 'bump`, as in `boxed::Box`.
    implied: PhantomData<fn() -> &'bump T>,
}

impl<'bump, T: 'bump> IntoIter<'bump, T> {
    /// The elements that are left.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::vec![in &bump; 1, 2].into_iter();
    /// list.next();
    /// assert_eq!(list.as_slice(), [2]);
    /// ```
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self.inner.as_slice()
    }

    /// The elements that are left, which can be changed.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut list = bumpalo::vec![in &bump; 1, 2].into_iter();
    /// list.as_mut_slice()[0] = 3;
    /// assert_eq!(list.next(), Some(3));
    /// ```
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.inner.as_mut_slice()
    }
}

/// Returned by [`Vec::drain`].
pub struct Drain<'a, 'bump, T: 'a + 'bump> {
    inner: inner::Drain<'a, T>,
    bump: PhantomData<&'bump ()>,
}

/// Returned by [`Vec::splice`].
pub struct Splice<'a, 'bump, I>
where
    I: Iterator,
    I::Item: 'a + 'bump,
{
    inner: inner::Splice<'a, I, &'bump Bump>,
}

/// A failure is a panic, like any other of a method without `try_`.
impl<'a, 'bump, I> Drop for Splice<'a, 'bump, I>
where
    I: Iterator,
    I::Item: 'a + 'bump,
{
    #[inline]
    fn drop(&mut self) {
        or_panic(self.inner.try_finish());
    }
}

/// Returned by [`Vec::drain_filter`].
#[derive(Debug)]
pub struct DrainFilter<'a, 'bump: 'a, T: 'a + 'bump, F>
where
    F: FnMut(&mut T) -> bool,
{
    inner: inner::ExtractIf<'a, T, F>,
    /// Whether the filter is running or has panicked. It is not called again then.
    is_filtering: bool,
    bump: PhantomData<&'bump ()>,
}

macro_rules! double_ended {
    ($([$($generics:tt)*] $name:ty, $item:ty;)*) => {
        $(
            impl<$($generics)*> Iterator for $name {
                type Item = $item;

                #[inline]
                fn next(&mut self) -> Option<$item> {
                    self.inner.next()
                }

                #[inline]
                fn size_hint(&self) -> (usize, Option<usize>) {
                    self.inner.size_hint()
                }
            }

            impl<$($generics)*> DoubleEndedIterator for $name {
                #[inline]
                fn next_back(&mut self) -> Option<$item> {
                    self.inner.next_back()
                }
            }

            impl<$($generics)*> ExactSizeIterator for $name {}
        )*
    };
}
double_ended! {
    ['bump, T: 'bump] IntoIter<'bump, T>, T;
    ['a, 'bump, T] Drain<'a, 'bump, T>, T;
    ['a, 'bump, I: Iterator] Splice<'a, 'bump, I>, I::Item;
}

impl<'bump, T: 'bump> FusedIterator for IntoIter<'bump, T> {}
impl<'a, 'bump, T> FusedIterator for Drain<'a, 'bump, T> {}

impl<T: fmt::Debug> fmt::Debug for IntoIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoIter").field(&self.inner.as_slice()).finish()
    }
}

impl<'a, 'bump, T: 'a + 'bump + fmt::Debug> fmt::Debug for Drain<'a, 'bump, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Drain").field(&self.inner.as_slice()).finish()
    }
}

impl<I: Iterator<Item: fmt::Debug> + fmt::Debug> fmt::Debug for Splice<'_, '_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<'a, 'bump, T, F: FnMut(&mut T) -> bool> Iterator for DrainFilter<'a, 'bump, T, F> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.is_filtering = true;
        let next = self.inner.next();
        self.is_filtering = false;
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

/// Removes the rest of the elements for which the filter returns true.
impl<'a, 'bump, T, F: FnMut(&mut T) -> bool> Drop for DrainFilter<'a, 'bump, T, F> {
    fn drop(&mut self) {
        if !self.is_filtering {
            self.for_each(drop);
        }
    }
}
