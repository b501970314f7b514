//! An arena for values of any type, with destructors.
//!
//! # Invariant
//!
//! - **D1** The list that starts with `newest` and continues with `older` has one [`Entry`] for
//!   each value that was registered since the last reset. Each entry lies in a chunk of the arena,
//!   its value is initialised, and its `drop` drops that value. `'v` outlives the arena, and every
//!   value is of a type that is valid for `'v`, or a box of such a value.

use crate::{
    arena::{Arena, Retain},
    backing::{Backing, DefaultBacking},
    boxed::Box,
    error::{AllocError, Failure},
    fresh::Fresh,
    raw::Need,
    scope::Scope,
    stats::Stats,
    threads::{SentToThreads, SharedByThreads},
};
#[cfg(feature = "alloc")]
use core::pin::Pin;
use core::{
    cell::Cell, convert::Infallible, fmt, marker::PhantomData, mem::needs_drop, ptr::NonNull,
};

/// An arena for values of any type, which drops them on [`reset`](DropArena::reset) and when it is
/// dropped itself. The value that was allocated last is dropped first.
///
/// A value that needs `Drop` takes two words more than its size and one more store; others cost as
/// much as in the arena's [`root`](Arena::root). If all values have the same type, a
/// [`TypedArena`](crate::TypedArena) takes less. For a single one there is
/// [`Scope::boxed`](Scope::boxed).
///
/// ```
/// use ebbtide::DropArena;
///
/// let arena = DropArena::new();
/// let names = arena.alloc(vec![String::from("Kattegat")]); // freed when `arena` goes
/// names.push(String::from("Skagerrak"));
/// let count = arena.alloc(names.len());
/// assert_eq!(*count, 2);
/// ```
///
/// Values may borrow for `'v`, from whatever outlives the arena. They cannot borrow each other,
/// because a destructor could then access a value that was dropped before. In a `TypedArena`,
/// values can borrow each other if their type does not implement `Drop` itself.
///
/// It is neither `Send` nor `Sync`: the values in it may be of any type.
pub struct DropArena<'v, B: Backing = DefaultBacking> {
    arena: Arena<B>,
    newest: Cell<Option<NonNull<Link>>>,
    /// Invariant: if the arena were covariant in `'v`, a value that borrows for a shorter time
    /// could be put in.
    values: PhantomData<fn(&'v ()) -> &'v ()>,
}

// SAFETY: never applies, because nothing implements the bound.
#[cfg(not(doc))]
unsafe impl<B: Backing> Sync for DropArena<'_, B> where Self: SharedByThreads {}

// SAFETY: never applies, because nothing implements the bound.
#[cfg(not(doc))]
unsafe impl<B: Backing> Send for DropArena<'_, B> where Self: SentToThreads {}

/// The header of a registered value: its destructor, and the link to the value before it.
struct Link {
    older: Cell<Option<NonNull<Link>>>,
    drop: unsafe fn(NonNull<Link>),
}

/// A registered value.
#[repr(C)]
struct Entry<T> {
    link: Link,
    value: T,
}

/// # Safety
///
/// `link` is that of an `Entry<T>`, with provenance for all of it, whose value is initialised and
/// not used again.
unsafe fn drop_value<T>(link: NonNull<Link>) {
    let entry = link.cast::<Entry<T>>().as_ptr();
    // SAFETY: by this function's contract, `entry` points to an `Entry<T>` that is alive, and
    // `link` has provenance for all of it.
    let value = unsafe { &raw mut (*entry).value };
    // SAFETY: the value is aligned in its entry, and by this function's contract, it is initialised
    // and not used again.
    unsafe { value.drop_in_place() };
}

#[cfg(feature = "alloc")]
impl DropArena<'_> {
    /// An empty arena over the heap. Takes no memory until the first value.
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// assert_eq!(arena.alloc(String::from("ebb")), "ebb");
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        DropArena::new_in(crate::backing::Heap)
    }
}

