//! The header of a chunk, and the handles that refer to it.
//!
//! Every field is a `Cell` and no `&mut Header` is ever created, so shared references to a header
//! never conflict. Lists store chunks as [`Link`]s, all other code as [`ChunkRef`]s. The module
//! [`chunk`](super) has the invariants that make them valid.

use crate::{
    arith::{self, CHUNK_ALIGN},
    poison::{self, Touched},
};
use core::{alloc::Layout, cell::Cell, marker::PhantomData, ops::Deref, ptr::NonNull};

/// The region of a chunk ends at a multiple of this. Blocks of one, two, four … cache lines at its
/// high end then occupy as many lines, and not one more: filling 512 bytes takes 0.6 of the time.
///
/// The ordinary sizes are multiples of it as well, so the region of an ordinary chunk also begins
/// at one. Copying a kilobyte to the first block of the low end takes 0.8 of the time, and moving
/// elements in it as little as 0.7.
pub(super) const CACHE_LINE: usize = 64;

/// The smallest page of common systems, in bytes. The region of a chunk does not end at a multiple
/// of this, if a cache line can be spared for that; one of a page or more has it to spare.
///
/// `memcmp` of glibc compares short strings by reading a whole vector with a mask. If the masked
/// part lies in a page that was never written to, each comparison takes half a microsecond instead
/// of a nanosecond. Large blocks of `malloc` end 16 bytes after a page boundary, so the first
/// strings of a chunk would be affected.
pub(super) const PAGE: usize = 4096;

/// The bytes of a chunk outside a region of less than a page: the header, and what rounding the end
/// may take. A multiple of a cache line, so that the region of an ordinary chunk is one as well.
const OVERHEAD: usize =
    (size_of::<Header>() + CACHE_LINE - CHUNK_ALIGN).next_multiple_of(CACHE_LINE);

const _: () = assert!(OVERHEAD % CHUNK_ALIGN == 0 && align_of::<Header>() <= CHUNK_ALIGN);

/// Marks a bound in the place of free bytes, which lie above it.
const BOUND: NonNull<u64> = NonNull::dangling();

/// The bytes of a chunk outside a region of `capacity` bytes.
pub(crate) const fn overhead(capacity: usize) -> usize {
    if capacity < PAGE { OVERHEAD } else { OVERHEAD + CACHE_LINE }
}

/// The bytes requested from the backing for a region of `capacity` bytes.
pub(super) fn block_size(capacity: usize) -> usize {
    capacity + overhead(capacity)
}

/// The layout for which the block with a region of `capacity` bytes was requested.
///
/// # Safety
///
/// There is such a block.
pub(super) unsafe fn block_layout(capacity: usize) -> Layout {
    // SAFETY: `new_block` made a layout of this size and alignment.
    unsafe { Layout::from_size_align_unchecked(block_size(capacity), CHUNK_ALIGN) }
}

/// The largest region of a chunk of at most `size` bytes, which are at least [`OVERHEAD`] and a
/// multiple of [`CHUNK_ALIGN`].
pub(super) fn capacity_within(size: usize) -> usize {
    let large = size.saturating_sub(OVERHEAD + CACHE_LINE);
    if large < PAGE { (size - OVERHEAD).min(PAGE - CHUNK_ALIGN) } else { large }
}

/// The end of a region that a block is taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum End {
    /// From the top downwards: blocks that keep their size.
    High,
    /// From the low end upwards: blocks that may grow.
    Low,
}

/// A block for which a chunk must have room, of at most `isize::MAX` bytes, as [`arith`] requires.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) end: End,
}

impl Room {
    /// Every chunk has it.
    pub(super) const NOTHING: Room = Room { size: 0, align: 1, end: End::High };

    /// The start of the block in the region of a chunk. `None` if there is no room.
    #[inline(always)]
    pub(crate) fn start_in(&self, chunk: &Header) -> Option<usize> {
        let (top, low) = (chunk.top().addr().get(), chunk.low().addr().get());
        match self.end {
            End::High => arith::down(top, low, self.size, self.align),
            End::Low => arith::up(top, low, self.size, self.align),
        }
    }

    /// The size of a region that has room wherever it lies. `None` if none is as large.
    pub(super) fn region(&self) -> Option<usize> {
        // A low-end block ends below the top of its region (I5).
        arith::region_for(self.size + usize::from(self.end == End::Low), self.align)
    }
}

