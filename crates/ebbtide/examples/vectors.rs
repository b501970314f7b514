//! Three kinds of vector in a scope, and when to take which.
//!
//! `cargo run -p ebbtide --example vectors --features allocator-api2`

use allocator_api2::vec::Vec as ApiVec;
use ebbtide::{Arena, Scope, collections};

/// A node owns its children. `collections::Vec` has no destructor, so a node needs none, and a whole tree
/// goes with its scope.
struct Node<'s> {
    name: &'s str,
    children: collections::Vec<'s, &'s mut Node<'s>>,
}

fn node<'s>(s: &'s Scope<'s>, name: &str) -> &'s mut Node<'s> {
    s.alloc(Node { name: s.alloc_str(name), children: s.vec() })
}

fn depth(node: &Node<'_>) -> usize {
    1 + node.children.iter().map(|child| depth(child)).max().unwrap_or(0)
}

fn main() {
    let mut arena = Arena::new();

    // One vector at a time: a builder has the scope to itself, and is the fastest.
    let mut s = arena.scope();
    let mut squares = s.grow_vec();
    squares.extend((0u64..1_000).map(|n| n * n));
    let squares: &[u64] = squares.into_slice();
    println!("{} squares up to {}", squares.len(), squares[999]);

    // Several that grow side by side, in nodes: `s.vec()`.
    let mut path = s.vec();
    let mut root = node(&s, "root");
    for name in ["sea", "shore", "dune"] {
        let mut parent = node(&s, name);
        std::mem::swap(&mut root, &mut parent);
        root.children.push(parent);
        path.push(root.name);
    }
    println!("{} is {} deep, by way of {path:?}", root.name, depth(root));
    assert_eq!((path.len(), depth(root)), (3, 4));

    // Elements with destructors: allocator-api2's own vector, which runs them.
    let mut owners: ApiVec<String, &Scope<'_>> = ApiVec::new_in(&s);
    owners.extend(path.iter().map(|name| name.to_uppercase()));
    owners.retain(|name| name.starts_with('S'));
    println!("{owners:?}");
    assert_eq!(owners.as_slice(), ["SEA", "SHORE"]);

    // The last one to grow does so in place, and gives its block back when it goes.
    let used = s.stats().used;
    let mut scratch = ApiVec::new_in(&s);
    scratch.push(0u32);
    let start = scratch.as_ptr();
    scratch.extend(1..1_000);
    assert_eq!(scratch.as_ptr(), start);
    drop(scratch);
    assert_eq!(s.stats().used, used);
    println!("{}", s.stats());
}
