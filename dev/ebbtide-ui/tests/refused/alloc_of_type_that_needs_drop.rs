//! The vector would never be dropped.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    arena.scope().alloc(vec![1]);
}
