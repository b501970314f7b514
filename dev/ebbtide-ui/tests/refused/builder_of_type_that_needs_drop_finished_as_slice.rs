//! An owning builder has no `into_slice`: the strings would never be dropped. `into_boxed_slice` is
//! the way out.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let mut names = s.owned_grow_vec();
    names.push(String::new());
    names.into_slice(); //~ error[E0507]
}
