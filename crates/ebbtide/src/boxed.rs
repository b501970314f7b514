//! [`Box`], which owns a value in the arena and drops it.
//!
//! It is not at the root of the crate, where `use ebbtide::*` would shadow the standard library's.
//! [`Scope::boxed`] and its siblings return boxes.
//!
//! ```
//! use ebbtide::*;
//!
//! struct Name<'a>(boxed::Box<'a, str>);
//!
//! let mut arena = Arena::new();
//! let name = Name(arena.scope().boxed_str("ebb"));
//! let on_the_heap: Box<str> = name.0.as_ref().into();
//! assert_eq!(&*on_the_heap, "ebb");
//! ```

use crate::{
    error::{AllocError, Failure},
    fresh::Fresh,
    scope::Scope,
    vector::{iter::IntoIter, memory::NoScope},
};
use core::{
    any::Any,
    borrow::{Borrow, BorrowMut},
    cmp::Ordering,
    convert::Infallible,
    error::Error,
    fmt,
    future::Future,
    hash::{Hash, Hasher},
    iter::FusedIterator,
    marker::PhantomData,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    pin::Pin,
    ptr::NonNull,
    task::{Context, Poll},
};

/// Owns a `T` in an arena and drops it. The memory itself is reclaimed with the scope.
///
/// A box has one word, or two for slices and trait objects, and `Option<Box<T>>` is no larger. It
/// is `Send` and `Sync` if `T` is. There is no safe way to pin its value: forgetting the box and
/// ending the scope would break the guarantee that a pinned value is dropped before its memory is
/// reused. A [`DropArena`](crate::DropArena) pins values.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// let s = arena.scope();
/// let mut names = s.boxed(vec![String::from("Kattegat")]); // freed when `names` is dropped
/// names.push(String::from("Skagerrak"));
/// assert_eq!(names.len(), 2);
/// ```
pub struct Box<'a, T: ?Sized> {
    value: NonNull<T>,
    /// Borrows the arena for `'a` and, for the drop check, owns a `T`.
    owns: PhantomData<(&'a (), T)>,
}

// SAFETY: only the box has access to its value, so sending the box sends the value and no more.
unsafe impl<T: ?Sized + Send> Send for Box<'_, T> {}
// SAFETY: a shared box gives shared access to its value and no more.
unsafe impl<T: ?Sized + Sync> Sync for Box<'_, T> {}

impl<T: ?Sized> Drop for Box<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the box owns an initialised value and is not used again.
        unsafe { self.value.drop_in_place() };
    }
}

impl<'a, T: ?Sized> Box<'a, T> {
    /// A box that owns the value of a block (F1).
    #[inline(always)]
    pub(crate) fn of(value: Fresh<'a, T>) -> Self {
        Box { value: value.into_raw(), owns: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn into_fresh(this: Self) -> Fresh<'a, T> {
        // SAFETY: F1: the box owned a value that is valid for `'a`, and is not used again.
        unsafe { Fresh::new(Box::into_raw(this)) }
    }

    /// Gives up the value and returns its address. [`from_raw`](Box::from_raw) reverses this.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::boxed::Box;
    /// let raw = Box::into_raw(s.boxed(String::from("ebb")));
    /// // SAFETY: `raw` comes from `into_raw`, and no other box owns the value.
    /// let text = unsafe { Box::from_raw(raw) };
    /// assert_eq!(*text, "ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_raw(this: Self) -> NonNull<T> {
        ManuallyDrop::new(this).value
    }

    /// Creates a box from the address of a value.
    ///
    /// # Safety
    ///
    /// `value` came from [`into_raw`](Box::into_raw) of a box with the same lifetime, or is another
    /// value that is valid for `'a`. No one else uses or drops it.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::boxed::Box;
    /// let raw = s.alloc_leaked(String::from("ebb")).into();
    /// // SAFETY: the value is in `s`, and nothing else refers to it.
    /// let text: Box<'_, String> = unsafe { Box::from_raw(raw) };
    /// assert_eq!(*text, "ebb"); // dropped with the box
    /// ```
    #[inline]
    #[must_use]
    pub unsafe fn from_raw(value: NonNull<T>) -> Self {
        // SAFETY: F1: by this function's contract, the value is valid for `'a`, and nobody else
        // uses or drops it.
        Box::of(unsafe { Fresh::new(value) })
    }

    /// Returns a reference to the value, which is never dropped and lives for `'a`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let point: &mut (i32, i32) = ebbtide::boxed::Box::leak(s.boxed((3, 4)));
    /// point.0 = 5;
    /// assert_eq!(*point, (5, 4));
    /// ```
    #[inline]
    #[must_use]
    pub fn leak(this: Self) -> &'a mut T
    where
        T: 'a,
    {
        Box::into_fresh(this).lend()
    }

