//! The arena: owns chunks, opens scopes, and gives memory back when it is told to.

#[cfg(feature = "alloc")]
use crate::backing::Heap;
use crate::{
    arith::CHUNK_ALIGN,
    backing::{Backing, DefaultBacking},
    chunk::{self, Chunks, FIRST_CHUNK, Header},
    error::{AllocError, Failure},
    raw::{self, Cursor, Words},
    scope::Scope,
    stats::{Chunk, Stats},
};
use core::{
    cell::Cell,
    convert::Infallible,
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    ptr::NonNull,
};

/// Owns memory, and lends it out by the scope.
///
/// A new arena holds no memory. The first scope makes a chunk; when that is full another follows, each
/// twice as large as the one before, up to 4 MiB. Chunks stay with the arena when a scope ends, so that
/// the next scope finds them; [`trim`](Arena::trim), [`reset_with`](Arena::reset_with) and dropping the
/// arena give them back to the backing.
///
/// An arena is `Send` and not `Sync`: it moves between threads, and each thread has its own.
///
/// ```
/// use ebbtide::Arena;
///
/// let mut arena = Arena::new();
/// let xs = [1, 2, 3];
/// let mut total = 0;
/// for _ in 0..10 {
///     let s = arena.scope();
///     let ys = s.alloc_slice_fill_with(xs.len(), |i| xs[i] + 1);
///     total += ys.iter().sum::<i64>();
/// } // nothing runs here; the memory is free again
/// assert_eq!(total, 90);
/// ```
#[repr(C, align(64))]
pub struct Arena<B: Backing = DefaultBacking> {
    // The first line is all that a scope's beginning, a root and a reset look at.
    /// The accumulating scope that every other one is opened from; nowhere until there is a chunk.
    root: Scope<'static>,
    /// The root's words when nothing was allocated; none until there is a chunk. Kept here so that a reset
    /// need not look at the first chunk, which may have left the caches long ago.
    start: Cell<Option<Words>>,
    chunks: Chunks<B>,
}

// SAFETY: the chunks are the arena's own, the backing is `Send`, and every scope and allocation
// borrows the arena, so none is left on the old thread when it moves.
unsafe impl<B: Backing> Send for Arena<B> {}

// A panic can only pass while the user's own code or the backing runs, and the cursor is whole then.
impl<B: Backing> UnwindSafe for Arena<B> {}
impl<B: Backing> RefUnwindSafe for Arena<B> {}

/// What [`Arena::reset_with`] keeps of the memory an arena holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retain {
    /// All chunks.
    All,
    /// Chunks, in the order in which scopes enter them, as long as they come to at most this many
    /// bytes of the backing; `Bytes(0)` keeps nothing.
    Bytes(usize),
    /// Nothing now; the next scope makes one chunk as large as all of them were together. An arena that
    /// is reset like this after its first run has learned its peak.
    OneChunk,
}

#[cfg(feature = "alloc")]
impl Arena<Heap> {
    /// An empty arena over the heap. Takes no memory until the first scope opens.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::new();
    /// assert_eq!(arena.stats().capacity, 0);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Arena::new_in(Heap)
    }

    /// An arena whose first chunk is there already and has room for `capacity` bytes. A capacity of 0
    /// takes no memory.
    ///
    /// # Panics
    ///
    /// If `capacity` exceeds what an allocation can have, `isize::MAX` bytes with the chunk's header.
    /// A heap without memory is reported to `handle_alloc_error`.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::with_capacity(10_000);
    /// assert!(arena.stats().capacity >= 10_000);
    /// ```
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Arena::with_capacity_in(capacity, Heap)
    }

    /// As [`with_capacity`](Arena::with_capacity).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no such memory.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError> {
        Arena::try_with_capacity_in(capacity, Heap)
    }

    /// An empty arena whose first chunk will have room for `bytes` bytes; later ones double as ever.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let mut arena = Arena::with_chunk_size(1 << 20);
    /// assert_eq!(arena.stats().capacity, 0);
    /// arena.scope();
    /// assert_eq!(arena.stats().capacity, 1 << 20);
    /// ```
    #[must_use]
    pub const fn with_chunk_size(bytes: usize) -> Self {
        Arena::with_chunk_size_in(bytes, Heap)
    }
}

impl<B: Backing> Arena<B> {
    /// As [`new`](Arena::new), over a backing of the caller's.
    #[must_use]
    pub const fn new_in(backing: B) -> Self {
        Arena::with_total_chunk_size_in(FIRST_CHUNK, backing)
    }

    /// As [`with_chunk_size`](Arena::with_chunk_size), over a backing of the caller's.
    #[must_use]
    pub const fn with_chunk_size_in(bytes: usize, backing: B) -> Self {
        let total = match chunk::size_for_capacity(bytes) {
            Some(total) => total,
            None => usize::MAX,
        };
        Arena::with_total_chunk_size_in(total, backing)
    }

    const fn with_total_chunk_size_in(total: usize, backing: B) -> Self {
        Arena {
            root: Scope::new(Cursor::nowhere()),
            start: Cell::new(None),
            chunks: Chunks::new(backing, total),
        }
    }