/// Pinned values, only over the heap: the memory of a forgotten arena is then leaked. That of another
/// backing could be used again, although the values were not dropped.
#[cfg(feature = "alloc")]
impl<'v> DropArena<'v, crate::backing::Heap> {
    /// Moves `value` into the arena and pins it, such as a future, also as a trait object.
    ///
    /// ```
    /// use ebbtide::DropArena;
    /// use std::{future::Future, pin::Pin, task::{Context, Poll, Waker}};
    ///
    /// let arena = DropArena::new();
    /// let name = String::from("ebb");
    /// let futures: [Pin<&mut dyn Future<Output = usize>>; 2] =
    ///     [arena.alloc_pinned(async { 1 }), arena.alloc_pinned(async move { name.len() })];
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert_eq!(futures.map(|future| future.poll(&mut context)), [1, 3].map(Poll::Ready));
    /// ```
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    pub fn alloc_pinned<T: 'v>(&self, value: T) -> Pin<&mut T> {
        let Ok(value) = self.pinned_in::<T, Infallible>(value);
        value
    }

    /// Fallible version of [`alloc_pinned`](DropArena::alloc_pinned).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the value is dropped.
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// arena.set_limit(Some(100));
    /// assert!(arena.try_alloc_pinned(String::from("ebb")).is_err());
    /// ```
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    pub fn try_alloc_pinned<T: 'v>(&self, value: T) -> Result<Pin<&mut T>, AllocError> {
        self.pinned_in(value)
    }

    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    fn pinned_in<T: 'v, F: Failure>(&self, value: T) -> Result<Pin<&mut T>, F> {
        let value = self.alloc_in::<T, F>(value)?;
        // SAFETY: nothing moves the value, because this is the only reference to it and a chunk stays where it
        // is. Its memory is reused or freed only by a reset and by the end of the arena, which first drop
        // every value that needs it (D1). If the arena is forgotten, so are its chunks, which the heap gave
        // to it alone.
        Ok(unsafe { Pin::new_unchecked(value) })
    }
}

impl<'v, B: Backing> DropArena<'v, B> {
    /// Like [`new`](DropArena::new), with a custom backing. For a first chunk of another size, see
    /// [`from`](DropArena#impl-From<Arena<B>>-for-DropArena<'_,+B>).
    ///
    /// ```
    /// use ebbtide::{DropArena, Heap};
    ///
    /// let arena = DropArena::new_in(Heap);
    /// assert_eq!(*arena.alloc(1), 1);
    /// ```
    #[must_use]
    pub const fn new_in(backing: B) -> Self {
        DropArena::over(Arena::new_in(backing))
    }

    const fn over(arena: Arena<B>) -> Self {
        DropArena { arena, newest: Cell::new(None), values: PhantomData }
    }

