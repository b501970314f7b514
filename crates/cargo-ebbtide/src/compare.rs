//! Runs a program with scopes in some of its functions and without, in turn, until the difference is
//! clear.

use crate::{
    input::Input,
    refusal::Refusal,
    run::{self, Ended, Program},
};
use cargo_ebbtide::trial::{
    entry::{ENTRIES, Entry},
    report::{self, BYTES, REPORT, Report},
};
use std::{
    ffi::OsString,
    fs::{self, File},
    hash::{DefaultHasher, Hasher},
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The trial, a shared library.
const TRIAL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trial.so"));

/// From so many pairs of runs on, an interval says something.
const LEAST_PAIRS: usize = 5;

/// The most pairs: what they do not show is within the noise of a short program.
const MOST_PAIRS: usize = 40;

/// A difference is clear if its interval is this wide at most, as a share of the program's time.
const CLEAR: f64 = 0.03;

/// A smaller share of the program's time is within the noise.
pub(crate) const LEAST_GAIN: f64 = 0.01;

/// What one run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// The time of the processor, in seconds.
    pub(crate) processor: f64,
    /// The time that passed, in seconds.
    pub(crate) elapsed: f64,
    /// The most memory that was resident, in bytes.
    pub(crate) peak: f64,
}

/// What pairs of runs took.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    /// The calls of the functions in one run.
    pub(crate) calls: u64,
    pub(crate) without: Vec<Cost>,
    pub(crate) with: Vec<Cost>,
    /// Whether the program prints the same in scopes; `None` if it does not without either.
    pub(crate) prints_the_same: Option<bool>,
}

/// A share of the processor's time that scopes save, and an interval in which the true one lies with a
/// chance of nine in ten; without one, if there are fewer than [`LEAST_PAIRS`] pairs, the least and the most
/// of any pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Saved {
    pub(crate) share: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Comparison {
    pub(crate) fn saved(&self) -> Saved {
        let times = |costs: &[Cost]| costs.iter().map(|cost| cost.processor).collect::<Vec<f64>>();
        let (without, with) = (times(&self.without), times(&self.with));
        let share = |without: &[f64], with: &[f64]| 1.0 - fastest(with) / fastest(without);
        let mut others: Vec<f64> = if with.len() < LEAST_PAIRS {
            without.iter().zip(&with).map(|(without, with)| 1.0 - with / without).collect()
        } else {
            // What other runs of the same kind would have shown (bootstrap).
            let mut random = Random(1);
            (0..RESAMPLED)
                .map(|_| share(&random.some_of(&without), &random.some_of(&with)))
                .collect()
        };
        others.sort_by(f64::total_cmp);
        let cut = if with.len() < LEAST_PAIRS { 0 } else { RESAMPLED / 20 };
        let at = |index: usize| others.get(index).copied().unwrap_or_default();
        let (least, most) = (at(cut), at(others.len().saturating_sub(cut + 1)));
        Saved { share: share(&without, &with), least, most }
    }

    /// The peak of the memory with scopes, divided by that without.
    pub(crate) fn peaks(&self) -> f64 {
        Comparison::peak(&self.with) / Comparison::peak(&self.without)
    }

    fn peak(costs: &[Cost]) -> f64 {
        costs.iter().map(|cost| cost.peak).fold(1.0, f64::max)
    }

    /// Whether scopes save time for certain, take little more memory, and change nothing that is printed.
    pub(crate) fn is_gain(&self) -> bool {
        let saved = self.saved();
        let is_certain = saved.share >= LEAST_GAIN && saved.least > 0.0;
        is_certain && self.is_bounded() && self.prints_the_same != Some(false)
    }

    /// Whether the peak is at most 1.25 times as high, and 16 MiB.
    pub(crate) fn is_bounded(&self) -> bool {
        let little = f64::from(1 << 24);
        Comparison::peak(&self.with) <= Comparison::peak(&self.without) * 1.25 + little
    }

    /// Whether more runs would hardly say more.
    fn is_clear(&self) -> bool {
        let saved = self.saved();
        let is_known = saved.most - saved.least <= CLEAR || saved.most < LEAST_GAIN;
        self.with.len() >= MOST_PAIRS || (self.with.len() >= LEAST_PAIRS && is_known)
    }
}

