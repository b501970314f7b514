//! Four kinds of vectors in a scope, and when to use each.
//!
//! `cargo run -p ebbtide --example vectors`

use ebbtide::{Arena, Scope, collections::NodeVec};

/// A node owns its children. A `NodeVec` has 16 bytes and holds no scope. It has no destructor, so
/// a node needs none, and a whole tree is freed with its scope.
struct Node<'a> {
    name: &'a str,
    children: NodeVec<'a, &'a mut Node<'a>>,
}

fn node<'a>(s: &Scope<'a>, name: &str) -> &'a mut Node<'a> {
    s.alloc(Node { name: s.alloc_str(name), children: NodeVec::new() })
}

fn depth(node: &Node<'_>) -> usize {
    1 + node.children.iter().map(|child| depth(child)).max().unwrap_or(0)
}

fn main() {
    let mut arena = Arena::new();

    // One vector at a time: a builder borrows the scope exclusively, and is the fastest.
    let mut s = arena.scope();
    let mut squares = s.grow_vec();
    squares.extend((0u64..1_000).map(|n| n * n));
    let squares: &[u64] = squares.into_slice();
    println!("{} squares up to {}", squares.len(), squares[999]);

    // In nodes: `NodeVec`. Several vectors that grow in one scope: `s.vec()`.
    let mut path = s.vec();
    let mut root = node(&s, "root");
    for name in ["sea", "shore", "dune"] {
        let mut parent = node(&s, name);
        std::mem::swap(&mut root, &mut parent);
        root.children.push(&s, parent);
        path.push(root.name);
    }
    println!("{} is {} deep, by way of {path:?}", root.name, depth(root));
    assert_eq!((path.len(), depth(root)), (3, 4));

    // Elements with destructors: a vector that runs them.
    let mut owners = s.owned_vec();
    owners.extend(path.iter().map(|name| name.to_uppercase()));
    owners.retain(|name| name.starts_with('S'));
    println!("{owners:?}");
    assert_eq!(owners, ["SEA", "SHORE"]);

    // The last vector grows in place. An owning vector returns its block when it is dropped.
    let used = s.stats().used;
    let mut scratch = s.owned_vec();
    scratch.push(0u32);
    let start = scratch.as_ptr();
    scratch.extend(1..1_000);
    assert_eq!(scratch.as_ptr(), start);
    drop(scratch);
    assert_eq!(s.stats().used, used);
    println!("{}", s.stats());
}
