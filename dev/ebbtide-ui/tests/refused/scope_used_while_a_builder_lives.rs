//! A builder uses all free memory, so other allocations would be overwritten.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let mut squares = s.grow_vec();
    s.alloc(1); //~ error[E0502]
    s.claim(); //~ error[E0502]
    s.scope(); //~ error[E0499]
    s.grow_string(); //~ error[E0499]
    squares.push(2);
}
