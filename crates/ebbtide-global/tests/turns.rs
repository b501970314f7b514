//! Claim: a scope that frees what it allocates uses the same few pages again and again, and wastes
//! no memory by doing so.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::started;
use ebbtide_global::{Options, engine::Owner, report};
use std::{alloc::Layout, collections::BTreeSet};

const SMALL: Layout = Layout::new::<[u64; 8]>();

fn serve(owner: &Owner, bytes: usize) -> Vec<*mut u8> {
    (0..bytes / SMALL.size()).map(|_| owner.alloc(SMALL)).collect()
}

fn free(owner: &Owner, blocks: Vec<*mut u8>) {
    for block in blocks {
        // SAFETY: the block is alive, with this layout, and used no more.
        assert!(unsafe { owner.dealloc(block, SMALL) });
    }
}

fn chunk_of(block: *mut u8) -> usize {
    block.addr() >> 16
}

/// The pages used by the second half of the batches, each of which is freed before the next. `kept`
/// of the batches leave a block behind.
fn pages_touched(owner: &Owner, kept: usize, batches: usize) -> usize {
    let mut pages = BTreeSet::new();
    let mut kept_blocks = Vec::new();
    for batch in 0..batches {
        let blocks: Vec<_> = (0..20).map(|_| owner.alloc(SMALL)).collect();
        assert!(blocks.iter().all(|block| !block.is_null()));
        if batch * 2 > batches {
            pages.extend(blocks.iter().map(|block| block.addr() >> 12));
        }
        // The first block is freed last, so that nothing is rewound before.
        for (place, block) in blocks.into_iter().enumerate() {
            if batch < kept && place == 0 {
                kept_blocks.push(block);
            } else {
                // SAFETY: the block is alive, with this layout, and used no more.
                assert!(unsafe { owner.dealloc(block, SMALL) });
            }
        }
    }
    free(owner, kept_blocks);
    pages.len()
}

#[test]
fn a_scope_that_frees_what_it_serves_stays_in_the_first_level_cache() {
    alone!();
    let owner = started();
    for kept in [0, 1] {
        let scope = owner.enter(&Options::new()).unwrap();
        // Two stages of 8 KiB, and the page after each, for a batch that crosses the end of a
        // stage.
        let pages = pages_touched(&owner, kept, 1000);
        assert!(pages <= 6, "{pages} pages");
        owner.leave(scope);
    }
}

#[test]
fn the_rest_of_a_chunk_that_gave_way_is_used_later() {
    alone!();
    for nested in [false, true] {
        let owner = started();
        let outer = owner.enter(&Options::new()).unwrap();
        let (serve, free) = (|bytes| serve(&owner, bytes), |blocks| free(&owner, blocks));
        // Three chunks: the second is emptied, so the third gives way to it after its first stage.
        let first = serve((1 << 16) - SMALL.size());
        let second = serve((1 << 16) - SMALL.size());
        let parked = serve(4 << 10);
        assert_eq!(
            second
                .iter()
                .map(|block| chunk_of(*block))
                .filter(|chunk| *chunk == chunk_of(parked[0]))
                .count(),
            0
        );
        free(second);
        let mut live = serve(8 << 10);
        if nested {
            let inner = owner.enter(&Options::new()).unwrap();
            free(serve(200 << 10));
            owner.leave(inner);
        }
        live.extend(serve(200 << 10));
        let mut chunks: Vec<usize> =
            live.iter().chain(&parked).map(|block| chunk_of(*block)).collect();
        chunks.sort_unstable();
        chunks.dedup();
        assert_eq!(chunks.len(), 4, "212 KiB fit into four chunks");
        let mut sorted: Vec<usize> =
            live.iter().chain(&parked).chain(&first).map(|block| block.addr()).collect();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] + SMALL.size() <= pair[1]));
        [first, parked, live].into_iter().for_each(free);
        owner.leave(outer);
    }
    assert_eq!(report().escapes.pinned_chunks, 0);
}

#[test]
fn a_block_that_is_larger_than_a_stage_is_served_while_two_chunks_are_empty() {
    alone!();
    let owner = started();
    // Sizes and alignments that fit into the first stage, and some that do not.
    for (size, align) in [(4096, 8), (8176, 8), (8177, 8), (8192, 8), (8192, 4096), (5000, 4096)] {
        let scope = owner.enter(&Options::new()).unwrap();
        // Two chunks take turns, both empty.
        pages_touched(&owner, 0, 200);
        let large = Layout::from_size_align(size, align).unwrap();
        let blocks: Vec<_> = (0..20).map(|_| owner.alloc(large)).collect();
        for pair in blocks.windows(2) {
            assert!(!pair[0].is_null() && pair[0].addr().abs_diff(pair[1].addr()) >= size);
        }
        for block in blocks {
            assert_eq!(block.addr() % align, 0);
            // SAFETY: the block is alive, with this layout, and used no more.
            assert!(unsafe { owner.dealloc(block, large) });
        }
        pages_touched(&owner, 0, 200);
        owner.leave(scope);
    }
}

#[test]
fn a_large_block_is_served_from_empty_chunks_while_two_others_take_turns() {
    alone!();
    let owner = started();
    let large = Layout::from_size_align(50 << 20, 8).unwrap();
    for batches in [0, 20, 200] {
        let scope = owner.enter(&Options::new()).unwrap();
        // The bound allows the large block only if the scope gives their memory back.
        free(&owner, serve(&owner, 60 << 20));
        pages_touched(&owner, 0, batches);
        let mut live = serve(&owner, 4 << 10);
        let block = owner.alloc(large);
        assert!(!block.is_null(), "after {batches} batches: {}", report());
        live.extend(serve(&owner, 1 << 20));
        let distinct: BTreeSet<_> = live.iter().collect();
        assert_eq!(distinct.len(), live.len());
        free(&owner, live);
        // SAFETY: the block is alive, with this layout, and used no more.
        assert!(unsafe { owner.dealloc(block, large) });
        owner.leave(scope);
    }
}

#[test]
fn the_next_scope_has_none_of_the_chunks_that_took_turns() {
    alone!();
    let owner = started();
    let (serve, free) = (|bytes| serve(&owner, bytes), |blocks| free(&owner, blocks));
    for _ in 0..8 {
        // The second chunk gives way to the first one, which the next scope begins in.
        let scope = owner.enter_default().unwrap();
        let first = serve(1 << 16);
        let chunk = chunk_of(first[0]);
        free(first);
        let second = serve(1 << 13);
        assert_eq!(second.last().map(|block| chunk_of(*block)), Some(chunk));
        free(second);
        owner.leave(scope);
        let scope = owner.enter_default().unwrap();
        let blocks = serve(1 << 18);
        assert_eq!(chunk_of(blocks[0]), chunk);
        let chunks: BTreeSet<_> = blocks.iter().map(|block| chunk_of(*block)).collect();
        assert_eq!(chunks.len(), 5);
        free(blocks);
        owner.leave(scope);
        assert_eq!(report().escapes.pinned_chunks, 0);
    }
}
