//! The state of the process, behind its lock, from the beginning to the end, and in children.

use super::{
    local::{Busy, Due, local},
    mode::{COPIED, OFF, ON, make_owner, mark_owner, mode, set_mode},
    state::State,
};
use crate::sys;
use core::{
    cell::UnsafeCell,
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};
use std::{env, path::Path};

/// The variable with the folder for records.
pub const FOLDER: &str = "EBBTIDE_ADVISE_FOLDER";

/// So many children of `fork` are recorded, and of those of each child as many as are left of it: each
/// takes a file.
const MOST_CHILDREN: u64 = 256;

struct Shared(UnsafeCell<Option<State>>);

// SAFETY: only the thread that has the lock accesses it (S1).
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(None));
/// The address of the words of the thread that has the lock; 0 if none has it.
static HOLDER: AtomicUsize = AtomicUsize::new(0);

fn own_address() -> usize {
    ptr::from_ref(local()).addr()
}

/// Whether this thread has the lock.
fn is_holder() -> bool {
    HOLDER.load(Ordering::Relaxed) == own_address()
}

fn lock() {
    let own = own_address();
    while HOLDER.compare_exchange_weak(0, own, Ordering::Acquire, Ordering::Relaxed).is_err() {
        // SAFETY: has no preconditions.
        unsafe { sys::sched_yield() };
    }
}

fn unlock() {
    HOLDER.store(0, Ordering::Release);
}

/// Runs a closure with the state, if blocks are recorded, and if no signal has interrupted another such
/// closure of this thread. The closure takes no lock but those of the C library's allocator.
pub(crate) fn with<R>(f: impl FnOnce(&mut State) -> R) -> Option<R> {
    // Other libraries' functions around `fork` run with the lock, and use the allocator.
    let is_forking = local().is_forking.get();
    if !is_forking {
        if is_holder() {
            return None;
        }
        lock();
    }
    // SAFETY: this thread has the lock, and no closure comes back here (S1).
    let state = unsafe { &mut *STATE.0.get() };
    let result = state.as_mut().map(f);
    if !is_forking {
        unlock();
    }
    result
}

/// Begins a record, if the environment names a folder. Called once, when the library is loaded.
pub(crate) fn begin() {
    let local = local();
    let Some(_busy) = Busy::enter(local) else { return };
    let state = env::var_os(FOLDER).and_then(|folder| State::new(Path::new(&folder)));
    make_owner();
    sys::find_unwinding();
    let mode = if state.is_some() { ON } else { OFF };
    lock();
    // SAFETY: this thread has the lock.
    unsafe { *STATE.0.get() = state };
    unlock();
    // Last, because a library that was loaded before may have begun threads.
    set_mode(mode);
    // SAFETY: the three functions are sound in every thread that forks.
    unsafe { sys::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
}

/// Ends the record, where the process ends by a return or by `exit`.
pub(crate) fn end() {
    let local = local();
    let Some(busy) = Busy::enter(local) else { return };
    if mode() != ON {
        return;
    }
    with(|state| {
        state.journal.end(local.thread.get(), busy.since_latest());
        state.journal.stamp_processor();
    });
}

extern "C" fn before_fork() {
    // The handler of a signal may fork, also while this thread records.
    if is_holder() {
        return;
    }
    lock();
    local().is_forking.set(true);
    with(|state| {
        state.forks += 1;
        let is_on = matches!(mode(), ON | COPIED);
        state.is_followed = is_on && state.forks <= MOST_CHILDREN && sys::can_unwind_after_fork();
    });
}

/// The thread has the lock, in the parent and in the child, if it forks outside of a closure with the state.
fn end_fork() {
    local().is_forking.set(false);
    unlock();
}

extern "C" fn after_fork() {
    if !local().is_forking.get() {
        return;
    }
    if mode() == ON {
        with(|state| state.journal.forks(state.is_followed));
    }
    end_fork();
}

/// The child has the file of its parent, and records nothing before it has its own (S3). That of a child
/// which becomes another program would be empty.
extern "C" fn in_child() {
    if !local().is_forking.get() {
        return set_mode(OFF);
    }
    let is_followed = with(|state| state.is_followed) == Some(true);
    if is_followed {
        mark_owner();
    }
    set_mode(if is_followed { COPIED } else { OFF });
    // Of the threads, only this one is here, and has recorded nothing yet.
    let local = local();
    local.thread.set(0);
    local.due.set(Due::Birth);
    local.countdown.set(0);
    local.times_free.set(false);
    local.high.set(0);
    end_fork();
}

/// Opens the record of a child. Returns what is recorded from then on.
pub(crate) fn follow() -> u8 {
    let followed = with(|state| {
        // Not if another thread was faster.
        if mode() == COPIED {
            set_mode(if state.follow().is_some() { ON } else { OFF });
        }
    });
    followed.map_or(OFF, |()| mode())
}
