//! The arena: owns chunks, opens scopes, and gives memory back on request.

#[cfg(feature = "alloc")]
use crate::backing::Heap;
use crate::{
    arith::CHUNK_ALIGN,
    backing::{Backing, DefaultBacking},
    chunk::{self, Blocks, FIRST_CHUNK, Header, Pin},
    error::{AllocError, Failure},
    raw::{self, ChunkUse, Cursor, Need},
    root::{Root, State},
    scope::Scope,
    stats::{Chunk, Stats},
    threads::SharedByThreads,
};
#[cfg(feature = "std")]
use core::cell::Cell;
use core::{
    convert::Infallible,
    fmt,
    mem::MaybeUninit,
    panic::{RefUnwindSafe, UnwindSafe},
    ptr::NonNull,
};

/// Owns memory and lends it to scopes.
///
/// A new arena holds no memory. The first scope makes a chunk. When a chunk is full another
/// follows, each twice as large as the one before, up to 4 MiB. Only the first chunk and those that
/// serve a single large request can be larger. Chunks stay with the arena when a scope ends, so
/// that the next scope finds them. [`trim`](Arena::trim), [`reset_with`](Arena::reset_with) and
/// dropping the arena give them back to the backing.
///
/// An arena takes 88 bytes, and its first chunk 16 KiB. A program with many small arenas, one for
/// each connection or node, can ask for less: with a hundred `u64` in it, an arena made by
/// [`with_chunk_size(800)`](Arena::with_chunk_size) holds 1.1 KiB altogether, instead of 16.
///
/// An arena is `Send` and not `Sync`: it can move between threads, and each thread uses its own.
/// Neighbours in a vector may share a cache line, which is slow if different threads use them; those
/// of a `Pool` share none.
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
#[repr(C)]
pub struct Arena<B: Backing = DefaultBacking> {
    /// The scope from which every other one is forked.
    root: Root,
    /// The blocks, in the first of which the control block lies. So moving an arena moves a few words.
    blocks: Blocks<B>,
}

// SAFETY: the chunks are the arena's own, the backing is `Send`, and every scope and allocation
// borrows the arena, so none is left on the old thread when it moves.
unsafe impl<B: Backing> Send for Arena<B> {}

// SAFETY: never applies, because nothing implements the bound.
#[cfg(not(doc))]
unsafe impl<B: Backing> Sync for Arena<B> where Self: SharedByThreads {}

// Only the user's code and the backing can panic, and the cursor is consistent while they run.
impl<B: Backing> UnwindSafe for Arena<B> {}
impl<B: Backing> RefUnwindSafe for Arena<B> {}

/// How much memory [`Arena::reset_with`] keeps.
///
/// ```
/// use ebbtide::{Arena, Retain};
///
/// let mut arena = Arena::with_chunk_size(1000);
/// arena.root().alloc_slice_fill_copy(10_000, 0u8);
/// arena.reset_with(Retain::OneChunk); // the next scope makes one chunk that holds it all
/// assert!(arena.root().stats().capacity >= 10_000);
/// arena.reset_with(Retain::Bytes(0));
/// assert_eq!(arena.stats().held, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retain {
    /// All chunks.
    All,
    /// At most this many bytes of the backing; `Bytes(0)` keeps nothing. Chunks are kept in the
    /// order in which scopes enter them; those that would exceed the limit are skipped. The next
    /// chunks are about as large as those that were released.
    Bytes(usize),
    /// The largest chunk, and all that have 4 MiB or more: later ones are not larger. So after a few
    /// runs of the same size, nothing is released or requested any more.
    Largest,
    /// No chunk, but the next scope makes one chunk as large as all chunks were together. If an
    /// arena is reset this way after its first run, a single chunk serves all later runs of the
    /// same size.
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
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Arena::new_in(Heap)
    }

    /// An arena whose first chunk is allocated at once and has room for `capacity` bytes, in values,
    /// in a slice or in a vector. A capacity of 0 takes no memory.
    ///
    /// # Panics
    ///
    /// If `capacity` and the header of a chunk exceed `isize::MAX` bytes together. If there is no
    /// memory, calls `handle_alloc_error`.
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

    /// Fallible version of [`with_capacity`](Arena::with_capacity).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is not enough memory.
    ///
    /// ```
    /// use ebbtide::Arena;
    /// assert!(Arena::try_with_capacity(usize::MAX).is_err());
    /// ```
    pub fn try_with_capacity(capacity: usize) -> Result<Self, AllocError> {
        Arena::try_with_capacity_in(capacity, Heap)
    }

    /// An empty arena whose first chunk will have room for `bytes` bytes, or for a vector of one byte
    /// less. Later ones double as usual, up to 4 MiB, even if the first one is larger.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let mut arena = Arena::with_chunk_size(1 << 20);
    /// assert_eq!(arena.stats().capacity, 0);
    /// arena.scope();
    /// assert_eq!(arena.stats().capacity, 1 << 20);
    /// ```
    #[inline]
    #[must_use]
    pub const fn with_chunk_size(bytes: usize) -> Self {
        Arena::with_chunk_size_in(bytes, Heap)
    }
}

