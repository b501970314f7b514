//! A constant of the name of a field says nothing about the field.

use ebbtide::{Arena, zeroable};

#[allow(non_upper_case_globals)]
const name: &'static () = &();

struct Unit {
    name: &'static (),
}

zeroable!(Unit { name }); //~ error[E0277]: the trait bound `&(): Zeroable` is not satisfied

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let _: &mut Unit = s.alloc_zeroed();
}
