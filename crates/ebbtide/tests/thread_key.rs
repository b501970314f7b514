//! Claims: a `ThreadKey` passes each thread's value to its function once, when the thread ends; and
//! a deleted one leaves its place to others, of which a process has about a thousand.

#![cfg(all(feature = "std", target_os = "linux"))]

use ebbtide::front_end::ThreadKey;
use ebbtide_patience::eventually;
use std::{
    ffi::c_void,
    ptr,
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// Counts the ends of threads that have this variable as their value.
unsafe extern "C" fn count(value: *mut c_void) {
    // SAFETY: the tests set references to such variables, which are static.
    unsafe { &*value.cast::<AtomicUsize>() }.fetch_add(1, Relaxed);
}

fn set(key: &ThreadKey, value: Option<&'static AtomicUsize>) -> bool {
    let value = value.map_or(ptr::null_mut(), |value| ptr::from_ref(value).cast_mut().cast());
    // SAFETY: null, or a static variable of the type that `count` takes.
    unsafe { key.set(value) }
}

#[test]
fn a_value_that_is_still_set_is_passed_once() {
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: its values are set by `set`.
    static KEY: ThreadKey = unsafe { ThreadKey::new(count) };
    let first = Barrier::new(4);
    thread::scope(|threads| {
        for number in 0..4 {
            let first = &first;
            threads.spawn(move || {
                first.wait(); // all create the key
                assert!(set(&KEY, Some(&ENDED)) && set(&KEY, Some(&ENDED)));
                assert!(number > 0 || set(&KEY, None));
            });
        }
    });
    // A scope waits for the closures, not for the ends of their threads.
    thread::spawn(|| assert!(set(&KEY, Some(&ENDED)))).join().unwrap();
    eventually(|| ENDED.load(Relaxed) == 4);
    assert_eq!(ENDED.load(Relaxed), 4);
}

#[test]
fn deleted_keys_leave_their_place_to_others() {
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    thread::spawn(|| {
        for _ in 0..5000 {
            // SAFETY: its values are set by `set`.
            let key = unsafe { ThreadKey::new(count) };
            assert!(set(&key, Some(&ENDED)));
            key.delete();
            assert!(!set(&key, Some(&ENDED)));
        }
    })
    .join()
    .unwrap();
    assert_eq!(ENDED.load(Relaxed), 0);
}
