//! Work that makes scopes pay or not, and a thread all of whose scopes are skipped while the pools
//! keep memory.

use crate::given_back::has_memory;
use ebbtide_global::{Options, arena, arena_with, engine::is_ours, outside, report, set_skipping};
use ebbtide_patience::pause;
use std::{collections::BTreeSet, hint::black_box, thread};

/// The options of the scopes that are skipped.
pub(crate) const SKIPPED: Options = Options::new().site(7);

/// Takes several microseconds of the processor's time.
pub(crate) fn work() {
    (0..10_000).for_each(|n| {
        black_box(n);
    });
}

fn blocks(count: usize, size: usize) -> Vec<Vec<u8>> {
    (0..count).map(|_| vec![1; size]).collect()
}

/// Keeps blocks until scopes with the options [`SKIPPED`] are skipped, puts 10 MiB into the pools, and calls
/// `skipped`, which should open a skipped scope, in three windows of time. Panics unless the memory
/// that the pools do not always keep goes back to the system.
///
/// Nothing else may give it back: there is so little that no helper thread is started, and no
/// report, which would end a window.
pub(crate) fn assert_that_memory_goes_back(mut skipped: impl FnMut()) {
    set_skipping(true);
    let mut kept = Vec::new();
    while report().fallbacks.skipped_scopes < 1000 {
        // Slow only in an arena.
        arena_with(&SKIPPED, || {
            let more = blocks(4, 16);
            if is_ours(more[0].as_ptr()) {
                work();
            }
            kept.extend(more);
        });
    }
    let burst = || {
        arena(|| {
            let burst = blocks(20_000, 512);
            outside(|| burst.iter().map(|block| block.as_ptr().addr() >> 16).collect())
        })
    };
    set_skipping(false);
    let chunks: BTreeSet<usize> = thread::spawn(burst).join().unwrap();
    set_skipping(true);
    let with_memory = || chunks.iter().filter(|chunk| has_memory(**chunk << 16)).count();
    assert!(with_memory() > 150, "{} of {} chunks", with_memory(), chunks.len());
    for _ in 0..3 {
        pause(1050);
        (0..100).for_each(|_| skipped());
    }
    assert!(with_memory() < 120, "{} of {} chunks", with_memory(), chunks.len());
}
