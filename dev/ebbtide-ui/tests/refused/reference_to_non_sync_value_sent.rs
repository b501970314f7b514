//! An arena does not make its contents `Sync`: a `Cell` must not be shared.

use ebbtide::Arena;
use std::cell::Cell;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let cell: &Cell<u64> = s.alloc(Cell::new(1));
    std::thread::scope(|threads| {
        threads.spawn(|| cell.set(2)); //~ error[E0277]
    });
}
