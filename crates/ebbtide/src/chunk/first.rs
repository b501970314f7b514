//! The first block of an [`Arena`](crate::Arena): the control block, and behind it the head's region.
//!
//! It is a block like that of any other chunk. The control block takes the place of the header, and the
//! first [`CONTROL_ROOM`] bytes of the region.

use super::{
    blocks::{LARGEST_CHUNK, NewBlock, doubled, new_block, release, usual_capacity},
    control::{CONTROL_ROOM, Control, ControlRef, Settings},
    header::{ChunkRef, block_layout, block_size},
};
use crate::{
    backing::{Backing, NoSpill},
    error::AllocError,
    poison,
};
use core::{alloc::Layout, cell::Cell, ptr::NonNull};

/// Writes a control block to a block, and gives the rest of its region to the head.
///
/// # Safety
///
/// The region has room for the control block, and nobody uses any of the block.
unsafe fn write(control: Control, new: &NewBlock) -> NonNull<Control> {
    // SAFETY: the region has room for that, as the caller says.
    let low = unsafe { new.low.add(CONTROL_ROOM) };
    control.head.set_fresh_region(low, new.top);
    let place = new.block.cast::<Control>();
    debug_assert!(place.addr().get() + size_of::<Control>() <= low.addr().get(), "it fits");
    // SAFETY: the block is aligned to `CHUNK_ALIGN`, which is enough. A header has room in front of the
    // region, so the control block ends at or before the rest of the region; nobody uses the place.
    unsafe { place.write(control) };
    place
}

impl<'c> ControlRef<'c> {
    /// The first block with its layout, to be released. Its memory is poisoned.
    ///
    /// # Safety
    ///
    /// Nothing uses the region of the head any more.
    pub(super) unsafe fn first_block(self) -> (NonNull<u8>, Layout) {
        let head = &self.get().head;
        // SAFETY: the whole region, which nothing uses any more, as the caller says.
        unsafe { head.poison(head.low(), head.top()) };
        poison::lift(head.low(), head.capacity());
        // SAFETY: the head has the rest of a block's region.
        let layout = unsafe { block_layout(head.capacity() + CONTROL_ROOM) };
        (self.as_ptr().cast(), layout)
    }

    /// Keeps the first block, then chunks, in the order of the list and then the spare ones, as long
    /// as their sizes add up to at most `most` bytes, and releases the others. Returns where the
    /// control block is; `None` if it still is in the first block, which has to be released as well.
    ///
    /// # Safety
    ///
    /// No allocation lives in any chunk, no claim is alive, and no cursor or copy of the old
    /// `ControlRef` will be used again.
    #[inline]
    unsafe fn release_above(self, most: usize) -> Option<Self> {
        let first = self.first_block_size();
        let is_first_kept = first <= most;
        let mut kept = if is_first_kept { first } else { 0 };
        let mut first_released = (!is_first_kept).then_some(first);
        let mut is_released = |chunk: ChunkRef<'c>| {
            debug_assert!(kept <= most, "what is kept fits");
            let is_released = chunk.block_size() > most - kept;
            if is_released {
                first_released.get_or_insert(chunk.block_size());
            } else {
                kept += chunk.block_size();
            }
            is_released
        };
        // SAFETY: the contract is the same.
        unsafe { self.release_if(&mut is_released) };
        self.lower_next_size(first_released);
        if is_first_kept {
            return Some(self);
        }
        let mut kept = self.head().chunk().behind();
        let next = kept.find(|chunk| chunk.capacity() > CONTROL_ROOM)?;
        // SAFETY: the contract is the same, and the chunk was just kept.
        Some(unsafe { self.move_to(next) })
    }

    /// Releases all blocks but the largest one, or but those of the largest ordinary size. If the
    /// first one is released, the control block moves to the largest. Returns where it is.
    ///
    /// # Safety
    ///
    /// No allocation lives in any chunk, no claim is alive, and no cursor or copy of the old
    /// `ControlRef` will be used again.
    #[inline]
    unsafe fn release_all_but_largest(self) -> Self {
        // SAFETY: no claim is alive, as the caller says.
        unsafe { self.reclaim() };
        let first = self.first_block_size();
        let largest = self.get().chunks().max_by_key(|chunk| chunk.block_size());
        let largest = largest.filter(|chunk| chunk.block_size() > first);
        let is_kept =
            |chunk: ChunkRef<'c>| Some(chunk) == largest || chunk.block_size() >= LARGEST_CHUNK;
        // SAFETY: the contract is the same.
        unsafe { self.release_if(&mut |chunk| !is_kept(chunk)) };
        match largest {
            // SAFETY: the contract is the same, and the chunk was just kept.
            Some(chunk) if first < LARGEST_CHUNK => unsafe { self.move_to(chunk) },
            _ => self,
        }
    }

    /// Moves the control block to the block of a chunk, which the head has from then on, and releases
    /// the block where it was. Returns where it is.
    ///
    /// # Safety
    ///
    /// The chunk is one of this arena's, and its region has more than [`CONTROL_ROOM`] bytes. No
    /// allocation lives in any chunk, no claim is alive, and no cursor or copy of the old `ControlRef`
    /// will be used again.
    #[cold]
    pub(super) unsafe fn move_to(self, chunk: ChunkRef<'c>) -> Self {
        self.unlink(chunk);
        // SAFETY: the whole region, in which no allocation lives, as the caller says.
        unsafe { chunk.poison(chunk.low(), chunk.top()) };
        poison::lift(chunk.low(), CONTROL_ROOM);
        let new = NewBlock::of(chunk);
        let control = self.get().without_head();
        // SAFETY: the chunk is in no list now, and its region has room, as the caller says.
        let place = unsafe { write(control, &new) };
        // SAFETY: just written to a block that is the arena's.
        let moved = unsafe { ControlRef::new(place) };
        moved.head.next.set(self.head.next.get());
        moved.register_lists();
        moved.held.set(self.held() - self.first_block_size());
        moved.capacity.set(self.capacity() - self.head.capacity() - CONTROL_ROOM);
        // SAFETY: nothing uses the head's region any more, as the caller says.
        let (block, layout) = unsafe { self.first_block() };
        // SAFETY: `new_block` got the block from this backing for this layout. Nothing refers to it any
        // more: the chunks are given the present address when a cursor enters them (L4).
        unsafe { moved.call_release(block, layout) };
        moved.check();
        moved
    }

    /// Takes a chunk out of the arena's own list or of the spare ones.
    #[inline]
    fn unlink(self, chunk: ChunkRef<'c>) {
        self.take_all_spare(&mut |spare| spare == chunk);
        let mut link = &self.get().head.next;
        while let Some(next) = link.get() {
            if next == chunk {
                link.set(next.header().next.take());
                return;
            }
            link = &next.header().next;
        }
    }
}

