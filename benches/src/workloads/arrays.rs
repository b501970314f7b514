//! Values larger than a register, and arrays of constant length.

use crate::{
    contestants,
    harness::{Bench, Contestant, Target, contestant, hidden, observe},
    peers::{Handle, Peer},
};
use std::{array, hint::black_box};

/// The bytes between two resets of the arena, within the first-level cache.
const BYTES: usize = 16 * 1024;
const REPEATS: usize = 16;

pub fn run(bench: &mut Bench) {
    macro_rules! structs {
        ($($size:literal)*) => {$(
            bytes::<$size>(bench, concat!("structs: ", $size, " bytes"));
        )*};
    }
    structs!(13 24 26 30 32 64 96 128 192 256 512 1024);
    macro_rules! arrays {
        ($($len:literal)*) => {$(
            array::<$len>(bench, concat!("arrays: [u64; ", $len, "] from a reference"));
        )*};
    }
    arrays!(2 4 8 32 128);
}

fn bytes<const N: usize>(bench: &mut Bench, name: &str) {
    bench.row(
        name,
        BYTES / N * REPEATS,
        contestants!([Ebbtide + Limit] | P | by_value::<P, N>()),
        &[Target::BestPeer(1.0)],
    );
}

fn array<const N: usize>(bench: &mut Bench, name: &str) {
    bench.row(
        name,
        BYTES / (8 * N) * REPEATS,
        contestants!([Ebbtide + Limit] | P | from_reference::<P, N>()),
        &[Target::BestPeer(1.0)],
    );
}

fn by_value<'a, P: Peer, const N: usize>() -> Contestant<'a> {
    let mut peer = P::with_capacity(BYTES + 4096);
    assert_eq!(*peer.open().alloc([7_u8; N]), [7; N]);
    contestant(P::NAME, move || {
        for _ in 0..REPEATS {
            let handle = peer.open();
            for _ in 0..hidden(BYTES / N) {
                observe(handle.alloc([0x42_u8; N]));
            }
        }
    })
}

fn from_reference<'a, P: Peer, const N: usize>() -> Contestant<'a> {
    let mut peer = P::with_capacity(BYTES + 4096);
    let value: [u64; N] = array::from_fn(|n| n as u64);
    assert_eq!(*peer.open().alloc_array(&value), value);
    contestant(P::NAME, move || {
        let value = black_box(&value);
        for _ in 0..REPEATS {
            let handle = peer.open();
            for _ in 0..hidden(BYTES / (8 * N)) {
                observe(handle.alloc_array(value));
            }
        }
    })
}
