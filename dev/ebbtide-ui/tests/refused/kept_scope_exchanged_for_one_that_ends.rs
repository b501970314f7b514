//! A scope that ends cannot stand in for the child, whose lifetime is any.

use ebbtide::Arena;

fn main() {
    let (mut arena, mut other) = (Arena::new(), Arena::new());
    let mut s = arena.scope();
    let mut other = Some(other.scope()); //~ error[E0597]
    s.keep(|s| {
        if let Some(other) = other.take() {
            *s = other;
        }
        s.alloc(1)
    });
}
