//! The interface of [bumpalo](https://docs.rs/bumpalo/3.20) over [ebbtide](https://docs.rs/ebbtide).
//!
//! A program that uses bumpalo needs one other line in its Cargo.toml:
//!
//! ```toml
//! bumpalo = { package = "ebbtide-bumpalo", version = "3" }
//! ```
//!
//! The library is called `bumpalo`, and so are its types, methods and features. Allocating takes
//! fewer instructions, collections grow in place more often, and [`Bump::scope`] gives memory back
//! before a reset:
//!
//! ```
//! use bumpalo::Bump;
//!
//! let mut bump = Bump::new();
//! for line in ["ebb and flow", "spring tide"] {
//!     let s = bump.scope();
//!     let words = s.alloc_slice_from_iter(line.split(' '));
//!     assert!(words.len() > 1);
//! } // the memory of each line is free again here
//! ```
//!
//! The page `BUMPALO.md` of the package lists what differs.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(feature = "allocator_api", feature(allocator_api, cfg_version), allow(stable_features))]

#[doc(hidden)]
pub extern crate alloc as core_alloc;
#[cfg(any(doc, feature = "std"))]
extern crate std;

/// Compiles the example of the page.
#[cfg(doctest)]
#[doc = include_str!("../BUMPALO.md")]
enum Page {}

mod allocator;
#[cfg(feature = "boxed")]
pub mod boxed;
mod chunks;
#[cfg(feature = "collections")]
pub mod collections;
mod error;

pub use chunks::{ChunkIter, ChunkRawIter};
pub use error::{AllocErr, AllocOrInitError};

use core::{
    alloc::Layout,
    mem::{ManuallyDrop, MaybeUninit},
    ptr::NonNull,
};
use ebbtide::{Arena, Retain, Scope};
use error::or_panic;

/// The capacity of the first chunk. With the rest of its block and what a heap adds, it takes 640 bytes.
const FIRST_CHUNK: usize = 624 - overhead(0);

/// The bytes of a first chunk outside its capacity.
const fn overhead(capacity: usize) -> usize {
    Arena::<ebbtide::Heap>::chunk_overhead(capacity)
}

/// The largest minimum alignment.
const MOST_ALIGN: usize = 16;

/// An arena: allocates by moving an address, and frees everything at once.
///
/// `MIN_ALIGN` is the least alignment of every allocation: 1, 2, 4, 8 or 16.
///
/// A `Bump` drops no values. What a value owns elsewhere leaks, unless the value is in a
/// [`boxed::Box`] or in a collection.
///
/// A new `Bump` holds no memory. Its first chunk has 512 bytes, or room for the first request,
/// and each further one is twice as large as the one before, up to 4 MiB. With the feature `warm`,
/// the first one may be larger: that of a dropped `Bump`, less than 32 KiB.
///
/// ```
/// use bumpalo::Bump;
///
/// struct Node<'a> { value: u32, next: Option<&'a Node<'a>> }
///
/// let bump = Bump::new();
/// let first = bump.alloc(Node { value: 1, next: None });
/// let second = bump.alloc(Node { value: 2, next: Some(first) });
/// assert_eq!(second.next.map(|node| node.value), Some(1));
/// ```
#[cfg_attr(not(feature = "boxed"), allow(rustdoc::broken_intra_doc_links))]
#[derive(Debug)]
pub struct Bump<const MIN_ALIGN: usize = 1> {
    arena: Arena,
}

impl Bump<1> {
    /// An arena without memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.allocated_bytes(), 0);
    /// ```
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Bump { arena: Arena::with_chunk_size(FIRST_CHUNK) }
    }

    /// The same as [`new`](Bump::new), which takes no memory.
    ///
    /// # Errors
    ///
    /// None.
    ///
    /// ```
    /// assert!(bumpalo::Bump::try_new().is_ok());
    /// ```
    pub fn try_new() -> Result<Self, AllocErr> {
        Ok(Bump::new())
    }

    /// An arena whose first chunk is allocated at once, with room for `capacity` bytes.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::with_capacity(1000);
    /// assert!(bump.chunk_capacity() >= 1000);
    /// ```
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Bump::with_min_align_and_capacity(capacity)
    }

    /// Fallible version of [`with_capacity`](Bump::with_capacity).
    ///
    /// # Errors
    ///
    /// [`AllocErr`] if there is no memory.
    ///
    /// ```
    /// assert!(bumpalo::Bump::try_with_capacity(usize::MAX).is_err());
    /// ```
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocErr> {
        Bump::try_with_min_align_and_capacity(capacity)
    }
}

