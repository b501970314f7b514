//! Freeing a block of a chunk that belongs to another owner, or to none.
//!
//! `owner/free`, `owner/persistent` and `owner/returned` call it, on any thread. Of the chunk it
//! writes only the count, and a link in the freed block, which becomes a hole. A thread that frees
//! the last block owns the chunk and puts it into the shared pool.

use super::{
    Owner,
    holes::{ENOUGH, set_link},
};
use crate::{
    memory::{
        pool,
        run::{ChunkRef, offset_in_chunk},
    },
    shared::hole::Hole,
    size,
};

impl Owner {
    /// Frees a block of a chunk that may belong to any owner or to none.
    ///
    /// # Safety
    ///
    /// The block was freed, is counted, has this size, and lies in this chunk.
    pub(super) unsafe fn free_shared(&self, chunk: ChunkRef, block: *mut u8, size: usize) {
        let entry = chunk.entry();
        let hole = Hole::new(offset_in_chunk(block) as usize, size::round(size));
        // SAFETY: the block was freed, and nobody else accesses it before it is on the stack (H1).
        match entry.count.free(hole, |next| unsafe { set_link(chunk, hole, next) }) {
            Some(holes) if holes.bytes() >= ENOUGH => pool::leave_holey(chunk),
            Some(_) => {}
            None => {
                // It was the last block, so the chunk is now the caller's. It goes to the shared
                // pool and not to this thread's cache, so that a thread that only frees does not
                // keep memory that others need.
                entry.count_unpinned();
                self.persistence.record_unpinned(entry);
                pool::give(chunk.run());
            }
        }
    }
}
