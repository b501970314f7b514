//! Runs every stage with every kind of memory, compares the results, and measures.
//!
//! One round counts heap calls and bytes. The others, without counting, measure time and page
//! faults. Within a round, the kinds of memory take turns at each stage, and each round starts with
//! a different one.

use std::fmt;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::counting::{self, HeapUse};
use crate::input::Input;
use crate::modes::{MODES, Mode};
use crate::paging;
use crate::stages::{Outcome, Stage};

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    /// No new round starts after this time, after [`Effort::min_rounds`].
    pub(crate) budget: Duration,
    pub(crate) min_rounds: usize,
    /// The minimum number of passes over the input in a run: programs usually repeat a job, and
    /// reuse the memory of the previous pass.
    pub(crate) min_passes: usize,
    /// Small inputs are repeated until a run has processed this many bytes.
    pub(crate) stage_bytes: usize,
}

/// More rounds would not add information.
const MAX_ROUNDS: usize = 101;

/// The maximum number of passes, for tiny inputs.
const MAX_PASSES: usize = 1_000;

/// Everything that was measured.
pub(crate) struct Report {
    pub(crate) rounds: usize,
    /// The stages that had input.
    pub(crate) stages: Vec<StageReport>,
    /// The stages without input.
    pub(crate) idle: Vec<Stage>,
}

/// One stage, with every kind of memory.
pub(crate) struct StageReport {
    pub(crate) stage: Stage,
    pub(crate) outcome: Outcome,
    pub(crate) passes: usize,
    /// In the order of [`MODES`].
    pub(crate) by_mode: Vec<Measured>,
}

/// One stage with one kind of memory.
#[derive(Clone, Default)]
pub(crate) struct Measured {
    /// One per round.
    pub(crate) seconds: Vec<f64>,
    /// One per round, if the system reports them.
    pub(crate) faults: Vec<f64>,
    pub(crate) heap: HeapUse,
}

impl StageReport {
    /// The baseline.
    pub(crate) fn heap(&self) -> &Measured {
        &self.by_mode[0]
    }
}

/// Two kinds of memory had different results.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Disagreement(String);

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Measures all stages over `input`.
pub(crate) fn all(
    input: &Input,
    effort: Effort,
    progress: &ProgressBar,
) -> Result<Report, Disagreement> {
    let (busy, idle): (Vec<_>, Vec<_>) =
        Stage::ALL.into_iter().partition(|stage| stage.input_bytes(input) > 0);
    let mut stages = Vec::with_capacity(busy.len());
    for stage in busy {
        progress.set_message(format!("checking and counting: {}", stage.name()));
        stages.push(check_and_count(stage, input, effort)?);
    }
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < effort.min_rounds || (start.elapsed() < effort.budget && rounds < MAX_ROUNDS) {
        for report in &mut stages {
            progress.set_message(format!("round {}: {}", rounds + 1, report.stage.name()));
            time(report, input, rounds)?;
            let share = start.elapsed().as_secs_f64() / effort.budget.as_secs_f64();
            progress.set_position(whole_percent(share));
        }
        rounds += 1;
    }
    Ok(Report { rounds, stages, idle })
}

fn check_and_count(
    stage: Stage,
    input: &Input,
    effort: Effort,
) -> Result<StageReport, Disagreement> {
    let passes = effort.stage_bytes.div_ceil(stage.input_bytes(input));
    let passes = passes.clamp(effort.min_passes, MAX_PASSES);
    let count = |mode: &Mode| counting::count(|| (mode.run)(stage, input, passes));
    let (outcome, heap) = count(&MODES[0]);
    let mut by_mode = vec![Measured { heap, ..Measured::default() }];
    for mode in &MODES[1..] {
        let (other, heap) = count(mode);
        agree(stage, outcome, mode.name, other)?;
        by_mode.push(Measured { heap, ..Measured::default() });
    }
    Ok(StageReport { stage, outcome, passes, by_mode })
}

/// Compares the outcome of the mode called `name` with that of the heap.
fn agree(
    stage: Stage,
    expected: Outcome,
    name: &str,
    outcome: Outcome,
) -> Result<(), Disagreement> {
    if outcome == expected {
        return Ok(());
    }
    let line = |mode: &str, outcome: Outcome| {
        let figures = outcome.figures.map(|(name, figure)| format!(", {name} {figure}"));
        format!("\n  {mode}: checksum {:016x}{}", outcome.checksum, figures.concat())
    };
    Err(Disagreement(format!(
        "stage `{}`: the kinds of memory disagree{}{}",
        stage.name(),
        line(MODES[0].name, expected),
        line(name, outcome)
    )))
}

/// Measures the time and page faults of one stage with every kind of memory, a different one first
/// in each round.
fn time(report: &mut StageReport, input: &Input, round: usize) -> Result<(), Disagreement> {
    for turn in 0..MODES.len() {
        let mode = (round + turn) % MODES.len();
        paging::give_back();
        let faults_before = paging::faults();
        let start = Instant::now();
        let outcome = (MODES[mode].run)(report.stage, input, report.passes);
        let seconds = start.elapsed().as_secs_f64();
        agree(report.stage, report.outcome, MODES[mode].name, outcome)?;
        let measured = &mut report.by_mode[mode];
        measured.seconds.push(seconds);
        if let (Some(before), Some(after)) = (faults_before, paging::faults()) {
            measured.faults.push((after - before) as f64);
        }
    }
    Ok(())
}

#[allow(clippy::cast_possible_truncation, reason = "the share is clamped to 0 to 1")]
fn whole_percent(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 100.0) as u64
}

/// The median of `values`, which must not be empty: of an even number, the mean of the middle two.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// The geometric mean.
pub(crate) fn geometric_mean(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len() as f64;
    (ratios.map(f64::ln).sum::<f64>() / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn different_outcomes_are_an_error() {
        let outcome = |checksum| Outcome {
            checksum,
            figures: [("words", 1), ("spellings", 2), ("largest group", 3)],
        };
        assert_eq!(agree(Stage::Group, outcome(7), "scopes", outcome(7)), Ok(()));
        let error = agree(Stage::Group, outcome(7), "scopes", outcome(8))
            .err()
            .map(|error| error.to_string());
        let expected = "stage `group words`: the kinds of memory disagree\n  \
            heap: checksum 0000000000000007, words 1, spellings 2, largest group 3\n  \
            scopes: checksum 0000000000000008, words 1, spellings 2, largest group 3";
        assert_eq!(error.as_deref(), Some(expected));
    }
}
