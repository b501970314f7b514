//! A program of its own, because its global allocator counts bytes.
//!
//! Claim: a thread that first opens a default scope in a destructor of a thread-local or of a POSIX
//! key leaves no memory behind.

#![cfg(all(feature = "std", target_os = "linux"))]
#![allow(clippy::unwrap_used)]

use ebbtide::{Arena, front_end::ThreadKey, local};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    ffi::c_void,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};

static BYTES: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: forwards to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Opens scopes that are nested, of a new size, and of an arena that was trimmed.
fn scopes() {
    ebbtide::scope(|s| {
        s.alloc(1);
        ebbtide::scope(|t| t.alloc_layout(Layout::new::<[u8; 100_000]>()).addr());
    });
    local::set_default_capacity(1 << 10).unwrap();
    ebbtide::scope(|s| *s.alloc(3));
    local::trim();
    ebbtide::scope(|s| *s.alloc(4));
    CALLS.fetch_add(1, SeqCst);
}

unsafe extern "C" fn at_exit(_: *mut c_void) {
    scopes();
}

/// Its destructor runs before that of the library's key, because it is created first.
// SAFETY: the destructor uses no value.
static EARLY: ThreadKey = unsafe { ThreadKey::new(at_exit) };
/// Its destructor runs after that of the library's key.
// SAFETY: the destructor uses no value.
static LATE: ThreadKey = unsafe { ThreadKey::new(at_exit) };

fn use_key(key: &'static ThreadKey) {
    // SAFETY: its destructor takes any value.
    assert!(unsafe { key.set(NonNull::<u8>::dangling().as_ptr().cast()) });
}

struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        scopes();
    }
}

thread_local! {
    static VARIABLE: AtExit = const { AtExit };
}

fn use_both_keys() {
    use_key(&EARLY);
    use_key(&LATE);
}

/// What threads do before they end, and how often they call `scopes`.
const CASES: [(fn(), usize); 7] = [
    // The library is told of the end of the thread, but not for default scopes.
    (
        || {
            VARIABLE.with(|_| ());
            drop(Arena::with_capacity(1000));
        },
        1,
    ),
    (|| use_key(&EARLY), 1),
    (|| use_key(&LATE), 1),
    (use_both_keys, 2),
    (
        || {
            use_both_keys();
            scopes();
        },
        3,
    ),
    (
        || {
            use_both_keys();
            VARIABLE.with(|_| ());
        },
        3,
    ),
    // The variable's destructor runs after the library's.
    (
        || {
            use_both_keys();
            VARIABLE.with(|_| ());
            scopes();
        },
        4,
    ),
];

#[test]
fn default_scopes_of_destructors_leave_no_memory() {
    const THREADS: usize = if cfg!(miri) { 2 } else { 50 };
    // Creates the keys in their order.
    thread::spawn(|| use_key(&EARLY)).join().unwrap();
    thread::spawn(scopes).join().unwrap();
    thread::spawn(|| use_key(&LATE)).join().unwrap();
    for (number, (case, calls)) in CASES.into_iter().enumerate() {
        let leaves_no_memory = || {
            let (before, called) = (BYTES.load(SeqCst), CALLS.load(SeqCst));
            for _ in 0..THREADS {
                thread::spawn(case).join().unwrap();
            }
            assert_eq!(CALLS.load(SeqCst) - called, calls * THREADS, "case {number}");
            BYTES.load(SeqCst) == before
        };
        // What threads leave, they leave each time; the test harness allocates a few times, at any
        // moment.
        assert!((0..10).any(|_| leaves_no_memory()), "case {number}");
    }
}
