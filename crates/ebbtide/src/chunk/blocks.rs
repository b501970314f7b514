//! Requests to the backing: the sizes of new chunks, creating a chunk in a block, releasing chunks.

use super::{
    control::{CONTROL_ROOM, ControlRef},
    header::{
        CACHE_LINE, ChunkRef, Chunks, Header, PAGE, block_layout, block_size, capacity_within,
        overhead,
    },
};
use crate::{
    arith::{self, CHUNK_ALIGN, HUGE_PAGE, LOWEST_ADDRESS},
    error::AllocError,
    poison, prefetch,
};
use core::{alloc::Layout, ptr::NonNull};

/// The size of the first ordinary chunk, header included, unless the user chose another.
pub(crate) const FIRST_CHUNK: usize = 16 * 1024 - ALLOCATOR_OVERHEAD;

/// The largest size of an ordinary chunk, header included. Only an arena's first chunk may be
/// larger, if the user asks for that.
pub(crate) const LARGEST_CHUNK: usize = 2 * HUGE_PAGE;

/// The size of the first chunk of a claim, header included.
pub(super) const FIRST_CLAIM: usize = 512 - ALLOCATOR_OVERHEAD;

/// Bytes that common heaps add to a block. Chunk sizes are reduced by this number, so that a chunk
/// does not take one page more.
const ALLOCATOR_OVERHEAD: usize = CACHE_LINE;

/// The size of a first block whose region has room for `capacity` bytes, at whatever address the
/// block lies. `None` on overflow.
pub(crate) const fn size_for_capacity(capacity: usize) -> Option<usize> {
    let Some(region) = arith::region_for(capacity, 1) else { return None };
    region.checked_add(first_overhead(region))
}

/// The bytes of an arena's first block outside a region of `capacity` bytes.
pub(crate) const fn first_overhead(capacity: usize) -> usize {
    CONTROL_ROOM + overhead(capacity.saturating_add(CONTROL_ROOM))
}

/// The least size of a chunk whose region has `region` bytes. `None` on overflow.
pub(super) fn least_size(region: usize) -> Option<usize> {
    let capacity = region.checked_next_multiple_of(CHUNK_ALIGN)?;
    capacity.checked_add(overhead(capacity))
}

/// The ordinary size after `ordinary`: twice as much, rounded up to whole huge pages if it is only
/// a little less; at most [`LARGEST_CHUNK`].
pub(crate) fn doubled(ordinary: usize) -> usize {
    let doubled = ordinary.saturating_mul(2).min(LARGEST_CHUNK);
    match doubled.next_multiple_of(HUGE_PAGE) {
        pages if pages - doubled <= HUGE_PAGE / 8 => pages,
        _ => doubled,
    }
}

/// The capacity of a block for which `wanted` bytes are requested, at most `isize::MAX`, if neither a
/// limit nor the request needs another one.
pub(super) fn usual_capacity(wanted: usize) -> usize {
    capacity_within(wanted & !(CHUNK_ALIGN - 1))
}

/// Requests a chunk of the arena's ordinary size, or of `wanted` bytes if that is more, and doubles the
/// ordinary size for the next one.
///
/// # Errors
///
/// Those of [`new_chunk`].
pub(super) fn new_ordinary_chunk(
    control: ControlRef<'_>,
    region: usize,
    wanted: usize,
) -> Result<ChunkRef<'_>, AllocError> {
    let ordinary = control.settings.next_size.get();
    let chunk = new_chunk(control, region, ordinary.max(wanted))?;
    // Every call to the backing doubles the ordinary size, even one for an oversize request. So
    // after a few requests slightly above it, the ordinary size exceeds them. The size of the
    // oversize request itself does not count.
    control.settings.next_size.set(doubled(ordinary));
    Ok(chunk)
}

/// Requests a block by [`new_block`], and makes and registers a chunk in it. The chunk is not linked
/// into a list. The request does not come from the backing itself, which the callers have tested.
///
/// # Errors
///
/// Those of [`new_block`].
pub(super) fn new_chunk(
    control: ControlRef<'_>,
    region: usize,
    wanted: usize,
) -> Result<ChunkRef<'_>, AllocError> {
    let allowed = control.allowed();
    let allocate = |layout| control.call_allocate(layout);
    // SAFETY: the backing just gave the block for this layout, and nothing uses it.
    let release = |block, layout| unsafe { control.call_release(block, layout) };
    let NewBlock { block, size, low, top } =
        new_block(region, wanted, allowed, &allocate, &release)?;
    let header = block.cast::<Header>();
    // SAFETY: the block is aligned to `CHUNK_ALIGN`, which is enough for a header; it has room for
    // one in front of the region; and nothing uses it yet.
    unsafe { header.write(Header::vacant()) };
    // SAFETY: L1: the header was just written, and the block is the arena's until `release`. The
    // address is the backing's, with provenance for the whole block.
    let chunk = unsafe { ChunkRef::new(header) };
    // Every header but the head stores the address of the control block (L4).
    chunk.control.set(Some(control.as_ptr().cast()));
    chunk.set_fresh_region(low, top);
    control.held.set(control.held() + size);
    control.capacity.set(control.capacity() + chunk.capacity());
    chunk.older.set(control.newest.get());
    control.newest.set(Some(chunk));
    control.has_chunks.set(true);
    control.settings.is_new.set(false);
    Ok(chunk)
}