impl<B: Backing> Arena<B> {
    /// The bytes of a first chunk with this capacity that serve no allocations: what
    /// [`Stats::held`](crate::Stats::held) exceeds [`capacity`](crate::Stats::capacity) by. There
    /// are 64 more in a chunk of about 4 KiB or more. A later chunk has 128 fewer, or 64 with 32 bits.
    ///
    /// ```
    /// use ebbtide::{Arena, Heap};
    /// let arena = Arena::with_capacity(1000);
    /// let (held, capacity) = (arena.stats().held, arena.stats().capacity);
    /// assert_eq!(held - capacity, Arena::<Heap>::chunk_overhead(capacity));
    /// ```
    #[must_use]
    pub const fn chunk_overhead(capacity: usize) -> usize {
        chunk::first_overhead(capacity)
    }

    /// Like [`new`](Arena::new), with a custom backing.
    ///
    /// ```
    /// use ebbtide::{Arena, Heap};
    /// let arena = Arena::new_in(Heap);
    /// assert_eq!(arena.root().alloc(1), &1);
    /// ```
    #[inline]
    #[must_use]
    pub const fn new_in(backing: B) -> Self {
        Arena::with_total_chunk_size_in(FIRST_CHUNK, backing)
    }

    /// Like [`with_chunk_size`](Arena::with_chunk_size), with a custom backing.
    ///
    /// ```
    /// use ebbtide::{Arena, Heap};
    /// let arena = Arena::with_chunk_size_in(100_000, Heap);
    /// assert!(arena.root().stats().capacity >= 100_000);
    /// ```
    #[inline]
    #[must_use]
    pub const fn with_chunk_size_in(bytes: usize, backing: B) -> Self {
        let total = match chunk::size_for_capacity(bytes) {
            Some(total) => total,
            None => usize::MAX,
        };
        Arena::with_total_chunk_size_in(total, backing)
    }

    #[inline]
    const fn with_total_chunk_size_in(total: usize, backing: B) -> Self {
        Arena { root: Root::nowhere(), blocks: Blocks::new(backing, total) }
    }

    /// Like [`with_capacity`](Arena::with_capacity), with a custom backing.
    ///
    /// # Panics
    ///
    /// If `capacity` exceeds what an allocation can have. A backing without memory is reported to
    /// `handle_alloc_error`.
    ///
    /// ```
    /// use ebbtide::{Arena, Heap};
    /// let arena = Arena::with_capacity_in(100_000, Heap); // takes the memory at once
    /// assert!(arena.stats().capacity >= 100_000);
    /// ```
    #[must_use]
    pub fn with_capacity_in(capacity: usize, backing: B) -> Self {
        let Ok(arena) = Arena::build::<Infallible>(capacity, backing);
        arena
    }

    /// Fallible version of [`with_capacity_in`](Arena::with_capacity_in).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the backing refuses. The backing is dropped.
    ///
    /// ```
    /// use ebbtide::{Arena, NoSpill};
    /// assert!(Arena::try_with_capacity_in(100, NoSpill).is_err()); // a backing without memory
    /// ```
    pub fn try_with_capacity_in(capacity: usize, backing: B) -> Result<Self, AllocError> {
        Arena::build(capacity, backing)
    }

