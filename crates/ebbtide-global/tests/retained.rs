//! Claims: after `retain(bytes)` the shared pool keeps at most `bytes`, each thread at most
//! `bytes` or 1 MiB besides the chunk in which its next scope begins; and the promised bound rises
//! only by what is above 16 MiB.

// Without a range, nothing is kept.
#![cfg(all(target_pointer_width = "64", not(any(loom, target_family = "wasm"))))]

use ebbtide_global::{arena, release_pool, report, retain, warm};
use std::{sync::Barrier, thread};

const MIB: usize = 1 << 20;
const CHUNK: usize = 64 << 10;
const THREADS: usize = 4;

/// Large blocks and small ones in chunks, 16 MiB together.
fn use_much() {
    arena(|| {
        let large: Vec<_> = (0..8).map(|_| vec![1_u8; MIB]).collect();
        let small: Vec<_> = (0..8 * MIB / 1024).map(|_| Box::new([1_u8; 1024])).collect();
        drop((large, small));
    });
    arena(|| ());
}

#[test]
fn pools_and_threads_keep_no_more_than_asked_for() {
    alone!();
    warm();
    for bytes in [0, 100_000, MIB / 2, 4 * MIB, 40 * MIB] {
        retain(bytes);
        release_pool();
        let (used, seen) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
        let report = thread::scope(|threads| {
            for _ in 0..THREADS {
                threads.spawn(|| {
                    use_much();
                    used.wait();
                    seen.wait();
                });
            }
            used.wait();
            let report = report();
            seen.wait();
            report
        });
        let threads = THREADS * bytes.min(MIB);
        assert!(report.kept <= bytes + threads, "{bytes}: {report}");
        // The threads, and this one.
        let chunks = (THREADS + 1) * CHUNK;
        assert!(report.held <= bytes + threads + chunks, "{bytes}: {report}");
        let promised = report.live_peak / 2 * 3 + (16 * MIB).max(bytes) + 4 * MIB * (THREADS + 1);
        assert!(report.bound <= promised, "{bytes}: {report}");
    }
}

#[test]
fn scopes_are_served_if_pools_may_keep_everything() {
    alone!();
    retain(usize::MAX);
    // The last block of a chunk, which has no free tail then.
    let kept = arena(|| vec![Box::new([1_u8; 1024]); 60].pop());
    assert_eq!(report().escapes.pinned_chunks, 1);
    // They keep nothing, so the bound has a reserve for them. Each needs more than the one before.
    for mib in 1..20 {
        arena(|| drop(vec![Box::new([1_u8; 1024]); mib * 1024]));
    }
    drop(kept);
    let report = report();
    assert_eq!(report.fallbacks.waste, 0, "{report}");
}
