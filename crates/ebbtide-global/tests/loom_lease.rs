//! Claim: the figures of an owner have one writer at a time, and a later owner continues from the
//! last values of the one before.
//!
//! Model: `ci/loom.sh` runs it. The lease is the crate's own, with the atomics of loom. A cell of
//! loom represents the figures, so loom reports two accesses that nothing orders. The model names the
//! mutations for which it was seen to fail.

use crate::{
    loom_plain::{Plain, spawn},
    shared::lease::Lease,
};
use loom::sync::Arc;

struct Figures {
    lease: Lease,
    blocks: Plain<u32>,
}

impl Figures {
    /// Serves one block. The caller has the lease.
    fn serve(&self) {
        self.blocks.change(|blocks| *blocks += 1);
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
        let figures = Arc::new(Figures { lease: Lease::taken(), blocks: Plain::new(0) });
        let others = [(); 2].map(|()| spawn(&figures, move |figures| figures.run_owner()));
        figures.serve();
        figures.lease.leave();
        let taken = others.map(|other| u32::from(other.join().unwrap()));
        assert!(figures.lease.take(), "each owner has left it");
        assert_eq!(figures.blocks.get(), 1 + taken[0] + taken[1]);
    });
}
