//! Claims: a chunk has one owner and is recycled once, in any order of events; and all accesses to
//! its blocks happened before it is used again.
//!
//! Models: `ci/loom.sh` runs them. The count is the crate's own, with the atomics of loom. Cells of
//! loom represent a chunk's memory and plain fields: each user of the memory writes to one, and
//! loom reports two accesses that nothing orders.

use crate::{
    loom_plain::{Plain, model, spawn},
    shared::count::{BIAS, Count},
};
use loom::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};

struct Chunk {
    count: Count,
    /// The contents of a block; the thread that frees it has used it before.
    blocks: Vec<Plain<u32>>,
    /// The start of the free tail: a plain field of the owner.
    tail: Plain<u32>,
    recycled: AtomicU32,
}

impl Chunk {
    /// Owned by the calling thread.
    fn new(blocks: usize) -> Arc<Chunk> {
        let blocks = (0..blocks).map(|_| Plain::new(0)).collect();
        let (count, tail) = (Count::new(), Plain::new(0));
        count.own();
        Arc::new(Chunk { count, blocks, tail, recycled: AtomicU32::new(0) })
    }

    fn write(&self, block: usize) {
        self.blocks[block].change(|value| *value += 1);
    }

    /// Reuses the whole chunk.
    fn recycle(&self) {
        for block in 0..self.blocks.len() {
            self.write(block);
        }
        self.tail.set(0);
        self.recycled.fetch_add(1, Relaxed);
    }

    /// Another thread uses a block for the last time and frees it.
    fn free_elsewhere(chunk: &Arc<Chunk>, block: usize) -> thread::JoinHandle<()> {
        spawn(chunk, move |chunk| {
            chunk.write(block);
            chunk.free();
        })
    }

    /// Like `Owner::free_shared`.
    fn free(&self) {
        if self.count.free() {
            self.recycle();
        }
    }

    /// The owner's scope ends.
    fn retire(&self, local: i32, tail: u32) -> u32 {
        self.tail.set(tail);
        let live = self.count.settle(local);
        if live == 0 {
            self.recycle();
        }
        live
    }

    fn recycled(&self) -> u32 {
        self.recycled.load(Relaxed)
    }
}

#[test]
fn retiring_against_the_last_frees_of_others() {
    loom::model(|| {
        let chunk = Chunk::new(3);
        let others = [Chunk::free_elsewhere(&chunk, 0), Chunk::free_elsewhere(&chunk, 1)];
        // Three blocks were allocated; the owner frees one.
        chunk.write(2);
        chunk.retire(3 - 1, 7);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(chunk.recycled(), 1);
    });
}

#[test]
fn the_quick_end_of_a_clean_scope() {
    loom::model(|| {
        let chunk = Chunk::new(1);
        let other = Chunk::free_elsewhere(&chunk, 0);
        // One block was allocated, which the other thread frees; the owner's own count never comes
        // to 0.
        chunk.retire(1, 0);
        other.join().unwrap();
        assert_eq!(chunk.recycled(), 1);

        chunk.count.own();
        chunk.write(0);
        assert!(chunk.count.is_empty(0));
        chunk.count.clear();
        assert_eq!(chunk.count.peek(), 0);
    });
}

/// Fails where `is_empty` loads without `Acquire`, or `free` counts without `Release`.
#[test]
fn an_owner_uses_its_chunk_again_once_others_have_freed_all_of_it() {
    loom::model(|| {
        let chunk = Chunk::new(2);
        let others = [Chunk::free_elsewhere(&chunk, 0), Chunk::free_elsewhere(&chunk, 1)];
        // Two blocks were allocated, and none freed here.
        if chunk.count.is_empty(2) {
            chunk.recycle();
            chunk.count.own();
            chunk.retire(0, 0);
        } else {
            chunk.retire(2, 0);
        }
        for other in others {
            other.join().unwrap();
        }
        assert!(chunk.recycled() >= 1);
        assert_eq!(chunk.count.peek(), 0);
    });
}

#[test]
fn the_tail_is_adopted_by_one_and_read_after_the_exchange() {
    model(3, || {
        let chunk = Chunk::new(3);
        // Block 0 escapes, the tail begins at 1.
        chunk.retire(1, 1);
        let other = Chunk::free_elsewhere(&chunk, 0);
        let adopters: Vec<_> = (0..2)
            .map(|_| {
                spawn(&chunk, move |chunk| {
                    if !chunk.count.adopt() {
                        return;
                    }
                    // Takes a block from the tail, which escapes as well; the next adopter gets
                    // another one.
                    let at = chunk.tail.get();
                    chunk.write(at as usize);
                    chunk.retire(1, at + 1);
                    // The thread that has the block frees it.
                    chunk.write(at as usize);
                    chunk.free();
                })
            })
            .collect();
        other.join().unwrap();
        for adopter in adopters {
            adopter.join().unwrap();
        }
        assert_eq!(chunk.recycled(), 1);
        assert_eq!(chunk.count.peek(), 0);
    });
}

#[test]
fn an_adopter_that_frees_what_was_pinned() {
    loom::model(|| {
        let chunk = Chunk::new(2);
        chunk.retire(2, 2);
        let other = Chunk::free_elsewhere(&chunk, 0);
        let adopter = spawn(&chunk, move |chunk| {
            let adopted = chunk.count.adopt();
            // This thread has the block, whether or not it has adopted the chunk.
            chunk.write(1);
            if adopted {
                chunk.retire(-1, 2);
            } else {
                chunk.free();
            }
        });
        other.join().unwrap();
        adopter.join().unwrap();
        assert_eq!(chunk.recycled(), 1);
    });
}

#[test]
fn a_future_moves_between_threads() {
    loom::model(|| {
        let chunk = Chunk::new(3);
        // The first poll leaves one block to the next poll, and one to another thread.
        chunk.retire(2, 2);
        let other = Chunk::free_elsewhere(&chunk, 1);
        let next = spawn(&chunk, move |chunk| {
            // The block that is still alive prevents the chunk from being recycled.
            assert!(chunk.count.adopt());
            assert_eq!(chunk.tail.get(), 2);
            chunk.write(2);
            chunk.write(0);
            // One allocated, both freed.
            chunk.retire(1 - 2, 3);
        });
        next.join().unwrap();
        other.join().unwrap();
        assert_eq!(chunk.recycled(), 1);
    });
}

#[test]
fn an_owned_chunk_is_adopted_by_nobody() {
    loom::model(|| {
        let chunk = Chunk::new(2);
        let other = Chunk::free_elsewhere(&chunk, 0);
        assert!(!chunk.count.adopt());
        assert!(chunk.count.peek() > BIAS / 2);
        other.join().unwrap();
        assert!(!chunk.count.adopt());
        assert_eq!(chunk.retire(1, 0), 0);
        assert!(!chunk.count.adopt());
    });
}