/// Values with a larger alignment.
macro_rules! aligned {
    ($($name:ident $align:literal)*) => {
        $(
            #[repr(align($align))]
            struct $name<T>(T);
        )*
    };
}
aligned!(At2 2 At4 4 At8 8 At16 16);

/// Evaluates `$alloc` with the identity function or a wrapper as `$at`, so that the block of a
/// `$value` has the minimum alignment.
macro_rules! at_least {
    ($align:ident, $value:ty, |$at:ident| $alloc:expr) => {
        match const { if $align <= align_of::<$value>() { 1 } else { $align } } {
            1 => {
                #[allow(non_snake_case, reason = "takes the place of a wrapper")]
                let $at = |value| value;
                $alloc.map(|block| &mut **block)
            }
            2 => {
                use At2 as $at;
                $alloc.map(|block| &mut *block.0)
            }
            4 => {
                use At4 as $at;
                $alloc.map(|block| &mut *block.0)
            }
            8 => {
                use At8 as $at;
                $alloc.map(|block| &mut *block.0)
            }
            _ => {
                use At16 as $at;
                $alloc.map(|block| &mut *block.0)
            }
        }
    };
}

/// Values that are not dropped, as values.
#[inline(always)]
fn undropped<T>(values: &mut [ManuallyDrop<T>]) -> &mut [T] {
    let values: *mut [ManuallyDrop<T>] = values;
    // SAFETY: `ManuallyDrop<T>` is a transparent struct over a `T`, so the elements are valid, and
    // the slice is borrowed as long.
    unsafe { &mut *(values as *mut [T]) }
}

/// Runs what a fast path does not, in a function of its own.
#[cold]
#[inline(never)]
fn out_of_line<R>(slow_path: impl FnOnce() -> R) -> R {
    slow_path()
}

/// The next value of an iterator that announced more.
fn announced<T>(value: Option<T>) -> T {
    match value {
        Some(value) => value,
        None => panic!("the iterator yields fewer values than it announced"),
    }
}

#[allow(clippy::mut_from_ref, reason = "each call returns another block")]
impl<const MIN_ALIGN: usize> Bump<MIN_ALIGN> {
    /// Panics if the minimum alignment is not one of those that the type's documentation lists.
    const fn assert_min_align() {
        assert!(MIN_ALIGN.is_power_of_two(), "MIN_ALIGN must be a power of two");
        assert!(MIN_ALIGN <= MOST_ALIGN, "MIN_ALIGN may not be larger than 16");
    }

    /// An arena without memory that aligns every allocation to `MIN_ALIGN` at least.
    ///
    /// # Panics
    ///
    /// If `MIN_ALIGN` is not 1, 2, 4, 8 or 16.
    ///
    /// ```
    /// let bump = bumpalo::Bump::<8>::with_min_align();
    /// assert_eq!(std::ptr::from_ref(bump.alloc(1_u8)).addr() % 8, 0);
    /// ```
    #[inline]
    #[must_use]
    pub const fn with_min_align() -> Self {
        Self::assert_min_align();
        Bump { arena: Arena::with_chunk_size(FIRST_CHUNK) }
    }

    /// Like [`with_min_align`](Bump::with_min_align), with a first chunk for `capacity` bytes.
    ///
    /// # Panics
    ///
    /// If `MIN_ALIGN` is not 1, 2, 4, 8 or 16, or there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::<8>::with_min_align_and_capacity(1000);
    /// assert!(bump.chunk_capacity() >= 1000);
    /// ```
    #[must_use]
    pub fn with_min_align_and_capacity(capacity: usize) -> Self {
        or_panic(Self::try_with_min_align_and_capacity(capacity))
    }