/// The number of sets of runs from which an interval is taken.
const RESAMPLED: usize = 400;

/// The mean of the fastest half. Other work makes runs slower, and none faster.
fn fastest(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let half = times.len().div_ceil(2);
    times[..half].iter().sum::<f64>() / half as f64
}

/// A generator of numbers, the same in each run.
struct Random(u64);

impl Random {
    /// As many of these as there are, each of them drawn from all.
    fn some_of(&mut self, all: &[f64]) -> Vec<f64> {
        let one = |_| {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            all[(self.0 >> 33) as usize % all.len()]
        };
        (0..all.len()).map(one).collect()
    }
}

/// How long to compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// So many pairs; if none, until the differences are clear.
    pub(crate) pairs: Option<usize>,
    pub(crate) end: Instant,
}

/// The first run of a program, without scopes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub(crate) status: ExitStatus,
    pub(crate) took: Duration,
    /// A number for what it printed, if that is known.
    pub(crate) printed: Option<u64>,
}

/// A program that is run again and again.
pub(crate) struct Runs<'p> {
    program: &'p Program,
    input: &'p Input,
    folder: TempDir,
    preload: OsString,
    /// The files with functions that are there when the program starts.
    loaded: Vec<PathBuf>,
    /// How the first run ended.
    expected: ExitStatus,
    /// The time that a run takes.
    takes: Duration,
    /// What each run without scopes printed, as a number.
    printed: Vec<u64>,
    limit: Limit,
}

