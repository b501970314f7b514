//! Computes the median of many numbers repeatedly, each time on a copy, which it reorders.
//!
//! ```text
//! cargo run --release --package ebbtide-global --example medians -- [NUMBERS] [TIMES]
//! ```
//! Runs on the heap and in scopes, on one thread and on all; the results are equal. The copies are
//! large, so the heap requests fresh pages from the system each time, and the arena does not.
use ebbtide_global::{Scoped, arena, report};
use std::{
    alloc::System,
    env,
    error::Error,
    thread,
    time::{Duration, Instant},
};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

fn median(numbers: &[f64]) -> f64 {
    let mut copy = numbers.to_vec();
    let middle = copy.len() / 2;
    *copy.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Computes `times` medians on `threads` threads.
fn medians(threads: usize, times: usize, median: impl Fn() -> f64 + Sync) -> Vec<f64> {
    let median = &median;
    let share = |thread: usize| times / threads + usize::from(thread < times % threads);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || (0..share(thread)).map(|_| median()).collect::<Vec<_>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    })
}

fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1).map(|argument| argument.parse::<usize>());
    let count = arguments.next().transpose()?.unwrap_or(1_000_000).max(1);
    let times = arguments.next().transpose()?.unwrap_or(32);
    // The median of these is known: they are multiples of a number that is coprime to their count.
    let step = 7_919;
    let numbers: Vec<f64> = (0..count).map(|n| ((n * step) % count) as f64).collect();

    let all = thread::available_parallelism()?.get();
    let expected = vec![median(&numbers); times];
    println!("{times} medians of {count} numbers");
    for threads in [1, all] {
        let (on_heap, heap_time) = timed(|| medians(threads, times, || median(&numbers)));
        let (in_scopes, scopes_time) =
            timed(|| medians(threads, times, || arena(|| median(&numbers))));
        assert_eq!(on_heap, expected);
        assert_eq!(in_scopes, expected);
        println!("threads: {threads}, heap: {heap_time:.1?}, scopes: {scopes_time:.1?}");
    }
    println!("{}", report());
    Ok(())
}
