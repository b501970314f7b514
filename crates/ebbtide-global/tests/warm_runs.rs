//! Claim: a large block that grows moves to a run of its owner's cache that has the memory for it,
//! with its contents; a block of another scope stays where it is.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, engine::Owner, release_pool};
use std::{alloc::Layout, slice};

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).unwrap()
}

struct Block(*mut u8, usize);

impl Block {
    fn new(owner: &Owner, size: usize, byte: u8) -> Block {
        let block = Block(owner.alloc(layout(size)), size);
        assert!(!block.0.is_null());
        // SAFETY: the block is alive and as large as that.
        unsafe { block.0.write_bytes(byte, size) };
        block
    }

    /// Grows the block, and fills the new bytes with the last byte.
    fn grow(mut self, owner: &Owner, size: usize) -> Block {
        let old = self.bytes().to_vec();
        // SAFETY: the block is alive, with this layout; the size is not 0.
        let block = unsafe { owner.realloc(self.0, layout(self.1), size) };
        assert!(!block.is_null());
        // SAFETY: the block is alive and as large as that.
        let rest = unsafe { block.add(self.1) };
        // SAFETY: so many bytes are left of it.
        unsafe { rest.write_bytes(old[0], size - self.1) };
        self = Block(block, size);
        assert!(self.bytes().iter().all(|byte| *byte == old[0]));
        self
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the block is alive, as large as that, and was filled.
        unsafe { slice::from_raw_parts(self.0, self.1) }
    }

    fn chunk(&self) -> usize {
        self.0.addr() >> 16
    }

    fn free(self, owner: &Owner) {
        // SAFETY: the block is alive, with this layout, and used no more.
        assert!(unsafe { owner.dealloc(self.0, layout(self.1)) });
    }
}

#[test]
fn a_large_block_that_grows_moves_to_warm_memory() {
    alone!();
    for is_own_scope in [true, false] {
        // Runs of the previous iteration lose their memory.
        release_pool();
        let owner = Owner::new();
        assert!(owner.start());
        let outer = owner.enter(&Options::new()).unwrap();
        // Both have grown once, so their runs are of one class; only the first run gets more
        // memory.
        let large = Block::new(&owner, 10_000, 1).grow(&owner, 70_000).grow(&owner, 400_000);
        let small = Block::new(&owner, 10_000, 2).grow(&owner, 70_000);
        let (warm, cold) = (large.chunk(), small.chunk());
        assert_ne!(warm, cold);
        large.free(&owner);
        let inner = if is_own_scope { None } else { owner.enter(&Options::new()) };
        let small = small.grow(&owner, 120_000);
        assert_eq!(small.chunk(), if is_own_scope { warm } else { cold });
        let small = small.grow(&owner, 390_000);
        assert_eq!(small.chunk(), if is_own_scope { warm } else { cold });
        small.free(&owner);
        inner.into_iter().for_each(|inner| owner.leave(inner));
        owner.leave(outer);
    }
}