/// The record at the start of every chunk. The control block contains one more, the *head*.
#[repr(C)]
pub(crate) struct Header {
    /// The region: the bytes that allocations come from.
    region_low: Cell<NonNull<u8>>,
    region_top: Cell<NonNull<u8>>,
    /// The chunk that a cursor enters after this one.
    pub(super) next: Link,
    /// The first chunk of a claim's list; `None` in the arena's own list, which begins with the
    /// head. In the first spare chunk of a class, that of the next class.
    pub(super) list_start: Link,
    /// The chunk that the backing gave before this one. It may be in any list.
    pub(super) older: Link,
    /// The address of the arena's control block (L4), untyped because that type is defined in a
    /// higher layer. `None` in the head, which is part of the control block.
    pub(super) control: Cell<Option<NonNull<()>>>,
    /// The *anchor*, while this chunk serves one oversize request: the chunk whose region the
    /// cursor uses (I3).
    pub(super) anchor: Cell<Option<ChunkName>>,
    /// The free bytes of the region when a cursor last left it for another. Until a cursor enters the
    /// chunk, it may be a [bound](Header::bound_behind) instead.
    pub(super) free_when_left: Cell<NonNull<[u8]>>,
    /// The capacity of all chunks before this one in the list, when a cursor last entered this
    /// chunk.
    pub(super) capacity_before: Cell<usize>,
    /// The part of the region that scopes have written to since it was last poisoned, if that is
    /// recorded.
    touched: Touched,
}

impl Header {
    /// A header without a region, in no list.
    pub(super) const fn vacant() -> Self {
        Header {
            region_low: Cell::new(NonNull::dangling()),
            region_top: Cell::new(NonNull::dangling()),
            next: Link::none(),
            list_start: Link::none(),
            older: Link::none(),
            control: Cell::new(None),
            anchor: Cell::new(None),
            free_when_left: Cell::new(NonNull::<[u8; 0]>::dangling()),
            capacity_before: Cell::new(0),
            touched: Touched::nowhere(),
        }
    }

    /// Sets the region to `low..top`, in which nothing is touched, of a block of the backing.
    pub(super) fn set_fresh_region(&self, low: NonNull<u8>, top: NonNull<u8>) {
        self.set_region(low, top);
        self.touched.reset(low, top);
        poison::forbid(low, self.capacity());
    }

    /// Sets the region to `low..top`, a buffer of the caller's with unknown content.
    pub(super) fn set_buffer(&self, low: NonNull<u8>, top: NonNull<u8>) {
        self.set_region(low, top);
        self.touched.mark_all(low, top);
    }

    fn set_region(&self, low: NonNull<u8>, top: NonNull<u8>) {
        self.region_low.set(low);
        self.region_top.set(top);
    }

    /// The first byte of the region.
    #[inline(always)]
    pub(crate) fn low(&self) -> NonNull<u8> {
        self.region_low.get()
    }

    /// The end of the region.
    #[inline(always)]
    pub(crate) fn top(&self) -> NonNull<u8> {
        self.region_top.get()
    }

    /// The size of the region in bytes.
    pub(crate) fn capacity(&self) -> usize {
        self.region_top.get().addr().get() - self.region_low.get().addr().get()
    }

    /// The whole region.
    pub(crate) fn region_bytes(&self) -> NonNull<[u8]> {
        NonNull::slice_from_raw_parts(self.low(), self.capacity())
    }

    /// Whether there is no region, not even an empty one.
    pub(crate) fn is_vacant(&self) -> bool {
        self.region_top.get() == NonNull::dangling()
    }

    /// The free bytes of the region when a cursor last left it for another.
    pub(crate) fn free_when_left(&self) -> NonNull<[u8]> {
        self.free_when_left.get()
    }

    /// What a search found out: no chunk from this one to the end of its list has a larger capacity.
    pub(super) fn bound_behind(&self) -> Option<usize> {
        let bound = self.free_when_left.get();
        (bound.cast() == BOUND).then_some(bound.len())
    }

    /// Sets the bound. It holds until a cursor enters this chunk, because only then chunks are
    /// inserted behind it, or the chunk leaves the list.
    pub(super) fn set_bound_behind(&self, capacity: usize) {
        self.free_when_left.set(NonNull::slice_from_raw_parts(BOUND.cast(), capacity));
    }

    /// Forgets the bound, and what was free when a cursor left the chunk.
    pub(super) fn forget_bound_behind(&self) {
        self.free_when_left.set(NonNull::<[u8; 0]>::dangling());
    }

    /// Whether a block was taken from the low end when a cursor last entered or left the region.
    pub(super) fn held_low_block(&self) -> bool {
        self.free_when_left().cast::<u8>() > self.low()
    }

    /// Bytes requested from the backing. Not for the head.
    pub(crate) fn block_size(&self) -> usize {
        debug_assert!(self.control.get().is_some(), "the head knows no block");
        block_size(self.capacity())
    }

    /// Whether the chunk serves one oversize request of the scope that last entered it.
    #[inline(always)]
    pub(crate) fn is_oversize(&self) -> bool {
        self.anchor.get().is_some()
    }

