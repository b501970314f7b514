//! The bytes that are held, and the live bytes of the recent past, as all threads count them.
//!
//! `tests/loom_memory.rs` tries every interleaving of what is here.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The length of a window, in milliseconds: the recent past is between one and two of them.
pub(crate) const WINDOW_MS: u64 = 1000;

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The bytes of all runs that may have memory behind them.
    held: AtomicUsize,
    /// The highest live bytes seen in this window, and in the one before.
    peak: AtomicUsize,
    peak_before: AtomicUsize,
    /// When this window began.
    window: AtomicU64,
}

impl Budget {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Budget {
            held: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            peak_before: AtomicUsize::new(0),
            window: AtomicU64::new(0),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Budget {
            held: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            peak_before: AtomicUsize::new(0),
            window: AtomicU64::new(0),
        }
    }

    /// The bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Counts bytes that are about to be held. False, and nothing has changed, where that would be
    /// more than `bound` in all.
    pub(crate) fn grow(&self, bytes: usize, bound: usize) -> bool {
        // Counted before it is compared, so that two threads cannot both have what is left.
        // Relaxed, as in `shrink`: every change is a read-modify-write, and the bytes themselves
        // pass between threads by other means. Another thread may be refused for bytes that are
        // taken back here; it asks again.
        let held = self.held.fetch_add(bytes, Ordering::Relaxed);
        let is_allowed = held.saturating_add(bytes) <= bound;
        if !is_allowed {
            self.shrink(bytes);
        }
        is_allowed
    }

    /// Counts bytes that are held no longer.
    pub(crate) fn shrink(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes note of the live bytes at a time in milliseconds. True where a window has ended: for
    /// one of the threads that see it.
    pub(crate) fn observe(&self, live: usize, now: u64) -> bool {
        self.peak.fetch_max(live, Ordering::Relaxed);
        let (relaxed, release) = (Ordering::Relaxed, Ordering::Release);
        let begun = self.window.load(relaxed);
        // Saturating: another thread that read the clock later may have begun a window already.
        let has_ended = now.saturating_sub(begun) >= WINDOW_MS
            && self.window.compare_exchange(begun, now, relaxed, relaxed).is_ok();
        if has_ended {
            let mut peak = self.peak.load(relaxed);
            loop {
                // First there, then gone from here, so that it can be seen in one of them at any
                // time.
                self.peak_before.store(peak, relaxed);
                // Release: pairs with the load in `peak`.
                match self.peak.compare_exchange_weak(peak, live, release, relaxed) {
                    Ok(_) => break,
                    Err(now) => peak = now,
                }
            }
        }
        has_ended
    }

    /// The highest live bytes of the recent past.
    pub(crate) fn peak(&self) -> usize {
        // Acquire: whoever reads what this window began with reads the peak of the window before,
        // too.
        let peak = self.peak.load(Ordering::Acquire);
        peak.max(self.peak_before.load(Ordering::Relaxed))
    }
}