    /// Moves `value` into the arena, to be dropped with it.
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// let text = arena.alloc(String::from("ebb"));
    /// let number = arena.alloc(5);
    /// text.push_str("ing");
    /// assert_eq!((text.as_str(), *number), ("ebbing", 5));
    /// ```
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    pub fn alloc<T: 'v>(&self, value: T) -> &mut T {
        let Ok(value) = self.alloc_in::<T, Infallible>(value);
        value
    }

    /// Fallible version of [`alloc`](DropArena::alloc).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the value is dropped.
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// arena.set_limit(Some(100));
    /// assert!(arena.try_alloc(String::from("ebb")).is_err());
    /// ```
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    pub fn try_alloc<T: 'v>(&self, value: T) -> Result<&mut T, AllocError> {
        self.alloc_in(value)
    }

    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    fn alloc_in<T: 'v, F: Failure>(&self, value: T) -> Result<&mut T, F> {
        if needs_drop::<T>() {
            let root = self.arena.open_root_for::<F>(Need::of::<Entry<T>>(1))?;
            // SAFETY: `T: 'v`, and only references that borrow the arena refer to the value, so
            // none is used after a reset or the end.
            unsafe { self.register(root, value) }
        } else {
            self.arena.open_root_for::<F>(Need::of::<T>(1))?.place(value).map(Fresh::lend)
        }
    }

    /// Moves the elements of an iterator into the arena, to be dropped with it, the first one
    /// first. If the iterator panics, those it yielded are dropped. It may allocate from the arena.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes, or if the iterator panics.
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// let words = arena.alloc_slice_from_iter("ebb and flow".split(' ').map(String::from));
    /// assert_eq!(words, ["ebb", "and", "flow"]);
    /// ```
    #[allow(clippy::mut_from_ref, reason = "each call returns another slice")]
    pub fn alloc_slice_from_iter<T: 'v>(&self, values: impl IntoIterator<Item = T>) -> &mut [T] {
        let Ok(slice) = self.slice_in::<T, Infallible>(values);
        slice
    }

    /// Fallible version of [`alloc_slice_from_iter`](DropArena::alloc_slice_from_iter).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; what was taken from the iterator is dropped.
    ///
    /// # Panics
    ///
    /// If the iterator panics.
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// assert_eq!(arena.try_alloc_slice_from_iter([1, 2])?, [1, 2]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[allow(clippy::mut_from_ref, reason = "each call returns another slice")]
    pub fn try_alloc_slice_from_iter<T: 'v>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&mut [T], AllocError> {
        self.slice_in(values)
    }

    #[allow(clippy::mut_from_ref, reason = "each call returns another slice")]
    fn slice_in<T: 'v, F: Failure>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&mut [T], F> {
        let slice = self.arena.collect_in_root::<T, F>(values)?.into_raw();
        if needs_drop::<T>() && !slice.is_empty() {
            // SAFETY: all elements are made, in a block of their own.
            let owned = Box::of(unsafe { Fresh::new(slice) });
            let root = self.arena.open_root_for::<F>(Need::of::<Entry<Box<'_, [T]>>>(1))?;
            // SAFETY: a box of values of a type that contains `'v`.
            unsafe { self.register(root, owned)? };
        }
        // SAFETY: the slice lies in the arena, which neither moves nor drops it as long as it is
        // borrowed; nobody else has it but the box, which does nothing until it is dropped.
        Ok(unsafe { Fresh::new(slice) }.lend())
    }

    /// Copies a string.
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// assert_eq!(arena.alloc_str("ebb"), "ebb");
    /// ```
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns another string")]
    pub fn alloc_str(&self, text: &str) -> &mut str {
        self.arena.alloc_str(text)
    }

    /// Fallible version of [`alloc_str`](DropArena::alloc_str).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// assert_eq!(arena.try_alloc_str("ebb")?, "ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns another string")]
    pub fn try_alloc_str(&self, text: &str) -> Result<&mut str, AllocError> {
        self.arena.try_alloc_str(text)
    }

    /// Moves `value` into an entry of the list (D1). On failure the value is dropped.
    ///
    /// # Safety
    ///
    /// `T: 'v`, or it is a box of such values in this arena. The value is not used after the
    /// arena's next reset or end.
    #[inline(always)]
    unsafe fn register<'s, T, F: Failure>(
        &'s self,
        root: &Scope<'s>,
        value: T,
    ) -> Result<&'s mut T, F> {
        let link = Link { older: Cell::new(None), drop: drop_value::<T> };
        let entry = root.place(Entry { link, value })?.into_raw();
        let link = entry.cast::<Link>();
        debug_assert!(self.newest.get() != Some(link), "D1: the entry is new");
        // Read after the call of the backing, which might reach this arena.
        // SAFETY: the entry was just written and begins with its link.
        unsafe { link.as_ref() }.older.set(self.newest.get());
        self.newest.set(Some(link));
        // SAFETY: F1: the value is part of the new entry, which the arena neither moves nor drops
        // as long as it is borrowed. Until then, only the link of the entry is accessed.
        Ok(unsafe { &mut (*entry.as_ptr()).value })
    }

    /// Runs all destructors and keeps every chunk.
    ///
    /// # Panics
    ///
    /// If a destructor does. The others run before the panic leaves this method, and the memory is
    /// kept until the next reset.
    ///
    /// ```
    /// let mut arena = ebbtide::DropArena::new();
    /// for turn in 0..10 {
    ///     arena.alloc(vec![turn; 100]);
    ///     arena.reset();
    /// } // the same chunk serves every turn
    /// assert_eq!(arena.stats().used, 0);
    /// ```
    pub fn reset(&mut self) {
        self.reset_with(Retain::All);
    }

    /// Runs all destructors, and gives chunks back as `retain` says.
    ///
    /// # Panics
    ///
    /// If a destructor does; see [`reset`](DropArena::reset).
    ///
    /// ```
    /// use ebbtide::{DropArena, Retain};
    ///
    /// let mut arena = DropArena::new();
    /// arena.alloc([0u8; 50_000]);
    /// arena.reset_with(Retain::Bytes(0));
    /// assert_eq!(arena.stats().held, 0);
    /// ```
    pub fn reset_with(&mut self, retain: Retain) {
        self.run_destructors();
        self.arena.reset_with(retain);
    }

    /// Limits the number of bytes that the arena may hold of its backing; see [`Arena::set_limit`].
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// arena.set_limit(Some(1 << 16));
    /// assert!(arena.try_alloc([0u8; 1 << 16]).is_err());
    /// ```
    pub fn set_limit(&self, bytes: Option<usize>) {
        self.arena.set_limit(bytes);
    }

    /// The limit set by [`set_limit`](DropArena::set_limit).
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// arena.set_limit(Some(1 << 16));
    /// assert_eq!(arena.limit(), Some(1 << 16));
    /// ```
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        self.arena.limit()
    }

    /// Statistics of the arena; see [`Arena::stats`].
    ///
    /// ```
    /// let arena = ebbtide::DropArena::new();
    /// arena.alloc([0u8; 100]);
    /// assert_eq!(arena.stats().used, 100);
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.arena.stats()
    }

    /// The backing.
    ///
    /// ```
    /// use ebbtide::{DropArena, Heap};
    /// let arena = DropArena::new();
    /// let _: &Heap = arena.backing();
    /// ```
    pub fn backing(&self) -> &B {
        self.arena.backing()
    }

    fn run_destructors(&mut self) {
        let values = Registered(&self.newest);
        values.drop_all();
        // If a destructor panics, the others run when `values` is dropped.
    }
}

