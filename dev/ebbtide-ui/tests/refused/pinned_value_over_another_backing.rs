//! The memory of a forgotten arena is leaked only by the heap.

use ebbtide::{Arena, Backing, DropArena};

fn over_any_backing<B: Backing>(backing: B) {
    let arena = DropArena::from(Arena::new_in(backing));
    arena.alloc_pinned(1); //~ error[E0599]
}

fn over_the_heap() {
    DropArena::new().alloc_pinned(1);
}

fn main() {}
