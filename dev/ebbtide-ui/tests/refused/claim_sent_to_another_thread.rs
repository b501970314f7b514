//! Ending a claim changes the arena's list of chunks, which the parent uses on this thread.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let claim = s.claim();
    std::thread::scope(|threads| {
        threads.spawn(|| claim.scope().alloc(1).clone()); //~ error[E0277]
        threads.spawn(move || drop(claim)); //~ error[E0277]
    });
}
