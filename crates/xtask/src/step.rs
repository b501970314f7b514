//! One check: a title, a command, and the tools that the command needs.

use crate::process;
use crate::tally::{Reader, Tally};
use crate::tool::{Missing, Tool};
use std::time::{Duration, Instant};

/// One check of the list in [`crate::test`].
pub(crate) struct Step {
    pub(crate) title: &'static str,
    command: &'static str,
    needs: &'static [Tool],
    pub(crate) slow: bool,
}

/// A step's outcome, its duration, and its test counts.
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) time: Duration,
    pub(crate) tally: Tally,
}

/// How a step ended.
pub(crate) enum End {
    Passed,
    /// A tool is missing, and it is optional or this is not CI.
    LeftOut(String),
    Failed(String),
}

impl Step {
    pub(crate) const fn new(title: &'static str, command: &'static str) -> Self {
        Step { title, command, needs: &[], slow: false }
    }

    pub(crate) const fn needs(self, needs: &'static [Tool]) -> Self {
        Step { needs, ..self }
    }

    /// Left out by `--quick`.
    pub(crate) const fn slow(self) -> Self {
        Step { slow: true, ..self }
    }

    pub(crate) fn run(&self) -> Outcome {
        let start = Instant::now();
        let (end, mut tally) = self.attempt();
        // A test runner that crashes before or after its tests has failed too.
        if matches!(end, End::Failed(_)) && tally.failed == 0 {
            tally.failed = 1;
        }
        Outcome { end, time: start.elapsed(), tally }
    }

    fn attempt(&self) -> (End, Tally) {
        for tool in self.needs {
            match tool.ensure() {
                Ok(()) => {}
                Err(Missing::LeftOut(advice)) => return (End::LeftOut(advice), Tally::SKIPPED),
                Err(Missing::Fatal(advice)) => return (End::Failed(advice), Tally::FAILED),
            }
        }

        println!("$ {}", self.command);
        let mut reader = Reader::default();
        let mut counted: Option<Tally> = None;
        let status = process::run(self.command, |line| {
            if let Some(tally) = reader.read(line) {
                *counted.get_or_insert_default() += tally;
            }
        });
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
        let end = End::Failed(format!("{why}; to repeat: {}", self.command));
        (end, counted.unwrap_or_default())
    }
}
