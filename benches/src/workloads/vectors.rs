//! W4: ten thousand vectors in one scope. W6: a buffer that two arrays fill to the last byte.

use crate::harness::{Bench, Target, contestant, hidden, observe};
use ebbtide::{Arena, Fixed};
use std::mem::MaybeUninit;

const VECTORS: u32 = 10_000;

pub fn run(bench: &mut Bench) {
    many(bench);
    exact_fit(bench);
}

/// The lengths, from 1 to 1,000.
fn len(n: u32) -> u32 {
    n.wrapping_mul(7919) % 1_000 + 1
}

/// Sums the last elements, to check that every vector is intact.
fn check(vectors: &[impl AsRef<[u32]>]) {
    let expected: u64 = (0..VECTORS).map(|n| u64::from(n + len(n) - 1)).sum();
    let last = |v: &[u32]| u64::from(v[v.len() - 1]);
    assert_eq!(vectors.iter().map(|v| last(v.as_ref())).sum::<u64>(), expected);
}

/// The contents of a vector.
fn elements(n: u32) -> impl ExactSizeIterator<Item = u32> {
    (0..len(hidden(n as usize) as u32)).map(move |i| n + i)
}

fn many(bench: &mut Bench) {
    /// Fills the vectors and checks them.
    macro_rules! fill {
        (|$n:ident| $vector:expr) => {
            check(&Vec::from_iter((0..VECTORS).map(|$n| $vector)))
        };
    }
    let mut kept = Arena::new();
    bench.row(
        "W4: 10,000 vectors of 1 to 1,000 u32, a fresh arena",
        VECTORS as usize,
        vec![
            contestant("ebbtide", || {
                let mut arena = Arena::new();
                let s = arena.scope();
                fill!(|n| s.alloc_slice_fill_iter(elements(n)));
            }),
            contestant("ebbtide, kept arena", move || {
                let s = kept.scope();
                fill!(|n| s.alloc_slice_fill_iter(elements(n)));
            }),
            contestant("stumpalo", || {
                let arena = stumpalo::Arena::new();
                fill!(|n| arena.alloc_slice_fill_iter(elements(n)));
            }),
            contestant("bumpalo", || {
                let bump = bumpalo::Bump::new();
                fill!(|n| bump.alloc_slice_fill_iter(elements(n)));
            }),
            contestant("bump-scope", || {
                let bump: bump_scope::Bump = bump_scope::Bump::new();
                fill!(|n| bump.alloc_iter_exact(elements(n)));
            }),
            contestant("std", || fill!(|n| elements(n).collect::<Vec<u32>>())),
        ],
        &[Target::AtLeast(1.0, "std"), Target::BestPeer(1.0)],
    );
}

const CUBE: usize = 300 * 300 * 300;
const SQUARE: usize = 300 * 300;
const TURNS: usize = 100;

fn exact_fit(bench: &mut Bench) {
    const NAME: &str = "W6: 300³ and 300² f64 in exactly 216,720,000 bytes";
    const BYTES: usize = 216_720_000;
    if !bench.wants(NAME) {
        return;
    }
    let mut memory: Vec<MaybeUninit<u64>> = Vec::with_capacity(BYTES / 8);
    // SAFETY: what need not be initialised may have any length up to the capacity.
    unsafe { memory.set_len(BYTES / 8) };
    // SAFETY: the same memory as bytes, borrowed as long.
    let (_, bytes, _) = unsafe { memory.align_to_mut::<MaybeUninit<u8>>() };
    let mut fixed = Fixed::new(bytes);
    {
        let s = fixed.scope();
        s.alloc_uninit_slice::<f64>(CUBE);
        s.alloc_uninit_slice::<f64>(SQUARE);
        assert!(s.try_alloc(0_u8).is_err(), "not one byte is left");
    }
    bench.row(
        NAME,
        TURNS,
        vec![
            contestant("ebbtide", move || {
                for turn in 0..hidden(TURNS) {
                    let s = fixed.scope();
                    touch(s.alloc_uninit_slice(CUBE), s.alloc_uninit_slice(SQUARE), turn);
                }
            }),
            contestant("std", || {
                for turn in 0..hidden(TURNS) {
                    let mut cube = Vec::with_capacity(CUBE);
                    let mut square = Vec::with_capacity(SQUARE);
                    touch(cube.spare_capacity_mut(), square.spare_capacity_mut(), turn);
                }
            }),
        ],
        &[Target::AtLeast(1.0, "std")],
    );
}

/// Writes both ends and reads them back.
#[allow(clippy::cast_precision_loss)]
fn touch(cube: &mut [MaybeUninit<f64>], square: &mut [MaybeUninit<f64>], turn: usize) {
    let turn = turn as f64;
    let ends = [cube.first_mut(), square.last_mut()];
    let mut sum = 0.0;
    for end in ends.into_iter().flatten() {
        sum += *end.write(turn);
    }
    assert!(sum == 2.0 * turn);
    observe(cube);
    observe(square);
}
