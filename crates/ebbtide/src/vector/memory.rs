//! The source of a vector's block, and how the block grows: [`Memory`] and its implementations.
//!
//! This file is not generic over the elements: blocks are bytes, and capacities are numbers of
//! elements of a given layout. There are two ways to use the memory of a scope:
//!
//! - *shared*, through `&Scope`. The block is published: the scope allocates everything else
//!   outside of it. The last block at the low end grows in place; any other block moves.
//! - *exclusive*, through `&mut Scope`. The block is all the free memory at the low end. Nothing is
//!   published before the vector is finished, so a vector that is dropped leaves the scope
//!   unchanged. A vector that outgrows its chunk continues in the next one, like a child scope,
//!   while the scope's own cursor stays where it is. Such an unfinished vector is called a
//!   *builder*.
//!
//! A shared block grows in place only if it begins in the region that the scope allocates from and
//! ends where the free part of that region begins. Both are checked, because the block may come
//! from another scope, even one over a buffer that this scope gave out; I5 says why they suffice.

use crate::{
    arena::Arena,
    chunk::Header,
    error::{AllocError, Failure},
    poison,
    raw::{self, Cursor},
    scope::Scope,
};
use core::{alloc::Layout, fmt, marker::PhantomData, ptr::NonNull};

/// The block of a vector: `len` elements, and room for `capacity`. If `capacity` is 0, there is no
/// block.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub(super) start: NonNull<u8>,
    pub(super) len: usize,
    pub(super) capacity: usize,
}

/// Room for `capacity` elements.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub(crate) start: NonNull<u8>,
    pub(crate) capacity: usize,
}

impl Used {
    /// Asserts the contract of [`Grow::grow`], in debug builds.
    fn check(self, element: Layout, needed: usize) {
        debug_assert!(element.size() != 0, "zero-sized elements need no block");
        debug_assert!(self.len <= self.capacity, "V1");
        debug_assert!(self.capacity < needed, "there is room already");
        debug_assert!(self.start.addr().get() % element.align() == 0, "V2");
    }

    pub(crate) fn has_block(self) -> bool {
        self.capacity != 0
    }
}

/// Where a vector takes its memory from: `&Scope`, an exclusively borrowed scope ([`ScopeMut`]), or
/// the [root](crate::Arena::root) of an arena, by a reference to the arena or to a type that
/// [contains one](HasArena).
///
/// It cannot be implemented outside of this crate.
///
/// ```
/// use ebbtide::collections::{Memory, Vector};
/// /// Adds to a `Vec` or a `GrowVec`.
/// fn squares<M: Memory>(list: &mut Vector<u32, M>) {
///     list.extend((1..=3).map(|n| n * n));
/// }
/// # let mut arena = ebbtide::Arena::new();
/// # let mut s = arena.scope();
/// let mut shared = s.vec();
/// squares(&mut shared);
/// assert_eq!(shared, [1, 4, 9]);
/// let mut exclusive = s.grow_vec();
/// squares(&mut exclusive);
/// assert_eq!(exclusive.into_slice(), [1, 4, 9]);
/// ```
pub trait Memory: Grow {}

/// The methods of [`Memory`], which only this crate calls.
///
/// # Safety
///
/// `grow` returns room for as many elements as it says. The room is aligned for the elements,
/// begins with the elements of the previous block, and is not used for anything else while the
/// memory lives.
pub unsafe trait Grow {
    /// Returns room for `needed` elements of the layout `element`, or for more unless `exact`. It
    /// begins with the elements of `used`. On failure nothing changes.
    ///
    /// # Safety
    ///
    /// `used` is the block of a vector over this memory: empty, or returned by `grow` before, with
    /// `len` elements of this layout. `element` is not zero-sized, and `needed > used.capacity`.
    /// After a success, `used` is not used again.
    unsafe fn grow<F: Failure>(
        &mut self,
        used: Used,
        element: Layout,
        needed: usize,
        exact: bool,
    ) -> Result<Room, F>;

    /// Frees the memory after `capacity` elements of `size` bytes, if it can. Returns the new
    /// capacity.
    ///
    /// # Safety
    ///
    /// The contract of [`Grow::grow`] for `used`, and `used.len <= capacity < used.capacity`.
    unsafe fn shrink(&mut self, used: Used, size: usize, capacity: usize) -> usize;
}

