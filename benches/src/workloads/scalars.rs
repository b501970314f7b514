//! Allocating numbers: in a local scope, and through a reference in a function that is not inlined.

use crate::{
    contestants,
    harness::{Bench, Contestant, LIMIT, Target, contestant, hidden, observe},
    peers::{Ebbtide, EbbtideRoot, Handle, Peer},
};

/// Allocations between two resets of the arena: 8 KiB of `u64`, which fit into the first-level
/// cache.
const COUNT: usize = 1024;
const REPEATS: usize = 32;
const CAPACITY: usize = COUNT * 16 + 4096;

pub fn run(bench: &mut Bench) {
    rows::<u8>(bench, "u8");
    rows::<u16>(bench, "u16");
    rows::<u32>(bench, "u32");
    rows::<u64>(bench, "u64");
    rows::<u128>(bench, "u128");
    bench.row(
        "scalars: u64, behind a reference",
        COUNT * REPEATS,
        contestants!(
            [Ebbtide EbbtideRoot +] |P| behind::<P>()
        ),
        &[Target::BestPeer(1.05)],
    );
}

trait Number: Copy + PartialEq + std::fmt::Debug + 'static {
    fn of(n: usize) -> Self;
}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation)]
            fn of(n: usize) -> Self {
                n as $type
            }
        }
    )*};
}
number!(u8, u16, u32, u64, u128);

fn rows<T: Number>(bench: &mut Bench, name: &str) {
    local_and_root::<T, 1>(bench, name);
    local_and_root::<T, 8>(bench, &format!("eight {name} a turn"));
}

/// The cursor of a root is in memory: each allocation loads what the previous one has just stored.
/// How long that takes depends on the processor, not on the arena, so roots have no target.
fn local_and_root<T: Number, const EACH: usize>(bench: &mut Bench, name: &str) {
    let targets: &[_] = &[Target::BestPeer(1.35), Target::AtMost(1.15, LIMIT)];
    row::<Ebbtide, T, EACH>(bench, &format!("scalars: {name}, local"), targets);
    row::<EbbtideRoot, T, EACH>(bench, &format!("scalars: {name}, root"), &[]);
}

fn row<Ours: Peer, T: Number, const EACH: usize>(
    bench: &mut Bench,
    name: &str,
    targets: &[Target],
) {
    let mut contestants = vec![fill::<Ours, T, EACH>()];
    contestants.extend(contestants!(
        [+ Limit] |P| fill::<P, T, EACH>()
    ));
    bench.row(name, COUNT * REPEATS, contestants, targets);
}

fn fill<'a, P: Peer, T: Number, const EACH: usize>() -> Contestant<'a> {
    let mut peer = P::with_capacity(CAPACITY);
    check(&mut peer, |handle, n| *handle.alloc(n as u64));
    contestant(P::NAME, move || {
        for _ in 0..REPEATS {
            fill_once::<P, T, EACH>(&mut peer, hidden(COUNT / EACH));
        }
    })
}

#[inline(never)]
fn fill_once<P: Peer, T: Number, const EACH: usize>(peer: &mut P, turns: usize) {
    let handle = peer.open();
    for n in 0..turns {
        // A constant number of iterations, so the loop is unrolled.
        for _ in 0..EACH {
            observe(handle.alloc(T::of(n)));
        }
    }
}

fn behind<'a, P: Peer>() -> Contestant<'a> {
    let mut peer = P::with_capacity(CAPACITY);
    check(&mut peer, |handle, n| *put(handle, n as u64));
    contestant(P::NAME, move || {
        for _ in 0..REPEATS {
            let handle = peer.open();
            for n in 0..hidden(COUNT) {
                observe(put(&handle, n as u64));
            }
        }
    })
}

#[inline(never)]
fn put<'a, H: Handle<'a>>(handle: &H, value: u64) -> &'a mut u64 {
    handle.alloc(value)
}

/// Checks that the numbers are unchanged and at distinct addresses.
fn check<P: Peer>(peer: &mut P, store: impl Fn(&P::Handle<'_>, usize) -> u64) {
    let handle = peer.open();
    let total: u64 = (0..COUNT).map(|n| store(&handle, n)).sum();
    assert_eq!(total, (COUNT * (COUNT - 1) / 2) as u64, "{}", P::NAME);
}
