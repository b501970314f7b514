//! The cursor: the bump state of a scope, its two fast paths, and the cold code behind them.
//!
//! # The idea
//!
//! A cursor is three words: `top`, `chunk`, `low`. The bytes between `low` and `top` are free. Blocks
//! whose size is known are taken off the high end, blocks that may grow off the low end. Opening a
//! scope copies the three words; closing it does nothing, for nothing moved the parent's words meanwhile.
//! (A parent with hardly anything left moves on to the chunk behind first, before the copy.)
//!
//! # Who calls whom
//!
//! ```text
//! fork, fork_of, fork_again          a child's words
//! fork_with_room                     the same; a parent that is all but full: move_on
//! place, reserve_type, reserve       high end; sized values, slices, strings
//!   ├─ the block fits ─► top = start                                        the fast path
//!   └─ it does not ────► refill ─► grow / try_grow ─► slow ─► chunk::chunk_behind ─► the backing
//! reserve_low, grow_low            low end; whatever grows
//!   ├─ the block fits ─► low = end                                          the fast path
//!   └─ it does not ────► refill ─► …
//! ```
//!
//! # Invariants
//!
//! For every cursor of a list of chunks that can be used at a time:
//!
//! - **I1** In list order, every chunk after `chunk` holds no live byte.
//! - **I2** `low <= top`, and `low..top` is free and lies in one region.
//! - **I3** That region is `chunk`'s or, where `chunk` serves an oversize request, the one of the chunk
//!   that its header names as the anchor ([`chunk::region_of`]).
//! - **I4** At most one cursor of a list is usable at a time: a child borrows its parent's.
//! - **I5** Every region but a caller's buffer has its header below its first byte, in the same block, so
//!   that the end of a low-end block equals `low` only where the two lie in the same region.
//!
//! [`Cursor::check`] asserts what a program can see of them, after every slow operation of a debug build.
//!
//! # Why the cold branch looks as it does
//!
//! The cursor of a local scope lives in registers as long as its address is never taken, so
//! [`grow`] works on a copy of the words. Behind a reference, the cold branch must not lengthen the fast
//! one: it reads the words again instead of keeping them in registers, which a `black_box` of nothing asks
//! for, and it stores the value by itself. (A compiler fence asks for the same, and for any value that
//! waits to be stored to lie in memory.) Then a `u64` through `&Scope` is eight instructions on
//! x86-64, which a test pins:
//!
//! ```text
//! mov rax, [rdi]        ; top
//! and rax, -8
//! add rax, -8
//! cmp rax, [rdi + 16]   ; low
//! jb  cold
//! mov [rdi], rax
//! mov [rax], rsi
//! ret
//! ```

use crate::{
    arith::{self, CHUNK_ALIGN},
    chunk::{self, Control, HOME, Header},
    error::Failure,
    poison, prefetch,
};
use core::{alloc::Layout, cell::Cell, hint::black_box, mem::ManuallyDrop, ptr::NonNull};

/// The bump state.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Cursor {
    /// An address: the provenance of a block is `low`'s, for both lie in one region (I2). As a number
    /// the compiler can follow it through a loop and leave out a rounding that changes nothing.
    top: Cell<usize>,
    // Between the two bump pointers on purpose: on aarch64 adjacent ones are loaded by one paired
    // instruction, which waits for the store of the single one before it.
    chunk: Cell<NonNull<Header>>,
    low: Cell<NonNull<u8>>,
}

/// A cursor's words, by value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) top: usize,
    chunk: NonNull<Header>,
    pub(crate) low: NonNull<u8>,
}

/// A chunk, and the bytes free in it as seen from some cursor.
pub(crate) struct ChunkUse<'c> {
    pub(crate) header: &'c Header,
    pub(crate) free: usize,
}

