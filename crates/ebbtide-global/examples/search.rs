//! Searches for the parameters of a curve. Each of 27,000 candidates allocates a few vectors and
//! keeps one number.
//!
//! ```text
//! cargo run --release --package ebbtide-global --example search -- [NUMBERS] [STEPS]
//! ```
//! STEPS is the number of steps for each of the three parameters, 30 for the whole search; by
//! default, both arguments are small. Runs on the heap and in scopes, on one thread and on all; the
//! results are equal.
use ebbtide_global::{Scoped, arena, map, report};
use std::{
    alloc::System,
    env,
    error::Error,
    thread,
    time::{Duration, Instant},
};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

struct Search {
    xs: Vec<f64>,
    ys: Vec<f64>,
    steps: usize,
}

impl Search {
    /// Points of `2 / (1 + x / 2) + 1`.
    fn new(count: usize, steps: usize) -> Self {
        let xs: Vec<f64> = (0..count).map(|n| n as f64 / count as f64 * 10.0).collect();
        let ys = xs.iter().map(|x| 2.0 / (1.0 + x * 0.5) + 1.0).collect();
        Search { xs, ys, steps }
    }

    fn candidates(&self) -> usize {
        self.steps.pow(3)
    }

    /// Amplitude, decay and offset of a candidate. The curve's own are two steps along each.
    fn parameters(&self, candidate: usize) -> [f64; 3] {
        let along = |n: usize| (candidate / n % self.steps) as f64;
        [1.0 + along(1) / 2.0, 0.3 + along(self.steps) / 10.0, along(self.steps * self.steps) / 2.0]
    }

    /// The mean squared error, with a vector for each operation, as in an array language.
    fn error(&self, candidate: usize) -> f64 {
        let [amplitude, decay, offset] = self.parameters(candidate);
        let below: Vec<f64> = self.xs.iter().map(|x| 1.0 + x * decay).collect();
        let model: Vec<f64> = below.iter().map(|b| amplitude / b + offset).collect();
        let errors: Vec<f64> = model.iter().zip(&self.ys).map(|(m, y)| m - y).collect();
        let squares: Vec<f64> = errors.iter().map(|e| e * e).collect();
        squares.iter().sum::<f64>() / squares.len() as f64
    }

    /// All errors, computed on `threads` threads, in the order of the candidates.
    fn errors<F>(&self, threads: usize, errors_of: F) -> Vec<f64>
    where
        F: Fn(std::ops::Range<usize>) -> Vec<f64> + Sync,
    {
        let errors_of = &errors_of;
        let share = self.candidates().div_ceil(threads);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|thread| {
                    let end = ((thread + 1) * share).min(self.candidates());
                    scope.spawn(move || errors_of((thread * share).min(end)..end))
                })
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        })
    }
}

fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1).map(|argument| argument.parse::<usize>());
    let count = arguments.next().transpose()?.unwrap_or(20_000).max(1);
    let steps = arguments.next().transpose()?.unwrap_or(8).max(3);
    let search = Search::new(count, steps);
    println!("{} candidates, vectors of {count} numbers", search.candidates());

    let mut all_errors: Option<Vec<f64>> = None;
    for threads in [1, thread::available_parallelism()?.get()] {
        let on_heap = || search.errors(threads, |range| range.map(|c| search.error(c)).collect());
        let in_scopes = || search.errors(threads, |range| map(range, |c| search.error(c)));
        let ((on_heap, heap_time), (in_scopes, scopes_time)) = (timed(on_heap), timed(in_scopes));
        assert_eq!(on_heap, in_scopes);
        assert_eq!(*all_errors.get_or_insert_with(|| on_heap.clone()), on_heap);
        println!("threads: {threads}, heap: {heap_time:.1?}, scopes: {scopes_time:.1?}");
    }

    // The vector of errors outlives its arena.
    let best = arena(|| {
        let errors = all_errors.unwrap_or_default();
        let best = errors.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        best.map(|(candidate, error)| (search.parameters(candidate), *error))
    });
    let ([amplitude, decay, offset], error) = best.ok_or("there are candidates")?;
    println!("{amplitude} / (1 + {decay} x) + {offset}, mean squared error {error:.1e}");
    assert!(error < 1e-12, "the curve is among the candidates");
    println!("{}", report());
    Ok(())
}
