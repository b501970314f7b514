//! A program of its own, because its global allocator counts bytes.
//!
//! Claim: a thread that first opens a scope of its arenas in a destructor, of a thread-local or of
//! a POSIX key, leaves no memory behind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod counted;

use counted::in_use;
use ebbtide::front_end::ThreadKey;
use ebbtide_capi::{ebb_scope, ebb_thread_close_, ebb_thread_open_};
use std::{
    cell::Cell,
    ffi::c_void,
    mem::MaybeUninit,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

static SCOPES: AtomicUsize = AtomicUsize::new(0);

fn open_and_close() {
    let mut scope = MaybeUninit::<ebb_scope>::uninit();
    // SAFETY: a variable.
    unsafe { ebb_thread_open_(scope.as_mut_ptr()) };
    // SAFETY: written by the call.
    let scope = unsafe { scope.assume_init() };
    assert!(!scope.words.chunk.is_null());
    let arena = scope.state.map_addr(|address| address & !15).cast();
    // SAFETY: the arena of an open scope, which is not used again.
    unsafe { ebb_thread_close_(arena) };
    SCOPES.fetch_add(1, Relaxed);
}

unsafe extern "C" fn at_exit(_: *mut c_void) {
    open_and_close();
    open_and_close();
}

/// A key whose destructor runs before that of the library's key: it is created first.
// SAFETY: the destructor uses no value.
static EARLY: ThreadKey = unsafe { ThreadKey::new(at_exit) };
/// A key whose destructor runs after that of the library's key.
// SAFETY: the destructor uses no value.
static LATE: ThreadKey = unsafe { ThreadKey::new(at_exit) };

struct AtExit(Cell<bool>);

impl Drop for AtExit {
    fn drop(&mut self) {
        open_and_close();
    }
}

thread_local! {
    static VARIABLE: AtExit = const { AtExit(Cell::new(false)) };
}

/// The actions of a thread before it ends, and the number of scopes that it opens.
type Case = (fn(), usize);

fn use_key(key: &'static ThreadKey) {
    // SAFETY: its destructor takes any value.
    assert!(unsafe { key.set(NonNull::<u8>::dangling().as_ptr().cast()) });
}

const CASES: [Case; 6] = [
    (|| use_key(&EARLY), 2),
    (|| use_key(&LATE), 2),
    (|| VARIABLE.with(|variable| variable.0.set(true)), 1),
    // The variable's destructor runs after that of the library's.
    (
        || {
            VARIABLE.with(|variable| variable.0.set(true));
            open_and_close();
        },
        2,
    ),
    (
        || {
            use_key(&EARLY);
            use_key(&LATE);
            open_and_close();
        },
        5,
    ),
    (
        || {
            use_key(&EARLY);
            use_key(&LATE);
            VARIABLE.with(|variable| variable.0.set(true));
        },
        5,
    ),
];

#[test]
fn scopes_of_destructors_leave_no_memory() {
    const THREADS: usize = 8;
    thread::spawn(|| use_key(&EARLY)).join().unwrap();
    thread::spawn(open_and_close).join().unwrap();
    thread::spawn(|| use_key(&LATE)).join().unwrap();
    for (number, (case, scopes)) in CASES.into_iter().enumerate() {
        let (before, opened) = (in_use(), SCOPES.load(Relaxed));
        for _ in 0..THREADS {
            thread::spawn(case).join().unwrap();
        }
        assert_eq!(SCOPES.load(Relaxed) - opened, scopes * THREADS, "case {number}");
        let left = in_use().saturating_sub(before);
        assert!(left < 32 << 10, "case {number}: {left} bytes");
    }
}