impl Words {
    /// `top` rounded down, and `low`; where that leaves nothing free, an empty range (I2).
    #[inline(always)]
    fn aligned(self, align: usize) -> (usize, NonNull<u8>) {
        let top = self.top & !(align - 1);
        let low = if top < self.low.addr().get() { lowered(self.low, top) } else { self.low };
        (top, low)
    }
}

/// `low` brought down to `top`. A call, so that the compiler keeps a branch that is never taken instead
/// of a conditional move that always waits.
#[cold]
#[inline(never)]
fn lowered(low: NonNull<u8>, top: usize) -> NonNull<u8> {
    at(low, top)
}

/// What the slow path is asked for and, in `words` and `block`, what it answers: the cursor's new words
/// and a block, or null where there is no memory.
///
/// Passed by one pointer, not word by word. Of a `low` or a `chunk` that a loop carries the compiler
/// cannot tell that it is no pointer to the value that waits for its block; handed over as arguments, they
/// would have it write that value to the stack on every turn, in case the slow path looked.
#[derive(Debug)]
struct Request {
    words: Words,
    block: *mut u8,
    size: usize,
    align: usize,
    end: End,
}

/// The end of a region that a block is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum End {
    /// From `top` downwards: blocks that keep their size.
    High,
    /// From `low` upwards: blocks that may grow.
    Low,
}

/// `address` with the provenance of `base`.
#[inline(always)]
fn at(base: NonNull<u8>, address: usize) -> NonNull<u8> {
    // SAFETY: every address computed here is at least `LOWEST_ADDRESS`: it lies in `low..=top` of a region
    // (I2), or is the one address of an empty range just below, which `Words::aligned` rounds to a multiple
    // of 16, as `LOWEST_ADDRESS` is.
    unsafe { NonNull::new_unchecked(base.as_ptr().with_addr(address)) }
}

/// A well-aligned pointer to no bytes at all.
#[inline(always)]
fn dangling(align: usize) -> NonNull<u8> {
    let address = core::ptr::without_provenance_mut(align);
    // SAFETY: an alignment is at least 1.
    unsafe { NonNull::new_unchecked(address) }
}

/// What [`Cursor::fork_with_room`] rather leaves unused than begin a child in it, in bytes: less than this.
const HARDLY_ANYTHING: usize = 64;

const _: () = assert!(HARDLY_ANYTHING <= arith::LOWEST_ADDRESS - CHUNK_ALIGN);

/// Where the top of a header without a region is, and the low end.
const NOWHERE: usize = 1;

/// Opens a cursor over the whole region of `chunk`, the first of its list.
pub(crate) fn cursor_at(chunk: NonNull<Header>) -> Cursor {
    // SAFETY: callers pass a chunk of a live list.
    let header = unsafe { chunk.as_ref() };
    header.make_ordinary();
    Cursor {
        top: Cell::new(header.top().addr().get()),
        chunk: Cell::new(chunk),
        low: Cell::new(header.low()),
    }
}

impl Cursor {
    /// A cursor at a header without a region. It must not be allocated from.
    pub(crate) const fn nowhere() -> Self {
        Cursor {
            top: Cell::new(NOWHERE),
            chunk: Cell::new(HOME),
            low: Cell::new(NonNull::dangling()),
        }
    }

    #[inline(always)]
    pub(crate) fn is_nowhere(&self) -> bool {
        self.top.get() == NOWHERE
    }

    /// Moves to the start of `home`, the arena's, and returns the words. Nothing allocated in the arena is used again.
    #[inline(always)]
    pub(crate) fn start_at(&self, home: NonNull<Header>) -> Words {
        // SAFETY: callers pass the address of a live arena's.
        let header = unsafe { home.as_ref() };
        let words = Words { top: header.top().addr().get(), chunk: home, low: header.low() };
        self.set(words);
        if !self.is_nowhere() {
            self.poison_free();
        }
        words
    }

    /// Says where its chunk, home, is now.
    #[inline(always)]
    pub(crate) fn follow(&self, home: NonNull<Header>) {
        self.chunk.set(home);
    }

