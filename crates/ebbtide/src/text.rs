//! Strings in the memory of a scope: a vector of bytes that are always valid UTF-8 (U1).
//!
//! The unsafe code here only converts between bytes and `str`; the vector handles the memory.

mod traits;

use crate::{
    boxed::Box,
    error::{AllocError, AllocOrInitError, Failure},
    scope::Scope,
    vector::{GrowVec, Memory, ScopeMut, Vec, Vector, elements::indices},
};
use core::{
    char::DecodeUtf16Error,
    convert::Infallible,
    fmt,
    iter::FusedIterator,
    ops::{Range, RangeBounds},
    ptr::NonNull,
    str::{Chars, Utf8Error},
};

/// A growable string in the memory of a scope. Programs use it under the names of its kinds:
/// [`String`] and [`GrowString`].
///
/// It has the methods of `std::string::String`, and no destructor. Each method that allocates has a
/// `try_` version that returns [`AllocError`].
///
/// [`String`]: crate::collections::String
/// [`GrowString`]: crate::GrowString
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let mut s = arena.scope();
/// use ebbtide::{GrowString, collections::String};
///
/// let mut one: String<'_, '_> = s.string(); // shares the scope
/// one.push_str("ebb");
/// assert_eq!(one, "ebb");
/// let mut other: GrowString<'_, '_> = s.grow_string(); // has it to itself
/// other.push_str("flow");
/// assert_eq!(other, "flow");
/// ```
#[repr(transparent)]
pub struct Text<M> {
    /// - **U1** Always valid UTF-8.
    bytes: Vector<u8, M>,
}

/// A string in a scope, like `std::string::String` on the heap. It shares the scope with other
/// values.
///
/// `'s` is the borrow of the scope and `'a` the lifetime of the memory: see
/// [`Vec`](crate::collections::Vec).
///
/// ```
/// use ebbtide::Scope;
/// use std::fmt::Write;
///
/// fn greeting<'a>(s: &Scope<'a>, name: &str) -> &'a str {
///     let mut text = s.string();
///     write!(text, "Moin, {name}").expect("there is memory");
///     text.push('!');
///     text.into_str()
/// }
///
/// let mut arena = ebbtide::Arena::new();
/// assert_eq!(greeting(&arena.scope(), "Hinnerk"), "Moin, Hinnerk!");
/// ```
pub type String<'s, 'a> = Text<&'s Scope<'a>>;

/// A string with exclusive use of its scope while it is built; see [`GrowVec`](crate::GrowVec).
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let mut s = arena.scope();
/// let mut text = s.grow_string();
/// for word in ["ebb", "and", "flow"] {
///     if !text.is_empty() {
///         text.push(' ');
///     }
///     text.push_str(word);
/// }
/// assert_eq!(text.into_str(), "ebb and flow");
/// ```
pub type GrowString<'s, 'a> = Text<ScopeMut<'s, 'a>>;

/// The error of [`String::from_utf8`](Text::from_utf8), with the bytes that are not UTF-8.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// use ebbtide::collections::String;
///
/// let bytes = ebbtide::collections::vec![in s; b'e', 0xFF];
/// let error = String::from_utf8(bytes).unwrap_err();
/// assert_eq!(error.utf8_error().valid_up_to(), 1);
/// assert_eq!(error.into_bytes(), [b'e', 0xFF]); // nothing is lost
/// ```
pub struct FromUtf8Error<M> {
    bytes: Vector<u8, M>,
    error: Utf8Error,
}

impl<M> FromUtf8Error<M> {
    /// The bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// let error = String::from_utf8(ebbtide::collections::vec![in s; 0xFF]).unwrap_err();
    /// assert_eq!(error.into_bytes(), [0xFF]);
    /// ```
    #[must_use]
    pub fn into_bytes(self) -> Vector<u8, M> {
        self.bytes
    }

    /// The bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// let error = String::from_utf8(ebbtide::collections::vec![in s; 0xFF]).unwrap_err();
    /// assert_eq!(error.as_bytes(), [0xFF]);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The position and kind of the first bytes that are not UTF-8.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// let error = String::from_utf8(ebbtide::collections::vec![in s; b'a', 0xFF]).unwrap_err();
    /// assert_eq!(error.utf8_error().valid_up_to(), 1);
    /// ```
    #[must_use]
    pub fn utf8_error(&self) -> Utf8Error {
        self.error
    }
}

impl<M> fmt::Debug for FromUtf8Error<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromUtf8Error")
            .field("bytes", &self.bytes)
            .field("error", &self.error)
            .finish()
    }
}

