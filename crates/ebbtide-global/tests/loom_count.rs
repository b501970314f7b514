//! Claims: a chunk has one owner and is recycled once, in any order of events; and all accesses to
//! its blocks happened before it is used again.
//!
//! Models: `ci/loom.sh` runs them. The count is the crate's own, with the atomics of loom. Cells of
//! loom represent a chunk's memory and plain fields: each user of the memory writes to one, and
//! loom reports two accesses that nothing orders.

use crate::{
    loom_plain::{Plain, model, spawn},
    shared::{
        count::{BIAS, Count},
        hole::Hole,
    },
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
    blocks: Vec<Plain<u16>>,
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
            chunk.free(block);
        })
    }

    /// Where the hole of a freed block begins, in granules.
    fn start(block: usize) -> u16 {
        Hole::new(24 + 8 * block, 8).start()
    }

    /// Like `Owner::free_shared`: the link takes the place of the block's contents.
    fn free(&self, block: usize) {
        if self
            .count
            .free(Hole::new(24 + 8 * block, 8), |next| self.blocks[block].set(next))
            .is_none()
        {
            self.recycle();
        }
    }

    fn read_link(&self, start: u16) -> (Hole, u16) {
        let block = usize::from(start - Chunk::start(0));
        (Hole::new(24 + 8 * block, 8), self.blocks[block].get())
    }

    /// Takes the newest `most` holes of the caller's chunk. Returns their blocks.
    fn take(&self, most: u32) -> Vec<usize> {
        let (mut start, taken) = self.count.take(most, |start| self.read_link(start));
        (0..taken)
            .map(|_| {
                let block = usize::from(start - Chunk::start(0));
                start = self.read_link(start).1;
                block
            })
            .collect()
    }

    /// The owner's scope ends.
    fn retire(&self, local: i32, tail: u32) -> u32 {
        self.tail.set(tail);
        let (live, _) = self.count.settle(local);
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
                    if chunk.count.adopt().is_none() {
                        return;
                    }
                    // Takes a block from the tail, which escapes as well; the next adopter gets
                    // another one.
                    let at = chunk.tail.get();
                    chunk.write(at as usize);
                    chunk.retire(1, at + 1);
                    // The thread that has the block frees it.
                    chunk.write(at as usize);
                    chunk.free(at as usize);
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
            let adopted = chunk.count.adopt().is_some();
            // This thread has the block, whether or not it has adopted the chunk.
            chunk.write(1);
            if adopted {
                chunk.retire(-1, 2);
            } else {
                chunk.free(1);
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
            assert!(chunk.count.adopt().is_some());
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
        assert_eq!(chunk.count.adopt(), None);
        assert!(chunk.count.peek() > BIAS / 2);
        other.join().unwrap();
        assert_eq!(chunk.count.adopt(), None);
        assert_eq!(chunk.retire(1, 0), 0);
        assert_eq!(chunk.count.adopt(), None);
    });
}

#[test]
fn holes_are_taken_by_one_adopter_and_served_again_once() {
    model(3, || {
        let chunk = Chunk::new(3);
        chunk.retire(3, 3);
        let others = [Chunk::free_elsewhere(&chunk, 0), Chunk::free_elsewhere(&chunk, 1)];
        let adopter = spawn(&chunk, move |chunk| {
            let Some(live) = chunk.count.adopt() else { return };
            let blocks = chunk.take(3);
            assert!(live as usize + blocks.len() >= 3, "a block that was freed is a hole");
            assert_eq!(chunk.tail.get(), 3);
            // Serves the first hole, and leaves the others. The block is freed after that.
            let served = blocks.first().copied();
            served.into_iter().for_each(|block| chunk.write(block));
            for &block in blocks.iter().skip(1) {
                let hole = Hole::new(24 + 8 * block, 8);
                chunk.count.leave(hole, |next| chunk.blocks[block].set(next));
            }
            chunk.retire(i32::from(served.is_some()), 3);
            served.into_iter().for_each(|block| chunk.free(block));
        });
        for other in others {
            other.join().unwrap();
        }
        adopter.join().unwrap();
        assert_eq!(chunk.recycled(), 0, "block 2 is alive");
        // All other blocks are holes.
        assert_eq!(chunk.count.adopt(), Some(1));
        let mut blocks = [chunk.take(1), chunk.take(3)].concat();
        blocks.sort_unstable();
        assert_eq!(blocks, [0, 1]);
        chunk.retire(0, 3);
        chunk.free(2);
        assert_eq!(chunk.recycled(), 1);
    });
}

#[test]
fn holes_outlast_adoptions_for_the_tail() {
    loom::model(|| {
        let chunk = Chunk::new(3);
        let other = Chunk::free_elsewhere(&chunk, 0);
        // Freed by its owner, which had listed it.
        chunk.count.leave(Hole::new(24 + 8, 8), |next| chunk.blocks[1].set(next));
        chunk.retire(3 - 1, 3);
        assert!(chunk.count.adopt().is_some());
        chunk.retire(0, 3);
        other.join().unwrap();
        assert_eq!(chunk.count.adopt(), Some(1));
        let mut blocks = chunk.take(3);
        blocks.sort_unstable();
        assert_eq!(blocks, [0, 1]);
        assert_eq!(chunk.count.peek(), BIAS + 1);
    });
}

/// An owner serves the bytes again that others free in its chunk, so its own count grows without
/// end. Like `take_holes` of `owner/holes`.
///
/// Fails where `absorb` loads and stores instead of adding, where it returns `local` as it was, and
/// where `take` exchanges without `Acquire`.
#[test]
fn an_owner_serves_again_what_others_free_in_its_chunk() {
    loom::model(|| {
        let chunk = Chunk::new(2);
        // As if so many blocks had been served here, all but two of which others have freed.
        let mut local = i32::try_from(BIAS / 4).unwrap();
        chunk.count.free_again(BIAS / 4 - 2);
        let others = [Chunk::free_elsewhere(&chunk, 0), Chunk::free_elsewhere(&chunk, 1)];
        local = chunk.count.absorb(local);
        assert_eq!(local, 0);
        let served = chunk.take(2);
        for &block in &served {
            chunk.write(block);
            local += 1;
        }
        for other in others {
            other.join().unwrap();
        }
        let live = u32::try_from(served.len()).unwrap();
        assert_eq!(chunk.retire(local, 0), live);
        served.into_iter().for_each(|block| chunk.free(block));
        assert_eq!(chunk.recycled(), 1);
    });
}
