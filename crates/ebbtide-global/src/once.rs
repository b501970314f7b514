//! Something that is made once, by the thread that comes first, and that no thread waits for
//! without end.
//!
//! `std::sync::Once` waits as long as it takes. After a `fork` while another thread was at work, it
//! would wait in the child for a thread that does not exist there.
//!
//! `tests/loom_range.rs` tries every interleaving of what is here.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU8, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU8, Ordering};

const UNTRIED: u8 = 0;
const IN_PROGRESS: u8 = 1;
const READY: u8 = 2;
const UNAVAILABLE: u8 = 3;
/// A thread has waited in vain for another one. If that one is still at work, the state becomes
/// `READY` or `UNAVAILABLE` yet.
const ABANDONED: u8 = 4;

/// How often a thread waits for the one that is at work. That takes some microseconds, if the
/// thread runs: a third of a second in all.
const MAX_WAITS: u32 = if cfg!(loom) { 1 } else { 400 };

#[cfg(loom)]
fn wait(_: u32) {
    loom::thread::yield_now();
}

#[cfg(not(loom))]
fn wait(turn: u32) {
    if turn < 100 {
        std::thread::yield_now();
    } else {
        std::thread::sleep(core::time::Duration::from_millis(1));
    }
}

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Once(AtomicU8);

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It is made, and everything about it has happened before.
    Ready,
    /// Another thread was about to make it, and has not come to an end: most likely this process
    /// was forked off meanwhile.
    Busy,
    /// It cannot be made.
    Unavailable,
}

impl Once {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Once(AtomicU8::new(UNTRIED))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Once(AtomicU8::new(UNTRIED))
    }

    /// Calls `make` if no thread has called it yet, and tells how it ended.
    pub(crate) fn prepare(&self, make: impl FnOnce() -> bool) -> Readiness {
        let (relaxed, acquire) = (Ordering::Relaxed, Ordering::Acquire);
        // Relaxed: the first thread relies on nobody, and for the others the last exchange below
        // acquires.
        if self.0.compare_exchange(UNTRIED, IN_PROGRESS, relaxed, relaxed).is_ok() {
            let state = if make() { READY } else { UNAVAILABLE };
            // Release: what `make` wrote has happened before for whoever is told `Ready`. A plain
            // store, which also takes back that others had given up.
            self.0.store(state, Ordering::Release);
        }
        for turn in 0..MAX_WAITS {
            // Relaxed: the exchange below looks again.
            if self.0.load(relaxed) != IN_PROGRESS {
                break;
            }
            wait(turn);
        }
        // Acquire: pairs with the release of the thread that made it. Here the exchange fails on
        // the state that it finds.
        match self.0.compare_exchange(IN_PROGRESS, ABANDONED, relaxed, acquire) {
            Err(READY) => Readiness::Ready,
            Err(UNAVAILABLE) => Readiness::Unavailable,
            _ => Readiness::Busy,
        }
    }
}