impl<M> fmt::Display for FromUtf8Error<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<M> core::error::Error for FromUtf8Error<M> {}

impl<'a> Scope<'a> {
    /// An empty string in this scope. Allocates nothing until the first character.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = s.string();
    /// text.push_str("ebb");
    /// text.push('!');
    /// assert_eq!(text.into_str(), "ebb!");
    /// ```
    #[inline]
    #[must_use]
    pub fn string(&self) -> String<'_, 'a> {
        Text { bytes: self.vec() }
    }

    /// An empty string with room for `capacity` bytes.
    ///
    /// # Panics
    ///
    /// If `capacity` exceeds `isize::MAX`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.string_with_capacity(100).capacity(), 100);
    /// ```
    #[inline]
    #[must_use]
    pub fn string_with_capacity(&self, capacity: usize) -> String<'_, 'a> {
        Text { bytes: self.vec_with_capacity(capacity) }
    }

    /// Fallible version of [`string_with_capacity`](Scope::string_with_capacity).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, or `capacity` exceeds `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.try_string_with_capacity(usize::MAX).is_err());
    /// ```
    #[inline]
    pub fn try_string_with_capacity(&self, capacity: usize) -> Result<String<'_, 'a>, AllocError> {
        Ok(Text { bytes: self.try_vec_with_capacity(capacity)? })
    }

    /// Starts to build a string with exclusive use of the scope. Allocates nothing yet.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// use std::fmt::Write;
    ///
    /// let mut text = s.grow_string();
    /// text.push_str("ebb");
    /// write!(text, " and {}", "flow")?;
    /// assert_eq!(text.into_str(), "ebb and flow");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn grow_string(&mut self) -> GrowString<'_, 'a> {
        Text { bytes: self.grow_vec() }
    }
}

impl<'a> GrowString<'_, 'a> {
    /// Finishes the string and returns its text, which stays in the scope.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let mut text = s.grow_string();
    /// text.push_str("ebb");
    /// let text: &mut str = text.into_str();
    /// assert_eq!(text, "ebb");
    /// ```
    #[doc(alias = "leak")]
    #[inline]
    #[must_use]
    pub fn into_str(self) -> &'a mut str {
        // SAFETY: the bytes are UTF-8 (U1).
        unsafe { core::str::from_utf8_unchecked_mut(GrowVec::into_slice(self.bytes)) }
    }

    /// Finishes the string and returns its text, which stays in the scope, as a box.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let mut text = s.grow_string();
    /// text.push_str("ebb");
    /// let text: ebbtide::boxed::Box<str> = text.into_boxed_str();
    /// assert_eq!(&*text, "ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_str(self) -> Box<'a, str> {
        Box::of_str(self.into_str())
    }
}

impl<'s, 'a> String<'s, 'a> {
    /// An empty string in `scope`; the same as [`scope.string()`](Scope::string).
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(ebbtide::collections::String::new_in(&s).is_empty());
    /// ```
    #[inline]
    #[must_use]
    pub fn new_in(scope: &'s Scope<'a>) -> Self {
        scope.string()
    }

    /// An empty string with room for `capacity` bytes; see [`Scope::string_with_capacity`].
    ///
    /// # Panics
    ///
    /// If `capacity` exceeds `isize::MAX`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(ebbtide::collections::String::with_capacity_in(9, &s).capacity(), 9);
    /// ```
    #[inline]
    #[must_use]
    pub fn with_capacity_in(capacity: usize, scope: &'s Scope<'a>) -> Self {
        scope.string_with_capacity(capacity)
    }

