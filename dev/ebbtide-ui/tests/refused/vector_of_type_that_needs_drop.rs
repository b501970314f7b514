//! The vector has no destructor to drop the strings.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    s.vec().push(String::new());
}
