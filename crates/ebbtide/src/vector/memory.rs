//! Where the block of a vector comes from, and how it grows: [`Memory`] and its implementations.
//!
//! Nothing here knows the type of the elements; blocks are bytes, and capacities are counts of
//! elements of some layout. There are two ways to have memory of a scope:
//!
//! - *shared*, through `&Scope`: the block is published, so whatever else is allocated lies
//!   elsewhere. A block that still is the last one at the low end grows in place, any other moves.
//! - *exclusive*, through `&mut Scope`: the block is what is free at the low end, all of it.
//!   Nothing is published before the vector is finished, so that an abandoned one leaves the scope
//!   as it was. A vector that outgrows a chunk goes on in the next one as a child scope would: the
//!   scope's own words stay.
//!
//! A shared block grows in place only where it begins in the region that the scope allocates from,
//! and ends where the free part of it begins. So the block may have come from another scope: that
//! it ends at `low` would not be enough, for a caller's buffers may lie side by side (I5).

use crate::{
    chunk::Header,
    error::{AllocError, Failure},
    raw::Cursor,
    scope::Scope,
};
use core::{alloc::Layout, fmt, marker::PhantomData, ptr::NonNull};

/// A block of a vector: `len` elements and room for `capacity`; no block where that is 0.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub(super) start: NonNull<u8>,
    pub(super) len: usize,
    pub(super) capacity: usize,
}

/// Room for `capacity` elements.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub(super) start: NonNull<u8>,
    pub(super) capacity: usize,
}

/// What a vector takes its memory from: `&Scope`, or a scope borrowed exclusively ([`Exclusive`]).
///
/// It cannot be implemented outside of this crate.
pub trait Memory: Grow {}

/// The work of a [`Memory`].
///
/// # Safety
///
/// What `grow` returns is room for as many elements as it says, aligned for one, that nobody else
/// uses or gets as long as the memory lives, and the elements of the block before lie at its
/// beginning.
pub unsafe trait Grow {
    /// Room for `needed` elements of the layout `element`, or for more unless `exact`, with the
    /// elements of `used` at its beginning. On failure all is as it was.
    ///
    /// # Safety
    ///
    /// `used` is the block of a vector over this memory: nothing, or what `grow` returned before,
    /// with `len` elements of this layout. `element` has a size, and `needed > used.capacity`.
    /// After a success `used` is not used again.
    unsafe fn grow<F: Failure>(
        &mut self,
        used: Used,
        element: Layout,
        needed: usize,
        exact: bool,
    ) -> Result<Room, F>;

    /// Takes back what lies behind `capacity` elements of `size` bytes, and returns the capacity
    /// that is left.
    ///
    /// # Safety
    ///
    /// The contract of [`Grow::grow`] for `used`, and `used.len <= capacity < used.capacity`.
    unsafe fn shrink(&mut self, used: Used, size: usize, capacity: usize) -> usize;
}

/// The capacity of a first block, in elements of `size` bytes.
const fn least(size: usize) -> usize {
    match size {
        1 => 16,
        2..=1024 => 4,
        _ => 1,
    }
}

/// The capacity to ask for, where `needed` elements would do.
fn wanted(needed: usize, capacity: usize, size: usize, exact: bool) -> usize {
    if exact { needed } else { needed.max(capacity.saturating_mul(2)).max(least(size)) }
}

/// The layout of `capacity` elements.
fn layout<F: Failure>(element: Layout, capacity: usize) -> Result<Layout, F> {
    let layout = capacity
        .checked_mul(element.size())
        .and_then(|size| Layout::from_size_align(size, element.align()).ok());
    layout.ok_or_else(F::too_large)
}

impl Memory for &Scope<'_> {}

// SAFETY: `grow_shared` returns a block of the scope's low end, which is handed out once and lives
// as long as the scope is borrowed.
unsafe impl Grow for &Scope<'_> {
    #[inline(always)]
    unsafe fn grow<F: Failure>(
        &mut self,
        used: Used,
        element: Layout,
        needed: usize,
        exact: bool,
    ) -> Result<Room, F> {
        let cursor = self.cursor();
        // A first block that fits is most of them, and made without a call.
        if used.capacity == 0 {
            let capacity = if exact { needed } else { needed.max(least(element.size())) };
            if let Some(start) = cursor.take_low(capacity, element) {
                return Ok(Room { start, capacity });
            }
        }
        // SAFETY: the caller says that `used` is the block of a vector over this memory, and so of
        // this cursor; `needed` exceeds its capacity.
        unsafe { grow_shared(cursor, used, element, needed, exact) }
    }

    #[inline]
    unsafe fn shrink(&mut self, used: Used, size: usize, capacity: usize) -> usize {
        let (old, new) = (used.capacity * size, capacity * size);
        if self.cursor().ends_free(used.start, old) {
            // SAFETY: the block is the last one of this cursor's region, and nothing behind
            // `capacity` is used again.
            unsafe { self.cursor().shrink_low(used.start, old, new) };
        }
        capacity
    }
}