    /// Fallible version of [`with_capacity_in`](String::with_capacity_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, or `capacity` exceeds `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::try_with_capacity_in(9, &s)?.capacity(), 9);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_with_capacity_in(capacity: usize, scope: &'s Scope<'a>) -> Result<Self, AllocError> {
        scope.try_string_with_capacity(capacity)
    }

    /// Creates a string with a copy of `text`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::String::from_str_in("ebb", &s);
    /// text.push('!');
    /// assert_eq!(text, "ebb!");
    /// ```
    #[inline]
    #[must_use]
    pub fn from_str_in(text: &str, scope: &'s Scope<'a>) -> Self {
        let mut string = scope.string_with_capacity(text.len());
        string.push_str(text);
        string
    }

    /// Fallible version of [`from_str_in`](String::from_str_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::try_from_str_in("ebb", &s)?, "ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_str_in(text: &str, scope: &'s Scope<'a>) -> Result<Self, AllocError> {
        let mut string = scope.try_string_with_capacity(text.len())?;
        string.try_push_str(text)?;
        Ok(string)
    }

    /// Creates a string from an iterator over characters or strings.
    ///
    /// # Panics
    ///
    /// If the iterator panics, or the string would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::from_iter_in(["ebb", "flow"], &s), "ebbflow");
    /// assert_eq!(String::from_iter_in('a'..'d', &s), "abc");
    /// ```
    #[inline]
    #[must_use]
    pub fn from_iter_in<T>(pieces: impl IntoIterator<Item = T>, scope: &'s Scope<'a>) -> Self
    where
        Self: Extend<T>,
    {
        let mut string = scope.string();
        string.extend(pieces);
        string
    }

    /// Creates a string from bytes, replacing invalid UTF-8 by U+FFFD.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::from_utf8_lossy_in(b"ebb\xFF", &s), "ebb\u{FFFD}");
    /// ```
    #[must_use]
    pub fn from_utf8_lossy_in(bytes: &[u8], scope: &'s Scope<'a>) -> Self {
        let mut string = scope.string();
        let Ok(()) = string.push_lossy::<Infallible>(bytes);
        string
    }

    /// Fallible version of [`from_utf8_lossy_in`](String::from_utf8_lossy_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the last block that the string had is free again.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::try_from_utf8_lossy_in(b"ebb\xFF", &s)?, "ebb\u{FFFD}");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_utf8_lossy_in(bytes: &[u8], scope: &'s Scope<'a>) -> Result<Self, AllocError> {
        let mut string = scope.string();
        let outcome = string.push_lossy(bytes);
        string.filled(outcome)
    }

    /// Creates a string from UTF-16.
    ///
    /// # Errors
    ///
    /// [`DecodeUtf16Error`] if there is an unpaired surrogate.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::from_utf16_in(&[0x65, 0xD83C, 0xDF0A], &s)?, "e🌊");
    /// # Ok::<(), std::char::DecodeUtf16Error>(())
    /// ```
    #[inline]
    pub fn from_utf16_in(units: &[u16], scope: &'s Scope<'a>) -> Result<Self, DecodeUtf16Error> {
        let mut string = scope.string();
        let Ok(outcome) = string.push_utf16::<Infallible>(units);
        string.filled(outcome)
    }

    /// Fallible version of [`from_utf16_in`](String::from_utf16_in).
    ///
    /// # Errors
    ///
    /// [`AllocOrInitError::Alloc`] if there is no memory, and [`AllocOrInitError::Init`] if there
    /// is an unpaired surrogate. The last block that the string had is free again.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::{AllocOrInitError, collections::String};
    /// assert_eq!(String::try_from_utf16_in(&[0x65, 0xD83C, 0xDF0A], &s).unwrap(), "e🌊");
    /// let unpaired = String::try_from_utf16_in(&[0xD83C], &s);
    /// assert!(matches!(unpaired, Err(AllocOrInitError::Init(_))));
    /// ```
    #[inline]
    pub fn try_from_utf16_in(
        units: &[u16],
        scope: &'s Scope<'a>,
    ) -> Result<Self, AllocOrInitError<DecodeUtf16Error>> {
        let mut string = scope.string();
        let outcome = match string.push_utf16::<AllocError>(units) {
            Ok(outcome) => outcome.map_err(AllocOrInitError::Init),
            Err(error) => Err(AllocOrInitError::Alloc(error)),
        };
        string.filled(outcome)
    }

    /// Creates a string from UTF-16, replacing unpaired surrogates by U+FFFD.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::from_utf16_lossy_in(&[0x65, 0xD83C], &s), "e\u{FFFD}");
    /// ```
    #[inline]
    #[must_use]
    pub fn from_utf16_lossy_in(units: &[u16], scope: &'s Scope<'a>) -> Self {
        let mut string = scope.string();
        let Ok(()) = string.push_utf16_lossy::<Infallible>(units);
        string
    }

    /// Fallible version of [`from_utf16_lossy_in`](String::from_utf16_lossy_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the last block that the string had is free again.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::try_from_utf16_lossy_in(&[0x65, 0xD83C], &s)?, "e\u{FFFD}");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_from_utf16_lossy_in(
        units: &[u16],
        scope: &'s Scope<'a>,
    ) -> Result<Self, AllocError> {
        let mut string = scope.string();
        let outcome = string.push_utf16_lossy(units);
        string.filled(outcome)
    }

    /// Returns the string, or frees its block if it could not be filled. Blocks that it left while
    /// it grew are not freed, as with any vector.
    fn filled<E>(mut self, outcome: Result<(), E>) -> Result<Self, E> {
        if outcome.is_err() {
            self.clear();
            self.shrink_to_fit();
        }
        outcome.map(|()| self)
    }

    /// Creates a string from the parts that [`into_raw_parts`](String::into_raw_parts) returned.
    ///
    /// # Safety
    ///
    /// `start`, `len` and `capacity` are the parts of a string in the scope `scope`, and that
    /// string is not used again.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// let (start, len, capacity) = String::from_str_in("ebb", &s).into_raw_parts();
    /// // SAFETY: the parts of a string in `s`, which is not used again.
    /// let text = unsafe { String::from_raw_parts_in(start, len, capacity, &s) };
    /// assert_eq!(text, "ebb");
    /// ```
    #[inline]
    #[must_use]
    pub unsafe fn from_raw_parts_in(
        start: NonNull<u8>,
        len: usize,
        capacity: usize,
        scope: &'s Scope<'a>,
    ) -> Self {
        // SAFETY: by this function's contract, these are the parts of a string in `scope`, and so
        // of a vector of bytes, that is not used again. They are UTF-8 (U1).
        Text { bytes: unsafe { Vec::from_raw_parts_in(start, len, capacity, scope) } }
    }

    /// Returns the address of the text, its length and the capacity, in bytes. The text stays in
    /// the scope.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let (_, len, capacity) = s.string_with_capacity(7).into_raw_parts();
    /// assert_eq!((len, capacity), (0, 7));
    /// ```
    #[inline]
    #[must_use]
    pub fn into_raw_parts(self) -> (NonNull<u8>, usize, usize) {
        self.bytes.into_raw_parts()
    }

    /// The scope of the string.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(std::ptr::eq(s.string().scope(), &s));
    /// ```
    #[inline]
    pub fn scope(&self) -> &'s Scope<'a> {
        self.bytes.scope()
    }

    /// Finishes the string and returns its text, which stays in the scope for `'a`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let text: &mut str = ebbtide::collections::format!(in s, "{}", 12).into_str();
    /// assert_eq!(text, "12");
    /// ```
    #[doc(alias = "leak")]
    #[inline]
    #[must_use]
    pub fn into_str(self) -> &'a mut str {
        // SAFETY: the bytes are UTF-8 (U1).
        unsafe { core::str::from_utf8_unchecked_mut(Vec::into_slice(self.bytes)) }
    }

    /// Finishes the string and returns its text, which stays in the scope, as a box.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::{boxed::Box, collections::format};
    /// let text: Box<str> = format!(in s, "{}", 12).into_boxed_str();
    /// assert_eq!(&*text, "12");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_str(self) -> Box<'a, str> {
        Box::of_str(self.into_str())
    }

    /// Moves the text from byte `at` on to a new string in the same scope.
    ///
    /// # Panics
    ///
    /// If `at` is greater than the length, or inside a character.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb and flow");
    /// assert_eq!(text.split_off(3), " and flow");
    /// assert_eq!(text, "ebb");
    /// ```
    #[inline]
    #[must_use = "the text is lost with the string that is returned; `truncate` drops it"]
    #[track_caller]
    pub fn split_off(&mut self, at: usize) -> Self {
        self.assert_boundary(at);
        Text { bytes: self.bytes.split_off(at) }
    }
}

