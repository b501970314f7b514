//! Strings in an arena.

use super::vec::Vec;
use crate::Bump;
use core::{
    borrow::{Borrow, BorrowMut},
    char::decode_utf16,
    fmt,
    hash::{Hash, Hasher},
    iter::FusedIterator,
    ops::{
        Add, AddAssign, Deref, DerefMut, Index, IndexMut, Range, RangeBounds, RangeFrom, RangeFull,
        RangeInclusive, RangeTo, RangeToInclusive,
    },
    str::Utf8Error,
};
use core_alloc::borrow::Cow;
use ebbtide::collections::{Text, TextDrain};

/// Formats into a string in an arena.
///
/// ```
/// let bump = bumpalo::Bump::new();
/// assert_eq!(bumpalo::format!(in &bump, "{} m", 131), "131 m");
/// ```
#[macro_export]
macro_rules! format {
    (in $bump:expr, $($arguments:tt)*) => {
        $crate::collections::string::formatted($bump, ::core::format_args!($($arguments)*))
    };
}

/// The implementation of [`format!`](crate::format).
#[doc(hidden)]
#[must_use]
pub fn formatted<'bump>(bump: &'bump Bump, arguments: fmt::Arguments<'_>) -> String<'bump> {
    let mut text = String::new_in(bump);
    // An error is ignored, as with bumpalo.
    let _ = fmt::Write::write_fmt(&mut text, arguments);
    text
}

/// A growable string in an arena.
///
/// ```
/// use bumpalo::{Bump, collections::String};
///
/// let bump = Bump::new();
/// let mut text = String::from_str_in("ebb", &bump);
/// text.push_str(" and flow");
/// assert_eq!(text, "ebb and flow");
/// ```
pub struct String<'bump> {
    /// Always valid UTF-8.
    vec: Vec<'bump, u8>,
}

/// The error of [`String::from_utf8`], with the bytes.
///
/// ```
/// use bumpalo::{Bump, collections::String};
/// let bump = Bump::new();
/// let error = String::from_utf8(bumpalo::vec![in &bump; 0xFF]).unwrap_err();
/// assert_eq!(error.into_bytes(), [0xFF]);
/// ```
#[derive(Debug)]
pub struct FromUtf8Error<'bump> {
    bytes: Vec<'bump, u8>,
    error: Utf8Error,
}

/// The error of [`String::from_utf16_in`].
///
/// ```
/// let bump = bumpalo::Bump::new();
/// assert!(bumpalo::collections::String::from_utf16_in(&[0xD800], &bump).is_err());
/// ```
#[derive(Debug)]
pub struct FromUtf16Error(());

