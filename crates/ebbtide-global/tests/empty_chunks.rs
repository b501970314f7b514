//! Claim: a chunk of a scope whose blocks have all been freed, by any thread, is bumped again by
//! the same scope, and not by a scope nested in it, even if the nested one searched its own chunks.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::started;
use ebbtide_global::{Options, engine::Owner, report};
use std::{alloc::Layout, collections::BTreeSet};

const LAYOUT: Layout = Layout::new::<[u64; 125]>();

/// Blocks that fill a chunk.
const FULL: usize = (1 << 16) / 1000;

fn chunk_of(block: *mut u8) -> usize {
    block.addr() >> 16
}

struct Player {
    owner: Owner,
    live: Vec<*mut u8>,
}

impl Player {
    fn new() -> Player {
        Player { owner: started(), live: Vec::new() }
    }

    /// Allocates this many blocks, each filled with its number.
    fn serve(&mut self, count: usize) {
        for _ in 0..count {
            let block = self.owner.alloc(LAYOUT);
            assert!(!block.is_null());
            // SAFETY: the block is as large as that, and aligned to the word.
            unsafe { block.cast::<usize>().write(block.addr()) };
            self.live.push(block);
        }
    }

    /// Frees the blocks of all chunks but the newest.
    fn empty(&mut self, by: Option<&Owner>) {
        let newest = chunk_of(*self.live.last().unwrap());
        let by = by.unwrap_or(&self.owner);
        self.live.retain(|block| {
            // SAFETY: the block is alive, with this layout, and forgotten if it is freed.
            chunk_of(*block) == newest || !unsafe { by.dealloc(*block, LAYOUT) }
        });
    }

    fn check(&self) {
        let mut sorted = self.live.clone();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0].addr() + LAYOUT.size() <= pair[1].addr()));
        // SAFETY: each is alive, and was written to.
        assert!(sorted.iter().all(|block| unsafe { block.cast::<usize>().read() } == block.addr()));
    }
}

#[test]
fn empty_chunks_stay_with_their_scope() {
    alone!();
    let stranger = Owner::new();
    for chunks in 2..24 {
        for by in [None, Some(&stranger)] {
            let mut player = Player::new();
            let outer = player.owner.enter(&Options::new()).unwrap();
            player.serve(chunks * FULL);
            player.empty(by);
            let inner = player.owner.enter(&Options::new()).unwrap();
            player.serve(chunks * FULL);
            player.check();
            player.owner.leave(inner);
            player.serve(chunks * FULL);
            player.check();
            player.owner.leave(outer);
            let outer = player.owner.enter(&Options::new()).unwrap();
            player.serve(chunks * FULL);
            player.check();
            player.empty(by);
            player.empty(by);
            player.owner.leave(outer);
            assert!(player.owner.alloc(LAYOUT).is_null(), "no scope is open");
            let Player { owner, live } = player;
            for block in live {
                // SAFETY: the block is alive, with this layout, and used no more.
                assert!(unsafe { owner.dealloc(block, LAYOUT) });
            }
        }
    }
    assert_eq!(report().escapes.pinned_chunks, 0);
}

#[test]
fn a_scope_searches_its_own_chunks_after_a_nested_one_searched_others() {
    alone!();
    let stranger = Owner::new();
    // The position at which the nested scope's search stops depends on the number of its chunks.
    for chunks in 1..16 {
        let mut player = Player::new();
        let outer = player.owner.enter(&Options::new()).unwrap();
        player.serve(4 * FULL);
        let first_chunk = chunk_of(player.live[0]);

        let inner = player.owner.enter(&Options::new()).unwrap();
        let nested: Vec<_> = (0..chunks * FULL).map(|_| player.owner.alloc(LAYOUT)).collect();
        for block in nested {
            // SAFETY: the block is alive, with this layout, and used no more.
            assert!(unsafe { stranger.dealloc(block, LAYOUT) });
        }
        player.owner.leave(inner);

        player.live.retain(|&block| {
            // SAFETY: the block is alive, with this layout, and forgotten if it is freed.
            chunk_of(block) != first_chunk || !unsafe { stranger.dealloc(block, LAYOUT) }
        });
        player.serve(FULL);
        player.check();
        let newest = chunk_of(*player.live.last().unwrap());
        assert_eq!(newest, first_chunk, "the first chunk of the scope is empty");

        let Player { owner, live } = player;
        owner.leave(outer);
        for block in live {
            // SAFETY: the block is alive, with this layout, and used no more.
            assert!(unsafe { owner.dealloc(block, LAYOUT) });
        }
    }
    assert_eq!(report().escapes.pinned_chunks, 0);
}

#[test]
fn chunks_in_which_a_few_blocks_stay_are_no_hindrance() {
    alone!();
    let owner = started();
    let scope = owner.enter(&Options::new()).unwrap();
    let mut chunks = BTreeSet::new();
    // One block stays to the end.
    let mut kept = Vec::new();
    for size in [1100, 1300, 1500, 1800, 2200, 2600, 3000, 3600, 4200, 5000, 6000, 7000] {
        let layout = Layout::from_size_align(size, 8).unwrap();
        let blocks: Vec<_> = (0..(1 << 20) / size).map(|_| owner.alloc(layout)).collect();
        for (number, block) in blocks.into_iter().enumerate() {
            assert!(!block.is_null());
            chunks.insert(chunk_of(block));
            if number == 0 && kept.is_empty() {
                kept.push((block, layout));
                continue;
            }
            // SAFETY: the block is alive, with this layout, and used no more.
            assert!(unsafe { owner.dealloc(block, layout) });
        }
    }
    // Each round needs 16 chunks.
    assert!(chunks.len() <= 48, "{} chunks", chunks.len());
    for (block, layout) in kept {
        // SAFETY: kept blocks are alive, with this layout, and not used again.
        assert!(unsafe { owner.dealloc(block, layout) });
    }
    owner.leave(scope);
}
