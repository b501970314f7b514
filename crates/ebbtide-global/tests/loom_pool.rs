//! Claim: a run in the shared pool is taken by one thread at a time, and all writes to it happened
//! before.
//!
//! Models: `ci/loom.sh` runs them. The stack is the crate's own, with the atomics of loom. Cells of
//! loom represent the plain fields of a run: each owner writes to the cell, and loom reports two
//! accesses that nothing orders. Each model names the mutations for which it was seen to fail.

use crate::{
    loom_plain::{Plain, model, spawn},
    shared::stack::Stack,
};
use loom::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
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
