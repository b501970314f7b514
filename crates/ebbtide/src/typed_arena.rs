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
//! # Invariants
//!
//! - **A1** While values are borrowed, no chunk is shrunk or reallocated: a new value is written to
//!   spare capacity after the last one, and no reference to the others is created.
//! - **A2** While a reference to `current` exists, neither user code nor an allocator runs.
//! - **A3** A chunk has at most one batch: values that user code is creating behind the last value
//!   of the chunk. Nobody else writes there. If the chunk is `current`, `limit` is its length;
//!   otherwise the chunk is marked in `others`.
//! - **A4** `limit` is between the length and the capacity of `current`; it is the capacity unless
//!   `current` has a batch.

use crate::{
    chunk::LARGEST_CHUNK,
    error::{AllocError, Failure},
    init_guard::InitGuard,
    raw,
    value::lend,
};
use alloc::vec::Vec;
use core::{
    alloc::Layout,
    cell::{Cell, UnsafeCell},
    convert::Infallible,
    fmt,
    iter::{Chain, Flatten, FusedIterator},
    mem::{self, ManuallyDrop},
    ops::ControlFlow,
    ptr::NonNull,
    slice,
};

/// An arena for values of one type. It runs their destructors when it is dropped, and its values
/// may refer to each other in cycles.
///
/// Allocating takes `&self` and returns `&mut T`, as in the crate typed-arena. A value is never
/// moved: when a chunk is full, another one follows, twice as large. The memory comes from the
/// heap. Values without a destructor take less time in a [`Scope`](crate::Scope); for values of
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
    /// The other chunks, in the order in which they were filled.
    others: Cell<Vec<Other<T>>>,
    /// The number of values outside of `current`.
    others_len: Cell<usize>,
    /// The chunk that values are added to.
    current: UnsafeCell<Vec<T>>,
    /// The length up to which values may be added to `current`.
    limit: Cell<usize>,
    /// The capacity of the next chunk.
    next_capacity: Cell<usize>,
    /// Whether one of the others may have room, because an iterator allocated while its elements
    /// were written to the current chunk.
    others_have_room: Cell<bool>,
    /// Whether a chunk is being made. The global allocator, which is called meanwhile, may use this
    /// arena too. If it needs another chunk, the request is refused.
    busy: Cell<bool>,
}

/// A chunk that is not the current one.
#[derive(Debug)]
struct Other<T> {
    values: Vec<T>,
    has_batch: bool,
}