    /// As [`with_capacity`](Arena::with_capacity), over a backing of the caller's.
    ///
    /// # Panics
    ///
    /// As [`with_capacity`](Arena::with_capacity).
    #[must_use]
    pub fn with_capacity_in(capacity: usize, backing: B) -> Self {
        let Ok(arena) = Arena::build::<Infallible>(capacity, backing);
        arena
    }

    /// As [`with_capacity`](Arena::with_capacity), over a backing of the caller's.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the backing refuses. The backing is dropped.
    pub fn try_with_capacity_in(capacity: usize, backing: B) -> Result<Self, AllocError> {
        Arena::build(capacity, backing)
    }

    fn build<F: Failure>(capacity: usize, backing: B) -> Result<Self, F> {
        if capacity == 0 {
            return Ok(Arena::new_in(backing));
        }
        let Some(total) = chunk::size_for_capacity(capacity) else {
            return Err(F::too_large());
        };
        if total > isize::MAX as usize {
            return Err(F::too_large());
        }
        let arena = Arena::with_total_chunk_size_in(total, backing);
        arena.make_first::<F>(capacity)?;
        Ok(arena)
    }

    /// Opens a scope. All that is allocated in it is free again when its loan of the arena ends.
    ///
    /// Costs a few loads and one store; the first scope of an arena also makes the first chunk.
    ///
    /// # Panics
    ///
    /// Never. A backing without memory for the first chunk is reported to `handle_alloc_error`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let s = arena.scope();
    /// let word = s.alloc_str("low water");
    /// word.make_ascii_uppercase();
    /// assert_eq!(word, "LOW WATER");
    /// ```
    #[inline(always)]
    pub fn scope(&mut self) -> Scope<'_> {
        let Ok(scope) = self.open::<Infallible>();
        scope
    }

    /// As [`scope`](Arena::scope).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no first chunk and the backing refuses one.
    #[inline(always)]
    pub fn try_scope(&mut self) -> Result<Scope<'_>, AllocError> {
        self.open()
    }

    /// The arena's one long-lived scope, for code in the style of bumpalo's `&Bump`: what is allocated
    /// in it lives until [`reset`](Arena::reset) or the arena's end, and calls to `root` add up.
    ///
    /// While its allocations live no other scope can be opened. For "keep some, drop some" open
    /// `let mut s = arena.scope()` and children of `s`.
    ///
    /// # Panics
    ///
    /// As [`scope`](Arena::scope).
    ///
    /// ```
    /// use ebbtide::{Arena, Scope};
    ///
    /// struct Node<'a> { value: u32, next: Option<&'a Node<'a>> }
    ///
    /// fn push<'a>(s: &'a Scope<'a>, value: u32, next: Option<&'a Node<'a>>) -> &'a Node<'a> {
    ///     s.alloc(Node { value, next })
    /// }
    ///
    /// let arena = Arena::new();
    /// let list = push(arena.root(), 2, Some(push(arena.root(), 1, None)));
    /// assert_eq!(list.value + list.next.unwrap().value, 3);
    /// ```
    #[inline(always)]
    pub fn root(&self) -> &Scope<'_> {
        let Ok(root) = self.open_root::<Infallible>();
        root
    }

    /// As [`root`](Arena::root).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no first chunk and the backing refuses one.
    #[inline(always)]
    pub fn try_root(&self) -> Result<&Scope<'_>, AllocError> {
        self.open_root()
    }

    #[inline(always)]
    fn open<F: Failure>(&mut self) -> Result<Scope<'_>, F> {
        let root = self.root.cursor();
        let cursor = match root.try_fork() {
            Some(cursor) => {
                root.attach(self.chunks.address());
                cursor
            }
            None => self.open_slowly::<F>()?,
        };
        // SAFETY: both ways fork the root's cursor, which rounds to this alignment.
        unsafe { cursor.promise_top(CHUNK_ALIGN) };
        Ok(Scope::new(cursor))
    }

    /// Opens a scope where there is no chunk yet, or next to nothing left in it.
    #[cold]
    #[inline(never)]
    fn open_slowly<F: Failure>(&self) -> Result<Cursor, F> {
        Ok(self.open_root::<F>()?.cursor().fork())
    }

    /// The root scope, with the arena's present address noted where its descendants find it.
    #[inline(always)]
    fn open_root<F: Failure>(&self) -> Result<&Scope<'_>, F> {
        if self.root.cursor().is_nowhere() {
            self.make_first::<F>(0)?;
        }
        self.root.cursor().attach(self.chunks.address());
        Ok(&self.root)
    }

    #[cold]
    #[inline(never)]
    fn make_first<F: Failure>(&self, capacity: usize) -> Result<(), F> {
        let Ok(first) = self.chunks.make_first(capacity) else {
            if F::DIVERGES {
                raw::out_of_memory(chunk::OVERHEAD, CHUNK_ALIGN);
            }
            return Err(F::refused());
        };
        self.start_at(first);
        Ok(())
    }

    fn start_at(&self, first: NonNull<Header>) {
        self.root.cursor().start_at(first);
        self.start.set(Some(self.root.cursor().words()));
    }

    /// Frees all that [`root`](Arena::root) allocated and keeps every chunk. Costs a few stores.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let mut arena = Arena::new();
    /// arena.root().alloc([0u8; 100]);
    /// arena.reset();
    /// assert_eq!(arena.stats().used, 0);
    /// assert!(arena.stats().capacity > 0);
    /// ```
    #[inline]
    pub fn reset(&mut self) {
        // SAFETY: the arena is borrowed exclusively, so no claim is alive.
        unsafe { self.chunks.gather() };
        if let Some(start) = self.start.get() {
            // SAFETY: they were the root's, whose chunk is the first of the list still and serves no oversize
            // request (I3); the arena is borrowed exclusively, so nothing allocated since is left.
            unsafe { self.root.cursor().restore(start) };
        }
    }

    /// Frees all that [`root`](Arena::root) allocated, and gives back chunks as `retain` says.
    ///
    /// ```
    /// # use ebbtide::{Arena, Retain};
    /// let mut arena = Arena::new();
    /// for i in 0..10_000u64 {
    ///     arena.root().alloc(i);
    /// }
    /// assert!(arena.stats().chunks > 1);
    /// arena.reset_with(Retain::OneChunk);
    /// arena.scope();
    /// assert_eq!(arena.stats().chunks, 1);
    /// assert!(arena.stats().capacity >= 80_000);
    /// ```
    pub fn reset_with(&mut self, retain: Retain) {
        match retain {
            Retain::All => self.reset(),
            Retain::Bytes(most) => {
                self.leave_chunks();
                // SAFETY: the arena is borrowed exclusively and the root is gone, so no scope and no
                // allocation is left.
                unsafe { self.chunks.release_beyond(most) };
                if let Some(first) = self.chunks.control().first() {
                    self.start_at(first);
                }
            }
            Retain::OneChunk if self.chunks.control().has_one_at_most() => self.reset(),
            Retain::OneChunk => {
                let held = self.chunks.control().held();
                self.leave_chunks();
                // SAFETY: as above.
                unsafe { self.chunks.release_behind(None) };
                self.chunks.control().set_next_size(held);
            }
        }
    }

    fn leave_chunks(&mut self) {
        self.root = Scope::new(Cursor::nowhere());
        self.start.set(None);
    }

    /// Gives back the chunks behind the one that [`root`](Arena::root) is in: all that holds nothing,
    /// but for the first chunk. `reset_with(Retain::Bytes(0))` gives that back too.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let mut arena = Arena::new();
    /// arena.scope().alloc_slice_fill_copy(100_000, 0u8);
    /// assert_eq!(arena.stats().chunks, 2);
    /// arena.trim();
    /// assert_eq!(arena.stats().chunks, 1);
    /// ```
    pub fn trim(&mut self) {
        if !self.root.cursor().is_nowhere() {
            let kept = self.root.cursor().chunk();
            // SAFETY: the arena is borrowed exclusively, so only the root's allocations live, and
            // those are in its chunk and before (I1).
            unsafe { self.chunks.release_behind(Some(kept)) };
        }
    }

    /// Sets the most bytes that the arena may hold of its backing, headers included; `None` for no
    /// limit. Exact: a request that would exceed it by one byte is refused. What is held already stays.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let mut arena = Arena::new();
    /// arena.set_limit(Some(10_000));
    /// let s = arena.scope();
    /// assert!(s.try_alloc_slice_fill_copy(20_000, 0u8).is_err());
    /// assert!(s.try_alloc_slice_fill_copy(5_000, 0u8).is_ok());
    /// ```
    pub fn set_limit(&self, bytes: Option<usize>) {
        self.chunks.control().set_limit(bytes.unwrap_or(usize::MAX));
    }

    /// The limit set by [`set_limit`](Arena::set_limit).
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        match self.chunks.control().limit() {
            usize::MAX => None,
            bytes => Some(bytes),
        }
    }

    /// What the arena holds and what its root uses of it. Walks the chunks; nothing is kept on the fast
    /// path for it.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::with_capacity(1000);
    /// arena.root().alloc([0u8; 600]);
    /// assert_eq!(arena.stats().used, 600);
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::of(self.chunks.control(), self.root.cursor())
    }

    /// The chunks in the order in which scopes enter them, as numbers; no memory is lent. Chunks that a
    /// [`Claim`](crate::Claim) took or left are not among them until the next [`reset`](Arena::reset).
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::with_capacity(1000);
    /// assert!(arena.chunks().all(|chunk| chunk.capacity >= 1000 && !chunk.oversize));
    /// ```
    pub fn chunks(&self) -> impl Iterator<Item = Chunk> + '_ {
        self.root.cursor().chunks().map(Chunk::of)
    }

    /// The backing.
    pub fn backing(&self) -> &B {
        self.chunks.backing()
    }
}

impl<B: Backing + Default> Default for Arena<B> {
    fn default() -> Self {
        Arena::new_in(B::default())
    }
}

impl<B: Backing> fmt::Debug for Arena<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("stats", &self.stats())
            .field("limit", &self.limit())
            .finish_non_exhaustive()
    }
}
