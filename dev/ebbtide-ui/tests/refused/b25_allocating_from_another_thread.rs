//! Two threads would bump one cursor: `Scope` is not `Sync`.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    std::thread::scope(|threads| {
        threads.spawn(|| *s.alloc(1)); //~ is used by one thread at a time
    });
}