impl<T> TypedArena<T> {
    /// The capacity of the first chunk: about 1 KiB.
    const FIRST: usize = match size_of::<T>() {
        0 => 0,
        1..1024 => 1024 / size_of::<T>(),
        1024.. => 1,
    };

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
        TypedArena::over(Vec::new(), limit, 0)
    }

    /// An arena with one chunk, whose capacity is `limit`. `capacity` is the capacity that was
    /// requested.
    const fn over(chunk: Vec<T>, limit: usize, capacity: usize) -> Self {
        let doubled = capacity.saturating_mul(2);
        let next = if doubled > Self::FIRST { doubled } else { Self::FIRST };
        TypedArena {
            others: Cell::new(Vec::new()),
            others_len: Cell::new(0),
            current: UnsafeCell::new(chunk),
            limit: Cell::new(limit),
            next_capacity: Cell::new(next),
            others_have_room: Cell::new(false),
            busy: Cell::new(false),
        }
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
        let chunk = Vec::with_capacity(capacity);
        let limit = chunk.capacity();
        TypedArena::over(chunk, limit, capacity)
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
        let limit = chunk.capacity();
        Ok(TypedArena::over(chunk, limit, capacity))
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
        // SAFETY: there is room for one more, as the caller says, so this is inside the chunk.
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
        let Ok(slice) = self.extend_in::<Infallible>(values.into_iter());
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
        self.extend_in(values.into_iter())
    }

    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    fn extend_in<F: Failure>(&self, mut values: impl Iterator<Item = T>) -> Result<&mut [T], F> {
        let announced = values.size_hint().0;
        if announced > self.room() {
            self.make_announced_room(announced);
        }
        let mut batch = Batch::begin(self);
        while let Some(value) = values.next() {
            if batch.made.len() == batch.room {
                return batch.go_on(value, values);
            }
            // SAFETY: there is room for one more.
            unsafe { batch.made.push(value) };
        }
        batch.finish(values)
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
        let others = self.others.get_mut().iter_mut().flatten();
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
        let mut chunks = self.others.into_inner().into_iter().map(|other| other.values);
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

    /// Drops the values and keeps the last chunk, the largest one unless room was reserved for few.
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
        self.others_len.set(0);
        self.others.get_mut().clear();
        self.current.get_mut().clear();
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
            if self.current().capacity() == 0 && !self.others_have_room.get() {
                self.make_first_room::<F>(needed)?;
            } else {
                let chunk = self.chunk_with_room::<F>(needed)?;
                let limit = chunk.capacity();
                self.enter(chunk, limit);
            }
        }
        Ok(())
    }

    /// Makes the first chunk, without using the list of the others: an arena for a few values
    /// spends most of its time here.
    #[inline]
    fn make_first_room<F: Failure>(&self, needed: usize) -> Result<(), F> {
        self.start_busy::<F>(needed)?;
        let chunk = self.new_chunk(needed);
        self.busy.set(false);
        let Some(chunk) = chunk else { return Err(out_of_memory::<T, F>(needed)) };
        self.limit.set(chunk.capacity());
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

    /// A chunk with room for `needed` values, one of the others or a new one. It is not in the
    /// arena, and `others` can take the current one.
    fn chunk_with_room<F: Failure>(&self, needed: usize) -> Result<Vec<T>, F> {
        self.start_busy::<F>(needed)?;
        // Nothing may unwind while `others` is a local variable, because unwinding would drop
        // values that are lent.
        let mut others = self.others.take();
        let chunk = match others.try_reserve(1) {
            Ok(()) => self.take_with_room(&mut others, needed).or_else(|| self.new_chunk(needed)),
            Err(_) => None,
        };
        self.others.set(others);
        self.busy.set(false);
        chunk.ok_or_else(|| out_of_memory::<T, F>(needed))
    }

    /// Takes a chunk with room for `needed` values out of `others`.
    fn take_with_room(&self, others: &mut Vec<Other<T>>, needed: usize) -> Option<Vec<T>> {
        if !self.others_have_room.get() {
            return None;
        }
        let has_room = |Other { values, has_batch }: &Other<T>| {
            !has_batch && values.capacity() - values.len() >= needed
        };
        let chunk = others.remove(others.iter().position(has_room)?).values;
        self.others_len.set(self.others_len.get() - chunk.len());
        Some(chunk)
    }

    /// A chunk with room for `needed` values.
    #[inline]
    fn new_chunk(&self, needed: usize) -> Option<Vec<T>> {
        let mut chunk = Vec::new();
        let mut capacity = self.next_capacity.get().max(needed);
        while chunk.try_reserve_exact(capacity).is_err() {
            if capacity == needed {
                return None;
            }
            capacity = (capacity / 2).max(needed);
        }
        self.next_capacity.set(capacity.saturating_mul(2));
        Some(chunk)
    }

    /// Makes a chunk from [`chunk_with_room`](TypedArena::chunk_with_room) the current one, and
    /// moves the old one to the others. If it has no values, and none are being made, it is freed.
    fn enter(&self, chunk: Vec<T>, limit: usize) {
        let old_limit = self.limit.replace(limit);
        // SAFETY: A2: this moves two vectors, and not their elements (A1).
        let values = mem::replace(unsafe { &mut *self.current.get() }, chunk);
        let has_batch = old_limit < values.capacity();
        if values.is_empty() && !has_batch {
            return;
        }
        self.others_len.set(self.others_len.get() + values.len());
        let mut others = self.others.take();
        debug_assert!(others.len() < others.capacity(), "reserved before the chunk was made");
        others.push(Other { values, has_batch });
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
        let mut others = self.others.take();
        let begins_there = |other: &&mut Other<T>| other.values.as_ptr() == start.as_ptr();
        if let Some(Other { values, has_batch }) = others.iter_mut().find(begins_there) {
            // SAFETY: they are initialised, behind the last value and within the capacity.
            unsafe { values.set_len(values.len() + added) };
            *has_batch = false;
            self.others_len.set(self.others_len.get() + added);
            self.others_have_room.set(true);
        }
        self.others.set(others);
    }
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
    made: InitGuard<T>,
    room: usize,
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
        // SAFETY: the chunk has at least that many values.
        let next = unsafe { start.add(before) };
        // SAFETY: the room behind it is free, and nobody else writes there (A3).
        let made = unsafe { InitGuard::new(next) };
        Batch { made, room: capacity - before, place: Place { arena, start, before, capacity } }
    }

    /// Adds a value and those that follow, until the iterator ends.
    ///
    /// Takes the batch by value, so that it stays in registers in a caller that does not need this.
    #[inline(never)]
    fn go_on<F: Failure>(
        mut self,
        first: T,
        mut values: impl Iterator<Item = T>,
    ) -> Result<&'t mut [T], F> {
        let mut next = Some(first);
        while let Some(value) = next.take() {
            if self.made.len() == self.room {
                self.push::<F>(value)?;
            } else {
                // SAFETY: there is room for one more.
                unsafe { self.made.push(value) };
            }
            let (made, room) = (&mut self.made, self.room);
            let filled = values.try_for_each(|value| {
                if made.len() == room {
                    return ControlFlow::Break(value);
                }
                // SAFETY: there is room for one more.
                unsafe { made.push(value) };
                ControlFlow::Continue(())
            });
            if let ControlFlow::Break(value) = filled {
                next = Some(value);
            }
        }
        self.finish(values)
    }

    /// Adds a value for which there is no room.
    #[cold]
    fn push<F: Failure>(&mut self, value: T) -> Result<(), F> {
        let len = self.made.len();
        let arena = self.place.arena;
        let mut chunk = arena.chunk_with_room::<F>(len + 1)?;
        let (start, before, capacity) = (start_of(&mut chunk), chunk.len(), chunk.capacity());
        // SAFETY: within the capacity.
        let next = unsafe { start.add(before) };
        // SAFETY: there is room for more than `len` values, in a block of another chunk, and they
        // are initialised where they were.
        self.made = unsafe { self.made.moved_to(next) };
        // Nothing panics or calls the allocator until the new chunk has the batch.
        drop(mem::replace(&mut self.place, Place { arena, start, before, capacity }));
        self.room = capacity - before;
        arena.enter(chunk, before);
        // SAFETY: there is room for more than `len` values.
        unsafe { self.made.push(value) };
        Ok(())
    }

    /// Adds the values to the chunk.
    #[inline]
    fn finish<F: Failure>(self, values: impl Iterator<Item = T>) -> Result<&'t mut [T], F> {
        // Should its destructor panic, the batch is dropped.
        drop(values);
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
        let values = made.finish();
        let place = ManuallyDrop::new(place);
        // SAFETY: the chunk has this batch, with as many values.
        unsafe { place.end_batch(added) };
        // SAFETY: the values are initialised and stay where they are as long as the arena is
        // borrowed (A1). Nobody else has them: each place is lent once.
        Ok(unsafe { lend(values) })
    }
}

