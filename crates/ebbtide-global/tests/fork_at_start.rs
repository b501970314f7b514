//! A program of its own, because it replaces `getrlimit` of the C library.
//!
//! Claim: if a process forks while other threads open their first scopes, the child runs to its
//! end, with scopes or without them.
//!
//! The first scope of a program reserves the range. In a child that was forked meanwhile, no thread
//! finishes the reservation. That moment is short, so one test stops a thread there; the other one
//! forks at random moments during the first scope.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use ebbtide_global::{Scoped, arena, report};
use ebbtide_patience::PATIENCE;
use std::{
    alloc::System,
    hint,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

/// Processes in which a first scope opens.
const PROCESSES: u32 = 100;

/// The exit codes of a child that found a range, and of one that found another thread reserving it.
const WITH_RANGE: i32 = 17;
const WITHOUT: i32 = 18;

fn work() -> usize {
    let all: Vec<String> = arena(|| (0..100).map(|n| n.to_string()).collect());
    all.iter().map(String::len).sum()
}

/// Runs `child` in another process, and returns its exit code; `None` if it was killed.
fn fork(child: impl FnOnce() -> i32) -> Option<i32> {
    let seconds = u32::try_from(PATIENCE.as_secs()).unwrap();
    // SAFETY: the child uses nothing that another thread could have locked, only the allocators:
    // glibc's supports this, and ours has no locks.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: the call has no conditions. The signal ends a child that hangs.
            unsafe { libc::alarm(seconds) };
            let code = child();
            // SAFETY: ends this process, without the destructors of the parent's.
            unsafe { libc::_exit(code) }
        }
        child => {
            assert!(child > 0);
            let mut status = 0;
            // SAFETY: the place for the status is valid.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
        }
    }
}

fn child() -> i32 {
    assert_eq!(work(), 190);
    assert_eq!(work(), 190);
    if report().is_active == Some(true) { WITH_RANGE } else { WITHOUT }
}

/// In a process without scopes: forks while two threads open their first ones. Returns how the
/// child ended.
fn fork_at_first_scopes(delay: u32) -> i32 {
    let (barrier, forked) = (Barrier::new(3), AtomicBool::new(false));
    thread::scope(|threads| {
        let first = || {
            barrier.wait();
            let sum = work();
            while !forked.load(Ordering::Relaxed) {
                assert_eq!(work(), sum);
            }
        };
        threads.spawn(first);
        threads.spawn(first);
        barrier.wait();
        for _ in 0..delay {
            hint::spin_loop();
        }
        let code = fork(child);
        forked.store(true, Ordering::Relaxed);
        code.unwrap_or(1)
    })
}

#[test]
fn a_child_that_was_forked_off_at_any_moment_of_a_first_scope_comes_to_its_end() {
    let mut with_range = 0;
    for process in 0..PROCESSES {
        let code = fork(|| fork_at_first_scopes(process * 20));
        assert!(matches!(code, Some(WITH_RANGE | WITHOUT)), "process {process}: {code:?}");
        with_range += u32::from(code == Some(WITH_RANGE));
    }
    assert!(with_range > 0 || cfg!(not(target_pointer_width = "64")));
    assert_eq!(report().scopes, 0, "every process began without a scope");
}

/// Stops the thread that reserves the range: before it does it asks for the limit of addresses.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod stopped {
    use super::{AtomicBool, Ordering, WITHOUT, child, fork, report, thread, work};

    /// Whether the next thread that asks should stop, whether it has stopped, and whether it may
    /// continue.
    static ARMED: AtomicBool = AtomicBool::new(false);
    static STOPPED: AtomicBool = AtomicBool::new(false);
    static FORKED: AtomicBool = AtomicBool::new(false);

    /// Works like the C library's function, but may take longer.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn getrlimit(
        resource: libc::c_uint,
        limit: *mut libc::rlimit,
    ) -> libc::c_int {
        if ARMED.swap(false, Ordering::Acquire) {
            STOPPED.store(true, Ordering::Release);
            wait(&FORKED);
        }
        let unchanged: *const libc::rlimit = std::ptr::null();
        // SAFETY: the caller says that the place for the limit is valid; the process is this one,
        // and its limits do not change.
        let result = unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, unchanged, limit) };
        if result == 0 { 0 } else { -1 }
    }

    fn wait(flag: &AtomicBool) {
        while !flag.load(Ordering::Acquire) {
            thread::yield_now();
        }
    }

    /// In a process without scopes: forks while one thread is stopped in its first scope, and
    /// another waits for it.
    fn fork_while_one_is_stopped() -> i32 {
        ARMED.store(true, Ordering::Release);
        let code = thread::scope(|threads| {
            threads.spawn(work);
            wait(&STOPPED);
            threads.spawn(work);
            let code = fork(child);
            FORKED.store(true, Ordering::Release);
            code
        });
        if code != Some(WITHOUT) {
            return code.unwrap_or(1);
        }
        // A thread that stopped waiting gets a range with its next scope.
        let scopes = report().scopes;
        work();
        if report().scopes > scopes { WITHOUT } else { 2 }
    }

    #[test]
    fn a_child_does_not_wait_for_a_thread_that_was_reserving_the_range() {
        for process in 0..20 {
            let code = fork(fork_while_one_is_stopped);
            assert_eq!(code, Some(WITHOUT), "process {process}");
        }
    }
}
