//! A scope starts at the root's cursor, so the root must not move.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let kept = arena.root().alloc(1);
    arena.scope().alloc(2); //~ error[E0502]
    *kept = 3;
}
