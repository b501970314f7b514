//! Claims: the figures of an owner have one writer at a time, and a later owner continues from the
//! last values of the one before; and a suspended scope is used by its owner or ended by another
//! thread, which recycles its chunk once.
//!
//! Models: `ci/loom.sh` runs them. The lease, the suspended scope and the count are the crate's
//! own, with the atomics of loom. Cells of loom represent plain fields, so loom reports two
//! accesses that nothing orders. Each model names the mutations for which it was seen to fail.

use crate::{
    loom_plain::{Plain, model, spawn},
    shared::{count::Count, hole::Hole, lease::Lease, suspended::Suspended},
};
use loom::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

struct Figures {
    lease: Lease,
    blocks: Plain<u32>,
}

impl Figures {
    /// Serves one block. The caller has the lease.
    fn serve(&self) {
        self.blocks.change(|blocks| *blocks += 1);
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
        let figures = Arc::new(Figures { lease: Lease::taken(), blocks: Plain::new(0) });
        let others = [(); 2].map(|()| spawn(&figures, move |figures| figures.run_owner()));
        figures.serve();
        figures.lease.leave();
        let taken = others.map(|other| u32::from(other.join().unwrap()));
        assert!(figures.lease.take(), "each owner has left it");
        assert_eq!(figures.blocks.get(), 1 + taken[0] + taken[1]);
    });
}

/// An owner's suspended scope with one chunk.
struct Scope {
    suspended: Suspended,
    count: Count,
    /// The owner's ID in the chunk's entry.
    owner: AtomicU64,
    /// The blocks that the owner served less those that it freed.
    local: Plain<i32>,
    /// The free list, whose memory goes with the lease: a block, if one is listed.
    listed: Plain<Option<usize>>,
    /// The blocks of the chunk. Whoever frees one writes to it before, as `poison` does.
    blocks: [Plain<u8>; 3],
    recycled: AtomicU32,
}

/// The number of the scope's first chunk.
const FIRST: u32 = 1;

const RETIRED: u64 = 4;

/// The owner's ID, and the one that it takes after another thread has ended its scope.
const ID: u64 = 16;
const NEW_ID: u64 = 17;

impl Scope {
    /// A scope with `blocks` live blocks that is suspended after its first session.
    fn with(blocks: i32) -> Arc<Scope> {
        let scope = Scope {
            suspended: Suspended::default(),
            count: Count::new(),
            owner: AtomicU64::new(ID),
            local: Plain::new(0),
            listed: Plain::new(None),
            blocks: Default::default(),
            recycled: AtomicU32::new(0),
        };
        assert!(scope.suspended.begin());
        scope.count.own();
        scope.count_own(blocks);
        scope.suspended.leave(FIRST, 1);
        assert!(!scope.suspended.is_idle(), "it had a session in this window");
        Arc::new(scope)
    }

    fn count_own(&self, more: i32) {
        self.local.change(|local| *local += more);
    }

    fn poison(&self, block: usize) {
        self.blocks[block].set(0xDE);
    }

    /// Takes the listed block. The caller has the lease.
    fn take_listed(&self) -> Option<usize> {
        self.listed.change(Option::take)
    }

    /// Like `Owner::retire_suspended`.
    fn retire(&self) {
        self.owner.store(RETIRED, Relaxed);
        let local = self.local.get();
        if let Some(block) = self.take_listed() {
            self.count.leave(Hole::new(24 + 8 * block, 8), |_| self.poison(block));
        }
        if self.count.is_empty(local) {
            self.count.clear();
            self.recycle();
        } else if self.count.settle(local).0 == 0 {
            self.recycle();
        }
    }

    /// Reuses the chunk, which the caller owns.
    fn recycle(&self) {
        self.local.set(0);
        (0..self.blocks.len()).for_each(|block| self.poison(block));
        self.recycled.fetch_add(1, Relaxed);
    }

    fn free_elsewhere(&self, block: usize) {
        self.poison(block);
        self.free_shared(block);
    }

    /// Like `Owner::free_shared`.
    fn free_shared(&self, block: usize) {
        let link = |_| self.poison(block);
        if self.count.free(Hole::new(24 + 8 * block, 8), link).is_none() {
            self.recycle();
        }
    }

    /// The owner frees a block, and ends the scope if it was the last one. Returns whether the
    /// scope was still its own.
    fn free(&self, block: usize) -> bool {
        if self.suspended.take().is_none() {
            self.free_elsewhere(block);
            return false;
        }
        self.poison(block);
        self.count_own(-1);
        if self.local.get() == 0 {
            self.retire();
            self.suspended.ended();
        } else {
            self.suspended.leave(FIRST, 1);
        }
        true
    }

