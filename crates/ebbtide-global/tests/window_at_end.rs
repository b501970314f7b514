//! Claim: an owner that ends at the end of a window of time gives back the memory that an idle
//! owner held, and keeps none of it.

// Without a range nothing is held.
#![cfg(target_pointer_width = "64")]

use crate::{
    filled::started,
    idle::{free, keep_some, serve},
};
use ebbtide_global::{engine::Owner, release_pool, report};
use ebbtide_patience::{eventually, pause};

/// A fast scope, which publishes nothing when it ends.
fn use_and_free(owner: &Owner) {
    let scope = owner.enter_default().unwrap();
    let blocks: Vec<_> = (0..20).map(|_| serve(owner).unwrap()).collect();
    // Not in reverse order, because rewound bytes do not count as served.
    blocks.into_iter().for_each(|block| free(owner, block));
    owner.leave(scope);
}

#[test]
fn memory_of_idle_scopes_that_an_ending_owner_ends_is_not_lost() {
    alone!();
    // The two ways in which an ending owner observes the live bytes: because it has served many
    // bytes, or at its end.
    for scopes in [40, 1] {
        let [idle, last] = [started(), started()];
        // Each of them has a chunk for its scopes.
        let ending: [Owner; 5] = std::array::from_fn(|_| started());
        ending.iter().for_each(use_and_free);
        let mut kept = Vec::new();
        (0..4000).for_each(|_| keep_some(&idle, &mut kept));
        kept.into_iter().for_each(|block| free(&last, block));
        last.end();
        assert!(report().held > 12 << 20, "{:?}", report());
        // The peak is forgotten after two windows.
        for owner in ending {
            pause(1050);
            (0..scopes).for_each(|_| use_and_free(&owner));
            owner.end();
        }
        assert!(report().held < 9 << 20, "{:?}", report());
        idle.end();
        // The helper thread may have runs in hand that it is about to give back.
        let is_released = eventually(|| {
            release_pool();
            report().held == 0
        });
        assert!(is_released, "{:?}", report());
    }
}
