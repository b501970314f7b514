//! Claims: a scope that is refused memory leaves requests to the inner allocator and then asks
//! again; and requests inside `outside` never reopen it.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, engine::Owner, report};
use std::alloc::Layout;

const BLOCK: Layout = Layout::new::<[u64; 125]>();
const SMALL: Layout = Layout::new::<u64>();

/// More requests than a paused scope leaves to the inner allocator.
const REQUESTS: usize = 10_000;

fn free(owner: &Owner, block: *mut u8, layout: Layout) {
    // SAFETY: the caller allocated the block with this layout, and frees it once.
    assert!(unsafe { owner.dealloc(block, layout) });
}

/// Fills chunks until the owner's scope is refused one. One block in each chunk stays alive.
/// Another owner frees the others.
fn waste(owner: &Owner) -> Vec<*mut u8> {
    let stranger = Owner::new();
    let mut kept = Vec::new();
    loop {
        // Fills a chunk, of which the last block stays alive.
        let blocks: Vec<_> = (0..65).map(|_| owner.alloc(BLOCK)).collect();
        let served: Vec<_> = blocks.iter().copied().filter(|block| !block.is_null()).collect();
        kept.extend(served.last());
        served.iter().rev().skip(1).for_each(|&block| free(&stranger, block, BLOCK));
        if served.len() < blocks.len() {
            return kept;
        }
        assert!(kept.len() < 10_000, "no memory is refused: {}", report());
    }
}

/// Runs `test` in a paused scope, with the blocks that are alive in it, one in each chunk.
fn in_paused_scope(test: impl FnOnce(&Owner, &[*mut u8])) {
    let owner = Owner::new();
    assert!(owner.start());
    let scope = owner.enter(&Options::new()).unwrap();
    let kept = waste(&owner);
    assert!(!owner.is_open());
    test(&owner, &kept);
    kept.into_iter().for_each(|block| free(&owner, block, BLOCK));
    owner.leave(scope);
}

#[test]
fn outside_stays_outside_in_a_paused_scope() {
    alone!();
    in_paused_scope(|owner, _| {
        assert!(report().fallbacks.waste > 0);

        let outside = owner.enter_outside().unwrap();
        for _ in 0..REQUESTS {
            assert!(owner.alloc(SMALL).is_null());
        }
        owner.leave(outside);

        // Small blocks fit into the rest of the last chunk.
        let mut requests = (0..REQUESTS).map(|_| owner.alloc(SMALL));
        let served = requests.find(|block| !block.is_null()).unwrap();
        free(owner, served, SMALL);
    });
}
