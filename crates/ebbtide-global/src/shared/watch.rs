//! Whether a helper thread watches over the memory that pools keep.
//!
//! Pools may keep much memory only if somebody gives it back after the load has gone. The helper
//! thread announces until when it will look again. After that time it does not count as running: it
//! may have been lost in a fork, or the machine may be too busy to run it. If it runs again after all
//! and no other was started meanwhile, it goes on.
//!
//! `memory/held` has one, and asks it; `memory/helper` writes it.
//!
//! The model in `tests/loom_watch.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicBool, AtomicU64, Ordering};

/// Until when the helper thread counts as running. All accesses are relaxed, because neither field
/// publishes anything.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Until when the helper thread is running, in milliseconds; 0 if there is none, [`OFF`] if none
    /// can be started.
    until: AtomicU64,
    /// Whether memory went back to the system because there was no helper thread.
    is_wanted: AtomicBool,
}

/// No helper thread can be started.
const OFF: u64 = u64::MAX;

impl Watch {
    new_atomic!(Watch { until: AtomicU64::new(0), is_wanted: AtomicBool::new(false) });

    /// Records that memory went back to the system because there was no helper thread.
    pub(crate) fn want(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Whether [`want`](Watch::want) was called since a helper thread was started last.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    /// Whether the helper thread is running at the time `now`.
    pub(crate) fn is_on(&self, now: u64) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        until != OFF && now < until
    }

    /// Announces a helper thread until the time `until`. Returns whether the caller must start it:
    /// false if it is running, if another thread starts it, or if none can be started.
    pub(crate) fn begin(&self, now: u64, until: u64) -> bool {
        let before = self.until.load(Ordering::Relaxed);
        let relaxed = Ordering::Relaxed;
        let begins =
            now >= before && self.until.compare_exchange(before, until, relaxed, relaxed).is_ok();
        if begins {
            self.is_wanted.store(false, relaxed);
        }
        begins
    }

    /// Until when a helper thread was announced, for the thread that has just started, however late.
    /// `None` if none is.
    pub(crate) fn announced(&self) -> Option<u64> {
        let until = self.until.load(Ordering::Relaxed);
        (until != 0 && until != OFF).then_some(until)
    }

    /// Announces that the helper thread, which runs until `before`, looks again before `until`.
    /// Returns false if it must end, because another one was started meanwhile.
    pub(crate) fn renew(&self, before: u64, until: u64) -> bool {
        let relaxed = Ordering::Relaxed;
        self.until.compare_exchange(before, until, relaxed, relaxed).is_ok()
    }

    /// Records that this process has no helper thread.
    pub(crate) fn forget(&self) {
        self.until.store(0, Ordering::Relaxed);
    }

    /// Records that a helper thread could not be started.
    pub(crate) fn fail(&self) {
        self.until.store(OFF, Ordering::Relaxed);
    }
}
