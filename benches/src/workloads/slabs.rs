//! W3: a loop of scopes at the end of a chunk, compared with the same loop in the middle of one.

use crate::harness::{Bench, Contestant, Target, contestant, hidden, observe};
use bump_scope::Bump;
use ebbtide::Arena;
use std::alloc::Layout;

const SCOPES: usize = 1_000;
const AWAY: &str = "ebbtide, away";
const KIB: usize = 1024;

/// The size of two blocks that are allocated first, by the capacity of the chunk.
type First = fn(usize) -> usize;

pub fn run(bench: &mut Bench) {
    for slab in [16 * KIB, KIB * KIB] {
        let near: First = |capacity| capacity / 2 - 1;
        let away: First = |capacity| capacity / 4;
        bench.row(
            &format!("W3: {SCOPES} scopes of 10 bytes at the end of a slab of {} KiB", slab / KIB),
            SCOPES,
            vec![
                ours("ebbtide", slab, near),
                ours(AWAY, slab, away),
                stumpalo("stumpalo", slab, near),
                stumpalo("stumpalo, away", slab, away),
                bump_scope("bump-scope", slab, near),
                bump_scope("bump-scope, away", slab, away),
            ],
            &[Target::AtMost(1.05, AWAY)],
        );
    }
}

/// An uninitialised block.
fn block(bytes: usize) -> Layout {
    Layout::array::<u8>(bytes).expect("small")
}

fn ours<'a>(name: &'static str, slab: usize, first: First) -> Contestant<'a> {
    let mut arena = Arena::with_capacity(slab);
    let bytes = first(arena.stats().capacity);
    contestant(name, move || {
        let mut outer = arena.scope();
        for _ in 0..2 {
            outer.alloc_layout(block(bytes));
        }
        for _ in 0..hidden(SCOPES) {
            let inner = outer.scope();
            observe(inner.alloc([0_u8; 10]));
        }
    })
}

fn stumpalo<'a>(name: &'static str, slab: usize, first: First) -> Contestant<'a> {
    let mut arena = stumpalo::Arena::with_capacity(slab);
    let bytes = first(arena.chunk_capacity());
    contestant(name, move || {
        arena.with_scope(|outer| {
            for _ in 0..2 {
                outer.alloc_layout(block(bytes));
            }
            for _ in 0..hidden(SCOPES) {
                outer.with_scope(|inner| observe(inner.alloc([0_u8; 10])));
            }
        });
    })
}

fn bump_scope<'a>(name: &'static str, slab: usize, first: First) -> Contestant<'a> {
    let mut bump: Bump = Bump::with_size(slab);
    let bytes = first(bump.stats().capacity());
    contestant(name, move || {
        bump.scoped(|outer| {
            for _ in 0..2 {
                outer.alloc_uninit_slice::<u8>(bytes);
            }
            for _ in 0..hidden(SCOPES) {
                outer.scoped(|inner| observe(&mut *inner.alloc([0_u8; 10])));
            }
        });
    })
}
