//! Claims: a run in the shared pool is taken by one thread at a time, and all writes to it happened
//! before; a tail that an ended owner left gets at most one owner.
//!
//! Models: `ci/loom.sh` runs them. The stack, the tails and the count are the crate's own, with the
//! atomics of loom. Cells of loom represent the plain fields of a run: each owner writes to the
//! cell, and loom reports two accesses that nothing orders. Each model names the mutations for
//! which it was seen to fail.

use crate::{
    loom_plain::{Plain, model, spawn},
    shared::{
        count::Count,
        hole::Hole,
        stack::{Membership, Stack},
        tails::Tails,
    },
};
use loom::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};

/// The runs of a pool, by their numbers from 1 on.
struct Pool {
    stack: Stack,
    links: Vec<AtomicU32>,
    fields: Vec<Plain<u32>>,
}

impl Pool {
    /// A stack with this many runs, the highest number on top.
    fn with(runs: u32) -> Arc<Pool> {
        let pool = Pool {
            stack: Stack::new(),
            links: (0..=runs).map(|_| AtomicU32::new(0)).collect(),
            fields: (0..=runs).map(|_| Plain::new(0)).collect(),
        };
        for run in 1..=runs {
            pool.give(run);
        }
        Arc::new(pool)
    }

    /// Uses a run that the caller owns.
    fn work(&self, run: u32) {
        self.fields[run as usize].change(|value| *value += 1);
    }

    fn give(&self, run: u32) {
        self.work(run);
        self.stack.push(run, |next| self.links[run as usize].store(next, Relaxed));
    }

    /// Takes a run and uses it; 0 if there is none.
    fn take(&self) -> u32 {
        let run = self.stack.pop(|run| self.links[run as usize].load(Relaxed));
        if run != 0 {
            self.work(run);
        }
        run
    }

    /// All runs in the pool.
    fn drain(&self) -> Vec<u32> {
        let mut all: Vec<u32> =
            std::iter::from_fn(|| Some(self.take()).filter(|run| *run != 0)).collect();
        all.sort_unstable();
        all
    }
}

/// Fails where `push` is not `Release`, or the loads of `pop` are not `Acquire`.
#[test]
fn all_accesses_to_a_run_happen_before_it_is_taken_from_the_pool() {
    model(3, || {
        let pool = Pool::with(1);
        let others = [(); 2].map(|()| {
            spawn(&pool, move |pool| {
                let run = pool.take();
                if run != 0 {
                    pool.give(run);
                }
                run
            })
        });
        let takes = others.map(|other| other.join().unwrap());
        let run = pool.take();
        assert_eq!(run, 1, "it was given back");
        // Once when it was made, twice by each thread that had it, and once here.
        let had = takes.iter().filter(|run| **run != 0).count();
        assert_eq!(pool.fields[run as usize].get() as usize, 1 + 2 * had + 1);
    });
}

/// Fails where the exchange of `push` or `pop` is a plain store.
#[test]
fn runs_that_are_given_while_others_are_taken_are_all_there() {
    model(3, || {
        let pool = Pool::with(3);
        let taken = (pool.take(), pool.take());
        let giver = spawn(&pool, move |pool| pool.give(taken.0));
        let taker = spawn(&pool, move |pool| pool.take());
        pool.give(taken.1);
        giver.join().unwrap();
        let taken = taker.join().unwrap();
        assert_ne!(taken, 0, "there was always one");
        let mut all = pool.drain();
        all.push(taken);
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3]);
    });
}

/// Fails where the stack's word does not count its changes: the slower thread then puts a run on
/// top that the other thread owns.
#[test]
fn a_head_that_went_and_came_back_is_not_taken_for_one_that_stayed() {
    model(3, || {
        let pool = Pool::with(2);
        let slow = spawn(&pool, move |pool| pool.take());
        let (first, second) = (pool.take(), pool.take());
        if first != 0 {
            pool.give(first);
        }
        let slow = slow.join().unwrap();
        let mut all = pool.drain();
        all.extend([slow, second].into_iter().filter(|run| *run != 0));
        all.sort_unstable();
        assert_eq!(all, [1, 2], "each run is in the pool, or has been taken once");
    });
}

