//! A scope may move to another thread, but only to one that ends before the arena does.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope(); //~ error[E0597]
    std::thread::spawn(move || *s.alloc(1));
}
