//! An executor of boxed futures, which wait once. Argument: the number of futures.

use std::{
    env,
    future::{Future, poll_fn},
    hint::black_box,
    pin::Pin,
    task::{Context, Poll, Waker},
};

async fn pause() {
    let mut has_waited = false;
    let wait = poll_fn(|_| if std::mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending });
    wait.await;
}

async fn order(number: usize) -> usize {
    let lines = |from: usize| (from..from + 40).map(|line| format!("line {line} of {number}"));
    let first: usize = lines(0).collect::<Vec<_>>().iter().map(String::len).sum();
    pause().await;
    first + lines(number % 7).collect::<Vec<_>>().iter().map(String::len).sum::<usize>()
}

fn main() {
    let count = env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(100);
    let mut sum = 0;
    let mut context = Context::from_waker(Waker::noop());
    for number in 0..count {
        let mut future: Pin<Box<dyn Future<Output = usize>>> = Box::pin(order(number));
        loop {
            if let Poll::Ready(length) = black_box(&mut future).as_mut().poll(&mut context) {
                break sum += length;
            }
        }
    }
    println!("{sum}");
}
