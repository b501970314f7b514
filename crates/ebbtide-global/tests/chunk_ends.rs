//! Claim: a block that ends exactly where its chunk ends and the next chunk begins belongs to its
//! own chunk only: freeing it does not move the bump pointer of the next chunk.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, engine::Owner};
use std::alloc::Layout;

const CHUNK: usize = 1 << 16;

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).unwrap()
}

#[test]
fn the_last_block_of_a_chunk_that_is_full_to_the_byte() {
    alone!();
    let owner = Owner::new();
    assert!(owner.start());
    let ticket = owner.enter(&Options::new()).unwrap();
    let mut blocks = Vec::new();
    let mut take = |size: usize| {
        let block = owner.alloc(layout(size));
        assert!(!block.is_null());
        blocks.push((block, size));
        block
    };
    let first = take(8);
    let mut left = CHUNK - (first.addr() % CHUNK + 8);
    while left > 0 {
        let size = left.min(1024);
        take(size);
        left -= size;
    }
    let (last, last_size) = *blocks.last().unwrap();
    assert_eq!((last.addr() + last_size) % CHUNK, 0);
    let next = owner.alloc(layout(8));
    assert_eq!(next.addr() / CHUNK, last.addr() / CHUNK + 1, "the next chunk lies behind");

    // SAFETY: all are alive, with these layouts.
    unsafe { owner.dealloc(next, layout(8)) };
    // SAFETY: it is alive, with this layout.
    unsafe { owner.dealloc(last, layout(last_size)) };
    let again = owner.alloc(layout(8));
    assert_eq!(again, next, "in the current chunk, where the pointer was");

    blocks.pop();
    blocks.push((again, 8));
    for (block, size) in blocks {
        // SAFETY: all blocks are alive, with the sizes beside them.
        assert!(unsafe { owner.dealloc(block, layout(size)) });
    }
    owner.leave(ticket);
    owner.end();
    assert_eq!(ebbtide_global::report().escapes.pinned_chunks, 0);
}
