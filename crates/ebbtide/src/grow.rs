//! Builders that have the low end of a scope to themselves: [`GrowVec`] and [`GrowString`].
//!
//! A builder borrows its scope exclusively, so nothing else can allocate while it lives, and it needs no
//! block of its own: all that is free in the region is its capacity. It pushes without ever growing, and
//! copies only where the region itself is full. Finishing it moves the cursor behind what was built;
//! abandoning it moves nothing.

use crate::{
    boxed::Box,
    copy::copy_bytes,
    error::{AllocError, Failure},
    raw::Cursor,
    scope::Scope,
    value::lend,
};
use core::{
    alloc::Layout,
    convert::Infallible,
    fmt,
    mem::{ManuallyDrop, needs_drop},
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// A vector that is being built at the low end of a scope.
///
/// Push is a comparison and a store, as with a `Vec` whose capacity was given beforehand; nothing is
/// copied until the chunk is full. When it is built, [`into_slice`](GrowVec::into_slice) leaves it in the
/// scope; dropped before, it drops its elements and leaves nothing.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// let mut s = arena.scope();
/// let mut squares = s.grow_vec();
/// for n in 1..=5 {
///     squares.push(n * n);
/// }
/// squares.pop();
/// let squares: &mut [i32] = squares.into_slice();
/// assert_eq!(squares, &[1, 4, 9, 16]);
/// assert_eq!(*s.alloc(25), 25); // the scope is free again
/// ```
pub struct GrowVec<'s, 'a, T> {
    scope: &'s mut Scope<'a>,
    /// Where the elements begin: at the cursor's `low`, rounded up.
    start: NonNull<T>,
    len: usize,
    /// In elements; `usize::MAX` for a zero-sized `T`.
    capacity: usize,
}

// SAFETY: the builder owns its elements and borrows the scope exclusively; a scope is `Send`.
unsafe impl<T: Send> Send for GrowVec<'_, '_, T> {}
// SAFETY: through a shared reference only the elements can be reached.
unsafe impl<T: Sync> Sync for GrowVec<'_, '_, T> {}

impl<'a> Scope<'a> {
    /// Starts to build a vector at the low end. Takes nothing yet.
    #[inline]
    pub fn grow_vec<T>(&mut self) -> GrowVec<'_, 'a, T> {
        let Room { start, capacity } = Room::of(self.cursor());
        GrowVec { scope: self, start, len: 0, capacity }
    }

    /// Starts to build a string at the low end. Takes nothing yet.
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
    pub fn grow_string(&mut self) -> GrowString<'_, 'a> {
        GrowString { bytes: self.grow_vec() }
    }
}

/// What is free at the low end of a cursor, as places for a `T`.
struct Room<T> {
    start: NonNull<T>,
    /// In elements; `usize::MAX` for a zero-sized `T`.
    capacity: usize,
}

impl<T> Room<T> {
    #[inline]
    fn of(cursor: &Cursor) -> Self {
        if size_of::<T>() == 0 {
            return Room { start: NonNull::dangling(), capacity: usize::MAX };
        }
        match cursor.low_room(align_of::<T>()) {
            Some((start, bytes)) => Room { start: start.cast(), capacity: bytes / size_of::<T>() },
            None => Room { start: NonNull::dangling(), capacity: 0 },
        }
    }

    /// The room in a chunk for `additional` elements more than `len`, with the `len` elements moved there;
    /// for twice as many where there is such memory.
    ///
    /// # Safety
    ///
    /// The elements lie at `start`, which is what [`Room::of`] returned, and nothing was allocated since.
    #[cold]
    #[inline(never)]
    unsafe fn grown<F: Failure>(
        cursor: &Cursor,
        start: NonNull<T>,
        len: usize,
        additional: usize,
    ) -> Result<Self, F> {
        let Some(needed) = len.checked_add(additional) else {
            return Err(F::too_large());
        };
        let least = if size_of::<T>() == 1 { 16 } else { 4 };
        let wanted = needed.max(len.saturating_mul(2)).max(least);
        if wanted > needed {
            // SAFETY: the caller's promise; `len <= wanted`.
            let roomy = unsafe { Room::moved::<AllocError>(cursor, start, len, wanted) };
            if let Ok(room) = roomy {
                return Ok(room);
            }
        }
        // SAFETY: the caller's promise, which a failure above leaves true; `len <= needed`.
        unsafe { Room::moved::<F>(cursor, start, len, needed) }
    }

    /// The room in a chunk for `capacity` elements, with the `len` elements moved there.
    ///
    /// # Safety
    ///
    /// As [`Room::grown`], and `len <= capacity`.
    unsafe fn moved<F: Failure>(
        cursor: &Cursor,
        start: NonNull<T>,
        len: usize,
        capacity: usize,
    ) -> Result<Self, F> {
        let Ok(layout) = Layout::array::<T>(capacity) else {
            return Err(F::too_large());
        };
        // SAFETY: the caller's promise.
        unsafe { cursor.move_low::<F>(layout, start.cast(), len * size_of::<T>())? };
        Ok(Room::of(cursor))
    }
}

impl<'a, T> GrowVec<'_, 'a, T> {
    /// Moves to a chunk with room for `additional` more.
    ///
    /// Only values cross the call, so that a builder that is a local variable stays in registers.
    #[inline(always)]
    fn grow<F: Failure>(&mut self, additional: usize) -> Result<(), F> {
        // SAFETY: the elements were written to what was free at the low end, and the scope has been
        // borrowed exclusively since.
        let room =
            unsafe { Room::grown::<F>(self.scope.cursor(), self.start, self.len, additional)? };
        (self.start, self.capacity) = (room.start, room.capacity);
        Ok(())
    }

    fn len_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The number of elements.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many elements the region holds; none is copied before there are more.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The elements.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// The elements.
    #[inline]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }

    /// Makes room for `additional` more elements.
    ///
    /// # Panics
    ///
    /// If the vector would exceed `isize::MAX` bytes. An arena without memory calls `handle_alloc_error`.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        let Ok(()) = self.reserve_in::<Infallible>(additional);
    }

    /// As [`reserve`](GrowVec::reserve).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is as it was.
    #[inline]
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), AllocError> {
        self.reserve_in(additional)
    }

    #[inline(always)]
    fn reserve_in<F: Failure>(&mut self, additional: usize) -> Result<(), F> {
        if additional <= self.capacity - self.len { Ok(()) } else { self.grow(additional) }
    }

    /// Adds an element.
    ///
    /// # Panics
    ///
    /// As [`reserve`](GrowVec::reserve).
    #[inline]
    pub fn push(&mut self, value: T) {
        let Ok(()) = self.push_in::<Infallible>(value);
    }

    /// As [`push`](GrowVec::push).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is as it was, and the value is dropped.
    #[inline]
    pub fn try_push(&mut self, value: T) -> Result<(), AllocError> {
        self.push_in(value)
    }

    #[inline(always)]
    fn push_in<F: Failure>(&mut self, value: T) -> Result<(), F> {
        if self.len == self.capacity {
            self.grow::<F>(1)?;
        }
        // SAFETY: `len < capacity`, so the place is in the region, or `T` has no size.
        let place = unsafe { self.start.add(self.len) };
        // SAFETY: aligned, free, and the builder's alone.
        unsafe { place.write(value) };
        self.len += 1;
        Ok(())
    }

    /// Takes the last element off.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: there was an element there.
        let place = unsafe { self.start.add(self.len) };
        // SAFETY: initialised, and no longer counted.
        Some(unsafe { place.read() })
    }

    /// Drops the elements behind the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        let dropped = self.len - len;
        // Before the destructors run, one of which may panic.
        self.len = len;
        if needs_drop::<T>() {
            // SAFETY: the elements begin there.
            let first = unsafe { self.start.add(len) };
            // SAFETY: `dropped` of them, initialised, and no longer counted.
            unsafe { NonNull::slice_from_raw_parts(first, dropped).drop_in_place() };
        }
    }

    /// Drops all elements.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Copies a slice to the end.
    ///
    /// # Panics
    ///
    /// As [`reserve`](GrowVec::reserve).
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[T])
    where
        T: Copy,
    {
        let Ok(()) = self.extend_from_slice_in::<Infallible>(values);
    }

    /// As [`extend_from_slice`](GrowVec::extend_from_slice).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is as it was.
    #[inline]
    pub fn try_extend_from_slice(&mut self, values: &[T]) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.extend_from_slice_in(values)
    }

    #[inline(always)]
    fn extend_from_slice_in<F: Failure>(&mut self, values: &[T]) -> Result<(), F>
    where
        T: Copy,
    {
        self.reserve_in::<F>(values.len())?;
        // SAFETY: `len <= capacity`: in the region, or one past its end.
        let place = unsafe { self.start.add(self.len) };
        // SAFETY: room was made for as many; it was free, so the values are elsewhere.
        unsafe { copy_bytes(NonNull::from(values).cast(), place.cast(), size_of_val(values)) };
        self.len += values.len();
        Ok(())
    }

    /// Adds the elements of an iterator, as many as there is memory for.
    ///
    /// # Errors
    ///
    /// [`AllocError`]; what was added before stays, the element at hand is dropped.
    pub fn try_extend(&mut self, values: impl IntoIterator<Item = T>) -> Result<(), AllocError> {
        values.into_iter().try_for_each(|value| self.try_push(value))
    }

    /// Leaves the elements in the scope.
    ///
    /// Elements that need `Drop` are refused when the program is compiled: see
    /// [`into_boxed_slice`](GrowVec::into_boxed_slice).
    #[inline]
    #[must_use]
    pub fn into_slice(self) -> &'a mut [T] {
        const {
            assert!(
                !needs_drop::<T>(),
                "these elements need `Drop`, which a scope's end does not run: use `into_boxed_slice`, \
                 which gives a box that does"
            );
        };
        // SAFETY: `finish` published the elements, which live for `'a`.
        unsafe { lend(self.finish()) }
    }

    /// Leaves the elements in the scope, owned and dropped by the box.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let mut names = s.grow_vec();
    /// names.extend(["ebb", "flow"].map(String::from));
    /// assert_eq!(names.into_boxed_slice().len(), 2);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_boxed_slice(self) -> Box<'a, [T]> {
        // SAFETY: `finish` published the elements, which live for `'a`, and nobody else owns them.
        unsafe { Box::own(self.finish()) }
    }

    /// Moves the cursor behind the elements.
    #[inline]
    fn finish(self) -> NonNull<[T]> {
        let this = ManuallyDrop::new(self);
        if size_of::<T>() != 0 && this.len != 0 {
            // SAFETY: the elements end in the region, which is the builder's alone.
            unsafe { this.scope.cursor().publish_low(this.start.cast(), this.len_bytes()) };
        }
        NonNull::slice_from_raw_parts(this.start, this.len)
    }
}

