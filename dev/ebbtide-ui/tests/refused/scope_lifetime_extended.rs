//! A scope's lifetime can be shortened, but not extended.

use ebbtide::Scope;

fn lengthen<'short, 'long: 'short>(s: Scope<'short>) -> Scope<'long> {
    s //~ error: lifetime may not live long enough
}

fn main() {
    let mut arena = ebbtide::Arena::new();
    lengthen(arena.scope());
}
