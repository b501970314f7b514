//! Claims: a large block that grows moves to a run of its owner's cache that has the memory for it,
//! with its contents; a block of another scope stays where it is. What an open scope has freed keeps its
//! memory, however much it is, and a thread that ends leaves little of it.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::{Block, Through, started};
use ebbtide_global::{Options, release_pool, report};
use std::alloc::Layout;

#[test]
fn a_large_block_that_grows_moves_to_warm_memory() {
    alone!();
    for is_own_scope in [true, false] {
        // Runs of the previous iteration lose their memory.
        release_pool();
        let owner = started();
        let outer = owner.enter(&Options::new()).unwrap();
        let by = Through(&owner);
        let chunk = |block: &Block| block.start.addr() >> 16;
        let grown = |to: &[usize], seed| {
            let layout = Layout::from_size_align(10_000, 8).unwrap();
            let mut block = Block::alloc(&by, layout, seed);
            to.iter().for_each(|size| block.resize(&by, *size));
            block
        };
        // Both have grown once, so their runs are of one class; only the first run gets more
        // memory.
        let (large, mut small) = (grown(&[70_000, 400_000], 1), grown(&[70_000], 2));
        let (warm, cold) = (chunk(&large), chunk(&small));
        assert_ne!(warm, cold);
        large.free(&by);
        let inner = if is_own_scope { None } else { owner.enter(&Options::new()) };
        for size in [120_000, 390_000] {
            small.resize(&by, size);
            assert_eq!(chunk(&small), if is_own_scope { warm } else { cold });
        }
        small.free(&by);
        inner.into_iter().for_each(|inner| owner.leave(inner));
        owner.leave(outer);
    }
}

#[test]
fn a_scope_keeps_the_memory_of_what_it_frees_until_its_owner_ends() {
    alone!();
    let owner = started();
    let by = Through(&owner);
    let scope = owner.enter(&Options::new());
    let layout = Layout::from_size_align(60_000, 8).unwrap();
    let blocks: Vec<_> = (0..1000).map(|_| Block::alloc(&by, layout, 1)).collect();
    blocks.into_iter().for_each(|block| block.free(&by));
    assert!(scope.is_some() && report().kept > 50 << 20, "{}", report());
    // No helper thread runs, since no scope has ended.
    owner.end();
    assert!(report().kept <= 12 << 20, "{}", report());
}