    /// Takes a box apart for [`unsize!`](crate::unsize).
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    pub fn into_parts(this: Self) -> (NonNull<T>, Loan<'a>) {
        (Box::into_raw(this), Loan(PhantomData))
    }

    /// Creates a box from the parts of another, with the value coerced.
    ///
    /// # Safety
    ///
    /// `value` is what [`Box::into_parts`] returned together with `loan`, or an unsized coercion of
    /// it.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    pub unsafe fn from_parts(value: NonNull<T>, _loan: Loan<'a>) -> Self {
        // SAFETY: F1: by this function's contract, the value came from a box with the lifetime of
        // `loan`, which gave it up, so nobody else uses or drops it.
        Box::of(unsafe { Fresh::new(value) })
    }
}

impl<'a> Box<'a, str> {
    /// Creates a box that owns `text`.
    #[inline]
    pub(crate) fn of_str(text: &'a mut str) -> Self {
        Box::of(Fresh::from(text))
    }
}

/// Carries the lifetime of a box through [`unsize!`](crate::unsize).
#[doc(hidden)]
#[derive(Debug)]
pub struct Loan<'a>(PhantomData<&'a ()>);

/// Converts a [`Box<T>`](crate::boxed::Box) to a box of a trait object or a slice.
///
/// On stable Rust, only the pointers of the standard library coerce by themselves. The macro lets
/// the compiler coerce a raw pointer, so it accepts only unsizing coercions of the same value. (A
/// closure over references could return something that the value refers to, which would then be
/// dropped twice.)
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// use ebbtide::{boxed::Box, unsize};
/// use std::fmt::Display;
///
/// let number: Box<dyn Display> = unsize!(s.boxed(12));
/// let slice = unsize!(s.boxed([1, 2, 3]) => [u8]);
/// assert_eq!(format!("{number} {}", slice.len()), "12 3");
/// ```
#[macro_export]
macro_rules! unsize {
    ($boxed:expr) => {{
        let (value, loan) = $crate::boxed::Box::into_parts($boxed);
        // SAFETY: the value and the loan come from one box; the value is coerced as an argument.
        unsafe { $crate::boxed::Box::from_parts(value, loan) }
    }};
    ($boxed:expr => $target:ty) => {{
        let (value, loan) = $crate::boxed::Box::into_parts($boxed);
        let value: ::core::ptr::NonNull<$target> = value;
        // SAFETY: the coerced value and the loan come from one box.
        unsafe { $crate::boxed::Box::from_parts(value, loan) }
    }};
}

impl<T> Box<'_, T> {
    /// Moves the value out.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let name: String = ebbtide::boxed::Box::into_inner(s.boxed(String::from("ebb")));
    /// assert_eq!(name, "ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_inner(this: Self) -> T {
        // SAFETY: the box owned an initialised value and is not used again.
        unsafe { Box::into_raw(this).read() }
    }
}

