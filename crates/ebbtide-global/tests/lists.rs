//! Claims: a freed block is handed out again by the scope that it belongs to; a child neither takes its parent's, nor leaves its
//! own behind; the parent finds its own again.

#![allow(clippy::unwrap_used)]

use ebbtide_global::{Options, engine::Owner};
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
