//! Collecting iterators.

use super::{string::String, vec::Vec};
use crate::Bump;
#[cfg(feature = "boxed")]
use crate::boxed::Box;

/// A collection that [`collect_in`](CollectIn::collect_in) can build.
///
/// ```
/// use bumpalo::{Bump, collections::{FromIteratorIn, Vec}};
/// let bump = Bump::new();
/// let list: Vec<u32> = FromIteratorIn::from_iter_in(1..3, &bump);
/// assert_eq!(list, [1, 2]);
/// ```
pub trait FromIteratorIn<A> {
    /// The reference to the arena.
    type Alloc;

    /// Collects `iter` in the arena.
    ///
    /// ```
    /// use bumpalo::{Bump, collections::{FromIteratorIn, String}};
    /// let bump = Bump::new();
    /// let text: String = FromIteratorIn::from_iter_in("ebb".chars().rev(), &bump);
    /// assert_eq!(text, "bbe");
    /// ```
    fn from_iter_in<I>(iter: I, alloc: Self::Alloc) -> Self
    where
        I: IntoIterator<Item = A>;
}

/// Collects an iterator in an arena.
///
/// ```
/// use bumpalo::{Bump, collections::{CollectIn, Vec}};
/// let bump = Bump::new();
/// let list = (1..3).collect_in::<Vec<_>>(&bump);
/// assert_eq!(list, [1, 2]);
/// let numbers = ["1", "x"].iter().map(|text| text.parse());
/// assert!(numbers.collect_in::<Result<Vec<u32>, _>>(&bump).is_err()); // the first error
/// ```
pub trait CollectIn: Iterator + Sized {
    /// Collects the iterator in the arena.
    ///
    /// ```
    /// use bumpalo::{Bump, collections::{CollectIn, String}};
    /// let bump = Bump::new();
    /// assert_eq!("ebb".chars().collect_in::<String>(&bump), "ebb");
    /// ```
    fn collect_in<C: FromIteratorIn<Self::Item>>(self, alloc: C::Alloc) -> C {
        C::from_iter_in(self, alloc)
    }
}

impl<I: Iterator> CollectIn for I {}

impl<'bump, T> FromIteratorIn<T> for Vec<'bump, T> {
    type Alloc = &'bump Bump;

    fn from_iter_in<I: IntoIterator<Item = T>>(iter: I, alloc: &'bump Bump) -> Self {
        Vec::from_iter_in(iter, alloc)
    }
}

#[cfg(feature = "boxed")]
impl<'bump, T> FromIteratorIn<T> for Box<'bump, [T]> {
    type Alloc = &'bump Bump;

    fn from_iter_in<I: IntoIterator<Item = T>>(iter: I, alloc: &'bump Bump) -> Self {
        Box::from_iter_in(iter, alloc)
    }
}

impl<'bump> FromIteratorIn<char> for String<'bump> {
    type Alloc = &'bump Bump;

    fn from_iter_in<I: IntoIterator<Item = char>>(iter: I, alloc: &'bump Bump) -> Self {
        String::from_iter_in(iter, alloc)
    }
}

/// Collects the values up to the first `None`, which is the result if there is one.
impl<T, V: FromIteratorIn<T>> FromIteratorIn<Option<T>> for Option<V> {
    type Alloc = V::Alloc;

    fn from_iter_in<I: IntoIterator<Item = Option<T>>>(iter: I, alloc: V::Alloc) -> Self {
        let values = iter.into_iter().map(|value| value.ok_or(()));
        Result::from_iter_in(values, alloc).ok()
    }
}

/// Collects the values up to the first error, which is the result if there is one.
impl<T, E, V: FromIteratorIn<T>> FromIteratorIn<Result<T, E>> for Result<V, E> {
    type Alloc = V::Alloc;

    fn from_iter_in<I: IntoIterator<Item = Result<T, E>>>(iter: I, alloc: V::Alloc) -> Self {
        let mut failed = Ok(());
        let values = iter.into_iter().map_while(|value| match value {
            Ok(value) => Some(value),
            Err(error) => {
                failed = Err(error);
                None
            }
        });
        let collection = V::from_iter_in(values, alloc);
        failed.map(|()| collection)
    }
}
