//! Dropping the arena frees the scope's memory.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    drop(arena); //~ error[E0505]
    s.alloc(1);
}
