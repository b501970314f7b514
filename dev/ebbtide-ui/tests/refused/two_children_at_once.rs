//! Two children of one parent would allocate the same bytes.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut parent = arena.scope();
    let first = parent.scope();
    let second = parent.scope(); //~ error[E0499]
    *first.alloc(1) += *second.alloc(2);
}
