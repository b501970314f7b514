//! Claim: an epoch-based garbage collector that was first used inside a scope, and frees blocks
//! late and on any thread, works as before.

use crossbeam_epoch::{self as epoch, Atomic, Owned};
use ebbtide_global::arena;
use std::{sync::atomic::Ordering, thread};

#[test]
fn garbage_is_freed_late_and_elsewhere() {
    alone!();
    let shared: Atomic<Vec<String>> = arena(|| Atomic::new(vec!["0".into()]));
    thread::scope(|threads| {
        for number in 0..3 {
            let shared = &shared;
            threads.spawn(move || {
                for round in 0..3000_usize {
                    arena(|| {
                        let guard = epoch::pin();
                        let new = Owned::new((0..round % 20 + 1).map(|n| n.to_string()).collect());
                        let old = shared.swap(new, Ordering::AcqRel, &guard);
                        // SAFETY: the guard keeps what was swapped out until it is dropped.
                        let list: &Vec<String> = unsafe { old.deref() };
                        assert!(list.iter().enumerate().all(|(n, s)| *s == n.to_string()));
                        // SAFETY: nobody can reach it any more.
                        unsafe { guard.defer_destroy(old) };
                        if round % 100 == number {
                            guard.flush();
                        }
                    });
                }
            });
        }
    });
    // SAFETY: the threads have ended.
    drop(unsafe { shared.into_owned() });
}
