//! Whether a helper thread watches over the memory that pools keep.
//!
//! Pools may keep much memory only if somebody gives it back after the load has gone. The helper
//! thread announces until when it will look again. After that time it does not count as running: it
//! may have been lost in a fork, or the machine may be too busy to run it.
//!
//! The model in `tests/loom_watch.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};

/// Until when the helper thread is running, in milliseconds; [`OFF`] if none can be started.
///
/// Relaxed, like every access: the time publishes nothing.
#[derive(Debug)]
pub(crate) struct Watch(AtomicU64);

/// No helper thread can be started.
const OFF: u64 = u64::MAX;

impl Watch {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Watch(AtomicU64::new(0))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Watch(AtomicU64::new(0))
    }

    /// Whether the helper thread is running at the time `now`.
    pub(crate) fn is_on(&self, now: u64) -> bool {
        let until = self.0.load(Ordering::Relaxed);
        until != OFF && now < until
    }

    /// Announces a helper thread until the time `until`. Returns whether the caller must start it:
    /// false if it is running, if another thread starts it, or if none can be started.
    pub(crate) fn begin(&self, now: u64, until: u64) -> bool {
        let before = self.0.load(Ordering::Relaxed);
        let relaxed = Ordering::Relaxed;
        now >= before && self.0.compare_exchange(before, until, relaxed, relaxed).is_ok()
    }

    /// When the helper thread that was started a moment ago ends, unless it renews that time. `None`
    /// if that was long ago.
    pub(crate) fn end(&self, now: u64) -> Option<u64> {
        let until = self.0.load(Ordering::Relaxed);
        self.is_on(now).then_some(until)
    }

    /// Announces that the helper thread, which runs until `before`, looks again before `until`.
    /// Returns false if it must end, because another one was started meanwhile.
    pub(crate) fn renew(&self, before: u64, until: u64) -> bool {
        let relaxed = Ordering::Relaxed;
        self.0.compare_exchange(before, until, relaxed, relaxed).is_ok()
    }

    /// Records that this process has no helper thread.
    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Records that a helper thread could not be started.
    pub(crate) fn fail(&self) {
        self.0.store(OFF, Ordering::Relaxed);
    }
}
