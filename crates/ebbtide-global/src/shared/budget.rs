//! The bytes that all threads hold, and the peak of their live bytes in the recent past.
//!
//! `memory/held` has one, and alone calls it.
//!
//! The model in `tests/loom_memory.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::{
    limits::{FORGOTTEN, WINDOW_MS},
    shared::atomic::{AtomicU64, AtomicUsize, Ordering},
};

/// The held bytes, the peaks of two windows, and the diverted bytes.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The bytes of all runs that may have memory behind them.
    held: AtomicUsize,
    /// The peak of the live bytes in the current window.
    peak: AtomicUsize,
    /// The peak of the window before.
    peak_before: AtomicUsize,
    /// When the current window began, in milliseconds.
    window_start: AtomicU64,
    /// The bytes that were diverted to the inner allocator. Those of earlier windows count less: see
    /// [`FORGOTTEN`].
    diverted: AtomicUsize,
}

impl Budget {
    new_atomic!(Budget {
        held: AtomicUsize::new(0),
        peak: AtomicUsize::new(0),
        peak_before: AtomicUsize::new(0),
        window_start: AtomicU64::new(0),
        diverted: AtomicUsize::new(0),
    });

    /// The bytes held.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// When the current window began, in milliseconds. No two windows have the same number.
    pub(crate) fn window(&self) -> u64 {
        self.window_start.load(Ordering::Relaxed)
    }

    /// Adds to the bytes held. Returns false, and changes nothing, if the sum would exceed `bound`.
    pub(crate) fn try_hold(&self, bytes: usize, bound: usize) -> bool {
        // Adds before it compares, so that two threads cannot both take the last bytes. Until the
        // sum is corrected, another thread may be refused; it may try again. Relaxed, as in
        // `shrink`: every change is a read-modify-write, and the count publishes no memory.
        let held = self.held.fetch_add(bytes, Ordering::Relaxed);
        let is_allowed = held.saturating_add(bytes) <= bound;
        if !is_allowed {
            self.shrink(bytes);
        }
        is_allowed
    }

    /// Subtracts from the bytes held.
    pub(crate) fn shrink(&self, bytes: usize) {
        let held = self.held.fetch_sub(bytes, Ordering::Relaxed);
        invariant!(held >= bytes, "only held bytes are given back");
    }

    /// Records the live bytes at the time `now`, in milliseconds. Returns true if that ended a
    /// window; if several threads call this at once, only one of them gets true.
    pub(crate) fn observe(&self, live: usize, now: u64) -> bool {
        // Relaxed, as for `window_start`: a maximum, and an exchange that one thread wins. Neither
        // publishes anything.
        self.peak.fetch_max(live, Ordering::Relaxed);
        let (relaxed, release) = (Ordering::Relaxed, Ordering::Release);
        let start = self.window_start.load(relaxed);
        // Saturating: another thread may have read a later time and begun a window already.
        let has_ended = now.saturating_sub(start) >= WINDOW_MS
            && self.window_start.compare_exchange(start, now, relaxed, relaxed).is_ok();
        // If nobody observed the live bytes for two windows, the recent past is over.
        let is_stale = now.saturating_sub(start) >= 2 * WINDOW_MS;
        if has_ended {
            // Capped, so that they are forgotten within a minute.
            let most = self.peak().saturating_mul(2);
            let forget = |diverted: usize| {
                let left = diverted.min(most);
                Some(left - left.div_ceil(FORGOTTEN))
            };
            #[allow(deprecated, reason = "the oldest supported compiler has no `try_update`")]
            let _ = self.diverted.fetch_update(relaxed, relaxed, forget);
            let mut peak = self.peak.load(relaxed);
            loop {
                // Stored in `peak_before` before it is replaced in `peak`, so that one of the two
                // fields has it at any time.
                self.peak_before.store(if is_stale { live } else { peak }, relaxed);
                // Release: pairs with the load in `peak`.
                match self.peak.compare_exchange_weak(peak, live, release, relaxed) {
                    Ok(_) => break,
                    Err(now) => peak = now,
                }
            }
        }
        has_ended
    }

    /// Adds `more` to the diverted bytes, then subtracts `less`, down to 0.
    pub(crate) fn divert(&self, more: usize, less: usize) {
        // Relaxed, like every access: the count publishes nothing.
        let change = |diverted: usize| Some(diverted.saturating_add(more).saturating_sub(less));
        #[allow(deprecated, reason = "the oldest supported compiler has no `try_update`")]
        let _ = self.diverted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// The bytes that were diverted in the recent past.
    pub(crate) fn diverted(&self) -> usize {
        self.diverted.load(Ordering::Relaxed)
    }

    /// The peak of the live bytes in the recent past.
    pub(crate) fn peak(&self) -> usize {
        // Acquire: a thread that reads the first value of this window also reads the peak of the
        // window before.
        let peak = self.peak.load(Ordering::Acquire);
        peak.max(self.peak_before.load(Ordering::Relaxed))
    }
}
