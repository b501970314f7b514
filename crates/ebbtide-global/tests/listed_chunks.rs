//! Claim: an empty chunk is not bumped again while one of its blocks is in a free list. Otherwise
//! the list would serve memory that was served already.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::{Block, Through, started};
use ebbtide_global::{Options, engine::Owner};
use std::{alloc::Layout, collections::VecDeque};

fn alloc(owner: &Owner, size: usize) -> Block {
    let block = Block::alloc(&Through(owner), Layout::from_size_align(size, 8).unwrap(), 1);
    assert!(block.is_ours());
    block
}

fn free(owner: &Owner, block: Block) {
    block.free(&Through(owner));
}

#[test]
fn medium_blocks_in_every_scope() {
    alone!();
    let owner = started();
    let ticket = owner.enter(&Options::new()).unwrap();
    // Freed from the first to the last: all but the last of each size are listed, and the chunk is
    // empty.
    for (count, size) in [(7, 8192), (3, 5000)] {
        let blocks: Vec<Block> = (0..count).map(|_| alloc(&owner, size)).collect();
        blocks.into_iter().for_each(|block| free(&owner, block));
    }
    // No listed block has this size, and the chunk has no room behind the listed blocks.
    let mut live = vec![alloc(&owner, 7000)];
    live.extend((0..6).map(|_| alloc(&owner, 8192)));
    live.extend((0..2).map(|_| alloc(&owner, 5000)));
    live.into_iter().for_each(|block| free(&owner, block));
    owner.leave(ticket);
}

#[test]
fn small_blocks_in_a_scope_that_churns() {
    alone!();
    const MANY: usize = 50_000;
    let owner = started();
    let ticket = owner.enter(&Options::new()).unwrap();
    // A queue: after some chunks the scope begins to list freed blocks.
    let mut queue = VecDeque::new();
    for _ in 0..MANY {
        queue.push_back(alloc(&owner, 64));
        if queue.len() > 2_000 {
            free(&owner, queue.pop_front().unwrap());
        }
    }
    let mut live: Vec<Block> = (0..MANY).map(|_| alloc(&owner, 64)).collect();
    // Several chunks are empty now, and all their blocks listed.
    live.drain(..).for_each(|block| free(&owner, block));
    queue.into_iter().for_each(|block| free(&owner, block));
    // Blocks of another size, then of the listed size.
    live.extend((0..MANY / 4).map(|_| alloc(&owner, 72)));
    live.extend((0..MANY).map(|_| alloc(&owner, 64)));
    live.into_iter().for_each(|block| free(&owner, block));
    owner.leave(ticket);
}
