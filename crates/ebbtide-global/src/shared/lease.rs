//! A try-lock around plain data: a flag that one thread at a time takes.
//!
//! No thread waits for it. A thread that finds it taken continues without the data. So the child of
//! a `fork` can use a lease, no matter what other threads were doing at the time of the fork.
//!
//! `figures` has one in each owner's counters.
//!
//! The model in `tests/loom_lease.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicBool, Ordering};

/// A flag that one thread at a time takes, without waiting. By default nobody has taken it.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    is_taken: AtomicBool,
}

impl Lease {
    /// A lease that the caller has taken.
    pub(crate) fn taken() -> Self {
        Lease { is_taken: AtomicBool::new(true) }
    }

    /// Takes the lease. Returns false if it is taken already.
    pub(crate) fn take(&self) -> bool {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        // The load avoids writes to leases that are taken. Acquire: pairs with the release in
        // `leave`.
        !self.is_taken.load(relaxed)
            && self.is_taken.compare_exchange(false, true, acquire, relaxed).is_ok()
    }

    /// Releases the lease, which the caller has taken. The next thread that takes it sees
    /// everything that the caller has written.
    pub(crate) fn leave(&self) {
        invariant!(self.is_taken.load(Ordering::Relaxed), "only a taken lease is released");
        // Release: see `take`.
        self.is_taken.store(false, Ordering::Release);
    }
}
