//! Strings: copied, formatted, and for C.

use crate::{
    collector::Collector,
    error::{AllocError, AllocOrInitError, Failure},
    fresh::Fresh,
    scope::Scope,
};
use core::{
    convert::Infallible,
    ffi::CStr,
    fmt::{self, Write},
};
#[cfg(feature = "std")]
use std::{ffi::OsStr, path::Path};

/// Formats into a growing block and remembers why it stopped. `open` is called before the first byte,
/// with the length of its piece.
struct Formatter<'s, 'a, F, O> {
    open: O,
    text: Option<Collector<'s, 'a, u8>>,
    failure: Option<F>,
}

impl<'s, 'a, F: Failure, O> Formatter<'s, 'a, F, O>
where
    O: Fn(usize) -> Result<&'s Scope<'a>, F>,
{
    #[inline]
    fn add(&mut self, piece: &str) -> Result<(), F> {
        if piece.is_empty() {
            return Ok(());
        }
        let text = match &mut self.text {
            Some(text) => text,
            None => self.text.insert(Collector::new((self.open)(piece.len())?)),
        };
        text.extend(piece.as_bytes())
    }
}

impl<'s, 'a, F: Failure, O> Write for Formatter<'s, 'a, F, O>
where
    O: Fn(usize) -> Result<&'s Scope<'a>, F>,
{
    #[inline]
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.add(piece).map_err(|failure| {
            self.failure = Some(failure);
            fmt::Error
        })
    }
}

/// Formats into the scope that `open` returns, which is passed the number of bytes that are certain.
#[inline]
pub(crate) fn format_in<'s, 'a: 's, F: Failure>(
    args: fmt::Arguments<'_>,
    open: impl Fn(usize) -> Result<&'s Scope<'a>, F>,
) -> Result<Result<&'a mut str, fmt::Error>, F> {
    if let Some(text) = args.as_str() {
        return Ok(Ok(open(text.len())?.str_in(text)?));
    }
    let mut formatter = Formatter { open, text: None, failure: None };
    let written = formatter.write_fmt(args);
    if let Some(failure) = formatter.failure {
        return Err(failure);
    }
    if written.is_err() {
        return Ok(Err(fmt::Error));
    }
    let bytes = formatter.text.map_or_else(Fresh::empty, Collector::finish);
    // SAFETY: whole strings were put one behind the other.
    Ok(Ok(unsafe { bytes.assume_utf8() }.lend()))
}

/// The text, or the panic of an infallible method.
pub(crate) fn formatted(made: Result<&mut str, fmt::Error>) -> &mut str {
    match made {
        Ok(text) => text,
        Err(fmt::Error) => panic!("a formatting trait implementation returned an error"),
    }
}