impl<'p> Runs<'p> {
    /// Those of a program that ran once, with this input. `file` is the program of a script, or it is
    /// itself.
    pub(crate) fn new(
        program: &'p Program,
        file: &Path,
        input: &'p Input,
        first: First,
        limit: Limit,
    ) -> Result<Runs<'p>, Refusal> {
        if run::is_interrupted() {
            return Err(Refusal::Interrupted);
        }
        let folder = tempfile::tempdir().map_err(Refusal::folder)?;
        let preload = run::preload(folder.path(), TRIAL)?;
        let First { status: expected, took: takes, printed } = first;
        let printed = printed.into_iter().collect();
        let loaded = run::modules(file);
        Ok(Runs { program, input, folder, preload, loaded, expected, takes, printed, limit })
    }

    /// The limit from now on.
    pub(crate) fn set_end(&mut self, end: Instant) {
        self.limit.end = end;
    }

    /// The number of sets of functions that can be compared at once, so that there are some pairs of
    /// each; at least 1. An error if there is not even time for one pair.
    pub(crate) fn room(&self) -> Result<usize, Refusal> {
        if self.limit.pairs.is_some() {
            return Ok(usize::MAX);
        }
        let left = self.limit.end.saturating_duration_since(Instant::now());
        let runs = left.as_secs_f64() / self.takes.as_secs_f64().max(1e-3);
        if runs < 2.0 {
            return Err(Refusal::NoTime(self.takes.as_secs_f64()));
        }
        Ok(((runs / 8.0) as usize).saturating_sub(1).max(1))
    }

    /// Compares the program with scopes in each of these sets of functions. For each, the comparison or
    /// why there is none.
    pub(crate) fn compare(
        &mut self,
        sets: &[Vec<Entry>],
    ) -> Result<Vec<Result<Comparison, Refusal>>, Refusal> {
        let mut trials: Vec<Trial> =
            sets.iter().map(|entries| Trial::new(entries, &self.loaded)).collect();
        let start = Instant::now();
        for round in 0.. {
            let open: Vec<usize> =
                (0..trials.len()).filter(|at| !trials[*at].is_over(self.limit.pairs)).collect();
            let takes = self.takes * (open.len() as u32 + 1);
            let is_late =
                round > 0 && self.limit.pairs.is_none() && Instant::now() + takes > self.limit.end;
            if open.is_empty() || is_late || run::is_interrupted() {
                break;
            }
            self.show(start, round, open.len());
            // Whatever changes in time affects all.
            let mut order: Vec<Option<usize>> =
                [None].into_iter().chain(open.iter().copied().map(Some)).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            let mut costs = Vec::new();
            for which in order {
                let cost = match which {
                    None => self.without()?,
                    Some(at) => match self.with(&mut trials[at]) {
                        Ok(cost) => Some(cost),
                        Err(why) => {
                            trials[at].failed = Some(why);
                            None
                        }
                    },
                };
                costs.push((which, cost));
            }
            // An interrupted run ends otherwise, and is none.
            if run::is_interrupted() {
                break;
            }
            let without =
                costs.iter().find(|(which, _)| which.is_none()).and_then(|(_, cost)| *cost);
            for (which, cost) in costs {
                if let (Some(at), Some(cost), Some(without)) = (which, cost, without) {
                    trials[at].comparison.without.push(without);
                    trials[at].comparison.with.push(cost);
                }
            }
        }
        self.hide();
        Ok(trials.into_iter().map(|trial| trial.result(&self.printed)).collect())
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("output")
    }

    fn silently(&self, variables: &[(&str, OsString)]) -> Result<(ExitStatus, Cost), Refusal> {
        once(self.program, self.input.again()?, variables, &self.output(), Stdio::null())
    }

    fn without(&mut self) -> Result<Option<Cost>, Refusal> {
        let (status, cost) = self.silently(&[])?;
        if run::is_interrupted() {
            return Ok(None);
        }
        self.ends_as_expected(status, false)?;
        self.printed.push(hash(&self.output())?);
        self.takes = Duration::from_secs_f64(cost.elapsed);
        Ok(Some(cost))
    }

    fn with(&self, trial: &mut Trial) -> Result<Cost, Refusal> {
        let report = self.folder.path().join("report");
        fs::write(&report, [0; BYTES]).map_err(Refusal::folder)?;
        let mut preload = self.preload.clone();
        for library in &trial.later {
            preload.push(":");
            preload.push(library);
        }
        let variables = [
            ("LD_PRELOAD", preload),
            (ENTRIES, trial.entries.clone().into()),
            (REPORT, report.clone().into_os_string()),
        ];
        let (status, cost) = self.silently(&variables)?;
        if run::is_interrupted() {
            return Ok(cost);
        }
        trial.comparison.calls = calls(&report)?;
        self.ends_as_expected(status, true)?;
        trial.printed.push(hash(&self.output())?);
        if trial.comparison.calls == 0 {
            return Err(Refusal::NeverCalled);
        }
        Ok(cost)
    }

    fn ends_as_expected(&self, status: ExitStatus, is_scoped: bool) -> Result<(), Refusal> {
        if status == self.expected {
            return Ok(());
        }
        let fate = |status| run::fate(status).unwrap_or_else(|| "it ended well".to_owned());
        Err(Refusal::EndedOtherwise(is_scoped, fate(status), fate(self.expected)))
    }

    /// Shows somebody who waits what is going on.
    fn show(&self, start: Instant, round: usize, open: usize) {
        if io::stderr().is_terminal() {
            let left = self.limit.end.saturating_duration_since(Instant::now()).as_secs();
            let spent = start.elapsed().as_secs();
            eprint!(
                "\r{open} to try, {round} pairs of runs, {spent} s; at most {left} s more \x1b[K"
            );
        }
    }

    fn hide(&self) {
        if io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
    }
}

/// Runs the program once, without scopes, and prints what it prints.
pub(crate) fn first(program: &Program, input: Stdio) -> Result<First, Refusal> {
    let folder = tempfile::tempdir().map_err(Refusal::folder)?;
    let output = folder.path().join("output");
    let (status, cost) = once(program, input, &[], &output, Stdio::inherit())?;
    let mut printed = File::open(&output).map_err(Refusal::folder)?;
    run::unless_closed(
        io::copy(&mut printed, &mut io::stdout()).and_then(|_| io::stdout().flush()),
    )?;
    let took = Duration::from_secs_f64(cost.elapsed);
    Ok(First { status, took, printed: Some(hash(&output)?) })
}

/// A set of functions that have scopes, and what became of it.
struct Trial {
    /// The entries of the functions, as lines.
    entries: String,
    /// The libraries that the program opens later. They are loaded when it starts, so that their
    /// functions are there.
    later: Vec<PathBuf>,
    comparison: Comparison,
    /// What each run printed, as a number.
    printed: Vec<u64>,
    failed: Option<Refusal>,
}

