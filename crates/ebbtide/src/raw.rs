//! The cursor: the bump state of a scope, its two fast paths, and the cold code behind them.
//!
//! # The idea
//!
//! A cursor is three words: `top`, `chunk`, `low`. The bytes between `low` and `top` are free.
//! Blocks of known size are taken from the high end, blocks that may grow from the low end. Opening
//! a scope copies the three words. Closing it does nothing, because the parent's words have not
//! changed. (A parent that is nearly full moves to the next chunk before the copy.)
//!
//! # Why this is one file
//!
//! It has more than 600 lines of code, but a single concept: the cursor. Both fast paths and the
//! cold branch behind them rely on I0 to I5 and write the three words, which are private to this
//! file. If the code were in two files, the words could not be private to one of them.
//!
//! # Who calls whom
//!
//! ```text
//! fork, fork_of, fork_again          a child's words
//! fork_with_room                     the same; if the parent is nearly full: leave_full_chunk
//! place, reserve_type                high end; sized values
//! reserve, reserve_array, duplicate  high end; any layout, slices, strings
//!   ├─ the block fits ─► top = start                                        the fast path
//!   └─ it does not ────► refill ─► alloc_slow / try_alloc_slow ─► alloc_in_next_chunk
//!                                                           ─► chunk::link_next_chunk ─► the backing
//! reserve_low, take_low              low end; blocks that may grow
//!   ├─ the block fits ─► low = end                                          the fast path
//!   └─ it does not ────► refill ─► …
//! ```
//!
//! # Invariants
//!
//! They hold for every cursor *in use*. A cursor is not in use while it is *nowhere*, which means
//! that it has no region. An arena's root is also not in use while it is *withdrawn*, which means
//! that nothing fits: `low == top`. After a move of the arena, until it is lent again, a root serves only
//! [short](is_short) requests that [fit at once](Cursor::fits_at_once). These do not need the backing,
//! whose address may have changed.
//!
//! - **I0** `chunk` points to a current chunk (L4) of an arena that is borrowed as long as the
//!   cursor is in use.
//! - **I1** In list order, every chunk after `chunk` holds no live byte.
//! - **I2** `low <= top`. If `low < top`, then `low..top` is free and lies in one region. If they
//!   are equal, both lie in that region, or at [`LOWEST_ADDRESS`](arith::LOWEST_ADDRESS), where no
//!   block ends.
//! - **I3** That region is `chunk`'s or, where `chunk` serves an oversize request, the one of its
//!   anchor ([`CurrentChunk::region`]).
//! - **I4** At most one cursor of a list is usable at a time: a child borrows its parent's.
//! - **I5** A low-end block that may grow or shrink ends before the `top` that it was taken below,
//!   and so before its region does. It therefore *is the last one* of the cursor's region if it
//!   begins in that region and ends at `low`.
//!
//! # Why two comparisons of addresses prove that
//!
//! A vector without a scope may be passed any scope, and regions may lie inside regions: a buffer
//! or a chunk may be a block of another scope. Let a block `start..end` be alive in a region R, and
//! let a cursor be in use in a region S, with `S.start <= start` and `end == low`. `end` is not
//! `LOWEST_ADDRESS`, because every block begins at or above it, so `low` lies in S (I2), and
//! `R.start <= start < end < R.end` (I5). Two regions are either disjoint, or one of them lies in a
//! live block of the other. Each of these cases leads to a contradiction:
//!
//! - If R and S are disjoint, the block lies above S, because `S.start <= start`. So
//!   `S.end <= start < end`, but `end == low` is at most `S.end`.
//! - If R lies in a block B of S, B is at one of the two ends. At the low end, `B.end <= low`, but
//!   `low == end < R.end <= B.end`. At the high end, `top <= B.start`, but
//!   `B.start <= start < end == low <= top`.
//! - If S lies in a block B of R, then B is borrowed, so it is not the vector's block, and the two do
//!   not overlap. The vector's block begins at or above `S.start`, which is in B, so it begins at or
//!   above `B.end`. But `end == low` is at most `S.end`, and that is at most `B.end`.
//!
//! So R is S, and in that region all low-end blocks that are alive end at or below `low`.
//!
//! [`Cursor::check`] asserts the observable part of them after every slow operation of a debug
//! build. The lists have invariants of their own, L1 to L6 in [`chunk`].
//!
//! # Why the cold branch looks as it does
//!
//! The cursor of a local scope lives in registers as long as its address is never taken, so
//! [`alloc_slow`] works on a copy of the words. If the cursor is behind a reference, the cold branch must
//! not make the fast one longer. So the cold branch reads the words again instead of keeping them
//! in registers, and the slow path itself copies the value into its block. `black_box(())` forces
//! the reload. (A compiler fence would also force every value that is about to be stored into
//! memory.) Then allocating a `u64` through `&Scope` takes eight instructions on x86-64, which a
//! test pins:
//!
//! ```text
//! mov rax, [rdi]        ; top
//! and rax, -8
//! add rax, -8
//! cmp rax, [rdi + 16]   ; low
//! jb  cold
//! mov [rax], rsi
//! mov [rdi], rax
//! ret
//! ```
//!
//! # Why the cold code is behind pointers
//!
//! Before the compiler inlines a call, it searches all that the callee calls for recursion. It does so
//! in each function with such a call, and behind nearly each of ours is all of the cold code: that took
//! a second of an optimised build. Where a function that runs seldom calls another one through a
//! pointer, as [`alloc_slow`] does, the search ends. The machine code is that of a direct call.
//!
//! # Why a value is copied once
//!
//! `s.alloc(*r)` first copies `*r` to a temporary. The compiler can elide the temporary only if
//! nothing may modify `*r` before its last use. The call of [`alloc_slow`] may, and so may a store
//! to a cursor behind a reference. So [`Cursor::place`] writes the value to its block before it
//! moves the cursor, and the cold branch makes a copy of its own before the call. Tests pin this too.

use crate::{
    arith::{self, CHUNK_ALIGN},
    chunk::{self, ChunkName, ChunkRef, ControlRef, CurrentChunk, End, Header, Pin, Room},
    copy::copy_to_block,
    error::{AllocError, Failure},
    poison, prefetch,
};
use core::{
    alloc::Layout,
    cell::Cell,
    hint::{assert_unchecked, black_box},
    mem::{ManuallyDrop, MaybeUninit, offset_of},
    ptr::NonNull,
};

/// The bump state of a scope.
#[repr(C)]
pub(crate) struct Cursor {
    /// An address, not a pointer: the compiler can track the alignment of a number through a loop
    /// and remove a rounding that changes nothing. Blocks get the provenance of `low`, which lies
    /// in the same region (I2).
    top: Cell<usize>,
    // Between the two bump pointers on purpose. On aarch64, one instruction would load two adjacent
    // words, and wait for the store to one of them just before.
    chunk: Cell<NonNull<Header>>,
    low: Cell<NonNull<u8>>,
}

// The layout that `front_end` promises.
const _: () = {
    const WORD: usize = size_of::<usize>();
    assert!(size_of::<Cursor>() == 3 * WORD);
    assert!(offset_of!(Cursor, top) == 0);
    assert!(offset_of!(Cursor, chunk) == WORD);
    assert!(offset_of!(Cursor, low) == 2 * WORD);
};

/// The position of a cursor in use: a copy of its three words.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position<'c> {
    top: usize,
    chunk: CurrentChunk<'c>,
    low: NonNull<u8>,
}

/// A position to which a cursor can be rewound, even if the arena moved meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    top: usize,
    chunk: ChunkName,
    low: NonNull<u8>,
}

