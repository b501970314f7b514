//! Claim: an owner whose end is the end of a window of time, too, gives back what an idle owner
//! held, and keeps none of it.

// Without a range nothing is held.
#![cfg(target_pointer_width = "64")]
#![allow(clippy::unwrap_used)]

use ebbtide_global::{Options, engine::Owner, release_pool, report};
use std::{alloc::Layout, thread, time::Duration};

const BLOCK: Layout = Layout::new::<[usize; 64]>();

fn started() -> Owner {
    let owner = Owner::new();
    assert!(owner.start());
    owner
}

fn free(owner: &Owner, block: *mut u8) {
    // SAFETY: the block is alive, with this layout, and used no more.
    assert!(unsafe { owner.dealloc(block, BLOCK) });
}

/// A scope that serves 64 blocks and keeps eight.
fn keep_some(owner: &Owner, kept: &mut Vec<*mut u8>) {
    let scope = owner.enter(&Options::new()).unwrap();
    let blocks: Vec<_> = (0..64).map(|_| owner.alloc(BLOCK)).collect();
    for (number, block) in blocks.into_iter().filter(|block| !block.is_null()).enumerate() {
        if number % 8 == 0 {
            kept.push(block);
        } else {
            free(owner, block);
        }
    }
    owner.leave(scope);
}

/// A fast scope, which publishes nothing when it ends.
fn use_and_free(owner: &Owner) {
    let scope = owner.enter_default().unwrap();
    let blocks: Vec<_> = (0..20).map(|_| owner.alloc(BLOCK)).collect();
    // Not in reverse, so that the bytes count as served.
    blocks.into_iter().for_each(|block| free(owner, block));
    owner.leave(scope);
}

#[test]
fn what_an_ending_owner_ends_for_others_is_not_lost() {
    // As an end observes the live bytes: since it has served many, or once it has left.
    for scopes in [40, 1] {
        let [idle, last] = [started(), started()];
        // Each has a chunk for its scopes.
        let ending: [Owner; 5] = std::array::from_fn(|_| started());
        ending.iter().for_each(use_and_free);
        let mut kept = Vec::new();
        (0..4000).for_each(|_| keep_some(&idle, &mut kept));
        kept.into_iter().for_each(|block| free(&last, block));
        last.end();
        assert!(report().held > 12 << 20, "{:?}", report());
        // The peak is forgotten after two windows; after two without a session, a scope is idle.
        for owner in ending {
            thread::sleep(Duration::from_millis(1050));
            (0..scopes).for_each(|_| use_and_free(&owner));
            owner.end();
        }
        assert!(report().held < 9 << 20, "{:?}", report());
        idle.end();
        release_pool();
        assert_eq!(report().held, 0, "{:?}", report());
    }
}
