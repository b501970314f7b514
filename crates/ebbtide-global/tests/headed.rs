//! Claims: blocks with a header are freed and resized without a layout, by any owner, even one
//! whose bytes are all zero; they are aligned, as large as requested, and do not overlap; the
//! engine leaves requests that it does not serve, and blocks that it did not serve, alone.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::{Random, started};
use ebbtide_global::{
    Options,
    engine::{Owner, Ticket, is_ours},
    report,
};
use std::{mem::MaybeUninit, slice, thread};

/// A block of the tests, filled with a byte of its own.
struct Block {
    address: *mut u8,
    size: usize,
    mark: u8,
}

// SAFETY: the owner of the value may use and free the block.
unsafe impl Send for Block {}

impl Block {
    fn new(owner: &Owner, size: usize, align: usize, mark: u8) -> Option<Block> {
        let slow = || owner.alloc_headed(size, align);
        let address = if align <= 16 { owner.alloc_headed_or(size, slow) } else { slow() };
        if address.is_null() {
            return None;
        }
        assert!(is_ours(address) && address.addr() % align.max(16) == 0, "{size} by {align}");
        // SAFETY: the block is new and that large.
        unsafe { address.write_bytes(mark, size) };
        // SAFETY: the block is alive.
        assert!(unsafe { owner.usable_size(address) }.unwrap() >= size.max(8));
        Some(Block { address, size, mark })
    }

    fn check(&self) {
        // SAFETY: the block is alive, was filled and is this test's.
        let bytes = unsafe { slice::from_raw_parts(self.address, self.size) };
        assert!(bytes.iter().all(|byte| *byte == self.mark), "a block of {} bytes", self.size);
    }

    fn free(self, owner: &Owner) {
        self.check();
        // SAFETY: the block is alive and not used again.
        assert!(unsafe { owner.free_headed(self.address) });
    }

    /// Resizes the block, by moving it if necessary. Returns false if there is no memory for it.
    fn resize(&mut self, owner: &Owner, size: usize) -> bool {
        self.check();
        // SAFETY: the block is alive, and its address is replaced by the result.
        let mut resized = unsafe { owner.resize_headed(self.address, size) };
        if resized.is_null() {
            let Some(moved) = Block::new(owner, size, 16, self.mark) else { return false };
            // SAFETY: the block is alive and not used again.
            assert!(unsafe { owner.free_headed(self.address) });
            resized = moved.address;
        }
        let kept = Block { address: resized, size: self.size.min(size), mark: self.mark };
        kept.check();
        // SAFETY: the block is alive and that large.
        unsafe { resized.write_bytes(self.mark, size) };
        (self.address, self.size) = (resized, size);
        true
    }
}

fn size(random: &mut Random) -> usize {
    let largest = [40, 200, 1_100, 9_000, 70_000, 300_000][random.below(6)];
    random.below(largest)
}

#[test]
fn blocks_of_any_size_and_alignment_keep_their_bytes() {
    alone!();
    let owners = [started(), started()];
    let mut numbers = Random::new(7);
    let mut blocks: Vec<Block> = Vec::new();
    let mut tickets = [const { Vec::<Ticket>::new() }; 2];
    let rounds = if cfg!(miri) { 300 } else { 20_000 };
    for round in 0..rounds {
        let index = usize::from(round / 64 % 3 == 0);
        let owner = &owners[index];
        match numbers.below(20) {
            0 if tickets[index].len() < 3 => tickets[index].extend(owner.enter_default()),
            1 => {
                if let Some(ticket) = tickets[index].pop() {
                    owner.leave(ticket);
                }
            }
            2..=9 if blocks.len() < 300 => {
                let align = if numbers.below(4) == 0 { 1 << numbers.below(13) } else { 16 };
                let mark = u8::try_from(round % 251).unwrap();
                blocks.extend(Block::new(owner, size(&mut numbers), align, mark));
            }
            10..=12 if !blocks.is_empty() => {
                let at = numbers.below(blocks.len());
                let size = size(&mut numbers);
                let _ = blocks[at].resize(owner, size);
            }
            _ if !blocks.is_empty() => {
                let at = numbers.below(blocks.len());
                blocks.swap_remove(at).free(owner);
            }
            _ => {}
        }
    }
    blocks.into_iter().for_each(|block| block.free(&owners[0]));
    owners.iter().for_each(Owner::end);
    let report = report();
    assert_eq!((report.live, report.escapes.pinned_chunks), (0, 0), "{report:?}");
}

