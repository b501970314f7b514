//! An executor of boxed futures, which wait once. Arguments: the number of futures; a word, if one task
//! awaits them all.

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

/// Answers one request of a task, which awaits it.
async fn answer(number: usize) -> usize {
    let lines: Vec<String> = (0..40).map(|line| format!("line {line} of {number}")).collect();
    let sum = lines.iter().map(String::len).sum::<usize>();
    drop(lines);
    pause().await;
    sum
}

/// Polls a future until it has ended. Returns its output, and how often it was polled.
fn finish(mut future: Pin<Box<dyn Future<Output = usize>>>) -> (usize, usize) {
    let mut context = Context::from_waker(Waker::noop());
    let mut polls = 0;
    loop {
        polls += 1;
        if let Poll::Ready(length) = black_box(&mut future).as_mut().poll(&mut context) {
            return (length, polls);
        }
    }
}

fn main() {
    let count = env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(100);
    let (sum, polls) = if env::args().nth(2).is_some() {
        finish(Box::pin(async move {
            let mut sum = 0;
            for number in 0..count {
                sum += answer(number).await;
            }
            sum
        }))
    } else {
        let finished = (0..count).map(|number| finish(Box::pin(order(number))));
        finished.fold((0, 0), |(sum, polls), other| (sum + other.0, polls + other.1))
    };
    println!("{sum} {polls}");
}
