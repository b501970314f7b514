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
//! - **A3** While user code creates the values of a batch, the chunk that they are written to is
//!   not in the arena: a `Taken` holds it and puts it back.
//! - **A4** If `current` has a capacity, `others` has spare capacity for all chunks that are taken
//!   out.

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
    mem,
    ops::ControlFlow,
    ptr::{self, NonNull},
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
    others: Cell<Vec<Vec<T>>>,
    /// The number of values outside of `current`.
    others_len: Cell<usize>,
    /// The chunk that values are added to.
    current: UnsafeCell<Vec<T>>,
    /// The capacity of the next chunk.
    next_capacity: Cell<usize>,
    /// Whether one of the others may have room, because an iterator allocated while its elements
    /// were written to the current chunk.
    others_have_room: Cell<bool>,
    /// The number of chunks that are taken out.
    taken: Cell<usize>,
    /// Whether a chunk is being made. The global allocator that is called may use this arena too;
    /// it is refused another chunk.
    busy: Cell<bool>,
}

impl<T> TypedArena<T> {
    /// The capacity of the first chunk: about 1 KiB.
    const FIRST: usize = match size_of::<T>() {
        0 => 0,
        1..1024 => 1024 / size_of::<T>(),
        1024.. => 1,
    };

    /// The most that the hint of an iterator reserves, in values.
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
        TypedArena::over(Vec::new(), 0)
    }

    /// An arena with one chunk, of this capacity or more.
    const fn over(chunk: Vec<T>, capacity: usize) -> Self {
        let doubled = capacity.saturating_mul(2);
        let next = if doubled > Self::FIRST { doubled } else { Self::FIRST };
        TypedArena {
            others: Cell::new(Vec::new()),
            others_len: Cell::new(0),
            current: UnsafeCell::new(chunk),
            next_capacity: Cell::new(next),
            others_have_room: Cell::new(false),
            taken: Cell::new(0),
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
        TypedArena::over(Vec::with_capacity(capacity), capacity)
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
        Ok(TypedArena::over(chunk, capacity))
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
            // A value in registers goes with a call that ends this function, so that the fast path
            // keeps nothing on the stack. A larger one would have to be on the stack for it.
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

    #[inline]
    #[allow(clippy::mut_from_ref, reason = "each call returns other values")]
    fn extend_in<F: Failure>(&self, mut values: impl Iterator<Item = T>) -> Result<&mut [T], F> {
        let announced = values.size_hint().0;
        if announced > self.room() && announced <= Self::MOST_HINTED {
            // Where it is refused, the batch moves as it grows.
            let _ = self.make_room::<AllocError>(announced);
        }
        let mut batch = Batch::begin(self);
        while !batch.fill(&mut values) {
            let Some(value) = values.next() else { break };
            batch.push::<F>(value)?;
        }
        // Should its destructor panic, the batch is dropped.
        drop(values);
        let values = batch.finish();
        // SAFETY: the values are initialised and stay where they are as long as the arena is
        // borrowed (A1). Nobody else has them: each place is lent once.
        Ok(unsafe { lend(values) })
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
        let mut chunks = self.others.into_inner().into_iter();
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

    /// How many values the current chunk has room for.
    #[inline(always)]
    fn room(&self) -> usize {
        let chunk = self.current();
        chunk.capacity() - chunk.len()
    }

    /// Makes another chunk the current one, with room for `needed` values.
    #[cold]
    #[inline(never)]
    fn make_room<F: Failure>(&self, needed: usize) -> Result<(), F> {
        // The allocator may use the new room itself.
        while self.room() < needed {
            let chunk = self.chunk_with_room::<F>(needed)?;
            // SAFETY: A2: this moves two vectors, and not their elements (A1).
            let old = mem::replace(unsafe { &mut *self.current.get() }, chunk);
            self.put_aside(old);
        }
        Ok(())
    }

    /// A chunk with room for `needed` values, one of the others or a new one. It is not in the
    /// arena, and `others` can take one more than A4 says.
    fn chunk_with_room<F: Failure>(&self, needed: usize) -> Result<Vec<T>, F> {
        // Values without a size have room, unless they are more than a vector counts.
        if Layout::array::<T>(needed).is_err() || size_of::<T>() == 0 {
            return Err(F::too_large());
        }
        if self.busy.replace(true) {
            return Err(out_of_memory::<T, F>(needed));
        }
        // Nothing unwinds as long as `others` is a variable, which would drop what is lent.
        let mut others = self.others.take();
        let chunk = match others.try_reserve(1 + self.taken.get()) {
            Ok(()) => self.take_with_room(&mut others, needed).or_else(|| self.new_chunk(needed)),
            Err(_) => None,
        };
        self.others.set(others);
        self.busy.set(false);
        chunk.ok_or_else(|| out_of_memory::<T, F>(needed))
    }

    /// Takes a chunk with room for `needed` values out of `others`.
    fn take_with_room(&self, others: &mut Vec<Vec<T>>, needed: usize) -> Option<Vec<T>> {
        if !self.others_have_room.get() {
            return None;
        }
        let has_room = |chunk: &Vec<T>| chunk.capacity() - chunk.len() >= needed;
        let chunk = others.remove(others.iter().position(has_room)?);
        self.others_len.set(self.others_len.get() - chunk.len());
        Some(chunk)
    }

    /// A chunk with room for `needed` values.
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

    /// Adds a chunk to the others, which have room for it (A4). One without values is freed.
    fn put_aside(&self, chunk: Vec<T>) {
        if chunk.is_empty() {
            return;
        }
        self.others_len.set(self.others_len.get() + chunk.len());
        let mut others = self.others.take();
        debug_assert!(others.len() < others.capacity(), "A4");
        others.push(chunk);
        self.others.set(others);
    }
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

/// Consecutive values that user code is making, behind the last value of a chunk. Dropped
/// unfinished, it drops them, and the chunk is as it was.
struct Batch<'t, T> {
    // Dropped first: the values lie in the chunk.
    made: InitGuard<T>,
    room: usize,
    chunk: Taken<'t, T>,
}

/// A chunk that was the current one, and is again when this is dropped (A3).
struct Taken<'t, T> {
    arena: &'t TypedArena<T>,
    chunk: Vec<T>,
    /// How many of its values count as the arena's.
    counted: usize,
}

impl<'t, T> Batch<'t, T> {
    #[inline]
    fn begin(arena: &'t TypedArena<T>) -> Self {
        // Values without a size need no chunk. Those that are lent stay in the arena, so that none
        // is dropped if the two together are more than a vector counts.
        let chunk = if size_of::<T>() == 0 { Vec::new() } else { Self::take_current(arena) };
        arena.taken.set(arena.taken.get() + 1);
        let mut chunk = Taken::new(arena, chunk);
        let (start, room) = chunk.spare();
        // SAFETY: `room` values fit there, and nobody else has the chunk (A3).
        Batch { made: unsafe { InitGuard::new(start) }, room, chunk }
    }

    #[inline]
    fn take_current(arena: &TypedArena<T>) -> Vec<T> {
        // SAFETY: A2: nothing below runs code of the user's.
        let current = unsafe { &mut *arena.current.get() };
        // Word by word, and in `Taken` too: a vector that is moved as a whole is read in one piece,
        // which has to wait for the word that was just stored.
        let (start, len, capacity) = (current.as_mut_ptr(), current.len(), current.capacity());
        // SAFETY: valid for writes; the parts of what was there become another vector.
        unsafe { ptr::write(current, Vec::new()) };
        // SAFETY: the parts of a vector, which was overwritten without being dropped (A1).
        unsafe { Vec::from_raw_parts(start, len, capacity) }
    }

    /// Adds values as long as there is room for one. Returns whether the iterator has ended; it
    /// must not be asked again then.
    #[inline]
    fn fill(&mut self, values: &mut impl Iterator<Item = T>) -> bool {
        let (made, room) = (&mut self.made, self.room);
        if made.len() == room {
            return false;
        }
        let _ = values.try_for_each(|value| {
            // Only where `try_for_each` is the user's, and does not stop.
            if made.len() == room {
                return ControlFlow::Break(());
            }
            // SAFETY: there is room for one more.
            unsafe { made.push(value) };
            if made.len() == room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        made.len() < room
    }

    /// Adds a value.
    fn push<F: Failure>(&mut self, value: T) -> Result<(), F> {
        if self.made.len() == self.room {
            self.move_on()?;
        }
        // SAFETY: there is room for one more.
        unsafe { self.made.push(value) };
        Ok(())
    }

    /// Moves the values to a chunk with room for one more at least.
    #[cold]
    fn move_on<F: Failure>(&mut self) -> Result<(), F> {
        let len = self.made.len();
        let chunk = self.chunk.arena.chunk_with_room::<F>(len + 1)?;
        let old = self.chunk.replace(chunk);
        let (start, room) = self.chunk.spare();
        // SAFETY: there is room for more than `len` values, in a block of another chunk, and they
        // are initialised where they were.
        self.made = unsafe { self.made.moved_to(start) };
        self.room = room;
        self.chunk.arena.put_aside(old);
        Ok(())
    }

    /// Adds the values to the chunk, and puts it back.
    #[inline]
    fn finish(self) -> NonNull<[T]> {
        let Batch { made, mut chunk, .. } = self;
        let values = made.finish();
        // SAFETY: the values were written behind the last one, within the capacity.
        unsafe { chunk.chunk.set_len(chunk.counted + values.len()) };
        values
    }
}

impl<'t, T> Taken<'t, T> {
    #[inline]
    fn new(arena: &'t TypedArena<T>, chunk: Vec<T>) -> Self {
        let counted = chunk.len();
        arena.others_len.set(arena.others_len.get() + counted);
        Taken { arena, chunk, counted }
    }

    /// Takes `chunk` in place of the one it had, which it returns.
    fn replace(&mut self, chunk: Vec<T>) -> Vec<T> {
        let len = &self.arena.others_len;
        len.set(len.get() - self.counted + chunk.len());
        self.counted = chunk.len();
        mem::replace(&mut self.chunk, chunk)
    }

    /// Where the next value is to be written, and for how many there is room.
    #[inline]
    fn spare(&mut self) -> (NonNull<T>, usize) {
        let spare = NonNull::from(self.chunk.spare_capacity_mut());
        (spare.cast(), spare.len())
    }
}

impl<T> Drop for Taken<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let arena = self.arena;
        arena.taken.set(arena.taken.get() - 1);
        arena.others_len.set(arena.others_len.get() - self.counted);
        // SAFETY: A2: nothing below runs code of the user's until the last use of this.
        let current = unsafe { &mut *arena.current.get() };
        if size_of::<T>() == 0 {
            // Panics if they are more than a vector counts. The new ones, which are not lent yet,
            // are dropped then.
            current.append(&mut self.chunk);
        } else if current.capacity() == 0 {
            // SAFETY: valid for writes; the vector that was there has nothing to free.
            unsafe { ptr::write(current, mem::take(&mut self.chunk)) };
        } else {
            // The iterator made a chunk meanwhile.
            let made = mem::replace(current, mem::take(&mut self.chunk));
            arena.others_have_room.set(true);
            arena.put_aside(made);
        }
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
    values: Chain<Flatten<slice::IterMut<'t, Vec<T>>>, slice::IterMut<'t, T>>,
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
