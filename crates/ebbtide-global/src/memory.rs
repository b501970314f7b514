//! How much memory the engine may hold.
//!
//! The engine *holds* the bytes of its runs that may have memory behind them: in scopes, in pinned
//! chunks, in pools. What it holds may grow up to a bound that follows the live bytes of the recent
//! past:
//!
//! ```text
//! bound = peak + 3/8 peak + retained + 1 MiB for each owner       enforced here
//!       < 3/2 peak + retained + 4 MiB for each thread             promised to users
//! ```
//!
//! `peak` is the most live bytes that were seen in the current window of time and the one before.
//! `retained` is 6 MiB where the promise says 16, or what [`retain`](crate::retain) asked for.
//! Beyond the bound the inner allocator serves.
//!
//! The bound is asked only where what is held would grow: when a scope needs a chunk and neither
//! its thread nor the shared pool has one with memory behind it. A program that has warmed up does
//! not come here.
#![forbid(unsafe_code)]

use crate::{budget::Budget, figures};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes held beyond the share of the peak, unless [`retain`](crate::retain) asked for more.
const RETAINED: usize = 6 << 20;

/// Bytes held for each owner beyond that.
const PER_OWNER: usize = 1 << 20;

/// What the promise adds to one and a half times the peak.
const PROMISED: usize = 16 << 20;
const PROMISED_PER_THREAD: usize = 4 << 20;

static BUDGET: Budget = Budget::new();

/// What [`retain`](crate::retain) was asked for; [`usize::MAX`] until it is called. Relaxed: a
/// number by itself.
static RETAIN: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Sets what pools may keep.
pub(crate) fn set_retained(bytes: usize) {
    RETAIN.store(bytes.min(usize::MAX - 1), Ordering::Relaxed);
}

/// The most that pools may keep at any time, by the user's word; no limit but the bound where the
/// user gave none.
#[inline]
pub(crate) fn max_pooled() -> usize {
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
    BUDGET.held()
}

/// The most bytes that the engine may hold. Computed whenever it is asked for: of two threads that
/// each kept one, the one that knows less could be the last.
fn bound() -> usize {
    let fixed = retained().max(RETAINED).saturating_add(PER_OWNER * figures::owners());
    let peak = peak();
    (peak + peak / 8 * 3).saturating_add(fixed)
}

/// Whether more than three quarters of what is allowed are held.
pub(crate) fn is_tight() -> bool {
    held() > bound() / 4 * 3
}

/// By how much more is held than the bound allows.
pub(crate) fn excess() -> usize {
    held().saturating_sub(bound())
}

/// Counts bytes that are about to get memory. False, and nothing has changed, where the bound does
/// not allow it.
pub(crate) fn grow(bytes: usize) -> bool {
    BUDGET.grow(bytes, bound())
}

/// Counts bytes whose memory went back to the system.
pub(crate) fn shrink(bytes: usize) {
    BUDGET.shrink(bytes);
}

/// Takes note of the live bytes at a time in milliseconds. True where a window has ended.
pub(crate) fn observe(live: usize, now: u64) -> bool {
    BUDGET.observe(live, now)
}

/// The highest live bytes of the recent past.
pub(crate) fn peak() -> usize {
    BUDGET.peak()
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
