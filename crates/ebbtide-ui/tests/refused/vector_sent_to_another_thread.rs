//! A vector grows through its scope, which stays on its thread as long as it is shared.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut list = s.vec();
    std::thread::scope(|threads| {
        threads.spawn(move || list.push(1)); //~ error[E0277]
    });
}
