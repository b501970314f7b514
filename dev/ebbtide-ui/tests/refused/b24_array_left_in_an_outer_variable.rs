//! The second scope allocates the array's memory again.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let escaped: &mut [u64];
    {
        let s = arena.scope();
        escaped = s.alloc_slice_fill_copy(3, 1);
    }
    arena.scope().alloc(2); //~ error[E0499]
    escaped[0] = 3;
}