impl<'bump> String<'bump> {
    /// An empty string. Allocates nothing until the first character.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(bumpalo::collections::String::new_in(&bump).is_empty());
    /// ```
    #[inline]
    #[must_use]
    pub fn new_in(bump: &'bump Bump) -> String<'bump> {
        String { vec: Vec::new_in(bump) }
    }

    /// An empty string with room for `capacity` bytes.
    ///
    /// # Panics
    ///
    /// If there is no memory, like all methods that allocate.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::collections::String::with_capacity_in(9, &bump).capacity(), 9);
    /// ```
    #[inline]
    #[must_use]
    pub fn with_capacity_in(capacity: usize, bump: &'bump Bump) -> String<'bump> {
        String { vec: Vec::with_capacity_in(capacity, bump) }
    }

    /// Uses bytes as a string, if they are valid UTF-8.
    ///
    /// # Errors
    ///
    /// [`FromUtf8Error`] if they are not.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text = bumpalo::collections::String::from_utf8(bumpalo::vec![in &bump; b'e']);
    /// assert_eq!(text.unwrap(), "e");
    /// ```
    pub fn from_utf8(vec: Vec<'bump, u8>) -> Result<String<'bump>, FromUtf8Error<'bump>> {
        match core::str::from_utf8(&vec) {
            Ok(_) => Ok(String { vec }),
            Err(error) => Err(FromUtf8Error { bytes: vec, error }),
        }
    }

    /// Copies bytes. Each invalid sequence becomes U+FFFD.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text = bumpalo::collections::String::from_utf8_lossy_in(b"e\xFF", &bump);
    /// assert_eq!(text, "e\u{FFFD}");
    /// ```
    #[must_use]
    pub fn from_utf8_lossy_in(v: &[u8], bump: &'bump Bump) -> String<'bump> {
        let mut text = String::with_capacity_in(v.len(), bump);
        for chunk in v.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// Decodes UTF-16.
    ///
    /// # Errors
    ///
    /// [`FromUtf16Error`] if a surrogate has no partner.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text = bumpalo::collections::String::from_utf16_in(&[0x65, 0x62], &bump);
    /// assert_eq!(text.unwrap(), "eb");
    /// ```
    pub fn from_utf16_in(v: &[u16], bump: &'bump Bump) -> Result<String<'bump>, FromUtf16Error> {
        let mut text = String::with_capacity_in(v.len(), bump);
        for character in decode_utf16(v.iter().copied()) {
            text.push(character.map_err(|_| FromUtf16Error(()))?);
        }
        Ok(text)
    }

    /// Copies a string.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::collections::String::from_str_in("ebb", &bump), "ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn from_str_in(s: &str, bump: &'bump Bump) -> String<'bump> {
        let mut text = String::with_capacity_in(s.len(), bump);
        text.push_str(s);
        text
    }

    /// Collects characters.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::collections::String::from_iter_in("ebb".chars(), &bump), "ebb");
    /// ```
    pub fn from_iter_in<I: IntoIterator<Item = char>>(iter: I, bump: &'bump Bump) -> String<'bump> {
        let mut text = String::new_in(bump);
        text.extend(iter);
        text
    }

    /// Puts a string together from its parts.
    ///
    /// # Safety
    ///
    /// The parts are those of a string in `bump` that was forgotten.
    ///
    /// ```
    /// use bumpalo::{Bump, collections::String};
    /// let bump = Bump::new();
    /// let mut text = std::mem::ManuallyDrop::new(String::from_str_in("ebb", &bump));
    /// let (start, len, capacity) = (text.as_mut_str().as_mut_ptr(), text.len(), text.capacity());
    /// // SAFETY: the parts of a string that was forgotten.
    /// let text = unsafe { String::from_raw_parts_in(start, len, capacity, &bump) };
    /// assert_eq!(text, "ebb");
    /// ```
    pub unsafe fn from_raw_parts_in(
        buf: *mut u8,
        length: usize,
        capacity: usize,
        bump: &'bump Bump,
    ) -> String<'bump> {
        // SAFETY: by this function's contract, these are the parts of a forgotten string in `bump`,
        // whose bytes are the elements of a vector; they are UTF-8.
        String { vec: unsafe { Vec::from_raw_parts_in(buf, length, capacity, bump) } }
    }

    /// Uses bytes as a string.
    ///
    /// # Safety
    ///
    /// The bytes are valid UTF-8.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let bytes = bumpalo::vec![in &bump; b'e'];
    /// // SAFETY: this is an ASCII character.
    /// let text = unsafe { bumpalo::collections::String::from_utf8_unchecked(bytes) };
    /// assert_eq!(text, "e");
    /// ```
    #[must_use]
    pub unsafe fn from_utf8_unchecked(bytes: Vec<'bump, u8>) -> String<'bump> {
        String { vec: bytes }
    }

    /// The arena.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text = bumpalo::collections::String::new_in(&bump);
    /// assert!(std::ptr::eq(text.bump(), &bump));
    /// ```
    #[must_use]
    pub fn bump(&self) -> &'bump Bump {
        self.vec.bump()
    }

    /// The bytes, as a vector.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text = bumpalo::collections::String::from_str_in("e", &bump);
    /// assert_eq!(text.into_bytes(), [b'e']);
    /// ```
    #[must_use]
    pub fn into_bytes(self) -> Vec<'bump, u8> {
        self.vec
    }

    /// Finishes the string, which stays in the arena.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text: &str = bumpalo::collections::String::from_str_in("ebb", &bump).into_bump_str();
    /// assert_eq!(text, "ebb");
    /// ```
    #[must_use]
    pub fn into_bump_str(self) -> &'bump str {
        let bytes = self.vec.into_bump_slice();
        // SAFETY: the bytes of a string are UTF-8, and `into_bump_slice` changes none of them.
        unsafe { core::str::from_utf8_unchecked(bytes) }
    }

    /// The string.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::collections::String::from_str_in("ebb", &bump).as_str(), "ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn as_str(&self) -> &str {
        // SAFETY: the bytes of a string are UTF-8: `as_mut_vec` and `from_utf8_unchecked` demand
        // it.
        unsafe { core::str::from_utf8_unchecked(&self.vec) }
    }

    /// The string, whose characters can be changed.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut text = bumpalo::collections::String::from_str_in("ebb", &bump);
    /// text.as_mut_str().make_ascii_uppercase();
    /// assert_eq!(text, "EBB");
    /// ```
    #[inline]
    pub fn as_mut_str(&mut self) -> &mut str {
        self.text().as_mut_str()
    }

    /// The bytes.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::collections::String::from_str_in("e", &bump).as_bytes(), b"e");
    /// ```
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.vec
    }

