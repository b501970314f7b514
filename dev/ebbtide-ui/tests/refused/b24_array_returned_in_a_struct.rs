//! The array is in an arena that is local to the function; here it is in a struct.

use ebbtide::Arena;

struct Ones {
    ones: &'static [u64],
}

fn ones() -> Ones {
    let mut arena = Arena::new();
    let s = arena.scope(); //~ error[E0597]
    Ones { ones: s.alloc_slice_fill_copy(3, 1) }
}

fn main() {
    ones().ones.len();
}