    /// The cursor of a scope that opens here. The borrow checker freezes this one until it ends (I4).
    ///
    /// Its top begins at a multiple of [`CHUNK_ALIGN`]: the compiler then knows that a run of
    /// allocations of one type needs no rounding.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn fork(&self) -> Cursor {
        self.poison_free();
        let (top, low) = self.words().aligned(CHUNK_ALIGN);
        Cursor { top: Cell::new(top), chunk: Cell::new(self.chunk.get()), low: Cell::new(low) }
    }

    /// As [`Cursor::fork`].
    ///
    /// # Safety
    ///
    /// This is a fork, and nothing was allocated in it.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) unsafe fn fork_again(&self) -> Cursor {
        // SAFETY: a fork's top is rounded, and not below its `low` (I2).
        unsafe { Cursor::fork_of(self.top.get(), self.chunk.get(), self.low.get()) }
    }

    /// As [`Cursor::fork`], for a cursor that may be forked again and again: where hardly anything is free
    /// in its region, it first moves on to the chunk behind, if there is one. Else every child of a loop
    /// would move there anew.
    #[inline(always)]
    pub(crate) fn fork_with_room(&self) -> Cursor {
        self.poison_free();
        let mut low = self.low.get();
        // No region begins below `LOWEST_ADDRESS`, so this does not wrap.
        if self.top.get().wrapping_sub(HARDLY_ANYTHING) < low.addr().get() {
            let mut words = self.words();
            low = move_on(&mut words);
            self.set(words);
        }
        // Here, where both ways have met: the compiler remembers it no further.
        let top = self.top.get() & !(CHUNK_ALIGN - 1);
        Cursor { top: Cell::new(top), chunk: Cell::new(self.chunk.get()), low: Cell::new(low) }
    }

    /// The top of a fork, and its `low`.
    #[inline(always)]
    pub(crate) fn rounded(&self) -> (usize, NonNull<u8>) {
        self.words().aligned(CHUNK_ALIGN)
    }

    /// The fork of a cursor in `chunk` whose ends are these.
    ///
    /// # Safety
    ///
    /// [`Cursor::rounded`] returned them for a cursor in that chunk, which is where it was then.
    #[inline(always)]
    pub(crate) unsafe fn fork_of(top: usize, chunk: NonNull<Header>, low: NonNull<u8>) -> Cursor {
        let child = Cursor { top: Cell::new(top), chunk: Cell::new(chunk), low: Cell::new(low) };
        // SAFETY: the caller's promise: `top` was rounded to this.
        unsafe { child.promise_top(CHUNK_ALIGN) };
        // SAFETY: and it is not below `low` (I2).
        unsafe { core::hint::assert_unchecked(top >= low.addr().get()) };
        child.poison_free();
        child
    }

    #[inline(always)]
    pub(crate) fn words(&self) -> Words {
        Words { top: self.top.get(), chunk: self.chunk.get(), low: self.low.get() }
    }

    /// Goes back to earlier words.
    ///
    /// # Safety
    ///
    /// They were this cursor's, or its parent's when it was opened, and nothing allocated since is used
    /// again.
    #[inline(always)]
    pub(crate) unsafe fn restore(&self, words: Words) {
        self.set(words);
        self.poison_free();
    }

    /// The words to come back to with [`Cursor::come_back`], wherever the arena is then.
    pub(crate) fn mark(&self) -> Words {
        Words { chunk: chunk::name_of(self.chunk.get()), ..self.words() }
    }

    /// Goes back to where the cursor was marked.
    ///
    /// # Safety
    ///
    /// As [`Cursor::restore`].
    pub(crate) unsafe fn come_back(&self, mark: Words) {
        let control = self.control_address();
        let words = Words { chunk: chunk::named(mark.chunk, control), ..mark };
        debug_assert!(
            self.came_from(words),
            "the checkpoint is not one of this scope, or a later one was rewound after it"
        );
        if mark.chunk != HOME {
            // The arena may have moved since this chunk was current.
            chunk::attach(words.chunk, control);
        }
        // SAFETY: the caller's promise.
        unsafe { self.restore(words) };
    }

    #[inline(always)]
    fn set(&self, words: Words) {
        self.top.set(words.top);
        self.chunk.set(words.chunk);
        self.low.set(words.low);
    }

    #[inline(always)]
    pub(crate) fn chunk(&self) -> NonNull<Header> {
        self.chunk.get()
    }

    /// The free bytes of the region in use.
    pub(crate) fn free(&self) -> usize {
        self.top.get() - self.low.get().addr().get()
    }

    /// The control block of the arena.
    pub(crate) fn control(&self) -> &Control {
        // SAFETY: the arena was there when the scope opened, and cannot move or end before it (I4).
        unsafe { self.control_address().as_ref() }
    }

    /// Where the control block is; unlike a reference to it, good for the backing beside it too.
    fn control_address(&self) -> NonNull<Control> {
        chunk::control_of(self.chunk.get())
    }

    /// Takes a block for a `T` off the high end if there is room.
    #[inline(always)]
    fn take<T>(&self) -> Option<NonNull<T>> {
        let (top, low) = (self.top.get(), self.low.get());
        let (size, align) = (size_of::<T>(), align_of::<T>());
        // Decided when the program is compiled.
        let start = if size <= arith::SMALL && align <= arith::SMALL {
            arith::down_small(top, low.addr().get(), size, align)?
        } else {
            arith::down(top, low.addr().get(), size, align)?
        };
        self.top.set(start);
        let block = at(low, start);
        self.track(block, size, End::High);
        prefetch::below_value::<T>(block, start - low.addr().get());
        Some(block.cast())
    }

    /// Puts `value` into a block of its own. On failure it is dropped.
    #[inline(always)]
    pub(crate) fn place<T, F: Failure>(&self, value: T) -> Result<NonNull<T>, F> {
        if size_of::<T>() == 0 {
            core::mem::forget(value);
            return Ok(NonNull::dangling());
        }
        // A panic in the backing then leaks the value and leaves the call nothing to drop.
        let value = ManuallyDrop::new(value);
        let block = match self.take::<T>() {
            Some(block) => {
                // SAFETY: the block is free, aligned for a `T` and large enough (I2).
                unsafe { block.cast().write(value) };
                block
            }
            // The store is written twice so that the fast path ends without joining this one.
            None => match self.refill::<F>(Layout::new::<T>(), End::High) {
                Ok(block) => {
                    // SAFETY: as above.
                    unsafe { block.cast().write(value) };
                    block.cast()
                }
                Err(failure) => {
                    drop(ManuallyDrop::into_inner(value));
                    return Err(failure);
                }
            },
        };
        self.promise_aligned::<T>();
        Ok(block)
    }

    /// Tells the compiler that `top` is aligned for a `T`, after one was allocated. In a loop over a
    /// local scope the rounding is then left out, and with it half of the time a turn takes.
    #[inline(always)]
    fn promise_aligned<T>(&self) {
        // SAFETY: `take` set `top` to the start of a `T`, or `slow` rounded it down to as much; no code of
        // the user's has run since.
        unsafe { self.promise_top(align_of::<T>().min(CHUNK_ALIGN)) };
    }

    /// # Safety
    ///
    /// `top` is a multiple of `align`.
    #[inline(always)]
    pub(crate) unsafe fn promise_top(&self, align: usize) {
        // SAFETY: the caller's promise.
        unsafe { core::hint::assert_unchecked(self.top.get() & (align - 1) == 0) };
    }

    /// A block for a `T`, uninitialised.
    #[inline(always)]
    pub(crate) fn reserve_type<T, F: Failure>(&self) -> Result<NonNull<T>, F> {
        if size_of::<T>() == 0 {
            return Ok(NonNull::dangling());
        }
        let block = match self.take::<T>() {
            Some(block) => block,
            None => self.refill::<F>(Layout::new::<T>(), End::High)?.cast(),
        };
        self.promise_aligned::<T>();
        Ok(block)
    }

    /// A block at the high end, uninitialised.
    #[inline(always)]
    pub(crate) fn reserve<F: Failure>(&self, layout: Layout) -> Result<NonNull<u8>, F> {
        let (top, low) = (self.top.get(), self.low.get());
        let (size, align) = (layout.size(), layout.align());
        match arith::down(top, low.addr().get(), size, align) {
            Some(start) => {
                self.top.set(start);
                let block = at(low, start);
                self.track(block, size, End::High);
                Ok(block)
            }
            None => self.refill(layout, End::High),
        }
    }

    /// A block at the low end, uninitialised: the one kind that [`Cursor::grow_low`] may grow in place.
    #[inline(always)]
    pub(crate) fn reserve_low<F: Failure>(&self, layout: Layout) -> Result<NonNull<u8>, F> {
        let (top, low) = (self.top.get(), self.low.get());
        let (size, align) = (layout.size(), layout.align());
        match arith::up(top, low.addr().get(), size, align) {
            Some(start) => {
                let block = at(low, start);
                self.low.set(at(low, start + size));
                self.track(block, size, End::Low);
                Ok(block)
            }
            None => self.refill(layout, End::Low),
        }
    }

    /// Whether a low-end block of `size` bytes is the last one there, so that it can grow, shrink and
    /// be freed in place.
    #[inline(always)]
    pub(crate) fn is_last_low(&self, block: NonNull<u8>, size: usize) -> bool {
        block.addr().get() + size == self.low.get().addr().get()
    }

    /// The size that a low-end block can have without moving: one of `layout` that was given out, or one
    /// yet to be taken where that has no bytes.
    pub(crate) fn room_low(&self, block: NonNull<u8>, layout: Layout) -> usize {
        if layout.size() == 0 {
            let padding = self.low.get().addr().get().wrapping_neg() & (layout.align() - 1);
            self.free().saturating_sub(padding)
        } else if self.is_last_low(block, layout.size()) {
            layout.size() + self.free()
        } else {
            0
        }
    }

    /// Makes a low-end block larger: in place where it is the last one and the region has room, else
    /// by a copy of its `old.size()` bytes into a new block. On failure the block stays as it is.
    ///
    /// # Safety
    ///
    /// `block` came from the low end of this very cursor with the layout `old` and is alive; `new` has
    /// the same alignment and is not smaller.
    #[inline]
    pub(crate) unsafe fn grow_low<F: Failure>(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<u8>, F> {
        let additional = new.size() - old.size();
        if self.is_last_low(block, old.size()) && additional <= self.free() {
            let low = self.low.get();
            self.low.set(at(low, low.addr().get() + additional));
            self.track(low, additional, End::Low);
            // Derived from the cursor: a block of no bytes may bring no provenance of its own.
            return Ok(at(low, block.addr().get()));
        }
        let moved = self.reserve_low::<F>(new)?;
        // SAFETY: the caller's block has `old.size()` bytes, the new one at least as many, and the new
        // one was free a moment ago, so they do not overlap.
        unsafe { moved.copy_from_nonoverlapping(block, old.size()) };
        Ok(moved)
    }

    /// Gives back the end of a low-end block, if it is the last one; otherwise does nothing.
    ///
    /// # Safety
    ///
    /// `block` came from the low end of this very cursor, has `old_size` bytes now, at least `new_size`,
    /// and the bytes given back are not used again.
    #[inline]
    pub(crate) unsafe fn shrink_low(&self, block: NonNull<u8>, old_size: usize, new_size: usize) {
        if self.is_last_low(block, old_size) {
            let end = at(self.low.get(), block.addr().get() + new_size);
            self.low.set(end);
            poison::take_back(end, old_size - new_size);
        }
    }

    /// What is free at the low end, aligned: the first address and the bytes from there to `top`. `None`
    /// where the alignment leaves nothing.
    #[inline]
    pub(crate) fn low_room(&self, align: usize) -> Option<(NonNull<u8>, usize)> {
        let (top, low) = (self.top.get(), self.low.get());
        let start = arith::up(top, low.addr().get(), 0, align)?;
        if poison::TRACKS {
            self.track_block(at(low, start), top - start, End::Low);
        }
        Some((at(low, start), top - start))
    }

    /// Moves the cursor to another chunk with room for `layout` at the low end, and the first `size` bytes
    /// of `block`, which is not published, to where [`Cursor::low_room`] then begins. Where the backing
    /// refuses or panics, the cursor is as it was: the block counts on the room up to `top`.
    ///
    /// # Safety
    ///
    /// `block` is what `low_room` returned for the same alignment, nothing was allocated since, and
    /// `size <= layout.size()`.
    pub(crate) unsafe fn move_low<F: Failure>(
        &self,
        layout: Layout,
        block: NonNull<u8>,
        size: usize,
    ) -> Result<(), F> {
        let undo = Undo { cursor: self, words: self.words() };
        let moved = self.refill::<F>(layout, End::Low)?;
        core::mem::forget(undo);
        // SAFETY: both are valid for `size` bytes; the new one lies in a chunk that was free.
        unsafe { moved.copy_from_nonoverlapping(block, size) };
        self.low.set(moved);
        Ok(())
    }

    /// Moves `low` behind a block that was built in what [`Cursor::low_room`] returned.
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
            self.control().note_high_water(self.used());
        }
    }

    /// Serves a request that the region in use has no room for.
    #[inline(always)]
    fn refill<F: Failure>(&self, layout: Layout, end: End) -> Result<NonNull<u8>, F> {
        // The words are read again from here on, not kept in registers since the fast path read them.
        black_box(());
        let (words, align) = (self.words(), layout.align());
        let mut request =
            Request { words, block: core::ptr::null_mut(), size: layout.size(), align, end };
        // Nothing is free while the slow path is at work: a backing, or the global allocator beneath it,
        // that reaches this very scope gets an error instead of memory that the words stored below know
        // nothing of. Should it panic, this stays so; a guard would cost the fast path its eight
        // instructions.
        self.top.set(words.low.addr().get());
        if F::DIVERGES {
            grow(&mut request);
        } else {
            try_grow(&mut request);
        }
        let Request { words, block, size, .. } = request;
        self.set(words);
        if !F::DIVERGES && block.is_null() {
            return Err(F::refused());
        }
        // Rounded already; said again where the compiler sees it.
        self.top.set(words.top & !(align.min(CHUNK_ALIGN) - 1));
        // SAFETY: `grow` never returns null, and what `try_grow` returns was looked at above.
        let block = unsafe { NonNull::new_unchecked(block) };
        self.track(block, size, end);
        Ok(block)
    }

    /// Tells the poison what is handed out.
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
        let chunk = self.chunk.get();
        // SAFETY: a cursor names a chunk of a live list.
        let mut header = unsafe { chunk.as_ref() };
        let start = block.addr().get();
        // Both ends: a caller's buffer may begin where the chunk's region ends.
        if !(header.contains(start) && header.contains(start + size)) {
            // SAFETY: its anchor is a chunk of the same list (I3).
            header = unsafe { chunk::region_of(chunk).as_ref() };
        }
        poison::hand_out(header, block, size, end == End::High);
        self.control().note_high_water(self.used());
    }

    /// Poisons what is free in the region in use. The chunks behind follow when a cursor enters them.
    #[inline(always)]
    pub(crate) fn poison_free(&self) {
        if !poison::TRACKS {
            return;
        }

        // SAFETY: the region's chunk is one of the cursor's list (I3).
        let region = unsafe { chunk::region_of(self.chunk.get()).as_ref() };
        let low = self.low.get();
        poison::left_behind(region, low, at(low, self.top.get()));
    }

    /// The bytes in use up to this cursor. Padding counts; what a cursor left free at the end of a chunk
    /// that it has moved on from does not.
    pub(crate) fn used(&self) -> usize {
        self.chunks().map(|used| used.header.capacity() - used.free).sum()
    }

    /// All chunks of the list, with what is free in each as seen from this cursor.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = ChunkUse<'_>> {
        let mut next = self.first();
        let mut behind = false;
        core::iter::from_fn(move || {
            let chunk = next?;
            // SAFETY: a chunk of the list of a live arena. Cursors link and move chunks while the
            // arena is borrowed, but none is released then.
            let header = unsafe { chunk.as_ref() };
            let free = if behind {
                header.capacity()
            } else if chunk == chunk::region_of(self.chunk.get()) {
                self.free()
            } else {
                header.idle()
            };
            behind |= chunk == self.chunk.get();
            next = header.next();
            Some(ChunkUse { header, free })
        })
    }

    /// The first chunk of the cursor's list.
    fn first(&self) -> Option<NonNull<Header>> {
        (!self.is_nowhere()).then(|| chunk::first_of(self.chunk.get()))
    }

    /// Whether `earlier` can have been this cursor's words before: its chunk is in the list, not behind
    /// the cursor, and nothing given back since lies between.
    pub(crate) fn came_from(&self, earlier: Words) -> bool {
        let mut next = self.first();
        while let Some(chunk) = next {
            if chunk == earlier.chunk {
                let region = chunk::region_in(self.control_address(), chunk);
                // SAFETY: the region's chunk is one of the cursor's list (I3).
                let region = unsafe { region.as_ref() };
                let empty = earlier.low.addr().get() == earlier.top;
                let is_there = empty || region.contains(earlier.low.addr().get());
                return is_there && (chunk != self.chunk.get() || self.top.get() <= earlier.top);
            }
            if chunk == self.chunk.get() {
                return false;
            }
            // SAFETY: a chunk of a live list.
            next = unsafe { chunk.as_ref() }.next();
        }
        false
    }

    /// Asserts I2, I3 and what can be seen of I1, in debug builds.
    fn check(words: Words) {
        if !cfg!(debug_assertions) {
            return;
        }
        // SAFETY: the region's chunk is one of the cursor's list (I3).
        let region = unsafe { chunk::region_of(words.chunk).as_ref() };
        debug_assert!(words.low.addr().get() <= words.top, "I2");
        debug_assert!(words.low.addr().get() >= arith::LOWEST_ADDRESS, "I2");
        // An empty range may lie below a buffer that begins at an odd address: the top was rounded.
        let empty = words.low.addr().get() == words.top;
        debug_assert!(empty || region.contains(words.low.addr().get()), "I3");
        debug_assert!(empty || region.contains(words.top), "I3");
        let mut next = Some(chunk::first_of(words.chunk));
        let mut passed_region = false;
        loop {
            let Some(chunk) = next else {
                panic!("I1: the cursor's chunk is not in the list");
            };
            // SAFETY: a chunk of a live list.
            let header = unsafe { chunk.as_ref() };
            passed_region |= core::ptr::eq(header, region);
            if chunk == words.chunk {
                break;
            }
            next = header.next();
        }
        debug_assert!(passed_region, "I3: the region is the cursor's or an earlier one");
    }
}

