//! Ending a claim changes the arena's list of chunks, which the parent uses on this thread.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let claim = s.claim();
    std::thread::scope(|threads| {
        threads.spawn(|| claim.scope().alloc(1).clone()); //~ is used by one thread at a time
        threads.spawn(move || drop(claim)); //~ stays on its thread
    });
}
