//! A box in an arena, which drops its value.

use crate::{Bump, error::or_panic};
use core::{
    any::Any,
    borrow::{Borrow, BorrowMut},
    cmp::Ordering,
    fmt,
    future::Future,
    hash::{Hash, Hasher},
    iter::FusedIterator,
    marker::PhantomData,
    mem::needs_drop,
    ops::{Deref, DerefMut},
    pin::Pin,
    ptr::NonNull,
    task::{Context, Poll},
};
use ebbtide::boxed::Box as Inner;

/// Owns a value in an arena. Dropping the box drops the value; the memory stays until the arena is
/// reset or dropped.
///
/// ```
/// use bumpalo::{Bump, boxed::Box};
///
/// let bump = Bump::new();
/// let name = Box::new_in(String::from("ebb"), &bump);
/// assert_eq!(*name, "ebb");
/// ```
pub struct Box<'a, T: ?Sized>(
    Inner<'a, T>,
    // Implies `T: 'a`, which users of bumpalo rely on.
    PhantomData<fn() -> &'a T>,
);

impl<'a, T> Box<'a, T> {
    /// Moves `x` into the arena.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(*bumpalo::boxed::Box::new_in(1, &bump), 1);
    /// ```
    #[inline(always)]
    pub fn new_in(x: T, a: &'a Bump) -> Box<'a, T> {
        Box::of(or_panic(a.arena.try_boxed(x)))
    }

    /// Moves `x` into the arena and pins it. Other than with bumpalo, a type that needs `Drop` is
    /// rejected when code is generated: a box that was forgotten would not drop the value before
    /// the arena uses its memory again, which breaks the guarantee of pinning.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(*bumpalo::boxed::Box::pin_in(1, &bump), 1);
    /// ```
    #[inline(always)]
    pub fn pin_in(x: T, a: &'a Bump) -> Pin<Box<'a, T>> {
        Box::new_in(x, a).into()
    }

    /// Moves the value out of the arena.
    ///
    /// ```
    /// use bumpalo::{Bump, boxed::Box};
    /// let bump = Bump::new();
    /// assert_eq!(Box::into_inner(Box::new_in(1, &bump)), 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_inner(b: Box<'a, T>) -> T {
        Inner::into_inner(b.0)
    }
}

impl<'a, T: ?Sized> Box<'a, T> {
    /// Creates a box from the result of [`into_raw`](Box::into_raw), or of a pointer to a value in
    /// the arena that is used by nobody else, which may be of another type, such as a trait object.
    ///
    /// # Safety
    ///
    /// The pointer is not null and points to a value that is valid for `'a`. Nobody else uses or
    /// drops the value.
    ///
    /// ```
    /// use bumpalo::{Bump, boxed::Box};
    /// let bump = Bump::new();
    /// let number = Box::into_raw(Box::new_in(1_u32, &bump));
    /// // SAFETY: the box was given up.
    /// let shown = unsafe { Box::from_raw(number as *mut dyn std::fmt::Display) };
    /// assert_eq!(shown.to_string(), "1");
    /// ```
    #[inline]
    #[must_use]
    pub unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the only clause is a pointer that is not null, which this function's contract
        // gives.
        let value = unsafe { NonNull::new_unchecked(raw) };
        // SAFETY: the value is valid for `'a`, and nobody else uses or drops it, by this function's
        // contract.
        Box::of(unsafe { Inner::from_raw(value) })
    }

    /// Gives up the box and returns the address of its value, which is not dropped.
    ///
    /// ```
    /// use bumpalo::{Bump, boxed::Box};
    /// let bump = Bump::new();
    /// assert!(!Box::into_raw(Box::new_in(1, &bump)).is_null());
    /// ```
    #[inline]
    #[must_use]
    pub fn into_raw(b: Box<'a, T>) -> *mut T {
        Inner::into_raw(b.0).as_ptr()
    }

    /// Gives up the box and returns a reference to its value, which is not dropped.
    ///
    /// ```
    /// use bumpalo::{Bump, boxed::Box};
    /// let bump = Bump::new();
    /// let number: &mut u32 = Box::leak(Box::new_in(1, &bump));
    /// assert_eq!(*number, 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn leak(b: Box<'a, T>) -> &'a mut T {
        Inner::leak(b.0)
    }

    pub(crate) fn of(inner: Inner<'a, T>) -> Self {
        Box(inner, PhantomData)
    }
}

impl<'a> Box<'a, dyn Any> {
    /// Converts to a box of a `T`, if the value is one.
    ///
    /// # Errors
    ///
    /// The box, if the value is of another type.
    ///
    /// ```
    /// use bumpalo::{Bump, boxed::Box};
    /// use std::any::Any;
    /// let bump = Bump::new();
    /// let number = Box::into_raw(Box::new_in(1_u32, &bump));
    /// // SAFETY: the box was given up.
    /// let any = unsafe { Box::from_raw(number as *mut dyn Any) };
    /// assert_eq!(any.downcast::<u32>().ok().as_deref(), Some(&1));
    /// ```
    #[inline]
    pub fn downcast<T: Any>(self) -> Result<Box<'a, T>, Box<'a, dyn Any>> {
        self.0.downcast().map(Box::of).map_err(Box::of)
    }
}