impl<'a> Scope<'a> {
    /// Copies a string. Up to 64 bytes are copied inline, without a call.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_str("ebb"), "ebb");
    /// ```
    #[inline(always)]
    pub fn alloc_str(&self, text: &str) -> &'a mut str {
        let Ok(text) = self.str_in::<Infallible>(text);
        text
    }

    /// Fallible version of [`alloc_str`](Scope::alloc_str).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_str("sixteen letters!").is_ok());
    /// assert!(s.try_alloc_str("!").is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_str(&self, text: &str) -> Result<&'a mut str, AllocError> {
        self.str_in(text)
    }

    #[inline(always)]
    pub(crate) fn str_in<F: Failure>(&self, text: &str) -> Result<&'a mut str, F> {
        let bytes = self.slice_copy_in::<u8, F>(text.as_bytes())?;
        // SAFETY: a copy of a string's bytes.
        Ok(unsafe { bytes.assume_utf8() }.lend())
    }

    /// Formats into the scope, at the low end: in place as long as the chunk has room. A `Display`
    /// that allocates from the same scope is fine.
    ///
    /// # Panics
    ///
    /// If a `Display` or other formatting implementation returns an error, as `format!` does.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_fmt(format_args!("{} + {} = {}", 1, 2, 1 + 2)), "1 + 2 = 3");
    /// ```
    #[inline]
    pub fn alloc_fmt(&self, args: fmt::Arguments<'_>) -> &'a mut str {
        let Ok(made) = format_in::<Infallible>(args, |_| Ok(self));
        formatted(made)
    }

    /// Fallible version of [`alloc_fmt`](Scope::alloc_fmt).
    ///
    /// # Errors
    ///
    /// There is no memory, or a formatting implementation returned an error.
    ///
    /// # Panics
    ///
    /// If a formatting implementation panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_fmt(format_args!("{} m", 131)).is_ok());
    /// assert!(s.try_alloc_fmt(format_args!("{:17}", 1)).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_fmt(
        &self,
        args: fmt::Arguments<'_>,
    ) -> Result<&'a mut str, AllocOrInitError<fmt::Error>> {
        format_in::<AllocError>(args, |_| Ok(self))?.map_err(AllocOrInitError::Init)
    }

    /// Copies a C string with its terminator.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_cstr(c"ebb").to_bytes_with_nul(), b"ebb\0");
    /// ```
    #[inline]
    pub fn alloc_cstr(&self, text: &CStr) -> &'a CStr {
        let Ok(text) = self.cstr_in::<Infallible>(text);
        text
    }

    /// Fallible version of [`alloc_cstr`](Scope::alloc_cstr).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_cstr(c"fifteen letters").is_ok());
    /// assert!(s.try_alloc_cstr(c"").is_err());
    /// ```
    #[inline]
    pub fn try_alloc_cstr(&self, text: &CStr) -> Result<&'a CStr, AllocError> {
        self.cstr_in(text)
    }

    #[inline]
    pub(crate) fn cstr_in<F: Failure>(&self, text: &CStr) -> Result<&'a CStr, F> {
        let bytes = self.slice_copy_in::<u8, F>(text.to_bytes_with_nul())?.lend();
        // SAFETY: a copy of a C string's bytes.
        Ok(unsafe { CStr::from_bytes_with_nul_unchecked(bytes) })
    }

    /// Copies a string and ends it with a zero, for C. A zero in the string ends it there.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_cstr_from_str("ebb"), c"ebb");
    /// assert_eq!(s.alloc_cstr_from_str("ebb\0flow"), c"ebb");
    /// ```
    #[inline]
    pub fn alloc_cstr_from_str(&self, text: &str) -> &'a CStr {
        let Ok(text) = self.cstr_from_str_in::<Infallible>(text);
        text
    }

    /// Fallible version of [`alloc_cstr_from_str`](Scope::alloc_cstr_from_str).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.try_alloc_cstr_from_str("flow")?, c"flow");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_alloc_cstr_from_str(&self, text: &str) -> Result<&'a CStr, AllocError> {
        self.cstr_from_str_in(text)
    }

    pub(crate) fn cstr_from_str_in<F: Failure>(&self, text: &str) -> Result<&'a CStr, F> {
        let bytes = text.as_bytes();
        let len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let mut room = self.reserve_slice::<u8, F>(len + 1)?;
        for (place, byte) in room.as_mut().iter_mut().zip(bytes[..len].iter().chain([&0])) {
            place.write(*byte);
        }
        // SAFETY: `len + 1` bytes were just written.
        let bytes = unsafe { room.assume_init() }.lend();
        // SAFETY: the last byte is zero, and none before it is.
        Ok(unsafe { CStr::from_bytes_with_nul_unchecked(bytes) })
    }
}

/// File names and other strings of the system.
#[cfg(feature = "std")]
impl<'a> Scope<'a> {
    /// Copies a string of the operating system.
    ///
    /// ```
    /// # use std::ffi::OsStr;
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_os_str(OsStr::new("ebb")), "ebb");
    /// ```
    #[inline]
    pub fn alloc_os_str(&self, text: &OsStr) -> &'a OsStr {
        let Ok(text) = self.os_str_in::<Infallible>(text);
        text
    }

    /// Fallible version of [`alloc_os_str`](Scope::alloc_os_str).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_os_str("sixteen letters!".as_ref()).is_ok());
    /// assert!(s.try_alloc_os_str("!".as_ref()).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_os_str(&self, text: &OsStr) -> Result<&'a OsStr, AllocError> {
        self.os_str_in(text)
    }

    #[inline]
    pub(crate) fn os_str_in<F: Failure>(&self, text: &OsStr) -> Result<&'a OsStr, F> {
        let bytes = self.slice_copy_in::<u8, F>(text.as_encoded_bytes())?.lend();
        // SAFETY: a copy of such a string's bytes.
        Ok(unsafe { OsStr::from_encoded_bytes_unchecked(bytes) })
    }

    /// Copies a path.
    ///
    /// ```
    /// # use std::path::Path;
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_path(Path::new("/ebb")), Path::new("/ebb"));
    /// ```
    #[inline]
    pub fn alloc_path(&self, path: &Path) -> &'a Path {
        Path::new(self.alloc_os_str(path.as_os_str()))
    }

    /// Fallible version of [`alloc_path`](Scope::alloc_path).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_path("/sixteen/letters".as_ref()).is_ok());
    /// assert!(s.try_alloc_path("/".as_ref()).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_path(&self, path: &Path) -> Result<&'a Path, AllocError> {
        Ok(Path::new(self.try_alloc_os_str(path.as_os_str())?))
    }
}