/// Grows a published block: in place if it is the last one of the region and that has room, else by
/// a copy into a new block.
///
/// # Safety
///
/// That of [`Grow::grow`]: the block came from the low end of this or another cursor, for a loan
/// that has not ended.
#[cold]
#[inline(never)]
unsafe fn grow_shared<F: Failure>(
    cursor: &Cursor,
    used: Used,
    element: Layout,
    needed: usize,
    exact: bool,
) -> Result<Room, F> {
    let size = element.size();
    let wanted = wanted(needed, used.capacity, size, exact);
    let old = used.capacity * size;
    let is_last = used.capacity != 0 && cursor.ends_free(used.start, old);
    if used.capacity == 0 || is_last {
        // SAFETY: a multiple of the alignment, no larger than what was allocated.
        let old = unsafe { Layout::from_size_align_unchecked(old, element.align()) };
        let here = cursor.room_low(used.start, old);
        let fits = |capacity: usize| capacity.checked_mul(size).is_some_and(|bytes| bytes <= here);
        let capacity = if fits(wanted) {
            Some(wanted)
        } else if fits(needed) {
            // Up to the last byte, and still half of what is left for others at each step.
            Some(needed.max(used.capacity + (here / size - used.capacity) / 2))
        } else {
            None
        };
        if let Some(capacity) = capacity {
            let new = layout::<F>(element, capacity)?;
            let start = if is_last {
                // SAFETY: the block is the last one and belongs to the caller.
                unsafe { cursor.grow_low::<F>(used.start, old, new)? }
            } else {
                cursor.reserve_low::<F>(new)?
            };
            return Ok(Room { start, capacity });
        }
    }
    if wanted > needed {
        // SAFETY: the caller says that `used` came from the low end, and `used.len <= needed <
        // wanted`.
        if let Ok(room) = unsafe { move_shared::<AllocError>(cursor, used, element, wanted) } {
            return Ok(room);
        }
    }
    // SAFETY: the caller says that `used` came from the low end, and `used.len <= needed`. A
    // failure above leaves the block as it was.
    unsafe { move_shared(cursor, used, element, needed) }
}

/// Moves the elements to a new block at the low end.
///
/// # Safety
///
/// The contract of [`grow_shared`], and `used.len <= capacity`.
unsafe fn move_shared<F: Failure>(
    cursor: &Cursor,
    used: Used,
    element: Layout,
    capacity: usize,
) -> Result<Room, F> {
    let start = cursor.reserve_low::<F>(layout(element, capacity)?)?;
    // SAFETY: the elements are initialised, the new block is as large, and it was free a moment
    // ago.
    unsafe { start.copy_from_nonoverlapping(used.start, used.len * element.size()) };
    Ok(Room { start, capacity })
}

/// A scope that a builder has to itself; see [`Scope::grow_vec`].
///
/// [`Scope::grow_vec`]: crate::Scope::grow_vec
pub struct Exclusive<'s, 'a> {
    scope: &'s mut Scope<'a>,
    /// The chunk whose region the builder is in: the scope's, or one behind it, which the scope
    /// does not know of before the builder is finished.
    chunk: NonNull<Header>,
}

// SAFETY: it borrows a scope exclusively, which is `Send`; the chunk is one of that scope's.
unsafe impl Send for Exclusive<'_, '_> {}
// SAFETY: through a shared reference nothing of the scope can be reached.
unsafe impl Sync for Exclusive<'_, '_> {}

impl Memory for Exclusive<'_, '_> {}

impl<'s, 'a> Exclusive<'s, 'a> {
    #[inline(always)]
    pub(super) fn new(scope: &'s mut Scope<'a>) -> Self {
        let chunk = scope.cursor().chunk_address();
        Exclusive { scope, chunk }
    }

    /// All that is free at the low end, as room for elements of a layout that has a size.
    #[inline(always)]
    pub(super) fn room(&self, element: Layout) -> Room {
        room_of(self.scope.cursor(), element)
    }

