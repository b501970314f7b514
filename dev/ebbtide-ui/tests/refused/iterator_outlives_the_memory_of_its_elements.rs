//! An iterator over elements that need `Drop` drops those that are left, in the scope's memory: so
//! the memory outlives it, even where nobody calls it again.

use ebbtide::{Arena, boxed::Box};

fn main() {
    let _left;
    {
        let mut arena = Arena::new();
        let s = arena.scope(); //~ error[E0597]
        let mut list = s.owned_vec(); //~ error[E0597]
        list.push(String::from("ebb"));
        _left = list.into_iter();
    }

    let mut arena = Arena::new();
    let mut s = arena.scope();
    let mut built = s.owned_grow_vec();
    built.push(String::from("ebb"));
    let _left = built.into_iter();
    s.alloc(1); //~ error[E0502]

    let mut arena = Arena::new();
    let boxed: Box<[String]> = arena.scope().boxed_slice_from_iter([String::from("flow")]);
    let _left = boxed.into_iter();
    arena.reset(); //~ error[E0499]
}