impl<'a> Scope<'a> {
    /// Moves `value` into the scope and returns a box, which drops it.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let text = s.boxed(String::from("dropped with the box"));
    /// assert_eq!(text.len(), 20);
    /// ```
    #[inline(always)]
    pub fn boxed<T>(&self, value: T) -> Box<'a, T> {
        let Ok(value) = self.place::<T, Infallible>(value);
        Box::of(value)
    }

    /// Fallible version of [`boxed`](Scope::boxed).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the value is dropped.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_boxed([0u8; 16]).is_ok());
    /// assert!(s.try_boxed(1).is_err());
    /// ```
    #[inline(always)]
    pub fn try_boxed<T>(&self, value: T) -> Result<Box<'a, T>, AllocError> {
        self.place(value).map(Box::of)
    }

    /// Like [`alloc_with`](Scope::alloc_with), but returns a box, which drops the value.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let text = s.boxed_with(|| "ebb".repeat(2));
    /// assert_eq!(*text, "ebbebb");
    /// ```
    #[inline(always)]
    pub fn boxed_with<T>(&self, make: impl FnOnce() -> T) -> Box<'a, T> {
        let Ok(value) = self.boxed_with_in::<T, Infallible>(make);
        value
    }

    /// Fallible version of [`boxed_with`](Scope::boxed_with).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_boxed_with(|| [0u8; 16]).is_ok());
    /// assert!(s.try_boxed_with(|| 1).is_err());
    /// ```
    #[inline(always)]
    pub fn try_boxed_with<T>(&self, make: impl FnOnce() -> T) -> Result<Box<'a, T>, AllocError> {
        self.boxed_with_in(make)
    }

    #[inline(always)]
    fn boxed_with_in<T, F: Failure>(&self, make: impl FnOnce() -> T) -> Result<Box<'a, T>, F> {
        Ok(Box::of(self.reserve_value::<T, F>()?.write_with(make)))
    }

    /// Like [`alloc_slice_fill_with`](Scope::alloc_slice_fill_with), but returns a box, which drops
    /// the elements. If `make` panics, the elements made so far are dropped.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes, or if `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let texts = s.boxed_slice_fill_with(3, |i| "ebb".repeat(i)); // dropped with the box
    /// assert_eq!(texts[2], "ebbebb");
    /// ```
    #[inline]
    pub fn boxed_slice_fill_with<T>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Box<'a, [T]> {
        let Ok(slice) = self.slice_with_in::<T, Infallible>(len, make);
        Box::of(slice)
    }

    /// Fallible version of [`boxed_slice_fill_with`](Scope::boxed_slice_fill_with).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_boxed_slice_fill_with(16, |_| 0u8).is_ok());
    /// assert!(s.try_boxed_slice_fill_with(1, |_| 0u8).is_err());
    /// ```
    #[inline]
    pub fn try_boxed_slice_fill_with<T>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<Box<'a, [T]>, AllocError> {
        self.slice_with_in(len, make).map(Box::of)
    }

    /// Like [`alloc_slice_clone`](Scope::alloc_slice_clone), but returns a box, which drops the
    /// clones.
    ///
    /// # Panics
    ///
    /// If `clone` panics; the clones made so far are then dropped.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let words = [String::from("ebb"), String::from("flow")];
    /// let copies = s.boxed_slice_clone(&words); // dropped with the box
    /// assert_eq!(*copies, words);
    /// ```
    #[inline]
    pub fn boxed_slice_clone<T: Clone>(&self, values: &[T]) -> Box<'a, [T]> {
        self.boxed_slice_fill_with(values.len(), |index| values[index].clone())
    }

    /// Fallible version of [`boxed_slice_clone`](Scope::boxed_slice_clone).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_boxed_slice_clone(&[0u8; 16]).is_ok());
    /// assert!(s.try_boxed_slice_clone(&[0u8]).is_err());
    /// ```
    #[inline]
    pub fn try_boxed_slice_clone<T: Clone>(
        &self,
        values: &[T],
    ) -> Result<Box<'a, [T]>, AllocError> {
        self.try_boxed_slice_fill_with(values.len(), |index| values[index].clone())
    }

    /// Like [`alloc_slice_from_iter`](Scope::alloc_slice_from_iter), but returns a box, which drops
    /// the elements. If the iterator panics, the elements it yielded so far are dropped.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes, or if the iterator panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let words = s.boxed_slice_from_iter("ebb and flow".split(' ').map(String::from));
    /// assert_eq!(words.len(), 3);
    /// ```
    #[inline]
    pub fn boxed_slice_from_iter<T>(&self, values: impl IntoIterator<Item = T>) -> Box<'a, [T]> {
        let Ok(slice) = self.slice_collect_in::<T, Infallible>(values);
        Box::of(slice)
    }

    /// Fallible version of [`boxed_slice_from_iter`](Scope::boxed_slice_from_iter).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the elements taken from the iterator are dropped.
    ///
    /// # Panics
    ///
    /// If the iterator panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_boxed_slice_from_iter([0u8; 17]).is_err());
    /// ```
    #[inline]
    pub fn try_boxed_slice_from_iter<T>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Box<'a, [T]>, AllocError> {
        self.slice_collect_in(values).map(Box::of)
    }

    /// Like [`alloc_vec`](Scope::alloc_vec), but returns a box, which drops the elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let words = s.boxed_vec(vec![String::from("ebb"), String::from("flow")]); // moves the strings
    /// assert_eq!(words.concat(), "ebbflow");
    /// ```
    #[cfg(feature = "alloc")]
    #[inline]
    pub fn boxed_vec<T>(&self, values: alloc::vec::Vec<T>) -> Box<'a, [T]> {
        let Ok(slice) = self.slice_vec_in::<T, Infallible>(values);
        Box::of(slice)
    }

    /// Fallible version of [`boxed_vec`](Scope::boxed_vec).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is dropped.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_boxed_vec(vec![0u8; 16]).is_ok());
    /// assert!(s.try_boxed_vec(vec![0u8]).is_err());
    /// ```
    #[cfg(feature = "alloc")]
    #[inline]
    pub fn try_boxed_vec<T>(&self, values: alloc::vec::Vec<T>) -> Result<Box<'a, [T]>, AllocError> {
        self.slice_vec_in(values).map(Box::of)
    }

    /// Like [`alloc_str`](Scope::alloc_str), but returns a box.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut word = s.boxed_str("ebb");
    /// word.make_ascii_uppercase();
    /// assert_eq!(&*word, "EBB");
    /// ```
    #[inline]
    pub fn boxed_str(&self, text: &str) -> Box<'a, str> {
        Box::of_str(self.alloc_str(text))
    }

    /// Fallible version of [`boxed_str`](Scope::boxed_str).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_boxed_str("sixteen letters!").is_ok());
    /// assert!(s.try_boxed_str("!").is_err());
    /// ```
    #[inline]
    pub fn try_boxed_str(&self, text: &str) -> Result<Box<'a, str>, AllocError> {
        self.try_alloc_str(text).map(Box::of_str)
    }
}

