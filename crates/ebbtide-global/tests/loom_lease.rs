//! Claims: the figures of an owner have one writer at a time, and a later owner continues from the
//! last values of the one before; and a suspended scope is used by its owner or ended by another
//! thread, which recycles its chunk once.
//!
//! Models: `ci/loom.sh` runs them. The lease, the suspended scope and the count are the crate's own,
//! with the atomics of loom. Cells of loom represent plain fields, so loom reports two accesses that
//! nothing orders. Each model names the mutations for which it was seen to fail.

#![cfg(loom)]
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

#[path = "../src/count.rs"]
mod count;
#[path = "../src/lease.rs"]
mod lease;
#[path = "../src/size.rs"]
mod size;
#[path = "../src/suspended.rs"]
mod suspended;

use count::Count;
use lease::Lease;
use loom::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};
use suspended::{Chunks, Suspended};

struct Figures {
    lease: Lease,
    blocks: UnsafeCell<u32>,
}

impl Figures {
    /// Serves one block. The caller has the lease.
    fn serve(&self) {
        // SAFETY: loom checks that nobody else is at it.
        self.blocks.with_mut(|blocks| unsafe { *blocks += 1 });
    }

    /// An owner starts, serves a block and ends. Returns false if another owner has the figures.
    fn run_owner(&self) -> bool {
        let has_taken = self.lease.take();
        if has_taken {
            self.serve();
            self.lease.leave();
        }
        has_taken
    }
}

/// Fails where `take` exchanges without `Acquire`, where it stores instead of exchanging, and where
/// `leave` stores without `Release`.
#[test]
fn owners_count_one_after_the_other() {
    loom::model(|| {
        let figures = Arc::new(Figures { lease: Lease::taken(), blocks: UnsafeCell::new(0) });
        let others = [(); 2].map(|()| {
            let figures = Arc::clone(&figures);
            thread::spawn(move || figures.run_owner())
        });
        figures.serve();
        figures.lease.leave();
        let taken = others.map(|other| u32::from(other.join().unwrap()));
        assert!(figures.lease.take(), "each owner has left it");
        // SAFETY: loom checks that nobody writes to it.
        let blocks = figures.blocks.with(|blocks| unsafe { *blocks });
        assert_eq!(blocks, 1 + taken[0] + taken[1]);
    });
}

/// An owner's suspended scope with one chunk.
struct Scope {
    suspended: Suspended,
    count: Count,
    /// The blocks that the owner served less those that it freed.
    local: UnsafeCell<i32>,
    recycled: AtomicU32,
}

const CHUNKS: Chunks = Chunks { first: 1, adopted: 0 };

impl Scope {
    /// Suspended after its first session, with so many live blocks.
    fn with(blocks: i32) -> Arc<Scope> {
        let (count, recycled) = (Count::new(), AtomicU32::new(0));
        let scope =
            Scope { suspended: Suspended::new(), count, local: UnsafeCell::new(blocks), recycled };
        assert!(scope.suspended.begin());
        scope.count.own();
        scope.suspended.leave(CHUNKS, 1);
        assert!(!scope.suspended.is_idle(), "it had a session in this window");
        Arc::new(scope)
    }

    fn local(&self) -> i32 {
        // SAFETY: loom checks that nobody writes to it.
        self.local.with(|local| unsafe { *local })
    }

    fn retire(&self) {
        if self.count.settle(self.local()) == 0 {
            self.recycle();
        }
    }

    fn recycle(&self) {
        // SAFETY: loom checks that nobody else is at it.
        self.local.with_mut(|local| unsafe { *local = 0 });
        self.recycled.fetch_add(1, Relaxed);
    }

    fn free_elsewhere(&self) {
        if self.count.free() {
            self.recycle();
        }
    }

    /// The owner frees a block, and ends the scope if it was the last one. Returns whether the
    /// scope was still its own.
    fn free(&self) -> bool {
        if self.suspended.take().is_none() {
            self.free_elsewhere();
            return false;
        }
        // SAFETY: loom checks that nobody else is at it.
        self.local.with_mut(|local| unsafe { *local -= 1 });
        if self.local() == 0 {
            self.retire();
            self.suspended.ended();
        } else {
            self.suspended.leave(CHUNKS, 1);
        }
        true
    }

    /// At the end of a window, another thread ends the scope.
    fn end_idle(&self) -> bool {
        let is_taken = self.suspended.is_idle() && self.suspended.take() == Some(CHUNKS);
        if is_taken {
            self.retire();
            self.suspended.ended();
        }
        is_taken
    }
}

/// Fails where `take` returns chunks without the lease, or trusts what it read before it had the
/// lease, and where `ended` does not store that there is no scope.
#[test]
fn an_idle_scope_is_ended_while_its_owner_frees() {
    loom::model(|| {
        let scope = Scope::with(2);
        let other = {
            let scope = Arc::clone(&scope);
            thread::spawn(move || scope.end_idle())
        };
        let is_own = [(); 2].map(|()| scope.free());
        let is_ended = other.join().unwrap();
        assert!(is_ended || is_own == [true, true]);
        assert_eq!(scope.recycled.load(Relaxed), 1);
        assert_eq!(scope.suspended.take(), None, "it has ended");
        assert!(scope.suspended.begin(), "the next one may persist");
    });
}

/// Fails where `take` does not read again what it read before it had the lease.
#[test]
fn two_windows_end_while_the_owner_goes_on() {
    let mut model = loom::model::Builder::new();
    // All orders take minutes.
    model.preemption_bound = model.preemption_bound.or(Some(3));
    model.check(|| {
        let scope = Scope::with(1);
        let others = [(); 2].map(|()| {
            let scope = Arc::clone(&scope);
            thread::spawn(move || scope.end_idle())
        });
        // A session that serves a block.
        let is_own = scope.suspended.take().is_some();
        if is_own {
            // SAFETY: loom checks that nobody else is at it.
            scope.local.with_mut(|local| unsafe { *local += 1 });
            scope.suspended.leave(CHUNKS, 2);
        }
        let ended = others.map(|other| u32::from(other.join().unwrap()));
        assert!(ended[0] + ended[1] <= 1);
        for _ in 0..1 + u32::from(is_own) {
            scope.free();
        }
        assert_eq!(scope.recycled.load(Relaxed), 1);
    });
}
