//! Claim: a thread that opens its first scope in the destructor of a POSIX key ends like any other:
//! it leaves nothing behind and no longer counts as running.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use ebbtide_global::{arena, report};
use std::{
    ffi::c_void,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

static SCOPES: AtomicUsize = AtomicUsize::new(0);

fn work() {
    let kept = arena(|| (0..100).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!(kept[99], "99");
    SCOPES.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn at_exit(_: *mut c_void) {
    work();
    work();
}

fn new_key() -> libc::pthread_key_t {
    let mut key = 0;
    // SAFETY: a variable; the function uses no value.
    assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(at_exit)) }, 0);
    key
}

fn set(key: libc::pthread_key_t) {
    // SAFETY: the key's function uses no value.
    let set = unsafe { libc::pthread_setspecific(key, NonNull::<u8>::dangling().as_ptr().cast()) };
    assert_eq!(set, 0);
}

#[test]
fn threads_that_open_their_first_scope_in_a_destructor_leave_nothing() {
    alone!();
    const THREADS: usize = if cfg!(miri) { 3 } else { 500 };
    let early = new_key();
    thread::spawn(work).join().unwrap();
    // Its destructor runs after that of the library's key, which was created meanwhile.
    let late = new_key();
    for keys in [vec![early], vec![late], vec![early, late]] {
        let (before, scopes) = (report(), SCOPES.load(Ordering::Relaxed));
        for _ in 0..THREADS {
            let keys = keys.clone();
            thread::spawn(move || keys.into_iter().for_each(set)).join().unwrap();
        }
        let opened = SCOPES.load(Ordering::Relaxed) - scopes;
        assert_eq!(opened, 2 * THREADS * keys.len());
        let after = report();
        let (most, bound) = (before.held + (1 << 20), before.bound + (8 << 20));
        assert!(after.held <= most, "{} {}", before.held, after.held);
        assert!(after.bound <= bound, "{} {}", before.bound, after.bound);
        assert!(after.scopes >= before.scopes + THREADS as u64);
    }
}