#[test]
fn an_owner_of_zeros_serves_nothing_and_frees_everything() {
    alone!();
    let owner = started();
    let ticket = owner.enter_default().unwrap();
    let sizes = [0, 1, 100, 1_000, 1_020, 5_000, 9_000, 200_000];
    let blocks = sizes.map(|size| Block::new(&owner, size, 16, 3).unwrap());
    owner.leave(ticket);
    // The chunk is retired now.
    thread::scope(|threads| {
        threads.spawn(|| {
            // SAFETY: all-zero bytes are an owner, as the documentation of `new` says.
            let stranger: Owner = unsafe { MaybeUninit::zeroed().assume_init() };
            blocks.into_iter().for_each(|block| block.free(&stranger));
        });
    });
    assert_eq!(report().escapes.pinned_chunks, 0, "the last block returned the chunk");
    let _open = owner.enter_default().unwrap();
    let more = sizes.map(|size| Block::new(&owner, size, 64, 4).unwrap());
    thread::scope(|threads| {
        threads.spawn(|| {
            // SAFETY: all-zero bytes are an owner, as the documentation of `new` says.
            let stranger: Owner = unsafe { MaybeUninit::zeroed().assume_init() };
            assert!(Block::new(&stranger, 8, 16, 0).is_none());
            assert!(stranger.enter_default().is_none() && stranger.enter_outside().is_none());
            stranger.leave(owner_ticket());
            let mut blocks = more;
            for block in &mut blocks {
                let size = block.size - block.size / 8;
                let is_resized = block.resize(&stranger, size);
                // The others shrink below a power of two with their header, or to a small block.
                let stays = [100, 200_000].contains(&block.size);
                assert!(!stays || is_resized, "shrinks in place");
            }
            blocks.into_iter().for_each(|block| block.free(&stranger));
            stranger.publish_at_rest();
            stranger.end();
            assert!(stranger.start(), "it may be started still");
            let ticket = stranger.enter_default().unwrap();
            Block::new(&stranger, 8, 16, 0).unwrap().free(&stranger);
            stranger.leave(ticket);
        });
    });
    owner.end();
    let report = report();
    assert_eq!((report.live, report.escapes.pinned_chunks), (0, 0), "{report:?}");
}

/// A ticket of an owner that has ended.
fn owner_ticket() -> Ticket {
    started().enter_default().unwrap()
}

#[test]
fn bad_requests_get_null() {
    alone!();
    let owner = started();
    assert!(owner.alloc_headed(8, 8).is_null(), "no scope is open");
    let ticket = owner.enter_default().unwrap();
    for size in [usize::MAX, usize::MAX - 7, usize::MAX - 8, usize::MAX / 2, (1 << 30) + 1] {
        assert!(owner.alloc_headed_or(size, || owner.alloc_headed(size, 16)).is_null());
        assert!(owner.alloc_headed_zeroed(size, 1 << 12).is_null());
    }
    for align in [0, 3, 24, 8192, 1 << 16, 1 << 63] {
        assert!(owner.alloc_headed(8, align).is_null());
    }
    let mut elsewhere = Box::new([7_u8; 64]);
    let address = elsewhere.as_mut_ptr();
    // SAFETY: the block is alive; it is another allocator's, so nothing is done with it.
    assert!(!unsafe { owner.free_headed(address) });
    // SAFETY: as before.
    assert!(unsafe { owner.resize_headed(address, 9) }.is_null());
    // SAFETY: as before.
    assert!(unsafe { owner.usable_size(address) }.is_none());
    let block = Block::new(&owner, 100, 16, 9).unwrap();
    // SAFETY: the block is alive, and stays so when it cannot grow.
    assert!(unsafe { owner.resize_headed(block.address, usize::MAX) }.is_null());
    block.free(&owner);
    owner.leave(ticket);
    assert_eq!(*elsewhere, [7; 64]);
}

#[test]
fn zeroed_blocks_are_zero_also_in_memory_that_was_used() {
    alone!();
    let owner = started();
    for size in [0, 8, 1_000, 5_000, 20_000, 400_000] {
        for align in [16, 256] {
            let ticket = owner.enter_default().unwrap();
            Block::new(&owner, size, align, 0xFF).unwrap().free(&owner);
            let block = owner.alloc_headed_zeroed(size, align);
            let block = Block { address: block, size, mark: 0 };
            assert_eq!(block.address.addr() % align, 0);
            block.free(&owner);
            owner.leave(ticket);
        }
    }
}

#[test]
fn tickets_are_numbers_and_no_number_does_harm() {
    alone!();
    let owner = started();
    let ticket = owner.enter_default().unwrap();
    assert_eq!(Ticket::from_number(ticket.number()), Some(ticket));
    for number in (0..16).chain([1 << 63, (1 << 63) + 15]) {
        assert_eq!(Ticket::from_number(number), None);
    }
    let block = Block::new(&owner, 8, 16, 1).unwrap();
    for number in [16, u64::MAX, u64::MAX >> 1, ticket.number() + 1, ticket.number() | 1 << 63] {
        owner.leave(Ticket::from_number(number).unwrap());
        assert!(owner.is_open());
    }
    let outside = owner.enter_outside().unwrap();
    assert!(!owner.is_open() && outside != ticket);
    owner.leave(Ticket::from_number(outside.number()).unwrap());
    block.free(&owner);
    let scopes = report().scopes;
    owner.leave(ticket);
    owner.leave(ticket);
    assert!(!owner.is_open());
    owner.publish_at_rest();
    assert_eq!(report().scopes - scopes, 1, "a scope that ended does not end again");
}

#[test]
fn labels_of_a_front_end_are_counted() {
    alone!();
    let owner = started();
    let ticket = owner.enter(&Options::new().label("of a front end")).unwrap();
    Block::new(&owner, 8, 16, 1).unwrap().free(&owner);
    owner.leave(ticket);
    owner.publish_at_rest();
    let report = report();
    let label = report.labels.iter().find(|label| label.label == "of a front end").unwrap();
    assert_eq!((label.scopes, label.blocks, label.escaped), (1, 1, 0));
}
