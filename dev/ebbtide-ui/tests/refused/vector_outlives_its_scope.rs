//! A vector allocates from its scope, so the scope has to outlive it.

use ebbtide::{Arena, collections::Vec};

fn escape(arena: &mut Arena) -> Vec<'_, '_, u8> {
    let s = arena.scope();
    s.vec() //~ error[E0515]
}

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let mut words = s.vec();
    words.push("ebb");
    s.scope(); //~ error[E0502]
    words.push("flow");
    let map = s.map::<u8, u8>();
    drop(s); //~ error[E0505]
    drop(map);
    escape(&mut arena).push(1);
}
