//! Chunks: the blocks that an arena got from its backing, their headers, and the lists they form.
//!
//! ```text
//! block from the backing
//! ┌────────┬─┬───────────────────────┬─┐
//! │ Header │ │ region                │ │    head ─ next ─► chunk ─ next ─► chunk ─ next ─► …
//! └────────┴─┴───────────────────────┴─┘                   in use          in use   free
//!            low ►             ◄ top, at a cache line: the gaps and the header fill whole lines
//! ┌──────────────┬───────────────────┬─┐
//! │ Control: head│ region            │ │    the first block of an `Arena`
//! └──────────────┴───────────────────┴─┘
//! ```
//!
//! The order of a list is the order in which scopes enter its chunks. When a scope ends, its chunks
//! stay in the list, behind the chunk in which the next scope begins. Claims make them spare. All of this is cold code. The
//! fast paths are in [`raw`](crate::raw) and read no header.
//!
//! The arena's own list begins with the *head*, a header in the control block. The head represents
//! the region of the arena's first block or of a caller's buffer. It moves with the control block,
//! which is possible whenever the arena is borrowed exclusively. Records that outlast a borrow of the
//! arena therefore store a [`ChunkName`], not an address.
//!
//! # Invariants
//!
//! - **L1** Every [`Link`](header::Link), every cursor in use and every handle points to a live
//!   header: the head of an arena that is borrowed, or the header of a block that the arena has not
//!   released. Blocks are released after no link of the control block, or of a chunk that stays, leads
//!   to them, and only in two cases: while the arena is borrowed exclusively; and, of spare chunks, by a
//!   request for a new chunk. The latter keeps no handle of a spare chunk, and releases nothing while a
//!   [`Pin`] says that an iterator over chunks is alive.
//! - **L2** Each chunk of an arena, except the head's block, is in exactly one list: the arena's
//!   own, that of a class of spare chunks, or a claim's. Lists have no cycles, and a list holds
//!   chunks of one arena only.
//! - **L3** The links `newest` and `older` connect every chunk but the head's block.
//! - **L4** Every header but the head stores the address of its control block. In a *current*
//!   chunk, one that a cursor in use points to, this is the present address: it is written when the
//!   chunk is made, when a cursor enters it, and when a claim begins. A control block moves only if no
//!   cursor is in use.
//! - **L5** The anchor of a chunk comes before the chunk in the list. The first chunk of a list has
//!   no anchor.
//! - **L6** `held` is the sum of all block sizes, `spare_bytes` that of the spare chunks, and `capacity`
//!   that of all regions. `held` exceeds `limit` only if the limit was lowered below it.
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
//! | `list` | linking chunks, what spare chunks may hold, `reclaim` |
//! | `claims` | lists of their own for claims |
//! | `first` | the first block of an arena, and the control block in it; what a reset keeps |

mod blocks;
mod claims;
mod control;
mod first;
mod header;
mod list;
mod spare;

#[cfg(feature = "alloc")]
pub(crate) use self::blocks::doubled;
#[cfg(feature = "std")]
pub(crate) use self::control::CLAIMED;
pub(crate) use self::{
    blocks::{FIRST_CHUNK, LARGEST_CHUNK, first_overhead, size_for_capacity},
    claims::{claim, end_claim},
    control::{Control, ControlRef, CurrentChunk, Pin, Settings},
    first::Blocks,
    header::{ChunkName, ChunkRef, End, Header, Room, overhead},
    list::link_next_chunk,
};

use crate::backing::Backing;
use core::ptr::NonNull;

/// A control block over a caller's buffer, and the backing of the chunks behind that. Dropping it
/// releases these.
pub(crate) struct Chunks<B: Backing> {
    control: Control,
    backing: B,
}

impl<B: Backing> Chunks<B> {
    /// Creates a control block without chunks. The first ordinary chunk will have `first_size`
    /// bytes, header included.
    pub(crate) const fn new(backing: B, first_size: usize) -> Self {
        Chunks { control: Control::new::<B>(Settings::new(first_size), false), backing }
    }

    /// The control block.
    #[inline(always)]
    pub(crate) fn control(&self) -> ControlRef<'_> {
        // SAFETY: the control block was made for this backing, and the borrow keeps it in place.
        unsafe { self.control.set_backing(&self.backing) };
        // SAFETY: the control block was made for this backing, whose address was just stored, and
        // the borrow keeps both in place.
        unsafe { ControlRef::new(NonNull::from(&self.control)) }
    }

    pub(crate) fn backing(&self) -> &B {
        &self.backing
    }
}

impl<B: Backing> Drop for Chunks<B> {
    #[inline]
    fn drop(&mut self) {
        // L6: otherwise there is no chunk.
        if self.control.held() > 0 {
            // SAFETY: scopes, claims and allocations borrow the owner of this, so none is left.
            unsafe { self.control().release_chunks() };
        }
    }
}
