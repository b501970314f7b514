//! Measures the one program that this process runs.

use crate::{process, scopes};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

static STEPS: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static FIRST_PEAK_KIB: AtomicU64 = AtomicU64::new(0);
/// By how many bytes the promise was missed, at worst. Negative where it was kept.
static WORST_EXCESS: AtomicI64 = AtomicI64::new(i64::MIN);

/// Memory that is granted besides a factor.
pub(crate) const SLACK_MIB: usize = 16;

/// Memory that the report's promise grants for each running thread.
const PER_THREAD_MIB: usize = 4;

/// How often a run is sampled.
const SAMPLES: u64 = 200;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The most resident memory in the first half of the steps.
    pub first_peak_kib: u64,
    /// The same for the second half.
    pub second_peak_kib: u64,
    /// The worst sample of the held memory against the promise, if the report tells.
    pub excess: Option<i64>,
}

/// Prepares for a program of so many steps.
pub fn begin(steps: u64) {
    STEPS.store(steps, Ordering::Relaxed);
    process::forget_peak();
}

/// The steps that the program is to make, by all of its threads together.
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

/// By how many bytes the allocator holds more than it promises, by its own report. Negative where
/// it keeps the promise.
///
/// The bound is computed here from the report's `live_peak`, not taken from its `bound`: that one
/// rises with `retain`.
fn excess() -> Option<i64> {
    let report = ebbtide_global::report();
    let threads = usize::try_from(process::status().threads).ok()?;
    let promised = report.live_peak / 2 * 3 + (SLACK_MIB + PER_THREAD_MIB * threads) * 1024 * 1024;
    i64::try_from(report.held).ok()?.checked_sub(i64::try_from(promised).ok()?)
}

/// What was measured, after the last step.
pub fn end() -> Measured {
    let excess = WORST_EXCESS.load(Ordering::Relaxed);
    Measured {
        first_peak_kib: FIRST_PEAK_KIB.load(Ordering::Relaxed),
        second_peak_kib: process::status().peak_kib,
        excess: (excess != i64::MIN).then_some(excess),
    }
}
