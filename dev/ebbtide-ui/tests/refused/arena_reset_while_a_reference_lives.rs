//! `reset` may release the memory.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let kept = arena.scope().alloc(1);
    arena.reset(); //~ error[E0499]
    *kept = 2;
}
