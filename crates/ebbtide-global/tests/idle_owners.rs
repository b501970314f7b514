//! Claims: memory that an idle owner's scopes kept goes back to the system within two windows of
//! time after other owners have freed its blocks; the owner can then continue, and every live block
//! is unchanged. The memory of blocks that the owner itself had freed is served again, although
//! blocks in the same chunks are alive.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::{
    filled::started,
    idle::{BLOCK, free, keep_some},
};
use ebbtide_global::{Options, engine::Owner, report};
use ebbtide_patience::eventually;

/// Ends windows of time, as an active owner does, until a condition holds.
fn wait_until(other: &Owner, mut is_reached: impl FnMut() -> bool) {
    let is_reached = eventually(|| {
        let mut kept = Vec::new();
        (0..20).for_each(|_| keep_some(other, &mut kept));
        kept.into_iter().for_each(|block| free(other, block));
        is_reached()
    });
    assert!(is_reached, "{:?}", report());
}

#[test]
fn an_idle_owner_holds_no_chunk_that_others_have_emptied() {
    alone!();
    let [idle, other] = [started(), started()];
    for _ in 0..2 {
        let mut kept = Vec::new();
        // 16 MB are kept.
        (0..4000).for_each(|_| keep_some(&idle, &mut kept));
        let survivors: Vec<_> = kept.iter().copied().step_by(1000).collect();
        for (number, block) in kept.into_iter().enumerate() {
            if number % 1000 > 0 {
                free(&other, block);
            }
        }
        assert!(report().held > 12 << 20, "{:?}", report());
        wait_until(&other, || report().held <= 9 << 20);

        // The owner frees in its former scope, and in the scopes that come next.
        let mut kept = Vec::new();
        for (number, block) in survivors.into_iter().enumerate() {
            let scope = if number % 3 == 0 { idle.enter(&Options::new()) } else { None };
            free(if number % 4 == 0 { &other } else { &idle }, block);
            scope.into_iter().for_each(|scope| idle.leave(scope));
            (0..20).for_each(|_| keep_some(&idle, &mut kept));
        }
        kept.sort_unstable();
        assert!(kept.windows(2).all(|pair| pair[0].addr() + BLOCK.size() <= pair[1].addr()));
        kept.into_iter().for_each(|block| free(&idle, block));
    }
    idle.end();
    other.end();
    assert_eq!(report().escapes.pinned_chunks, 0);
    assert_eq!(report().live, 0);
}

#[test]
fn an_owner_that_waited_finds_the_memory_of_its_free_blocks() {
    alone!();
    let [idle, other] = [started(), started()];
    let mut kept = Vec::new();
    // 16 MB are kept. Most of it expires, but hardly a chunk becomes empty.
    (0..4000).for_each(|_| keep_some(&idle, &mut kept));
    let survivors: Vec<_> = kept.iter().copied().step_by(100).collect();
    for (number, block) in kept.into_iter().enumerate() {
        if number % 100 > 0 {
            free(&idle, block);
        }
    }
    let held = report().held;
    wait_until(&other, || report().live_peak < 1 << 20);

    // Returns whether a scope was served: of each eight blocks that it gets, it keeps one.
    let serves = |kept: &mut Vec<_>| {
        let before = kept.len();
        keep_some(&idle, kept);
        kept.len() == before + 8
    };
    let free_all = |kept: &mut Vec<_>| kept.drain(..).for_each(|block| free(&idle, block));
    let mut kept = Vec::new();
    // While another thread ends the owner's scope, its chunks belong to neither, so the next scopes are
    // refused for that moment. It begins at any time, and lasts as long as that thread does not run.
    wait_until(&other, || {
        free_all(&mut kept);
        // Scopes that keep nothing, and scopes that keep blocks.
        let mut refused = 0;
        for number in 0..4000 {
            refused += usize::from(!serves(&mut kept));
            if number < 1000 {
                free_all(&mut kept);
            }
        }
        // An owner publishes its live bytes after some scopes only, so the bound lags behind a little.
        refused < 4000 / 20
    });
    assert!(report().held <= held + (4 << 20), "{held} bytes were held, now {:?}", report());
    free_all(&mut kept);
    survivors.into_iter().for_each(|block| free(&idle, block));
    idle.end();
    other.end();
}