/// A chunk, and the bytes that are free in it from the view of a cursor.
pub(crate) struct ChunkUse<'c> {
    pub(crate) header: &'c Header,
    pub(crate) free: NonNull<[u8]>,
}

impl ChunkUse<'_> {
    /// The number of bytes in use.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.header.capacity() - self.free.len()
    }

    /// The bytes in use, which may include a few that rounding left free: those at the low end,
    /// and those at the high end.
    #[inline]
    pub(crate) fn used_parts(&self) -> [NonNull<[u8]>; 2] {
        let header = self.header;
        let (low, top) = (header.low().addr().get(), header.top().addr().get());
        let start = self.free.cast::<u8>().addr().get();
        // An empty range may lie elsewhere: at `LOWEST_ADDRESS`.
        let start = if header.contains(start) { start } else { low };
        let end = start + self.free.len();
        let part = |from, to| NonNull::slice_from_raw_parts(at(header.low(), from), to - from);
        [part(low, start), part(end, top)]
    }
}

impl<'c> Position<'c> {
    #[inline(always)]
    pub(crate) fn chunk(self) -> CurrentChunk<'c> {
        self.chunk
    }

    /// Whether a block fits at the low end.
    pub(crate) fn fits_low(self, layout: Layout) -> bool {
        let (top, low) = (self.top, self.low.addr().get());
        arith::up(top, low, layout.size(), layout.align()).is_some()
    }

    /// The free bytes.
    fn free(self) -> NonNull<[u8]> {
        NonNull::slice_from_raw_parts(self.low, self.top - self.low.addr().get())
    }

    /// Returns `top` rounded down, and `low`. If rounding passes `low`, returns an empty range at
    /// [`LOWEST_ADDRESS`](arith::LOWEST_ADDRESS): `low` must not move into a block that is alive,
    /// because a block of a region inside that block may end there (I5).
    #[inline(always)]
    fn aligned(self, align: usize) -> (usize, NonNull<u8>) {
        let top = self.top & !(align - 1);
        if top < self.low.addr().get() { nothing_free(self.low) } else { (top, self.low) }
    }
}

/// An empty range, with the provenance of `low`. Out of line, so that the compiler emits a branch,
/// which is hardly ever taken, instead of conditional moves, which always wait for their operands.
#[cold]
#[inline(never)]
fn nothing_free(low: NonNull<u8>) -> (usize, NonNull<u8>) {
    (arith::LOWEST_ADDRESS, at(low, arith::LOWEST_ADDRESS))
}

/// A request to the slow path and, in `position` and `data`, its answer: the cursor's new words,
/// and a block, or `None` if there is no memory.
///
/// It has as few words as possible: the compiler does not unroll a loop if the cold branch that
/// writes them is long.
///
/// The slow path gets one pointer instead of the single words. In a loop, the compiler cannot prove
/// that `low` and `chunk` do not point to the value that is about to be stored. If they were
/// arguments, it would write that value to the stack on every turn, in case the slow path reads it.
struct Request<'c> {
    position: Position<'c>,
    /// On entry, the `size` bytes to copy into the block, if any; on return, the block.
    data: Option<NonNull<u8>>,
    size: usize,
    /// The alignment, as a power of two.
    align_exponent: u8,
    end: End,
}

impl Request<'_> {
    fn align(&self) -> usize {
        1 << self.align_exponent
    }
}

/// What a request needs: a layout that may be too large to be one.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    pub(crate) size: usize,
    pub(crate) align: usize,
}

impl Need {
    /// What `len` elements need.
    #[inline(always)]
    pub(crate) const fn of<T>(len: usize) -> Self {
        Need { size: len.saturating_mul(size_of::<T>()), align: align_of::<T>() }
    }

    /// What `len` elements of this layout need at the low end: one byte more (I5).
    pub(crate) const fn low(len: usize, element: Layout) -> Self {
        let size = len.saturating_mul(element.size());
        let size = if size == 0 { 0 } else { size.saturating_add(1) };
        Need { size, align: element.align() }
    }

    /// The same at an alignment of at least `align`.
    #[inline(always)]
    pub(crate) const fn aligned(self, align: usize) -> Self {
        Need { align: if align > self.align { align } else { self.align }, ..self }
    }

    /// The size of a region that has it at either end. `None` if no region is as large.
    pub(crate) const fn region(self) -> Option<usize> {
        arith::region_for(self.size, self.align)
    }
}

/// `address` with the provenance of `base`.
#[inline(always)]
fn at(base: NonNull<u8>, address: usize) -> NonNull<u8> {
    // SAFETY: `address` is not 0. Every address that this module computes is at least
    // `LOWEST_ADDRESS`: it lies in `low..=top` of a cursor (I2).
    unsafe { NonNull::new_unchecked(base.as_ptr().with_addr(address)) }
}

/// Whether taking a block of this size uses only the two ends of the cursor: no header is read to
/// prefetch or to poison memory.
#[inline(always)]
pub(crate) fn is_short(size: usize) -> bool {
    size == 0 || !poison::TRACKS && size <= prefetch::LINE
}

/// A well-aligned pointer for a block of 0 bytes.
#[inline(always)]
fn dangling(align: usize) -> NonNull<u8> {
    let address = core::ptr::without_provenance_mut(align);
    // SAFETY: an alignment is at least 1.
    unsafe { NonNull::new_unchecked(address) }
}

/// Below this many free bytes, a child scope starts in the next chunk, if there is one.
const MIN_CHILD_ROOM: usize = 64;

const _: () = assert!(MIN_CHILD_ROOM <= arith::LOWEST_ADDRESS - CHUNK_ALIGN);

/// The `top` of a cursor that is nowhere. No region begins here. It is a multiple of each alignment
/// that `arith::down_small` accepts, and not less than each size, so nothing fits below it.
const NOWHERE: usize = arith::SMALL;

const _: () = assert!(NOWHERE < arith::LOWEST_ADDRESS);

impl Cursor {
    /// A cursor without a region, which is not in use.
    ///
    /// # Safety
    ///
    /// Until [`start_at`](Cursor::start_at) has been called, only that and
    /// [`is_nowhere`](Cursor::is_nowhere) are called.
    pub(crate) const unsafe fn nowhere() -> Self {
        let nothing = core::ptr::without_provenance_mut(NOWHERE);
        Cursor {
            top: Cell::new(NOWHERE),
            chunk: Cell::new(NonNull::dangling()),
            // SAFETY: the address is not 0.
            low: Cell::new(unsafe { NonNull::new_unchecked(nothing) }),
        }
    }

    #[inline(always)]
    pub(crate) fn is_nowhere(&self) -> bool {
        self.top.get() == NOWHERE
    }

    /// Withdraws a root: nothing fits until [`lend`](Cursor::lend). Keeps `top`.
    #[inline(always)]
    pub(crate) fn withdraw(&self) {
        self.chunk.set(NonNull::dangling());
        self.low.set(at(self.low.get(), self.top.get()));
    }

