//! A vector allocates from its scope, which cannot be shared with another thread.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut list = s.vec();
    std::thread::scope(|threads| {
        threads.spawn(move || list.push(1)); //~ is used by one thread at a time
    });
}
