//! The helper thread, which gives unused memory back while the program does nothing.
//!
//! Windows of time end when scopes and large blocks are served. A program that does neither would
//! keep what its last scopes left. So the end of a scope starts a thread if the arenas hold much
//! memory, or had to give much back at once because the thread was not running and no scope was open
//! where the memory was freed. It sleeps until the
//! window ends, ends it, and stops once little is held. It takes no lock of this crate and
//! allocates nothing through Rust. It is never started inside an allocator.
#![forbid(unsafe_code)]

use crate::{
    limits::{GRACE_MS, UNWATCHED},
    memory::{
        held::{self, WATCH},
        os,
    },
};
use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use std::thread_local;

/// Ends windows of time. An owner does, in a module above this one.
pub(crate) trait EndWindow {
    /// Ends the window if it is over, and gives back what was not used in it.
    fn end_window_if_due();
}

/// Starts the thread if much memory is held, or had to go back for want of the thread, unless it is
/// running or [`retain`](crate::retain) has set what pools keep. Must not be called inside an
/// allocator.
pub(crate) fn start_if_due<W: EndWindow>() {
    let is_due = held::BUDGET.held() > UNWATCHED || WATCH.is_wanted();
    if is_due && !held::is_retention_set() {
        start::<W>();
    }
}

#[cold]
fn start<W: EndWindow>() {
    let now = os::milliseconds();
    if !WATCH.begin(now, now + GRACE_MS) {
        return;
    }
    // A child has no helper thread, whatever its parent has announced.
    let is_known = IS_FORK_KNOWN.swap(true, Ordering::Relaxed) || os::call_in_children(forget);
    IS_STARTING.store(true, Ordering::Relaxed);
    if !is_known || !os::start_thread(run::<W>) {
        IS_STARTING.store(false, Ordering::Relaxed);
        WATCH.fail();
    }
}

/// Whether the thread was started and does not keep this library loaded yet. Relaxed: it publishes
/// nothing.
static IS_STARTING: AtomicBool = AtomicBool::new(false);

/// Waits until the thread that was started, if any, keeps this library loaded. Called at the end of
/// an owner: after that, the library may be unloaded. Gives up after a while, because the thread
/// may have been lost.
pub(crate) fn wait_for_start() {
    let is_starting = || IS_STARTING.load(Ordering::Relaxed);
    if !is_starting() {
        return;
    }
    let until = os::milliseconds() + GRACE_MS;
    while is_starting() && os::milliseconds() < until {
        std::thread::yield_now();
    }
}

thread_local! {
    /// On Linux, a registered destructor keeps the library with its code loaded until its thread
    /// ends.
    static LOADED: Loaded = const { Loaded };
}

struct Loaded;

impl Drop for Loaded {
    fn drop(&mut self) {}
}

/// Whether children are told to [`forget`] the helper thread. Relaxed: only the first caller of
/// `start` at a time gets as far as this.
static IS_FORK_KNOWN: AtomicBool = AtomicBool::new(false);

extern "C" fn forget() {
    IS_STARTING.store(false, Ordering::Relaxed);
    WATCH.forget();
}

/// The thread's function.
fn run<W: EndWindow>() {
    let _ = LOADED.try_with(|_| ());
    IS_STARTING.store(false, Ordering::Relaxed);
    let Some(mut until) = WATCH.announced() else { return };
    let mut is_idle = false;
    loop {
        let left = held::window_left(os::milliseconds());
        let next = os::milliseconds() + left + GRACE_MS;
        if !WATCH.renew(until, next) {
            return;
        }
        until = next;
        std::thread::sleep(Duration::from_millis(left));
        W::end_window_if_due();
        let holds_little = held::BUDGET.held() <= UNWATCHED;
        if is_idle && holds_little {
            WATCH.renew(until, 0);
            return;
        }
        is_idle = holds_little;
    }
}
