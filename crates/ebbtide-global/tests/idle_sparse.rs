//! Claim: an owner that ends the scope of an idle one does not take the chunks that stay pinned for
//! its own: its next scope does not persist.

// Without a range nothing is held.
#![cfg(target_pointer_width = "64")]

use crate::{
    filled::started,
    idle::{free, keep_some},
};
use ebbtide_global::{Options, report};
use ebbtide_patience::pause;

#[test]
fn the_sparse_chunks_of_an_idle_owner_are_its_own() {
    alone!();
    let [idle, other] = [started(), started()];
    // Now `other` has a chunk for its scopes.
    other.enter_default().into_iter().for_each(|scope| other.leave(scope));
    let mut kept = Vec::new();
    (0..4000).for_each(|_| keep_some(&idle, &mut kept));
    let survivors: Vec<_> = kept.iter().copied().step_by(500).collect();
    for (number, block) in kept.into_iter().enumerate() {
        if number % 500 > 0 {
            free(&idle, block);
        }
    }
    let held = report().held;
    assert!(held > 12 << 20, "{:?}", report());
    for _ in 0..4 {
        pause(1050);
        other.publish_at_rest();
    }
    let before = report();
    assert!(before.held < held / 2, "{before:?}");
    assert!(before.escapes.pinned_chunks > 32, "{before:?}");
    let scope = other.enter(&Options::new()).unwrap();
    // The scope does not persist: the chunks of a persistent scope would count as pinned.
    assert_eq!(report().escapes.pinned_chunks, before.escapes.pinned_chunks);
    other.leave(scope);
    survivors.into_iter().for_each(|block| free(&other, block));
    // Until then, the last frees of an idle owner may be pending.
    idle.end();
    other.end();
    assert_eq!(report().escapes.pinned_chunks, 0);
}
