//! Free lists: blocks that a scope's owner freed, or that were returned to it, by size.
//!
//! Each list is an intrusive stack: the first word of a free block is the address of the next one.
//! Only the owner of the scope calls it, or who has the lease of a suspended scope; `owner/listing`
//! says when.

use crate::size::{self, LISTS};
use core::cell::Cell;

/// The free lists of one scope, with counts. All-zero bytes are valid: empty lists.
#[derive(Debug)]
pub(crate) struct FreeLists {
    heads: [Cell<*mut u8>; LISTS],
    /// The live blocks beyond `low_water`, so that counting a block also tells whether few are
    /// alive.
    above_low_water: Cell<i64>,
    /// The number of live blocks below which the scope may [have ebbed](crate::owner).
    low_water: Cell<i64>,
    /// The blocks of a persistent scope that other threads freed while its stack was full, so that
    /// they were not listed.
    pub(crate) lost: Cell<i64>,
    /// The number of blocks that other threads still have to return before a persistent scope
    /// recounts its live blocks.
    pub(crate) until_recount: Cell<i64>,
    /// The scope counts its empty chunks again when it has this many chunks besides its first.
    pub(crate) count_at: Cell<u32>,
    /// The number of chunks besides its first that the scope had left when it ebbed last.
    pub(crate) left_chunks: Cell<u32>,
}

impl FreeLists {
    /// Puts a free block into the list of its size.
    ///
    /// # Safety
    ///
    /// The block is free, has the size that belongs to the list, is aligned to the granule, and
    /// lies in a chunk of the scope that these lists belong to. It is in no list, and is not used
    /// until it is popped. The pointer is valid for writes to it.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, block: *mut u8, list: usize) {
        let head = &self.heads[list];
        invariant!(head.get() != block, "G6, a block is freed once");
        // SAFETY: the caller says that the block is free and the pointer valid for writes; the
        // block has at least one granule, which is the size of a pointer, and is aligned to it.
        unsafe { block.cast::<*mut u8>().write(head.get()) };
        head.set(block);
    }

    /// The live blocks in the chunks of the scope, if it is persistent. Blocks that other threads
    /// freed are counted until the owner takes them back. For other scopes that list small blocks, an
    /// estimate.
    pub(crate) fn live(&self) -> i64 {
        self.above_low_water.get() + self.low_water.get()
    }

    /// Counts blocks as served, or as freed if the number is negative. Returns whether fewer than
    /// [`low_water`](FreeLists::low_water) blocks are alive now.
    #[inline(always)]
    pub(crate) fn count_live(&self, blocks: i64) -> bool {
        let above = self.above_low_water.get() + blocks;
        self.above_low_water.set(above);
        above < 0
    }

    pub(crate) fn low_water(&self) -> i64 {
        self.low_water.get()
    }

    /// Sets the number of live blocks below which the scope may have ebbed.
    pub(crate) fn set_low_water(&self, blocks: i64) {
        self.above_low_water.set(self.live() - blocks);
        self.low_water.set(blocks);
    }

    /// Empties all lists. The blocks stay unused until their chunks are empty.
    pub(crate) fn clear(&self) {
        self.heads.iter().for_each(|head| head.set(core::ptr::null_mut()));
    }

    /// Empties all lists, and calls `f` for each block with its rounded size.
    ///
    /// # Safety
    ///
    /// The listed blocks are still free (G6). `f` may write to its block.
    pub(crate) unsafe fn drain(&self, mut f: impl FnMut(*mut u8, usize)) {
        for (list, head) in self.heads.iter().enumerate() {
            let mut block = head.replace(core::ptr::null_mut());
            while !block.is_null() {
                // SAFETY: the block is free, so its first word is what `push` wrote there.
                let next = unsafe { block.cast::<*mut u8>().read() };
                f(block, size::list_bytes(list));
                block = next;
            }
        }
    }

    /// Removes the blocks for which `keeps` returns false, and all beyond the first `most`.
    ///
    /// # Safety
    ///
    /// The listed blocks are still free (G6).
    pub(crate) unsafe fn retain(&self, most: usize, keeps: impl Fn(*mut u8) -> bool) {
        let mut left = most;
        for head in &self.heads {
            let mut block = head.replace(core::ptr::null_mut());
            let mut last: Option<*mut u8> = None;
            while !block.is_null() && left > 0 {
                left -= 1;
                // SAFETY: the block is free, so its first word is what `push` wrote there.
                let next = unsafe { block.cast::<*mut u8>().read() };
                if keeps(block) {
                    match last {
                        // SAFETY: an earlier block of the list, which is free, is linked to this one.
                        Some(last) => unsafe { last.cast::<*mut u8>().write(block) },
                        None => head.set(block),
                    }
                    last = Some(block);
                }
                block = next;
            }
            if let Some(last) = last {
                // SAFETY: the last block that stays is free, and its first word is its link.
                unsafe { last.cast::<*mut u8>().write(core::ptr::null_mut()) };
            }
        }
    }

    /// Whether a list is not empty.
    pub(crate) fn has(&self, list: usize) -> bool {
        !self.heads[list].get().is_null()
    }

    /// Pops the most recently freed block of the list. `None` if the list is empty or that block is
    /// not `PHASE` bytes above a multiple of `align`, a power of two.
    ///
    /// # Safety
    ///
    /// The listed blocks are still free (G6).
    #[inline(always)]
    pub(crate) unsafe fn pop<const PHASE: usize>(
        &self,
        list: usize,
        align: usize,
    ) -> Option<*mut u8> {
        let head = &self.heads[list];
        let block = head.get();
        if block.is_null() || block.addr() & (align - 1) != PHASE {
            return None;
        }
        // SAFETY: the block is free, so its first word is what `push` wrote there.
        head.set(unsafe { block.cast::<*mut u8>().read() });
        Some(block)
    }

    /// Asserts G6 for the block that each list would serve next.
    pub(crate) fn check(&self, is_free: impl Fn(*mut u8) -> bool) {
        let mut blocks = self.heads.iter().map(Cell::get).filter(|block| !block.is_null());
        invariant!(blocks.all(|block| block.addr() % size::GRANULE == 0 && is_free(block)), "G6");
    }
}

const _: () = assert!(size::GRANULE >= size_of::<*mut u8>());
