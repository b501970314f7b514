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
//! A list is in the order in which scopes enter the chunks. A scope's end gives no chunk back: the
//! next scope finds them behind the chunk it begins in. All of this is cold code. The fast paths
//! are in [`raw`](crate::raw) and read no header.
//!
//! The arena's own list begins with the *head*, a header in the control block. The head stands for
//! the region of the arena's first block or for a caller's buffer, so opening a scope there reads
//! nothing but the arena. The head moves when the arena does, between loans. What outlasts a loan
//! therefore calls it by a [`ChunkName`], not by its address.
//!
//! # Invariants
//!
//! - **L1** Every [`Link`](header::Link), every cursor in use and every handle names a header that
//!   exists: the head of an arena that is borrowed, or the header of a block that the arena has not
//!   released. Blocks are released in [`blocks::release_chain`] only, after they were taken out of
//!   every link, while the arena is borrowed exclusively.
//! - **L2** The chunks of an arena, except the head's block, are each in one list: the arena's
//!   own, the spare ones, or a claim's. Lists end and share no chunk. A list holds chunks of one
//!   arena.
//! - **L3** `newest` and `older` lead to every chunk but the head's block.
//! - **L4** Every header but the head notes the address of its control block. In a *current* chunk,
//!   one that a cursor in use names, this is where the arena is now: it is written where a scope
//!   opens, where a cursor enters the chunk and where a claim begins.
//! - **L5** An anchor comes before its chunk in the list. A chunk that begins a list has none.
//! - **L6** `held` is the sum of all block sizes. It exceeds `limit` only where the limit was
//!   lowered.
//!
//! [`ControlRef::check`] asserts what can be seen of them after every slow operation of a debug
//! build.
//!
//! # Files, each importing only from those above it
//! | file | contents |
//! |---|---|
//! | `header` | the header, and the handles `ChunkRef`, `Link`, `ChunkName` |
//! | `control` | the control block, and the handles `ControlRef`, `CurrentChunk` |
//! | `blocks` | requests to the backing: sizes, new chunks, releases |
//! | `list` | linking and unlinking, `gather`, what a reset keeps |
//! | `claims` | lists of their own for claims |

mod blocks;
mod claims;
mod control;
mod header;
mod list;

#[cfg(feature = "std")]
pub(crate) use self::control::CLAIMED;
pub(crate) use self::{
    blocks::{FIRST_CHUNK, LARGEST_CHUNK, OVERHEAD, size_for_capacity},
    claims::{claim, end_claim},
    control::{Control, ControlRef, CurrentChunk},
    header::{ChunkName, ChunkRef, Header},
    list::chunk_behind,
};

use self::control::BackingCalls;
use crate::{backing::Backing, error::AllocError};
use core::{alloc::Layout, ptr::NonNull};

/// A control block and the backing it calls. Dropping it gives every chunk back.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Chunks<B: Backing> {
    control: Control,
    backing: B,
}

impl<B: Backing> Chunks<B> {
    /// No chunk yet; the first ordinary one will have `first_size` bytes, header included.
    pub(crate) const fn new(backing: B, first_size: usize) -> Self {
        let calls = BackingCalls { allocate: allocate::<B>, release: release::<B> };
        // SAFETY: the block becomes the first field of a `Chunks<B>`, which is what the two expect.
        Chunks { control: unsafe { Control::new(calls, first_size) }, backing }
    }

    /// The control block, with provenance for the backing behind it too.
    #[inline(always)]
    pub(crate) fn control(&self) -> ControlRef<'_> {
        // SAFETY: the borrow keeps the arena in place. `Control` is the first field of this
        // `repr(C)` struct, so the addresses are equal; this one has provenance for all of it.
        unsafe { ControlRef::new(NonNull::from(self).cast()) }
    }

    pub(crate) fn backing(&self) -> &B {
        &self.backing
    }
}

impl<B: Backing> Drop for Chunks<B> {
    fn drop(&mut self) {
        // SAFETY: scopes, claims and allocations borrow the owner of this, so none is left.
        unsafe { self.control().release_all() };
    }
}

/// Calls `Backing::allocate` of the backing behind a control block.
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

/// Calls `Backing::release` of the backing behind a control block.
///
/// # Safety
///
/// `control` is the address of a `Chunks<B>`, with provenance for all of it. Its backing gave
/// `block` for this `layout`; it was not released since and is not used again.
unsafe fn release<B: Backing>(control: NonNull<Control>, block: NonNull<u8>, layout: Layout) {
    // SAFETY: the address is that of a `Chunks<B>`, as the caller says. Only shared references to
    // it are in use while the backing is called.
    let chunks = unsafe { control.cast::<Chunks<B>>().as_ref() };
    // SAFETY: the caller promises what `Backing::release` asks for.
    unsafe { chunks.backing.release(block, layout) };
}
