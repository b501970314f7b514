//! Claim: a large block that is requested as zeroed is zero, whatever its run held before: a block
//! that grew, or a larger one of which a part went back to the system.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::{Block, Through, started};
use ebbtide_global::{Options, engine::Owner, report};
use std::alloc::Layout;

/// A block that was zero when it was served.
fn zeroed(owner: &Owner, size: usize) -> Block {
    let layout = Layout::from_size_align(size, 8).unwrap();
    Block::alloc_zeroed(&Through(owner), layout, size as u64)
}

#[test]
fn large_blocks_are_zero() {
    alone!();
    let owner = started();
    let ticket = owner.enter(&Options::new()).unwrap();
    // Blocks that grow within their run, by their owner or by another one.
    let other = Owner::new();
    for by in [&owner, &other] {
        let mut block = zeroed(&owner, 70_000);
        block.resize(&Through(by), 120_000);
        block.free(&Through(by));
        for _ in 0..8 {
            let block = zeroed(&owner, 120_000);
            assert!(block.is_ours());
            block.free(&Through(&owner));
        }
    }
    // So much more is held than is alive that the rest of a run goes back when a smaller block
    // takes the run.
    let held: Vec<Block> = (0..2000).map(|_| zeroed(&owner, 9000)).collect();
    let before = report();
    assert!(before.held > before.live / 4 * 5, "{before:?}");
    for _ in 0..4 {
        for size in [120_000, 70_000, 90_000, 120_000] {
            zeroed(&owner, size).free(&Through(&owner));
        }
    }
    held.into_iter().for_each(|block| block.free(&Through(&owner)));
    owner.leave(ticket);
    let report = report();
    assert_eq!((report.escapes.pinned_chunks, report.live), (0, 0));
}
