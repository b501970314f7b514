//! What a block costs on this machine, in a scope and without.

use ebbtide_global::engine::Owner;
use std::{alloc::Layout, hint::black_box, time::Instant};

const ROUNDS: usize = 2_000;
const BLOCKS: usize = 64;

/// What this machine takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// A call of `malloc` and one of `free`, in seconds.
    pub(crate) pair: f64,
    /// The same in a scope, divided by that.
    pub(crate) in_scope: f64,
    /// To open and close a scope, in seconds.
    pub(crate) scope: f64,
}

/// Measures this machine, in some milliseconds.
pub(crate) fn measure() -> Machine {
    let owner = Owner::new();
    // A build that is not optimised would measure its checks.
    if cfg!(debug_assertions) || !owner.start() {
        return Machine { pair: 20e-9, in_scope: 0.3, scope: 40e-9 };
    }
    let layouts: Vec<Layout> =
        (0..BLOCKS).filter_map(|n| Layout::from_size_align(16 + n % 8 * 24, 8).ok()).collect();
    let mut blocks = vec![std::ptr::null_mut::<u8>(); BLOCKS];
    let mut best = [f64::MAX; 3];
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..ROUNDS / 20 {
            for (block, layout) in blocks.iter_mut().zip(&layouts) {
                // SAFETY: the only clause of `alloc` is a size above 0, and all layouts have at
                // least 16 bytes.
                *block = black_box(unsafe { std::alloc::alloc(*layout) });
            }
            for (block, layout) in blocks.iter().zip(&layouts) {
                // SAFETY: the block was allocated above, with this layout, and is used no more.
                unsafe { std::alloc::dealloc(*block, *layout) };
            }
        }
        let system = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..ROUNDS / 20 {
            let ticket = owner.enter_default();
            for (block, layout) in blocks.iter_mut().zip(&layouts) {
                *block = black_box(owner.alloc(*layout));
            }
            for (block, layout) in blocks.iter().zip(&layouts) {
                if !block.is_null() {
                    // SAFETY: the block was allocated above, with this layout, and is used no more.
                    unsafe { owner.dealloc(*block, *layout) };
                }
            }
            ticket.into_iter().for_each(|ticket| owner.leave(ticket));
        }
        let scoped = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..ROUNDS {
            let ticket = owner.enter_default();
            black_box(&owner);
            ticket.into_iter().for_each(|ticket| owner.leave(ticket));
        }
        let empty = start.elapsed().as_secs_f64();
        for (best, time) in best.iter_mut().zip([system, scoped, empty]) {
            *best = best.min(time);
        }
    }
    owner.end();
    let [system, scoped, empty] = best;
    Machine {
        pair: system / (ROUNDS / 20 * BLOCKS) as f64,
        in_scope: scoped / system,
        scope: empty / ROUNDS as f64,
    }
}
