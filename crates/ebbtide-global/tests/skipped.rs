//! Claim: the inner allocator serves the scopes of a thread that keeps nearly all of what they
//! allocate, and arenas serve all others.

// Without a range no scope opens.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, engine::Owner};
use std::{alloc::Layout, collections::VecDeque};

/// Owns blocks that outlive their scopes.
struct Program {
    owner: Owner,
    kept: VecDeque<(*mut u8, Layout)>,
}

impl Program {
    fn new() -> Self {
        let owner = Owner::new();
        assert!(owner.start());
        Program { owner, kept: VecDeque::new() }
    }

    /// Runs a scope that keeps some blocks, and allocates others for the scope only. Returns
    /// whether the scope was opened.
    fn scope(&mut self, kept: &[usize], temporary: &[usize]) -> bool {
        let Some(scope) = self.owner.enter(&Options::new()) else { return false };
        let alloc = |&size: &usize| {
            let layout = Layout::array::<u8>(size).unwrap();
            let block = self.owner.alloc(layout);
            assert!(!block.is_null());
            (block, layout)
        };
        let temporary: Vec<_> = temporary.iter().map(alloc).collect();
        self.kept.extend(kept.iter().map(alloc));
        for (block, layout) in temporary {
            self.free(block, layout);
        }
        self.owner.leave(scope);
        true
    }

    /// Like [`scope`](Self::scope); then frees the oldest kept blocks until `count` are left.
    fn scope_and_evict(&mut self, kept: &[usize], temporary: &[usize], count: usize) -> bool {
        let is_open = self.scope(kept, temporary);
        self.evict(count);
        is_open
    }

    /// Frees the oldest kept blocks until `count` are left.
    fn evict(&mut self, count: usize) {
        while self.kept.len() > count {
            let (block, layout) = self.kept.pop_front().unwrap();
            self.free(block, layout);
        }
    }

    fn free(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block is alive, with this layout, and used no more.
        assert!(unsafe { self.owner.dealloc(block, layout) });
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.evict(0);
    }
}

/// The number of scopes that are opened before the first one is skipped; 3,000 if none is.
fn opened(mut scope: impl FnMut() -> bool) -> usize {
    (0..3000).take_while(|_| scope()).count()
}

#[test]
fn scopes_that_keep_most_of_their_blocks_are_skipped_until_they_are_tried_again() {
    alone!();
    let mut program = Program::new();
    // Keeps four of five blocks, but only a fifth of the bytes.
    let mut scope = || program.scope_and_evict(&[16; 4], &[256], 4000);
    let first = opened(&mut scope);
    assert!(first < 1000, "{first} opened");
    let skipped = (0..10_000).take_while(|_| !scope()).count();
    assert!((4000..4200).contains(&skipped), "{skipped} skipped");
}

#[test]
fn scopes_that_keep_nearly_all_of_their_bytes_are_skipped() {
    alone!();
    let mut program = Program::new();
    // Keeps half of the blocks, but nearly all bytes.
    let first = opened(|| program.scope(&[1024], &[32]));
    assert!(first < 1000, "{first} opened");
}

/// Large blocks gain nothing from a scope if they outlive it.
#[test]
fn scopes_that_keep_only_large_blocks_are_skipped_though_they_replace_others() {
    alone!();
    let mut program = Program::new();
    let first = opened(|| program.scope_and_evict(&[100_000], &[160, 160], 50));
    assert!(first < 1000, "{first} opened");
}

#[test]
fn scopes_that_free_their_large_blocks_are_served() {
    alone!();
    let mut program = Program::new();
    assert_eq!(opened(|| program.scope_and_evict(&[20_000], &[100_000], 50)), 3000);
}

#[test]
fn scopes_that_keep_three_quarters_of_their_bytes_are_served() {
    alone!();
    let mut program = Program::new();
    assert_eq!(opened(|| program.scope(&[384], &[64, 64])), 3000);
}

#[test]
fn scopes_that_replace_what_earlier_ones_kept_are_served() {
    alone!();
    let mut program = Program::new();
    assert_eq!(opened(|| program.scope_and_evict(&[1024], &[32], 100)), 3000);
}
