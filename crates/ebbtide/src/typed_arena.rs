//! An arena for values of one type, with destructors.
//!
//! ```
//! use ebbtide::TypedArena;
//!
//! let names = TypedArena::new();
//! let (ebb, flow) = (names.alloc(String::from("ebb")), names.alloc(String::from("flow")));
//! ebb.push_str(" and ");
//! ebb.push_str(flow);
//! assert_eq!(ebb, "ebb and flow"); // both strings are freed with the arena
//! ```
//!
//! Its chunks are vectors of the standard library. The values can refer to each other in cycles
//! only because the destructor of such a vector is declared not to access references of its
//! elements (`may_dangle`, which no other crate can use on stable Rust).
//!
//! This file is long because all of it relies on A1 to A5 and on fields that it keeps private.
//!
//! # Invariants
//!
//! - **A1** While values are borrowed, no chunk is shrunk or reallocated: a new value is written to
//!   spare capacity after the last one, and no reference to the others is created.
//! - **A2** While a reference to `current` exists, neither user code nor an allocator runs.
//! - **A3** A chunk has at most one batch: values that user code is creating behind the last value
//!   of the chunk. Nobody else writes there. If the chunk is `current`, `limit` is its length;
//!   otherwise the chunk is in `open`.
//! - **A4** `limit` is between the length and the capacity of `current`; it is the capacity unless
//!   `current` has a batch.
//! - **A5** `others` has spare capacity for every chunk of `open`, so ending a batch calls no
//!   allocator.

use crate::{
    chunk::{LARGEST_CHUNK, doubled},
    error::{AllocError, AllocOrInitError, Failure},
    fresh::Fresh,
    init_guard::InitGuard,
    raw,
    threads::SharedByThreads,
};
use alloc::vec::Vec;
use core::{
    alloc::Layout,
    cell::{Cell, UnsafeCell},
    convert::Infallible,
    fmt,
    iter::{Chain, Flatten, FusedIterator},
    mem::{self, ManuallyDrop, MaybeUninit},
    ptr::NonNull,
    slice,
};

/// An arena for values of one type. It runs their destructors when it is dropped, and its values
/// may refer to each other in cycles.
///
/// Allocating takes `&self` and returns `&mut T`, as in the crate typed-arena. A value is never
/// moved: when a chunk is full, another one follows, twice as large, up to 4 MiB. The memory comes
/// from the heap. Values without a destructor take less time in a [`Scope`](crate::Scope); for values of
/// different types, see [`DropArena`](crate::DropArena).
///
/// ```
/// use ebbtide::TypedArena;
/// use std::cell::Cell;
///
/// struct Person<'a> {
///     name: String,
///     friend: Cell<Option<&'a Person<'a>>>,
/// }
///
/// let people = TypedArena::new();
/// let ann: &Person = people.alloc(Person { name: "Ann".into(), friend: Cell::new(None) });
/// let bob: &Person = people.alloc(Person { name: "Bob".into(), friend: Cell::new(Some(ann)) });
/// ann.friend.set(Some(bob)); // a cycle
/// assert_eq!(ann.friend.get().unwrap().name, "Bob");
/// ```
///
/// It is `Send` if `T` is, and not `Sync`.
pub struct TypedArena<T> {
    /// The chunks that are neither `current` nor in `open`: first those that are not used again, in
    /// the order in which they were filled, then those that may have room.
    others: Cell<Vec<Vec<T>>>,
    /// The number of chunks that are not used again.
    full: Cell<usize>,
    /// The chunks that have a batch (A3) and are not `current`, the innermost batch last.
    open: Cell<Vec<Vec<T>>>,
    /// The number of values outside of `current`.
    others_len: Cell<usize>,
    /// The chunk that values are added to.
    current: UnsafeCell<Vec<T>>,
    /// The length up to which values may be added to `current`.
    limit: Cell<usize>,
    /// Whether an iterator allocated while its elements were written to another chunk. The order of
    /// the values is lost then, so a chunk that is left before it is full can be used again.
    disordered: Cell<bool>,
    /// The size of the next ordinary chunk in bytes.
    next_size: Cell<usize>,
    /// Whether a chunk is being made. The global allocator, which is called meanwhile, may use this
    /// arena too. If it needs another chunk, the request is refused.
    busy: Cell<bool>,
}

// SAFETY: never applies, because nothing implements the bound.
#[cfg(not(doc))]
unsafe impl<T> Sync for TypedArena<T> where Self: SharedByThreads {}

/// The size of the first chunk in bytes.
const FIRST_SIZE: usize = 1024;

/// The size of a nested batch's first chunk in bytes. Each level of a tree that is built from the
/// top holds at least one.
const NESTED_SIZE: usize = 256;

/// The number of chunks with room that are searched, at most, before another one is made. Without
/// a bound, each batch of a deep tree would search the chunks of all levels.
const SEARCHED: usize = 8;