/// A block of the backing, and a region in it, before which there is room for a header.
pub(super) struct NewBlock {
    pub(super) block: NonNull<u8>,
    pub(super) size: usize,
    pub(super) low: NonNull<u8>,
    pub(super) top: NonNull<u8>,
}

impl NewBlock {
    /// The block of a chunk, and its region.
    pub(super) fn of(chunk: ChunkRef<'_>) -> Self {
        let (low, top) = (chunk.low(), chunk.top());
        NewBlock { block: chunk.as_ptr().cast(), size: chunk.block_size(), low, top }
    }
}

/// Requests a block of `wanted` bytes, header included, or one with room for `region` bytes if that
/// is more. If the backing refuses, requests half as much, as long as `region` bytes fit. Nothing is
/// written to the block, which has at most `allowed` bytes. `allocate` calls the backing, and so does
/// `release`, for a block that cannot be used.
///
/// # Errors
///
/// If the backing refused even the smallest sufficient size, that exceeds what is allowed, or it
/// exceeds `isize::MAX`.
#[inline]
pub(super) fn new_block(
    region: usize,
    wanted: usize,
    allowed: usize,
    allocate: &dyn Fn(Layout) -> Result<NonNull<u8>, AllocError>,
    release: &dyn Fn(NonNull<u8>, Layout),
) -> Result<NewBlock, AllocError> {
    let least = least_size(region).ok_or(AllocError)?;
    if least > allowed {
        return Err(AllocError);
    }
    let mut most = wanted.min(isize::MAX as usize).max(least).min(allowed);
    let (block, layout, capacity) = loop {
        let capacity = usual_capacity(most);
        let size = block_size(capacity);
        let layout = Layout::from_size_align(size, CHUNK_ALIGN).map_err(|_| AllocError)?;
        match allocate(layout) {
            Ok(block) => break (block, layout, capacity),
            Err(AllocError) if size > least => most = (size / 2).max(least),
            Err(AllocError) => return Err(AllocError),
        }
    };
    let size = layout.size();
    if block.addr().get() < LOWEST_ADDRESS {
        // The comparison of the fast path relies on this (see `arith`).
        release(block, layout);
        return Err(AllocError);
    }

    // Both ends move by the same number of bytes, so the capacity does not depend on the address of
    // the block.
    let mut end = size - (block.addr().get() + size) % CACHE_LINE;
    let spare = size - capacity - size_of::<Header>() - (size - end);
    if (block.addr().get() + end) % PAGE == 0 && spare >= CACHE_LINE {
        end -= CACHE_LINE;
    }
    let start = end - capacity;
    // SAFETY: `start` is behind the header and before `end`, in the `size` bytes of the block (I5).
    let low = unsafe { block.add(start) };
    // SAFETY: `end` is at most `size`, the block's own end.
    let top = unsafe { block.add(end) };
    debug_assert!(start >= size_of::<Header>() && end <= size, "I5: header, then region");
    debug_assert!(capacity >= region, "there is room for the request");
    debug_assert_eq!(top.addr().get() % CHUNK_ALIGN, 0, "a child needs no rounding");
    prefetch::prepare(size);
    Ok(NewBlock { block, size, low, top })
}

/// Releases `chunk` and all chunks after it, following `next`. None of them counts any more (L6) when
/// the backing is called, which may end claims of the arena and ask for its statistics.
///
/// # Safety
///
/// The contract of [`release`], for each of them.
pub(super) unsafe fn release_chain<'c>(control: ControlRef<'c>, chunk: Option<ChunkRef<'c>>) {
    for chunk in Chunks(chunk) {
        discount(control, chunk);
    }
    for chunk in Chunks(chunk) {
        // SAFETY: by this function's contract, the chunk is the arena's, nothing refers to it, and
        // nothing in it is used again. The iterator has read `next` already.
        unsafe { give_back(control, chunk) };
    }
}

/// Removes a chunk that is being released from the sums of the control block.
fn discount(control: ControlRef<'_>, chunk: ChunkRef<'_>) {
    debug_assert!(!chunk.is_head() && chunk.block_size() <= control.held(), "L6");
    control.held.set(control.held() - chunk.block_size());
    control.capacity.set(control.capacity() - chunk.capacity());
}

/// Gives the block of a chunk back to the backing.
///
/// # Safety
///
/// The chunk belongs to the arena, and no list and no other record of the control block refers to
/// it. Nothing in it is used again, and no cursor that is used again points to it.
pub(super) unsafe fn release(control: ControlRef<'_>, chunk: ChunkRef<'_>) {
    discount(control, chunk);
    // SAFETY: by this function's contract, the chunk is the arena's, nothing refers to it, and
    // nothing in it is used again.
    unsafe { give_back(control, chunk) };
}

/// [`release`] without the sums.
///
/// # Safety
///
/// The contract of [`release`].
unsafe fn give_back(control: ControlRef<'_>, chunk: ChunkRef<'_>) {
    // SAFETY: the chunk has a block, whose header this is.
    let layout = unsafe { block_layout(chunk.capacity()) };
    // SAFETY: this is the whole region of the chunk, and nothing in it is used again, by this
    // function's contract.
    unsafe { chunk.poison(chunk.low(), chunk.top()) };
    poison::lift(chunk.low(), chunk.capacity());
    // SAFETY: `new_block` got the block from this backing for this layout, and it was not released
    // since; by this function's contract, nothing refers to it any more.
    unsafe { control.call_release(chunk.as_ptr().cast(), layout) };
}