/// The smallest capacity of a first block, for elements of `size` bytes.
const fn min_capacity(size: usize) -> usize {
    match size {
        1 => 16,
        2..=1024 => 4,
        _ => 1,
    }
}

/// The capacity to request for `needed` elements: at least double, unless `exact`.
fn amortized_capacity(needed: usize, capacity: usize, size: usize, exact: bool) -> usize {
    if exact { needed } else { needed.max(capacity.saturating_mul(2)).max(min_capacity(size)) }
}

/// The layout of `capacity` elements.
fn layout<F: Failure>(element: Layout, capacity: usize) -> Result<Layout, F> {
    let layout = capacity
        .checked_mul(element.size())
        .and_then(|size| Layout::from_size_align(size, element.align()).ok());
    layout.ok_or_else(F::too_large)
}

impl Memory for &Scope<'_> {}

// SAFETY: `grow_shared` returns a block of the scope's low end, which is published, so it is used
// for nothing else, and lives as long as the scope is borrowed.
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
        // Most requests are for a first block that fits. It is allocated without a call.
        if used.capacity == 0 {
            let capacity = if exact { needed } else { needed.max(min_capacity(element.size())) };
            if let Some(start) = cursor.take_low(capacity, element) {
                return Ok(Room { start, capacity });
            }
        }
        // SAFETY: by this function's contract, `used` is empty or was returned by `grow` of this
        // scope, so it is of this cursor; `needed` exceeds its capacity.
        unsafe { grow_shared(cursor, used, element, needed, exact) }
    }

    #[inline]
    unsafe fn shrink(&mut self, used: Used, size: usize, capacity: usize) -> usize {
        debug_assert!(used.len <= capacity && capacity < used.capacity, "V1");
        let (old, new) = (used.capacity * size, capacity * size);
        if self.cursor().is_last_in_region(used.start, old) {
            // SAFETY: the block is the last one of this cursor's region, and the memory after
            // `capacity` elements is not used again.
            unsafe { self.cursor().shrink_last_low(used.start, old, new) };
        }
        capacity
    }
}

/// An arena, or a type that contains one: memory for vectors with a single lifetime.
///
/// # Safety
///
/// As long as the value is borrowed, every call returns the same arena.
///
/// ```
/// use ebbtide::{Arena, collections::{HasArena, Owning}};
///
/// struct Document {
///     arena: Arena,
/// }
///
/// // SAFETY: the field is not replaced while the document is borrowed.
/// unsafe impl HasArena for Document {
///     fn arena(&self) -> &Arena {
///         &self.arena
///     }
/// }
///
/// let document = Document { arena: Arena::new() };
/// let mut lines: Owning<String, &Document> = Owning::over(&document);
/// lines.push("ebb".to_owned());
/// assert_eq!(lines.memory().arena().stats().chunks, 1);
/// ```
pub unsafe trait HasArena {
    /// The arena.
    ///
    /// ```
    /// use ebbtide::{Arena, collections::HasArena};
    /// let arena = Arena::new();
    /// assert!(std::ptr::eq(arena.arena(), &arena));
    /// ```
    fn arena(&self) -> &Arena;
}

// SAFETY: it is the arena itself.
unsafe impl HasArena for Arena {
    #[inline(always)]
    fn arena(&self) -> &Arena {
        self
    }
}

impl<A: HasArena> Memory for &A {}

// SAFETY: blocks are published at the low end of the arena's root, so they are used for nothing
// else, and live as long as the arena is borrowed.
unsafe impl<'m, A: HasArena> Grow for &'m A {
    #[inline(always)]
    unsafe fn grow<F: Failure>(
        &mut self,
        used: Used,
        element: Layout,
        needed: usize,
        exact: bool,
    ) -> Result<Room, F> {
        let arena: &'m Arena = A::arena(self);
        if used.capacity == 0 {
            let capacity = if exact { needed } else { needed.max(min_capacity(element.size())) };
            if let Some(start) = arena.root_as_is().cursor().take_low_at_once(capacity, element) {
                return Ok(Room { start, capacity });
            }
        }
        // SAFETY: by this function's contract, `used` is empty or was returned by `grow`, so it is
        // of this arena's root (`HasArena`); `needed` exceeds its capacity.
        unsafe { grow_in_root(arena, used, element, needed, exact) }
    }

