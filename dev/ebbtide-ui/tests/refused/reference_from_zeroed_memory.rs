//! A reference is never null.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    s.alloc_zeroed::<&u8>(); //~ error[E0277]
}