impl<T> TypedArena<T> {
    /// The most values for which the size hint of an iterator reserves room.
    const MOST_HINTED: usize = match size_of::<T>() {
        0 => 0,
        size => LARGEST_CHUNK / size,
    };

    /// An empty arena. Takes no memory until the first value.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// assert_eq!(arena.alloc(String::from("ebb")), "ebb");
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        // `Vec::capacity` is no `const fn` in the oldest supported release.
        let limit = if size_of::<T>() == 0 { usize::MAX } else { 0 };
        TypedArena::over(Vec::new(), limit, FIRST_SIZE)
    }

    /// An arena with one chunk, whose capacity is `limit`.
    const fn over(chunk: Vec<T>, limit: usize, next_size: usize) -> Self {
        TypedArena {
            others: Cell::new(Vec::new()),
            full: Cell::new(0),
            open: Cell::new(Vec::new()),
            others_len: Cell::new(0),
            current: UnsafeCell::new(chunk),
            limit: Cell::new(limit),
            disordered: Cell::new(false),
            next_size: Cell::new(next_size),
            busy: Cell::new(false),
        }
    }

    /// An arena with one chunk, which was made to have at least `capacity` places.
    fn with_first_chunk(chunk: Vec<T>, capacity: usize) -> Self {
        let limit = chunk.capacity();
        let next_size = doubled(capacity.saturating_mul(size_of::<T>())).max(FIRST_SIZE);
        TypedArena::over(chunk, limit, next_size)
    }

    /// An arena whose first chunk is made at once and has room for `capacity` values.
    ///
    /// # Panics
    ///
    /// If the chunk would exceed `isize::MAX` bytes. A heap without memory is reported to
    /// `handle_alloc_error`.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::with_capacity(1000);
    /// arena.alloc(1);
    /// ```
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        TypedArena::with_first_chunk(Vec::with_capacity(capacity), capacity)
    }

    /// Fallible version of [`with_capacity`](TypedArena::with_capacity).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is not enough memory.
    ///
    /// ```
    /// use ebbtide::TypedArena;
    /// assert!(TypedArena::<u64>::try_with_capacity(1000).is_ok());
    /// assert!(TypedArena::<u64>::try_with_capacity(usize::MAX).is_err());
    /// ```
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError> {
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(capacity).map_err(|_| AllocError)?;
        Ok(TypedArena::with_first_chunk(chunk, capacity))
    }

    /// Moves `value` into the arena, which drops it when it is dropped itself.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// let one = arena.alloc(vec![1]);
    /// let two = arena.alloc(vec![2]); // while `one` is lent
    /// one.append(two);
    /// assert_eq!(one, &[1, 2]);
    /// ```
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    pub fn alloc(&self, value: T) -> &mut T {
        let Ok(value) = self.alloc_in::<Infallible>(value);
        value
    }

    /// Fallible version of [`alloc`](TypedArena::alloc).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the value is dropped.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// assert_eq!(arena.try_alloc(String::from("ebb"))?, "ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    pub fn try_alloc(&self, value: T) -> Result<&mut T, AllocError> {
        self.alloc_in(value)
    }

    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    fn alloc_in<F: Failure>(&self, value: T) -> Result<&mut T, F> {
        if self.room() == 0 {
            // A value in registers is passed in a tail call, so that the fast path keeps nothing on
            // the stack. For such a call, a larger value would have to be on the stack.
            if size_of::<T>() <= 2 * size_of::<usize>() {
                return self.alloc_slow(value);
            }
            self.make_room::<F>(1)?;
        }
        // SAFETY: there is room for a value.
        Ok(unsafe { self.push(value) })
    }

    /// Makes room and adds the value.
    #[cold]
    #[inline(never)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    fn alloc_slow<F: Failure>(&self, value: T) -> Result<&mut T, F> {
        self.make_room::<F>(1)?;
        // SAFETY: there is room for a value now.
        Ok(unsafe { self.push(value) })
    }

    /// Adds a value to the current chunk.
    ///
    /// # Safety
    ///
    /// It has room for one.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns another value")]
    unsafe fn push(&self, value: T) -> &mut T {
        // SAFETY: A2: nothing below runs code of the user's until the last use of this.
        let chunk = unsafe { &mut *self.current.get() };
        let len = chunk.len();
        // SAFETY: by this function's contract, the capacity exceeds `len`, so this is inside the
        // chunk.
        let place = unsafe { chunk.as_mut_ptr().add(len) };
        // SAFETY: the place is aligned, and nobody else's: spare capacity (A1).
        unsafe { place.write(value) };
        // SAFETY: the capacity exceeds `len`, and the value was just written.
        unsafe { chunk.set_len(len + 1) };
        // SAFETY: it is initialised and stays where it is as long as the arena is borrowed (A1).
        // Nobody else has it: each place is lent once.
        unsafe { &mut *place }
    }

    /// Moves the elements of an iterator into the arena, next to each other. If the iterator
    /// panics, those it yielded are dropped.
    ///
    /// The iterator may itself allocate from the arena. Its values then go to other chunks, and
    /// [`iter_mut`](TypedArena::iter_mut) yields the values of this arena in another order from
    /// then on.
    ///
    /// # Panics
    ///
    /// If the elements exceed `isize::MAX` bytes, or if the iterator panics.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// let words = arena.alloc_extend("ebb and flow".split(' ').map(String::from));
    /// words[0].push_str("ing");
    /// assert_eq!(words, ["ebbing", "and", "flow"]);
    /// ```
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    pub fn alloc_extend(&self, values: impl IntoIterator<Item = T>) -> &mut [T] {
        let Ok(Ok(slice)) = self.extend_in::<Infallible, _>(values.into_iter(), succeeded);
        slice
    }

    /// Fallible version of [`alloc_extend`](TypedArena::alloc_extend).
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
    /// let arena = ebbtide::TypedArena::new();
    /// assert_eq!(arena.try_alloc_extend([1, 2, 3])?, [1, 2, 3]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    pub fn try_alloc_extend(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&mut [T], AllocError> {
        let Ok(slice) = self.extend_in::<AllocError, _>(values.into_iter(), succeeded)?;
        Ok(slice)
    }

    /// Moves the values of an iterator of results into the arena, next to each other, up to the
    /// first error. Values before an error are dropped, and their room is free again.
    ///
    /// The iterator may itself allocate from the arena, as that of
    /// [`alloc_extend`](TypedArena::alloc_extend).
    ///
    /// # Errors
    ///
    /// The first error of the iterator.
    ///
    /// # Panics
    ///
    /// If the values exceed `isize::MAX` bytes, or if the iterator panics.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// let numbers = |text: &'static str| text.split(' ').map(str::parse::<u8>);
    /// assert_eq!(arena.alloc_try_extend(numbers("1 2 3")), Ok(&mut [1, 2, 3][..]));
    /// assert!(arena.alloc_try_extend(numbers("1 x 3")).is_err());
    /// assert_eq!(arena.len(), 3);
    /// ```
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    pub fn alloc_try_extend<E>(
        &self,
        values: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<&mut [T], E> {
        let Ok(made) = self.try_extend_in::<Infallible, E>(values.into_iter());
        made
    }

    /// Fallible version of [`alloc_try_extend`](TypedArena::alloc_try_extend).
    ///
    /// # Errors
    ///
    /// [`AllocOrInitError`]: there is no memory, or the first error of the iterator.
    ///
    /// # Panics
    ///
    /// If the iterator panics.
    ///
    /// ```
    /// use ebbtide::AllocOrInitError;
    /// let arena = ebbtide::TypedArena::new();
    /// assert_eq!(arena.try_alloc_try_extend([Ok(1), Err('x')]), Err(AllocOrInitError::Init('x')));
    /// ```
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    pub fn try_alloc_try_extend<E>(
        &self,
        values: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<&mut [T], AllocOrInitError<E>> {
        let made = self.try_extend_in::<AllocError, E>(values.into_iter())?;
        made.map_err(AllocOrInitError::Init)
    }

    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    fn try_extend_in<F: Failure, E>(
        &self,
        values: impl Iterator<Item = Result<T, E>>,
    ) -> Result<Result<&mut [T], E>, F> {
        let failed = Cell::new(None);
        let values = values.map_while(|value| match value {
            Ok(value) => Some(value),
            Err(error) => {
                failed.set(Some(error));
                None
            }
        });
        self.extend_in(values, || failed.take())
    }

    /// Moves the elements of an iterator into the arena, unless `failed` returns an error after
    /// the last one.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    fn extend_in<F: Failure, E>(
        &self,
        mut values: impl Iterator<Item = T>,
        failed: impl FnOnce() -> Option<E>,
    ) -> Result<Result<&mut [T], E>, F> {
        let announced = values.size_hint().0;
        if announced > self.room() {
            self.make_announced_room(announced);
        }
        let mut batch = Batch::begin(self);
        while let Some(value) = values.next() {
            if let Err(value) = batch.made.push(value) {
                return batch.go_on(value, values, failed);
            }
        }
        batch.finish(values, failed)
    }

    /// Makes room for the values of a batch. If that fails, the batch moves as it grows.
    #[cold]
    #[inline(never)]
    fn make_announced_room(&self, announced: usize) {
        if announced <= Self::MOST_HINTED {
            let _ = self.make_room::<AllocError>(announced);
        }
    }

    /// Makes room for `additional` values in one chunk, so that allocating them calls no allocator.
    ///
    /// # Panics
    ///
    /// If the chunk would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// arena.reserve(3);
    /// for i in 0..3 {
    ///     arena.alloc(i);
    /// }
    /// ```
    pub fn reserve(&self, additional: usize) {
        let Ok(()) = self.reserve_in::<Infallible>(additional);
    }

    /// Fallible version of [`reserve`](TypedArena::reserve).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; nothing has changed.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::<u64>::new();
    /// assert!(arena.try_reserve(usize::MAX).is_err());
    /// ```
    pub fn try_reserve(&self, additional: usize) -> Result<(), AllocError> {
        self.reserve_in(additional)
    }

    fn reserve_in<F: Failure>(&self, additional: usize) -> Result<(), F> {
        if additional <= self.room() { Ok(()) } else { self.make_room(additional) }
    }

    /// The room for values behind the last one. Values that are written there belong to the arena
    /// once [`assume_alloc`](TypedArena::assume_alloc) counts them.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::<u64>::with_capacity(10);
    /// assert_eq!(arena.unused().len(), 10);
    /// ```
    #[must_use]
    pub fn unused(&self) -> *mut [MaybeUninit<T>] {
        // SAFETY: A2: nothing below runs code of the user's.
        let chunk = unsafe { &mut *self.current.get() };
        let start = chunk.as_mut_ptr().wrapping_add(chunk.len());
        core::ptr::slice_from_raw_parts_mut(start.cast(), self.room())
    }

    /// Counts the next `count` places as values, and returns them, still uninitialised. If there
    /// are not as many in the current chunk, they begin in another one.
    ///
    /// # Safety
    ///
    /// The caller initialises them before the arena is used otherwise or dropped, also if it
    /// panics.
    ///
    /// # Panics
    ///
    /// If the values exceed `isize::MAX` bytes.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// // SAFETY: both values are written.
    /// for (index, place) in unsafe { arena.assume_alloc(2) }.iter_mut().enumerate() {
    ///     place.write(index);
    /// }
    /// assert_eq!(arena.into_vec(), [0, 1]);
    /// ```
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    pub unsafe fn assume_alloc(&self, count: usize) -> &mut [MaybeUninit<T>] {
        self.reserve(count);
        let start = self.unused().cast();
        // SAFETY: A2: nothing below runs code of the user's.
        let chunk = unsafe { &mut *self.current.get() };
        // SAFETY: `reserve` made room for `count` more (A4), and by this function's contract, they
        // are initialised before anything reads or drops them.
        unsafe { chunk.set_len(chunk.len() + count) };
        // SAFETY: places of the chunk, which nobody else has (A1), and which need no initialisation.
        unsafe { slice::from_raw_parts_mut(start, count) }
    }

    /// The number of values.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// arena.alloc('a');
    /// arena.alloc_extend(['b', 'c']);
    /// assert_eq!(arena.len(), 3);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.others_len.get() + self.current().len()
    }

    /// Whether there are no values.
    ///
    /// ```
    /// assert!(ebbtide::TypedArena::<u8>::new().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values by shared reference, in the order of [`iter_mut`](TypedArena::iter_mut). The
    /// iterator can be cloned, for loops within each other.
    ///
    /// Borrows the arena exclusively, because [`alloc`](TypedArena::alloc) lends values mutably.
    ///
    /// ```
    /// let mut arena = ebbtide::TypedArena::new();
    /// arena.alloc_extend([1, 2, 4]);
    /// let values = arena.iter();
    /// let pairs = values.clone().flat_map(|a| values.clone().map(move |b| a * b));
    /// assert_eq!(pairs.sum::<i32>(), 49);
    /// ```
    pub fn iter(&mut self) -> Iter<'_, T> {
        let left = self.len();
        let others = self.others.get_mut().iter().chain(self.open.get_mut().iter()).flatten();
        Iter { values: others.chain(self.current.get_mut().iter()), left }
    }

    /// The values, in the order in which they were allocated, unless an iterator allocated while
    /// [`alloc_extend`](TypedArena::alloc_extend) collected it.
    ///
    /// ```
    /// let mut arena = ebbtide::TypedArena::new();
    /// arena.alloc(1);
    /// arena.alloc(2);
    /// for value in arena.iter_mut() {
    ///     *value *= 10;
    /// }
    /// assert_eq!(arena.into_vec(), [10, 20]);
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        let left = self.len();
        let others = self.others.get_mut().iter_mut().chain(self.open.get_mut()).flatten();
        IterMut { values: others.chain(self.current.get_mut()), left }
    }

    /// Moves the values into a vector, in the order of [`iter_mut`](TypedArena::iter_mut). If there
    /// is only one chunk, it becomes the vector.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// arena.alloc(1);
    /// arena.alloc_extend([2, 3]);
    /// assert_eq!(arena.into_vec(), [1, 2, 3]);
    /// ```
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        let Ok(values) = self.into_vec_in::<Infallible>();
        values
    }

    /// Fallible version of [`into_vec`](TypedArena::into_vec).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the values are dropped.
    ///
    /// ```
    /// let arena = ebbtide::TypedArena::new();
    /// arena.alloc(1);
    /// assert_eq!(arena.try_into_vec()?, [1]);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    pub fn try_into_vec(self) -> Result<Vec<T>, AllocError> {
        self.into_vec_in()
    }

    fn into_vec_in<F: Failure>(self) -> Result<Vec<T>, F> {
        let len = self.len();
        let last = self.current.into_inner();
        let others = self.others.into_inner().into_iter().chain(self.open.into_inner());
        let mut chunks = others.filter(|chunk| !chunk.is_empty());
        let Some(mut all) = chunks.next() else {
            return Ok(last);
        };
        if all.try_reserve_exact(len - all.len()).is_err() {
            return Err(out_of_memory::<T, F>(len));
        }
        for mut chunk in chunks.chain([last]) {
            all.append(&mut chunk);
        }
        Ok(all)
    }

    /// Drops the values and keeps every chunk.
    ///
    /// # Panics
    ///
    /// If a destructor does. The values of other chunks may then still be there.
    ///
    /// ```
    /// let mut arena = ebbtide::TypedArena::new();
    /// for document in ["<a>", "<b>"] {
    ///     arena.alloc(String::from(document));
    ///     arena.clear();
    /// } // the same chunk serves every turn
    /// assert!(arena.is_empty());
    /// ```
    pub fn clear(&mut self) {
        let others = self.others.get_mut();
        others.append(self.open.get_mut());
        self.full.set(0);
        self.disordered.set(false);
        // The largest are found first.
        others.sort_unstable_by_key(Vec::capacity);
        for chunk in others {
            self.others_len.set(self.others_len.get() - chunk.len());
            chunk.clear();
        }
        self.current.get_mut().clear();
        debug_assert_eq!(self.others_len.get(), 0, "the values of all chunks but `current`");
        self.check();
    }

    /// The current chunk, to look at its length and capacity.
    #[inline(always)]
    fn current(&self) -> &Vec<T> {
        // SAFETY: A2: nothing has a `&mut` to it outside of a call. No caller uses this reference
        // beyond its own next call.
        unsafe { &*self.current.get() }
    }

    /// The number of values that the current chunk has room for.
    #[inline(always)]
    fn room(&self) -> usize {
        self.limit.get() - self.current().len()
    }

    /// Makes another chunk the current one, with room for `needed` values.
    #[cold]
    #[inline(never)]
    fn make_room<F: Failure>(&self, needed: usize) -> Result<(), F> {
        // The allocator may use the new room itself.
        while self.room() < needed {
            if self.current().capacity() == 0 {
                self.make_first_room::<F>(needed)?;
            } else {
                let chunk = self.chunk_with_room::<F>(needed, needed)?;
                let limit = chunk.capacity();
                self.enter(chunk, limit);
            }
        }
        self.check();
        Ok(())
    }

    /// Makes the first chunk, without using the list of the others: an arena for a few values
    /// spends most of its time here.
    #[inline]
    fn make_first_room<F: Failure>(&self, needed: usize) -> Result<(), F> {
        self.start_busy::<F>(needed)?;
        let chunk = self.new_chunk(needed, needed, 0);
        self.busy.set(false);
        let Some(chunk) = chunk else { return Err(out_of_memory::<T, F>(needed)) };
        self.limit.set(chunk.capacity());
        debug_assert_eq!(self.current().capacity(), 0, "it has no chunk yet");
        // SAFETY: A2: valid for writes. The vector that is there has nothing to free: no other one
        // was made while the arena was busy.
        unsafe { self.current.get().write(chunk) };
        Ok(())
    }

    /// Begins to make a chunk for `needed` values.
    #[inline]
    fn start_busy<F: Failure>(&self, needed: usize) -> Result<(), F> {
        // Values without a size have room, unless they are more than a vector counts.
        if Layout::array::<T>(needed).is_err() || size_of::<T>() == 0 {
            return Err(F::too_large());
        }
        if self.busy.replace(true) {
            return Err(out_of_memory::<T, F>(needed));
        }
        Ok(())
    }

    /// A chunk with room for `wanted` values, or at least for `needed` if memory is short. It is not
    /// in the arena, and `others` and `open` can take the current one.
    fn chunk_with_room<F: Failure>(&self, needed: usize, wanted: usize) -> Result<Vec<T>, F> {
        self.start_busy::<F>(needed)?;
        // Nothing may unwind while these are local variables, because unwinding would drop values
        // that are lent.
        let (mut others, mut open) = (self.others.take(), self.open.take());
        let can_take = open.try_reserve(1).and_then(|()| others.try_reserve(open.len() + 1));
        let batches = open.len() + usize::from(self.has_batch());
        let chunk = match can_take {
            Ok(()) => self
                .take_with_room(&mut others, wanted)
                .or_else(|| self.new_chunk(needed, wanted, batches)),
            Err(_) => None,
        };
        self.others.set(others);
        self.open.set(open);
        self.busy.set(false);
        chunk.ok_or_else(|| out_of_memory::<T, F>(needed))
    }

    /// Asserts A3 to A5 and the counts, in debug builds.
    fn check(&self) {
        // Of more chunks, not every one is visited, so that n operations take no quadratic time.
        const MOST: usize = 64;
        if !cfg!(debug_assertions) {
            return;
        }
        let (others, open) = (self.others.take(), self.open.take());
        let current = self.current();
        debug_assert!(current.len() <= self.limit.get(), "A4");
        debug_assert!(size_of::<T>() == 0 || self.limit.get() <= current.capacity(), "A4");
        debug_assert!(others.capacity() - others.len() >= open.len(), "A5");
        debug_assert!(self.full.get() <= others.len(), "the full chunks come first");
        if others.len() + open.len() <= MOST {
            let len = others.iter().chain(&open).map(Vec::len).sum::<usize>();
            debug_assert_eq!(len, self.others_len.get(), "the values of all chunks but `current`");
            let is_current = |chunk: &Vec<T>| chunk.as_ptr() == current.as_ptr();
            debug_assert!(!others.iter().chain(&open).any(is_current), "A3: it is in one place");
        }
        self.others.set(others);
        self.open.set(open);
    }

    /// Whether the current chunk has a batch.
    fn has_batch(&self) -> bool {
        self.limit.get() < self.current().capacity()
    }

    /// Takes a chunk with room for `needed` values out of `others`.
    fn take_with_room(&self, others: &mut Vec<Vec<T>>, needed: usize) -> Option<Vec<T>> {
        let first = others.len().saturating_sub(SEARCHED).max(self.full.get());
        let has_room = |chunk: &Vec<T>| chunk.capacity() - chunk.len() >= needed;
        let index = first + others.get(first..)?.iter().rposition(has_room)?;
        let chunk = others.swap_remove(index);
        self.others_len.set(self.others_len.get() - chunk.len());
        Some(chunk)
    }

    /// Makes a chunk of the ordinary size, with room for `wanted` values if that is more, or at
    /// least for `needed`.
    ///
    /// The ordinary size doubles with each chunk, up to [`LARGEST_CHUNK`]; what a batch or
    /// `reserve` asked for does not count. Each open batch has a chunk for itself, which may stay
    /// nearly empty. So meanwhile a chunk is no larger than twice the values of the arena, divided
    /// by the number of batches.
    #[inline]
    fn new_chunk(&self, needed: usize, wanted: usize, batches: usize) -> Option<Vec<T>> {
        let next_size = self.next_size.get();
        let twice = self.len().saturating_mul(2 * size_of::<T>());
        let size = match twice.checked_div(batches) {
            Some(share) => next_size.min(share.max(NESTED_SIZE)),
            None => next_size,
        };
        let mut capacity = (size / size_of::<T>()).max(wanted).max(1);
        let mut chunk = Vec::new();
        while chunk.try_reserve_exact(capacity).is_err() {
            if capacity == needed {
                return None;
            }
            capacity = (capacity / 2).max(needed);
        }
        if size == next_size {
            self.next_size.set(doubled(next_size));
        }
        Some(chunk)
    }

    /// Makes a chunk from [`chunk_with_room`](TypedArena::chunk_with_room) the current one, and
    /// moves the old one to the others. If it has no values, and none are being made, it is freed.
    fn enter(&self, chunk: Vec<T>, limit: usize) {
        let has_batch = self.has_batch();
        self.limit.set(limit);
        // SAFETY: A2: this moves two vectors, and not their elements (A1).
        let values = mem::replace(unsafe { &mut *self.current.get() }, chunk);
        self.others_len.set(self.others_len.get() + values.len());
        if has_batch {
            let mut open = self.open.take();
            debug_assert!(open.len() < open.capacity(), "reserved before the chunk was made");
            debug_assert!(values.len() < values.capacity(), "A3: the batch had room");
            open.push(values);
            self.open.set(open);
            self.disordered.set(true);
        } else if !values.is_empty() {
            self.push_other(values);
        }
    }

    /// Adds a chunk to the others: with room that may be used, or behind those that are not used again.
    fn push_other(&self, chunk: Vec<T>) {
        let mut others = self.others.take();
        debug_assert!(others.len() < others.capacity(), "A5");
        let has_room = chunk.len() < chunk.capacity();
        others.push(chunk);
        if !(has_room && self.disordered.get()) {
            let full = self.full.get();
            let last = others.len() - 1;
            others.swap(full, last);
            self.full.set(full + 1);
        }
        self.others.set(others);
    }

    /// Ends the batch of a chunk that is no longer the current one, because the iterator made
    /// another one meanwhile. See [`Place::end_batch`].
    ///
    /// # Safety
    ///
    /// The chunk that begins at `start` has a batch, and `added` are its first values.
    #[cold]
    unsafe fn end_batch_of_other(&self, start: NonNull<T>, added: usize) {
        let mut open = self.open.take();
        // The last one, unless the program switches stacks within iterators.
        let index = open.iter().rposition(|chunk| chunk.as_ptr() == start.as_ptr());
        let chunk = index.map(|index| open.remove(index));
        self.open.set(open);
        if let Some(mut values) = chunk {
            debug_assert!(added <= values.capacity() - values.len(), "A3");
            // SAFETY: they are initialised, behind the last value and within the capacity.
            unsafe { values.set_len(values.len() + added) };
            self.others_len.set(self.others_len.get() + added);
            self.push_other(values);
            self.check();
        }
    }
}