    #[inline]
    unsafe fn shrink(&mut self, used: Used, size: usize, capacity: usize) -> usize {
        debug_assert!(used.len <= capacity && capacity < used.capacity, "V1");
        let cursor = A::arena(self).root_as_is().cursor();
        // SAFETY: the block came from this cursor, which is the arena's root, and the memory after
        // `capacity` elements is not used again.
        unsafe { cursor.shrink_low(used.start, used.capacity * size, capacity * size) };
        capacity
    }
}

/// Grows a block of an arena's root. The last block grows in place if there is room for twice as
/// much. That uses only the two ends of the cursor, so the root need not be in use.
///
/// # Safety
///
/// The contract of [`Grow::grow`]. The block came from this arena's root.
#[cold]
#[inline(never)]
unsafe fn grow_in_root<F: Failure>(
    arena: &Arena,
    used: Used,
    element: Layout,
    needed: usize,
    exact: bool,
) -> Result<Room, F> {
    used.check(element, needed);
    let cursor = arena.root_as_is().cursor();
    let old = used.capacity * element.size();
    if used.has_block() && !poison::TRACKS && cursor.is_last_low(used.start, old) {
        let capacity = amortized_capacity(needed, used.capacity, element.size(), exact);
        if let Some(additional) = (capacity - used.capacity).checked_mul(element.size()) {
            // SAFETY: the block is the last one of this cursor: by this function's contract it came
            // from the root, and it ends at the low end.
            if let Some(start) = unsafe { cursor.lengthen_low(used.start, additional) } {
                return Ok(Room { start, capacity });
            }
        }
    }
    let root = arena.open_root_for::<F>(raw::Need::low(needed, element))?;
    // SAFETY: the block came from this arena's root, which is alive, and the rest is this
    // function's contract. A failure above leaves the block as it was.
    unsafe { grow_shared(root.cursor(), used, element, needed, exact) }
}

/// Grows a published block: in place if it is the last one of the region and the region has room,
/// and otherwise by copying it to a new block.
///
/// Compiled here for both failures, and for other crates: [`formatted`](crate::collections::formatted) and
/// `String::from_utf8_lossy_in` use it and are not `inline`.
///
/// # Safety
///
/// The contract of [`Grow::grow`]. The block came from the low end of this or another cursor, and
/// its lifetime has not ended.
#[cold]
#[inline(never)]
unsafe fn grow_shared<F: Failure>(
    cursor: &Cursor,
    used: Used,
    element: Layout,
    needed: usize,
    exact: bool,
) -> Result<Room, F> {
    used.check(element, needed);
    if exact && !used.has_block() {
        let start = cursor.reserve_low::<F>(layout(element, needed)?)?;
        return Ok(Room { start, capacity: needed });
    }
    let old = used.capacity * element.size();
    let is_last = used.has_block() && cursor.is_last_in_region(used.start, old);
    // Most blocks grow in place. A function of its own for the others keeps this one short.
    if is_last {
        let capacity = amortized_capacity(needed, used.capacity, element.size(), exact);
        if let Some(additional) = (capacity - used.capacity).checked_mul(element.size()) {
            // SAFETY: the block is the last one of the region, ends at the cursor's low end, and is
            // the vector's own, by this function's contract.
            if let Some(start) = unsafe { cursor.lengthen_low(used.start, additional) } {
                debug_assert_eq!(start, used.start, "it grew in place");
                return Ok(Room { start, capacity });
            }
        }
    }
    // SAFETY: `is_last` is what the cursor says, and the rest is this function's contract: a
    // failure above leaves the block and the cursor as they were.
    unsafe { grow_or_move(cursor, used, element, needed, exact, is_last) }
}