impl<T: ?Sized> Deref for Box<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the box owns an initialised value, and the reference borrows the box.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Box<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns an initialised value, and the reference borrows the box exclusively.
        unsafe { self.value.as_mut() }
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

impl<T: ?Sized + fmt::Debug> fmt::Debug for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Box<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Box<'_, T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Box<'_, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Box<'_, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Box<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<'a, T> Box<'a, [T]> {
    /// Returns an iterator over the elements by value. Dropping it drops those that are left.
    ///
    /// This is a method because `IntoIterator` is implemented already, for boxes of iterators.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let names = s.boxed_slice_from_iter(["ebb", "flow"].map(String::from));
    /// let longest: Option<String> = names.into_iter().max_by_key(String::len);
    /// assert_eq!(longest.unwrap(), "flow");
    /// ```
    #[inline]
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "the trait is taken")]
    pub fn into_iter(self) -> IntoIter<T, NoScope<'a>> {
        IntoIter::from_fresh(Box::into_fresh(self))
    }
}

impl<'b, T> IntoIterator for &'b Box<'_, [T]> {
    type Item = &'b T;
    type IntoIter = core::slice::Iter<'b, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, const N: usize> TryFrom<Box<'a, [T]>> for Box<'a, [T; N]> {
    type Error = Box<'a, [T]>;

    /// Converts in place if the length of the slice is `N`, and returns the box otherwise.
    fn try_from(slice: Box<'a, [T]>) -> Result<Self, Box<'a, [T]>> {
        if slice.len() != N {
            return Err(slice);
        }
        // SAFETY: the box has given up its value, a slice of `N` elements.
        Ok(Box::of(unsafe { Fresh::new(Box::into_raw(slice).cast()) }))
    }
}

impl<T> Default for Box<'_, [T]> {
    /// An empty slice.
    fn default() -> Self {
        Box::of(Fresh::empty())
    }
}

impl Default for Box<'_, str> {
    /// An empty string.
    fn default() -> Self {
        Box::of_str(<&mut str>::default())
    }
}

impl<'a> Box<'a, dyn Any> {
    /// Converts to a box of `T`, if the value is one.
    ///
    /// # Errors
    ///
    /// The box itself, if the value is not a `T`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::{boxed::Box, unsize};
    /// let any: Box<dyn std::any::Any> = unsize!(s.boxed(12u32));
    /// let any = any.downcast::<String>().unwrap_err();
    /// assert_eq!(*any.downcast::<u32>().unwrap(), 12);
    /// ```
    pub fn downcast<T: Any>(self) -> Result<Box<'a, T>, Self> {
        if !self.is::<T>() {
            return Err(self);
        }
        // SAFETY: the value was found to be a `T`, and the box has given it up.
        Ok(Box::of(unsafe { Fresh::new(Box::into_raw(self).cast()) }))
    }
}

impl<'a> Box<'a, dyn Any + Send> {
    /// Converts to a box of `T`, if the value is one.
    ///
    /// # Errors
    ///
    /// The box itself, if the value is not a `T`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::{boxed::Box, unsize};
    /// let any: Box<dyn std::any::Any + Send> = unsize!(s.boxed(12u32));
    /// assert_eq!(*any.downcast::<u32>().unwrap(), 12);
    /// ```
    pub fn downcast<T: Any>(self) -> Result<Box<'a, T>, Self> {
        if !self.is::<T>() {
            return Err(self);
        }
        // SAFETY: the value was found to be a `T`, and the box has given it up.
        Ok(Box::of(unsafe { Fresh::new(Box::into_raw(self).cast()) }))
    }
}

/// A future that need not be pinned is polled in its box.
impl<F: ?Sized + Future + Unpin> Future for Box<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut **self).poll(context)
    }
}

impl<I: ?Sized + DoubleEndedIterator> DoubleEndedIterator for Box<'_, I> {
    fn next_back(&mut self) -> Option<I::Item> {
        (**self).next_back()
    }
}

impl<I: ?Sized + ExactSizeIterator> ExactSizeIterator for Box<'_, I> {
    fn len(&self) -> usize {
        (**self).len()
    }
}

impl<I: ?Sized + FusedIterator> FusedIterator for Box<'_, I> {}

impl<I: ?Sized + Iterator> Iterator for Box<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        (**self).next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (**self).size_hint()
    }
}

impl<E: ?Sized + Error> Error for Box<'_, E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}
