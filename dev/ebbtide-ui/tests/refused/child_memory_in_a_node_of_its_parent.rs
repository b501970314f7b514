//! A vector without a scope in it takes memory of its own lifetime only: a child's is gone before
//! its parent's.

use ebbtide::{Arena, collections::NodeVec};

struct Node<'a> {
    children: NodeVec<'a, u32>,
}

fn main() {
    let mut arena = Arena::new();
    let mut parent = arena.scope();
    let node = parent.alloc(Node { children: NodeVec::new() });
    {
        let child = parent.scope();
        node.children.push(&child, 1);
    }
    node.children.push(&parent, 2); //~ error[E0502]
    let kept = parent.alloc(NodeVec::new());
    {
        let claim = parent.claim();
        kept.push(claim.scope(), 3); //~ error[E0597]
    }
    assert_eq!(kept.len(), 1);
}
