//! A reset runs the destructors, so nothing may be lent meanwhile.

use ebbtide::DropArena;

fn main() {
    let mut arena = DropArena::new();
    let name = arena.alloc(String::from("ebb"));
    arena.reset(); //~ error[E0502]
    name.push_str("ing");
}
