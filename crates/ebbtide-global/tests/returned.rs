//! Claims about blocks of a persistent scope that another thread frees: the scope serves them
//! again, so that it takes no further memory; and none is lost, whenever the scope ends.

// Without a range, no scope persists.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, engine::Owner, report};
use std::{
    alloc::Layout,
    collections::{BTreeSet, VecDeque},
    thread,
};

const TINY: Layout = Layout::new::<[u64; 8]>();
const SMALL: Layout = Layout::new::<[u64; 64]>();
/// Larger than the blocks that the fast paths serve.
const MEDIUM: Layout = Layout::new::<[u64; 200]>();

/// The blocks that each session keeps.
const KEPT: usize = 2_000;

/// A block that any thread may free.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Block(*mut u8);

// SAFETY: nobody but the block's holder uses it.
unsafe impl Send for Block {}

fn take(owner: &Owner, layout: Layout) -> Block {
    let block = owner.alloc(layout);
    assert!(!block.is_null());
    // SAFETY: the block is new, and has this size.
    unsafe { block.write_bytes(0xA5, layout.size()) };
    Block(block)
}

fn free(owner: &Owner, block: Block, layout: Layout) {
    // SAFETY: the caller's block is alive, has this layout, and is not used again.
    assert!(unsafe { owner.dealloc(block.0, layout) });
}

/// Frees blocks on another thread, through an owner that opens no scope.
fn free_elsewhere(blocks: impl IntoIterator<Item = Block>, layout: Layout) {
    let blocks: Vec<Block> = blocks.into_iter().collect();
    let freed = thread::spawn(move || {
        let other = Owner::new();
        assert!(other.start());
        blocks.into_iter().for_each(|block| free(&other, block, layout));
    });
    freed.join().unwrap();
}

/// An owner whose next scope persists, because it has pinned sparse chunks; and the blocks that pin
/// them.
fn owner_with_sparse_chunks() -> (Owner, Vec<Block>) {
    let owner = Owner::new();
    assert!(owner.start());
    let mut pinned = Vec::new();
    for _ in 0..32 {
        // A scope with options does not persist.
        let scope = owner.enter(&Options::new().max_size(4096)).unwrap();
        let mut blocks: Vec<_> = (0..127).map(|_| take(&owner, SMALL)).collect();
        pinned.push(blocks.swap_remove(3));
        blocks.into_iter().for_each(|block| free(&owner, block, SMALL));
        owner.leave(scope);
    }
    (owner, pinned)
}

/// Opens a scope, allocates, and leaves everything behind.
fn session(owner: &Owner, layout: Layout) -> BTreeSet<Block> {
    let scope = owner.enter_default().unwrap();
    let blocks = (0..KEPT).map(|_| take(owner, layout)).collect();
    owner.leave(scope);
    blocks
}

fn held(owner: &Owner) -> usize {
    owner.publish_at_rest();
    report().held
}

/// No block is alive, and no chunk is pinned.
#[track_caller]
fn assert_nothing_stays(owner: &Owner) {
    owner.publish_at_rest();
    assert_eq!((report().live, report().escapes.pinned_chunks), (0, 0));
}

/// Splits off every eighth block.
fn every_eighth(blocks: BTreeSet<Block>) -> (Vec<Block>, Vec<Block>) {
    let (mut others, mut eighth) = (Vec::new(), Vec::new());
    for (number, block) in blocks.into_iter().enumerate() {
        if number % 8 == 0 { eighth.push(block) } else { others.push(block) }
    }
    (others, eighth)
}

fn are_served_again(layout: Layout) {
    let (owner, pinned) = owner_with_sparse_chunks();
    let (mut old, mut kept) = every_eighth(session(&owner, layout));
    let before = held(&owner);
    for _ in 0..20 {
        let known: BTreeSet<usize> = old.iter().map(|block| block.0.addr()).collect();
        free_elsewhere(old, layout);
        // A session that allocates nothing takes them back.
        owner.leave(owner.enter_default().unwrap());
        let scope = owner.enter_default().unwrap();
        old = (0..known.len()).map(|_| take(&owner, layout)).collect();
        owner.leave(scope);
        let again: BTreeSet<usize> = old.iter().map(|block| block.0.addr()).collect();
        assert_eq!(again, known);
    }
    // Also within one session: blocks are taken back before the scope takes another chunk.
    let scope = owner.enter_default().unwrap();
    for _ in 0..20 {
        let count = old.len();
        free_elsewhere(old, layout);
        old = (0..count).map(|_| take(&owner, layout)).collect();
    }
    owner.leave(scope);
    // The cache of the owner that frees may hold a chunk or two.
    assert!(held(&owner) <= before + (1 << 18), "{before} bytes were held");
    kept.append(&mut old);
    free_elsewhere(kept, layout);
    free_elsewhere(pinned, SMALL);
    owner.end();
    assert_eq!((report().live, report().escapes.pinned_chunks), (0, 0));
}

#[test]
fn small_blocks_are_served_again() {
    alone!();
    are_served_again(SMALL);
}

#[test]
fn medium_blocks_are_served_again() {
    alone!();
    are_served_again(MEDIUM);
}

#[test]
fn a_scope_whose_blocks_all_came_back_ends() {
    alone!();
    let (owner, pinned) = owner_with_sparse_chunks();
    let blocks = session(&owner, SMALL);
    free_elsewhere(blocks, SMALL);
    free_elsewhere(pinned, SMALL);
    owner.leave(owner.enter_default().unwrap());
    assert_nothing_stays(&owner);
}

