//! Two scopes of one arena would allocate the same bytes.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let first = arena.scope();
    let second = arena.scope(); //~ error[E0499]
    *first.alloc(1) += *second.alloc(2);
}
