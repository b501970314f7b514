//! Claim: a long scope whose blocks are freed in random order, long after it bumped them, holds no
//! more than the bound. The inner allocator serves what it does not.

// Without a range, no scope is refused memory.
#![cfg(target_pointer_width = "64")]

use crate::filled::started;
use ebbtide_global::{Options, engine::Owner, report};
use std::alloc::Layout;

/// The live bytes of a scope.
const LIVE: usize = 40 << 20;

/// A block by its address and its layout.
type Block = (*mut u8, Layout);

fn free(owner: &Owner, (block, layout): Block) {
    // SAFETY: the block is alive, with this layout, and is not used again.
    assert!(unsafe { owner.dealloc(block, layout) });
}

/// Keeps blocks of the sizes that `size` returns, up to [`LIVE`] bytes, in one scope, and replaces
/// them in random order. Refused blocks count as live: another allocator would serve them.
fn replace(mut size: impl FnMut(u64) -> usize) {
    let owner = started();
    let scope = owner.enter(&Options::new()).unwrap();
    let (mut random, mut live_bytes) = (1_u64, 0);
    let mut live: Vec<Block> = Vec::new();
    let mut requested_bytes = 0;
    while requested_bytes < 6 * LIVE {
        random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let layout = Layout::from_size_align(size(random >> 40), 8).unwrap();
        requested_bytes += layout.size();
        let block = owner.alloc(layout);
        if !block.is_null() {
            live_bytes += layout.size();
            live.push((block, layout));
        }
        while live_bytes > LIVE {
            let evicted = live.swap_remove(usize::try_from(random >> 20).unwrap() % live.len());
            live_bytes -= evicted.1.size();
            free(&owner, evicted);
        }
    }
    owner.publish_at_rest();
    let report = report();
    assert!(report.held <= report.bound, "{report:?}");
    live.into_iter().for_each(|block| free(&owner, block));
    owner.leave(scope);
    owner.end();
}

#[test]
fn blocks_that_are_evicted_at_random_strand_no_memory() {
    alone!();
    for (least, range) in [(40, 400), (1_000, 7_000)] {
        replace(|random| least + usize::try_from(random).unwrap() % range);
    }
}
