//! A scope begins where the root stands, so the root must stand still.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let kept = arena.root().alloc(1);
    arena.scope().alloc(2); //~ error[E0502]
    *kept = 3;
}
