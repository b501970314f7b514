//! Parent and child would allocate the same bytes.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut parent = arena.scope();
    let child = parent.scope();
    let of_parent = parent.alloc(1); //~ error[E0502]
    let of_child = child.alloc(2);
    *of_parent += *of_child;
}
