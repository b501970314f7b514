//! The scope's memory goes with the arena.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    drop(arena); //~ error[E0505]
    s.alloc(1);
}