/// A chunk. A thread that learns of it knows that its entry is committed.
struct Chunk {
    committed: Plain<bool>,
    count: Count,
    tail: Plain<u32>,
    freed: AtomicU32,
}

impl Chunk {
    /// Moves the start of an adopted chunk's tail by one, and returns it.
    fn bump(&self) -> u32 {
        self.tail.change(|tail| {
            *tail += 1;
            *tail
        })
    }

    /// Frees a block of a chunk that another owner has, or none.
    fn free(&self) {
        if self.count.free(Hole::new(24, 8), |_| ()).is_none() {
            self.bump();
            self.freed.fetch_add(1, Relaxed);
        }
    }
}

/// Fails where `Tails::leave` is not `Release` or `take` not `Acquire` (the entry is read before it
/// is committed), and where `Count::adopt` is not `Acquire` or `Count::settle` not `Release` (the
/// tail is an earlier owner's).
#[test]
fn a_tail_that_an_ended_owner_left_is_adopted_by_one_if_it_is_still_pinned() {
    model(2, || {
        let chunk = Arc::new(Chunk {
            committed: Plain::new(false),
            count: Count::new(),
            tail: Plain::new(0),
            freed: AtomicU32::new(0),
        });
        let tails = Arc::new(Tails::<2>::new());
        let ended = {
            let (chunk, tails) = (Arc::clone(&chunk), Arc::clone(&tails));
            thread::spawn(move || {
                chunk.committed.set(true);
                chunk.count.own();
                assert_eq!(chunk.bump(), 1);
                // Two blocks stay alive.
                assert_eq!(chunk.count.settle(2).0, 2);
                // Left twice, because an earlier owner remembered it too.
                tails.leave(1);
                tails.leave(1);
                // Then both are freed.
                chunk.free();
                chunk.free();
            })
        };
        let adopters = [(); 2].map(|()| {
            let (chunk, tails) = (Arc::clone(&chunk), Arc::clone(&tails));
            thread::spawn(move || {
                if tails.take() == 0 {
                    return;
                }
                assert!(chunk.committed.get());
                if chunk.count.adopt().is_none() {
                    return;
                }
                assert_eq!(chunk.freed.load(Relaxed), 0, "what is free is adopted by nobody");
                assert!(chunk.bump() > 1, "an owner was there before");
                if chunk.count.settle(1).0 > 0 {
                    chunk.free();
                } else {
                    chunk.freed.fetch_add(1, Relaxed);
                }
            })
        });
        ended.join().unwrap();
        for adopter in adopters {
            adopter.join().unwrap();
        }
        assert_eq!(chunk.freed.load(Relaxed), 1);
        assert_eq!(chunk.count.peek(), 0);
    });
}

/// Fails where `take` reads and clears a place in two steps.
#[test]
fn a_tail_is_handed_to_one_owner() {
    loom::model(|| {
        let tails = Arc::new(Tails::<1>::new());
        tails.leave(1);
        let other = spawn(&tails, move |tails| tails.take());
        let taken = tails.take() + other.join().unwrap() + tails.take();
        assert_eq!(taken, 1);
    });
}

/// A chunk with holes that several threads put into the pool. `Membership` is its link.
struct Holey {
    stack: Stack,
    link: Membership,
    /// Accessed by the thread that has taken the chunk.
    entry: Plain<u32>,
    pushed: AtomicU32,
}

impl Holey {
    /// Like `pool::leave_holey`.
    fn leave(&self) {
        if self.link.join() {
            self.pushed.fetch_add(1, Relaxed);
            self.stack.push(1, |next| self.link.set(next));
        }
    }

