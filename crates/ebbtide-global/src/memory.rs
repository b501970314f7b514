//! How much memory the engine may hold.
//!
//! The engine *holds* the bytes of its runs that may have memory behind them: in scopes, in pinned chunks, in pools. What
//! it holds may grow up to a bound that follows the live bytes of the recent past:
//!
//! ```text
//! bound = peak + 3/8 peak + retained + 1 MiB for each owner       enforced here
//!       < 3/2 peak + retained + 4 MiB for each thread             promised to users
//! ```
//!
//! `peak` is the most live bytes that were seen in the current window of time and the one before. `retained` is 8 MiB
//! where the promise says 16, or what [`retain`](crate::retain) asked for. Beyond the bound the inner allocator serves.
//!
//! The bound is asked only where what is held would grow: when a scope needs a chunk and neither its thread nor the
//! shared pool has one with memory behind it. A program that has warmed up does not come here.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The length of a window, in milliseconds: the recent past is between one and two of them.
const WINDOW_MS: u64 = 1000;

/// Bytes held beyond the share of the peak, unless [`retain`](crate::retain) asked for more.
const RETAINED: usize = 8 << 20;

/// Bytes held for each owner beyond that.
const PER_OWNER: usize = 1 << 20;

/// What the promise adds to one and a half times the peak.
const PROMISED: usize = 16 << 20;
const PROMISED_PER_THREAD: usize = 4 << 20;

/// The bytes of all runs that may have memory behind them.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The bound, as of the last observation.
static BOUND: AtomicUsize = AtomicUsize::new(RETAINED);

/// The highest live bytes seen in this window, and in the one before.
static PEAK: AtomicUsize = AtomicUsize::new(0);
static PEAK_BEFORE: AtomicUsize = AtomicUsize::new(0);

/// When this window began.
static WINDOW: AtomicU64 = AtomicU64::new(0);

/// What [`retain`](crate::retain) was asked for; [`usize::MAX`] until it is called.
static RETAIN: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Sets what pools may keep.
pub(crate) fn set_retained(bytes: usize) {
    RETAIN.store(bytes.min(usize::MAX - 1), Ordering::Relaxed);
}

/// The most that pools may keep at any time, by the user's word; no limit but the bound where the user gave none.
#[inline]
pub(crate) fn most_pooled() -> usize {
    RETAIN.load(Ordering::Relaxed)
}

/// Bytes that pools keep though nobody needs them.
pub(crate) fn retained() -> usize {
    match RETAIN.load(Ordering::Relaxed) {
        usize::MAX => RETAINED,
        bytes => bytes,
    }
}

/// The bytes that the engine holds.
pub(crate) fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// Whether more than three quarters of what is allowed are held.
pub(crate) fn is_tight() -> bool {
    held() > BOUND.load(Ordering::Relaxed) / 4 * 3
}

/// By how much more is held than the bound allows.
pub(crate) fn excess() -> usize {
    held().saturating_sub(BOUND.load(Ordering::Relaxed))
}

/// Counts bytes that are about to get memory. False, and nothing has changed, where the bound does not allow it.
pub(crate) fn grow(bytes: usize) -> bool {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed);
    let is_allowed = held.saturating_add(bytes) <= BOUND.load(Ordering::Relaxed);
    if !is_allowed {
        HELD.fetch_sub(bytes, Ordering::Relaxed);
    }
    is_allowed
}

/// Counts bytes whose memory went back to the system.
pub(crate) fn shrink(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

/// Takes note of the live bytes at a time in milliseconds, and sets the bound by them. True where a window has ended.
pub(crate) fn observe(live: usize, owners: usize, now: u64) -> bool {
    PEAK.fetch_max(live, Ordering::Relaxed);
    let begun = WINDOW.load(Ordering::Relaxed);
    let has_ended = now.wrapping_sub(begun) >= WINDOW_MS
        && WINDOW.compare_exchange(begun, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if has_ended {
        PEAK_BEFORE.store(PEAK.swap(live, Ordering::Relaxed), Ordering::Relaxed);
    }
    let fixed = retained().max(RETAINED).saturating_add(PER_OWNER * owners);
    let peak = peak();
    BOUND.store((peak + peak / 8 * 3).saturating_add(fixed), Ordering::Relaxed);
    has_ended
}

/// The highest live bytes of the recent past.
pub(crate) fn peak() -> usize {
    PEAK.load(Ordering::Relaxed).max(PEAK_BEFORE.load(Ordering::Relaxed))
}

/// What users are promised that the engine holds at most, with so many owners.
pub(crate) fn promised(owners: usize) -> usize {
    let retained = match RETAIN.load(Ordering::Relaxed) {
        usize::MAX => PROMISED,
        bytes => bytes.max(PROMISED),
    };
    (peak() + peak() / 2).saturating_add(retained).saturating_add(PROMISED_PER_THREAD * owners)
}

const _: () = assert!(RETAINED <= PROMISED && PER_OWNER <= PROMISED_PER_THREAD);