/// The less common cases of [`grow_shared`]: a first block, and a block that cannot grow in place
/// to the requested capacity.
///
/// # Safety
///
/// The contract of [`grow_shared`]. `is_last` says whether there is a block that
/// [is the last of the region](Cursor::is_last_in_region).
#[inline(never)]
unsafe fn grow_or_move<F: Failure>(
    cursor: &Cursor,
    used: Used,
    element: Layout,
    needed: usize,
    exact: bool,
    is_last: bool,
) -> Result<Room, F> {
    let size = element.size();
    let wanted = amortized_capacity(needed, used.capacity, size, exact);
    let here = match (used.has_block(), is_last) {
        (false, _) => cursor.largest_low(element.align()) / size,
        (true, true) => used.capacity + cursor.largest_growth() / size,
        (true, false) => 0,
    };
    if needed <= here {
        // If there is no room for as much as wanted, takes half of the chunk's free memory, or what
        // is needed if that is more, so that some is left for other values. If that is little beside
        // the block, takes all, because the block would soon come again.
        let half = needed.max(used.capacity + (here - used.capacity) / 2);
        let most = if half - used.capacity < used.capacity / 4 { here } else { half };
        let capacity = wanted.min(most);
        let start = if is_last {
            // SAFETY: by this function's contract, the block is the last one of the region, ends at
            // the cursor's low end, and is the vector's own.
            unsafe { cursor.lengthen_low(used.start, (capacity - used.capacity) * size) }
        } else {
            cursor.take_low(capacity, element)
        };
        if let Some(start) = start {
            return Ok(Room { start, capacity });
        }
    }
    if wanted > needed {
        // SAFETY: the block is as this function's contract says, because a failure above changes
        // nothing; `used.len <= used.capacity < needed < wanted`.
        if let Ok(room) = unsafe { move_shared::<AllocError>(cursor, used, element, wanted) } {
            return Ok(room);
        }
    }
    // SAFETY: the block is as this function's contract says, because a failure above changes
    // nothing; `used.len <= used.capacity < needed`.
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
    debug_assert!(used.len <= capacity, "the elements fit");
    let start = cursor.reserve_low::<F>(layout(element, capacity)?)?;
    // SAFETY: `used.len` elements are initialised, and the new block has room for them, as
    // `used.len <= capacity`; it was free, so they do not overlap.
    unsafe { start.copy_from_nonoverlapping(used.start, used.len * element.size()) };
    Ok(Room { start, capacity })
}

/// An exclusively borrowed scope; see [`Scope::grow_vec`].
///
/// [`Scope::grow_vec`]: crate::Scope::grow_vec
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let mut s = arena.scope();
/// use ebbtide::collections::{ScopeMut, Vector};
/// let mut list: Vector<u32, ScopeMut<'_, '_>> = s.grow_vec(); // a `GrowVec`
/// list.push(1);
/// assert_eq!(list.into_slice(), [1]);
/// ```
pub struct ScopeMut<'s, 'a> {
    scope: &'s mut Scope<'a>,
    /// The chunk whose region contains the builder: the scope's chunk, or one behind it in the
    /// list. The scope moves there when the builder is finished.
    chunk: NonNull<Header>,
}

// SAFETY: it borrows a scope exclusively, and a scope is `Send`; the chunk belongs to that scope.
unsafe impl Send for ScopeMut<'_, '_> {}
// SAFETY: a shared reference gives no access to the scope.
unsafe impl Sync for ScopeMut<'_, '_> {}

impl Memory for ScopeMut<'_, '_> {}

impl<'s, 'a> ScopeMut<'s, 'a> {
    #[inline(always)]
    pub(super) fn new(scope: &'s mut Scope<'a>) -> Self {
        let chunk = scope.cursor().chunk_address();
        ScopeMut { scope, chunk }
    }

    /// All the free memory of the scope's region, as room for elements of a layout that is not
    /// zero-sized.
    #[inline(always)]
    pub(super) fn room(&self, element: Layout) -> Room {
        room_of(self.scope.cursor(), element)
    }

    /// Finishes a builder: moves the low end of the scope behind its elements.
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
            // SAFETY: the builder's cursor derives from this one and is not used again.
            unsafe { cursor.move_to(&builder) };
        }
        // SAFETY: the elements begin at the start of the region's free part, rounded up, and end in
        // the region, and nothing was allocated since.
        unsafe { cursor.publish_low(used.start, used.len * size) };
    }
}

