//! W3: a loop of scopes at the end of a chunk, compared with the same loop in the middle of one;
//! and the cost of a scope by the space left in its chunk.

use crate::harness::{Bench, Contestant, Target, contestant, hidden, observe};
use bump_scope::Bump;
use ebbtide::Arena;
use std::alloc::Layout;

const SCOPES: usize = 1_000;
const AWAY: &str = "ebbtide, away";
const KIB: usize = 1024;

pub fn run(bench: &mut Bench) {
    for slab in [16 * KIB, KIB * KIB] {
        let near = |capacity: usize| [capacity / 2 - 1; 2];
        let away = |capacity: usize| [capacity / 4; 2];
        bench.row(
            &format!("W3: {SCOPES} scopes of 10 bytes at the end of a slab of {} KiB", slab / KIB),
            SCOPES,
            vec![
                ours::<10>("ebbtide", slab, near),
                ours::<10>(AWAY, slab, away),
                stumpalo::<10>("stumpalo", slab, near),
                stumpalo::<10>("stumpalo, away", slab, away),
                bump_scope::<10>("bump-scope", slab, near),
                bump_scope::<10>("bump-scope, away", slab, away),
            ],
            &[Target::AtMost(1.05, AWAY)],
        );
    }
    for left in [0, 16, 32, 48, 64, 80, 128, 256, 1024, 4096] {
        let slab = 16 * KIB;
        let all_but = move |capacity: usize| [capacity - left, 0];
        bench.row(
            &format!("boundary: a scope of 64 bytes, {left} left in its chunk"),
            SCOPES,
            vec![
                ours::<64>("ebbtide", slab, all_but),
                stumpalo::<64>("stumpalo", slab, all_but),
                bump_scope::<64>("bump-scope", slab, all_but),
            ],
            &[],
        );
    }
}

/// An uninitialised block.
fn block(bytes: usize) -> Layout {
    Layout::array::<u8>(bytes).expect("small")
}

/// Two blocks, with sizes that `first` computes from the chunk's capacity, then the scopes.
fn ours<'a, const N: usize>(
    name: &'static str,
    slab: usize,
    first: impl Fn(usize) -> [usize; 2] + 'a,
) -> Contestant<'a> {
    let mut arena = Arena::with_capacity(slab);
    let first = first(arena.stats().capacity);
    contestant(name, move || {
        let mut outer = arena.scope();
        for bytes in first {
            outer.alloc_layout(block(bytes));
        }
        for _ in 0..hidden(SCOPES) {
            let inner = outer.scope();
            observe(inner.alloc([0_u8; N]));
        }
    })
}

fn stumpalo<'a, const N: usize>(
    name: &'static str,
    slab: usize,
    first: impl Fn(usize) -> [usize; 2] + 'a,
) -> Contestant<'a> {
    let mut arena = stumpalo::Arena::with_capacity(slab);
    let first = first(arena.chunk_capacity());
    contestant(name, move || {
        arena.with_scope(|outer| {
            for bytes in first {
                outer.alloc_layout(block(bytes));
            }
            for _ in 0..hidden(SCOPES) {
                outer.with_scope(|inner| observe(inner.alloc([0_u8; N])));
            }
        });
    })
}

fn bump_scope<'a, const N: usize>(
    name: &'static str,
    slab: usize,
    first: impl Fn(usize) -> [usize; 2] + 'a,
) -> Contestant<'a> {
    let mut bump: Bump = Bump::with_size(slab);
    let first = first(bump.stats().capacity());
    contestant(name, move || {
        bump.scoped(|outer| {
            for bytes in first {
                outer.alloc_uninit_slice::<u8>(bytes);
            }
            for _ in 0..hidden(SCOPES) {
                outer.scoped(|inner| observe(&mut *inner.alloc([0_u8; N])));
            }
        });
    })
}
