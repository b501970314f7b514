//! Chunks: the blocks that an arena got from its backing, their headers, and the lists they form.
//!
//! ```text
//! block from the backing                         Control
//! ┌────────┬─┬───────────────────────┬─┐         ┌─────────┐
//! │ Header │ │ region                │ │         │ head ───┼ next ─► chunk ─ next ─► chunk ─ next ─► …
//! └────────┴─┴───────────────────────┴─┘         └─────────┘         in use          in use   free
//!            low ►             ◄ top, at a cache line: the gaps and the header fill whole lines
//! ```
//!
//! The order of a list is the order in which scopes enter its chunks. When a scope ends, its chunks
//! stay in the list, behind the chunk in which the next scope begins. All of this is cold code. The
//! fast paths are in [`raw`](crate::raw) and read no header.
//!
//! The arena's own list begins with the *head*, a header in the control block. The head represents
//! the region of the arena's first block or of a caller's buffer, so opening a scope there reads
//! nothing but the arena. The head moves with the arena, which is possible whenever the arena is
//! not borrowed. Records that outlast a borrow of the arena therefore store a [`ChunkName`], not an
//! address.
//!
//! # Invariants
//!
//! - **L1** Every [`Link`](header::Link), every cursor in use and every handle points to a live
//!   header: the head of an arena that is borrowed, or the header of a block that the arena has not
//!   released. Only [`blocks::release_block`] and the end of the arena release blocks, while the arena
//!   is borrowed exclusively, and after no link of the control block, or of a chunk that stays, leads
//!   to them.
//! - **L2** Each chunk of an arena, except the head's block, is in exactly one list: the arena's
//!   own, that of a class of spare chunks, or a claim's. Lists have no cycles, and a list holds
//!   chunks of one arena only.
//! - **L3** The links `newest` and `older` connect every chunk but the head's block.
//! - **L4** Every header but the head stores the address of its control block. In a *current*
//!   chunk, one that a cursor in use points to, this is the arena's present address: it is written
//!   when a scope opens there, when a cursor enters the chunk, and when a claim begins.
//! - **L5** The anchor of a chunk comes before the chunk in the list. The first chunk of a list has
//!   no anchor.
//! - **L6** `held` is the sum of all block sizes, and `capacity` that of their regions. `held` exceeds `limit` only if the limit was lowered
//!   below it.
//!
//! [`ControlRef::check`] asserts the observable part of them after every slow operation of a debug
//! build.
//!
//! # Files, each importing only from those above it
//! | file | contents |
//! |---|---|
//! | `header` | the header, and the handles `ChunkRef`, `Link`, `ChunkName` |
//! | `control` | the control block, and the handles `ControlRef`, `CurrentChunk` |
//! | `blocks` | requests to the backing: sizes, new chunks, releases |
//! | `spare` | the spare chunks, by size |
//! | `list` | linking chunks, `reclaim`, what a reset keeps |
//! | `claims` | lists of their own for claims |

mod blocks;
mod claims;
mod control;
mod header;
mod list;
mod spare;

#[cfg(feature = "alloc")]
pub(crate) use self::blocks::doubled;
#[cfg(feature = "std")]
pub(crate) use self::control::CLAIMED;
pub(crate) use self::{
    blocks::{FIRST_CHUNK, LARGEST_CHUNK, size_for_capacity},
    claims::{claim, end_claim},
    control::{Control, ControlRef, CurrentChunk},
    header::{ChunkName, ChunkRef, Header, overhead},
    list::link_next_chunk,
};

use self::control::BackingCalls;
use crate::{backing::Backing, error::AllocError};
use core::{alloc::Layout, ptr::NonNull};

/// A control block and the backing that it calls. Dropping it releases every chunk.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Chunks<B: Backing> {
    control: Control,
    backing: B,
}

impl<B: Backing> Chunks<B> {
    /// Creates a control block without chunks. The first ordinary chunk will have `first_size`
    /// bytes, header included.
    pub(crate) const fn new(backing: B, first_size: usize) -> Self {
        let calls = BackingCalls { allocate: allocate::<B>, release: release::<B> };
        // SAFETY: the block becomes the first field of a `Chunks<B>`, which is what the two expect.
        Chunks { control: unsafe { Control::new(calls, first_size) }, backing }
    }

    /// The control block, with provenance for the whole struct, including the backing.
    #[inline(always)]
    pub(crate) fn control(&self) -> ControlRef<'_> {
        // SAFETY: the borrow keeps the arena in place. `Control` is the first field of this
        // `repr(C)` struct, so the addresses are equal; this one has provenance for all of it.
        unsafe { ControlRef::new(NonNull::from(self).cast()) }
    }

    pub(crate) fn backing(&self) -> &B {
        &self.backing
    }

    /// Requests the arena's first block, with room for `region` bytes, and gives its region to the
    /// head. The next one is twice as large.
    ///
    /// # Errors
    ///
    /// If the backing refused even the smallest sufficient size, the limit would be exceeded, the
    /// size exceeds `isize::MAX`, or the request comes from the backing itself. Nothing changes then.
    pub(crate) fn make_first_block(&self, region: usize) -> Result<(), AllocError> {
        let control = self.control();
        let allocate = |layout| control.while_busy(|| self.backing.allocate(layout));
        control.make_first_block(region, allocate)
    }

    /// Releases every chunk.
    ///
    /// # Safety
    ///
    /// No scope, claim or allocation is left, and the arena is not used again.
    #[inline(never)]
    unsafe fn release_at_end(&self) {
        let control = self.control();
        // SAFETY: the caller says that nothing is left.
        match unsafe { control.only_block() } {
            // SAFETY: the backing gave the block for this layout, and nothing uses it any more, as
            // the caller says.
            Some((block, layout)) => unsafe { self.backing.release(block, layout) },
            // SAFETY: the caller says that nothing is left in the chunks.
            None => unsafe { control.release_all() },
        }
    }
}

impl<B: Backing> Drop for Chunks<B> {
    #[inline]
    fn drop(&mut self) {
        // L6: otherwise there is no chunk.
        if self.control.held() > 0 {
            // SAFETY: scopes, claims and allocations borrow the owner of this, so none is left.
            unsafe { self.release_at_end() };
        }
    }
}

/// Calls `Backing::allocate` of the backing that follows a control block.
///
/// # Safety
///
/// `control` is the address of a `Chunks<B>`, with provenance for all of it.
unsafe fn allocate<B: Backing>(
    control: NonNull<Control>,
    layout: Layout,
) -> Result<NonNull<[u8]>, AllocError> {
    // SAFETY: the address is that of a `Chunks<B>`, as the caller says. A scope or the owner
    // borrows it, and nothing has a `&mut` to a part of it while the backing is called.
    let chunks = unsafe { control.cast::<Chunks<B>>().as_ref() };
    chunks.backing.allocate(layout)
}

/// Calls `Backing::release` of the backing that follows a control block.
///
/// # Safety
///
/// `control` is the address of a `Chunks<B>`, with provenance for all of it. Its backing gave
/// `block` for this `layout`; it was not released since and is not used again.
unsafe fn release<B: Backing>(control: NonNull<Control>, block: NonNull<u8>, layout: Layout) {
    // SAFETY: the address is that of a `Chunks<B>`, as the caller says. Only shared references to
    // it are in use while the backing is called.
    let chunks = unsafe { control.cast::<Chunks<B>>().as_ref() };
    // SAFETY: the caller says that this backing gave the block for this layout, and that the block
    // was not released since and is not used again.
    unsafe { chunks.backing.release(block, layout) };
}
