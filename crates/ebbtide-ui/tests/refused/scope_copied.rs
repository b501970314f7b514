//! A copy would hand out the original's bytes again.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let copy = s;
    *s.alloc(1) += *copy.alloc(2); //~ error[E0382]
}
