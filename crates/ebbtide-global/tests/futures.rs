//! Claims: a future that is polled in scopes may move between threads at every poll; blocks that it
//! keeps from one poll to the next stay valid, and the next poll continues in the same chunk; and
//! tokio tasks with arenas compute correct results.

use ebbtide_global::{ArenaFuture, Options, arena, engine, report};
use std::{
    future::{self, Future},
    pin::Pin,
    task::{Context, Poll, Waker},
    thread,
};

/// Not ready at first.
async fn pause() {
    let mut polled = false;
    future::poll_fn(|context| {
        if polled {
            return Poll::Ready(());
        }
        polled = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn work(n: usize) -> Vec<String> {
    let mut kept = Vec::new();
    for step in 0..20 {
        let temporary: Vec<String> = (0..50).map(|k| format!("{n} {step} {k}")).collect();
        kept.push(temporary[7].clone());
        let held = vec![step; 100];
        pause().await;
        assert!(held.iter().all(|x| *x == step));
        if step % 5 == 4 {
            kept.remove(0);
        }
    }
    kept
}

fn right(n: usize, kept: &[String]) {
    let expected: Vec<String> = (4..20).map(|step| format!("{n} {step} 7")).collect();
    assert_eq!(kept, expected);
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn polls_on_a_thread_each() {
    alone!();
    for n in 0..10 {
        let mut task: Pin<Box<dyn Future<Output = Vec<String>> + Send>> =
            Box::pin(ArenaFuture::with(Options::new().label("task"), work(n)));
        let kept = loop {
            let worker = thread::spawn(move || {
                let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                // Others use this thread's arenas in between.
                arena(|| drop((0..100).map(|n| n.to_string()).collect::<Vec<_>>()));
                (task, polled)
            });
            let (back, polled) = worker.join().unwrap();
            task = back;
            if let Poll::Ready(kept) = polled {
                break kept;
            }
        };
        right(n, &kept);
    }
    let labels = report().labels;
    // A future is one scope, whatever threads poll it.
    assert!(labels[0].label == "task" && labels[0].scopes == 10);
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a_poll_goes_on_in_the_chunk_of_the_last() {
    alone!();
    let chunk_of = |text: &String| (&raw const *text.as_str()).cast::<u8>().addr() >> 16;
    let mut task = Box::pin(ArenaFuture::new(async {
        let first = "x".repeat(100);
        pause().await;
        let second = "y".repeat(100);
        (first, second)
    }));
    let mut context = Context::from_waker(Waker::noop());
    assert!(task.as_mut().poll(&mut context).is_pending());
    let Poll::Ready((first, second)) = task.as_mut().poll(&mut context) else { panic!() };
    assert!(engine::is_ours(first.as_ptr()));
    assert_eq!(chunk_of(&first), chunk_of(&second));
    assert_eq!(first.len() + second.len(), 200);
}

#[test]
fn a_future_that_is_dropped_half_way() {
    alone!();
    for polls in 0..10 {
        let mut task = Box::pin(ArenaFuture::new(work(1)));
        for _ in 0..polls {
            assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        thread::spawn(move || drop(task)).join().unwrap();
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn tasks_of_tokio() {
    alone!();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..200)
            .map(|n| {
                tokio::spawn(ArenaFuture::new(async move {
                    let before = work(n).await;
                    tokio::task::yield_now().await;
                    let inner = tokio::spawn(ArenaFuture::new(work(n)));
                    assert_eq!(inner.await.unwrap(), before);
                    before
                }))
            })
            .collect();
        for (n, task) in tasks.into_iter().enumerate() {
            right(n, &task.await.unwrap());
        }
    });
    drop(runtime);
}