/// The condition that every batch of an infallible iterator meets.
#[inline(always)]
fn succeeded() -> Option<Infallible> {
    None
}

/// The address of a chunk's first value. Creates no reference to its values (A1).
#[inline(always)]
fn start_of<T>(chunk: &mut Vec<T>) -> NonNull<T> {
    // SAFETY: the pointer of a vector is never null.
    unsafe { NonNull::new_unchecked(chunk.as_mut_ptr()) }
}

/// Reports that there is no memory for `values` values.
#[cold]
fn out_of_memory<T, F: Failure>(values: usize) -> F {
    match Layout::array::<T>(values) {
        Err(_) => F::too_large(),
        Ok(layout) if F::DIVERGES => raw::out_of_memory(layout.size(), layout.align()),
        Ok(_) => F::refused(),
    }
}

/// Consecutive values that user code is making, behind the last value of a chunk. Dropping it
/// unfinished drops them and leaves the chunk as it was.
struct Batch<'t, T> {
    // Dropped first: the values lie in the chunk.
    made: InitGuard<'t, T>,
    place: Place<'t, T>,
}

/// The chunk of a batch.
struct Place<'t, T> {
    arena: &'t TypedArena<T>,
    /// The start of the chunk.
    start: NonNull<T>,
    /// The number of values before the batch.
    before: usize,
    /// The capacity of the chunk. If it equals `before`, the chunk does not have this batch, but
    /// may have another one.
    capacity: usize,
}

