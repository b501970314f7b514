//! The strings would never be dropped. `into_boxed_slice` would drop them.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let mut names = s.grow_vec();
    names.push(String::new());
    names.into_slice();
}
