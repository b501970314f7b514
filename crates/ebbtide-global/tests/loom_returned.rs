//! Claims: a block that another thread frees is listed by the owner of its scope or counted as
//! freed, exactly once, whoever ends the scope and whenever; what was done to the block happened
//! before; and the chunk is recycled once, after all of its blocks were freed.
//!
//! Models: `ci/loom.sh` runs them. The stack, the count and the suspended scope are the crate's
//! own, with the atomics of loom. Cells of loom represent the memory of the blocks, of which the
//! first word is the link, and the plain fields of the chunk, so loom reports two accesses that
//! nothing orders. Each model names the mutations for which it was seen to fail.

use crate::{
    loom_plain::{Plain, model, spawn},
    shared::{
        count::Count,
        hole::Hole,
        return_stack::{FIRST_WORD, ReturnStack, block_of},
        suspended::Suspended,
    },
};
use loom::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    thread,
};

/// The scope's ID in the chunk's entry, that of a later persistent scope with the same first chunk,
/// and that of a chunk without an owner.
const SCOPE: u64 = 16;
const NEXT_SCOPE: u64 = 17;
const RETIRED: u64 = 4;

/// The number of the scope's first chunk.
const FIRST: u32 = 1;

/// A chunk of a persistent scope, and the stack in the entry of the scope's first chunk. Other
/// threads free the blocks.
struct Scope {
    returned: ReturnStack,
    suspended: Suspended,
    count: Count,
    scope: AtomicU64,
    local: Plain<i32>,
    /// The first word of each block.
    blocks: [Plain<u64>; 3],
    listed: AtomicU32,
    recycled: AtomicU32,
}

impl Scope {
    /// A scope with `blocks` live blocks.
    fn with(blocks: i32) -> Arc<Scope> {
        let scope = Scope {
            returned: ReturnStack::new(),
            suspended: Suspended::default(),
            count: Count::new(),
            scope: AtomicU64::new(SCOPE),
            local: Plain::new(blocks),
            blocks: Default::default(),
            listed: AtomicU32::new(0),
            recycled: AtomicU32::new(0),
        };
        assert!(scope.suspended.begin());
        scope.count.own();
        scope.returned.open();
        Arc::new(scope)
    }

    fn count_own(&self, more: i32) {
        self.local.change(|local| *local += more);
    }

    /// Another thread frees a block, whose user has written to it. Like `Owner::free_other`.
    fn free(&self, block: usize) {
        self.blocks[block].set(0xDE);
        let word = FIRST_WORD + block as u64;
        if !self.returned.push(word, |next| self.blocks[block].set(next)) {
            self.free_shared(block);
        }
    }

    fn free_shared(&self, block: usize) {
        // The link takes the place of the block's contents.
        let link = |next: u16| self.blocks[block].set(next.into());
        if self.count.free(Hole::new(24 + 8 * block, 8), link).is_none() {
            self.recycle();
        }
    }

    /// Reuses the whole chunk, which the caller owns.
    fn recycle(&self) {
        self.count_own(0);
        (0..self.blocks.len()).for_each(|block| self.blocks[block].set(1));
        self.recycled.fetch_add(1, Relaxed);
    }

    fn for_each(&self, first: u64, f: impl Fn(usize)) {
        let mut word = first;
        while word >= FIRST_WORD {
            let block = usize::try_from(block_of(word) - FIRST_WORD).unwrap();
            word = self.blocks[block].get();
            f(block);
        }
    }

    /// Like `Owner::take_returned`, by the owner of the persistent scope with this ID.
    fn take_returned(&self, id: u64) {
        if !self.returned.has_blocks() {
            return;
        }
        self.for_each(self.returned.take(), |block| {
            if self.scope.load(Relaxed) == id {
                self.count_own(-1);
                self.listed.fetch_add(1, Relaxed);
                // It is served again, and freed by its owner.
                self.blocks[block].set(7);
            } else {
                self.free_shared(block);
            }
        });
    }

    /// Like `Owner::retire_suspended`. The caller owns the chunk.
    fn end(&self) {
        let returned = self.returned.close();
        self.scope.store(RETIRED, Relaxed);
        let local = self.local.get();
        if self.count.is_empty(local) {
            self.count.clear();
            self.recycle();
        } else {
            self.count_own(-local);
            if self.count.settle(local).0 == 0 {
                self.recycle();
            }
        }
        self.for_each(returned, |block| self.free_shared(block));
    }

