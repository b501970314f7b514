//! Claims: a scope serves blocks that were freed in it again; a nested scope neither takes its
//! parent's freed blocks nor leaves its own behind, and the parent still has its own afterwards;
//! and blocks that are allocated with one size and freed with another do not fill a list for ever.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, engine::Owner, report};
use std::alloc::Layout;

fn layout() -> Layout {
    Layout::from_size_align(2000, 8).unwrap()
}

fn free(owner: &Owner, block: *mut u8) {
    // SAFETY: every test frees what it allocated, once.
    assert!(unsafe { owner.dealloc(block, layout()) });
}

#[test]
fn lists_belong_to_a_scope() {
    alone!();
    let owner = Owner::new();
    assert!(owner.start());
    let parent = owner.enter(&Options::new()).unwrap();
    let [a, b] = [owner.alloc(layout()), owner.alloc(layout())];
    free(&owner, a);

    let child = owner.enter(&Options::new()).unwrap();
    let [c, d] = [owner.alloc(layout()), owner.alloc(layout())];
    assert!(c != a && d != a, "the parent's block is not taken");
    free(&owner, c);
    assert_eq!(owner.alloc(layout()), c, "its own is");
    free(&owner, c);
    // Freeing a block of the parent only decrements the count of its chunk.
    free(&owner, b);
    free(&owner, d);
    owner.leave(child);

    let [e, f] = [owner.alloc(layout()), owner.alloc(layout())];
    assert_eq!(e, a, "the parent finds its list as it was");
    assert!(f != c && f != d, "the child's chunk is nobody's");
    free(&owner, e);
    free(&owner, f);
    owner.leave(parent);

    let next = owner.enter(&Options::new()).unwrap();
    let [g, h] = [owner.alloc(layout()), owner.alloc(layout())];
    assert_ne!(g, h);
    free(&owner, g);
    free(&owner, h);
    owner.leave(next);
    owner.end();
}

fn blocks_resized_in_place(from: usize, to: usize) {
    let owner = Owner::new();
    assert!(owner.start());
    let scope = owner.enter(&Options::new()).unwrap();
    let (from, to) = (Layout::array::<u8>(from).unwrap(), Layout::array::<u8>(to).unwrap());
    let claimed = report().claimed;
    for _ in 0..20_000 {
        let block = owner.alloc(from);
        // SAFETY: the block is alive; both layouts have a size.
        let block = unsafe { owner.realloc(block, from, to.size()) };
        // A block above it, so that freeing it does not rewind the bump pointer.
        let above = owner.alloc(layout());
        // SAFETY: it is alive, and has that layout now.
        assert!(unsafe { owner.dealloc(block, to) });
        free(&owner, above);
    }
    let more = report().claimed - claimed;
    assert!(more < 4 << 20, "{more} bytes");
    owner.leave(scope);
    owner.end();
}

#[test]
fn blocks_resized_in_place_are_listed_by_the_size_that_is_requested() {
    alone!();
    blocks_resized_in_place(5000, 640);
    blocks_resized_in_place(1000, 640);
    blocks_resized_in_place(640, 1000);
}

#[test]
fn a_block_that_grows_beyond_the_small_sizes_is_as_large_as_its_list_says() {
    alone!();
    let owner = Owner::new();
    assert!(owner.start());
    let scope = owner.enter(&Options::new()).unwrap();
    let [small, grown, list] = [1000, 1500, 1536].map(|size| Layout::array::<u8>(size).unwrap());
    let block = owner.alloc(small);
    // SAFETY: the block is alive; the new size is not 0.
    let block = unsafe { owner.realloc(block, small, grown.size()) };
    let above = owner.alloc(small);
    // SAFETY: it is alive, and has that layout now.
    assert!(unsafe { owner.dealloc(block, grown) });
    let again = owner.alloc(list);
    assert_eq!(again, block, "the list has it");
    assert!(again.addr() + list.size() <= above.addr(), "and what it has is as large as it says");
    // SAFETY: it is alive, and has this layout.
    assert!(unsafe { owner.dealloc(above, small) });
    // SAFETY: the list just served it, with this layout.
    assert!(unsafe { owner.dealloc(again, list) });
    owner.leave(scope);
    owner.end();
}
