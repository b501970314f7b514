//! One-time initialisation with a bounded wait.
//!
//! `std::sync::Once` waits until the initialising thread is done. If the process forks during the
//! initialisation, the child would wait forever for a thread that does not exist there. So the wait
//! is bounded. On systems where processes fork, the bound is short.
//!
//! The model in `tests/loom_range.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicU8, Ordering};

const UNTRIED: u8 = 0;
const IN_PROGRESS: u8 = 1;
const READY: u8 = 2;
const UNAVAILABLE: u8 = 3;
/// A thread stopped waiting for the initialising one. If that thread is still running, the state
/// becomes `READY` or `UNAVAILABLE` later.
const ABANDONED: u8 = 4;

/// The number of times that a thread checks whether the initialising thread is done. On systems
/// where processes fork, this takes about a third of a second in all; initialising takes a few
/// microseconds. On other systems it takes at least half a minute, because there only a slow
/// machine can delay the initialising thread. Under Wine, initialising takes 0.1 seconds, and
/// several times as long on a slow machine.
const MAX_WAITS: u32 = if cfg!(loom) {
    1
} else if cfg!(unix) {
    400
} else {
    30_000
};

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

/// One-time initialisation; other threads wait for a bounded time.
#[derive(Debug)]
pub(crate) struct Once(AtomicU8);

/// The result of [`Once::prepare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Initialised. Everything that the initialising thread wrote is visible.
    Ready,
    /// Another thread has not finished initialising. Most likely this process was forked meanwhile.
    Busy,
    /// Initialising failed.
    Unavailable,
}

impl Once {
    new_atomic!(Once(AtomicU8::new(UNTRIED)));

    /// Calls `make` unless a thread has called it before. Returns how that call ended.
    pub(crate) fn prepare(&self, make: impl FnOnce() -> bool) -> Readiness {
        let (relaxed, acquire) = (Ordering::Relaxed, Ordering::Acquire);
        // Relaxed: the first thread reads nothing from other threads, and the others acquire by the
        // last exchange below.
        if self.0.compare_exchange(UNTRIED, IN_PROGRESS, relaxed, relaxed).is_ok() {
            let state = if make() { READY } else { UNAVAILABLE };
            // Release: what `make` wrote happens before `Ready` is returned to any thread. This
            // store also replaces `ABANDONED`, if another thread has stopped waiting.
            self.0.store(state, Ordering::Release);
        }
        for turn in 0..MAX_WAITS {
            // Relaxed: the exchange below reads the state again.
            if self.0.load(relaxed) != IN_PROGRESS {
                break;
            }
            wait(turn);
        }
        // Acquire on failure: pairs with the release of the initialising thread, whose final state
        // makes the exchange fail.
        match self.0.compare_exchange(IN_PROGRESS, ABANDONED, relaxed, acquire) {
            Err(READY) => Readiness::Ready,
            Err(UNAVAILABLE) => Readiness::Unavailable,
            _ => Readiness::Busy,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::{
        sync::{
            Barrier,
            mpsc::{RecvTimeoutError, channel},
        },
        thread,
        time::Duration,
    };

    /// The initialising thread needs a second and a half, or where processes fork as long as the
    /// other thread waits.
    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts a thread")]
    fn a_slow_initialisation_is_waited_for_unless_a_fork_may_have_ended_it() {
        let (once, started) = (Once::new(), Barrier::new(2));
        let (waited, initialise) = channel::<()>();
        thread::scope(|scope| {
            let (once, started) = (&once, &started);
            scope.spawn(move || {
                once.prepare(|| {
                    started.wait();
                    let limit = Duration::from_millis(if cfg!(unix) { 60_000 } else { 1_500 });
                    let stopped = initialise.recv_timeout(limit);
                    assert_eq!(stopped == Err(RecvTimeoutError::Timeout), !cfg!(unix));
                    true
                })
            });
            started.wait();
            let readiness = once.prepare(|| unreachable!("another thread initialises"));
            assert_eq!(readiness, if cfg!(unix) { Readiness::Busy } else { Readiness::Ready });
            drop(waited);
        });
        assert_eq!(once.prepare(|| unreachable!("initialised")), Readiness::Ready);
    }
}
