//! Numeric temporaries: `(x + 1) * 2 - x / 3` as in an array language, with a new vector for each
//! operation.

use std::hash::Hasher;
use std::ops::Deref;

use super::{Figures, Memory};
use crate::hash::Fold;
use crate::input::Input;

pub(crate) const DESCRIPTION: &str = "\
    Computes (x + 1) * 2 - x / 3 over the word lengths of each file, with a new vector for each \
    operation: in windows of 30, 300 and 3,000 values, then all at once. One scope per window.";

pub(crate) const LIMIT: &str = "\
    an arena grows to its largest scope by chunks of double the size, and keeps the small ones; \
    transparent scopes take chunks of at least 64 KiB";

const WINDOWS: [usize; 4] = [30, 300, 3_000, usize::MAX];

pub(crate) fn run<M: Memory>(memory: &mut M, input: &Input, checksum: &mut Fold) -> Figures {
    let (mut vectors, mut values) = (0, 0);
    let mut total = 0.0;
    for series in &input.series {
        for window in WINDOWS.into_iter().flat_map(|len| series.chunks(len)) {
            let sum = memory.chain(window);
            checksum.write_u64(sum.to_bits());
            total += sum;
            vectors += 4;
            values += 4 * window.len() as u64;
        }
    }
    #[allow(clippy::cast_possible_truncation, reason = "the checksum covers every bit")]
    let whole = total as u64;
    [("vectors", vectors), ("values", values), ("sum", whole)]
}

/// Allocates vectors of numbers.
pub(crate) trait Floats {
    type Vector: Deref<Target = [f64]>;

    /// A new vector with the values of `value` for `0..len`.
    fn vector(&self, len: usize, value: impl FnMut(usize) -> f64) -> Self::Vector;
}

/// The sum of `(x + 1) * 2 - x / 3`.
pub(crate) fn sum(memory: &impl Floats, xs: &[f64]) -> f64 {
    let plus_one = memory.vector(xs.len(), |i| xs[i] + 1.0);
    let doubled = memory.vector(xs.len(), |i| plus_one[i] * 2.0);
    let third = memory.vector(xs.len(), |i| xs[i] / 3.0);
    let ys = memory.vector(xs.len(), |i| doubled[i] - third[i]);
    ys.iter().sum()
}
