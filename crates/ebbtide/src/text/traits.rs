//! Trait implementations of strings.

use super::{FromUtf8Error, GrowString, String, Text};
use crate::{
    boxed::Box,
    error::AllocError,
    vector::{Memory, Vector},
};
use core::{
    borrow::{Borrow, BorrowMut},
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ops::{Add, AddAssign, Deref, DerefMut},
};

impl<M> Deref for Text<M> {
    type Target = str;

    #[inline(always)]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<M> DerefMut for Text<M> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut str {
        self.as_mut_str()
    }
}

/// Clones into the same scope.
impl<M: Memory + Copy> Clone for Text<M> {
    fn clone(&self) -> Self {
        Text { bytes: self.bytes.clone() }
    }
}

impl<M: Memory> fmt::Write for Text<M> {
    /// Fails if there is no memory; the text is then unchanged.
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.try_push_str(text).map_err(|AllocError| fmt::Error)
    }

    #[inline]
    fn write_char(&mut self, character: char) -> fmt::Result {
        self.try_push(character).map_err(|AllocError| fmt::Error)
    }
}

/// Calls `add` for every item of an iterator.
macro_rules! extend {
    ($([$($lifetime:lifetime)?] $piece:ty: |$text:ident, $value:ident| $add:expr),+ $(,)?) => {
        $(
            impl<$($lifetime,)? M: Memory> Extend<$piece> for Text<M> {
                #[inline]
                fn extend<I: IntoIterator<Item = $piece>>(&mut self, pieces: I) {
                    let $text = self;
                    pieces.into_iter().for_each(|$value| $add);
                }
            }
        )+
    };
}
extend!(
    ['x] &'x char: |text, character| text.push(*character),
    ['x] &'x str: |text, piece| text.push_str(piece),
    ['x] Box<'x, str>: |text, piece| text.push_str(&piece),
);

impl<M: Memory> Extend<char> for Text<M> {
    #[inline]
    fn extend<I: IntoIterator<Item = char>>(&mut self, characters: I) {
        let characters = characters.into_iter();
        // If reserving fails, the text grows as characters arrive; the hint may be wrong.
        let _ = self.try_reserve(characters.size_hint().0.min(1 << 16));
        characters.for_each(|character| self.push(character));
    }
}

#[cfg(feature = "alloc")]
extend!(
    [] alloc::string::String: |text, piece| text.push_str(&piece),
    ['x] &'x alloc::string::String: |text, piece| text.push_str(piece),
    [] alloc::boxed::Box<str>: |text, piece| text.push_str(&piece),
    ['x] alloc::borrow::Cow<'x, str>: |text, piece| text.push_str(&piece),
);

impl<'x, M: Memory, N> Extend<&'x Text<N>> for Text<M> {
    #[inline]
    fn extend<I: IntoIterator<Item = &'x Text<N>>>(&mut self, pieces: I) {
        pieces.into_iter().for_each(|piece| self.push_str(piece));
    }
}

impl<M: Memory> AddAssign<&str> for Text<M> {
    #[inline]
    fn add_assign(&mut self, text: &str) {
        self.push_str(text);
    }
}

impl<M: Memory> Add<&str> for Text<M> {
    type Output = Self;

    #[inline]
    fn add(mut self, text: &str) -> Self {
        self.push_str(text);
        self
    }
}

impl<M> AsRef<str> for Text<M> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl<M> AsRef<[u8]> for Text<M> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

#[cfg(feature = "std")]
impl<M> AsRef<std::ffi::OsStr> for Text<M> {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.as_str().as_ref()
    }
}

#[cfg(feature = "std")]
impl<M> AsRef<std::path::Path> for Text<M> {
    fn as_ref(&self) -> &std::path::Path {
        self.as_str().as_ref()
    }
}

impl<M> AsMut<str> for Text<M> {
    fn as_mut(&mut self) -> &mut str {
        self
    }
}

impl<M> Borrow<str> for Text<M> {
    fn borrow(&self) -> &str {
        self
    }
}

impl<M> BorrowMut<str> for Text<M> {
    fn borrow_mut(&mut self) -> &mut str {
        self
    }
}

/// The conversions of one kind of string.
macro_rules! finished {
    ($($text:ty),+) => {
        $(
            /// Finishes the string, like `into_str`.
            impl<'a> From<$text> for &'a str {
                fn from(text: $text) -> Self {
                    text.into_str()
                }
            }

            /// Finishes the string, like `into_str`.
            impl<'a> From<$text> for &'a mut str {
                fn from(text: $text) -> Self {
                    text.into_str()
                }
            }

            /// Finishes the string, like `into_boxed_str`.
            impl<'a> From<$text> for Box<'a, str> {
                fn from(text: $text) -> Self {
                    text.into_boxed_str()
                }
            }
        )+
    };
}
finished!(String<'_, 'a>, GrowString<'_, 'a>);

/// The bytes, like [`into_bytes`](Text::into_bytes).
impl<M> From<Text<M>> for Vector<u8, M> {
    fn from(text: Text<M>) -> Self {
        text.into_bytes()
    }
}

impl<M> TryFrom<Vector<u8, M>> for Text<M> {
    type Error = FromUtf8Error<M>;

    fn try_from(bytes: Vector<u8, M>) -> Result<Self, FromUtf8Error<M>> {
        Text::from_utf8(bytes)
    }
}

#[cfg(feature = "alloc")]
impl<M> From<&Text<M>> for alloc::string::String {
    fn from(text: &Text<M>) -> Self {
        text.as_str().into()
    }
}

#[cfg(feature = "alloc")]
impl<M> From<Text<M>> for alloc::string::String {
    fn from(text: Text<M>) -> Self {
        text.as_str().into()
    }
}

impl<M, N> PartialEq<Text<N>> for Text<M> {
    #[inline]
    fn eq(&self, other: &Text<N>) -> bool {
        **self == **other
    }
}

impl<M> Eq for Text<M> {}

impl<M, N> PartialOrd<Text<N>> for Text<M> {
    #[inline]
    fn partial_cmp(&self, other: &Text<N>) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<M> Ord for Text<M> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

/// Compares with other types of strings, on either side.
macro_rules! equal {
    ($($(#[$attribute:meta])* [$($lifetime:lifetime)?] $other:ty),+ $(,)?) => {
        $(
            $(#[$attribute])*
            impl<$($lifetime,)? M> PartialEq<$other> for Text<M> {
                #[inline]
                fn eq(&self, other: &$other) -> bool {
                    self.as_str() == &other[..]
                }
            }

            $(#[$attribute])*
            impl<$($lifetime,)? M> PartialEq<Text<M>> for $other {
                #[inline]
                fn eq(&self, other: &Text<M>) -> bool {
                    &self[..] == other.as_str()
                }
            }
        )+
    };
}
equal!(
    [] str,
    ['x] &'x str,
    ['x] Box<'x, str>,
    #[cfg(feature = "alloc")]
    [] alloc::string::String,
    #[cfg(feature = "alloc")]
    ['x] alloc::borrow::Cow<'x, str>,
    #[cfg(feature = "alloc")]
    [] alloc::boxed::Box<str>,
);

impl<M> Hash for Text<M> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<M> fmt::Debug for Text<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<M> fmt::Display for Text<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
