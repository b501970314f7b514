//! A parent with its child's cursor would outlive the child's memory.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut parent = arena.scope();
    let mut child = parent.scope();
    std::mem::swap(&mut parent, &mut child); //~ error[E0499]
}
