//! A builder has no destructor that would drop the strings if it is abandoned.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    s.grow_vec().push(String::new());
}