    /// Fallible version of [`with_min_align_and_capacity`](Bump::with_min_align_and_capacity).
    ///
    /// # Errors
    ///
    /// [`AllocErr`] if there is no memory.
    ///
    /// # Panics
    ///
    /// If `MIN_ALIGN` is not 1, 2, 4, 8 or 16.
    ///
    /// ```
    /// assert!(bumpalo::Bump::<4>::try_with_min_align_and_capacity(usize::MAX).is_err());
    /// ```
    pub fn try_with_min_align_and_capacity(capacity: usize) -> Result<Self, AllocErr> {
        Self::assert_min_align();
        if capacity == 0 {
            return Ok(Self::with_min_align());
        }
        Ok(Bump { arena: Arena::try_with_capacity(capacity)? })
    }

    /// The minimum alignment.
    ///
    /// ```
    /// assert_eq!(bumpalo::Bump::<4>::with_min_align().min_align(), 4);
    /// ```
    #[must_use]
    pub fn min_align(&self) -> usize {
        MIN_ALIGN
    }

    /// The limit that [`set_allocation_limit`](Bump::set_allocation_limit) set.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// bump.set_allocation_limit(Some(1000));
    /// assert_eq!(bump.allocation_limit(), Some(1000));
    /// ```
    #[must_use]
    pub fn allocation_limit(&self) -> Option<usize> {
        // Large chunks have more outside their capacity than small ones.
        self.arena.limit().map(|held| match held.checked_sub(overhead(usize::MAX)) {
            Some(_) if held == usize::MAX => usize::MAX,
            Some(limit) if overhead(limit) > overhead(0) => limit,
            _ => held.saturating_sub(overhead(0)),
        })
    }

    /// Limits the bytes of all chunks together. Chunks that are there already stay. The header of
    /// the first chunk does not count, those of the others do: 128 bytes each, and 192 from 4 KiB on.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// bump.set_allocation_limit(Some(1000));
    /// assert!(bump.try_alloc([0_u8; 2000]).is_err());
    /// assert!(bump.try_alloc([0_u8; 200]).is_ok());
    /// ```
    pub fn set_allocation_limit(&self, limit: Option<usize>) {
        self.arena.set_limit(limit.map(|bytes| bytes.saturating_add(overhead(bytes))));
    }

    /// Frees everything that was allocated, without dropping it. Keeps the largest chunk, and
    /// all that have 4 MiB or more.
    ///
    /// ```
    /// let mut bump = bumpalo::Bump::new();
    /// for line in 0..100_u32 {
    ///     bump.alloc_slice_fill_copy(100, line);
    ///     bump.reset();
    /// }
    /// assert!(bump.allocated_bytes() < 2000);
    /// ```
    #[inline]
    pub fn reset(&mut self) {
        self.arena.reset_with(Retain::Largest);
    }

