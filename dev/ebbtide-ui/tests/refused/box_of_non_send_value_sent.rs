//! A box can move to another thread only if its content can.

use ebbtide::Arena;
use std::rc::Rc;

fn main() {
    fn is_send<T: Send>(_: T) {}

    let mut arena = Arena::new();
    let s = arena.scope();
    is_send(s.boxed(Rc::new(1))); //~ error[E0277]
}