    /// Whether this is a root that is withdrawn or nowhere.
    #[inline(always)]
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.chunk.get() == NonNull::dangling()
    }

    /// Ends [`withdraw`](Cursor::withdraw).
    ///
    /// # Safety
    ///
    /// This is the root of the arena whose head this is. It was in the head when it was withdrawn,
    /// and `low` was its low end.
    #[inline(always)]
    pub(crate) unsafe fn lend(&self, head: CurrentChunk<'_>, low: NonNull<u8>) {
        self.chunk.set(head.as_ptr());
        self.low.set(low);
        Cursor::check(self.position());
    }

    /// A cursor over the whole region of `chunk`, with which its list begins.
    ///
    /// # Safety
    ///
    /// As long as the cursor is in use, no other cursor of the list is (I4), nothing allocated in
    /// the list before is used (I1), and the arena is borrowed (I0).
    pub(crate) unsafe fn over(chunk: CurrentChunk<'_>) -> Self {
        chunk.make_ordinary();
        let cursor = Cursor {
            top: Cell::new(chunk.top().addr().get()),
            chunk: Cell::new(chunk.as_ptr()),
            low: Cell::new(chunk.low()),
        };
        cursor.poison_free();
        cursor
    }

    /// Moves to the start of the arena's list. If the head has no region, the cursor is nowhere
    /// then.
    ///
    /// # Safety
    ///
    /// The cursor is the root of the arena whose head this is, no other cursor of the arena is in
    /// use, and nothing allocated in the arena is used again.
    #[inline(always)]
    pub(crate) unsafe fn start_at(&self, head: CurrentChunk<'_>) {
        if head.is_vacant() {
            return self.go_nowhere();
        }
        self.set(Position { top: head.top().addr().get(), chunk: head, low: head.low() });
        self.poison_free();
    }

    #[cold]
    fn go_nowhere(&self) {
        // SAFETY: only the root of an arena goes there, whose owner calls `start_at` before each use.
        let Cursor { top, chunk, low } = unsafe { Cursor::nowhere() };
        self.top.set(top.get());
        self.chunk.set(chunk.get());
        self.low.set(low.get());
    }

    /// The cursor of a scope that opens here.
    ///
    /// Its top is a multiple of [`CHUNK_ALIGN`]: the compiler then knows that a run of allocations
    /// of one type needs no rounding.
    ///
    /// # Safety
    ///
    /// This cursor is in use, and is not used as long as the new one and its allocations are (I4).
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) unsafe fn fork(&self) -> Cursor {
        self.poison_free();
        let (top, low) = self.rounded();
        Cursor { top: Cell::new(top), chunk: Cell::new(self.chunk.get()), low: Cell::new(low) }
    }

    /// Like [`fork`](Cursor::fork), for a cursor that is a fork in which nothing was allocated.
    ///
    /// # Safety
    ///
    /// The contract of [`fork`](Cursor::fork). This cursor is a fork, and nothing was allocated in
    /// it.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) unsafe fn fork_again(&self) -> Cursor {
        // SAFETY: these are the words of a fork, so its top is rounded and not below `low` (I2).
        // The caller keeps this cursor from being used meanwhile.
        unsafe { Cursor::fork_of(self.top.get(), self.chunk.get(), self.low.get()) }
    }

    /// Like [`fork`](Cursor::fork), but a cursor with hardly any free memory first moves to the
    /// next chunk, if there is one. Otherwise each child that a loop opens would have to move
    /// there.
    ///
    /// # Safety
    ///
    /// The contract of [`fork`](Cursor::fork).
    #[inline(always)]
    pub(crate) unsafe fn fork_with_room(&self) -> Cursor {
        self.poison_free();
        let (mut top, mut low) = (self.top.get(), self.low.get());
        // No region begins below `LOWEST_ADDRESS`, so this does not wrap.
        if top.wrapping_sub(MIN_CHILD_ROOM) < low.addr().get() {
            let mut position = self.position();
            (top, low) = leave_full_chunk(&mut position);
            self.set(position);
        }
        // Rounded here, after both branches have joined: the compiler would not remember the
        // alignment across the join.
        let top = top & !(CHUNK_ALIGN - 1);
        Cursor { top: Cell::new(top), chunk: Cell::new(self.chunk.get()), low: Cell::new(low) }
    }

    /// Returns the `top` and the `low` of a fork.
    #[inline(always)]
    pub(crate) fn rounded(&self) -> (usize, NonNull<u8>) {
        self.position().aligned(CHUNK_ALIGN)
    }

    /// Like [`fork`](Cursor::fork), for a cursor that is given by its words.
    ///
    /// # Safety
    ///
    /// The contract of [`fork`](Cursor::fork), for a cursor whose chunk is at this address and for
    /// which [`rounded`](Cursor::rounded) returned these ends.
    #[inline(always)]
    pub(crate) unsafe fn fork_of(top: usize, chunk: NonNull<Header>, low: NonNull<u8>) -> Cursor {
        let child = Cursor { top: Cell::new(top), chunk: Cell::new(chunk), low: Cell::new(low) };
        // SAFETY: `rounded` rounded `top` down to a multiple of this.
        unsafe { child.promise_top(CHUNK_ALIGN) };
        // SAFETY: `rounded` returns the ends of a range, possibly an empty one (I2).
        unsafe { assert_unchecked(top >= low.addr().get()) };
        child.poison_free();
        child
    }

    #[inline(always)]
    pub(crate) fn position(&self) -> Position<'_> {
        Position { top: self.top.get(), chunk: self.chunk(), low: self.low.get() }
    }

    /// Restores earlier words.
    ///
    /// # Safety
    ///
    /// They were the words of this cursor, or of its parent when it was forked, and nothing that
    /// was allocated since is used again.
    #[inline(always)]
    pub(crate) unsafe fn restore(&self, position: Position<'_>) {
        Cursor::check(position);
        self.set(position);
        self.poison_free();
    }

    /// The current words, for [`rewind`](Cursor::rewind). The arena may move meanwhile.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        let Position { top, chunk, low } = self.position();
        Mark { top, chunk: ChunkName::of(chunk.chunk()), low }
    }

    /// Restores the words of a mark.
    ///
    /// # Safety
    ///
    /// The mark came from this cursor, nothing that was allocated since is used again, and the
    /// mark's chunk was not released since.
    #[inline]
    pub(crate) unsafe fn rewind(&self, mark: Mark) {
        debug_assert!(
            self.can_rewind_to(mark.top, mark.low, &|chunk| ChunkName::of(chunk) == mark.chunk),
            "the checkpoint is not one of this scope, or a later one was rewound after it"
        );
        let control = self.control();
        // SAFETY: the mark came from this cursor, so the chunk belongs to the arena, and the caller
        // says that it was not released.
        let chunk = unsafe { control.named(mark.chunk) };
        // The arena may have moved since this chunk was current.
        // SAFETY: the chunk is one of this arena's.
        let chunk = unsafe { control.attach(chunk) };
        // SAFETY: these words were this cursor's; nothing allocated since is used again.
        unsafe { self.restore(Position { top: mark.top, chunk, low: mark.low }) };
    }

    #[inline(always)]
    fn set(&self, position: Position<'_>) {
        self.top.set(position.top);
        self.chunk.set(position.chunk.as_ptr());
        self.low.set(position.low);
    }

    /// The chunk that the cursor is in.
    #[inline(always)]
    pub(crate) fn chunk(&self) -> CurrentChunk<'_> {
        // SAFETY: L1, I0: a cursor in use points to a chunk of a borrowed arena. The address was a
        // handle's, so it has a handle's provenance.
        let chunk = unsafe { ChunkRef::new(self.chunk.get()) };
        // SAFETY: I0: the chunk is a current one.
        unsafe { CurrentChunk::new(chunk) }
    }

    /// The address of the cursor's chunk. The cursor need not be in use.
    #[inline(always)]
    pub(crate) fn chunk_address(&self) -> NonNull<Header> {
        self.chunk.get()
    }

    /// The number of free bytes in the region in use.
    pub(crate) fn free(&self) -> usize {
        self.top.get() - self.low.get().addr().get()
    }

    /// The distance of an address in the region in use from the region's end. Only for decisions
    /// about speed: while the chunk serves an oversize request, the result is meaningless.
    #[inline(always)]
    pub(crate) fn used_above(&self, start: usize) -> usize {
        self.chunk().chunk().header().top().addr().get().wrapping_sub(start)
    }

    /// The control block of the arena.
    pub(crate) fn control(&self) -> ControlRef<'_> {
        self.chunk().control()
    }

    /// The address of a `T` at the high end, if there is room. Does not move the cursor.
    #[inline(always)]
    fn fit<T>(&self) -> Option<NonNull<T>> {
        let size = size_of::<T>();
        let start = self.fit_type::<T>()?;
        let block = at(self.low.get(), start);
        if poison::TRACKS {
            // Called before anything is written to the block. The cursor has not moved yet.
            self.top.set(start);
            self.track_block(block, size, End::High);
        }
        Some(block.cast())
    }

    #[inline(always)]
    fn fit_type<T>(&self) -> Option<usize> {
        let (top, low) = (self.top.get(), self.low.get().addr().get());
        let (size, align) = (size_of::<T>(), align_of::<T>());
        // Evaluated at compile time.
        if size <= arith::SMALL && align <= arith::SMALL {
            arith::down_small(top, low, size, align)
        } else {
            arith::down(top, low, size, align)
        }
    }

    /// The size of a `T` if one fits, also in a root that is not in use; otherwise what it needs.
    #[inline(always)]
    pub(crate) fn fits_at_once<T>(&self) -> Result<usize, Need> {
        let fits = size_of::<T>() == 0 || self.fit_type::<T>().is_some();
        if fits { Ok(size_of::<T>()) } else { Err(Need::of::<T>(1)) }
    }

    /// The size of `len` elements if they are [short](is_short) and fit, also in a root that is not in
    /// use; otherwise what they need.
    #[inline(always)]
    pub(crate) fn fits_array_at_once<T>(&self, len: usize) -> Result<usize, Need> {
        let layout = Layout::array::<T>(len).ok();
        let short = layout.filter(|layout| is_short(layout.size()));
        let fits =
            size_of::<T>() == 0 || short.is_some_and(|layout| self.fit_array(layout).is_some());
        let need = Need::of::<T>(len);
        if fits { Ok(need.size) } else { Err(need) }
    }

    /// The size of a block of this layout if it is [short](is_short) and fits, also in a root that is
    /// not in use; otherwise what it needs.
    #[inline(always)]
    pub(crate) fn fits_layout_at_once(&self, layout: Layout) -> Result<usize, Need> {
        let (size, align) = (layout.size(), layout.align());
        let fits = size == 0 || is_short(size) && self.fit_layout(layout).is_some();
        if fits { Ok(size) } else { Err(Need { size, align }) }
    }

    /// Moves the cursor behind the block that [`Cursor::fit`] returned.
    #[inline(always)]
    fn take<T>(&self, block: NonNull<T>) {
        let start = block.addr().get();
        self.top.set(start);
        prefetch::below_value::<T>(block.cast(), || self.used_above(start));
    }

    /// Moves `value` into a block of its own. On failure it is dropped.
    ///
    /// On the fast path the value is copied once: see "Why a value is copied once" above.
    #[inline(always)]
    pub(crate) fn place<T, F: Failure>(&self, value: T) -> Result<NonNull<T>, F> {
        if size_of::<T>() == 0 {
            core::mem::forget(value);
            return Ok(NonNull::dangling());
        }
        // If the backing panics, the value leaks. Without a drop, the call needs no landing pad.
        let value = ManuallyDrop::new(value);
        let block = if let Some(block) = self.fit::<T>() {
            // SAFETY: the block is free, aligned for a `T` and large enough (I2).
            unsafe { block.cast().write(value) };
            self.take(block);
            block
        } else {
            let mut source = MaybeUninit::<ManuallyDrop<T>>::uninit();
            // SAFETY: both are valid for one `T`, and two variables do not overlap.
            unsafe { source.as_mut_ptr().copy_from_nonoverlapping(&raw const value, 1) };
            let bytes = NonNull::from(&source).cast();
            // SAFETY: `source` has the layout of a `T` and is not written to before this returns.
            let block =
                unsafe { self.refill_with::<F>(Layout::new::<T>(), End::High, Some(bytes)) };
            match block {
                Ok(block) => block.cast(),
                Err(failure) => {
                    // SAFETY: initialised above; no block has a copy.
                    let value = unsafe { source.assume_init() };
                    drop(ManuallyDrop::into_inner(value));
                    return Err(failure);
                }
            }
        };
        // SAFETY: one of the two just succeeded, and the user's code has not run since.
        unsafe { self.promise_aligned::<T>() };
        Ok(block)
    }

    /// Tells the compiler that `top` is aligned for a `T`. In a loop over a local scope, the
    /// compiler then removes the rounding, which halves the time of an iteration.
    ///
    /// # Safety
    ///
    /// `take::<T>` or `refill` for the layout of a `T` just succeeded, and no user code has run
    /// since.
    #[inline(always)]
    unsafe fn promise_aligned<T>(&self) {
        // SAFETY: `take` sets `top` to the start of a `T`, and `refill` rounds it down to the same
        // alignment.
        unsafe { self.promise_top(align_of::<T>().min(CHUNK_ALIGN)) };
    }

    /// Tells the compiler that `top` is a multiple of `align`.
    ///
    /// # Safety
    ///
    /// `top` is a multiple of `align`, which is a power of two.
    #[inline(always)]
    unsafe fn promise_top(&self, align: usize) {
        // SAFETY: a power of two divides `top`, as the caller says, so the bits below it are 0.
        unsafe { assert_unchecked(self.top.get() & (align - 1) == 0) };
    }

    /// A block for a `T`, uninitialised.
    #[inline(always)]
    pub(crate) fn reserve_type<T, F: Failure>(&self) -> Result<NonNull<T>, F> {
        if size_of::<T>() == 0 {
            return Ok(NonNull::dangling());
        }
        let block = match self.fit::<T>() {
            Some(block) => {
                self.take(block);
                block
            }
            None => self.refill::<F>(Layout::new::<T>(), End::High)?.cast(),
        };
        // SAFETY: one of the two just succeeded, and the user's code has not run since.
        unsafe { self.promise_aligned::<T>() };
        Ok(block)
    }

    /// A block at the high end, uninitialised.
    #[inline(always)]
    pub(crate) fn reserve<F: Failure>(&self, layout: Layout) -> Result<NonNull<u8>, F> {
        match self.fit_layout(layout) {
            Some(start) => {
                self.top.set(start);
                let block = at(self.low.get(), start);
                self.track(block, layout.size(), End::High);
                Ok(block)
            }
            None => self.refill(layout, End::High),
        }
    }

    /// The address of a block at the high end, if there is room. Does not move the cursor.
    #[inline(always)]
    fn fit_layout(&self, layout: Layout) -> Option<usize> {
        let (top, low) = (self.top.get(), self.low.get().addr().get());
        arith::down(top, low, layout.size(), layout.align())
    }

    /// Like [`reserve`](Cursor::reserve), for the layout of an array.
    ///
    /// # Safety
    ///
    /// The size is a multiple of the alignment.
    #[inline(always)]
    pub(crate) unsafe fn reserve_array<F: Failure>(
        &self,
        layout: Layout,
    ) -> Result<NonNull<u8>, F> {
        match self.fit_array(layout) {
            Some(start) => {
                self.top.set(start);
                let block = at(self.low.get(), start);
                self.track(block, layout.size(), End::High);
                Ok(block)
            }
            None => self.refill(layout, End::High),
        }
    }

    /// The address of an array at the high end, if there is room. Does not move the cursor. The
    /// size must be a multiple of the alignment.
    #[inline(always)]
    fn fit_array(&self, layout: Layout) -> Option<usize> {
        let (top, low) = (self.top.get(), self.low.get().addr().get());
        let (size, align) = (layout.size(), layout.align());
        debug_assert!(size % align == 0, "an array's layout");
        if cfg!(target_arch = "aarch64") {
            // One instruction shorter there.
            arith::down(top, low, size, align)
        } else {
            arith::down_array(top, low, size, align)
        }
    }

    /// A block at the high end with a copy of the bytes at `source`.
    ///
    /// # Safety
    ///
    /// `source` is valid for reads of `layout.size()` bytes until this returns. The size is a
    /// multiple of the alignment.
    #[inline(always)]
    pub(crate) unsafe fn duplicate<F: Failure>(
        &self,
        source: NonNull<u8>,
        layout: Layout,
    ) -> Result<NonNull<u8>, F> {
        let (size, align) = (layout.size(), layout.align());
        let block = match self.fit_array(layout) {
            Some(start) => {
                self.top.set(start);
                let block = at(self.low.get(), start);
                self.track(block, size, End::High);
                // SAFETY: `source` has `size` bytes, and so has the block, which was free a moment
                // ago (I2).
                unsafe { copy_to_block(source, block, size, || self.used_above(start)) };
                block
            }
            // SAFETY: the caller says that `source` is valid for that many bytes.
            None => unsafe { self.refill_with::<F>(layout, End::High, Some(source))? },
        };
        // SAFETY: one of the two just succeeded, and the user's code has not run since.
        unsafe { self.promise_top(align.min(CHUNK_ALIGN)) };
        Ok(block)
    }

    /// Like [`reserve`](Cursor::reserve), for a layout whose size may be 0. A block of 0 bytes
    /// takes no memory, whatever its alignment.
    #[inline(always)]
    pub(crate) fn reserve_layout<F: Failure>(&self, layout: Layout) -> Result<NonNull<u8>, F> {
        if layout.size() == 0 {
            return Ok(dangling(layout.align()));
        }
        self.reserve(layout)
    }

    /// Like [`reserve_layout`](Cursor::reserve_layout), at the low end.
    #[inline(always)]
    pub(crate) fn reserve_layout_low<F: Failure>(&self, layout: Layout) -> Result<NonNull<u8>, F> {
        if layout.size() == 0 {
            return Ok(dangling(layout.align()));
        }
        self.reserve_low(layout)
    }

    /// A block at the low end, uninitialised, which [`lengthen_low`](Cursor::lengthen_low) can grow
    /// in place.
    #[inline(always)]
    pub(crate) fn reserve_low<F: Failure>(&self, layout: Layout) -> Result<NonNull<u8>, F> {
        let (top, low) = (self.top.get(), self.low.get());
        let (size, align) = (layout.size(), layout.align());
        match arith::up(top, low.addr().get(), size, align) {
            Some(start) => {
                let block = at(low, start);
                debug_assert!(start + size < top, "I5");
                self.low.set(at(low, start + size));
                self.track(block, size, End::Low);
                Ok(block)
            }
            None => self.refill(layout, End::Low),
        }
    }

    /// A block for `count` elements of the layout `element` at the low end, if there is room.
    #[inline(always)]
    pub(crate) fn take_low(&self, count: usize, element: Layout) -> Option<NonNull<u8>> {
        let (top, low) = (self.top.get(), self.low.get());
        let size = count.checked_mul(element.size())?;
        // `up` is for layouts only.
        let layout = Layout::from_size_align(size, element.align()).ok()?;
        let start = arith::up(top, low.addr().get(), layout.size(), layout.align())?;
        debug_assert!(start + size < top, "I5");
        let block = at(low, start);
        self.low.set(at(low, start + size));
        self.track(block, size, End::Low);
        Some(block)
    }

    /// Like [`take_low`](Cursor::take_low), for a root that may not be in use. `None` also if the
    /// block has to be recorded for poisoning.
    #[inline(always)]
    pub(crate) fn take_low_at_once(&self, count: usize, element: Layout) -> Option<NonNull<u8>> {
        if poison::TRACKS { None } else { self.take_low(count, element) }
    }

    /// Whether a low-end block of this cursor is the last one, so that it can grow, shrink and be
    /// freed in place.
    #[inline(always)]
    pub(crate) fn is_last_low(&self, block: NonNull<u8>, size: usize) -> bool {
        block.addr().get() + size == self.low.get().addr().get()
    }

    /// Whether a low-end block of at least one byte, from any scope, is the last one of this
    /// cursor's region, so that it can grow and shrink in place (I5).
    #[inline(always)]
    pub(crate) fn is_last_in_region(&self, block: NonNull<u8>, size: usize) -> bool {
        self.is_last_low(block, size) && self.chunk().region().low() <= block
    }

    /// The number of bytes by which the last low-end block can grow in place.
    pub(crate) fn largest_growth(&self) -> usize {
        // The block must end below `top` (I5).
        self.free().saturating_sub(1)
    }

    /// The largest size of a new low-end block with this alignment.
    pub(crate) fn largest_low(&self, align: usize) -> usize {
        let padding = self.low.get().addr().get().wrapping_neg() & (align - 1);
        self.largest_growth().saturating_sub(padding)
    }

    /// Grows a low-end block in place by `additional` bytes, if the region has room.
    ///
    /// # Safety
    ///
    /// The block ends at the low end of this cursor. It came from there, or it is the caller's and
    /// [the last of the region](Cursor::is_last_in_region).
    #[inline(always)]
    pub(crate) unsafe fn lengthen_low(
        &self,
        block: NonNull<u8>,
        additional: usize,
    ) -> Option<NonNull<u8>> {
        // The block must end below `top` (I5).
        if additional >= self.free() {
            return None;
        }
        let low = self.low.get();
        debug_assert!(block <= low, "the block ends at `low`");
        self.low.set(at(low, low.addr().get() + additional));
        self.track(low, additional, End::Low);
        // Derived from the cursor, because a block of 0 bytes may have no provenance.
        Some(at(low, block.addr().get()))
    }

    /// Gives back the end of a low-end block, if it is the last one; otherwise does nothing.
    ///
    /// # Safety
    ///
    /// `old_size` is the size of `block` and not less than `new_size`. The block came from the low
    /// end of this cursor, or it is the caller's and [the last of the
    /// region](Cursor::is_last_in_region), or both sizes are 0. The bytes given back are not used
    /// again.
    #[inline]
    pub(crate) unsafe fn shrink_low(&self, block: NonNull<u8>, old_size: usize, new_size: usize) {
        if self.is_last_low(block, old_size) {
            // SAFETY: the block is the last one. The caller says that its sizes are right, that it
            // may be given back, and that the bytes are not used again.
            unsafe { self.shrink_last_low(block, old_size, new_size) };
        }
    }

    /// Like [`shrink_low`](Cursor::shrink_low), for a block that is known to be the last one.
    ///
    /// # Safety
    ///
    /// The contract of [`shrink_low`](Cursor::shrink_low), and
    /// [`is_last_low`](Cursor::is_last_low) is true.
    #[inline(always)]
    pub(crate) unsafe fn shrink_last_low(
        &self,
        block: NonNull<u8>,
        old_size: usize,
        new_size: usize,
    ) {
        debug_assert!(new_size <= old_size && self.is_last_low(block, old_size), "it is the last");
        let end = at(self.low.get(), block.addr().get() + new_size);
        self.low.set(end);
        // SAFETY: the end of a block in the region of `low`, which the caller gives up.
        unsafe { poison::take_back(end, old_size - new_size) };
    }

    /// The start of the free part of the region, aligned, and its size. `None` if the aligned start
    /// would lie beyond it.
    #[inline]
    pub(crate) fn free_part(&self, align: usize) -> Option<(NonNull<u8>, usize)> {
        let (top, low) = (self.top.get(), self.low.get());
        let start = arith::up(top, low.addr().get(), 0, align)?;
        if poison::TRACKS {
            self.track_block(at(low, start), top - start, End::Low);
        }
        Some((at(low, start), top - start))
    }

    /// The cursor of a builder that borrows this cursor's scope exclusively and builds in `chunk`.
    ///
    /// # Safety
    ///
    /// `chunk` is this cursor's, or the one that [`advance_builder`](Cursor::advance_builder) moved
    /// the builder's cursor to last. Of the two cursors only one is used at a time (I4).
    pub(crate) unsafe fn builder_in(&self, chunk: NonNull<Header>) -> Cursor {
        let position = self.position();
        if chunk == self.chunk.get() {
            return Cursor {
                top: Cell::new(position.top),
                chunk: Cell::new(chunk),
                low: Cell::new(position.low),
            };
        }
        // SAFETY: L1: a chunk behind this cursor's, in the list of the arena that is borrowed (I0).
        let chunk = unsafe { ChunkRef::new(chunk) };
        debug_assert!(self.chunk().chunk().onwards().any(|behind| behind == chunk), "I1");
        // SAFETY: L4: it was attached when the builder entered it, in the same loan.
        let chunk = unsafe { CurrentChunk::new(chunk) };
        Cursor {
            top: Cell::new(chunk.top().addr().get()),
            chunk: Cell::new(chunk.as_ptr()),
            low: Cell::new(chunk.low()),
        }
    }

    /// Moves a builder's cursor to a chunk further behind, whose region is free as a whole and has
    /// room for `layout` at the low end. This cursor, that of the scope, does not move. If the
    /// backing refuses or panics, the builder's cursor does not move, either.
    ///
    /// # Safety
    ///
    /// [`builder_in`](Cursor::builder_in) returned `builder` for this cursor.
    pub(crate) unsafe fn advance_builder<F: Failure>(
        &self,
        builder: &Cursor,
        layout: Layout,
    ) -> Result<(), F> {
        // While the slow path runs, nothing must be free in the scope either.
        let _restore = RestoreTop { cursor: self, top: self.top.get() };
        self.top.set(self.low.get().addr().get());
        let block = builder.refill::<F>(layout, End::Low)?;
        builder.low.set(block);
        Cursor::check(builder.position());
        Ok(())
    }

    /// Moves to the position of a builder's or a child's cursor, and so keeps everything that was
    /// allocated there.
    ///
    /// # Safety
    ///
    /// [`builder_in`](Cursor::builder_in) returned `other` for this cursor, or `other` is a fork of
    /// this cursor, which was not used since. `other` is not used again.
    #[inline]
    pub(crate) unsafe fn move_to(&self, other: &Cursor) {
        debug_assert!(self.is_in_list_of(other), "both are in one list");
        Cursor::check(other.position());
        self.set(other.position());
    }

    /// Puts a chunk with room for `bytes` bytes, at most `isize::MAX`, directly behind this cursor's.
    ///
    /// # Errors
    ///
    /// If no chunk has room and the backing refuses one, or if the request comes from the backing itself.
    #[inline]
    pub(crate) fn reserve_behind(&self, bytes: usize) -> Result<(), AllocError> {
        if self.control().settings().is_busy() {
            return Err(AllocError);
        }
        let room = Room { size: bytes, align: 1, end: End::High };
        let found = chunk::link_next_chunk(self.chunk(), &room)?;
        debug_assert!(self.chunk().chunk().next() == Some(found), "it is the next chunk");
        Ok(())
    }

    /// Whether `other` is in the same list as this cursor.
    pub(crate) fn is_in_list_of(&self, other: &Cursor) -> bool {
        self.chunk().list_start() == other.chunk().list_start()
    }

    /// Keeps one block of a child, and returns its new address. If the block lies in this cursor's
    /// free bytes or in the region that the child is in, it moves to the high end of that region,
    /// and everything else that the child allocated there is free again. If it lies in another
    /// chunk that the child entered, or begins before this cursor's free bytes and ends in them,
    /// everything that the child allocated is kept in place. A block that the child did not
    /// allocate stays where it is, and nothing of the child's is kept.
    ///
    /// # Safety
    ///
    /// `child` is a fork of this cursor, which was not used since, and is not used again. `block`
    /// has this layout and is alive. Nothing else that the child allocated is used again.
    #[inline]
    pub(crate) unsafe fn keep(
        &self,
        child: &Cursor,
        block: NonNull<u8>,
        layout: Layout,
    ) -> NonNull<u8> {
        let (start, size) = (block.addr().get(), layout.size());
        debug_assert!(self.is_in_list_of(child), "I4: the child's list is this one");
        if size == 0 {
            return block;
        }
        let own = self.position();
        let entered = child.chunk().region();
        let free = [
            Some(own),
            // If the child entered this chunk, everything in it was allocated by the child.
            (entered != own.chunk.region()).then(|| Position {
                top: entered.top().addr().get(),
                chunk: child.chunk(),
                low: entered.low(),
            }),
        ];
        let lies_in = |position: &Position<'_>| {
            position.low.addr().get() <= start && start + size <= position.top
        };
        let Some(position) = free.into_iter().flatten().find(lies_in) else {
            // A vector of this scope that was moved to the child grew there, or shrank, so that the
            // next block of the child begins below `low`.
            let straddles = start < own.low.addr().get() && own.low.addr().get() < start + size;
            if straddles || child.has_entered_since(own.chunk.chunk(), start) {
                self.set(child.position());
            }
            return block;
        };
        // It fits, because it lies there.
        let top = arith::down(position.top, position.low.addr().get(), size, layout.align());
        let Some(top) = top else {
            self.set(child.position());
            return block;
        };
        self.set(Position { top, ..position });
        let kept = at(position.low, top);
        self.track(kept, size, End::High);
        // SAFETY: the block is alive, and `kept` lies in the same region, in bytes that this cursor
        // or the child had free before (I2). The two may overlap.
        unsafe { kept.copy_from(block, size) };
        self.poison_free();
        Cursor::check(self.position());
        kept
    }

    /// Moves `low` behind a block that was built in the bytes that [`free_part`](Cursor::free_part)
    /// returned.
    ///
    /// # Safety
    ///
    /// The block begins there and ends at `top` at the latest, and nothing was allocated since.
    #[inline]
    pub(crate) unsafe fn publish_low(&self, block: NonNull<u8>, size: usize) {
        let end = block.addr().get() + size;
        debug_assert!(end <= self.top.get(), "I2");
        self.low.set(at(self.low.get(), end));
        if poison::TRACKS {
            self.control().settings().note_high_water(self.used());
        }
    }

    /// Serves a request that the region in use has no room for.
    #[inline(always)]
    fn refill<F: Failure>(&self, layout: Layout, end: End) -> Result<NonNull<u8>, F> {
        // SAFETY: there is nothing to copy.
        unsafe { self.refill_with(layout, end, None) }
    }

    /// Like [`Cursor::refill`], and copies the bytes at `source` into the block.
    ///
    /// # Safety
    ///
    /// `source` is valid for reads of `layout.size()` bytes until this returns.
    #[inline(always)]
    unsafe fn refill_with<F: Failure>(
        &self,
        layout: Layout,
        end: End,
        source: Option<NonNull<u8>>,
    ) -> Result<NonNull<u8>, F> {
        debug_assert!(!self.is_withdrawn(), "I0: the cursor is in use");
        // Forces a reload of the words, so that the fast path need not keep them in registers.
        black_box(());
        let chunk = self.chunk();
        // Keeps the compiler from copying two neighbouring words at once. They were often written just
        // before, one by one, and such a copy waits until both have reached the cache.
        black_box(());
        let position = Position { top: self.top.get(), chunk, low: self.low.get() };
        let align = layout.align();
        let size = layout.size();
        #[allow(clippy::cast_possible_truncation, reason = "below the number of bits of a word")]
        let align_exponent = align.trailing_zeros() as u8;
        let mut request = Request { position, data: source, size, align_exponent, end };
        // While the slow path runs, nothing is free. So a backing that allocates from this very
        // scope, perhaps through the global allocator, gets an error instead of memory that the
        // words stored below would free again. If the backing panics, nothing is free afterwards:
        // a guard that restores the words would make the fast path longer.
        self.top.set(position.low.addr().get());
        if F::DIVERGES && ABORTS {
            // SAFETY: the caller says that `source` is valid for that many bytes.
            unsafe { alloc_slow(&mut request) };
        } else {
            // SAFETY: the caller says that `source` is valid for that many bytes.
            unsafe { try_alloc_slow(&mut request) };
        }
        let (top, block) = (request.position.top, request.data);
        self.top.set(top);
        self.low.set(request.position.low);
        // As above.
        black_box(());
        self.chunk.set(request.position.chunk.as_ptr());
        // Keeps the compiler from moving the stores above into the code that both branches share,
        // where the fast path would wait for them.
        black_box(());
        if !(F::DIVERGES && ABORTS) && block.is_none() {
            if F::DIVERGES {
                out_of_memory(size, align);
            }
            return Err(F::refused());
        }
        // SAFETY: `alloc_in_next_chunk` rounded `top` down to this.
        unsafe { assert_unchecked(top & (align.min(CHUNK_ALIGN) - 1) == 0) };
        // SAFETY: `alloc_slow` returns only with a block, and the result of `try_alloc_slow` was
        // tested above.
        let block = unsafe { block.unwrap_unchecked() };
        self.track(block, size, end);
        Ok(block)
    }

    /// Records for poisoning that a block was handed out.
    #[inline(always)]
    fn track(&self, block: NonNull<u8>, size: usize, end: End) {
        if poison::TRACKS {
            self.track_block(block, size, end);
        }
    }

    fn track_block(&self, block: NonNull<u8>, size: usize, end: End) {
        if size == 0 {
            return;
        }
        let mut chunk = self.chunk().chunk();
        let start = block.addr().get();
        // Both ends: a caller's buffer may begin where the chunk's region ends.
        if !(chunk.contains(start) && chunk.contains(start + size)) {
            chunk = self.chunk().region();
        }
        chunk.track(block, size, end == End::High);
        self.control().settings().note_high_water(self.used());
    }

    /// Poisons the free part of the region in use. Chunks behind it are poisoned when a cursor
    /// enters them.
    #[inline(always)]
    fn poison_free(&self) {
        if !poison::TRACKS || self.free() == 0 {
            return;
        }
        let low = self.low.get();
        // SAFETY: I2, I3: `low..top` lies in this region and is free.
        unsafe { self.chunk().region().poison(low, at(low, self.top.get())) };
    }

    /// The bytes in use up to this cursor, including padding. Does not count the bytes that were
    /// free at the end of a chunk when a cursor moved to the next one.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.chunks().map(|chunk| chunk.used()).sum()
    }

    /// All chunks of the list, with the bytes that are free in each from the view of this cursor.
    #[inline]
    pub(crate) fn chunks(&self) -> impl Iterator<Item = ChunkUse<'_>> {
        let current = (!self.is_nowhere()).then(|| self.chunk());
        let pin = current.map(|current| Pin::new(current.control()));
        let mut is_behind = false;
        current.into_iter().flat_map(|current| current.list_start().onwards()).map(move |chunk| {
            let _ = &pin;
            let free = if is_behind {
                chunk.region_bytes()
            } else if chunk == self.chunk().region() {
                self.position().free()
            } else {
                chunk.free_when_left()
            };
            is_behind |= chunk == self.chunk().chunk();
            ChunkUse { header: chunk.header(), free }
        })
    }

    /// The free part of the region in use, and the regions of the chunks behind.
    #[inline]
    pub(crate) fn free_ranges(&self) -> impl Iterator<Item = NonNull<[u8]>> + '_ {
        let pin = Pin::new(self.control());
        let behind = self.chunk().chunk().onwards().skip(1).map(move |chunk| {
            let _ = &pin;
            chunk.region_bytes()
        });
        core::iter::once(self.position().free()).chain(behind)
    }

    /// Whether these words can be a mark of this cursor: their chunk, which `is_marked` recognises,
    /// is in the list and not behind the cursor, and the cursor was not rewound to an earlier
    /// position since. Costs a visit of each chunk up to the cursor's.
    #[inline]
    pub(crate) fn can_rewind_to(
        &self,
        top: usize,
        low: NonNull<u8>,
        is_marked: &dyn Fn(ChunkRef<'_>) -> bool,
    ) -> bool {
        let current = self.chunk();
        for chunk in current.list_start().onwards() {
            if is_marked(chunk) {
                // SAFETY: a chunk of the list of this arena.
                let region = unsafe { current.control().region(chunk) };
                let low = low.addr().get();
                // An empty range may lie elsewhere.
                let is_there =
                    low == top || low < top && region.contains(low) && region.contains(top);
                return is_there && (chunk != current.chunk() || self.top.get() <= top);
            }
            if chunk == current.chunk() {
                return false;
            }
        }
        false
    }

    /// Whether `address` lies in memory that this cursor or one that it was copied from has taken.
    /// What it left free in earlier chunks counts as taken. Visits each chunk up to the cursor's,
    /// unless `address` lies in that one.
    #[inline]
    pub(crate) fn has_taken(&self, address: usize) -> bool {
        let is_free = (self.low.get().addr().get()..self.top.get()).contains(&address);
        !is_free && self.has_entered(address)
    }

    /// Like [`has_taken`](Cursor::has_taken), for the address of a block of the high end. If the
    /// cursor is a mark, low-end blocks from before it may have been freed since, and high-end
    /// blocks may lie below `low`. Those from before the mark begin at `top` or above.
    #[inline]
    pub(crate) fn has_taken_high(&self, block: usize) -> bool {
        let region = self.chunk().region();
        if region.contains(block) && block != region.top().addr().get() {
            return block >= self.top.get();
        }
        self.has_entered(block)
    }

    /// Whether `address` lies in the region of the cursor's chunk, or of one before it.
    #[inline]
    fn has_entered(&self, address: usize) -> bool {
        let current = self.chunk().chunk();
        let is_in =
            |chunk: ChunkRef<'_>| chunk.contains(address) && address != chunk.top().addr().get();
        let mut earlier = self.chunk().list_start().onwards().take_while(|&chunk| chunk != current);
        is_in(current) || earlier.any(is_in)
    }

    /// Whether `address` lies in the region of a chunk that this cursor entered after `first`, which
    /// is in its list and not behind it. Visits these chunks.
    fn has_entered_since(&self, first: ChunkRef<'_>, address: usize) -> bool {
        let last = self.chunk().chunk();
        let mut current = first;
        while current != last {
            let Some(next) = current.next() else {
                debug_assert!(false, "I1: `first` is not behind the cursor");
                return false;
            };
            if next.contains(address) {
                return true;
            }
            current = next;
        }
        false
    }

    /// Asserts I2, I3 and the observable part of I1, in debug builds.
    fn check(position: Position<'_>) {
        if !cfg!(debug_assertions) {
            return;
        }
        let region = position.chunk.region();
        debug_assert!(position.low.addr().get() <= position.top, "I2");
        debug_assert!(position.low.addr().get() >= arith::LOWEST_ADDRESS, "I2");
        // An empty range may lie at `LOWEST_ADDRESS`.
        let empty = position.low.addr().get() == position.top;
        debug_assert!(empty || region.contains(position.low.addr().get()), "I3");
        debug_assert!(empty || region.contains(position.top), "I3");
        let mut list = position.chunk.list_start().onwards();
        let mut passed_region = false;
        let is_in_list = list.any(|chunk| {
            passed_region |= chunk == region;
            chunk == position.chunk.chunk()
        });
        debug_assert!(is_in_list, "I1: the cursor's chunk is in the list");
        debug_assert!(passed_region, "I3: the region is the cursor's or an earlier one");
    }
}

