//! The bound of the memory that the engine may hold.
//!
//! The engine *holds* the bytes of its runs that may have memory behind them: in scopes, in pinned
//! chunks, and in pools. The bound follows the live bytes of the recent past:
//!
//! ```text
//! bound = peak + 3/8 peak - diverted + retained + 1 MiB for each owner + reserve
//!       < 3/2 peak + retained + 4 MiB for each thread                      promised to users
//! ```
//!
//! `peak` is the peak of the live bytes in the current window of time and the one before.
//! `retained` is what [`retain`](crate::retain) set, but at least 6 MiB in the bound that is
//! enforced and at least 16 MiB in the promise. If the bound does not allow a request, the inner
//! allocator serves it.
//!
//! `reserve` is as large as the pinned chunks, but at most 6 MiB. It is for scopes that keep nothing:
//! scopes that keep blocks do not use it, so pinned chunks never fill the bound
//! (dev/decisions/0044-reserve.md).
//!
//! `diverted` is what the inner allocator served instead while the engine held more than its
//! present live bytes explain. Otherwise the
//! engine would hold the memory of earlier blocks, and the inner allocator that of the present
//! ones. Small blocks do not count: most of them are temporary, and diverted bytes count even after
//! they are freed, since the engine does not see those frees. A quarter of what the engine itself
//! served meanwhile is subtracted, and the first 10 MiB less the reserve, for which the promise
//! leaves room, do not count. `diverted` cancels no more than the part of the bound that follows the
//! peak. It is forgotten over a minute, so that the engine serves such a program again.
//!
//! The bound is checked only when the held bytes would grow: when a scope needs a chunk and neither
//! its owner's cache nor the shared pool has one with memory behind it. A program that has warmed
//! up does not check it at all.
#![forbid(unsafe_code)]

use crate::{
    figures,
    limits::{
        PER_OWNER, PROMISED, PROMISED_PER_THREAD, RESERVE, RETAINED, UNCOUNTED, UNWATCHED,
        WINDOW_MS,
    },
    memory::os,
    shared::{budget::Budget, watch::Watch},
    size::CHUNK,
};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The bytes held, and the peak of the live bytes.
pub(crate) static BUDGET: Budget = Budget::new();

/// The helper thread, which gives back what pools keep: see the module `helper`.
pub(crate) static WATCH: Watch = Watch::new();

/// What [`retain`](crate::retain) set; [`usize::MAX`] until it is called. Relaxed: it publishes no
/// other data.
static RETAIN: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Sets how many bytes pools keep: see [`retain`](crate::retain).
pub(crate) fn set_retained(bytes: usize) {
    RETAIN.store(bytes.min(usize::MAX - 1), Ordering::Relaxed);
}

/// The most bytes that [`retain`](crate::retain) allows pools to keep; [`usize::MAX`] until it is
/// called.
pub(crate) fn max_pooled() -> usize {
    RETAIN.load(Ordering::Relaxed)
}

/// Whether [`retain`](crate::retain) has set what pools keep.
pub(crate) fn is_retention_set() -> bool {
    max_pooled() != usize::MAX
}

/// Whether pools may keep this many bytes now: little, or what the helper thread will give back, which
/// runs, or which the end of the calling thread's scope will start if `has_scope`.
pub(crate) fn may_pool(bytes: usize, has_scope: bool) -> bool {
    if is_retention_set() {
        return bytes <= max_pooled();
    }
    let may = bytes <= UNWATCHED || has_scope || WATCH.is_on(os::milliseconds());
    if !may {
        WATCH.want();
    }
    may
}

/// The bytes that pools keep even if they are not used.
pub(crate) fn retained() -> usize {
    match RETAIN.load(Ordering::Relaxed) {
        usize::MAX => RETAINED,
        bytes => bytes,
    }
}

/// The most bytes that the engine may hold, with the reserve unless the scope `keeps` blocks. It is
/// not stored: of two threads that compute it at the same time, the one with the older figures could
/// be the last to store it.
fn bound(keeps: bool) -> usize {
    let reserve = pinned().min(RESERVE);
    let diverted = BUDGET.diverted().saturating_sub(UNCOUNTED - reserve);
    let for_kept = with_slack(BUDGET.peak()).saturating_sub(diverted).saturating_add(fixed());
    if keeps { for_kept } else { for_kept.saturating_add(reserve) }
}

/// The bytes of the pinned chunks.
fn pinned() -> usize {
    figures::pinned() * CHUNK
}

/// Whether a scope that keeps blocks may take another chunk.
pub(crate) fn may_pin() -> bool {
    pinned() + CHUNK <= bound(true)
}

/// The part of the bound that does not depend on the live bytes.
fn fixed() -> usize {
    retained().max(RETAINED).saturating_add(PER_OWNER * figures::owners())
}

/// What may be held for so many live bytes.
fn with_slack(live: usize) -> usize {
    live + live / 8 * 3
}

/// Whether the engine holds more than three quarters of the bound without the reserve.
pub(crate) fn is_tight() -> bool {
    BUDGET.held() > bound(true) / 4 * 3
}

/// Whether holding this many more bytes would stay within the bound.
pub(crate) fn has_room(bytes: usize, keeps: bool) -> bool {
    BUDGET.held().saturating_add(bytes) <= bound(keeps)
}

/// The bytes that must go back to the system before `more` may be held.
pub(crate) fn lacking(more: usize, keeps: bool) -> usize {
    BUDGET.held().saturating_add(more).saturating_sub(bound(keeps))
}

/// The bytes held beyond the bound.
pub(crate) fn excess(keeps: bool) -> usize {
    lacking(0, keeps)
}

/// Adds to the bytes held. Returns false, and changes nothing, if the bound does not allow it.
pub(crate) fn try_hold(bytes: usize, keeps: bool) -> bool {
    BUDGET.try_hold(bytes, bound(keeps))
}

/// Records that the bound refused requests of `refused` bytes, which the inner allocator served,
/// while the engine served `served` bytes.
pub(crate) fn refused(refused: usize, served: usize) {
    let holds_waste = BUDGET.held() > with_slack(figures::live_bytes()).saturating_add(fixed());
    let let_pass = served / 4;
    if holds_waste || let_pass > refused {
        BUDGET.divert(refused, let_pass);
    }
}

/// Records the live bytes at the time `now`, in milliseconds. Returns true if that ended a window.
pub(crate) fn observe(live: usize, now: u64) -> bool {
    BUDGET.observe(live, now)
}

/// The milliseconds from the time `now` to the end of the current window.
pub(crate) fn window_left(now: u64) -> u64 {
    (BUDGET.window() + WINDOW_MS).saturating_sub(now).clamp(1, WINDOW_MS)
}

/// The most bytes that the engine holds with this many owners, as promised to users.
pub(crate) fn promised(owners: usize) -> usize {
    let retained = match RETAIN.load(Ordering::Relaxed) {
        usize::MAX => PROMISED,
        bytes => bytes.max(PROMISED),
    };
    (BUDGET.peak() + BUDGET.peak() / 2)
        .saturating_add(retained)
        .saturating_add(PROMISED_PER_THREAD * owners)
}

const _: () = assert!(RETAINED + RESERVE <= PROMISED && PER_OWNER <= PROMISED_PER_THREAD);
