//! Trait implementations of all vectors, most of them like those of slices.

use super::{
    Elements, GrowVec, IntoIter, Length, Memory, NodeVec, ScopeMut, Vec, Vector, assert_plain,
    owning::Owning,
};
#[cfg(feature = "std")]
use crate::error::AllocError;
use crate::{boxed::Box, scope::Scope};
use core::{
    borrow::{Borrow, BorrowMut},
    cmp::Ordering,
    convert::Infallible,
    fmt,
    hash::{Hash, Hasher},
    ops::{Deref, DerefMut},
};

impl<T, M, L: Length> Deref for Vector<T, M, L> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T, M, L: Length> DerefMut for Vector<T, M, L> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

/// Clones into the same scope.
impl<T: Clone, M: Memory + Copy> Clone for Vector<T, M> {
    fn clone(&self) -> Self {
        const { assert_plain::<T>() };
        let mut clone = Vector { elements: Elements::new(), memory: self.memory };
        let Ok(()) = clone.elements.reserve_exact::<Infallible>(&mut clone.memory, self.len());
        // SAFETY: room was reserved for as many.
        unsafe { clone.elements.clone_unchecked(self) };
        clone
    }
}

impl<T, M: Memory, L: Length> Extend<T> for Vector<T, M, L> {
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes, or if the iterator panics; elements
    /// added before stay.
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        let Ok(()) = self.elements.extend::<Infallible, _>(&mut self.memory, values.into_iter());
    }
}

impl<'x, T: Copy + 'x, M: Memory, L: Length> Extend<&'x T> for Vector<T, M, L> {
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes, or if the iterator panics; elements
    /// added before stay.
    #[inline]
    fn extend<I: IntoIterator<Item = &'x T>>(&mut self, values: I) {
        let values = values.into_iter().copied();
        let Ok(()) = self.elements.extend::<Infallible, _>(&mut self.memory, values);
    }
}

/// Fails with [`OutOfMemory`](std::io::ErrorKind::OutOfMemory) if there is no memory; the bytes are
/// then unchanged.
///
/// ```
/// # use std::io::Write;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let mut bytes = s.vec();
/// bytes.write_all(b"ebb and flow")?;
/// assert_eq!(bytes, b"ebb and flow");
/// # Ok::<(), std::io::Error>(())
/// ```
#[cfg(feature = "std")]
impl<M: Memory, L: Length> std::io::Write for Vector<u8, M, L> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.extend_from_slice_copy_in::<AllocError>(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(AllocError) => Err(std::io::ErrorKind::OutOfMemory.into()),
        }
    }

    #[inline]
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<T, M, L: Length> IntoIterator for Vector<T, M, L> {
    type Item = T;
    type IntoIter = IntoIter<T, M>;

    #[inline]
    fn into_iter(mut self) -> IntoIter<T, M> {
        IntoIter::of(&mut self.elements)
    }
}

/// Returns the vector if it does not have exactly `N` elements.
impl<T, M, L: Length, const N: usize> TryFrom<Vector<T, M, L>> for [T; N] {
    type Error = Vector<T, M, L>;

    fn try_from(vector: Vector<T, M, L>) -> Result<Self, Self::Error> {
        if vector.len() == N { Ok(array_of(vector.into_iter())) } else { Err(vector) }
    }
}

/// Returns the vector if it does not have exactly `N` elements.
impl<T, M: Memory, const N: usize> TryFrom<Owning<T, M>> for [T; N] {
    type Error = Owning<T, M>;

    fn try_from(vector: Owning<T, M>) -> Result<Self, Self::Error> {
        if vector.len() == N { Ok(array_of(vector.into_iter())) } else { Err(vector) }
    }
}

/// The elements of an iterator of exactly `N`.
fn array_of<T, const N: usize>(mut values: impl ExactSizeIterator<Item = T>) -> [T; N] {
    core::array::from_fn(|_| {
        values.next().unwrap_or_else(|| unreachable!("the length was compared"))
    })
}

