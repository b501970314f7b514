//! One number after another: in a local scope, and through a reference in a function that is not
//! inlined.

use crate::{
    harness::{Bar, Bench, Contestant, LIMIT, contestant, hidden, observe},
    peers::{BlinkAlloc, BumpScope, Bumpalo, Ebbtide, EbbtideRoot, Handle, Limit, Peer, Stumpalo},
};

/// Allocations between one emptying of the arena and the next: 8 KiB of `u64`, in the first-level cache.
const COUNT: usize = 1024;
const REPEATS: usize = 32;
const CAPACITY: usize = COUNT * 16 + 4096;

pub fn run(bench: &mut Bench) {
    local::<u8>(bench, "scalars: u8, local");
    local::<u32>(bench, "scalars: u32, local");
    local::<u64>(bench, "scalars: u64, local");
    local::<u128>(bench, "scalars: u128, local");
    bench.row(
        "scalars: u64, behind a reference",
        COUNT * REPEATS,
        vec![
            behind::<Ebbtide>(),
            behind::<EbbtideRoot>(),
            behind::<Stumpalo>(),
            behind::<Bumpalo>(),
            behind::<BumpScope>(),
            behind::<BlinkAlloc>(),
        ],
        &[Bar::BestPeer(1.05)],
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
number!(u8, u32, u64, u128);

fn local<T: Number>(bench: &mut Bench, name: &str) {
    bench.row(
        name,
        COUNT * REPEATS,
        vec![
            fill::<Ebbtide, T>(),
            fill::<EbbtideRoot, T>(),
            fill::<Stumpalo, T>(),
            fill::<Bumpalo, T>(),
            fill::<BumpScope, T>(),
            fill::<BlinkAlloc, T>(),
            fill::<Limit, T>(),
        ],
        &[Bar::BestPeer(1.35), Bar::AtMost(1.15, LIMIT)],
    );
}

fn fill<'a, P: Peer + 'a, T: Number>() -> Contestant<'a> {
    let mut peer = P::with_capacity(CAPACITY);
    check(&mut peer, |handle, n| *handle.alloc(n as u64));
    contestant(P::NAME, move || {
        for _ in 0..REPEATS {
            fill_once::<P, T>(&mut peer, hidden(COUNT));
        }
    })
}

#[inline(never)]
fn fill_once<P: Peer, T: Number>(peer: &mut P, count: usize) {
    let handle = peer.open();
    for n in 0..count {
        observe(handle.alloc(T::of(n)));
    }
}

fn behind<'a, P: Peer + 'a>() -> Contestant<'a> {
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

/// The numbers come out as they went in, each at an address of its own.
fn check<P: Peer>(peer: &mut P, store: impl Fn(&P::Handle<'_>, usize) -> u64) {
    let handle = peer.open();
    let total: u64 = (0..COUNT).map(|n| store(&handle, n)).sum();
    assert_eq!(total, (COUNT * (COUNT - 1) / 2) as u64, "{}", P::NAME);
}
