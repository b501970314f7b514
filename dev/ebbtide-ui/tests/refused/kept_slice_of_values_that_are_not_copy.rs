//! Elements behind a shared reference are copied to the parent, so they must be `Copy`.

use ebbtide::Arena;
use std::cell::Cell;

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let cells = s.keep_slice_or::<_, ()>(|s| Ok(s.alloc([Cell::new(1)]))); //~ error[E0277]
    println!("{cells:?}");
}
