//! The destructor would run on memory that is in use again.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut parent = arena.scope();
    let boxed = parent.scope().boxed(String::from("gone"));
    parent.alloc(1); //~ error[E0502]
    drop(boxed);
}