/// The conversions of one kind of vector.
macro_rules! finished {
    ($($vector:ty),+) => {
        $(
            /// Finishes the vector, like `into_slice`.
            impl<'a, T> From<$vector> for &'a mut [T] {
                fn from(vector: $vector) -> Self {
                    vector.into_slice()
                }
            }

            /// Finishes the vector, like `into_slice`.
            impl<'a, T> From<$vector> for &'a [T] {
                fn from(vector: $vector) -> Self {
                    vector.into_slice()
                }
            }

            /// Finishes the vector, like `into_boxed_slice`.
            impl<'a, T> From<$vector> for Box<'a, [T]> {
                fn from(vector: $vector) -> Self {
                    vector.into_boxed_slice()
                }
            }
        )+
    };
}
finished!(Vec<'_, 'a, T>, GrowVec<'_, 'a, T>, NodeVec<'a, T>);

impl<'a, T> From<Owning<T, &Scope<'a>>> for Box<'a, [T]> {
    fn from(vector: Owning<T, &Scope<'a>>) -> Self {
        vector.into_boxed_slice()
    }
}

impl<'a, T> From<Owning<T, ScopeMut<'_, 'a>>> for Box<'a, [T]> {
    fn from(vector: Owning<T, ScopeMut<'_, 'a>>) -> Self {
        vector.into_boxed_slice()
    }
}

/// Moves the elements to the heap.
#[cfg(feature = "alloc")]
impl<T, M, L: Length> From<Vector<T, M, L>> for alloc::vec::Vec<T> {
    fn from(vector: Vector<T, M, L>) -> Self {
        vector.into_iter().collect()
    }
}

/// Moves the elements to the heap.
#[cfg(feature = "alloc")]
impl<T, M: Memory> From<Owning<T, M>> for alloc::vec::Vec<T> {
    fn from(vector: Owning<T, M>) -> Self {
        vector.into_iter().collect()
    }
}

impl<'v, T, M, L: Length> IntoIterator for &'v Vector<T, M, L> {
    type Item = &'v T;
    type IntoIter = core::slice::Iter<'v, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'v, T, M, L: Length> IntoIterator for &'v mut Vector<T, M, L> {
    type Item = &'v mut T;
    type IntoIter = core::slice::IterMut<'v, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// The traits that a vector implements if its elements do, for one kind of vector.
macro_rules! of_slices {
    ($name:ident<T, M $(: $memory:ident)? $(, $L:ident)?>) => {
        impl<T, M $(: $memory)? $(, $L: Length)?> AsRef<[T]> for $name<T, M $(, $L)?> {
            fn as_ref(&self) -> &[T] {
                self
            }
        }

        impl<T, M $(: $memory)? $(, $L: Length)?> AsMut<[T]> for $name<T, M $(, $L)?> {
            fn as_mut(&mut self) -> &mut [T] {
                self
            }
        }

        impl<T, M $(: $memory)? $(, $L: Length)?> AsRef<$name<T, M $(, $L)?>> for $name<T, M $(, $L)?> {
            fn as_ref(&self) -> &Self {
                self
            }
        }

        impl<T, M $(: $memory)? $(, $L: Length)?> AsMut<$name<T, M $(, $L)?>> for $name<T, M $(, $L)?> {
            fn as_mut(&mut self) -> &mut Self {
                self
            }
        }

        impl<T, M $(: $memory)? $(, $L: Length)?> Borrow<[T]> for $name<T, M $(, $L)?> {
            fn borrow(&self) -> &[T] {
                self
            }
        }

        impl<T, M $(: $memory)? $(, $L: Length)?> BorrowMut<[T]> for $name<T, M $(, $L)?> {
            fn borrow_mut(&mut self) -> &mut [T] {
                self
            }
        }

        impl<T: fmt::Debug, M $(: $memory)? $(, $L: Length)?> fmt::Debug for $name<T, M $(, $L)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: Eq, M $(: $memory)? $(, $L: Length)?> Eq for $name<T, M $(, $L)?> {}

        impl<T: Ord, M $(: $memory)? $(, $L: Length)?> Ord for $name<T, M $(, $L)?> {
            fn cmp(&self, other: &Self) -> Ordering {
                (**self).cmp(&**other)
            }
        }

        impl<T: Hash, M $(: $memory)? $(, $L: Length)?> Hash for $name<T, M $(, $L)?> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                (**self).hash(state);
            }
        }

