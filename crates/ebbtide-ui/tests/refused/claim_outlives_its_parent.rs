//! A claim is over before the scope it was opened in, and before a child of that one opens.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let claim = s.claim();
    s.scope(); //~ error[E0502]
    drop(s); //~ error[E0505]
    drop(claim);
}
