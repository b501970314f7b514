//! Copies that fill much more memory than any cache: dominated by growth and page faults.

use crate::{
    contestants,
    harness::{Bench, Contestant, Target, contestant, observe},
    peers::{Handle, Peer},
};
use ebbtide::{Arena, HugePages};
use std::hint::black_box;

const ITEMS: usize = 100_000;

pub fn run(bench: &mut Bench) {
    let full = [64, 256, 1024, 2048].as_slice();
    for &len in if bench.quick() { &[64, 2048] } else { full } {
        let megabytes = len * ITEMS / 1_000_000;
        let mut fresh = contestants!([Ebbtide +] |P| fresh::<P>(len));
        fresh.push(huge(len));
        bench.row(
            &format!("large copies: {ITEMS} of {len} bytes, {megabytes} MB, a fresh arena"),
            ITEMS,
            fresh,
            &[Target::BestPeer(1.0)],
        );
        bench.row(
            &format!("large copies: {ITEMS} of {len} bytes, {megabytes} MB, again"),
            ITEMS,
            contestants!([Ebbtide +] |P| again::<P>(len)),
            &[Target::BestPeer(1.0)],
        );
    }
}

fn fresh<'a, P: Peer>(len: usize) -> Contestant<'a> {
    let item: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
    contestant(P::NAME, move || fill(&P::fresh().open(), black_box(&item)))
}

fn again<'a, P: Peer>(len: usize) -> Contestant<'a> {
    let item: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
    let mut peer = P::fresh();
    contestant(P::NAME, move || fill(&peer.open(), black_box(&item)))
}

fn huge<'a>(len: usize) -> Contestant<'a> {
    let item: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
    contestant("ebbtide, huge pages", move || {
        let mut arena = Arena::new_in(HugePages);
        fill(&arena.scope(), black_box(&item));
    })
}

#[inline(always)]
fn fill<'a>(handle: &impl Handle<'a>, item: &[u8]) {
    let first = handle.alloc_slice_copy(item);
    for _ in 1..ITEMS {
        observe(handle.alloc_slice_copy(item));
    }
    assert!(first == item);
}
