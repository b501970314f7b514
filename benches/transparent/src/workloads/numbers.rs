//! W8 to W10 of ArenaPirate.jl: large, short-lived vectors of numbers.

use super::text::Numbers;
use crate::Arena;
use rayon::prelude::*;
use std::hint::black_box;

/// `sum(collect(1:n) + collect(1:n))`, repeated for at least a millisecond, so that cold caches do
/// not count.
pub(super) fn sums<A: Arena>(scopes: usize, size: i64) -> impl FnMut() -> u64 {
    move || {
        let expected = size * (size + 1);
        for _ in 0..scopes {
            assert_eq!(A::scope(|| sum_of_vectors(size)), expected);
        }
        expected.cast_unsigned()
    }
}

#[inline(never)]
fn sum_of_vectors(size: i64) -> i64 {
    let a: Vec<i64> = (1..=size).collect();
    let b: Vec<i64> = (1..=black_box(size)).collect();
    let both: Vec<i64> = black_box(&a).iter().zip(black_box(&b)).map(|(a, b)| a + b).collect();
    black_box(&both).iter().sum()
}

/// The values, and their median.
fn values(size: usize) -> (Vec<f64>, f64) {
    let mut numbers = Numbers::new(8);
    let values: Vec<f64> = (0..size).map(|_| numbers.share()).collect();
    let expected = median(&values);
    assert!((expected - 0.5).abs() < 0.01);
    (values, expected)
}

/// Each scope copies all values and selects the middle one.
pub(super) fn medians<A: Arena>(scopes: usize, size: usize) -> impl FnMut() -> u64 {
    let (values, expected) = values(size);
    move || {
        for _ in 0..scopes {
            assert_eq!(A::scope(|| median(&values)).to_bits(), expected.to_bits());
        }
        expected.to_bits()
    }
}

/// The same on all threads.
pub(super) fn medians_of_all<A: Arena>(scopes: usize, size: usize) -> impl FnMut() -> u64 {
    let (values, expected) = values(size);
    move || {
        (0..scopes).into_par_iter().with_max_len(1).for_each(|_| {
            assert_eq!(A::scope(|| median(&values)).to_bits(), expected.to_bits());
        });
        expected.to_bits()
    }
}

#[inline(never)]
fn median(values: &[f64]) -> f64 {
    let mut copy = values.to_vec();
    let middle = copy.len() / 2;
    *copy.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Fits `amplitude * exp(-decay * x) + offset` to values by grid search. Each trial allocates its
/// vectors.
struct Search {
    xs: Vec<f64>,
    ys: Vec<f64>,
}

/// Steps along each of the three parameters.
const STEPS: usize = 3;

impl Search {
    fn new(size: usize) -> Self {
        let mut numbers = Numbers::new(9);
        let xs: Vec<f64> = (0..size).map(|n| n as f64 * 10.0 / size as f64).collect();
        let ys = xs.iter().map(|x| 1.5 * (-x).exp() + 0.5 + 0.01 * numbers.share()).collect();
        Search { xs, ys }
    }

    fn parameters(trial: usize) -> [f64; 3] {
        let step = |n: usize| (trial / n % STEPS) as f64 * 0.5;
        [1.0 + step(1), 0.5 + step(STEPS), step(STEPS * STEPS)]
    }

    fn trial(&self, trial: usize) -> f64 {
        squared_error(&self.xs, &self.ys, Self::parameters(trial))
    }

    /// The index of the trial with the smallest error, and that error.
    fn best(errors: impl Iterator<Item = f64>) -> u64 {
        let (number, error) =
            (0_u64..).zip(errors).min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are trials");
        number << 32 | error.to_bits() >> 32
    }
}

#[inline(never)]
fn squared_error(xs: &[f64], ys: &[f64], [amplitude, decay, offset]: [f64; 3]) -> f64 {
    // 1 / (1 + x + x² / 2) approximates exp(-x) and can be vectorised.
    let scaled: Vec<f64> = xs.iter().map(|x| x * decay).collect();
    let fallen: Vec<f64> =
        black_box(&scaled).iter().map(|x| 1.0 / (1.0 + x + x * x / 2.0)).collect();
    let model: Vec<f64> = black_box(&fallen).iter().map(|f| amplitude * f + offset).collect();
    let errors: Vec<f64> =
        black_box(&model).iter().zip(ys).map(|(m, y)| (m - y) * (m - y)).collect();
    black_box(&errors).iter().sum()
}

/// A scope for each trial.
pub(super) fn search<A: Arena>(trials: usize, size: usize) -> impl FnMut() -> u64 {
    let search = Search::new(size);
    let expected = Search::best((0..trials).map(|trial| search.trial(trial)));
    move || {
        let best = Search::best((0..trials).map(|trial| A::scope(|| search.trial(trial))));
        assert_eq!(best, expected);
        best
    }
}

/// The same on all threads.
pub(super) fn search_of_all<A: Arena>(trials: usize, size: usize) -> impl FnMut() -> u64 {
    let search = Search::new(size);
    let expected = Search::best((0..trials).map(|trial| search.trial(trial)));
    move || {
        let all = (0..trials).into_par_iter();
        let errors: Vec<f64> = all.map(|trial| A::scope(|| search.trial(trial))).collect();
        let best = Search::best(errors.into_iter());
        assert_eq!(best, expected);
        best
    }
}