impl<'t, T> Batch<'t, T> {
    #[inline]
    fn begin(arena: &'t TypedArena<T>) -> Self {
        let capacity = arena.limit.get();
        // SAFETY: A2: nothing below runs code of the user's.
        let chunk = unsafe { &mut *arena.current.get() };
        let (start, before) = (start_of(chunk), chunk.len());
        if size_of::<T>() != 0 {
            arena.limit.set(before);
        }
        let place = Place { arena, start, before, capacity };
        Batch { made: InitGuard::new(place.room()), place }
    }

    /// Adds a value and those that follow, until the iterator ends.
    ///
    /// Takes the batch by value, so that it stays in registers in a caller that does not need this.
    #[inline(never)]
    fn go_on<F: Failure, E>(
        mut self,
        first: T,
        mut values: impl Iterator<Item = T>,
        failed: impl FnOnce() -> Option<E>,
    ) -> Result<Result<&'t mut [T], E>, F> {
        let mut next = Some(first);
        while let Some(value) = next.take() {
            if let Err(value) = self.made.push(value) {
                self.push::<F>(value)?;
            }
            let made = &mut self.made;
            next = values.try_for_each(|value| made.push(value)).err();
        }
        self.finish(values, failed)
    }

    /// Adds a value for which there is no room.
    #[cold]
    fn push<F: Failure>(&mut self, value: T) -> Result<(), F> {
        let (arena, len) = (self.place.arena, self.made.len());
        // Twice as many as there are, because each move copies all of them.
        let wanted = len.saturating_mul(2).max(1);
        if arena.room() >= wanted {
            // The iterator has made the current chunk.
            let Batch { place, .. } = Batch::begin(arena);
            self.move_to(place);
        } else {
            let mut chunk = arena.chunk_with_room::<F>(len + 1, wanted)?;
            let (start, before, capacity) = (start_of(&mut chunk), chunk.len(), chunk.capacity());
            self.move_to(Place { arena, start, before, capacity });
            arena.enter(chunk, before);
        }
        let pushed = self.made.push(value);
        assert!(pushed.is_ok(), "there is room for more than `len` values");
        Ok(())
    }

    /// Moves the values to another chunk, which has room for more than them, and gives up the batch
    /// of the old one. Nothing panics or calls the allocator.
    fn move_to(&mut self, place: Place<'t, T>) {
        self.made.move_to(place.room());
        drop(mem::replace(&mut self.place, place));
    }

    /// Adds the values to the chunk, unless the iterator failed.
    #[inline]
    fn finish<F: Failure, E>(
        self,
        values: impl Iterator<Item = T>,
        failed: impl FnOnce() -> Option<E>,
    ) -> Result<Result<&'t mut [T], E>, F> {
        // Should its destructor panic, the batch is dropped.
        drop(values);
        if let Some(error) = failed() {
            return Ok(Err(error));
        }
        let Batch { made, place, .. } = self;
        let added = made.len();
        if size_of::<T>() == 0 {
            // SAFETY: A2: nothing below runs code of the user's until the last use of this.
            let current = unsafe { &mut *place.arena.current.get() };
            let Some(len) = current.len().checked_add(added) else {
                return Err(F::too_large());
            };
            // SAFETY: values without a size were made, and need no room.
            unsafe { current.set_len(len) };
        }
        let values = made.finish().lend();
        let place = ManuallyDrop::new(place);
        // SAFETY: the chunk has this batch, with as many values.
        unsafe { place.end_batch(added) };
        Ok(Ok(values))
    }
}