    /// The number of bytes.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bumpalo::collections::String::from_str_in("ebb", &bump).len(), 3);
    /// ```
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.vec.len()
    }

    /// Whether there are no characters.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(bumpalo::collections::String::new_in(&bump).is_empty());
    /// ```
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vec.is_empty()
    }

    /// The number of bytes that fit without growing.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(bumpalo::collections::String::from_str_in("ebb", &bump).capacity() >= 3);
    /// ```
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.vec.capacity()
    }

    /// The bytes, as a vector that can be changed.
    ///
    /// # Safety
    ///
    /// The bytes are valid UTF-8 when the borrow ends.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut text = bumpalo::collections::String::from_str_in("ebb", &bump);
    /// // SAFETY: the characters are ASCII.
    /// unsafe { text.as_mut_vec() }.reverse();
    /// assert_eq!(text, "bbe");
    /// ```
    #[inline]
    pub unsafe fn as_mut_vec(&mut self) -> &mut Vec<'bump, u8> {
        &mut self.vec
    }

    /// The vector as a string of ebbtide.
    #[inline(always)]
    fn text(&mut self) -> &mut Text<&'bump Bump> {
        // SAFETY: the bytes of a string are UTF-8: `as_mut_vec` and `from_utf8_unchecked` demand
        // it.
        unsafe { Text::from_utf8_unchecked_mut(&mut self.vec.0) }
    }

    /// Moves the characters from `at` on to a new string. Takes no memory: this string has no spare
    /// capacity afterwards.
    ///
    /// # Panics
    ///
    /// If `at` is not on a character boundary.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut text = bumpalo::collections::String::from_str_in("ebb", &bump);
    /// assert_eq!(text.split_off(1), "bb");
    /// ```
    #[inline]
    #[must_use = "the characters are lost with the string that is returned"]
    #[track_caller]
    pub fn split_off(&mut self, at: usize) -> String<'bump> {
        assert!(self.is_char_boundary(at), "{at} is not on a character boundary");
        String { vec: self.vec.split_off(at) }
    }

    /// Removes a range of characters, and returns them. The same as [`std::string::String::drain`].
    ///
    /// # Panics
    ///
    /// If the range is not on character boundaries.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let mut text = bumpalo::collections::String::from_str_in("ebb", &bump);
    /// assert!(text.drain(..2).eq(['e', 'b']));
    /// assert_eq!(text, "b");
    /// ```
    #[track_caller]
    pub fn drain<'a, R>(&'a mut self, range: R) -> Drain<'a, 'bump>
    where
        R: RangeBounds<usize>,
    {
        Drain { inner: self.text().drain(range) }
    }
}

