//! Allocating takes `&self` and no lock. The arena goes where its values may go.

use ebbtide::{DropArena, TypedArena};
use std::rc::Rc;

fn main() {
    let numbers = TypedArena::new();
    std::thread::scope(|threads| {
        threads.spawn(|| numbers.alloc(1).clone()); //~ is used by one thread at a time
    });
    let counted = TypedArena::new();
    let kept = Rc::clone(counted.alloc(Rc::new(1)));
    std::thread::spawn(move || drop(counted)); //~ error[E0277]
    let mixed = DropArena::new();
    mixed.alloc(kept);
    std::thread::spawn(move || drop(mixed)); //~ stays on its thread
}
