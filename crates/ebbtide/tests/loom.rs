//! A program of its own, because it compiles files of the crate as its own.
//!
//! Claim: in every interleaving, a pool lends each arena to one borrower at a time, everything one
//! borrower did happens before the next one gets the arena, and no arena is lost.
//!
//! Run by `ci/loom.sh`. The pool is the real one, with loom's locks and counter and two shards. An
//! arena is identified by the address of its first block. loom cannot see into an arena, so each
//! one has a loom cell that its borrowers write to; loom reports two writes that no lock has
//! ordered.

#![cfg(all(loom, feature = "std"))]
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, unreachable_pub)]

#[path = "../src/pool.rs"]
mod pool;
#[path = "../src/pool_root.rs"]
mod pool_root;

// What the pool imports, by the names that the modules have in the crate.
mod arena {
    pub(crate) use ebbtide::{Arena, Retain};
}
mod backing {
    pub(crate) use ebbtide::{Backing, Heap};
}
mod error {
    pub(crate) use ebbtide::AllocError;
    use std::convert::Infallible;

    /// A copy, because the crate's own is private.
    pub(crate) trait Failure: Sized {
        const DIVERGES: bool;
        fn refused() -> Self;
    }

    impl Failure for AllocError {
        const DIVERGES: bool = false;

        fn refused() -> Self {
            AllocError
        }
    }

    impl Failure for Infallible {
        const DIVERGES: bool = true;

        fn refused() -> Self {
            unreachable!("it diverges")
        }
    }
}
mod scope {
    pub(crate) use ebbtide::Scope;
}
mod stats {
    pub(crate) use ebbtide::Stats;
}

use loom::{cell::UnsafeCell, model::Builder, thread};
use pool::{Pool, Pooled};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// A cell for every arena of a pool. Under a lock that loom knows nothing of, so that it puts
/// nothing in order.
#[derive(Clone, Default)]
struct Cells(Arc<Mutex<BTreeMap<usize, Arc<UnsafeCell<()>>>>>);

impl Cells {
    /// Writes to the arena, and to the cell that represents it.
    fn work(&self, arena: &mut Pooled<'_>) {
        let s = arena.scope();
        let block = s.alloc(7_u64);
        let at = std::ptr::from_ref(block).addr();
        let cell = Arc::clone(self.0.lock().unwrap().entry(at).or_default());
        cell.with_mut(|_| thread::yield_now());
        assert_eq!(*block, 7);
    }

    /// Writes to an arena through its root, and to the cell that represents it.
    fn work_in_root(&self, pool: &Pool) {
        let root = pool.root();
        let block = root.alloc(7_u64);
        let at = std::ptr::from_ref(&*root).addr();
        let cell = Arc::clone(self.0.lock().unwrap().entry(at).or_default());
        cell.with_mut(|_| thread::yield_now());
        drop(root);
        assert_eq!(*block, 7);
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Every order of events in which at most two threads are stopped that could have gone on;
/// LOOM_MAX_PREEMPTIONS says another number.
fn model(run: impl Fn() + Sync + Send + 'static) {
    let orders = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&orders);
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(2);
    builder.check(move || {
        count.fetch_add(1, Relaxed);
        run();
    });
    let orders = orders.load(Relaxed);
    println!("{orders} orders of events");
    assert!(orders > 1, "nothing happened side by side");
}

/// The arenas of a pool that nobody uses any more.
fn idle(pool: &Pool) -> usize {
    let mut lent = Vec::new();
    while pool.stats().held > 0 {
        lent.push(pool.get());
    }
    lent.len()
}

#[test]
fn an_arena_has_one_borrower_at_a_time() {
    model(|| {
        let (pool, cells) = (Arc::new(Pool::with_chunk_size(64)), Cells::default());
        // An idle arena, which two threads compete for.
        cells.work(&mut pool.get());
        let workers = [(); 2].map(|()| {
            let (pool, cells) = (Arc::clone(&pool), cells.clone());
            thread::spawn(move || cells.work(&mut pool.get()))
        });
        cells.work(&mut pool.get());
        for worker in workers {
            worker.join().unwrap();
        }
        let made = cells.count();
        assert!(
            made <= 4,
            "the first, and at most one for each borrower that found it held: {made}"
        );
        assert_eq!(idle(&pool), made, "all came back");
    });
}

#[test]
fn an_arena_that_comes_back_meanwhile_is_taken_whole() {
    model(|| {
        let (pool, cells) = (Arc::new(Pool::with_chunk_size(64)), Cells::default());
        let other = {
            let (pool, cells) = (Arc::clone(&pool), cells.clone());
            thread::spawn(move || {
                for _ in 0..2 {
                    cells.work(&mut pool.get());
                }
            })
        };
        for _ in 0..2 {
            cells.work(&mut pool.get());
        }
        other.join().unwrap();
        let made = cells.count();
        assert_eq!(idle(&pool), made, "all came back");
        // A shard gets a new arena only while all of its own are lent. Three are made if a thread's
        // shard is empty and the lock of the other shard is held at that moment.
        assert!(made <= 2 * 2, "as many as are lent at a time, for each shard: {made}");
    });
}

#[test]
fn arenas_may_be_given_back_by_other_threads() {
    model(|| {
        let pool: &'static Pool = Box::leak(Box::new(Pool::with_chunk_size(64)));
        let cells = Cells::default();
        let mut lent = pool.get();
        cells.work(&mut lent);
        let other = {
            let cells = cells.clone();
            thread::spawn(move || {
                cells.work(&mut lent);
                drop(lent);
                cells.work(&mut pool.get());
            })
        };
        cells.work(&mut pool.get());
        other.join().unwrap();
        assert_eq!(idle(pool), cells.count());
        // SAFETY: leaked above, and used by nobody any more.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(pool).cast_mut()) });
    });
}

#[test]
fn a_root_has_one_borrower_at_a_time_and_its_results_stay() {
    model(|| {
        let (mut pool, cells) = (Arc::new(Pool::with_chunk_size(64)), Cells::default());
        let first = {
            let root = pool.root();
            std::ptr::from_ref(root.alloc(5_u64)).addr()
        };
        let other = {
            let (pool, cells) = (Arc::clone(&pool), cells.clone());
            thread::spawn(move || cells.work_in_root(&pool))
        };
        cells.work_in_root(&pool);
        // A scope does not get the memory of a root.
        let at = pool.scope(|s| std::ptr::from_ref(s.alloc(6_u64)).addr());
        assert!(at.abs_diff(first) > 16);
        other.join().unwrap();
        assert!(pool.stats().used >= 24);
        Arc::get_mut(&mut pool).unwrap().reset();
        assert_eq!(pool.stats().used, 0);
    });
}

#[test]
fn trim_and_stats_take_their_turn() {
    model(|| {
        let pool = Arc::new(Pool::with_chunk_size(64));
        pool.scope(|s| *s.alloc(1));
        let other = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.scope(|s| assert_eq!(*s.alloc(2), 2)))
        };
        assert!(
            pool.stats().chunks <= 2,
            "the first arena, and one that was made when it was held or gone"
        );
        pool.trim();
        other.join().unwrap();
        assert!(pool.stats().chunks <= 1, "what came back after that");
        pool.trim();
        assert_eq!(pool.stats().held, 0, "nothing is lent, so nothing stays");
    });
}
