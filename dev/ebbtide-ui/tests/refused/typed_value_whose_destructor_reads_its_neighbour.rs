//! The neighbour may be gone when the destructor runs.

use ebbtide::TypedArena;
use std::cell::Cell;

struct Node<'a> {
    name: String,
    other: Cell<Option<&'a Node<'a>>>,
}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        println!("{}", self.other.get().map_or("", |other| &other.name));
    }
}

fn main() {
    let arena = TypedArena::new();
    let node = |name: &str| Node { name: name.to_owned(), other: Cell::new(None) };
    let (a, b) = (&*arena.alloc(node("a")), &*arena.alloc(node("b"))); //~ error[E0597]
    a.other.set(Some(b));
    b.other.set(Some(a));
}