/// Defines methods that call the one of ebbtide's string with the same name or, if `$try_name` is
/// given, its fallible version.
macro_rules! forward {
    ($(
        $name:ident $(by $try_name:ident)? [$($generics:tt)*](
            &mut self $(, $argument:ident: $type:ty)*
        ) $(-> $result:ty)? $(where [$($bounds:tt)*])?;
    )*) => {
        $(
            #[doc = concat!("The same as [`std::string::String::", stringify!($name), "`].")]
            #[inline]
            #[track_caller]
            pub fn $name<$($generics)*>(&mut self $(, $argument: $type)*) $(-> $result)?
            $(where $($bounds)*)? {
                forward!(@ self.text(), $name $($try_name)?, ($($argument),*))
            }
        )*
    };
    (@ $inner:expr, $name:ident, $arguments:tt) => { $inner.$name $arguments };
    (@ $inner:expr, $name:ident $try_name:ident, $arguments:tt) => {
        crate::error::or_panic($inner.$try_name $arguments)
    };
}

/// Methods with the names of [`std::string::String`].
///
/// ```
/// let bump = bumpalo::Bump::new();
/// let mut text = bumpalo::collections::String::from_str_in("ebb", &bump);
/// text.insert_str(0, "the ");
/// text.retain(|character| character != 'h');
/// assert_eq!(text, "te ebb");
/// ```
impl<'bump> String<'bump> {
    forward! {
        push_str by try_push_str [](&mut self, string: &str);
        push by try_push [](&mut self, ch: char);
        reserve by try_reserve [](&mut self, additional: usize);
        reserve_exact by try_reserve_exact [](&mut self, additional: usize);
        shrink_to_fit [](&mut self);
        truncate [](&mut self, new_len: usize);
        pop [](&mut self) -> Option<char>;
        remove [](&mut self, idx: usize) -> char;
        retain [F](&mut self, f: F) where [F: FnMut(char) -> bool];
        insert by try_insert [](&mut self, idx: usize, ch: char);
        insert_str by try_insert_str [](&mut self, idx: usize, string: &str);
        clear [](&mut self);
        replace_range by try_replace_range [R](&mut self, range: R, replace_with: &str)
            where [R: RangeBounds<usize>];
    }
}

impl<'bump> FromUtf8Error<'bump> {
    /// The bytes.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text = bumpalo::collections::String::from_utf8(bumpalo::vec![in &bump; 0xFF]);
    /// assert_eq!(text.unwrap_err().as_bytes(), [0xFF]);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, as the vector that was passed.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text = bumpalo::collections::String::from_utf8(bumpalo::vec![in &bump; 0xFF]);
    /// assert_eq!(text.unwrap_err().into_bytes(), [0xFF]);
    /// ```
    #[must_use]
    pub fn into_bytes(self) -> Vec<'bump, u8> {
        self.bytes
    }

    /// Where the bytes are invalid.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let text = bumpalo::collections::String::from_utf8(bumpalo::vec![in &bump; b'e', 0xFF]);
    /// assert_eq!(text.unwrap_err().utf8_error().valid_up_to(), 1);
    /// ```
    #[must_use]
    pub fn utf8_error(&self) -> Utf8Error {
        self.error
    }
}

impl fmt::Display for FromUtf8Error<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl fmt::Display for FromUtf16Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid utf-16: lone surrogate found")
    }
}

impl Clone for String<'_> {
    fn clone(&self) -> Self {
        String { vec: self.vec.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.clear();
        self.push_str(source);
    }
}

impl Extend<char> for String<'_> {
    fn extend<I: IntoIterator<Item = char>>(&mut self, iter: I) {
        let iter = iter.into_iter();
        self.reserve(iter.size_hint().0);
        iter.for_each(|character| self.push(character));
    }
}

