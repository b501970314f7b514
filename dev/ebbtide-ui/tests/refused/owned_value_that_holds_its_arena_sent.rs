//! A value that holds its arena stays in its thread: the compiler cannot tell that no other thread has
//! the arena.

use ebbtide::{Arena, ForLifetime, Owned};

struct AnyArena;
impl ForLifetime for AnyArena {
    type Of<'a> = &'a Arena;
}

fn main() {
    let owned = Owned::<AnyArena>::new(|arena| arena);
    std::thread::spawn(move || drop(owned)); //~ error[E0277]
}
