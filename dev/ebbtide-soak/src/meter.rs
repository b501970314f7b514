//! Measures the program that this process runs.

use crate::{process, scopes};
use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};

/// How long a program rests before its resident memory is judged, in milliseconds.
const FULL_REST: u64 = 3_000;

static REST: AtomicU64 = AtomicU64::new(FULL_REST);
static STEPS: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static FIRST_PEAK_KIB: AtomicU64 = AtomicU64::new(0);
/// The resident memory after a full rest; 0 without one.
static RESTED_KIB: AtomicU64 = AtomicU64::new(0);
/// The most bytes by which the promise was exceeded. Negative if it was kept.
static WORST_EXCESS: AtomicI64 = AtomicI64::new(i64::MIN);

/// Bytes that are allowed in addition to a factor.
pub(crate) const SLACK_MIB: usize = 16;

/// Bytes that the promise allows for each running thread.
const PER_THREAD_MIB: usize = 4;

/// The number of samples in a run.
const SAMPLES: u64 = 200;

/// The measurements of a run.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The most resident memory in the first half of the steps.
    pub first_peak_kib: u64,
    /// The same for the second half.
    pub second_peak_kib: u64,
    /// The resident memory some seconds after the load has gone, for programs that wait so long.
    pub rested_kib: Option<u64>,
    /// The worst sample of the memory held, compared with the promise, if the report has figures.
    pub excess: Option<i64>,
}

/// Prepares for a program of `steps` steps, multiplied by `scale`. Below 1, rests are shorter too.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
pub fn begin(steps: u64, scale: f64) {
    STEPS.store((steps as f64 * scale) as u64, Ordering::Relaxed);
    REST.store((FULL_REST as f64 * scale.min(1.0)) as u64, Ordering::Relaxed);
    process::forget_peak();
}

/// How long a program rests after its load.
pub fn rest() -> Duration {
    Duration::from_millis(REST.load(Ordering::Relaxed))
}

/// The number of steps of the program, by all of its threads together.
pub fn steps() -> u64 {
    STEPS.load(Ordering::Relaxed)
}

/// Counts one step. Any thread may call it, inside a scope or not.
#[inline]
pub fn step() {
    let done = DONE.fetch_add(1, Ordering::Relaxed) + 1;
    let steps = steps();
    if done % (steps / SAMPLES).max(1) == 0 {
        sample();
    }
    if done == steps / 2 {
        FIRST_PEAK_KIB.store(process::status().peak_kib, Ordering::Relaxed);
        process::forget_peak();
    }
}

#[cold]
fn sample() {
    if scopes::are_on() {
        if let Some(excess) = ebbtide_global::outside(excess) {
            WORST_EXCESS.fetch_max(excess, Ordering::Relaxed);
        }
    }
}

/// The bytes that the allocator holds beyond its promise, by its own report. Negative if it keeps
/// the promise.
///
/// The bound is computed from the report's `live_peak` here, because its `bound` rises with
/// `retain`.
fn excess() -> Option<i64> {
    let report = ebbtide_global::report();
    let threads = usize::try_from(process::status().threads).ok()?;
    let promised = report.live_peak / 2 * 3 + (SLACK_MIB + PER_THREAD_MIB * threads) * 1024 * 1024;
    i64::try_from(report.held).ok()?.checked_sub(i64::try_from(promised).ok()?)
}

/// Records the resident memory after the program has rested, unless the rest was a short one.
pub fn rested(resident_kib: u64) {
    if REST.load(Ordering::Relaxed) == FULL_REST {
        RESTED_KIB.store(resident_kib, Ordering::Relaxed);
    }
    sample();
}

/// Returns the measurements, after the last step.
pub fn end() -> Measured {
    let excess = WORST_EXCESS.load(Ordering::Relaxed);
    let rested = RESTED_KIB.load(Ordering::Relaxed);
    Measured {
        first_peak_kib: FIRST_PEAK_KIB.load(Ordering::Relaxed),
        second_peak_kib: process::status().peak_kib,
        rested_kib: (rested > 0).then_some(rested),
        excess: (excess != i64::MIN).then_some(excess),
    }
}