impl<T> Place<'_, T> {
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
            // SAFETY: they are initialised, behind the last value and within the capacity.
            unsafe { current.set_len(before + added) };
            arena.limit.set(capacity);
        } else {
            // SAFETY: the chunk has a batch, which has that many values, as the caller says.
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
    values: Chain<Flatten<slice::IterMut<'t, Other<T>>>, slice::IterMut<'t, T>>,
    left: usize,
}

impl<'t, T> Iterator for IterMut<'t, T> {
    type Item = &'t mut T;

    fn next(&mut self) -> Option<&'t mut T> {
        let value = self.values.next()?;
        self.left -= 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    fn fold<A, G: FnMut(A, &'t mut T) -> A>(self, start: A, fold: G) -> A {
        self.values.fold(start, fold)
    }
}

impl<T> DoubleEndedIterator for IterMut<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let value = self.values.next_back()?;
        self.left -= 1;
        Some(value)
    }
}

impl<T> ExactSizeIterator for IterMut<'_, T> {}

impl<T> FusedIterator for IterMut<'_, T> {}

impl<'t, T> IntoIterator for &'t mut Other<T> {
    type Item = &'t mut T;
    type IntoIter = slice::IterMut<'t, T>;

    fn into_iter(self) -> slice::IterMut<'t, T> {
        self.values.iter_mut()
    }
}