#[test]
fn blocks_on_their_way_back_are_freed_when_the_scope_ends() {
    alone!();
    let end_of_scope: [fn(&Owner); 3] = [Owner::end, Owner::release_pools, |owner| {
        // A scope with options cannot continue the persistent one.
        owner.leave(owner.enter(&Options::new().max_size(64)).unwrap());
    }];
    for end in end_of_scope {
        let (owner, pinned) = owner_with_sparse_chunks();
        let (early, late) = every_eighth(session(&owner, SMALL));
        free_elsewhere(early, SMALL);
        end(&owner);
        free_elsewhere(late, SMALL);
        free_elsewhere(pinned, SMALL);
        assert_nothing_stays(&owner);
    }
}

/// More blocks than a scope takes back at once: the others are counted as freed.
#[test]
fn a_scope_ends_with_its_last_block_though_many_were_freed_at_once() {
    alone!();
    let (owner, pinned) = owner_with_sparse_chunks();
    let scope = owner.enter_default().unwrap();
    let mut blocks: Vec<_> = (0..20_000).map(|_| take(&owner, SMALL)).collect();
    owner.leave(scope);
    let last = blocks.swap_remove(7);
    free_elsewhere(blocks, SMALL);
    free_elsewhere(pinned, SMALL);
    owner.leave(owner.enter_default().unwrap());
    free(&owner, last, SMALL);
    assert_nothing_stays(&owner);
}

/// Other threads have freed some blocks of the empty chunks that a scope gives back, without the
/// owner having heard of it.
#[test]
fn a_scope_that_gave_chunks_back_ends_with_its_last_block() {
    alone!();
    let (owner, pinned) = owner_with_sparse_chunks();
    let scope = owner.enter_default().unwrap();
    let mut blocks: Vec<_> = (0..100_000).map(|_| take(&owner, TINY)).collect();
    free_elsewhere(blocks.drain(..20_000), TINY);
    owner.leave(scope);
    let scope = owner.enter_default().unwrap();
    let last = blocks.swap_remove(7);
    blocks.into_iter().for_each(|block| free(&owner, block, TINY));
    // The lists have no such block, and most chunks are empty.
    let others: Vec<_> = (0..700).map(|_| take(&owner, MEDIUM)).collect();
    others.into_iter().for_each(|block| free(&owner, block, MEDIUM));
    free_elsewhere(pinned, SMALL);
    owner.leave(scope);
    free(&owner, last, TINY);
    assert_nothing_stays(&owner);
}

/// A queue from which another thread takes more blocks at a time than come back to the scope.
fn serves_a_queue(session: impl Fn(&Owner, &mut dyn FnMut())) {
    const BATCH: usize = 5_000;
    const QUEUED: usize = 40;
    let (owner, pinned) = owner_with_sparse_chunks();
    let mut queue = VecDeque::new();
    let (mut served, mut refused) = (0, 0);
    session(&owner, &mut || {
        let mut blocks: Vec<Block> = Vec::new();
        for _ in 0..5 * BATCH {
            let block = owner.alloc(TINY);
            if block.is_null() {
                refused += 1;
            } else {
                blocks.push(Block(block));
            }
        }
        served += blocks.len();
        let (mut batch, mut temporary) = (Vec::new(), Vec::new());
        for (number, block) in blocks.into_iter().enumerate() {
            if number % 5 == 0 { batch.push(block) } else { temporary.push(block) }
        }
        temporary.into_iter().for_each(|block| free(&owner, block, TINY));
        queue.push_back(batch);
        if queue.len() == QUEUED {
            free_elsewhere(queue.drain(..4).flatten(), TINY);
        }
    });
    assert!(refused < served / 4, "{refused} requests were refused, {served} were served");
    free_elsewhere(queue.into_iter().flatten(), TINY);
    free_elsewhere(pinned, SMALL);
    owner.end();
    assert_eq!((report().live, report().escapes.pinned_chunks), (0, 0));
}

#[test]
fn a_queue_is_served_though_many_blocks_do_not_come_back() {
    alone!();
    serves_a_queue(|owner, step| {
        for _ in 0..300 {
            let scope = owner.enter_default().unwrap();
            step();
            owner.leave(scope);
        }
    });
}

#[test]
fn a_queue_is_served_in_one_session_though_many_blocks_do_not_come_back() {
    alone!();
    serves_a_queue(|owner, step| {
        let scope = owner.enter_default().unwrap();
        (0..300).for_each(|_| step());
        owner.leave(scope);
    });
}

/// A block is listed with the size that it has when it is freed, not with the one that it was
/// allocated with.
#[test]
fn resized_blocks_come_back_with_the_size_that_they_have() {
    alone!();
    let (owner, pinned) = owner_with_sparse_chunks();
    let scope = owner.enter_default().unwrap();
    let layout = |size| Layout::from_size_align(size, 8).unwrap();
    let mut all = Vec::new();
    for round in 0..50 {
        let size = 24 + 8 * (round % 30);
        let blocks: Vec<Block> = (0..200).map(|_| take(&owner, layout(size))).collect();
        let shrunk: Vec<Block> = blocks
            .into_iter()
            .map(|block| {
                // SAFETY: the block is alive, has this layout, and is used under its new address.
                let block = unsafe { owner.realloc(block.0, layout(size), size - 16) };
                assert!(!block.is_null());
                Block(block)
            })
            .collect();
        free_elsewhere(shrunk, layout(size - 16));
        // The next blocks must not overlap live ones.
        for _ in 0..200 {
            let (block, size) = (take(&owner, layout(size)), size);
            all.push((block, size));
        }
    }
    owner.leave(scope);
    all.sort();
    for pair in all.windows(2) {
        assert!(pair[0].0.0.addr() + pair[0].1 <= pair[1].0.0.addr());
    }
    for (block, size) in all {
        free(&owner, block, layout(size));
    }
    free_elsewhere(pinned, SMALL);
}
