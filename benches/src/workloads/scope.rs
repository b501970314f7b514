//! Opening a scope, allocating 8 bytes and closing it, compared with the allocation alone, and the
//! default scope with explicit scopes of peers.

use crate::{
    contestants,
    harness::{Bench, Contestant, Target, contestant, hidden, observe},
    peers::{Ebbtide, EbbtideRoot, Handle, Peer, Scopes},
};
use ebbtide::Arena;

const TURNS: usize = 1024 * 32;
const ALONE: &str = "ebbtide, allocation alone";
const ALONE_IN_MEMORY: &str = "ebbtide, alone, root";

pub fn run(bench: &mut Bench) {
    let mut row = |name: &str, ours: Vec<Contestant<'static>>, targets: &[Target]| {
        let peers = contestants!([+] |P| turns::<P>());
        let contestants = ours.into_iter().chain(peers).collect();
        let name = format!("scope: {name}: open, allocate 8 bytes, close");
        bench.row(&name, TURNS, contestants, targets);
    };
    row(
        "a child scope",
        vec![nested(), alone::<Ebbtide>(ALONE)],
        &[Target::AtMost(1.1, ALONE), Target::BestPeer(1.9)],
    );
    row(
        "of an arena in memory",
        vec![turns::<Ebbtide>(), alone::<Ebbtide>(ALONE), alone::<EbbtideRoot>(ALONE_IN_MEMORY)],
        &[Target::AtMost(1.1, ALONE), Target::AtMost(1.1, ALONE_IN_MEMORY), Target::BestPeer(1.9)],
    );
    row("the default one", vec![default_scope()], &[Target::BestPeer(1.0)]);
}

fn default_scope<'a>() -> Contestant<'a> {
    contestant("ebbtide, default", || {
        for turn in 0..hidden(TURNS) {
            ebbtide::scope(|s| observe(s.alloc(turn as u64)));
        }
    })
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

/// The same number of allocations in one scope, within the first-level cache. Through the arena's root, the cursor is in memory.
fn alone<'a, P: Peer>(name: &'static str) -> Contestant<'a> {
    let mut peer = P::with_capacity(16 * 1024);
    contestant(name, move || {
        for _ in 0..hidden(TURNS / 1024) {
            let handle = peer.open();
            for turn in 0..hidden(1024) {
                observe(Handle::alloc(&handle, turn as u64));
            }
        }
    })
}