/// Restores the `top` of a cursor when dropped, even after a panic.
struct RestoreTop<'c> {
    cursor: &'c Cursor,
    top: usize,
}

impl Drop for RestoreTop<'_> {
    fn drop(&mut self) {
        self.cursor.top.set(self.top);
    }
}

/// The slow path of the infallible methods. Diverges if there is no memory, so that its caller need
/// not test the result.
///
/// # Safety
///
/// `request.data`, if any, is valid for reads of `request.size` bytes.
#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn alloc_slow(request: &mut Request<'_>) {
    let alloc: unsafe fn(&mut Request<'_>) = alloc_in_next_chunk;
    // SAFETY: the caller says that `request.data` is valid for that many bytes.
    unsafe { alloc(request) };
    if request.data.is_none() {
        out_of_memory(request.size, request.align());
    }
}

/// The slow path of the `try_` methods. Returns no block if there is no memory.
///
/// # Safety
///
/// `request.data`, if any, is valid for reads of `request.size` bytes.
#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn try_alloc_slow(request: &mut Request<'_>) {
    let alloc: unsafe fn(&mut Request<'_>) = alloc_in_next_chunk;
    // SAFETY: the caller says that `request.data` is valid for that many bytes.
    unsafe { alloc(request) };
}

/// Moves a nearly full parent to the next chunk, if that has room. Returns the `top` and the `low`
/// of a fork.
#[cold]
#[inline(never)]
fn leave_full_chunk(position: &mut Position<'_>) -> (usize, NonNull<u8>) {
    let free_here = position.free();
    debug_assert!(free_here.len() < MIN_CHILD_ROOM, "it is nearly full");
    let next = position.chunk.chunk().next();
    if let Some(next) = next.filter(|next| next.capacity() >= 2 * MIN_CHILD_ROOM) {
        let enter: fn(_, _, _, _, _) -> _ = CurrentChunk::enter;
        let chunk = enter(position.chunk, next, free_here, next.region_bytes(), false);
        // SAFETY: I1: a chunk behind the cursor's holds no live byte.
        unsafe { chunk.poison(chunk.low(), chunk.top()) };
        *position = Position { top: chunk.top().addr().get(), chunk, low: chunk.low() };
        Cursor::check(*position);
    }
    position.aligned(CHUNK_ALIGN)
}

