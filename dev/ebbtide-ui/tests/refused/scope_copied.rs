//! The copy would allocate the same bytes as the original.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let copy = s;
    *s.alloc(1) += *copy.alloc(2); //~ error[E0382]
}