/// Puts a cursor's words back when dropped: on every way out that does not forget it.
struct Undo<'c> {
    cursor: &'c Cursor,
    words: Words,
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        self.cursor.set(self.words);
    }
}

/// The slow path of the infallible methods. Diverges where there is no memory, inside itself, so that
/// its caller has nothing to test.
#[cold]
#[inline(never)]
extern "C-unwind" fn grow(request: &mut Request) {
    slow(request);
    if request.block.is_null() {
        out_of_memory(request.size, request.align);
    }
}

/// The slow path of the `try_` methods: a null block where there is no memory.
#[cold]
#[inline(never)]
extern "C-unwind" fn try_grow(request: &mut Request) {
    slow(request);
}

/// Moves to the chunk behind, if there is one with room, and returns the `low` of a fork.
#[cold]
#[inline(never)]
fn move_on(words: &mut Words) -> NonNull<u8> {
    // SAFETY: a cursor names a chunk of a live list.
    if let Some(next) = unsafe { words.chunk.as_ref() }.next() {
        // SAFETY: a chunk of the same list.
        let header = unsafe { next.as_ref() };
        if header.capacity() >= 2 * HARDLY_ANYTHING {
            let free_here = words.top - words.low.addr().get();
            chunk::enter(words.chunk, next, free_here, header.capacity(), false);
            poison::left_behind(header, header.low(), header.top());
            *words = Words { top: header.top().addr().get(), chunk: next, low: header.low() };
            Cursor::check(*words);
        }
    }
    words.aligned(CHUNK_ALIGN).1
}