impl<'a> Box<'a, dyn Any + Send> {
    /// Converts to a box of a `T`, if the value is one.
    ///
    /// # Errors
    ///
    /// The box, if the value is of another type.
    ///
    /// ```
    /// use bumpalo::{Bump, boxed::Box};
    /// use std::any::Any;
    /// let bump = Bump::new();
    /// let number = Box::into_raw(Box::new_in(1_u32, &bump));
    /// // SAFETY: the box was given up.
    /// let any = unsafe { Box::from_raw(number as *mut (dyn Any + Send)) };
    /// assert!(any.downcast::<u8>().is_err());
    /// ```
    #[inline]
    pub fn downcast<T: Any>(self) -> Result<Box<'a, T>, Box<'a, dyn Any + Send>> {
        self.0.downcast().map(Box::of).map_err(Box::of)
    }
}

/// Rejects, when code is generated, a value that needs `Drop`: see [`Box::pin_in`].
impl<'a, T: ?Sized> From<Box<'a, T>> for Pin<Box<'a, T>> {
    #[inline]
    fn from(boxed: Box<'a, T>) -> Self {
        const {
            assert!(
                !needs_drop::<T>(),
                "an arena cannot pin a value that needs `Drop`: forgetting the box would break the \
                 guarantee of pinning; use `std::boxed::Box::pin` or `std::pin::pin!`"
            );
        }
        // SAFETY: the value does not move, because the box does not own its memory. Nothing is to
        // be done before the memory is used again, because the value needs no `Drop`.
        unsafe { Pin::new_unchecked(boxed) }
    }
}

impl<T> Default for Box<'_, [T]> {
    fn default() -> Self {
        Box::of(Inner::default())
    }
}

impl Default for Box<'_, str> {
    fn default() -> Self {
        Box::of(Inner::default())
    }
}

impl<'b, T: ?Sized + PartialEq> PartialEq<Box<'b, T>> for Box<'_, T> {
    #[inline]
    fn eq(&self, other: &Box<'b, T>) -> bool {
        **self == **other
    }
}

impl<'b, T: ?Sized + PartialOrd> PartialOrd<Box<'b, T>> for Box<'_, T> {
    #[inline]
    fn partial_cmp(&self, other: &Box<'b, T>) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Box<'_, T> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Eq> Eq for Box<'_, T> {}

impl<T: ?Sized + Hash> Hash for Box<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + Hasher> Hasher for Box<'_, T> {
    fn finish(&self) -> u64 {
        (**self).finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        (**self).write(bytes);
    }
}

impl<T: fmt::Display + ?Sized> fmt::Display for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&&raw const **self, f)
    }
}

impl<T: ?Sized> Deref for Box<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for Box<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<I: Iterator + ?Sized> Iterator for Box<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        (**self).next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (**self).size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        (**self).nth(n)
    }
}

impl<I: DoubleEndedIterator + ?Sized> DoubleEndedIterator for Box<'_, I> {
    fn next_back(&mut self) -> Option<I::Item> {
        (**self).next_back()
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        (**self).nth_back(n)
    }
}

impl<I: ExactSizeIterator + ?Sized> ExactSizeIterator for Box<'_, I> {
    fn len(&self) -> usize {
        (**self).len()
    }
}

impl<I: FusedIterator + ?Sized> FusedIterator for Box<'_, I> {}

impl<T: ?Sized> Borrow<T> for Box<'_, T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized> BorrowMut<T> for Box<'_, T> {
    fn borrow_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized> AsRef<T> for Box<'_, T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> AsMut<T> for Box<'_, T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

/// A box can move, because its value does not move with it.
impl<T: ?Sized> Unpin for Box<'_, T> {}

impl<F: ?Sized + Future + Unpin> Future for Box<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        F::poll(Pin::new(&mut **self), cx)
    }
}

impl<'a, T, const N: usize> From<Box<'a, [T; N]>> for Box<'a, [T]> {
    fn from(array: Box<'a, [T; N]>) -> Self {
        Box::of(ebbtide::unsize!(array.0))
    }
}

impl<'a, T, const N: usize> TryFrom<Box<'a, [T]>> for Box<'a, [T; N]> {
    type Error = Box<'a, [T]>;

    fn try_from(slice: Box<'a, [T]>) -> Result<Self, Self::Error> {
        slice.0.try_into().map(Box::of).map_err(Box::of)
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize> serde::Serialize for Box<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}
