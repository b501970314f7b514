//! `reset`, then allocate again: no contestant should request new memory, and ebbtide is checked not
//! to. Then arenas that are made anew and dropped, as most programs do.

use crate::{
    contestants,
    harness::{Bench, Contestant, Target, contestant, hidden, observe},
    peers::{Handle, Peer},
};
use ebbtide::{AllocError, Arena, Backing, Heap};
use std::{
    alloc::Layout,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
};

pub fn run(bench: &mut Bench) {
    assert_eq!(calls_after_reset(), 0, "the backing was called after a reset");
    for count in [10, 1_000, 100_000] {
        bench.row(
            &format!("reuse: reset, then {count} u64"),
            count * turns(count),
            contestants!([EbbtideRoot Ebbtide +] |P| reuse::<P>(count)),
            &[Target::BestPeer(1.0)],
        );
    }
    for bytes in [0, 8, 1 << 10, 1 << 16, 1 << 20, 1 << 24] {
        bench.row(
            &format!("made anew: an arena, {bytes} bytes of u64, and its end"),
            arenas(bytes),
            contestants!([EbbtideRoot Ebbtide +] |P| anew::<P>(bytes)),
            &[Target::BestPeer(if bytes < 1 << 20 { 1.0 } else { 2.0 })],
        );
    }
}

fn arenas(bytes: usize) -> usize {
    ((1 << 20) / bytes.max(100)).max(1)
}

fn anew<'a, P: Peer>(bytes: usize) -> Contestant<'a> {
    contestant(P::NAME, move || {
        for _ in 0..arenas(bytes) {
            let mut peer = P::fresh();
            if bytes == 0 {
                observe(&mut peer);
                continue;
            }
            let handle = peer.open();
            for n in 0..hidden(bytes / 8) {
                observe(handle.alloc(n as u64));
            }
        }
    })
}

fn turns(count: usize) -> usize {
    (100_000 / count).max(1)
}

fn reuse<'a, P: Peer>(count: usize) -> Contestant<'a> {
    let mut peer = P::fresh();
    contestant(P::NAME, move || {
        for _ in 0..turns(count) {
            let handle = peer.open();
            for n in 0..hidden(count) {
                observe(handle.alloc(n as u64));
            }
        }
    })
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// The heap, counting calls.
struct Counted;

// SAFETY: `Heap`'s own blocks.
unsafe impl Backing for Counted {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        CALLS.fetch_add(1, Ordering::Relaxed);
        Heap.allocate(layout)
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise, and the block is `Heap`'s.
        unsafe { Heap.release(block, layout) };
    }
}

fn calls_after_reset() -> usize {
    let mut arena = Arena::new_in(Counted);
    let mut before = 0;
    for turn in 0..10 {
        for n in 0..100_000_u64 {
            arena.root().alloc(n);
        }
        arena.reset();
        if turn == 0 {
            before = CALLS.load(Ordering::Relaxed);
        }
    }
    assert!(before > 0);
    CALLS.load(Ordering::Relaxed) - before
}