    fn is_recycled_once(&self) {
        assert_eq!(self.recycled.load(Relaxed), 1);
        assert_eq!(self.count.peek(), 0);
    }
}

fn free_elsewhere(scope: &Arc<Scope>, block: usize) -> thread::JoinHandle<()> {
    spawn(scope, move |scope| scope.free(block))
}

/// Fails where `push` is not `Release` or `take` not `Acquire`; where the exchange of `push` or the
/// swap of `take` is a load and a store; and where `push` does not store the link anew after its
/// exchange failed.
#[test]
fn blocks_freed_by_two_threads_are_listed_once_and_after_their_last_access() {
    model(3, || {
        let scope = Scope::with(2);
        let other = free_elsewhere(&scope, 0);
        let owner = spawn(&scope, move |scope| scope.take_returned(SCOPE));
        scope.free(1);
        other.join().unwrap();
        owner.join().unwrap();
        scope.take_returned(SCOPE);
        assert_eq!(scope.listed.load(Relaxed), 2);
        assert_eq!(scope.local.get(), 0);
        assert!(scope.count.is_empty(0));
    });
}

/// Fails where `close` is not `Acquire` or `push` not `Release`; where `close` is a load and a
/// store; where `push` adds to a closed stack; and where the blocks of a closed stack are not
/// counted as freed.
#[test]
fn a_block_that_comes_while_the_scope_ends_is_counted_by_one_of_the_two() {
    model(3, || {
        let scope = Scope::with(2);
        let others = [0, 1].map(|block| free_elsewhere(&scope, block));
        scope.end();
        for other in others {
            other.join().unwrap();
        }
        scope.is_recycled_once();
    });
}

/// Fails where the owner lists the blocks of every chunk, not only of its own, and where `open` is
/// left out: then nothing is listed.
#[test]
fn a_block_that_comes_late_is_counted_by_the_owner_of_the_next_scope() {
    model(3, || {
        let scope = Scope::with(3);
        let others = [0, 1].map(|block| free_elsewhere(&scope, block));
        scope.take_returned(SCOPE);
        scope.end();
        let listed = scope.listed.load(Relaxed);
        // The next persistent scope begins in the same first chunk.
        scope.returned.open();
        scope.take_returned(NEXT_SCOPE);
        for other in others {
            other.join().unwrap();
        }
        scope.take_returned(NEXT_SCOPE);
        assert_eq!(scope.listed.load(Relaxed), listed);
        scope.free(2);
        scope.take_returned(NEXT_SCOPE);
        assert!(!scope.returned.has_blocks());
        scope.is_recycled_once();
    });
}

/// Fails where `push` does not look at the number of blocks, or does not count one.
#[test]
fn a_block_that_finds_the_stack_full_is_counted_by_whoever_frees_it() {
    model(2, || {
        let scope = Scope::with(3);
        let others = [0, 1].map(|block| free_elsewhere(&scope, block));
        scope.free(2);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(scope.count.peek(), crate::shared::count::BIAS - 1);
        scope.end();
        scope.is_recycled_once();
    });
}

/// Fails where the lease of the suspended scope is taken without `Acquire` or left without
/// `Release`, where the thread that ends the scope does not close the stack, and where `free` of
/// the count is not `Release` or lacks its fence.
#[test]
fn a_block_is_returned_while_another_thread_ends_the_suspended_scope() {
    model(2, || {
        let scope = Scope::with(2);
        scope.suspended.leave(FIRST, 1);
        let ender = spawn(&scope, move |scope| {
            let is_taken = scope.suspended.take().is_some();
            if is_taken {
                scope.end();
                scope.suspended.ended();
            }
            is_taken
        });
        let other = free_elsewhere(&scope, 0);
        // A session that takes the returned block, and frees the other one; then the scope ends.
        let is_resumed = scope.suspended.take().is_some();
        if is_resumed {
            scope.take_returned(SCOPE);
            scope.blocks[1].set(0xDE);
            scope.count_own(-1);
            scope.end();
            scope.suspended.ended();
        } else {
            scope.free(1);
        }
        other.join().unwrap();
        assert_ne!(ender.join().unwrap(), is_resumed);
        scope.is_recycled_once();
    });
}
