//! The heat equation on a plate, without a call to the heap.
//!
//! ```text
//! cargo run --release -p ebbtide --example heat --features ndarray [-- <cells per side> <steps>]
//! ```
//!
//! A plate with hot and cold edges. Each step reads one grid and writes another; then they are
//! swapped. Temporary arrays of a step, here the residual of each row, are in a scope of their own,
//! which ends with the step. The same computation with arrays on the heap must give identical
//! results.

use ebbtide::ndarray_017::{
    Array, Array1, Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2, Zip, s as at,
};
use ebbtide::{Arena, Scope};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

/// The system's allocator, counting calls.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: forwards to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Diffusivity × time step ÷ cell area. Above 0.25 the explicit scheme is unstable.
const RATE: f64 = 0.2;

/// The initial plate: cold, except for the edge at row 0.
fn start((row, _column): (usize, usize)) -> f64 {
    if row == 0 { 100.0 } else { 0.0 }
}

/// Computes the next step. Edges keep their temperature.
#[allow(clippy::reversed_empty_ranges, reason = "a negative end counts from the end of the axis")]
fn diffuse(now: ArrayView2<'_, f64>, mut later: ArrayViewMut2<'_, f64>) {
    let inner = later.slice_mut(at![1..-1, 1..-1]);
    Zip::from(inner).and(now.windows((3, 3))).for_each(|cell, around| {
        let centre = around[[1, 1]];
        let neighbours = around[[0, 1]] + around[[2, 1]] + around[[1, 0]] + around[[1, 2]];
        *cell = centre + RATE * (neighbours - 4.0 * centre);
    });
}

/// The largest change of each row; returns the largest of all.
fn residual(
    now: ArrayView2<'_, f64>,
    later: ArrayView2<'_, f64>,
    mut rows: ArrayViewMut1<'_, f64>,
) -> f64 {
    Zip::from(&mut rows).and(now.rows()).and(later.rows()).for_each(|largest, now, later| {
        *largest = Zip::from(now).and(later).fold(0.0, |most, a, b| f64::max(most, (a - b).abs()));
    });
    rows.fold(0.0, |most, row| f64::max(most, *row))
}

/// Computes `steps` steps with arrays in the scope; returns the plate and the last change.
fn in_scopes<'a>(s: &mut Scope<'a>, n: usize, steps: usize) -> (ArrayViewMut2<'a, f64>, f64) {
    let mut now = s.array_from_shape_fn((n, n), start);
    let mut later = s.array_from(&now);
    let mut change = 0.0;
    for _ in 0..steps {
        let step = s.scope();
        diffuse(now.view(), later.view_mut());
        change = residual(now.view(), later.view(), step.zeros(n));
        std::mem::swap(&mut now, &mut later);
    } // the rows' residuals are free again
    (now, change)
}

/// The same with arrays on the heap.
fn on_the_heap(n: usize, steps: usize) -> (Array2<f64>, f64) {
    let mut now = Array::from_shape_fn((n, n), start);
    let mut later = now.clone();
    let mut change = 0.0;
    for _ in 0..steps {
        diffuse(now.view(), later.view_mut());
        change = residual(now.view(), later.view(), Array1::zeros(n).view_mut());
        std::mem::swap(&mut now, &mut later);
    }
    (now, change)
}

/// Runs `f`; returns its result and its number of calls to the heap.
fn counted<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = CALLS.load(Relaxed);
    let result = f();
    (result, CALLS.load(Relaxed) - before)
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<usize>());
    let (Ok(n), Ok(steps)) = (args.next().unwrap_or(Ok(200)), args.next().unwrap_or(Ok(500)))
    else {
        eprintln!("usage: heat [<cells per side> [<steps>]]");
        return ExitCode::FAILURE;
    };
    if n < 3 {
        eprintln!("a plate has at least 3 cells a side, because its edges stay as they are");
        return ExitCode::FAILURE;
    }
    let grid = n.saturating_mul(n).saturating_mul(size_of::<f64>());
    let Ok(mut arena) = Arena::try_with_capacity(grid.saturating_mul(2).saturating_add(16 * n))
    else {
        eprintln!("there is no memory for two plates of {n} x {n} cells");
        return ExitCode::FAILURE;
    };

    let begun = Instant::now();
    let mut scope = arena.scope();
    let ((plate, change), calls) = counted(|| in_scopes(&mut scope, n, steps));
    let ours = begun.elapsed();
    assert_eq!(calls, 0, "the scopes had all they needed in the arena");

    let begun = Instant::now();
    let ((expected, expected_change), heap_calls) = counted(|| on_the_heap(n, steps));
    let theirs = begun.elapsed();
    assert_eq!(plate, expected, "the same numbers to the last bit");
    assert_eq!(change.to_bits(), expected_change.to_bits());

    println!("{n} x {n} cells, {steps} steps: the largest change of the last one is {change:.6} K");
    println!("temperature a tenth of the way from the hot edge: {:.3} °C", plate[[n / 10, n / 2]]);
    println!("scopes: {ours:>10.2?}, {calls} calls to the heap");
    println!("heap:   {theirs:>10.2?}, {heap_calls} calls to the heap");
    ExitCode::SUCCESS
}
