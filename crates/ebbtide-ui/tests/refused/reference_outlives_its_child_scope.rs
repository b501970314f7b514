//! The parent goes on where it was before the child, over the child's memory.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut parent = arena.scope();
    let escaped;
    {
        let child = parent.scope();
        escaped = child.alloc(1);
    }
    parent.alloc(2); //~ error[E0502]
    *escaped = 3;
}
