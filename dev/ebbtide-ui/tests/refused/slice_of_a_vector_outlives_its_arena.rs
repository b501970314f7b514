//! What a vector leaves in its scope lives as long as the scope's lifetime says, and no longer.

use ebbtide::{Arena, Scope};

fn longer<'s, 'a>(s: &'s Scope<'a>) -> &'static mut [u8] {
    s.vec().into_slice() //~ error
}

fn main() {
    let kept;
    {
        let mut arena = Arena::new();
        let s = arena.scope(); //~ error[E0597]
        let mut text = s.string();
        text.push('x');
        kept = text.into_str();
    }
    assert_eq!(kept, "x");
    let mut arena = Arena::new();
    let mut parent = arena.scope();
    let slice;
    {
        let child = parent.scope();
        slice = ebbtide::collections::vec![in child; 1, 2].into_slice();
    }
    parent.alloc(3); //~ error[E0502]
    assert_eq!(slice.len(), 2);
    longer(&parent);
}
