//! A scope may stand for a shorter one, never for a longer one.

use ebbtide::Scope;

fn lengthen<'short, 'long: 'short>(s: Scope<'short>) -> Scope<'long> {
    s //~ error: lifetime may not live long enough
}

fn main() {
    let mut arena = ebbtide::Arena::new();
    lengthen(arena.scope());
}
