//! Claims: a freed block is handed out again by the scope that it belongs to; a child neither takes its parent's, nor leaves its
//! own behind; the parent finds its own again. Blocks that are made with one size and freed with another fill no list for ever.

#![allow(clippy::unwrap_used)]

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
    // Of the parent's, only the count goes down.
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

#[test]
fn what_is_resized_in_place_is_listed_where_it_is_asked_for() {
    let owner = Owner::new();
    assert!(owner.start());
    let scope = owner.enter(&Options::new()).unwrap();
    let (large, small) = (Layout::array::<u8>(5000).unwrap(), Layout::array::<u8>(640).unwrap());
    let claimed = report().claimed;
    for _ in 0..20_000 {
        let block = owner.alloc(large);
        // SAFETY: the block is alive; both layouts have a size.
        let block = unsafe { owner.realloc(block, large, small.size()) };
        // Above it, so that the bump pointer does not come back.
        let above = owner.alloc(layout());
        // SAFETY: it is alive, and has that layout now.
        assert!(unsafe { owner.dealloc(block, small) });
        free(&owner, above);
    }
    let more = report().claimed - claimed;
    assert!(more < 4 << 20, "{more} bytes");
    owner.leave(scope);
    owner.end();
}
