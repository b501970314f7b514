//! Claim: memory that is given back is counted once.

// Without a range nothing is served, and there is nothing to be bounded.
#![cfg(all(any(target_os = "linux", windows), target_pointer_width = "64"))]

use crate::filled::{Block, Through, started};
use ebbtide_global::{Options, engine::Owner, release_pool, report};
use ebbtide_patience::{eventually, pause};
use std::alloc::Layout;

fn served(owner: &Owner, size: usize) -> Block {
    let block = Block::alloc(&Through(owner), Layout::from_size_align(size, 8).unwrap(), 1);
    assert!(block.is_ours());
    block
}

#[test]
fn memory_that_is_trimmed_and_given_back_is_counted_once() {
    alone!();
    let owner = started();
    let ticket = owner.enter(&Options::new()).unwrap();
    let blocks: Vec<_> = (0..300).map(|_| served(&owner, 60_000)).collect();
    blocks.into_iter().for_each(|block| block.free(&Through(&owner)));
    // Wait until the recent past is over, so that all memory that may be held is in the pool.
    for _ in 0..3 {
        pause(1_100);
        let _ = report();
        (0..40).for_each(|_| served(&owner, 10_000).free(&Through(&owner)));
    }
    let small: Vec<_> = (0..100).map(|_| served(&owner, 10_000)).collect();
    let held = report().held;
    assert!(held < 40 << 20, "{held}");
    small.into_iter().for_each(|block| block.free(&Through(&owner)));
    owner.leave(ticket);
    owner.end();
    // The helper thread may have runs in hand that it is about to give back.
    let is_released = eventually(|| {
        release_pool();
        report().held == 0
    });
    assert!(is_released, "{}", report());
}
