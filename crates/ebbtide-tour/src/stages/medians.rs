//! Medians and median absolute deviations of sliding windows. Each needs a copy that it can
//! reorder.

use std::hash::Hasher;

use super::chain::Floats;
use super::{Figures, Memory, whole};
use crate::hash::Fold;
use crate::input::Input;

pub(crate) const DESCRIPTION: &str = "\
    The running median of each file's token lengths and the median absolute deviation, as in a \
    filter for outliers: 101 values wide, every 20th window. Each of the two copies its window and \
    selects the middle. One scope per window.";

const WIDTH: usize = 101;
const STEP: usize = 20;

/// The size of the series that are at least as long as a window.
pub(crate) fn input_bytes(input: &Input) -> usize {
    let long_enough = input.series.iter().filter(|series| series.len() >= WIDTH);
    long_enough.map(|series| size_of_val(series.as_slice())).sum()
}

/// The result for a window.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    median: f64,
    distance: f64,
}

pub(crate) fn run<M: Memory>(memory: &mut M, input: &Input, checksum: &mut Fold) -> Figures {
    let (mut windows, mut medians, mut distances) = (0, 0.0, 0.0);
    for window in input.series.iter().flat_map(|series| series.windows(WIDTH).step_by(STEP)) {
        let found = memory.medians(window);
        checksum.write_u64(found.median.to_bits());
        checksum.write_u64(found.distance.to_bits());
        windows += 1;
        medians += found.median;
        distances += found.distance;
    }
    [
        ("windows", windows),
        ("sum of medians", whole(medians)),
        ("sum of distances", whole(distances)),
    ]
}

/// The median of `window` and the median absolute deviation.
pub(crate) fn of_window(memory: &impl Floats, window: &[f64]) -> Found {
    let mut copy = memory.vector(window.len(), |i| window[i]);
    let median = middle(&mut copy);
    let mut distances = memory.vector(window.len(), |i| (window[i] - median).abs());
    Found { median, distance: middle(&mut distances) }
}

fn middle(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