impl<'t, T> Place<'t, T> {
    /// The room of the batch, which must have no values.
    #[inline(always)]
    fn room(&self) -> Fresh<'t, [MaybeUninit<T>]> {
        // SAFETY: the chunk has at least that many places.
        let next = unsafe { self.start.add(self.before) };
        let room = NonNull::slice_from_raw_parts(next.cast(), self.capacity - self.before);
        // SAFETY: F1: the places behind the last value are free, and nobody else writes there (A3).
        // They stay where they are as long as the arena is borrowed (A1).
        unsafe { Fresh::new(room) }
    }

    /// Adds the first `added` values of the batch to the chunk, which then has no batch.
    ///
    /// # Safety
    ///
    /// The chunk has this batch, unless there was no room for one, and the batch has at least
    /// `added` values.
    #[inline]
    unsafe fn end_batch(&self, added: usize) {
        let &Place { arena, start, before, capacity } = self;
        // Values without a size are added as they are finished.
        if size_of::<T>() == 0 || before == capacity {
            return;
        }
        // SAFETY: A2: nothing below runs code of the user's until the last use of this.
        let current = unsafe { &mut *arena.current.get() };
        if current.as_ptr() == start.as_ptr() {
            debug_assert_eq!(current.len(), before, "A3");
            debug_assert!(added <= capacity - before, "A3");
            // SAFETY: they are initialised, behind the last value and within the capacity.
            unsafe { current.set_len(before + added) };
            arena.limit.set(capacity);
        } else {
            // SAFETY: by this function's contract, the chunk has this batch, with at least `added`
            // initialised values; it is not current, so it is in `open` (A3).
            unsafe { arena.end_batch_of_other(start, added) };
        }
    }
}