impl<M> Text<M> {
    /// Uses a vector of bytes as a string.
    ///
    /// # Safety
    ///
    /// The bytes are valid UTF-8.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::Text;
    /// let mut bytes = ebbtide::collections::vec![in s; b'e', b'b'];
    /// // SAFETY: these are ASCII characters.
    /// unsafe { Text::from_utf8_unchecked_mut(&mut bytes) }.push('b');
    /// assert_eq!(bytes, *b"ebb");
    /// ```
    #[inline(always)]
    #[must_use]
    pub unsafe fn from_utf8_unchecked_mut(bytes: &mut Vector<u8, M>) -> &mut Self {
        // SAFETY: `Text` is a transparent struct over the vector, so a reference to one is one to
        // the other. The bytes are UTF-8 (U1) by this function's contract.
        unsafe { &mut *core::ptr::from_mut(bytes).cast() }
    }

    /// Converts a vector of bytes to a string. Copies nothing, but examines every byte.
    ///
    /// # Errors
    ///
    /// [`FromUtf8Error`], which returns the bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// assert_eq!(String::from_utf8(ebbtide::collections::vec![in s; b'e', b'b', b'b']).unwrap(), "ebb");
    /// assert!(String::from_utf8(ebbtide::collections::vec![in s; b'e', 0xFF]).is_err());
    /// ```
    pub fn from_utf8(bytes: Vector<u8, M>) -> Result<Self, FromUtf8Error<M>> {
        match core::str::from_utf8(&bytes) {
            Ok(_) => Ok(Text { bytes }),
            Err(error) => Err(FromUtf8Error { bytes, error }),
        }
    }

