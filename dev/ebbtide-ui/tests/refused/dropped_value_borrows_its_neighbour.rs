//! The values of one arena cannot borrow each other, for one is dropped before the other.

use ebbtide::DropArena;

fn main() {
    let arena = DropArena::new();
    let name = arena.alloc(String::from("ebb")); //~ error[E0597]
    arena.alloc(&*name);
}
