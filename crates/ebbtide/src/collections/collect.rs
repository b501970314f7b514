//! Collecting iterators into a scope.

use crate::{
    boxed::Box,
    scope::Scope,
    text::String,
    value::assert_no_drop,
    vector::{NodeVec, Vec, assert_plain, owning::Owning},
};

/// A collection that [`collect_in`](CollectIn::collect_in) can build.
///
/// ```
/// use ebbtide::{Arena, Scope, collections::{CollectIn, FromIteratorIn, Vec}};
///
/// /// The even numbers and the odd ones.
/// struct Sorted<'s, 'a>(Vec<'s, 'a, u32>, Vec<'s, 'a, u32>);
///
/// impl<'s, 'a> FromIteratorIn<'s, 'a, u32> for Sorted<'s, 'a> {
///     fn from_iter_in<I: IntoIterator<Item = u32>>(values: I, scope: &'s Scope<'a>) -> Self {
///         let mut sorted = Sorted(scope.vec(), scope.vec());
///         for n in values {
///             if n % 2 == 0 { sorted.0.push(n) } else { sorted.1.push(n) }
///         }
///         sorted
///     }
/// }
///
/// let mut arena = Arena::new();
/// let s = arena.scope();
/// let Sorted(even, odd) = (0..5).collect_in(&s);
/// assert_eq!((even.len(), odd.len()), (3, 2));
/// ```
pub trait FromIteratorIn<'s, 'a, T>: Sized {
    /// Rejects elements that the collection cannot hold. [`collect_in`](CollectIn::collect_in)
    /// evaluates it, so that the compiler's error names the line of its caller.
    #[doc(hidden)]
    const ACCEPTED: () = ();

    /// Collects `values` in `scope`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::{FromIteratorIn, Vec};
    /// let list: Vec<i32> = FromIteratorIn::from_iter_in(1..4, &s);
    /// assert_eq!(list, [1, 2, 3]);
    /// ```
    fn from_iter_in<I: IntoIterator<Item = T>>(values: I, scope: &'s Scope<'a>) -> Self;
}

/// Collects an iterator into a scope.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// let s = arena.scope();
/// use ebbtide::{boxed::Box, collections::{CollectIn, String, Vec}};
///
/// let list: Vec<_> = (1..4).collect_in(&s);
/// let slice: &mut [i32] = (1..4).collect_in(&s);
/// let boxed: Box<[i32]> = (1..4).collect_in(&s);
/// let text: String = ["ebb", "flow"].into_iter().collect_in(&s);
/// assert!(list == slice && *boxed == *slice && text == "ebbflow");
///
/// let numbers: Result<Vec<u8>, _> = "1 2 x".split(' ').map(str::parse).collect_in(&s);
/// assert!(numbers.is_err()); // the first error, as with `collect`
/// ```
pub trait CollectIn: Iterator + Sized {
    /// Collects the iterator in `scope`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::{CollectIn, Vec};
    /// assert_eq!("ebb".chars().rev().collect_in::<Vec<_>>(&s), ['b', 'b', 'e']);
    /// ```
    #[inline]
    fn collect_in<'s, 'a: 's, C>(self, scope: &'s Scope<'a>) -> C
    where
        C: FromIteratorIn<'s, 'a, Self::Item>,
    {
        const { C::ACCEPTED };
        C::from_iter_in(self, scope)
    }
}

impl<I: Iterator> CollectIn for I {}

impl<'s, 'a, T> FromIteratorIn<'s, 'a, T> for Vec<'s, 'a, T> {
    const ACCEPTED: () = assert_plain::<T>();

    #[inline]
    fn from_iter_in<I: IntoIterator<Item = T>>(values: I, scope: &'s Scope<'a>) -> Self {
        Vec::from_iter_in(values, scope)
    }
}

impl<'s, 'a, T> FromIteratorIn<'s, 'a, T> for Owning<T, &'s Scope<'a>> {
    #[inline]
    fn from_iter_in<I: IntoIterator<Item = T>>(values: I, scope: &'s Scope<'a>) -> Self {
        let mut vec = scope.owned_vec();
        vec.extend(values);
        vec
    }
}

impl<'a, T> FromIteratorIn<'_, 'a, T> for NodeVec<'a, T> {
    const ACCEPTED: () = assert_plain::<T>();

    #[inline]
    fn from_iter_in<I: IntoIterator<Item = T>>(values: I, scope: &Scope<'a>) -> Self {
        let mut vec = NodeVec::new();
        vec.extend(scope, values);
        vec
    }
}

impl<'a, T> FromIteratorIn<'_, 'a, T> for &'a mut [T] {
    const ACCEPTED: () = assert_no_drop::<T>();

    #[inline]
    fn from_iter_in<I: IntoIterator<Item = T>>(values: I, scope: &Scope<'a>) -> Self {
        scope.alloc_slice_from_iter(values)
    }
}

impl<'a, T> FromIteratorIn<'_, 'a, T> for &'a [T] {
    const ACCEPTED: () = assert_no_drop::<T>();

    #[inline]
    fn from_iter_in<I: IntoIterator<Item = T>>(values: I, scope: &Scope<'a>) -> Self {
        scope.alloc_slice_from_iter(values)
    }
}

impl<'a, T> FromIteratorIn<'_, 'a, T> for Box<'a, [T]> {
    #[inline]
    fn from_iter_in<I: IntoIterator<Item = T>>(values: I, scope: &Scope<'a>) -> Self {
        scope.boxed_slice_from_iter(values)
    }
}

impl<'s, 'a, T> FromIteratorIn<'s, 'a, T> for String<'s, 'a>
where
    String<'s, 'a>: Extend<T>,
{
    #[inline]
    fn from_iter_in<I: IntoIterator<Item = T>>(pieces: I, scope: &'s Scope<'a>) -> Self {
        String::from_iter_in(pieces, scope)
    }
}

/// Collects the values up to the first `None`, which is the result if there is one.
impl<'s, 'a, T, C: FromIteratorIn<'s, 'a, T>> FromIteratorIn<'s, 'a, Option<T>> for Option<C> {
    const ACCEPTED: () = C::ACCEPTED;

    #[inline]
    fn from_iter_in<I: IntoIterator<Item = Option<T>>>(values: I, scope: &'s Scope<'a>) -> Self {
        let mut complete = true;
        let values = values.into_iter().map_while(|value| {
            complete &= value.is_some();
            value
        });
        let collection = C::from_iter_in(values, scope);
        complete.then_some(collection)
    }
}

/// Collects the values up to the first error, which is the result if there is one. To give back the
/// memory of the values before it, use
/// [`alloc_slice_try_from_iter`](Scope::alloc_slice_try_from_iter).
impl<'s, 'a, T, E, C: FromIteratorIn<'s, 'a, T>> FromIteratorIn<'s, 'a, Result<T, E>>
    for Result<C, E>
{
    const ACCEPTED: () = C::ACCEPTED;

    #[inline]
    fn from_iter_in<I: IntoIterator<Item = Result<T, E>>>(values: I, scope: &'s Scope<'a>) -> Self {
        let mut failed = Ok(());
        let values = values.into_iter().map_while(|value| match value {
            Ok(value) => Some(value),
            Err(error) => {
                failed = Err(error);
                None
            }
        });
        let collection = C::from_iter_in(values, scope);
        failed.map(|()| collection)
    }
}
