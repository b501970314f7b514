//! Claims: memory that an idle owner's scopes kept goes back to the system within two windows of
//! time after other owners have freed its blocks; the owner can then continue, and every live block
//! is unchanged.

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
        // As much is kept as the bound allows.
        (0..4000).for_each(|_| keep_some(&idle, &mut kept));
        let survivors: Vec<_> = kept.iter().copied().step_by(1000).collect();
        for (number, block) in kept.into_iter().enumerate() {
            if number % 1000 > 0 {
                free(&other, block);
            }
        }
        assert!(report().held > 9 << 20, "{:?}", report());
        wait_until(&other, || report().held <= 8 << 20);

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