impl Trial {
    fn new(entries: &[Entry], loaded: &[PathBuf]) -> Trial {
        let mut later: Vec<PathBuf> = entries.iter().map(|entry| entry.module.clone()).collect();
        later.retain(|module| !loaded.contains(module));
        later.dedup();
        let lines: Vec<String> = entries.iter().map(Entry::line).collect();
        let comparison =
            Comparison { calls: 0, without: Vec::new(), with: Vec::new(), prints_the_same: None };
        Trial { entries: lines.join("\n"), later, comparison, printed: Vec::new(), failed: None }
    }

    fn is_over(&self, pairs: Option<usize>) -> bool {
        let is_enough = pairs.map_or_else(
            || self.comparison.is_clear(),
            |pairs| self.comparison.with.len() >= pairs,
        );
        is_enough || self.failed.is_some()
    }

    /// The comparison. `plain` is what the runs without scopes printed.
    fn result(mut self, plain: &[u64]) -> Result<Comparison, Refusal> {
        if let Some(why) = self.failed {
            return Err(why);
        }
        if self.comparison.with.is_empty() {
            return Err(Refusal::Interrupted);
        }
        let is_same =
            |printed: &[u64]| printed.iter().all(|printed| Some(printed) == plain.first());
        let is_the_same = is_same(&self.printed);
        // One run cannot differ from itself.
        let is_known = is_same(plain) && (is_the_same || plain.len() > 1);
        self.comparison.prints_the_same = is_known.then_some(is_the_same);
        Ok(self.comparison)
    }
}

/// The calls that a run with scopes has reported, or why there were no scopes.
fn calls(report: &Path) -> Result<u64, Refusal> {
    let bytes = fs::read(report).map_err(Refusal::folder)?;
    let report = Report::read(&bytes);
    if let Some(why) = report::Refusal::from_number(report.refusal.into_inner()) {
        return Err(Refusal::Trial(why));
    }
    if report.processes.into_inner() == 0 {
        Err(Refusal::NotThere)
    } else {
        Ok(report.calls.into_inner())
    }
}

/// Runs the program, which prints into a file.
fn once(
    program: &Program,
    input: Stdio,
    variables: &[(&str, OsString)],
    output: &Path,
    errors: Stdio,
) -> Result<(ExitStatus, Cost), Refusal> {
    let mut command = program.command();
    let output = File::create(output).map_err(Refusal::folder)?;
    command.stdin(input).stdout(output).stderr(errors);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    run::forget_peak();
    let start = Instant::now();
    let Ended { status, seconds, peak } = run::run(command, &program.path)?;
    Ok((status, Cost { processor: seconds, elapsed: start.elapsed().as_secs_f64(), peak }))
}

/// A number for the contents of a file, which others have by accident only.
fn hash(path: &Path) -> Result<u64, Refusal> {
    let mut file = File::open(path).map_err(Refusal::folder)?;
    let (mut hasher, mut part) = (DefaultHasher::new(), vec![0; 1 << 16]);
    loop {
        let bytes = file.read(&mut part).map_err(Refusal::folder)?;
        if bytes == 0 {
            return Ok(hasher.finish());
        }
        hasher.write(&part[..bytes]);
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Cost};

    fn compared(with: &[f64]) -> Comparison {
        let cost = |processor| Cost { processor, elapsed: processor, peak: 1.0 };
        let without = [1.0, 1.02, 1.5, 1.01, 1.03, 1.9, 1.0, 1.04].map(cost).to_vec();
        let with = with.iter().map(|time| cost(*time)).collect();
        Comparison { calls: 1, without, with, prints_the_same: None }
    }

    #[test]
    fn runs_beside_other_work_hide_no_gain_and_make_none() {
        let saved = compared(&[0.8, 1.6, 0.82, 0.81, 2.0, 0.83, 0.84, 0.8]).saved();
        assert!((saved.share - 0.2).abs() < 0.01, "{saved:?}");
        assert!(
            (0.1..0.2).contains(&saved.least) && (0.2..0.25).contains(&saved.most),
            "{saved:?}"
        );
        let none = compared(&[1.01, 1.0, 2.0, 1.02, 1.0, 1.4, 1.03, 1.05]);
        assert!(none.saved().least < 0.0 && !none.is_gain(), "{:?}", none.saved());
    }
}