impl<T> Drop for GrowVec<'_, '_, T> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() {
            let elements = NonNull::slice_from_raw_parts(self.start, self.len);
            // SAFETY: initialised, and nobody else has them.
            unsafe { elements.drop_in_place() };
        }
    }
}

impl<T> Extend<T> for GrowVec<'_, '_, T> {
    /// # Panics
    ///
    /// As [`reserve`](GrowVec::reserve), or if the iterator panics; what was added before stays.
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<'x, T: Copy + 'x> Extend<&'x T> for GrowVec<'_, '_, T> {
    #[inline]
    fn extend<I: IntoIterator<Item = &'x T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(*value));
    }
}

impl<T> Deref for GrowVec<'_, '_, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` elements are initialised, and lent no longer than the builder is.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len).as_ref() }
    }
}

impl<T> DerefMut for GrowVec<'_, '_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the builder is borrowed exclusively.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.len).as_mut() }
    }
}

impl<T: fmt::Debug> fmt::Debug for GrowVec<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(feature = "std")]
impl std::io::Write for GrowVec<'_, '_, u8> {
    /// Fails with [`OutOfMemory`](std::io::ErrorKind::OutOfMemory), and writes nothing then.
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.try_extend_from_slice(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(AllocError) => Err(std::io::ErrorKind::OutOfMemory.into()),
        }
    }

    #[inline]
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A string that is being built at the low end of a scope; see [`GrowVec`].
pub struct GrowString<'s, 'a> {
    /// Always whole UTF-8.
    bytes: GrowVec<'s, 'a, u8>,
}

impl<'a> GrowString<'_, 'a> {
    /// The bytes that the region holds.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// The text.
    #[inline]
    #[must_use]
    pub fn as_str(&self) -> &str {
        self
    }

    /// Adds text.
    ///
    /// # Panics
    ///
    /// As [`GrowVec::reserve`].
    #[inline]
    pub fn push_str(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// As [`push_str`](GrowString::push_str).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is as it was.
    #[inline]
    pub fn try_push_str(&mut self, text: &str) -> Result<(), AllocError> {
        self.bytes.try_extend_from_slice(text.as_bytes())
    }

    /// Adds a character.
    ///
    /// # Panics
    ///
    /// As [`GrowVec::reserve`].
    #[inline]
    pub fn push(&mut self, character: char) {
        self.push_str(character.encode_utf8(&mut [0; 4]));
    }

    /// As [`push`](GrowString::push).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is as it was.
    #[inline]
    pub fn try_push(&mut self, character: char) -> Result<(), AllocError> {
        self.try_push_str(character.encode_utf8(&mut [0; 4]))
    }

    /// Takes the last character off.
    pub fn pop(&mut self) -> Option<char> {
        let last = self.chars().next_back()?;
        let len = self.len() - last.len_utf8();
        self.bytes.truncate(len);
        Some(last)
    }

    /// Shortens the text to `len` bytes; longer than it is, it stays.
    ///
    /// # Panics
    ///
    /// If `len` is inside a character.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            assert!(self.is_char_boundary(len), "byte {len} is inside a character");
            self.bytes.truncate(len);
        }
    }

    /// Makes it empty.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Makes room for `additional` more bytes.
    ///
    /// # Panics
    ///
    /// As [`GrowVec::reserve`].
    pub fn reserve(&mut self, additional: usize) {
        self.bytes.reserve(additional);
    }

    /// As [`reserve`](GrowString::reserve).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the string is as it was.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), AllocError> {
        self.bytes.try_reserve(additional)
    }

    /// Leaves the text in the scope.
    #[inline]
    #[must_use]
    pub fn into_str(self) -> &'a mut str {
        // SAFETY: whole strings were put one behind the other, and cut between characters.
        unsafe { core::str::from_utf8_unchecked_mut(self.bytes.into_slice()) }
    }
}

impl fmt::Write for GrowString<'_, '_> {
    /// Fails where there is no memory; the text is then as it was.
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.try_push_str(text).map_err(|AllocError| fmt::Error)
    }
}

impl Extend<char> for GrowString<'_, '_> {
    fn extend<I: IntoIterator<Item = char>>(&mut self, characters: I) {
        characters.into_iter().for_each(|character| self.push(character));
    }
}

impl<'x> Extend<&'x str> for GrowString<'_, '_> {
    fn extend<I: IntoIterator<Item = &'x str>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.push_str(text));
    }
}

impl Deref for GrowString<'_, '_> {
    type Target = str;

    #[inline(always)]
    fn deref(&self) -> &str {
        // SAFETY: always whole UTF-8.
        unsafe { core::str::from_utf8_unchecked(&self.bytes) }
    }
}

impl DerefMut for GrowString<'_, '_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut str {
        // SAFETY: always whole UTF-8, and a `&mut str` keeps it so.
        unsafe { core::str::from_utf8_unchecked_mut(&mut self.bytes) }
    }
}

impl PartialEq<str> for GrowString<'_, '_> {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for GrowString<'_, '_> {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialEq<GrowString<'_, '_>> for str {
    fn eq(&self, other: &GrowString<'_, '_>) -> bool {
        *self == **other
    }
}

impl PartialEq<GrowString<'_, '_>> for &str {
    fn eq(&self, other: &GrowString<'_, '_>) -> bool {
        **self == **other
    }
}

impl fmt::Debug for GrowString<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for GrowString<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