/// Whether [`out_of_memory`] ends the process. If it may panic instead, the scope's words must be
/// restored first. So the slow path then returns before the panic, which makes the fast path a few
/// instructions longer.
const ABORTS: bool = cfg!(feature = "std");

/// Reports that an infallible method has no memory, like other allocations of the program.
#[cold]
pub(crate) fn out_of_memory(size: usize, align: usize) -> ! {
    #[cfg(feature = "alloc")]
    if let Ok(layout) = Layout::from_size_align(size, align) {
        alloc::alloc::handle_alloc_error(layout);
    }
    panic!("out of memory: an arena could not serve {size} bytes at alignment {align}")
}

/// Finds or allocates a chunk with room for the block, and takes the block there.
///
/// The new top is rounded down to `align`, because the next block is likely to need the same
/// alignment. It is rounded to at most [`CHUNK_ALIGN`], so that a block in a chunk of its own does
/// not waste bytes of the region that the cursor stays in.
///
/// # Safety
///
/// `request.data`, if any, is valid for reads of `request.size` bytes.
unsafe fn alloc_in_next_chunk(request: &mut Request<'_>) {
    let &mut Request { position, size, end, .. } = request;
    let align = request.align();
    let source = request.data.take();
    let served = if size == 0 {
        Some((dangling(align), position))
    } else {
        place_in_next_chunk(position, size, align, end)
    };
    let Some((block, position)) = served else {
        return;
    };
    let (top, low) = position.aligned(align.min(CHUNK_ALIGN));
    request.position = Position { top, low, ..position };
    request.data = Some(block);
    if let Some(source) = source {
        // `track` comes too late for the sanitizer: the block is written here.
        poison::lift(block, size);
        // SAFETY: the caller says that `request.data`, now `source`, is valid for `size` bytes. The
        // block has as many and was free (I1, I2), so the two do not overlap.
        unsafe { block.copy_from_nonoverlapping(source, size) };
    }
    Cursor::check(request.position);
}