    /// Moves the scope's words behind the elements of a builder that ends here.
    ///
    /// # Safety
    ///
    /// `used` is the block of a vector over this memory with elements of `size` bytes, and lives
    /// for `'a` from here on.
    #[inline]
    pub(super) unsafe fn publish(&mut self, used: Used, size: usize) {
        if used.len == 0 || size == 0 {
            return;
        }
        let cursor = self.scope.cursor();
        if self.chunk != cursor.chunk_address() {
            // SAFETY: the builder is in that chunk, and the scope is borrowed exclusively.
            let builder = unsafe { cursor.builder_in(self.chunk) };
            // SAFETY: of this cursor, and not used again.
            unsafe { cursor.follow(&builder) };
        }
        // SAFETY: the elements begin where the region's free part does, rounded up, end in the
        // region, and nothing was allocated since.
        unsafe { cursor.publish_low(used.start, used.len * size) };
    }
}

impl fmt::Debug for Exclusive<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive").finish_non_exhaustive()
    }
}

// SAFETY: the room is what is free in a chunk that the scope's list has behind its own or that is
// its own; the scope is borrowed exclusively, so nobody else gets it.
unsafe impl Grow for Exclusive<'_, '_> {
    #[inline(always)]
    unsafe fn grow<F: Failure>(
        &mut self,
        used: Used,
        element: Layout,
        needed: usize,
        exact: bool,
    ) -> Result<Room, F> {
        let cursor = self.scope.cursor();
        // SAFETY: the caller says that `used` is the block of a vector over this memory. The scope
        // has been borrowed exclusively since `new`.
        let (room, chunk) =
            unsafe { grow_exclusive::<F>(cursor, self.chunk, used, element, needed, exact)? };
        self.chunk = chunk;
        Ok(room)
    }

    /// All that is free is the builder's: there is nothing to give back.
    unsafe fn shrink(&mut self, used: Used, _size: usize, _capacity: usize) -> usize {
        used.capacity
    }
}

/// All that is free at the low end of a cursor.
#[inline]
fn room_of(cursor: &Cursor, element: Layout) -> Room {
    match cursor.low_room(element.align()) {
        Some((start, bytes)) => Room { start, capacity: bytes / element.size() },
        None => Room { start: NonNull::dangling(), capacity: 0 },
    }
}

/// Moves the elements to a chunk behind with room for `needed`, or for more unless `exact`. The
/// scope's own words stay.
///
/// # Safety
///
/// That of [`Grow::grow`]. The scope of `cursor` is borrowed exclusively, and `chunk` is where the
/// builder is: the cursor's, or the one that this function returned last.
#[cold]
#[inline(never)]
unsafe fn grow_exclusive<F: Failure>(
    cursor: &Cursor,
    chunk: NonNull<Header>,
    used: Used,
    element: Layout,
    needed: usize,
    exact: bool,
) -> Result<(Room, NonNull<Header>), F> {
    let wanted = wanted(needed, used.len, element.size(), exact);
    if wanted > needed {
        // SAFETY: the caller says that the scope is borrowed exclusively and that `chunk` is where
        // the builder is; `used.len <= needed < wanted`.
        let moved = unsafe { move_exclusive::<AllocError>(cursor, chunk, used, element, wanted) };
        if let Ok(moved) = moved {
            return Ok(moved);
        }
    }
    // SAFETY: the caller says that the scope is borrowed exclusively and that `chunk` is where the
    // builder is. A failure above leaves both as they were.
    unsafe { move_exclusive(cursor, chunk, used, element, needed) }
}

/// Moves the elements to a chunk behind `chunk` with room for `capacity`.
///
/// # Safety
///
/// That of [`grow_exclusive`], and `used.len <= capacity`.
unsafe fn move_exclusive<F: Failure>(
    cursor: &Cursor,
    chunk: NonNull<Header>,
    used: Used,
    element: Layout,
    capacity: usize,
) -> Result<(Room, NonNull<Header>), F> {
    let layout = layout::<F>(element, capacity)?;
    // SAFETY: the caller says that the builder is in `chunk`, and its scope is borrowed
    // exclusively.
    let builder = unsafe { cursor.builder_in(chunk) };
    // SAFETY: of this cursor.
    unsafe { cursor.go_on::<F>(&builder, layout)? };
    let room = room_of(&builder, element);
    debug_assert!(room.capacity >= capacity);
    // SAFETY: the elements are initialised; the room lies in a chunk that was free.
    unsafe { room.start.copy_from_nonoverlapping(used.start, used.len * element.size()) };
    Ok((room, builder.chunk_address()))
}

/// Memory that a vector has for `'a`, and no scope to grow in: every call that may need more brings
/// one; see [`NodeVec`](crate::collections::NodeVec).
#[derive(Clone, Copy, Debug, Default)]
pub struct Detached<'a>(PhantomData<&'a ()>);
