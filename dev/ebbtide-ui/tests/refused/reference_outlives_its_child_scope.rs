//! After the child, the parent allocates the child's memory again.

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