impl<T> Drop for Place<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the chunk has this batch, which has no value any more.
        unsafe { self.end_batch(0) };
    }
}

impl<T> Default for TypedArena<T> {
    fn default() -> Self {
        TypedArena::new()
    }
}

impl<T> fmt::Debug for TypedArena<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedArena").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'t, T> IntoIterator for &'t mut TypedArena<T> {
    type Item = &'t mut T;
    type IntoIter = IterMut<'t, T>;

    fn into_iter(self) -> IterMut<'t, T> {
        self.iter_mut()
    }
}

/// The values of a [`TypedArena`]; see [`TypedArena::iter_mut`].
///
/// ```
/// let mut arena = ebbtide::TypedArena::new();
/// arena.alloc_extend([1, 2, 3]);
/// arena.iter_mut().for_each(|n| *n *= 2);
/// assert_eq!(arena.into_vec(), [2, 4, 6]);
/// ```
#[derive(Debug)]
pub struct IterMut<'t, T> {
    values: Values<slice::IterMut<'t, Vec<T>>, slice::IterMut<'t, T>>,
    left: usize,
}

/// The values of a [`TypedArena`] by shared reference; see [`TypedArena::iter`].
///
/// ```
/// let mut arena = ebbtide::TypedArena::new();
/// arena.alloc_extend([1, 2, 3]);
/// assert!(arena.iter().rev().eq(&[3, 2, 1]));
/// ```
#[derive(Debug)]
pub struct Iter<'t, T> {
    values: Values<slice::Iter<'t, Vec<T>>, slice::Iter<'t, T>>,
    left: usize,
}

/// The values of the other chunks and of the current one.
type Values<C, V> = Chain<Flatten<Chain<C, C>>, V>;

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter { values: self.values.clone(), left: self.left }
    }
}

/// Implements the traits of an iterator with the fields `values` and `left`.
macro_rules! iterator {
    ($name:ident, $item:ty) => {
        impl<'t, T> Iterator for $name<'t, T> {
            type Item = $item;

            fn next(&mut self) -> Option<$item> {
                let value = self.values.next()?;
                self.left -= 1;
                Some(value)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.left, Some(self.left))
            }

            fn fold<A, G: FnMut(A, $item) -> A>(self, start: A, fold: G) -> A {
                self.values.fold(start, fold)
            }
        }

        impl<T> DoubleEndedIterator for $name<'_, T> {
            fn next_back(&mut self) -> Option<Self::Item> {
                let value = self.values.next_back()?;
                self.left -= 1;
                Some(value)
            }
        }

        impl<T> ExactSizeIterator for $name<'_, T> {}

        impl<T> FusedIterator for $name<'_, T> {}
    };
}

iterator!(IterMut, &'t mut T);
iterator!(Iter, &'t T);
