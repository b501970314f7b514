//! The array is in an arena that is local to the function; here it is in a tuple.

use ebbtide::Arena;

fn ones() -> (usize, &'static [u64]) {
    let mut arena = Arena::new();
    let s = arena.scope();
    (3, s.alloc_slice_fill_copy(3, 1)) //~ error[E0515]
}

fn main() {
    ones();
}