    /// Whether `address` lies in the region or is its end.
    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.region_low.get().addr().get()..=self.region_top.get().addr().get()).contains(&address)
    }

    /// Records that a block of the region was handed out.
    pub(crate) fn track(&self, block: NonNull<u8>, size: usize, from_high_end: bool) {
        self.touched.hand_out(block, size, from_high_end);
    }

    /// Poisons the touched part of `low..top`, which is a free part of the region.
    ///
    /// # Safety
    ///
    /// `low..top` lies in the region, and nobody uses it (I2).
    pub(crate) unsafe fn poison(&self, low: NonNull<u8>, top: NonNull<u8>) {
        // SAFETY: by this function's contract, `low..top` lies in the region, and nobody uses it
        // (I2).
        unsafe { self.touched.poison(low, top) };
    }
}

/// A chunk of an arena: a reference to its header through which the block can also be released.
///
/// It differs from `&'c Header` in its provenance, which extends to the whole block or, for the
/// head, to the control block at least.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ChunkRef<'c> {
    header: NonNull<Header>,
    arena: PhantomData<&'c Header>,
}

impl<'c> ChunkRef<'c> {
    /// # Safety
    ///
    /// `header` points to the header of a chunk that its arena does not release while the handle is used
    /// (L1), with provenance for the whole block; or to the head of an arena that is neither moved nor
    /// dropped during `'c`, with provenance for its control block.
    #[inline(always)]
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        ChunkRef { header, arena: PhantomData }
    }

    /// The header, for as long as the arena keeps the chunk (L1).
    #[inline(always)]
    pub(crate) fn header(self) -> &'c Header {
        // SAFETY: the creator of this handle guarantees that the header exists while the handle is used
        // (L1). It is never borrowed mutably.
        unsafe { self.header.as_ref() }
    }

    /// The address of the header, with the provenance of this handle.
    #[inline(always)]
    pub(crate) fn as_ptr(self) -> NonNull<Header> {
        self.header
    }

    /// The chunk that a cursor enters after this one.
    pub(crate) fn next(self) -> Option<ChunkRef<'c>> {
        self.header().next.get()
    }

    /// This chunk and the ones behind it, in list order.
    pub(crate) fn onwards(self) -> Chunks<'c> {
        Chunks(Some(self))
    }

    /// The chunks behind this one, in list order.
    pub(crate) fn behind(self) -> Chunks<'c> {
        Chunks(self.next())
    }

    /// Whether this is the head of an arena, the only header without the address of a control
    /// block.
    pub(super) fn is_head(self) -> bool {
        self.control.get().is_none()
    }
}

/// A chunk of a list and the ones behind it. `next` of a chunk is read before the chunk is returned. A type
/// of its own, because an adapter of the standard library makes the compiler generate a dozen functions
/// for each use.
pub(crate) struct Chunks<'c>(pub(super) Option<ChunkRef<'c>>);

impl<'c> Iterator for Chunks<'c> {
    type Item = ChunkRef<'c>;

    fn next(&mut self) -> Option<ChunkRef<'c>> {
        let chunk = self.0?;
        self.0 = chunk.next();
        Some(chunk)
    }
}

impl Deref for ChunkRef<'_> {
    type Target = Header;

    #[inline(always)]
    fn deref(&self) -> &Header {
        self.header()
    }
}

/// A link to a chunk (L1), in a list or in the control block.
#[derive(Clone)]
#[repr(transparent)]
pub(super) struct Link(Cell<Option<NonNull<Header>>>);

impl Link {
    pub(super) const fn none() -> Self {
        Link(Cell::new(None))
    }

    #[inline]
    pub(super) fn get(&self) -> Option<ChunkRef<'_>> {
        // SAFETY: a link points to a chunk of its own arena, which is not released while a link leads
        // to it, nor afterwards as long as this handle is used (L1). It was set from a handle, so it has
        // a handle's provenance.
        self.0.get().map(|header| unsafe { ChunkRef::new(header) })
    }

    #[inline]
    pub(super) fn set(&self, chunk: Option<ChunkRef<'_>>) {
        self.0.set(chunk.map(ChunkRef::as_ptr));
    }

    #[inline]
    pub(super) fn replace(&self, chunk: Option<ChunkRef<'_>>) -> Option<ChunkRef<'_>> {
        let old = self.get();
        self.set(chunk);
        old
    }

    #[inline]
    pub(super) fn take(&self) -> Option<ChunkRef<'_>> {
        self.replace(None)
    }
}

/// Identifies a chunk in records that may outlast a loan of the arena: by its address, or as the
/// head, which moves with the control block. Gives no access to the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ChunkName(NonNull<Header>);

impl ChunkName {
    /// The head of the arena in which the name is used.
    pub(crate) const HEAD: ChunkName = ChunkName(NonNull::dangling());

    pub(crate) fn of(chunk: ChunkRef<'_>) -> Self {
        if chunk.is_head() { ChunkName::HEAD } else { ChunkName(chunk.as_ptr()) }
    }

    /// The header's address, unless the name is [`HEAD`](ChunkName::HEAD).
    pub(super) fn address(self) -> Option<NonNull<Header>> {
        (self != ChunkName::HEAD).then_some(self.0)
    }
}