impl fmt::Debug for ScopeMut<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeMut").finish_non_exhaustive()
    }
}

// SAFETY: the room is the free memory of the scope's chunk or of one behind it in the list. The
// scope is borrowed exclusively, so nothing else is allocated there.
unsafe impl Grow for ScopeMut<'_, '_> {
    #[inline(always)]
    unsafe fn grow<F: Failure>(
        &mut self,
        used: Used,
        element: Layout,
        needed: usize,
        exact: bool,
    ) -> Result<Room, F> {
        let cursor = self.scope.cursor();
        // SAFETY: `used` is the block of a vector over this memory, by this function's contract.
        // The scope is borrowed exclusively, and `self.chunk` is where the builder is.
        let (room, chunk) =
            unsafe { grow_exclusive::<F>(cursor, self.chunk, used, element, needed, exact)? };
        self.chunk = chunk;
        Ok(room)
    }

    /// Does nothing: the builder uses all the free memory anyway.
    #[inline]
    unsafe fn shrink(&mut self, used: Used, _size: usize, _capacity: usize) -> usize {
        used.capacity
    }
}

/// All the free memory of a cursor's region.
#[inline]
fn room_of(cursor: &Cursor, element: Layout) -> Room {
    match cursor.free_part(element.align()) {
        Some((start, bytes)) => Room { start, capacity: bytes / element.size() },
        None => Room { start: NonNull::dangling(), capacity: 0 },
    }
}

/// Moves the elements to a chunk with room for `needed`, or for more unless `exact`. The scope's
/// own cursor stays where it is.
///
/// # Safety
///
/// The contract of [`Grow::grow`]. The scope of `cursor` is borrowed exclusively. The builder is in
/// `chunk`: the cursor's chunk, or the one that this function returned last.
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
    used.check(element, needed);
    let wanted = amortized_capacity(needed, used.len, element.size(), exact);
    debug_assert!(wanted >= needed);
    if wanted > needed {
        // SAFETY: by this function's contract, the scope is borrowed exclusively and the builder is
        // in `chunk`; `used.len <= used.capacity < needed < wanted`.
        let moved = unsafe { move_exclusive::<AllocError>(cursor, chunk, used, element, wanted) };
        if let Ok(moved) = moved {
            return Ok(moved);
        }
    }
    // SAFETY: by this function's contract, the scope is borrowed exclusively and the builder is in
    // `chunk`: a failure above changes neither; `used.len < needed`.
    unsafe { move_exclusive(cursor, chunk, used, element, needed) }
}

/// Moves the elements to a chunk behind `chunk` that has room for `capacity`.
///
/// # Safety
///
/// The contract of [`grow_exclusive`], and `used.len <= capacity`.
unsafe fn move_exclusive<F: Failure>(
    cursor: &Cursor,
    chunk: NonNull<Header>,
    used: Used,
    element: Layout,
    capacity: usize,
) -> Result<(Room, NonNull<Header>), F> {
    let layout = layout::<F>(element, capacity)?;
    // SAFETY: by this function's contract, the builder is in `chunk`, and the scope is borrowed
    // exclusively, so only one of the two cursors is used (I4).
    let builder = unsafe { cursor.builder_in(chunk) };
    // SAFETY: `builder_in` returned the builder's cursor for this one.
    unsafe { cursor.advance_builder::<F>(&builder, layout)? };
    let room = room_of(&builder, element);
    debug_assert!(room.capacity >= capacity && used.len <= capacity, "the elements fit");
    debug_assert_ne!(builder.chunk_address(), chunk, "the chunk is another one");
    // SAFETY: the elements are initialised, and the room lies in a chunk without other live blocks.
    unsafe { room.start.copy_from_nonoverlapping(used.start, used.len * element.size()) };
    Ok((room, builder.chunk_address()))
}

/// The memory of a vector that holds no scope; see [`NodeVec`](crate::collections::NodeVec). Each
/// call that may allocate takes a scope instead.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// use ebbtide::collections::{NoScope, Vector};
/// let mut node: Vector<u32, NoScope<'_>, u32> = Vector::new(); // a `NodeVec`
/// node.push(&s, 1);
/// assert_eq!(node, [1]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoScope<'a>(PhantomData<&'a ()>);