/// Reports that an infallible method has no memory, as the rest of the program's allocations do.
#[cold]
pub(crate) fn out_of_memory(size: usize, align: usize) -> ! {
    #[cfg(feature = "alloc")]
    if let Ok(layout) = Layout::from_size_align(size, align) {
        alloc::alloc::handle_alloc_error(layout);
    }
    panic!("out of memory: an arena could not serve {size} bytes at alignment {align}")
}

/// Finds or makes a chunk with room for the block, and takes the block there. The new top is rounded
/// down to `align`, as the next block of the same kind would round it; to [`CHUNK_ALIGN`] at most, so that
/// a large alignment takes nothing of a region that the block is not in.
fn slow(request: &mut Request) {
    let &mut Request { words, size, align, end, .. } = request;
    let moved = if size == 0 {
        Some((dangling(align), words))
    } else {
        slow_sized(words, size, align, end)
    };
    let Some((block, words)) = moved else {
        return;
    };
    let (top, low) = words.aligned(align.min(CHUNK_ALIGN));
    request.words = Words { top, low, ..words };
    request.block = block.as_ptr();
    Cursor::check(request.words);
}

/// The cursor moves into the new chunk if more is left free there than in the region it is in.
/// Otherwise the chunk serves this one request: an oversize request costs the current region nothing.
/// A low-end block always moves the cursor, for it will want to grow.
fn slow_sized(words: Words, size: usize, align: usize, end: End) -> Option<(NonNull<u8>, Words)> {
    if chunk::is_busy(words.chunk) {
        return None;
    }
    let region = arith::region_for(size, align)?;
    let start_in = |header: &Header| {
        let (top, low) = (header.top().addr().get(), header.low().addr().get());
        match end {
            End::High => arith::down(top, low, size, align),
            End::Low => arith::up(top, low, size, align),
        }
    };
    let fits = |header: &Header| start_in(header).is_some();
    // SAFETY: the words are those of a cursor in use.
    let chunk = unsafe { chunk::chunk_behind(words.chunk, region, end == End::Low, fits) }.ok()?;
    // SAFETY: a chunk of the list, just found or made.
    let header = unsafe { chunk.as_ref() };
    let start = start_in(header)?;
    poison::left_behind(header, header.low(), header.top());
    let block = at(header.low(), start);
    let (low, top) = match end {
        End::High => (header.low(), start),
        End::Low => (at(block, start + size), header.top().addr().get()),
    };
    let free_here = words.top - words.low.addr().get();
    let free_there = top - low.addr().get();
    let oversize = end == End::High && free_there < free_here;
    chunk::enter(words.chunk, chunk, free_here, free_there, oversize);
    let words = if oversize { Words { chunk, ..words } } else { Words { top, chunk, low } };
    Some((block, words))
}
