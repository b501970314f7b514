//! One check: its title, its command, and what the command needs.

use crate::process;
use crate::tally::{Reader, Tally};
use crate::tool::{Missing, Tool};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much of the list a command runs. Each tier includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// `cargo xtask check`: what is worth its time before each commit.
    Check,
    /// `cargo xtask test`: whether the libraries are right on this platform.
    Test,
    /// `cargo xtask test --all`: other platforms, other people's tests, and all that takes long or
    /// depends on the machine's load.
    All,
}

/// What else may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Steps of one name share a target folder, so one of them runs at a time.
    Named(&'static str),
    /// Nothing, because the step measures memory or uses every core.
    Alone,
}

/// One check of the list in [`crate::steps`].
pub(crate) struct Step {
    pub(crate) tier: Tier,
    pub(crate) title: &'static str,
    pub(crate) lane: Lane,
    command: &'static str,
    /// Without these, the step is left out.
    needs: &'static [Tool],
    /// Without these, the step leaves out a part of itself.
    wants: &'static [Tool],
}

/// A step's outcome, its duration, and its test counts.
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) time: Duration,
    pub(crate) tally: Tally,
    pub(crate) log: PathBuf,
}

/// How a step ended.
pub(crate) enum End {
    Passed,
    /// A tool is missing, and this is not CI.
    LeftOut(String),
    Failed(String),
}

impl Step {
    pub(crate) const fn new(tier: Tier, title: &'static str, command: &'static str) -> Self {
        let mut rest = command.as_bytes();
        while let [byte, after @ ..] = rest {
            assert!(!matches!(byte, b'\'' | b'"' | b'&' | b'|' | b';' | b'$'), "no shell reads it");
            rest = after;
        }
        Step { tier, title, lane: Lane::Named("target"), command, needs: &[], wants: &[] }
    }

    pub(crate) const fn needs(self, needs: &'static [Tool]) -> Self {
        Step { needs, ..self }
    }

    pub(crate) const fn wants(self, wants: &'static [Tool]) -> Self {
        Step { wants, ..self }
    }

    /// The step has a target folder of its own, or one that only steps of this name use.
    pub(crate) const fn beside(self, name: &'static str) -> Self {
        Step { lane: Lane::Named(name), ..self }
    }

    pub(crate) const fn alone(self) -> Self {
        Step { lane: Lane::Alone, ..self }
    }

    /// Runs the step. Its output goes to a file in `logs`.
    pub(crate) fn run(&self, logs: &Path) -> Outcome {
        let start = Instant::now();
        let name: String = self
            .title
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let log = logs.join(name).with_extension("log");
        let (end, mut tally) = self.attempt(&log);
        // A test runner that crashes before or after its tests has failed too.
        if matches!(end, End::Failed(_)) && tally.failed == 0 {
            tally.failed = 1;
        }
        Outcome { end, time: start.elapsed(), tally, log }
    }

    fn attempt(&self, log: &Path) -> (End, Tally) {
        let mut output = match File::create(log) {
            Ok(output) => output,
            Err(error) => {
                return (self.failed(&format!("{}: {error}", log.display())), Tally::FAILED);
            }
        };
        for tool in self.needs {
            match tool.ensure(&output) {
                Ok(()) => {}
                Err(Missing::LeftOut(advice)) => return (End::LeftOut(advice), Tally::SKIPPED),
                Err(Missing::Fatal(advice)) => return (End::Failed(advice), Tally::FAILED),
            }
        }
        for tool in self.wants {
            match tool.ensure(&output) {
                Ok(()) => {}
                Err(Missing::LeftOut(advice)) => drop(writeln!(output, "{advice}")),
                Err(Missing::Fatal(advice)) => return (End::Failed(advice), Tally::FAILED),
            }
        }
        let status = process::run(self.command, &output);
        let counted = fs::read(log).map_or(None, |text| count(&String::from_utf8_lossy(&text)));
        let why = match status {
            Ok(status) if !status.success() => status.to_string(),
            Err(error) => error.to_string(),
            Ok(_) => match counted {
                // Not a test runner: counts as one check.
                None => return (End::Passed, Tally::PASSED),
                Some(tally) if tally.passed > 0 => return (End::Passed, tally),
                Some(_) => "no tests were run".to_owned(),
            },
        };
        (self.failed(&why), counted.unwrap_or_default())
    }

    fn failed(&self, why: &str) -> End {
        End::Failed(format!("{why}; to repeat: {}", self.command))
    }
}

/// The sum of the counts in the output of test runners; `None` if there are none.
fn count(output: &str) -> Option<Tally> {
    let mut reader = Reader::default();
    let tallies = output.lines().filter_map(|line| reader.read(line.trim_end()));
    tallies.fold(None, |sum, tally| {
        let mut sum = sum.unwrap_or_default();
        sum += tally;
        Some(sum)
    })
}
