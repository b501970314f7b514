//! The array is in an arena that is local to the function.

use ebbtide::Arena;

fn ones() -> &'static [u64] {
    let mut arena = Arena::new();
    let s = arena.scope();
    s.alloc_slice_fill_copy(3, 1) //~ error[E0515]
}

fn main() {
    ones();
}