/// The blocks of an arena, which has a control block as soon as it has one of them. Dropping it releases
/// all.
#[repr(C)]
pub(crate) struct Blocks<B: Backing> {
    /// The control block, or [`NONE`].
    control: Cell<NonNull<Control>>,
    /// As long as there is no control block.
    settings: Settings,
    backing: B,
}

/// Stands for a control block where there is none: the next scope is not ready.
static NONE: Nothing = Nothing(Control::new::<NoSpill>(Settings::new(0), false));

struct Nothing(Control);

// SAFETY: nobody writes to it.
unsafe impl Sync for Nothing {}

impl<B: Backing> Blocks<B> {
    /// No block. The first one will have `first_size` bytes.
    pub(crate) const fn new(backing: B, first_size: usize) -> Self {
        Blocks { control: Cell::new(none()), settings: Settings::new(first_size), backing }
    }

    /// The control block or, if there is no block, one that must not be written to: it has no region,
    /// no chunk and no claim. The backing is not called through this.
    #[inline(always)]
    pub(crate) fn peek(&self) -> ControlRef<'_> {
        // SAFETY: a static does not move. The first block stays until the arena is used exclusively: it
        // is released sooner only before anything refers to it, by `take_prepared`. Its address is the
        // backing's, with provenance for all of it.
        unsafe { ControlRef::new(self.control.get()) }
    }

    /// States where the backing is, which may have moved with the arena.
    ///
    /// # Safety
    ///
    /// There is a block.
    #[inline(always)]
    pub(crate) unsafe fn refresh(&self) {
        debug_assert!(!self.is_empty(), "there is a control block");
        // SAFETY: the control block is not `NONE`, as the caller says. It was made for this backing,
        // which stays where it is as long as the arena is borrowed.
        unsafe { self.peek().set_backing(&self.backing) };
    }

    /// Whether there is no block.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.control.get() == none()
    }

    /// The control block, whose backing can be called; `None` if there is no block.
    pub(crate) fn control(&self) -> Option<ControlRef<'_>> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: just tested.
        unsafe { self.refresh() };
        Some(self.peek())
    }

    /// The settings, wherever they are.
    pub(crate) fn settings(&self) -> &Settings {
        if self.is_empty() { &self.settings } else { self.peek().get().settings() }
    }

    pub(crate) fn backing(&self) -> &B {
        &self.backing
    }

    /// Requests the first block, with room for `region` bytes.
    ///
    /// # Errors
    ///
    /// Those of [`new_block`], and if the request comes from the backing itself.
    #[inline]
    pub(crate) fn make_first(&self, region: usize) -> Result<(), AllocError> {
        debug_assert!(self.is_empty(), "there is no block before");
        if self.settings.is_new.get() && self.take_prepared(region) {
            return Ok(());
        }
        self.make_first_anew(region)
    }

    /// Takes the first block of an arena that was made like this one and dropped, with its control
    /// block, if the backing has kept one. It has room for `region` bytes.
    #[inline]
    fn take_prepared(&self, region: usize) -> bool {
        let Some(block) = self.backing.take_prepared(self.settings.next_size.get()) else {
            return false;
        };
        // As the backing promises, this arena's control block if it was made for one like this, whose
        // backing has the same type.
        self.control.set(block.cast());
        let control = self.peek();
        control.ready_top.set(0);
        let has_room = region <= control.head.capacity();
        if !has_room {
            // SAFETY: the control block of an arena that is new, in which nothing was allocated yet.
            self.settings.while_busy(|| unsafe { self.release_prepared(control) });
        }
        has_room
    }

    /// Gives the block back that is the only one of an arena that is new.
    ///
    /// # Safety
    ///
    /// `control` is that of this arena, which is new. No scope or allocation is left.
    #[inline]
    unsafe fn release_prepared(&self, control: ControlRef<'_>) {
        debug_assert!(control.has_head_alone() && control.open_claims() == 0, "it is new");
        // Forgotten iterators are not those of the next arena.
        control.forget_pins();
        // SAFETY: nothing uses the region of the head any more, as the caller says.
        let (block, layout) = unsafe { control.first_block() };
        self.control.set(none());
        // SAFETY: the backing gave the block for this layout, nothing uses it any more, and it begins
        // with the control block of an arena over a `B` that is new.
        unsafe { self.backing.release_prepared(block, layout, self.settings.next_size.get()) };
    }

    /// Requests the first block, with room for `region` bytes, and makes the control block in it. The
    /// next block will be twice as large.
    ///
    /// # Errors
    ///
    /// Those of [`new_block`], and if the request comes from the backing itself.
    #[inline(never)]
    fn make_first_anew(&self, region: usize) -> Result<(), AllocError> {
        let (backing, settings) = (&self.backing, &self.settings);
        if settings.is_busy() {
            return Err(AllocError);
        }
        let region = region.checked_add(CONTROL_ROOM).ok_or(AllocError)?;
        let (ordinary, allowed) = (settings.next_size.get(), settings.limit.get());
        let allocate = |layout| Ok(settings.while_busy(|| backing.allocate(layout))?.cast());
        // SAFETY: the backing just gave the block for this layout, and nothing uses it.
        let release = |block, layout| unsafe { backing.release(block, layout) };
        let new = new_block(region, ordinary, allowed, &allocate, &release)?;
        // SAFETY: the block was just made with room for the control block, and nothing uses it.
        let control = unsafe { self.begin(settings.clone(), &new) };
        let usual = usual_capacity(ordinary.min(isize::MAX as usize));
        if control.capacity() + CONTROL_ROOM < usual {
            control.settings.is_new.set(false);
        }
        Ok(())
    }

    /// Makes the control block in this block, the only one of the arena.
    ///
    /// # Safety
    ///
    /// Nothing uses the block, whose region has [`CONTROL_ROOM`] bytes or more.
    #[inline]
    unsafe fn begin(&self, settings: Settings, new: &NewBlock) -> ControlRef<'_> {
        let ordinary = settings.next_size.get();
        // SAFETY: the contract is the same.
        self.control.set(unsafe { write(Control::new::<B>(settings, true), new) });
        let control = self.peek();
        control.held.set(new.size);
        control.capacity.set(control.head.capacity());
        control.settings.next_size.set(doubled(ordinary.max(control.held())));
        control.note_entered(&control.head);
        control.check();
        control
    }

    /// Releases all blocks but the largest; see [`ControlRef::release_all_but_largest`].
    ///
    /// # Safety
    ///
    /// No scope, claim or allocation is left.
    #[inline]
    pub(crate) unsafe fn release_all_but_largest(&mut self) {
        if let Some(control) = self.control() {
            // SAFETY: the caller says that nothing is left, and `self.control` is written below.
            let moved = unsafe { control.release_all_but_largest() }.as_ptr();
            self.control.set(moved);
        }
    }

    /// Keeps blocks of at most `most` bytes; see [`ControlRef::release_above`].
    ///
    /// # Safety
    ///
    /// No scope, claim or allocation is left.
    #[inline]
    pub(crate) unsafe fn release_above(&mut self, most: usize) {
        let Some(control) = self.control() else { return };
        // SAFETY: the caller says that nothing is left, and `self.control` is written below.
        match unsafe { control.release_above(most) }.map(ControlRef::as_ptr) {
            Some(moved) => self.control.set(moved),
            // SAFETY: the contract is the same.
            None => unsafe { self.release_all() },
        }
    }

    /// Releases all blocks. That of an arena that is new serves the next one as it is, and so does the
    /// largest of one that has grown, so that the next one begins with what this one needed.
    ///
    /// # Safety
    ///
    /// No scope, claim or allocation is left, and the arena is not used again.
    #[inline(never)]
    unsafe fn release_at_end(&self) {
        let mut control = self.peek();
        if !control.settings.is_new.get() {
            // SAFETY: the contract is the same.
            match unsafe { self.make_new() } {
                Some(new) => control = new,
                // SAFETY: the contract is the same.
                None => return unsafe { self.release_all() },
            }
        }
        // SAFETY: the contract is the same, and the arena is new.
        unsafe { self.release_prepared(control) };
    }

    /// Releases all blocks but the largest that can serve the next arena, and makes a control block in
    /// that one. Returns `None`, and releases none, if there is no such block, or if this arena was changed
    /// by more than its growth.
    ///
    /// # Safety
    ///
    /// No scope, claim or allocation is left, and the arena is not used again.
    #[cold]
    #[inline(never)]
    unsafe fn make_new(&self) -> Option<ControlRef<'_>> {
        let control = self.control().filter(|control| control.settings.are_untouched())?;
        let (wanted, most) = (self.settings.next_size.get(), self.backing.most_prepared());
        let least = block_size(usual_capacity(wanted.min(isize::MAX as usize)));
        if least > most {
            return None;
        }
        let first = control.first_block_size();
        let (mut size, mut kept) = (if first <= most { first } else { 0 }, None);
        for chunk in control.get().chunks() {
            if (size + 1..=most).contains(&chunk.block_size()) {
                (size, kept) = (chunk.block_size(), Some(chunk));
            }
        }
        if size < least {
            return None;
        }
        let mut next = control.get().newest.get();
        while let Some(chunk) = next {
            next = chunk.header().older.get();
            if Some(chunk) != kept {
                // SAFETY: as the caller says, no allocation or cursor is left, and the arena is not used
                // again, so no record is read that refers to the chunk; its own was just read.
                unsafe { release(control, chunk) };
            }
        }
        let (head_low, top) = (control.head.low(), control.head.top());
        // SAFETY: nothing uses the region of the head any more, as the caller says.
        let (block, layout) = unsafe { control.first_block() };
        let new = match kept {
            Some(chunk) => {
                // SAFETY: the backing gave the block for this layout. The control block in it, which is
                // the last thing there, is not read again.
                unsafe { self.backing.release(block, layout) };
                NewBlock::of(chunk)
            }
            None => {
                // SAFETY: the control block takes so many bytes of the region before the head's.
                let low = unsafe { head_low.sub(CONTROL_ROOM) };
                NewBlock { block, size: layout.size(), low, top }
            }
        };
        // SAFETY: the block is the arena's, whose region has room for a control block: `least` has. Nothing
        // uses it, as the caller says, and no other block is left.
        Some(unsafe { self.begin(Settings::new(wanted), &new) })
    }

    /// Releases all blocks. The settings stay.
    ///
    /// # Safety
    ///
    /// No scope, claim or allocation is left.
    #[inline(never)]
    pub(crate) unsafe fn release_all(&self) {
        let Some(control) = self.control() else { return };
        if !control.has_head_alone() {
            // SAFETY: the contract is the same.
            unsafe { control.release_chunks() };
        }
        self.settings.copy_from(control.get().settings());
        // SAFETY: the caller says that nothing is left.
        let (block, layout) = unsafe { control.first_block() };
        self.control.set(none());
        // SAFETY: the backing gave the block for this layout, and nothing uses it any more.
        unsafe { self.backing.release(block, layout) };
    }
}

impl<B: Backing> Drop for Blocks<B> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_empty() {
            // By pointer; see the head of `raw`.
            let release: unsafe fn(&Self) = Self::release_at_end;
            // SAFETY: scopes, claims and allocations borrow the owner of this, so none is left.
            unsafe { release(self) };
        }
    }
}

/// The address of [`NONE`].
const fn none() -> NonNull<Control> {
    // SAFETY: the address of a variable.
    unsafe { NonNull::new_unchecked((&raw const NONE.0).cast_mut()) }
}
