//! After the block, the arena is used again and the array overwritten.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let escaped = {
        let s = arena.scope();
        s.alloc_slice_fill_copy(3, 1)
    };
    arena.scope().alloc(2); //~ error[E0499]
    escaped[0] = 3;
}