    /// Like [`from_utf8`](Text::from_utf8), but does not check the bytes.
    ///
    /// # Safety
    ///
    /// The bytes are UTF-8.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use ebbtide::collections::String;
    /// // SAFETY: ASCII.
    /// let text = unsafe { String::from_utf8_unchecked(ebbtide::collections::vec![in s; b'e']) };
    /// assert_eq!(text, "e");
    /// ```
    #[inline]
    #[must_use]
    pub unsafe fn from_utf8_unchecked(bytes: Vector<u8, M>) -> Self {
        Text { bytes }
    }

    /// The bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(ebbtide::collections::format!(in s, "ebb").into_bytes(), b"ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_bytes(self) -> Vector<u8, M> {
        self.bytes
    }

    /// The text.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(ebbtide::collections::format!(in s, "ebb").as_str(), "ebb");
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn as_str(&self) -> &str {
        // SAFETY: the bytes are UTF-8 (U1).
        unsafe { core::str::from_utf8_unchecked(&self.bytes) }
    }

    /// The text, mutably.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb");
    /// text.as_mut_str().make_ascii_uppercase();
    /// assert_eq!(text, "EBB");
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn as_mut_str(&mut self) -> &mut str {
        // SAFETY: the bytes are UTF-8 (U1), and changes through a `&mut str` keep them so.
        unsafe { core::str::from_utf8_unchecked_mut(&mut self.bytes) }
    }

    /// The bytes, mutably.
    ///
    /// # Safety
    ///
    /// The bytes are valid UTF-8 when the borrow ends.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb");
    /// // SAFETY: ASCII is valid UTF-8.
    /// unsafe { text.as_mut_vec() }.push(b'!');
    /// assert_eq!(text, "ebb!");
    /// ```
    #[inline(always)]
    pub unsafe fn as_mut_vec(&mut self) -> &mut Vector<u8, M> {
        &mut self.bytes
    }

    /// The number of bytes that fit without allocating.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.string_with_capacity(10).capacity(), 10);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Removes the last character and returns it; `None` if the string is empty.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "né");
    /// assert_eq!((text.pop(), text.pop(), text.pop()), (Some('é'), Some('n'), None));
    /// ```
    #[inline]
    pub fn pop(&mut self) -> Option<char> {
        let last = self.chars().next_back()?;
        let len = self.len() - last.len_utf8();
        // SAFETY: fewer than before; U1 holds, because a whole character is removed.
        unsafe { self.bytes.set_len(len) };
        Some(last)
    }

    /// Shortens the text to `len` bytes; no-op if `len` is not less than the current length.
    ///
    /// # Panics
    ///
    /// If `len` is inside a character.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb and flow");
    /// text.truncate(3);
    /// assert_eq!(text, "ebb");
    /// ```
    #[inline]
    #[track_caller]
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.assert_boundary(len);
            self.bytes.truncate(len);
        }
    }

    /// Removes all text and keeps the capacity.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb");
    /// text.clear();
    /// assert_eq!(text, "");
    /// ```
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Removes the character that begins at byte `index` and returns it. Moves all text after it.
    ///
    /// # Panics
    ///
    /// If no character begins at `index`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "één");
    /// assert_eq!(text.remove(0), 'é');
    /// assert_eq!(text, "én");
    /// ```
    #[track_caller]
    pub fn remove(&mut self, index: usize) -> char {
        self.assert_boundary(index);
        let Some(character) = self[index..].chars().next() else {
            panic!("the index is {index}, which is the length: no character begins there")
        };
        self.bytes.drain(index..index + character.len_utf8());
        character
    }

    /// Keeps the characters for which `keep` returns true, in their order.
    ///
    /// # Panics
    ///
    /// If `keep` panics. The string is then empty.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb and flow");
    /// text.retain(|c| c != ' ');
    /// assert_eq!(text, "ebbandflow");
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(char) -> bool) {
        let len = self.len();
        // SAFETY: no bytes are valid UTF-8. If `keep` panics, the string is empty, so no part of a
        // character is left.
        unsafe { self.bytes.set_len(0) };
        let (mut kept, mut next) = (0, 0);
        while next < len {
            // SAFETY: `next < len`, so this is one of the initialised bytes of the block (V1, V2).
            let from = unsafe { self.bytes.as_ptr().add(next) };
            // SAFETY: the text from `next` on is unchanged: characters were moved only to places
            // before it.
            let rest = unsafe { core::slice::from_raw_parts(from, len - next) };
            // SAFETY: U1, and `next` is a boundary.
            let rest = unsafe { core::str::from_utf8_unchecked(rest) };
            let Some(character) = rest.chars().next() else { break };
            let size = character.len_utf8();
            if keep(character) {
                if kept < next {
                    // SAFETY: `kept < next < len`, so this is one of the initialised bytes of the
                    // block (V1, V2).
                    let to = unsafe { self.bytes.as_mut_ptr().add(kept) };
                    // SAFETY: a character moves towards the start, over bytes that were removed or
                    // moved, or are its own: `size` initialised bytes that nothing else refers to.
                    let to = unsafe { core::slice::from_raw_parts_mut(to, size) };
                    // Encoded again, because a copy of one to four bytes is a call.
                    character.encode_utf8(to);
                }
                kept += size;
            }
            next += size;
        }
        // SAFETY: the first `kept` bytes are initialised, and are whole characters, one after the
        // other (U1).
        unsafe { self.bytes.set_len(kept) };
    }

    /// Returns an iterator over the characters of a range. The range is removed when the iterator
    /// is dropped.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds, or an end of it is inside a character.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb and flow");
    /// assert!(text.drain(..4).eq("ebb ".chars()));
    /// assert_eq!(text, "and flow");
    /// ```
    #[track_caller]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> TextDrain<'_, M> {
        let range = self.boundaries(range);
        let text: *const str = &raw const self.as_str()[range.clone()];
        // SAFETY: the text is unchanged until the iterator is dropped, which alone has access to it
        // and no longer uses this reference then.
        let left = unsafe { &*text }.chars();
        TextDrain { text: self, start: range.start, end: range.end, left }
    }

    /// The bytes of a range whose ends are boundaries of characters.
    #[inline]
    #[track_caller]
    fn boundaries(&self, range: impl RangeBounds<usize>) -> Range<usize> {
        let range = indices(range, self.len());
        self.assert_boundary(range.start);
        self.assert_boundary(range.end);
        range
    }

    #[inline(always)]
    #[track_caller]
    fn assert_boundary(&self, index: usize) {
        if !self.is_char_boundary(index) {
            no_boundary(index, self.len());
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_boundary(index: usize, len: usize) -> ! {
    assert!(index <= len, "the index is {index}, and the length is {len}");
    panic!("byte {index} is inside a character")
}

/// Methods that may allocate.
///
/// If there is no memory, the methods without `try_` call `handle_alloc_error`.
impl<M: Memory> Text<M> {
    /// Appends text.
    ///
    /// # Panics
    ///
    /// If the string would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = s.string();
    /// text.push_str("ebb");
    /// assert_eq!(text, "ebb");
    /// ```
    #[inline]
    pub fn push_str(&mut self, text: &str) {
        let Ok(()) = self.push_str_in::<Infallible>(text);
    }

    /// Fallible version of [`push_str`](Text::push_str).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is unchanged.
    ///
    /// ```
    /// let mut stack = ebbtide::StackArena::<4>::new();
    /// let s = stack.scope();
    /// let mut text = s.string();
    /// assert!(text.try_push_str("ebb").is_ok());
    /// assert!(text.try_push_str("flow").is_err());
    /// assert_eq!(text, "ebb");
    /// ```
    #[inline]
    pub fn try_push_str(&mut self, text: &str) -> Result<(), AllocError> {
        self.push_str_in(text)
    }

    #[inline(always)]
    fn push_str_in<F: Failure>(&mut self, text: &str) -> Result<(), F> {
        self.bytes.extend_from_slice_copy_in(text.as_bytes())
    }

    /// Appends bytes, replacing invalid UTF-8. Reserves a byte for each.
    fn push_lossy<F: Failure>(&mut self, bytes: &[u8]) -> Result<(), F> {
        self.bytes.reserve_exact_in::<F>(bytes.len())?;
        for chunk in bytes.utf8_chunks() {
            self.push_str_in::<F>(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                self.push_in::<F>(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }

    /// Appends UTF-16 up to the first unpaired surrogate. Reserves a byte for each unit.
    fn push_utf16<F: Failure>(&mut self, units: &[u16]) -> Result<Result<(), DecodeUtf16Error>, F> {
        self.bytes.reserve_exact_in::<F>(units.len())?;
        for character in char::decode_utf16(units.iter().copied()) {
            match character {
                Ok(character) => self.push_in::<F>(character)?,
                Err(unpaired) => return Ok(Err(unpaired)),
            }
        }
        Ok(Ok(()))
    }

    /// Appends UTF-16, replacing unpaired surrogates. Reserves a byte for each unit.
    fn push_utf16_lossy<F: Failure>(&mut self, units: &[u16]) -> Result<(), F> {
        self.bytes.reserve_exact_in::<F>(units.len())?;
        char::decode_utf16(units.iter().copied()).try_for_each(|character| {
            self.push_in::<F>(character.unwrap_or(char::REPLACEMENT_CHARACTER))
        })
    }

    /// Appends a character.
    ///
    /// # Panics
    ///
    /// If the string would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = s.string();
    /// text.push('🌊');
    /// assert_eq!(text, "🌊");
    /// ```
    #[inline]
    pub fn push(&mut self, character: char) {
        let Ok(()) = self.push_in::<Infallible>(character);
    }

    /// Fallible version of [`push`](Text::push).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = s.string();
    /// text.try_push('e')?;
    /// assert_eq!(text, "e");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_push(&mut self, character: char) -> Result<(), AllocError> {
        self.push_in(character)
    }

    #[inline(always)]
    fn push_in<F: Failure>(&mut self, character: char) -> Result<(), F> {
        // Stores a constant number of bytes in each case. A copy whose length varies would be a
        // call of `memcpy`, which would have to wait until the bytes are stored on the stack.
        match *character.encode_utf8(&mut [0; 4]).as_bytes() {
            [a] => self.bytes.push_in(a),
            [a, b] => self.bytes.push_array_in([a, b]),
            [a, b, c] => self.bytes.push_array_in([a, b, c]),
            [a, b, c, d] => self.bytes.push_array_in([a, b, c, d]),
            _ => unreachable!("a character is encoded in one to four bytes"),
        }
    }

    /// Reserves room for at least `additional` more bytes. May reserve more, so that repeated calls
    /// take amortised constant time.
    ///
    /// # Panics
    ///
    /// If the string would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = s.string();
    /// text.reserve(10);
    /// assert!(text.capacity() >= 10);
    /// ```
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.bytes.reserve(additional);
    }

    /// Fallible version of [`reserve`](Text::reserve).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.string().try_reserve(usize::MAX).is_err());
    /// ```
    #[inline]
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), AllocError> {
        self.bytes.try_reserve(additional)
    }

    /// Reserves room for exactly `additional` more bytes.
    ///
    /// # Panics
    ///
    /// If the string would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = s.string();
    /// text.reserve_exact(10);
    /// assert_eq!(text.capacity(), 10);
    /// ```
    #[inline]
    pub fn reserve_exact(&mut self, additional: usize) {
        self.bytes.reserve_exact(additional);
    }

    /// Fallible version of [`reserve_exact`](Text::reserve_exact).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is unchanged.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.string().try_reserve_exact(usize::MAX).is_err());
    /// ```
    #[inline]
    pub fn try_reserve_exact(&mut self, additional: usize) -> Result<(), AllocError> {
        self.bytes.try_reserve_exact(additional)
    }

    /// Reduces the capacity to the length; see [`Vector::shrink_to_fit`].
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = s.string_with_capacity(100);
    /// text.shrink_to_fit();
    /// assert_eq!(text.capacity(), 0);
    /// ```
    #[inline]
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Like [`shrink_to_fit`](Text::shrink_to_fit), but keeps a capacity of at least `capacity`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = s.string_with_capacity(100);
    /// text.shrink_to(10);
    /// assert_eq!(text.capacity(), 10);
    /// ```
    #[inline]
    pub fn shrink_to(&mut self, capacity: usize) {
        self.bytes.shrink_to(capacity);
    }

    /// Inserts a character at byte `index`. Moves all text from there on.
    ///
    /// # Panics
    ///
    /// If `index` is inside a character or beyond the end, or the string would exceed `isize::MAX`
    /// bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "eb");
    /// text.insert(1, 'b');
    /// assert_eq!(text, "ebb");
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert(&mut self, index: usize, character: char) {
        self.insert_str(index, character.encode_utf8(&mut [0; 4]));
    }

    /// Fallible version of [`insert`](Text::insert).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is unchanged.
    ///
    /// # Panics
    ///
    /// If `index` is inside a character or beyond the end.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "eb");
    /// text.try_insert(1, 'b')?;
    /// assert_eq!(text, "ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_insert(&mut self, index: usize, character: char) -> Result<(), AllocError> {
        self.try_insert_str(index, character.encode_utf8(&mut [0; 4]))
    }

    /// Inserts text at byte `index`. Moves all text from there on.
    ///
    /// # Panics
    ///
    /// If `index` is inside a character or beyond the end, or the string would exceed `isize::MAX`
    /// bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb flow");
    /// text.insert_str(3, " and");
    /// assert_eq!(text, "ebb and flow");
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert_str(&mut self, index: usize, text: &str) {
        let Ok(()) = self.insert_str_in::<Infallible>(index, text);
    }

    /// Fallible version of [`insert_str`](Text::insert_str).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is unchanged.
    ///
    /// # Panics
    ///
    /// If `index` is inside a character or beyond the end.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb flow");
    /// text.try_insert_str(3, " and")?;
    /// assert_eq!(text, "ebb and flow");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_insert_str(&mut self, index: usize, text: &str) -> Result<(), AllocError> {
        self.insert_str_in(index, text)
    }

    #[inline]
    #[track_caller]
    fn insert_str_in<F: Failure>(&mut self, index: usize, text: &str) -> Result<(), F> {
        self.assert_boundary(index);
        self.bytes.replace_in(index..index, text.as_bytes())
    }

    /// Replaces a range of the text.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds, an end of it is inside a character, or the string would
    /// exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb and flow");
    /// text.replace_range(4..7, "or");
    /// assert_eq!(text, "ebb or flow");
    /// ```
    #[inline]
    #[track_caller]
    pub fn replace_range(&mut self, range: impl RangeBounds<usize>, text: &str) {
        let Ok(()) = self.replace_range_in::<Infallible>(range, text);
    }

    /// Fallible version of [`replace_range`](Text::replace_range).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is unchanged.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds, or an end of it is inside a character.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb and flow");
    /// text.try_replace_range(3.., "")?;
    /// assert_eq!(text, "ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_replace_range(
        &mut self,
        range: impl RangeBounds<usize>,
        text: &str,
    ) -> Result<(), AllocError> {
        self.replace_range_in(range, text)
    }

    #[inline]
    #[track_caller]
    fn replace_range_in<F: Failure>(
        &mut self,
        range: impl RangeBounds<usize>,
        text: &str,
    ) -> Result<(), F> {
        let range = self.boundaries(range);
        self.bytes.replace_in(range, text.as_bytes())
    }

    /// Appends a copy of a range of the text.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds, an end of it is inside a character, or the string would
    /// exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb ");
    /// text.extend_from_within(..3);
    /// assert_eq!(text, "ebb ebb");
    /// ```
    #[track_caller]
    pub fn extend_from_within(&mut self, range: impl RangeBounds<usize>) {
        let range = self.boundaries(range);
        self.bytes.extend_from_within(range);
    }

    /// Fallible version of [`extend_from_within`](Text::extend_from_within).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is unchanged.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds, or an end of it is inside a character.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb ");
    /// text.try_extend_from_within(..3)?;
    /// assert_eq!(text, "ebb ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[track_caller]
    pub fn try_extend_from_within(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<(), AllocError> {
        let range = self.boundaries(range);
        self.bytes.try_extend_from_within(range)
    }
}

