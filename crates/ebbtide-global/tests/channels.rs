//! Claims: blocks that are sent to other threads, by channels and `Arc`s, may be freed there
//! before, while or after their scope and their thread end; two threads may free each other's
//! blocks all the time; and at the end nothing is leaked.

use ebbtide_global::{arena, report, spawn_in_arena};
use ebbtide_patience::eventually;
use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel, sync_channel},
    },
    thread,
};

/// Threads of the test's own have ended, but their destructors may still be at work.
fn nothing_is_pinned(before: usize) {
    assert!(eventually(|| report().escapes.pinned_chunks <= before), "{}", report());
}

#[test]
fn two_threads_free_each_others_blocks() {
    alone!();
    fn player(number: usize, to: &Sender<Vec<String>>, from: &Receiver<Vec<String>>) {
        for round in 0..2000 {
            let sent = arena(|| {
                let all: Vec<String> = (0..50)
                    .map(|n| format!("{number} {round} {n} {}", "x".repeat(n * 7)))
                    .collect();
                all.into_iter().step_by(3).collect::<Vec<_>>()
            });
            to.send(sent).unwrap();
            let got = arena(|| from.recv().unwrap());
            for (n, text) in got.iter().enumerate() {
                let start = format!("{} {round} {} ", 1 - number, n * 3);
                assert!(text.starts_with(&start), "{text}");
                assert_eq!(text.len(), start.len() + n * 21);
            }
            arena(|| drop(got));
        }
    }
    let before = report().escapes.pinned_chunks;
    let (to_second, from_first) = channel();
    let (to_first, from_second) = channel();
    let first = thread::spawn(move || player(0, &to_second, &from_second));
    let second = thread::spawn(move || player(1, &to_first, &from_first));
    first.join().unwrap();
    second.join().unwrap();
    nothing_is_pinned(before);
}

#[test]
fn blocks_outlive_the_thread_that_made_them() {
    alone!();
    let before = report().escapes.pinned_chunks;
    let mut kept = Vec::new();
    for n in 0..40_usize {
        let worker = spawn_in_arena(move || {
            let list = Arc::new((0..500).map(|k| format!("{n} {k}")).collect::<Vec<String>>());
            (Arc::clone(&list), vec![n; 100_000], list)
        });
        kept.push(worker.join().unwrap());
    }
    for (n, (list, large, _)) in kept.iter().enumerate() {
        assert!(list.iter().enumerate().all(|(k, s)| *s == format!("{n} {k}")));
        assert!(large.iter().all(|x| *x == n));
    }
    let half = kept.split_off(20);
    thread::spawn(move || drop(half)).join().unwrap();
    arena(|| drop(kept));
    nothing_is_pinned(before);
}

#[test]
fn an_arc_is_dropped_by_a_thread_that_ends() {
    alone!();
    let before = report().escapes.pinned_chunks;
    for _ in 0..100 {
        let shared = arena(|| Arc::new(Mutex::new((0..100).map(Box::new).collect::<Vec<_>>())));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let mine = arena(|| shared.lock().unwrap().split_off(70));
                    drop(shared);
                    mine.iter().map(|n| **n).sum::<i32>()
                })
            })
            .collect();
        drop(shared);
        let _: i32 = threads.into_iter().map(|worker| worker.join().unwrap()).sum();
    }
    nothing_is_pinned(before);
}

#[test]
fn bounded_channels_between_scopes() {
    alone!();
    let before = report().escapes.pinned_chunks;
    let (send, receive) = sync_channel::<Box<dyn Fn() -> usize + Send>>(4);
    let worker = spawn_in_arena(move || receive.iter().map(arena).sum::<usize>());
    for n in 0..3000_usize {
        let job = arena(|| {
            let data = vec![n; 10 + n % 300];
            Box::new(move || data.iter().sum::<usize>() / data.len())
        });
        send.send(job).unwrap();
    }
    drop(send);
    assert_eq!(worker.join().unwrap(), 3000 * 2999 / 2);
    nothing_is_pinned(before);
}
