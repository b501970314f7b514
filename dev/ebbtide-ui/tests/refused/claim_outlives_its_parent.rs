//! A claim ends before its parent does, and before the parent opens a child.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let claim = s.claim();
    s.scope(); //~ error[E0502]
    drop(s); //~ error[E0505]
    drop(claim);
}