/// The characters of a range that is being removed. Returned by [`Text::drain`].
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let mut text = ebbtide::collections::format!(in s, "{}", "ebb and flow");
/// assert_eq!(text.drain(..8).filter(|c| *c == 'b').count(), 2);
/// assert_eq!(text, "flow");
/// ```
pub struct TextDrain<'t, M> {
    text: &'t mut Text<M>,
    start: usize,
    end: usize,
    left: Chars<'t>,
}

impl<M> TextDrain<'_, M> {
    /// The remaining text.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut text = ebbtide::collections::format!(in s, "ebb");
    /// let mut left = text.drain(..);
    /// left.next();
    /// assert_eq!(left.as_str(), "bb");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.left.as_str()
    }
}

impl<M> Iterator for TextDrain<'_, M> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        self.left.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl<M> DoubleEndedIterator for TextDrain<'_, M> {
    #[inline]
    fn next_back(&mut self) -> Option<char> {
        self.left.next_back()
    }
}

impl<M> FusedIterator for TextDrain<'_, M> {}

impl<M> Drop for TextDrain<'_, M> {
    fn drop(&mut self) {
        self.left = "".chars();
        self.text.bytes.drain(self.start..self.end);
    }
}

impl<M> fmt::Debug for TextDrain<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TextDrain").field(&self.as_str()).finish()
    }
}
