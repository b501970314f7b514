//! The first chunk holds the arena's address.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let moved = arena; //~ error[E0505]
    s.alloc(1);
    drop(moved);
}
