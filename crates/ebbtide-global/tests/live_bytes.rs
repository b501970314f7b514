//! Claim: the live bytes of the report are those of the live blocks, however blocks were allocated,
//! resized and freed: by the same thread or another one, in a scope that never ends, in one that
//! has ended, or outside of scopes.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, arena, engine::Owner, release_pool, report, warm};
use std::{alloc::Layout, sync::mpsc, thread};

const MIB: usize = 1 << 20;

/// The bytes that a thread may have served or freed but not published yet: 256 KiB.
const UNPUBLISHED: usize = 256 << 10;

/// Messages of 100 blocks of 1000 bytes.
fn message(number: u8) -> Vec<Vec<u8>> {
    arena(|| (0..100).map(|_| vec![number; 1000]).collect())
}

#[test]
fn blocks_freed_in_an_endless_scope_do_not_count_as_live() {
    alone!();
    warm();
    let (messages, received) = mpsc::sync_channel::<Vec<Vec<u8>>>(4);
    let (done, is_done) = mpsc::channel();
    // The thread only frees, so no allocation makes it publish its figures.
    let consumer = thread::spawn(move || {
        arena(|| {
            received.into_iter().for_each(drop);
            done.send(()).unwrap();
            thread::park();
        });
    });
    for number in 0..200 {
        messages.send(message(number)).unwrap();
    }
    drop(messages);
    is_done.recv().unwrap();
    let live = report().live;
    assert!(live < MIB, "{live} of 20 MB count as live, and none of them is");
    consumer.thread().unpark();
    consumer.join().unwrap();
}

#[test]
fn a_free_between_scopes_takes_off_no_more_than_its_block() {
    alone!();
    warm();
    let (blocks, received) = mpsc::channel::<Vec<u8>>();
    let (ready, is_ready) = mpsc::channel();
    let worker = thread::spawn(move || {
        // Short scopes publish their figures together.
        for _ in 0..50 {
            arena(|| {
                let blocks: Vec<Vec<u8>> = (0..40).map(|number| vec![number; 1000]).collect();
                blocks.into_iter().for_each(drop);
            });
        }
        ready.send(()).unwrap();
        received.into_iter().for_each(|block| {
            drop(block);
            ready.send(()).unwrap();
        });
    });
    let kept: Vec<Vec<u8>> = arena(|| (0..4000).map(|_| vec![1; 1000]).collect());
    is_ready.recv().unwrap();
    blocks.send(arena(|| vec![1; 100])).unwrap();
    is_ready.recv().unwrap();
    let live = report().live;
    assert!(live + UNPUBLISHED >= 4_000_000, "{live} bytes of four million count as live");
    drop(blocks);
    worker.join().unwrap();
    drop(kept);
}

#[test]
fn large_blocks_count_as_live_for_other_owners_at_once() {
    alone!();
    const LARGE: Layout = Layout::new::<[u8; 48 * MIB]>();
    let owners: [Owner; 4] = Default::default();
    let live_before = report().live;
    let blocks = owners.each_ref().map(|owner| {
        assert!(owner.start());
        owner.enter(&Options::new()).unwrap();
        // Nobody writes to it, so it takes no memory.
        owner.alloc(LARGE)
    });
    // None was refused because of the other blocks, which only their owners knew of.
    assert!(blocks.iter().all(|block| !block.is_null()), "{}", report());
    assert!(report().live >= live_before + 4 * LARGE.size());
    for (owner, block) in owners.iter().zip(blocks) {
        // SAFETY: the block is alive, with this layout, and used no more.
        assert!(unsafe { owner.dealloc(block, LARGE) });
    }
    drop(owners);
    release_pool();
}

#[test]
fn a_growth_that_the_byte_limit_refuses_is_not_live() {
    alone!();
    const LARGE: Layout = Layout::new::<[u8; 260 * MIB]>();
    let owner = Owner::new();
    assert!(owner.start());
    let scope = owner.enter(&Options::new().byte_limit(300 * MIB)).unwrap();
    // Nobody writes to it, so it takes no memory. It could grow in place.
    let block = owner.alloc(LARGE);
    assert!(!block.is_null());
    let live = report().live;
    // SAFETY: the block is alive, with this layout.
    assert!(unsafe { owner.realloc(block, LARGE, 500 * MIB) }.is_null());
    assert!(report().live <= live, "{}", report());
    // SAFETY: the block is still alive, with this layout, and used no more.
    assert!(unsafe { owner.dealloc(block, LARGE) });
    owner.leave(scope);
    drop(owner);
    release_pool();
}
