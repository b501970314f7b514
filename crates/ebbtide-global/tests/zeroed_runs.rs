//! Claim: a large block that is requested as zeroed is zero, whatever its run held before: a block
//! that grew, or a larger one of which a part went back to the system.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, engine::Owner, report};
use std::{alloc::Layout, ptr};

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).unwrap()
}

struct Block(*mut u8, Layout);

impl Block {
    fn zeroed(owner: &Owner, size: usize) -> Option<Block> {
        let block = Block(owner.alloc_zeroed(layout(size)), layout(size));
        if block.0.is_null() {
            return None;
        }
        // SAFETY: the block is alive, as large as that, and was served as zeros.
        let bytes = unsafe { &*ptr::slice_from_raw_parts(block.0, size) };
        assert!(bytes.iter().all(|byte| *byte == 0), "of {size} bytes");
        block.soil();
        Some(block)
    }

    fn soil(&self) {
        // SAFETY: the block is alive and as large as that.
        unsafe { self.0.write_bytes(0xA5, self.1.size()) };
    }

    fn grow(&mut self, owner: &Owner, size: usize) {
        // SAFETY: the block is alive, with this layout; the size is not 0.
        let block = unsafe { owner.realloc(self.0, self.1, size) };
        if !block.is_null() {
            *self = Block(block, layout(size));
            self.soil();
        }
    }

    fn free(self, owner: &Owner) {
        // SAFETY: the block is alive, with this layout, and used no more.
        assert!(unsafe { owner.dealloc(self.0, self.1) });
    }
}

#[test]
fn large_blocks_are_zero() {
    alone!();
    let owner = Owner::new();
    assert!(owner.start());
    let ticket = owner.enter(&Options::new()).unwrap();
    // Blocks that grow within their run, by their owner or by another one.
    let other = Owner::new();
    for by in [&owner, &other] {
        let mut block = Block::zeroed(&owner, 70_000).unwrap();
        block.grow(by, 120_000);
        block.free(by);
        for _ in 0..8 {
            Block::zeroed(&owner, 120_000).unwrap().free(&owner);
        }
    }
    // So much more is held than is alive that the rest of a run goes back when a smaller block
    // takes the run.
    let held: Vec<Block> = (0..2000).map_while(|_| Block::zeroed(&owner, 9000)).collect();
    let before = report();
    assert!(before.held > before.live / 4 * 5, "{before:?}");
    for _ in 0..4 {
        for size in [120_000, 70_000, 90_000, 120_000] {
            Block::zeroed(&owner, size).into_iter().for_each(|block| block.free(&owner));
        }
    }
    held.into_iter().for_each(|block| block.free(&owner));
    owner.leave(ticket);
    let report = report();
    assert_eq!((report.escapes.pinned_chunks, report.live), (0, 0));
}
