//! The limit of what is kept.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The most bytes that may be kept for all threads; 0 if threads keep nothing either. Relaxed: it
/// publishes nothing. At first 0 under Miri and sanitizers, which then see each block of a dropped arena
/// go back to the heap.
static LIMIT: AtomicUsize =
    AtomicUsize::new(if cfg!(any(miri, ebbtide_sanitized)) { 0 } else { usize::MAX });

#[inline]
pub(super) fn get() -> usize {
    LIMIT.load(Relaxed)
}

pub(super) fn set(bytes: usize) {
    LIMIT.store(bytes, Relaxed);
}

/// Whether anything may be kept.
#[inline]
pub(super) fn is_on() -> bool {
    get() > 0
}