        of_slices!(equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?] $name<T, M $(, $L)?>, [U]);
        of_slices!(equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?] $name<T, M $(, $L)?>, &[U]);
        of_slices!(equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?] $name<T, M $(, $L)?>, &mut [U]);
        of_slices!(
            equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?, const N: usize]
            $name<T, M $(, $L)?>, [U; N]
        );
        of_slices!(
            equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?, const N: usize]
            $name<T, M $(, $L)?>, &[U; N]
        );
        of_slices!(
            equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?, const N: usize]
            $name<T, M $(, $L)?>, &mut [U; N]
        );
        of_slices!(
            equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?]
            $name<T, M $(, $L)?>, Box<'_, [U]>
        );
        of_slices!(equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?] [T], $name<U, M $(, $L)?>);
        of_slices!(equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?] &[T], $name<U, M $(, $L)?>);
        of_slices!(equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?] &mut [T], $name<U, M $(, $L)?>);
        of_slices!(
            equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?, const N: usize]
            [T; N], $name<U, M $(, $L)?>
        );
        of_slices!(
            equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?]
            Box<'_, [T]>, $name<U, M $(, $L)?>
        );
        #[cfg(feature = "alloc")]
        of_slices!(
            equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?]
            $name<T, M $(, $L)?>, alloc::vec::Vec<U>
        );
        #[cfg(feature = "alloc")]
        of_slices!(
            equal [T: PartialEq<U>, U, M $(: $memory)? $(, $L: Length)?]
            alloc::vec::Vec<T>, $name<U, M $(, $L)?>
        );
        #[cfg(feature = "alloc")]
        of_slices!(
            equal [T: PartialEq<U> + Clone, U, M $(: $memory)? $(, $L: Length)?]
            alloc::borrow::Cow<'_, [T]>, $name<U, M $(, $L)?>
        );
    };
    (equal [$($parameters:tt)*] $one:ty, $other:ty) => {
        impl<$($parameters)*> PartialEq<$other> for $one {
            #[inline]
            fn eq(&self, other: &$other) -> bool {
                self[..] == other[..]
            }
        }
    };
}

of_slices!(Vector<T, M, L>);
of_slices!(Owning<T, M: Memory>);

// For vectors of any two kinds.
impl<T: PartialEq<U>, U, M, N, L: Length, K: Length> PartialEq<Vector<U, N, K>>
    for Vector<T, M, L>
{
    #[inline]
    fn eq(&self, other: &Vector<U, N, K>) -> bool {
        self[..] == other[..]
    }
}

impl<T: PartialOrd, M, N, L: Length, K: Length> PartialOrd<Vector<T, N, K>> for Vector<T, M, L> {
    #[inline]
    fn partial_cmp(&self, other: &Vector<T, N, K>) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: PartialEq<U>, U, M: Memory, N: Memory> PartialEq<Owning<U, N>> for Owning<T, M> {
    #[inline]
    fn eq(&self, other: &Owning<U, N>) -> bool {
        self[..] == other[..]
    }
}

impl<T: PartialOrd, M: Memory, N: Memory> PartialOrd<Owning<T, N>> for Owning<T, M> {
    #[inline]
    fn partial_cmp(&self, other: &Owning<T, N>) -> Option<Ordering> {
        (***self).partial_cmp(&***other)
    }
}
