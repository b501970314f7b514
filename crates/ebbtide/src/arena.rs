//! The arena: owns chunks, opens scopes, and gives memory back when it is told to.

#[cfg(feature = "alloc")]
use crate::backing::Heap;
use crate::{
    arith::CHUNK_ALIGN,
    backing::{Backing, DefaultBacking},
    chunk::{self, Chunks, FIRST_CHUNK, HOME, Header},
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
    // The first line is all that a scope's beginning, a reset and a root after it look at.
    /// The accumulating scope that every other one is opened from; nowhere until there is a chunk.
    root: Scope<'static>,
    /// The two ends of the next scope, which opens in home. The top is 0 where that has to be looked into: the root was
    /// lent since, has left home, or is nowhere.
    ready_top: Cell<usize>,
    ready_low: Cell<NonNull<u8>>,
    /// Begins with what a reset looks at.
    chunks: Chunks<B>,
    /// Where home was when the root last was told. The root is in home as long as it names this very address, and
    /// only then (see `settle`).
    told: Cell<NonNull<Header>>,
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
            ready_top: Cell::new(0),
            ready_low: Cell::new(NonNull::dangling()),
            chunks: Chunks::new(backing, total),
            told: Cell::new(HOME),
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
    /// Costs two loads; the first scope of an arena also makes the first chunk, and a scope after a use of
    /// [`root`](Arena::root) is a call.
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
        let (top, chunk) = match self.ready_top.get() {
            0 => self.open_slowly::<F>()?,
            top => (top, self.chunks.home()),
        };
        // Read here, where both ways have met: of a word that comes from two places the compiler knows less, and
        // checks whether what the caller reads overlaps with what it writes.
        let low = self.ready_low.get();
        // SAFETY: the root is in `chunk`, and these are its ends, rounded by `make_ready` or as `start` found them.
        Ok(Scope::new(unsafe { Cursor::fork_of(top, chunk, low) }))
    }

    /// The top and the chunk of a scope where there is no chunk yet, or the root was lent since the last one.
    #[cold]
    #[inline(never)]
    fn open_slowly<F: Failure>(&self) -> Result<(usize, NonNull<Header>), F> {
        let root = self.open_root::<F>()?.cursor();
        Ok((self.make_ready(), root.chunk()))
    }

    /// Notes the ends of a scope that opens where the root is now, and returns the top.
    fn make_ready(&self) -> usize {
        let (top, low) = self.root.cursor().rounded();
        self.ready_low.set(low);
        if self.is_root_at_home() {
            self.ready_top.set(top);
        }
        top
    }

    /// The root scope, told where the arena is.
    #[inline(always)]
    fn open_root<F: Failure>(&self) -> Result<&Scope<'_>, F> {
        if self.root.cursor().is_nowhere() {
            self.make_first::<F>(0)?;
        }
        self.settle();
        self.ready_top.set(0);
        Ok(&self.root)
    }

    #[cold]
    #[inline(never)]
    fn make_first<F: Failure>(&self, capacity: usize) -> Result<(), F> {
        if self.chunks.make_first(capacity).is_err() {
            if F::DIVERGES {
                raw::out_of_memory(chunk::OVERHEAD, CHUNK_ALIGN);
            }
            return Err(F::refused());
        }
        self.start();
        Ok(())
    }

    /// Puts the root where it began. Nothing that it allocated is used again.
    #[inline(always)]
    fn start(&self) {
        let home = self.chunks.home();
        let Words { top, low, .. } = self.root.cursor().start_at(home);
        self.told.set(home);
        // What `make_ready` would find, for a block's region ends at such a multiple; and 0 for nowhere, which is 1.
        self.ready_top.set(top & !(CHUNK_ALIGN - 1));
        self.ready_low.set(low);
    }

    /// Whether the root's words are in home, wherever that was when they were told.
    ///
    /// They leave it only while a loan of the root lasts, which begins with `settle`: home is where `told` says then,
    /// so the chunk that they go to has another address. Afterwards neither word changes but by `settle` and
    /// `start`.
    #[inline(always)]
    fn is_root_at_home(&self) -> bool {
        // The first is enough where it holds, and in the first line.
        self.ready_top.get() != 0 || self.root.cursor().chunk() == self.told.get()
    }

    /// Sees to it that the root finds the arena where it is now.
    #[inline(always)]
    fn settle(&self) -> &Scope<'_> {
        let home = self.chunks.home();
        if self.is_root_at_home() {
            self.root.cursor().follow(home);
        } else {
            chunk::attach(self.root.cursor().chunk(), self.chunks.address());
        }
        self.told.set(home);
        &self.root
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
        // The arena is borrowed exclusively, so nothing that the root allocated is left.
        self.start();
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
    #[inline]
    pub fn reset_with(&mut self, retain: Retain) {
        match retain {
            Retain::All => self.reset(),
            Retain::Bytes(most) => self.reset_beyond(most),
            Retain::OneChunk if self.chunks.control().has_home_alone() => self.reset(),
            Retain::OneChunk => self.reset_to_one(),
        }
    }

    #[cold]
    fn reset_beyond(&mut self, most: usize) {
        // SAFETY: the arena is borrowed exclusively, so no scope and no allocation is left, and the root begins
        // anew below.
        unsafe { self.chunks.release_beyond(most) };
        self.start();
    }

    #[cold]
    fn reset_to_one(&mut self) {
        let held = self.chunks.control().held();
        // SAFETY: as above.
        unsafe { self.chunks.release() };
        self.start();
        self.chunks.control().set_next_size(held);
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
        let kept = self.settle().cursor().chunk();
        // SAFETY: the arena is borrowed exclusively, so only the root's allocations live, and
        // those are in its chunk and before (I1).
        unsafe { self.chunks.release_behind(kept) };
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
        Stats::of(self.chunks.control(), self.settle().cursor())
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
        self.settle().cursor().chunks().map(Chunk::of)
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