/// The values that were registered and not dropped.
struct Registered<'d>(&'d Cell<Option<NonNull<Link>>>);

impl Registered<'_> {
    fn drop_all(&self) {
        while let Some(link) = self.0.get() {
            // SAFETY: D1: the entry is there and begins with its link.
            let Link { older, drop } = unsafe { link.as_ref() };
            self.0.set(older.get());
            // SAFETY: D1: an entry of the type that `drop` is for. The address is that of `place`,
            // with provenance for all of it. The arena is borrowed exclusively, so nobody uses the
            // value, and it was just taken off the list.
            unsafe { drop(link) };
        }
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.drop_all();
    }
}

impl<B: Backing> Drop for DropArena<'_, B> {
    fn drop(&mut self) {
        self.run_destructors();
    }
}

/// Takes over an arena, with its chunks, its limit and the sizes of its chunks.
///
/// ```
/// use ebbtide::{Arena, DropArena};
///
/// let arena = DropArena::from(Arena::with_capacity(1 << 20));
/// assert!(arena.stats().capacity >= 1 << 20);
/// ```
impl<B: Backing> From<Arena<B>> for DropArena<'_, B> {
    fn from(arena: Arena<B>) -> Self {
        DropArena::over(arena)
    }
}

/// Of one backing only, so that `DropArena::default()` needs no type.
impl Default for DropArena<'_> {
    fn default() -> Self {
        DropArena::new_in(DefaultBacking::default())
    }
}

impl<B: Backing> fmt::Debug for DropArena<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DropArena").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
