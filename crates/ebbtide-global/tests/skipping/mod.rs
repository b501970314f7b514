//! A thread all of whose scopes are skipped, while the pools keep memory.

use ebbtide_global::{arena, report};
use std::{thread, time::Duration};

const MIB: usize = 1 << 20;

fn blocks(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|_| vec![1; 512]).collect()
}

/// Puts 96 MiB into the pools, keeps blocks until the scopes of this thread are skipped, and then
/// repeats `skipped`, which should open a skipped scope. Panics unless most of the memory goes back
/// to the system.
pub(crate) fn assert_that_memory_goes_back(mut skipped: impl FnMut()) {
    drop(arena(|| blocks(96 * MIB / 512)));
    let mut kept = Vec::new();
    while report().fallbacks.skipped_scopes == 0 {
        arena(|| kept.extend(blocks(100)));
    }
    assert!(report().held > 96 * MIB, "the pools keep it");
    // More than two windows. A report would end a window itself.
    for _ in 0..3_000 {
        skipped();
        thread::sleep(Duration::from_millis(1));
    }
    let held = report().held;
    assert!(held < 64 * MIB, "{held} bytes are held");
}
