//! Claim: the figures of an owner have one writer at a time, and a later owner continues from the
//! last values of the one before.
//!
//! Models: `ci/loom.sh` runs them. The lease is the crate's own, with the atomics of loom. A cell
//! of loom represents the figures, so loom reports two accesses that nothing orders. Each model
//! names the mutations for which it was seen to fail.

#![cfg(loom)]
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

#[path = "../src/lease.rs"]
mod lease;

use lease::Lease;
use loom::{cell::UnsafeCell, sync::Arc, thread};

struct Figures {
    lease: Lease,
    blocks: UnsafeCell<u32>,
}

impl Figures {
    /// Serves one block. The caller has the lease.
    fn serve(&self) {
        // SAFETY: loom checks that nobody else is at it.
        self.blocks.with_mut(|blocks| unsafe { *blocks += 1 });
    }

    /// An owner starts, serves a block and ends. Returns false if another owner has the figures.
    fn run_owner(&self) -> bool {
        let has_taken = self.lease.take();
        if has_taken {
            self.serve();
            self.lease.leave();
        }
        has_taken
    }
}

/// Fails where `take` exchanges without `Acquire`, where it stores instead of exchanging, and where
/// `leave` stores without `Release`.
#[test]
fn owners_count_one_after_the_other() {
    loom::model(|| {
        let figures = Arc::new(Figures { lease: Lease::taken(), blocks: UnsafeCell::new(0) });
        let others = [(); 2].map(|()| {
            let figures = Arc::clone(&figures);
            thread::spawn(move || figures.run_owner())
        });
        figures.serve();
        figures.lease.leave();
        let taken = others.map(|other| u32::from(other.join().unwrap()));
        assert!(figures.lease.take(), "each owner has left it");
        // SAFETY: loom checks that nobody writes to it.
        let blocks = figures.blocks.with(|blocks| unsafe { *blocks });
        assert_eq!(blocks, 1 + taken[0] + taken[1]);
    });
}