impl<'a> Extend<&'a char> for String<'_> {
    fn extend<I: IntoIterator<Item = &'a char>>(&mut self, iter: I) {
        self.extend(iter.into_iter().copied());
    }
}

macro_rules! extend {
    ($([$($lifetime:lifetime),*] $piece:ty;)*) => {
        $(
            impl<'bump $(, $lifetime)*> Extend<$piece> for String<'bump> {
                fn extend<I: IntoIterator<Item = $piece>>(&mut self, iter: I) {
                    iter.into_iter().for_each(|piece| self.push_str(&piece));
                }
            }
        )*
    };
}
extend! {
    ['a] &'a str;
    [] String<'bump>;
    [] core_alloc::string::String;
    ['a] Cow<'a, str>;
}

impl PartialEq for String<'_> {
    #[inline]
    fn eq(&self, other: &String<'_>) -> bool {
        **self == **other
    }
}

macro_rules! equal {
    ($([$($lifetime:lifetime),*] $other:ty;)*) => {
        $(
            impl<'bump $(, $lifetime)*> PartialEq<$other> for String<'bump> {
                #[inline]
                fn eq(&self, other: &$other) -> bool {
                    self[..] == other[..]
                }
            }

            impl<'bump $(, $lifetime)*> PartialEq<String<'bump>> for $other {
                #[inline]
                fn eq(&self, other: &String<'bump>) -> bool {
                    self[..] == other[..]
                }
            }
        )*
    };
}
equal! {
    [] str;
    ['a] &'a str;
    ['a] Cow<'a, str>;
    [] core_alloc::string::String;
}

impl Eq for String<'_> {}

impl PartialOrd for String<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for String<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl fmt::Display for String<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for String<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Hash for String<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (**self).hash(hasher);
    }
}

impl<'bump> Add<&str> for String<'bump> {
    type Output = String<'bump>;

    fn add(mut self, other: &str) -> String<'bump> {
        self.push_str(other);
        self
    }
}

impl AddAssign<&str> for String<'_> {
    fn add_assign(&mut self, other: &str) {
        self.push_str(other);
    }
}

macro_rules! index {
    ($($range:ty)*) => {
        $(
            impl Index<$range> for String<'_> {
                type Output = str;

                #[inline]
                fn index(&self, index: $range) -> &str {
                    &(**self)[index]
                }
            }

            impl IndexMut<$range> for String<'_> {
                #[inline]
                fn index_mut(&mut self, index: $range) -> &mut str {
                    &mut (**self)[index]
                }
            }
        )*
    };
}
index!(Range<usize> RangeTo<usize> RangeFrom<usize> RangeFull RangeInclusive<usize> RangeToInclusive<usize>);

impl Deref for String<'_> {
    type Target = str;

    #[inline(always)]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl DerefMut for String<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut str {
        self.as_mut_str()
    }
}

impl AsRef<str> for String<'_> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<[u8]> for String<'_> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Borrow<str> for String<'_> {
    fn borrow(&self) -> &str {
        self
    }
}

impl BorrowMut<str> for String<'_> {
    fn borrow_mut(&mut self) -> &mut str {
        self
    }
}

impl fmt::Write for String<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }

    #[inline]
    fn write_char(&mut self, character: char) -> fmt::Result {
        self.push(character);
        Ok(())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for String<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

/// Returned by [`String::drain`].
pub struct Drain<'a, 'bump> {
    inner: TextDrain<'a, &'bump Bump>,
}

impl fmt::Debug for Drain<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").finish_non_exhaustive()
    }
}

impl Iterator for Drain<'_, '_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        self.inner.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl DoubleEndedIterator for Drain<'_, '_> {
    #[inline]
    fn next_back(&mut self) -> Option<char> {
        self.inner.next_back()
    }
}

impl FusedIterator for Drain<'_, '_> {}
