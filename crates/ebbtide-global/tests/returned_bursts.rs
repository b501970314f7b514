//! Claims: after a burst of blocks that another thread frees, a thread whose scopes persist gives
//! the memory back while it goes on working, in short scopes and in one long scope.

// Without a range, no scope persists.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Report, arena, report};
use ebbtide_patience::eventually;
use std::{
    hint::black_box,
    sync::mpsc::{self, SyncSender},
    thread,
};

type Block = Vec<u8>;

const MIB: usize = 1 << 20;

fn blocks(count: usize) -> Vec<Block> {
    (0..count).map(|_| vec![1; 500]).collect()
}

/// So many bytes of live blocks, and some more for their addresses.
fn burst() -> Vec<Block> {
    blocks(96 * MIB / 500)
}

/// A thread that frees what it is sent. Whoever sends waits until it has freed what was sent before,
/// so the live bytes do not depend on how fast it is.
fn with_freeing_thread(run: impl FnOnce(&SyncSender<Vec<Block>>)) {
    let (sender, received) = mpsc::sync_channel::<Vec<Block>>(0);
    let freeing = thread::spawn(move || received.into_iter().for_each(drop));
    run(&sender);
    drop(sender);
    freeing.join().unwrap();
}

/// Pins sparse chunks, so that the next scope persists.
fn pin_chunks() -> Vec<Block> {
    let mut kept = Vec::with_capacity(240);
    for _ in 0..240 {
        arena(|| kept.push(blocks(2_000).swap_remove(7)));
    }
    kept
}

/// Goes on with `work` until no more is held than promised.
fn comes_within_the_bound(mut work: impl FnMut()) {
    let is_within = eventually(|| {
        work();
        let Report { held, bound, .. } = report();
        // Not at once, because the burst is part of the recent peak at first.
        held <= bound && bound < 64 * MIB
    });
    assert!(is_within, "{}", report());
}

#[test]
fn memory_comes_back_while_the_thread_goes_on() {
    alone!();
    let kept = pin_chunks();
    with_freeing_thread(|freeing| {
        let mut all = arena(burst);
        let last = all.pop();
        assert!(report().held > 96 * MIB, "the burst comes from arenas");
        freeing.send(all).unwrap();
        comes_within_the_bound(|| {
            arena(|| drop(black_box(blocks(100))));
        });
        drop(last);
    });
    with_freeing_thread(|freeing| {
        arena(|| {
            freeing.send(burst()).unwrap();
            comes_within_the_bound(|| freeing.send(blocks(2_000)).unwrap());
        });
    });
    drop(kept);
}
