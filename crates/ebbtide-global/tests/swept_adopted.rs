//! Claim: a persistent scope ends once none of its blocks is alive, even if it adopted chunks,
//! which are empty now, and its own chunks were given back meanwhile.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::started;
use ebbtide_global::{Options, engine::Owner, report};
use std::alloc::Layout;

const SMALL: Layout = Layout::new::<[u64; 64]>();

/// Blocks that fill a chunk.
const FULL: usize = 127;

fn free(owner: &Owner, block: *mut u8, layout: Layout) {
    // SAFETY: the caller's block is alive, with this layout, and used no more.
    assert!(unsafe { owner.dealloc(block, layout) });
}

#[test]
fn a_scope_with_adopted_chunks_ends_once_all_is_freed() {
    alone!();
    let owner = started();
    // Chunks that are pinned by two blocks each. A scope with options does not persist.
    let mut pinned = Vec::new();
    for _ in 0..96 {
        let scope = owner.enter(&Options::new().max_size(4096)).unwrap();
        let blocks: Vec<_> = (0..FULL).map(|_| owner.alloc(SMALL)).collect();
        for (number, block) in blocks.into_iter().enumerate() {
            assert!(!block.is_null());
            if number == 3 || number == 5 {
                pinned.push(block);
            } else {
                free(&owner, block, SMALL);
            }
        }
        owner.leave(scope);
    }
    // From three quarters of the bound on, the scopes reuse the free memory in these chunks.
    assert!(report().escapes.pinned_chunks >= 80);

    // This one persists, and adopts the chunks of the blocks that it frees.
    let scope = owner.enter_default().unwrap();
    for block in pinned {
        free(&owner, block, SMALL);
    }
    // The sizes change, so that the scope gives chunks back before it takes others.
    for size in [1100, 1300, 1500, 1800, 2200, 2600, 3000, 3600, 4200, 5000] {
        let layout = Layout::from_size_align(size, 8).unwrap();
        let blocks: Vec<_> = (0..600_000 / size).map(|_| owner.alloc(layout)).collect();
        for block in blocks {
            free(&owner, block, layout);
        }
    }
    owner.leave(scope);
    owner.publish_at_rest();
    let report = report();
    assert_eq!((report.live, report.escapes.pinned_chunks), (0, 0));
}
