//! The map has no destructor that would drop the strings.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    s.map().insert(1, String::new());
}