    /// Like `pool::take_holey`.
    fn take(&self) -> bool {
        let is_taken = self.stack.pop(|_| self.link.get()) != 0;
        if is_taken {
            self.entry.change(|value| *value += 1);
            self.link.leave();
        }
        is_taken
    }
}

/// A chunk that was pushed twice would be linked to itself.
#[test]
fn a_chunk_with_holes_is_in_the_pool_at_most_once() {
    model(3, || {
        let holey = Arc::new(Holey {
            stack: Stack::new(),
            link: Membership::new(),
            entry: Plain::new(0),
            pushed: AtomicU32::new(0),
        });
        let others = [(); 2].map(|()| {
            spawn(&holey, move |holey| {
                holey.leave();
                u32::from(holey.take())
            })
        });
        let taken: u32 = others.map(|other| other.join().unwrap()).iter().sum();
        let left = (0..3).filter(|_| holey.take()).count();
        assert_eq!(taken + u32::try_from(left).unwrap(), holey.pushed.load(Relaxed));
        assert!(!holey.take());
    });
}

/// A pinned chunk with two live blocks, which is in the pool of chunks with holes from the first
/// free on.
struct Pinned {
    holey: Holey,
    count: Count,
    /// The contents of the two blocks: links of holes, once they are free.
    blocks: [Plain<u16>; 2],
    recycled: AtomicU32,
}

impl Pinned {
    fn hole(block: usize) -> Hole {
        Hole::new(24 + 8 * block, 8)
    }

    /// Like `Owner::free_shared`.
    fn free(&self, block: usize) {
        match self.count.free(Pinned::hole(block), |next| self.blocks[block].set(next)) {
            Some(_) => self.holey.leave(),
            None => self.recycle(),
        }
    }

    /// Reuses the whole chunk.
    fn recycle(&self) {
        (0..2).for_each(|block| self.blocks[block].set(0));
        self.recycled.fetch_add(1, Relaxed);
    }

    /// Like `Owner::adopt_holes`, for a scope that ends at once. Returns the blocks in the holes.
    fn adopt(&self) -> Vec<usize> {
        if !self.holey.take() || self.count.adopt().is_none() {
            return Vec::new();
        }
        let read = |start: u16| {
            let block = usize::from(start - Pinned::hole(0).start());
            (Pinned::hole(block), self.blocks[block].get())
        };
        let (mut start, taken) = self.count.take(2, read);
        let mut blocks = Vec::new();
        for _ in 0..taken {
            let (_, next) = read(start);
            blocks.push(usize::from(start - Pinned::hole(0).start()));
            start = next;
        }
        for &block in &blocks {
            self.count.leave(Pinned::hole(block), |next| self.blocks[block].set(next));
        }
        match self.count.settle(0) {
            (0, _) => self.recycle(),
            _ => self.holey.leave(),
        }
        blocks
    }
}

/// A thread that frees a block puts the chunk into the pool after the exchange that freed the block:
/// by then another thread may have adopted, retired or recycled the chunk.
///
/// Fails where `Count::push` is not `Release`.
#[test]
fn a_chunk_with_holes_is_adopted_while_others_free_its_last_blocks() {
    model(3, || {
        let pinned = Arc::new(Pinned {
            holey: Holey {
                stack: Stack::new(),
                link: Membership::new(),
                entry: Plain::new(0),
                pushed: AtomicU32::new(0),
            },
            count: Count::new(),
            blocks: Default::default(),
            recycled: AtomicU32::new(0),
        });
        pinned.count.own();
        assert_eq!(pinned.count.settle(2).0, 2);
        let others = [0, 1].map(|block| {
            spawn(&pinned, move |pinned| {
                pinned.blocks[block].set(7);
                pinned.free(block);
            })
        });
        let blocks = pinned.adopt();
        assert!(blocks.len() <= 2);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(pinned.recycled.load(Relaxed), 1);
        assert_eq!(pinned.count.peek(), 0);
        assert_eq!(pinned.adopt(), [], "what the pool still names is adopted by nobody");
    });
}
