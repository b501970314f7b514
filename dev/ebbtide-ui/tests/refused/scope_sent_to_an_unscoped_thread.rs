//! A scope can move to another thread only if that thread ends before the arena.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope(); //~ error[E0597]
    std::thread::spawn(move || *s.alloc(1));
}
