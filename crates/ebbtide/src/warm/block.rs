//! A block of the heap that owns its memory.

use crate::{arith::CHUNK_ALIGN, heap, poison};
use core::{alloc::Layout, ptr::NonNull};

/// A block of the global allocator, aligned to [`CHUNK_ALIGN`], in which nobody uses a byte. It goes
/// back when dropped.
pub(super) struct Block {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the memory is the block's alone, and any thread may give it back.
unsafe impl Send for Block {}

impl Block {
    /// Requests a block. `None` if there is no memory, or if `size` is 0 or too large for a layout.
    #[inline]
    pub(super) fn request(size: usize) -> Option<Block> {
        let layout = Layout::from_size_align(size, CHUNK_ALIGN).ok()?;
        Some(Block { start: heap::request(layout)?, size })
    }

    /// Takes over a block.
    ///
    /// # Safety
    ///
    /// [`into_start`](Block::into_start) returned `start` for a block of this size, and nobody uses
    /// it any more.
    #[inline]
    pub(super) unsafe fn new(start: NonNull<u8>, size: usize) -> Block {
        Block { start, size }
    }

    /// Hands the block out.
    #[inline]
    pub(super) fn into_start(self) -> NonNull<u8> {
        let start = self.start;
        poison::lift(start, self.size);
        core::mem::forget(self);
        start
    }

    /// The size in bytes.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Gives the block back to the heap, and most of its pages, if it is large, to the system.
    pub(super) fn discard(self) {
        // SAFETY: the block is that of a request for this size, and nobody uses a byte of it.
        unsafe { heap::discard(self.start, self.size) };
    }

    /// Informs a sanitizer that the memory is dead until the block is handed out or goes back.
    #[inline]
    pub(super) fn forbid(&self) {
        poison::forbid(self.start, self.size);
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        poison::lift(self.start, self.size);
        // SAFETY: `request` made a layout of this size and alignment.
        let layout = unsafe { Layout::from_size_align_unchecked(self.size, CHUNK_ALIGN) };
        // SAFETY: the block is that of a request for this layout, and nobody uses it.
        unsafe { heap::release(self.start, layout) };
    }
}
