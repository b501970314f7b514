//! The compiler cannot check that later allocations are no longer used.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let start = s.checkpoint();
    let kept = s.alloc(1);
    s.rewind(start); //~ error[E0133]
    *kept = 2;
}
