//! Free lists: blocks that a scope's owner freed, by their size.
//!
//! A list is a stack that runs through the free blocks themselves: the first word of each is the
//! address of the next.

use crate::size::{self, LISTS};
use core::cell::Cell;

/// The free lists of one scope, and what they know of it. All bits 0 is valid: no block is listed.
#[derive(Debug)]
pub(crate) struct FreeLists {
    heads: [Cell<*mut u8>; LISTS],
    /// Of a persistent scope: its live blocks in chunks, as far as its owner knows.
    pub(crate) live: Cell<i64>,
    /// Of a persistent scope: blocks that were bumped, those that were rewound included.
    pub(crate) bumped: Cell<i64>,
}

impl FreeLists {
    /// Puts a free block into the list of its size.
    ///
    /// # Safety
    ///
    /// The block has the size that belongs to the list, is free, and lies in a chunk of these
    /// lists' scope. It is aligned to the granule, in no list, and stays unused until it is popped.
    /// The pointer may write to it.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, block: *mut u8, list: usize) {
        let head = &self.heads[list];
        // SAFETY: the caller says that the block is free; it has at least a granule, the size of a
        // pointer, and is aligned to it.
        unsafe { block.cast::<*mut u8>().write(head.get()) };
        head.set(block);
    }

    /// Forgets all listed blocks: they are of no use until their chunks are empty.
    pub(crate) fn clear(&self) {
        self.heads.iter().for_each(|head| head.set(core::ptr::null_mut()));
    }

    /// Whether a list has a block.
    pub(crate) fn has(&self, list: usize) -> bool {
        !self.heads[list].get().is_null()
    }

    /// Takes the block that was freed last, of exactly the size that belongs to the list; `None`
    /// where there is none, or it is not aligned as asked.
    ///
    /// # Safety
    ///
    /// The listed blocks are still free (G6).
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, list: usize, align: usize) -> Option<*mut u8> {
        let head = &self.heads[list];
        let block = head.get();
        if block.is_null() || block.addr() & (align - 1) != 0 {
            return None;
        }
        // SAFETY: the block is free, so its first word is what `push` wrote there.
        head.set(unsafe { block.cast::<*mut u8>().read() });
        Some(block)
    }
}

const _: () = assert!(size::GRANULE >= size_of::<*mut u8>());
