//! Opening a scope, allocating 8 bytes and closing it, compared with the allocation alone.

use crate::{
    harness::{Bench, Contestant, Target, contestant, hidden, observe},
    peers::{
        BlinkAlloc, BumpScope, Bumpalo, Ebbtide, EbbtideRoot, Handle, Multitude, Peer, Scopes,
        Stumpalo,
    },
};
use ebbtide::Arena;

const TURNS: usize = 1024 * 32;
const ALONE: &str = "ebbtide, allocation alone";
const ALONE_IN_MEMORY: &str = "ebbtide, alone, root";

pub fn run(bench: &mut Bench) {
    bench.row(
        "scope: a child scope: open, allocate 8 bytes, close",
        TURNS,
        vec![
            nested(),
            alone(),
            turns::<Stumpalo>(),
            turns::<Bumpalo>(),
            turns::<BumpScope>(),
            turns::<BlinkAlloc>(),
            turns::<Multitude>(),
        ],
        &[Target::AtMost(1.1, ALONE), Target::BestPeer(1.9)],
    );
    bench.row(
        "scope: of an arena in memory: open, allocate 8 bytes, close",
        TURNS,
        vec![
            turns::<Ebbtide>(),
            alone(),
            alone_in_memory(),
            turns::<Stumpalo>(),
            turns::<Bumpalo>(),
            turns::<BumpScope>(),
            turns::<BlinkAlloc>(),
            turns::<Multitude>(),
        ],
        &[Target::AtMost(1.1, ALONE), Target::AtMost(1.1, ALONE_IN_MEMORY), Target::BestPeer(1.9)],
    );
}

fn turns<'a, P: Scopes>() -> Contestant<'a> {
    let mut peer = P::with_capacity(4096);
    contestant(P::NAME, move || peer.open_allocate_close(hidden(TURNS)))
}

/// Child scopes of one scope.
fn nested<'a>() -> Contestant<'a> {
    let mut arena = Arena::new();
    contestant("ebbtide", move || {
        let mut outer = arena.scope();
        for turn in 0..hidden(TURNS) {
            let inner = outer.scope();
            observe(inner.alloc(turn as u64));
        }
    })
}

/// The same number of allocations in one scope, within the first-level cache.
fn alone<'a>() -> Contestant<'a> {
    let mut peer = Ebbtide::with_capacity(16 * 1024);
    contestant(ALONE, move || {
        for _ in 0..hidden(TURNS / 1024) {
            let handle = peer.open();
            for turn in 0..hidden(1024) {
                observe(Handle::alloc(&handle, turn as u64));
            }
        }
    })
}

/// The same through the arena's root, whose cursor is in memory.
fn alone_in_memory<'a>() -> Contestant<'a> {
    let mut peer = EbbtideRoot::with_capacity(16 * 1024);
    contestant(ALONE_IN_MEMORY, move || {
        for _ in 0..hidden(TURNS / 1024) {
            let handle = peer.open();
            for turn in 0..hidden(1024) {
                observe(Handle::alloc(&handle, turn as u64));
            }
        }
    })
}
