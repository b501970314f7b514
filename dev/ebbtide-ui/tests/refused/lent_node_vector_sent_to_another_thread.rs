//! A lent vector allocates from its scope, which cannot be shared with another thread.

use ebbtide::{Arena, collections::NodeVec};

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut node = NodeVec::new();
    let mut lent = node.with(&s);
    std::thread::scope(|threads| {
        threads.spawn(move || lent.push(1)); //~ is used by one thread at a time
    });
}
