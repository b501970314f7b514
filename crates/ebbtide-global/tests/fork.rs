//! Claim: a process may fork, inside a scope or outside, while other threads are in scopes. Parent
//! and child both continue to work.

#![cfg(unix)]

use ebbtide_global::{arena, report, retain};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

static DONE: AtomicBool = AtomicBool::new(false);

fn work(salt: usize) -> usize {
    let kept: Vec<Vec<String>> = (0..50)
        .map(|n| {
            arena(|| {
                let all: Vec<String> = (0..100).map(|k| (n * k + salt).to_string()).collect();
                all.into_iter().step_by(9).collect()
            })
        })
        .collect();
    kept.iter().flatten().map(String::len).sum()
}

/// Runs `child` in another process. Returns true if it ended normally.
fn fork(child: impl FnOnce()) -> bool {
    // SAFETY: the child uses nothing that another thread could have locked, only the allocators:
    // glibc's supports this, and ours has no locks.
    match unsafe { libc::fork() } {
        0 => {
            child();
            // SAFETY: ends this process, without the destructors of the parent's.
            unsafe { libc::_exit(17) }
        }
        child => {
            assert!(child > 0);
            let mut status = 0;
            // SAFETY: the place for the status is valid.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 17
        }
    }
}

#[test]
fn parent_and_child_go_on() {
    alone!();
    // The shared pool is at work too.
    retain(1 << 20);
    let expected = work(1);
    let busy = || {
        let mut salt = 0;
        while !DONE.load(Ordering::Relaxed) {
            assert!(work(salt) > 0);
            salt += 1;
        }
    };
    thread::scope(|threads| {
        threads.spawn(busy);
        threads.spawn(busy);
        for _ in 0..30 {
            let mut escaped = Vec::new();
            let outside = fork(|| assert_eq!(work(1), expected));
            let inside = arena(|| {
                let held: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
                let inside = fork(|| {
                    let mut more = held.clone();
                    assert_eq!(work(1), expected);
                    more.extend(arena(|| {
                        held.iter().map(|s| s.to_uppercase()).collect::<Vec<_>>()
                    }));
                    assert_eq!(more.len(), 2000);
                });
                escaped = held;
                inside
            });
            assert!(outside && inside);
            assert!(escaped.iter().enumerate().all(|(n, s)| *s == n.to_string()));
        }
        DONE.store(true, Ordering::Relaxed);
    });
    assert_eq!(work(1), expected);
    let has_range = cfg!(target_pointer_width = "64");
    assert_eq!(report().scopes > 0, has_range);
}