    /// Opens a scope, whose memory is free again when its borrow of this arena ends. What the arena
    /// allocated itself stays until the next reset, although it is not borrowed any more.
    ///
    /// bumpalo has no such method.
    ///
    /// ```
    /// let mut bump = bumpalo::Bump::with_capacity(1000);
    /// for n in 0..100_u8 {
    ///     let s = bump.scope();
    ///     s.alloc_slice_fill_copy(500, n);
    /// }
    /// assert!(bump.allocated_bytes() < 2000);
    /// ```
    #[inline(always)]
    pub fn scope(&mut self) -> Scope<'_> {
        self.arena.scope()
    }

    /// This arena as a scope, for functions that take one. It does not respect `MIN_ALIGN`.
    ///
    /// bumpalo has no such method.
    ///
    /// ```
    /// use bumpalo::Bump;
    /// use ebbtide::Scope;
    ///
    /// fn shout<'a>(s: &Scope<'a>, text: &str) -> &'a str {
    ///     s.alloc_fmt(format_args!("{text}!"))
    /// }
    /// let bump = Bump::new();
    /// assert_eq!(shout(bump.as_scope(), "ebb"), "ebb!");
    /// ```
    #[inline(always)]
    pub fn as_scope(&self) -> &Scope<'_> {
        self.arena.root()
    }

    /// Whether a `T` fits in the present chunk at its own alignment, so that allocating it does not
    /// fail, and the panic after a failure is no part of the fast path.
    #[inline(always)]
    fn has_room_for<T>(&self) -> bool {
        MIN_ALIGN <= align_of::<T>() && self.arena.has_room_for::<T>()
    }

    /// Moves `value` into the arena, which does not drop it.
    ///
    /// # Panics
    ///
    /// If there is no memory, like all methods without `try_`.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let value = bump.alloc(String::from("ebb"));
    /// value.push('!');
    /// assert_eq!(*value, "ebb!");
    /// # drop(std::mem::take(value));
    /// ```
    #[inline(always)]
    pub fn alloc<T>(&self, value: T) -> &mut T {
        if self.has_room_for::<T>() {
            return or_panic(self.try_alloc(value));
        }
        // Passing a large value to the slow path copies it at each call on the way.
        if const { size_of::<T>() > 64 } {
            return self.alloc_with(MaybeUninit::uninit).write(value);
        }
        out_of_line(move || or_panic(self.try_alloc(value)))
    }

    /// Fallible version of [`alloc`](Bump::alloc).
    ///
    /// # Errors
    ///
    /// [`AllocErr`] if there is no memory, like all methods with `try_`.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.try_alloc(1), Ok(&mut 1));
    /// ```
    #[inline(always)]
    pub fn try_alloc<T>(&self, value: T) -> Result<&mut T, AllocErr> {
        let value = ManuallyDrop::new(value);
        let value = at_least!(MIN_ALIGN, T, |at| self.arena.try_alloc(at(value)));
        Ok(value?)
    }

    /// Reserves the block of a value, and then writes the result of `f` to it.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_with(|| [1; 1000])[999], 1);
    /// ```
    #[inline(always)]
    pub fn alloc_with<F, T>(&self, f: F) -> &mut T
    where
        F: FnOnce() -> T,
    {
        if self.has_room_for::<T>() {
            return or_panic(self.try_alloc_with(f));
        }
        out_of_line(move || or_panic(self.try_alloc_with(f)))
    }

    /// Fallible version of [`alloc_with`](Bump::alloc_with).
    ///
    /// # Errors
    ///
    /// [`AllocErr`]; `f` did not run.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.try_alloc_with(|| 1), Ok(&mut 1));
    /// ```
    #[inline(always)]
    pub fn try_alloc_with<F, T>(&self, f: F) -> Result<&mut T, AllocErr>
    where
        F: FnOnce() -> T,
    {
        let make = || ManuallyDrop::new(f());
        let value = at_least!(MIN_ALIGN, T, |at| self.arena.try_alloc_with(|| at(make())));
        Ok(value?)
    }

    /// Like [`alloc_with`](Bump::alloc_with), but `f` may fail. The block is then free again, unless
    /// `f` allocated.
    ///
    /// # Errors
    ///
    /// The error of `f`.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_try_with(|| "12".parse()), Ok(&mut 12));
    /// ```
    #[inline(always)]
    pub fn alloc_try_with<F, T, E>(&self, f: F) -> Result<&mut T, E>
    where
        F: FnOnce() -> Result<T, E>,
    {
        if self.has_room_for::<T>() {
            return self.alloc_try_with_at_once(f);
        }
        match self.alloc_try_with_slowly(f) {
            Ok(value) => Ok(value),
            Err(AllocOrInitError::Init(error)) => Err(error),
            Err(AllocOrInitError::Alloc(_)) => error::out_of_memory(),
        }
    }

    /// Fallible version of [`alloc_try_with`](Bump::alloc_try_with).
    ///
    /// # Errors
    ///
    /// There is no memory, or the error of `f`.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.try_alloc_try_with(|| Ok::<_, ()>(1)), Ok(&mut 1));
    /// ```
    #[inline(always)]
    pub fn try_alloc_try_with<F, T, E>(&self, f: F) -> Result<&mut T, AllocOrInitError<E>>
    where
        F: FnOnce() -> Result<T, E>,
    {
        if self.has_room_for::<T>() {
            return self.alloc_try_with_at_once(f).map_err(AllocOrInitError::Init);
        }
        self.alloc_try_with_slowly(f)
    }

    /// [`alloc_try_with`](Bump::alloc_try_with) for a type for which there is room. Large results
    /// are moved fewer times than in a function that can fail otherwise.
    #[inline(always)]
    fn alloc_try_with_at_once<T, E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<&mut T, E> {
        let value = self.arena.alloc_try_with(|| f().map(ManuallyDrop::new));
        value.map(|value| &mut **value)
    }

    /// The same for any type, whether or not there is room.
    #[inline(always)]
    fn alloc_try_with_slowly<T, E>(
        &self,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<&mut T, AllocOrInitError<E>> {
        let make = || f().map(ManuallyDrop::new);
        let value = at_least!(MIN_ALIGN, T, |at| self.arena.try_alloc_try_with(|| make().map(at)));
        Ok(value?)
    }

    /// A slice whose elements are the results of `f`.
    #[inline(always)]
    fn fill<T>(&self, len: usize, mut f: impl FnMut(usize) -> T) -> Result<&mut [T], AllocErr> {
        if const { MIN_ALIGN <= align_of::<T>() } {
            // By value: through references, the loop would read what `f` holds for each element.
            let make = move |index| ManuallyDrop::new(f(index));
            return Ok(undropped(self.arena.try_alloc_slice_fill_with(len, make)?));
        }
        let room = self.arena.try_alloc_uninit_slice_aligned(len, MIN_ALIGN)?;
        for (index, place) in room.iter_mut().enumerate() {
            place.write(f(index));
        }
        let elements: *mut [MaybeUninit<T>] = room;
        // SAFETY: the loop wrote every element of `room`, which is as long as it was requested.
        Ok(unsafe { &mut *(elements as *mut [T]) })
    }

    /// Copies a slice.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_slice_copy(&[1, 2]), [1, 2]);
    /// ```
    #[inline(always)]
    pub fn alloc_slice_copy<T>(&self, src: &[T]) -> &mut [T]
    where
        T: Copy,
    {
        or_panic(self.try_alloc_slice_copy(src))
    }

    /// Fallible version of [`alloc_slice_copy`](Bump::alloc_slice_copy).
    ///
    /// # Errors
    ///
    /// [`AllocErr`] if there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.try_alloc_slice_copy(&[1, 2]), Ok(&mut [1, 2][..]));
    /// ```
    #[inline(always)]
    pub fn try_alloc_slice_copy<T>(&self, src: &[T]) -> Result<&mut [T], AllocErr>
    where
        T: Copy,
    {
        if const { MIN_ALIGN <= align_of::<T>() } {
            return Ok(self.arena.try_alloc_slice_copy(src)?);
        }
        self.fill(src.len(), move |index| src[index])
    }

    /// Clones a slice.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_slice_clone(&[0..1, 1..2])[1], 1..2);
    /// ```
    #[inline(always)]
    pub fn alloc_slice_clone<T>(&self, src: &[T]) -> &mut [T]
    where
        T: Clone,
    {
        or_panic(self.try_alloc_slice_clone(src))
    }

    /// Fallible version of [`alloc_slice_clone`](Bump::alloc_slice_clone).
    ///
    /// # Errors
    ///
    /// [`AllocErr`]; nothing was cloned.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.try_alloc_slice_clone(&[0..1]), Ok(&mut [0..1][..]));
    /// ```
    #[inline(always)]
    pub fn try_alloc_slice_clone<T>(&self, src: &[T]) -> Result<&mut [T], AllocErr>
    where
        T: Clone,
    {
        self.fill(src.len(), move |index| src[index].clone())
    }

    /// Copies a string.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_str("ebb"), "ebb");
    /// ```
    #[inline(always)]
    pub fn alloc_str(&self, src: &str) -> &mut str {
        or_panic(self.try_alloc_str(src))
    }

    /// Fallible version of [`alloc_str`](Bump::alloc_str).
    ///
    /// # Errors
    ///
    /// [`AllocErr`] if there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.try_alloc_str("ebb").map(|text| text.len()), Ok(3));
    /// ```
    #[inline(always)]
    pub fn try_alloc_str(&self, src: &str) -> Result<&mut str, AllocErr> {
        if const { MIN_ALIGN == 1 } {
            return Ok(self.arena.try_alloc_str(src)?);
        }
        let bytes = self.try_alloc_slice_copy(src.as_bytes())?;
        // SAFETY: the bytes are a copy of those of a `str`, which are UTF-8.
        Ok(unsafe { core::str::from_utf8_unchecked_mut(bytes) })
    }

    /// A slice whose elements are the results of `f`, which is passed their indices.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_slice_fill_with(3, |index| 2 * index), [0, 2, 4]);
    /// ```
    #[inline(always)]
    pub fn alloc_slice_fill_with<T, F>(&self, len: usize, f: F) -> &mut [T]
    where
        F: FnMut(usize) -> T,
    {
        or_panic(self.fill(len, f))
    }

    /// Like [`alloc_slice_fill_with`](Bump::alloc_slice_fill_with), but `f` may fail.
    ///
    /// # Errors
    ///
    /// The first error of `f`. The elements before it are not dropped.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let failed = bump.alloc_slice_try_fill_with(3, |index| if index < 2 { Ok(index) } else { Err(()) });
    /// assert_eq!(failed, Err(()));
    /// ```
    #[inline(always)]
    pub fn alloc_slice_try_fill_with<T, F, E>(&self, len: usize, mut f: F) -> Result<&mut [T], E>
    where
        F: FnMut(usize) -> Result<T, E>,
    {
        if const { MIN_ALIGN <= align_of::<T>() } {
            let make = move |index| f(index).map(ManuallyDrop::new);
            return match self.arena.try_alloc_slice_try_fill_with(len, make) {
                Ok(values) => Ok(undropped(values)),
                Err(ebbtide::AllocOrInitError::Init(error)) => Err(error),
                Err(ebbtide::AllocOrInitError::Alloc(_)) => error::out_of_memory(),
            };
        }
        let mut made = core_alloc::vec::Vec::new();
        or_panic(made.try_reserve_exact(len));
        for index in 0..len {
            made.push(ManuallyDrop::new(f(index)?));
        }
        let mut made = made.into_iter();
        let next = |_| ManuallyDrop::into_inner(announced(made.next()));
        Ok(self.alloc_slice_fill_with(len, next))
    }

    /// Fallible version of [`alloc_slice_fill_with`](Bump::alloc_slice_fill_with).
    ///
    /// # Errors
    ///
    /// [`AllocErr`]; `f` did not run.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.try_alloc_slice_fill_with(2, |index| index), Ok(&mut [0, 1][..]));
    /// ```
    #[inline(always)]
    pub fn try_alloc_slice_fill_with<T, F>(&self, len: usize, f: F) -> Result<&mut [T], AllocErr>
    where
        F: FnMut(usize) -> T,
    {
        self.fill(len, f)
    }

    /// A slice of `len` copies of `value`.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_slice_fill_copy(3, 7), [7; 3]);
    /// ```
    #[inline(always)]
    pub fn alloc_slice_fill_copy<T: Copy>(&self, len: usize, value: T) -> &mut [T] {
        self.alloc_slice_fill_with(len, move |_| value)
    }

    /// Fallible version of [`alloc_slice_fill_copy`](Bump::alloc_slice_fill_copy).
    ///
    /// # Errors
    ///
    /// [`AllocErr`] if there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(bump.try_alloc_slice_fill_copy(usize::MAX, 7).is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_slice_fill_copy<T: Copy>(
        &self,
        len: usize,
        value: T,
    ) -> Result<&mut [T], AllocErr> {
        self.fill(len, move |_| value)
    }

    /// A slice of `len` clones of `value`.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_slice_fill_clone(2, &(0..1)), [0..1, 0..1]);
    /// ```
    #[inline(always)]
    pub fn alloc_slice_fill_clone<T: Clone>(&self, len: usize, value: &T) -> &mut [T] {
        self.alloc_slice_fill_with(len, move |_| value.clone())
    }

    /// Fallible version of [`alloc_slice_fill_clone`](Bump::alloc_slice_fill_clone).
    ///
    /// # Errors
    ///
    /// [`AllocErr`]; nothing was cloned.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(bump.try_alloc_slice_fill_clone(usize::MAX, &7).is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_slice_fill_clone<T: Clone>(
        &self,
        len: usize,
        value: &T,
    ) -> Result<&mut [T], AllocErr> {
        self.fill(len, move |_| value.clone())
    }

    /// A slice of the values of an iterator that knows their number.
    ///
    /// # Panics
    ///
    /// If the iterator yields fewer values than it announced, or there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_slice_fill_iter([1, 2].map(|n| 2 * n)), [2, 4]);
    /// ```
    #[inline(always)]
    pub fn alloc_slice_fill_iter<T, I>(&self, iter: I) -> &mut [T]
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: ExactSizeIterator,
    {
        or_panic(self.try_alloc_slice_fill_iter(iter))
    }

    /// Like [`alloc_slice_fill_iter`](Bump::alloc_slice_fill_iter), for an iterator of results.
    ///
    /// # Errors
    ///
    /// The first error. The values before it are not dropped.
    ///
    /// # Panics
    ///
    /// If the iterator yields fewer values than it announced, or there is no memory.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// let numbers = ["1", "x"].map(str::parse::<u32>);
    /// assert!(bump.alloc_slice_try_fill_iter(numbers).is_err());
    /// ```
    #[inline(always)]
    pub fn alloc_slice_try_fill_iter<T, I, E>(&self, iter: I) -> Result<&mut [T], E>
    where
        I: IntoIterator<Item = Result<T, E>>,
        I::IntoIter: ExactSizeIterator,
    {
        let mut iter = iter.into_iter();
        self.alloc_slice_try_fill_with(iter.len(), move |_| announced(iter.next()))
    }

    /// Fallible version of [`alloc_slice_fill_iter`](Bump::alloc_slice_fill_iter).
    ///
    /// # Errors
    ///
    /// [`AllocErr`] if there is no memory.
    ///
    /// # Panics
    ///
    /// If the iterator yields fewer values than it announced.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.try_alloc_slice_fill_iter([1, 2]), Ok(&mut [1, 2][..]));
    /// ```
    #[inline(always)]
    pub fn try_alloc_slice_fill_iter<T, I>(&self, iter: I) -> Result<&mut [T], AllocErr>
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: ExactSizeIterator,
    {
        let mut iter = iter.into_iter();
        self.fill(iter.len(), move |_| announced(iter.next()))
    }

    /// A slice of `len` default values.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert_eq!(bump.alloc_slice_fill_default::<u32>(2), [0, 0]);
    /// ```
    #[inline(always)]
    pub fn alloc_slice_fill_default<T: Default>(&self, len: usize) -> &mut [T] {
        self.alloc_slice_fill_with(len, |_| T::default())
    }

    /// Fallible version of [`alloc_slice_fill_default`](Bump::alloc_slice_fill_default).
    ///
    /// # Errors
    ///
    /// [`AllocErr`]; no value was made.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// assert!(bump.try_alloc_slice_fill_default::<u32>(usize::MAX).is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_slice_fill_default<T: Default>(
        &self,
        len: usize,
    ) -> Result<&mut [T], AllocErr> {
        self.fill(len, |_| T::default())
    }

    /// An uninitialised block. One of 0 bytes takes no memory.
    ///
    /// ```
    /// # use std::alloc::Layout;
    /// let bump = bumpalo::Bump::new();
    /// let block = bump.alloc_layout(Layout::new::<u64>());
    /// assert_eq!(block.addr().get() % 8, 0);
    /// ```
    #[inline(always)]
    pub fn alloc_layout(&self, layout: Layout) -> NonNull<u8> {
        or_panic(self.try_alloc_layout(layout))
    }

    /// Fallible version of [`alloc_layout`](Bump::alloc_layout).
    ///
    /// # Errors
    ///
    /// [`AllocErr`] if there is no memory.
    ///
    /// ```
    /// # use std::alloc::Layout;
    /// let bump = bumpalo::Bump::new();
    /// assert!(bump.try_alloc_layout(Layout::new::<u64>()).is_ok());
    /// ```
    #[inline(always)]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocErr> {
        let layout = layout.align_to(MIN_ALIGN).map_err(|_| AllocErr)?;
        Ok(self.arena.try_alloc_layout(layout)?)
    }

    /// The number of bytes that are free in the current chunk.
    ///
    /// ```
    /// let bump = bumpalo::Bump::with_capacity(100);
    /// assert!(bump.chunk_capacity() >= 100);
    /// ```
    #[must_use]
    pub fn chunk_capacity(&self) -> usize {
        self.arena.free_in_chunk()
    }

    /// The parts of the chunks that are in use, those of the newest chunk first.
    ///
    /// Values, slices and strings are at one end of a chunk, and what can grow is at the other one,
    /// so a chunk has up to two parts. In the part of the values, the newest one comes first; it
    /// comes before the other part. Between values of one type there is no padding, so if only such
    /// were allocated, every part consists of them.
    ///
    /// ```
    /// let mut bump = bumpalo::Bump::new();
    /// bump.alloc(b'a');
    /// bump.alloc(b'b');
    /// let parts: Vec<_> = bump.iter_allocated_chunks().collect();
    /// // SAFETY: two bytes were allocated, and nothing else.
    /// assert_eq!(unsafe { parts[0][0].assume_init() }, b'b');
    /// assert_eq!((parts.len(), parts[0].len()), (1, 2));
    /// ```
    pub fn iter_allocated_chunks(&mut self) -> ChunkIter<'_, MIN_ALIGN> {
        ChunkIter::new(&mut self.arena)
    }

    /// Like [`iter_allocated_chunks`](Bump::iter_allocated_chunks), but returns addresses and sizes.
    ///
    /// # Safety
    ///
    /// None is needed, other than with bumpalo, because the iterator does not read the memory, and
    /// is not affected by later allocations.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// bump.alloc([0_u8; 10]);
    /// // SAFETY: the memory is not used.
    /// let sizes: Vec<usize> = unsafe { bump.iter_allocated_chunks_raw() }.map(|part| part.1).collect();
    /// assert_eq!(sizes, [10]);
    /// ```
    pub unsafe fn iter_allocated_chunks_raw(&self) -> ChunkRawIter<'_, MIN_ALIGN> {
        ChunkRawIter::new(&self.arena)
    }

    /// The capacity of all chunks, without their headers.
    ///
    /// ```
    /// let bump = bumpalo::Bump::new();
    /// bump.alloc([0_u8; 100]);
    /// assert!(bump.allocated_bytes() >= 100);
    /// ```
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.arena.capacity()
    }

    /// The bytes that the arena holds of the heap.
    ///
    /// ```
    /// let bump = bumpalo::Bump::with_capacity(100);
    /// assert!(bump.allocated_bytes_including_metadata() > bump.allocated_bytes());
    /// ```
    #[must_use]
    pub fn allocated_bytes_including_metadata(&self) -> usize {
        self.arena.held()
    }
}

impl<const MIN_ALIGN: usize> Default for Bump<MIN_ALIGN> {
    fn default() -> Self {
        Self::with_min_align()
    }
}

/// The arena, with ebbtide's own methods. They do not respect `MIN_ALIGN`.
impl<const MIN_ALIGN: usize> AsRef<Arena> for Bump<MIN_ALIGN> {
    #[inline(always)]
    fn as_ref(&self) -> &Arena {
        &self.arena
    }
}

// SAFETY: the field is not replaced while the arena is borrowed.
#[cfg(feature = "collections")]
unsafe impl ebbtide::collections::HasArena for Bump {
    #[inline(always)]
    fn arena(&self) -> &Arena {
        &self.arena
    }
}
