//! Claims: a scope that adopts the free tail of a pinned chunk and leaves nothing behind leaves the
//! tail as long as it was, even if it frees the pinned blocks; if it leaves blocks behind, the next
//! tail begins after them.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{
    Options,
    engine::{Owner, Ticket},
    report,
};
use std::alloc::Layout;

const SIZE: usize = 96;

struct World(Owner);

impl World {
    fn new() -> World {
        let world = World(Owner::new());
        assert!(world.0.start());
        world
    }

    fn enter(&self) -> Ticket {
        self.0.enter(&Options::new()).unwrap()
    }

    fn alloc(&self) -> *mut u8 {
        let block = self.0.alloc(Layout::new::<[u64; SIZE / 8]>());
        assert!(!block.is_null());
        block
    }

    fn free(&self, block: *mut u8) {
        // SAFETY: every test frees what it allocated, once.
        assert!(unsafe { self.0.dealloc(block, Layout::new::<[u64; SIZE / 8]>()) });
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[test]
fn scopes_in_a_tail() {
    alone!();
    let world = World::new();
    let ticket = world.enter();
    let pinned = [(); 4].map(|()| world.alloc());
    world.0.leave(ticket);
    assert_eq!(report().escapes.pinned_chunks, 1);
    let behind = pinned[3].addr() + SIZE;

    // No block stays, though they are not freed in reverse order.
    for _ in 0..1000 {
        let ticket = world.enter();
        let [a, b] = [world.alloc(), world.alloc()];
        assert_eq!(a.addr(), behind, "the tail is where it was");
        world.free(a);
        world.free(b);
        world.0.leave(ticket);
    }

    // A pinned block is freed, and a new one stays: the sum is as before, the tail is not.
    let ticket = world.enter();
    let [a, b] = [world.alloc(), world.alloc()];
    world.free(pinned[0]);
    world.free(b);
    world.0.leave(ticket);
    let ticket = world.enter();
    let c = world.alloc();
    assert!(c.addr() >= a.addr() + SIZE, "what stayed is not overwritten");
    world.free(c);
    world.0.leave(ticket);

    // The same from a nested scope, where freeing only decrements the count.
    let outer = world.enter();
    let d = world.alloc();
    assert!(d.addr() > a.addr());
    let inner = world.enter();
    world.free(pinned[1]);
    world.0.leave(inner);
    world.0.leave(outer);
    let ticket = world.enter();
    let e = world.alloc();
    assert!(e.addr() >= d.addr() + SIZE || e.addr() < pinned[0].addr());
    assert_ne!(e, d);
    for block in [e, a, d, pinned[2], pinned[3]] {
        world.free(block);
    }
    world.0.leave(ticket);
    assert_eq!(report().escapes.pinned_chunks, 0);

    the_last_of_the_pinned_is_freed_or_resized(&world);
}

fn the_last_of_the_pinned_is_freed_or_resized(world: &World) {
    let ticket = world.enter();
    let pinned = [(); 4].map(|()| world.alloc());
    world.0.leave(ticket);

    // The last block grows in place, into the tail.
    let ticket = world.enter();
    let layout = Layout::new::<[u64; SIZE / 8]>();
    // SAFETY: the block is alive, with this layout.
    let grown = unsafe { world.0.realloc(pinned[3], layout, 3 * SIZE) };
    assert_eq!(grown, pinned[3]);
    let a = world.alloc();
    world.free(a);
    world.0.leave(ticket);
    let ticket = world.enter();
    let b = world.alloc();
    assert_eq!(b.addr(), grown.addr() + 3 * SIZE, "behind the grown block");
    // It is freed as the last block, so this scope's blocks begin where it began.
    world.free(b);
    // SAFETY: the block is alive, with this layout.
    assert!(unsafe { world.0.dealloc(grown, Layout::new::<[u64; 3 * SIZE / 8]>()) });
    let c = world.alloc();
    assert_eq!(c, grown);
    world.0.leave(ticket);
    let ticket = world.enter();
    let d = world.alloc();
    assert_eq!(d.addr(), c.addr() + SIZE);
    for block in [d, c, pinned[0], pinned[1], pinned[2]] {
        world.free(block);
    }
    world.0.leave(ticket);
    assert_eq!(report().escapes.pinned_chunks, 0);
}
