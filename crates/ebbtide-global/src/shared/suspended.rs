//! The suspended scope of an owner, which another thread may end while the owner is idle.
//!
//! A suspended scope keeps its chunks for the owner's next scope. If other threads free its blocks
//! and the owner never runs again, the chunks would never be given back. So they belong to the
//! thread that has the lease here: the owner while it uses the scope, or another thread that ends
//! the scope for the owner.
//!
//! `owner/persistent` calls it for its own scope, `owner/retire` to end that of another owner. Each
//! owner has one in its counters (`figures`).
//!
//! The models in `tests/loom_lease.rs` cover every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::{
    atomic::{AtomicU32, AtomicU64, Ordering},
    lease::Lease,
};

/// The chunks of a suspended scope, behind a lease. All accesses are relaxed, because the lease orders them. Values that are
/// read without the lease are hints.
#[derive(Debug, Default)]
pub(crate) struct Suspended {
    lease: Lease,
    /// The number of the scope's first chunk; 0 if there is no suspended scope.
    first: AtomicU32,
    /// The scope's last session.
    session: AtomicU64,
    /// The value of `session` when the last window of time ended.
    session_before: AtomicU64,
}

impl Suspended {
    /// Takes the lease for a scope that is about to persist. Returns false if another thread is
    /// still ending the previous scope.
    pub(crate) fn begin(&self) -> bool {
        self.lease.take()
    }

    /// Releases the lease after the scope has ended.
    pub(crate) fn ended(&self) {
        self.first.store(0, Ordering::Relaxed);
        self.lease.leave();
    }

    /// Suspends the scope: releases the lease, so that other threads may end the scope.
    pub(crate) fn leave(&self, first_chunk: u32, session: u64) {
        self.first.store(first_chunk, Ordering::Relaxed);
        self.session.store(session, Ordering::Relaxed);
        self.lease.leave();
    }

    /// Whether the scope had no session since this was called last. Called at the end of a window.
    pub(crate) fn is_idle(&self) -> bool {
        let session = self.session.load(Ordering::Relaxed);
        self.session_before.swap(session, Ordering::Relaxed) == session
    }

    /// Takes the lease of the suspended scope: its owner takes the scope back, or another thread is
    /// about to end it. Returns the number of its first chunk. `None` if the scope has ended, or if
    /// somebody else has the lease.
    pub(crate) fn take(&self) -> Option<u32> {
        // The load avoids writes where there is no scope.
        if self.first.load(Ordering::Relaxed) == 0 || !self.lease.take() {
            return None;
        }
        let first = self.first.load(Ordering::Relaxed);
        if first == 0 {
            self.lease.leave();
            return None;
        }
        Some(first)
    }
}