/// Serves a block of at least one byte. `None` if there is no memory.
///
/// The cursor moves to the new chunk if that leaves more free memory than the current region has.
/// Otherwise the chunk serves only this request, so that an oversize request does not waste the
/// rest of the current region. A low-end block always moves the cursor, because it is likely to
/// grow.
fn place_in_next_chunk(
    position: Position<'_>,
    size: usize,
    align: usize,
    end: End,
) -> Option<(NonNull<u8>, Position<'_>)> {
    if position.chunk.control().settings().is_busy() {
        return None;
    }
    debug_assert!(size > 0 && align.is_power_of_two(), "a layout with a size");
    let room = Room { size, align, end };
    let found = chunk::link_next_chunk(position.chunk, &room).ok()?;
    let start = room.start_in(&found)?;
    // SAFETY: I1: the chunk is new, or was behind the cursor's or spare, and holds no live byte.
    unsafe { found.poison(found.low(), found.top()) };
    let block = at(found.low(), start);
    let (low, top) = match end {
        End::High => (found.low(), start),
        End::Low => (at(block, start + size), found.top().addr().get()),
    };
    debug_assert!(low.addr().get() <= top, "I2");
    debug_assert!(end == End::High || low.addr().get() < top, "I5");
    let free_here = position.free();
    let free_there = NonNull::slice_from_raw_parts(low, top - low.addr().get());
    let oversize = end == End::High && free_there.len() < free_here.len();
    let chunk = position.chunk.enter(found, free_here, free_there, oversize);
    let position =
        if oversize { Position { chunk, ..position } } else { Position { top, chunk, low } };
    Some((block, position))
}