    /// At the end of a window, another thread ends the scope.
    fn end_idle(&self) -> bool {
        let is_taken = self.suspended.is_idle() && self.suspended.take() == Some(FIRST);
        if is_taken {
            self.retire();
            self.suspended.ended();
        }
        is_taken
    }
}

/// Fails where `take` returns chunks without the lease, or trusts what it read before it had the
/// lease; where the lease is taken without `Acquire` or left without `Release`; and where `ended`
/// does not store that there is no scope.
#[test]
fn an_idle_scope_is_ended_while_its_owner_frees() {
    loom::model(|| {
        let scope = Scope::with(2);
        let other = spawn(&scope, move |scope| scope.end_idle());
        let is_own = [0, 1].map(|block| scope.free(block));
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
    model(3, || {
        let scope = Scope::with(1);
        let others = [(); 2].map(|()| spawn(&scope, move |scope| scope.end_idle()));
        // A session that serves a block.
        let is_own = scope.suspended.take().is_some();
        if is_own {
            scope.count_own(1);
            scope.suspended.leave(FIRST, 2);
        }
        let ended = others.map(|other| u32::from(other.join().unwrap()));
        assert!(ended[0] + ended[1] <= 1);
        for block in 0..1 + usize::from(is_own) {
            scope.free(block);
        }
        assert_eq!(scope.recycled.load(Relaxed), 1);
    });
}

/// The owner frees a block between two sessions, which puts it off, and one in the next session,
/// whose scope may be a new one. Another thread frees a third.
///
/// Fails where the owner keeps its ID though its scope has ended, where it counts the pending block
/// as its own then, where frees or `settle` are not `Release`, and without the fence in `free`.
#[test]
fn pending_blocks_are_freed_once_whoever_ended_the_scope() {
    model(3, || {
        let scope = Scope::with(3);
        let ender = spawn(&scope, move |scope| scope.end_idle());
        let other = spawn(&scope, move |scope| scope.free_elsewhere(2));
        scope.poison(0);
        let is_pending = scope.owner.load(Relaxed) == ID;
        if !is_pending {
            scope.free_shared(0);
        }
        // The next session begins.
        let is_resumed = scope.suspended.take().is_some();
        let id = if is_resumed { ID } else { NEW_ID };
        if is_pending && is_resumed {
            scope.count_own(-1);
        } else if is_pending {
            scope.free_shared(0);
        }
        scope.poison(1);
        if scope.owner.load(Relaxed) == id {
            scope.count_own(-1);
        } else {
            scope.free_shared(1);
        }
        if is_resumed {
            scope.retire();
            scope.suspended.ended();
        }
        other.join().unwrap();
        assert_ne!(ender.join().unwrap(), is_resumed);
        assert_eq!(scope.recycled.load(Relaxed), 1);
    });
}

/// Fails where `begin` does not look whether another thread is still ending the scope before, and
/// where that thread leaves the lease before it stores that there is no scope.
#[test]
fn the_next_scope_is_not_mistaken_for_the_one_that_was_ended() {
    const NEXT: u32 = 2;
    loom::model(|| {
        let scope = Scope::with(1);
        let other = spawn(&scope, move |scope| scope.end_idle());
        let is_own = scope.free(0);
        // Otherwise the other thread may end the next scope, too.
        if !is_own && scope.suspended.begin() {
            scope.suspended.leave(NEXT, 2);
            assert_eq!(scope.suspended.take(), Some(NEXT));
            scope.suspended.ended();
        }
        other.join().unwrap();
        assert_eq!(scope.recycled.load(Relaxed), 1);
    });
}

/// An owner whose scope was ended finds its listed block as a hole; otherwise it is still listed.
///
/// Fails where the lease is taken without `Acquire` or left without `Release`, and where `adopt` is not
/// `Acquire`.
#[test]
fn a_listed_block_is_served_again_whoever_ended_the_scope() {
    loom::model(|| {
        let scope = Scope::with(2);
        // The owner frees a block, which it lists.
        assert!(scope.suspended.take().is_some());
        scope.poison(0);
        scope.count_own(-1);
        scope.listed.set(Some(0));
        scope.suspended.leave(FIRST, 1);
        let ender = spawn(&scope, move |scope| scope.end_idle());
        // The next session.
        if scope.suspended.take().is_some() {
            let block = scope.take_listed().unwrap();
            scope.poison(block);
            scope.count_own(1);
            scope.suspended.leave(FIRST, 2);
        } else if scope.count.adopt().is_some() {
            scope.count_own(-scope.local.get());
            let hole = Hole::new(24, 8);
            let (start, taken) = scope.count.take(3, |start| (Hole::from_link(start, 1), 0));
            assert_eq!((start, taken), (hole.start(), 1));
            scope.poison(0);
            scope.count_own(1);
            scope.retire();
        }
        ender.join().unwrap();
    });
}