    fn build<F: Failure>(capacity: usize, backing: B) -> Result<Self, F> {
        if capacity == 0 {
            return Ok(Arena::new_in(backing));
        }
        // A block that may grow needs one byte more (I5).
        let room = capacity.saturating_add(1);
        let Some(total) = chunk::size_for_capacity(room) else {
            return Err(F::too_large());
        };
        if total > isize::MAX as usize {
            return Err(F::too_large());
        }
        let arena = Arena::with_total_chunk_size_in(total, backing);
        arena.make_first::<F>(room)?;
        arena.withdraw_again();
        Ok(arena)
    }

    /// Opens a scope. Everything allocated in it is free again when its loan of the arena ends.
    ///
    /// Costs two loads. The first scope of an arena also makes the first chunk, and the first one
    /// after a use of [`root`](Arena::root) is a function call.
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

    /// Fallible version of [`scope`](Arena::scope).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no first chunk and the backing refuses one.
    ///
    /// ```
    /// use ebbtide::{Arena, NoSpill};
    /// assert!(Arena::new_in(NoSpill).try_scope().is_err()); // a backing without memory
    /// ```
    #[inline(always)]
    pub fn try_scope(&mut self) -> Result<Scope<'_>, AllocError> {
        self.open()
    }

    /// Returns the arena's one long-lived scope, for code in the style of bumpalo's `&Bump`. Its
    /// allocations live until [`reset`](Arena::reset) or the arena's end; every call returns the
    /// same scope.
    ///
    /// No other scope can be opened while its allocations live. To keep some and drop some, open
    /// `let mut s = arena.scope()` and children of `s`.
    ///
    /// A call executes about ten instructions, more than an allocation. In a loop, call it once and
    /// keep the reference, or call the methods that the arena has itself, such as
    /// [`alloc`](Arena::alloc).
    ///
    /// # Panics
    ///
    /// Never. A backing without memory for the first chunk is reported to `handle_alloc_error`.
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

    /// Fallible version of [`root`](Arena::root).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no first chunk and the backing refuses one.
    ///
    /// ```
    /// use ebbtide::{Arena, NoSpill};
    /// assert!(Arena::new_in(NoSpill).try_root().is_err()); // a backing without memory
    /// ```
    #[inline(always)]
    pub fn try_root(&self) -> Result<&Scope<'_>, AllocError> {
        self.open_root()
    }

    #[inline(always)]
    fn open<F: Failure>(&mut self) -> Result<Scope<'_>, F> {
        let control = self.blocks.peek();
        let (top, chunk) = match control.ready_top.get() {
            0 => self.open_slowly::<F>()?,
            top => (top, control.head().as_ptr()),
        };
        // Read here, after both branches have joined. If each branch read the word, the compiler
        // would know less about it, and would check whether the caller's reads and writes overlap.
        let low = self.root.ready_low();
        // SAFETY: the root has a chunk now.
        unsafe { self.blocks.refresh() };
        // SAFETY: the root is in `chunk`, and these are its ends, which `Root::withdraw` rounded. The scope borrows the arena exclusively, so the root is not used meanwhile.
        Ok(Scope::new(unsafe { Cursor::fork_of(top, chunk, low) }))
    }

    /// Returns the top and the chunk of a new scope. Called if there is no chunk yet, or if the
    /// root was lent since the last scope.
    #[cold]
    #[inline(never)]
    fn open_slowly<F: Failure>(&mut self) -> Result<(usize, NonNull<Header>), F> {
        // SAFETY: the arena is borrowed exclusively, so no claim is alive.
        unsafe { self.reclaim_forgotten() };
        // Before the root is withdrawn.
        let chunk = self.open_root::<F>()?.cursor().chunk_address();
        Ok((self.root.withdraw(self.blocks.peek()), chunk))
    }

    /// From now on, every claim sets `mark`; see `Settings::set_claim_mark`.
    ///
    /// # Safety
    ///
    /// The contract of `Settings::set_claim_mark`.
    #[cfg(feature = "std")]
    pub(crate) unsafe fn set_claim_mark(&self, mark: NonNull<Cell<u8>>) {
        // SAFETY: the caller says that the cell outlives the arena and is not used while another
        // thread uses a scope of it.
        unsafe { self.blocks.settings().set_claim_mark(mark) };
    }

    /// Takes back the chunks of claims that were forgotten.
    ///
    /// # Safety
    ///
    /// No claim is alive.
    pub(crate) unsafe fn reclaim_forgotten(&self) {
        // SAFETY: no claim is alive, as the caller says.
        unsafe { self.blocks.peek().reclaim() };
    }

    /// The root scope, ready for use.
    #[inline(always)]
    pub(crate) fn open_root<F: Failure>(&self) -> Result<&Scope<'_>, F> {
        if self.root.state() != State::Lent {
            self.lend_root::<F>()?;
        }
        self.refresh_root();
        Ok(self.root.as_is())
    }

    /// The root scope, ready for a request. If it makes the first chunk, that has room for what the
    /// request needs. A request of no bytes needs no chunk: then the root may be nowhere, which the
    /// methods of a scope do not notice, because they serve such a request without the cursor.
    pub(crate) fn open_root_for<F: Failure>(&self, need: Need) -> Result<&Scope<'_>, F> {
        if self.root.state() == State::Nowhere {
            if need.size == 0 {
                return Ok(self.root.as_is());
            }
            if let Some(region) = need.region() {
                // If there is not enough memory, the request fails later, by its own error.
                let _ = self.make_first::<AllocError>(region);
            }
        }
        self.open_root()
    }

    /// See [`Root::as_is`].
    #[inline(always)]
    pub(crate) fn root_as_is(&self) -> &Scope<'_> {
        self.root.as_is()
    }

    /// Brings a root into use that is nowhere or withdrawn.
    #[cold]
    #[inline(never)]
    fn lend_root<F: Failure>(&self) -> Result<(), F> {
        if self.root.state() == State::Nowhere {
            return self.make_first::<F>(0);
        }
        // SAFETY: the control block is this arena's own.
        unsafe { self.root.lend(self.blocks.peek()) };
        Ok(())
    }

    /// The root's cursor, for a look at what it uses. It may be nowhere.
    fn present_root(&self) -> &Cursor {
        if self.root.state() != State::Nowhere {
            // There is a chunk, so this does not fail. An error that diverges would bring the code for
            // the end of the process along.
            let _ = self.open_root::<AllocError>();
        }
        self.root.as_is().cursor()
    }

    #[cold]
    #[inline(never)]
    fn make_first<F: Failure>(&self, capacity: usize) -> Result<(), F> {
        // By pointer; see the head of `raw`.
        let make_first: fn(&Blocks<B>, usize) -> _ = Blocks::make_first;
        if make_first(&self.blocks, capacity).is_err() {
            if F::DIVERGES {
                raw::out_of_memory(chunk::first_overhead(0), CHUNK_ALIGN);
            }
            return Err(F::refused());
        }
        // SAFETY: without a chunk there is no scope and no allocation.
        unsafe { self.root.start(self.blocks.peek().head()) };
        Ok(())
    }

    /// Moves the root to the start of the list, and withdraws it if it was before: whichever was used
    /// last, a scope or the root, is likely to be used next.
    ///
    /// # Safety
    ///
    /// No other scope is open, and nothing allocated in the arena is used again.
    #[inline(always)]
    unsafe fn start(&self) {
        let was_lent = self.root.state() == State::Lent;
        // SAFETY: the head is this arena's own. The caller says the rest.
        unsafe { self.root.start(self.blocks.peek().head()) };
        if !was_lent || self.root.state() == State::Nowhere {
            self.withdraw_again();
        }
    }

    /// Withdraws the root after a start, unless it is nowhere.
    #[inline(never)]
    fn withdraw_again(&self) {
        if self.root.state() != State::Nowhere {
            self.blocks.peek().ready_top.set(0);
            self.root.withdraw(self.blocks.peek());
        }
    }

    /// Prepares a root that is not withdrawn for requests that may need another chunk.
    #[inline(always)]
    pub(crate) fn refresh_root(&self) {
        // SAFETY: a root that is not withdrawn is in a chunk.
        unsafe { self.blocks.refresh() };
    }

    /// Frees everything that [`root`](Arena::root) allocated and keeps every chunk. Costs a few
    /// stores.
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
        unsafe { self.blocks.peek().reclaim() };
        // SAFETY: the arena is borrowed exclusively, so no scope and no allocation is left.
        unsafe { self.start() };
    }

    /// Frees everything that [`root`](Arena::root) allocated, and gives back the chunks that
    /// `retain` does not keep. Costs a walk over the chunks, and a call of the backing for each one
    /// that goes back.
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
            Retain::Largest | Retain::OneChunk if self.blocks.peek().has_head_alone() => {
                self.reset();
            }
            Retain::Largest => self.reset_to_largest(),
            Retain::OneChunk => self.reset_to_one(),
        }
    }

    #[cold]
    fn reset_beyond(&mut self, most: usize) {
        // SAFETY: the arena is borrowed exclusively, so no scope, claim or allocation is left, and
        // the root is restarted below.
        unsafe { self.blocks.release_above(most) };
        // SAFETY: the arena is borrowed exclusively, so no scope, claim or allocation is left.
        unsafe { self.start() };
    }

    #[cold]
    fn reset_to_largest(&mut self) {
        // SAFETY: the arena is borrowed exclusively, so no scope, claim or allocation is left, and
        // the root is restarted below.
        unsafe { self.blocks.release_all_but_largest() };
        // SAFETY: the arena is borrowed exclusively, so no scope, claim or allocation is left.
        unsafe { self.start() };
    }

    #[cold]
    fn reset_to_one(&mut self) {
        let held = self.held();
        // SAFETY: the arena is borrowed exclusively, so no scope, claim or allocation is left, and
        // the root is restarted below.
        unsafe { self.blocks.release_all() };
        // SAFETY: the arena is borrowed exclusively, so no scope, claim or allocation is left.
        unsafe { self.start() };
        self.blocks.settings().set_next_size(held);
    }

    /// Gives back the chunks behind the one that [`root`](Arena::root) is in: all that hold
    /// nothing, except the first chunk. `reset_with(Retain::Bytes(0))` gives that back too.
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
        let Some(control) = self.blocks.control() else { return };
        let kept = self.present_root().chunk();
        // SAFETY: the arena is borrowed exclusively, so only the root's allocations are alive,
        // which lie in its chunk and those before (I1).
        unsafe { control.release_behind(kept.chunk()) };
    }

    /// Limits the number of bytes that the arena may hold of its backing, headers included; `None`
    /// for no limit. The limit is exact: a request that would exceed it by one byte is refused.
    /// Chunks that the arena holds already stay.
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
        self.blocks.settings().set_limit(bytes);
    }

    /// The limit set by [`set_limit`](Arena::set_limit).
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// arena.set_limit(Some(1 << 20));
    /// assert_eq!(arena.limit(), Some(1 << 20));
    /// ```
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        self.blocks.settings().limit()
    }

    /// The bytes that the arena holds of its backing, as in [`Stats::held`], without a walk.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::with_capacity(1000);
    /// assert_eq!(arena.held(), arena.stats().held);
    /// ```
    #[must_use]
    pub fn held(&self) -> usize {
        self.blocks.peek().held()
    }

    /// The capacity of all chunks, as in [`Stats::capacity`], without a walk.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::with_capacity(1000);
    /// assert_eq!(arena.capacity(), arena.stats().capacity);
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.blocks.peek().capacity()
    }

    /// Statistics of the arena; `used` counts what its root uses. Walks the chunks: the fast paths
    /// keep no counters.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::with_capacity(1000);
    /// arena.root().alloc([0u8; 600]);
    /// assert_eq!(arena.stats().used, 600);
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        match self.blocks.control() {
            Some(control) => Stats::of(control, self.present_root().used()),
            None => Stats::of_nothing(self.blocks.settings()),
        }
    }

    /// Resets [`high_water`](Stats::high_water), which then covers later use only.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let mut arena = Arena::new();
    /// arena.scope().alloc([0u8; 100_000]);
    /// arena.reset_high_water();
    /// arena.scope().alloc([0u8; 100]);
    /// assert!(arena.stats().high_water < 100_000);
    /// ```
    pub fn reset_high_water(&mut self) {
        self.blocks.settings().reset_high_water(self.blocks.peek().head_capacity());
    }

    /// Whether `value` begins in memory of this arena, in use or not. Walks the chunks.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::new();
    /// let inside = arena.root().alloc(1);
    /// assert!(arena.contains(inside) && !arena.contains(&2));
    /// ```
    #[must_use]
    pub fn contains<T: ?Sized>(&self, value: *const T) -> bool {
        self.blocks.peek().contains(value.addr())
    }

    /// The size and use of each chunk: first in the order in which scopes enter them, then those
    /// that a [`Claim`](crate::Claim) left. Chunks of claims that are open are not among them.
    ///
    /// ```
    /// # use ebbtide::Arena;
    /// let arena = Arena::with_capacity(1000);
    /// assert!(arena.chunks().all(|chunk| chunk.capacity >= 1000 && !chunk.oversize));
    /// ```
    pub fn chunks(&self) -> impl Iterator<Item = Chunk> + '_ {
        let pin = self.blocks.control().map(Pin::new);
        let spare = self.blocks.peek().spare_chunks().map(move |chunk| {
            let _ = &pin;
            let (header, free) = (chunk.header(), chunk.region_bytes());
            ChunkUse { header, free }
        });
        self.present_root().chunks().chain(spare).map(Chunk::of)
    }

    /// The number of bytes that are free in the chunk that [`root`](Arena::root) is in.
    ///
    /// ```
    /// let arena = ebbtide::Arena::with_capacity(1000);
    /// let free = arena.free_in_chunk();
    /// arena.alloc([0_u8; 100]);
    /// assert_eq!(arena.free_in_chunk(), free - 100);
    /// ```
    #[must_use]
    pub fn free_in_chunk(&self) -> usize {
        self.present_root().free()
    }

    /// The memory that [`root`](Arena::root) uses, in the order in which it entered the chunks: of
    /// each chunk the part at the low end, with what can grow, the newest last, and the
    /// part at the high end, with values, slices and text, the newest first. Empty parts are left out.
    ///
    /// ```
    /// let mut arena = ebbtide::Arena::new();
    /// for n in 1..=3_u32 {
    ///     arena.alloc(n);
    /// }
    /// let parts: Vec<_> = arena.used_memory().collect();
    /// // SAFETY: only values of one type were allocated, so the part consists of them.
    /// let (_, values, _) = unsafe { parts[0].align_to::<u32>() };
    /// assert_eq!((parts.len(), values), (1, &[3, 2, 1][..]));
    /// ```
    pub fn used_memory(&mut self) -> impl Iterator<Item = &[MaybeUninit<u8>]> {
        // SAFETY: memory of this arena, which nobody else uses while it is borrowed exclusively.
        // Any bytes are valid.
        self.used_parts().map(|part| unsafe { &*(part.as_ptr() as *const [MaybeUninit<u8>]) })
    }

    /// Like [`used_memory`](Arena::used_memory), but returns pointers, which leave the arena
    /// usable. A part may change while the arena allocates.
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let value = std::ptr::from_ref(arena.alloc(1_u64));
    /// assert!(arena.used_parts().any(|part| part.addr().get() == value.addr()));
    /// ```
    pub fn used_parts(&self) -> impl Iterator<Item = NonNull<[u8]>> + '_ {
        let parts = self.present_root().chunks().flat_map(|chunk| chunk.used_parts());
        parts.filter(|part| !part.is_empty())
    }

    /// The backing.
    ///
    /// ```
    /// use ebbtide::{Arena, Heap};
    /// let arena = Arena::new();
    /// let _: &Heap = arena.backing();
    /// ```
    pub fn backing(&self) -> &B {
        self.blocks.backing()
    }
}

/// Of one backing only, so that `Arena::default()` needs no type.
impl Default for Arena {
    fn default() -> Self {
        Arena::new_in(DefaultBacking::default())
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
