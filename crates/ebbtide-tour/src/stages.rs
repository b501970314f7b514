//! The work of the tour: five stages, each a job that real programs do. A stage provides the input
//! and checks the result; a [`Memory`] does the work with its own kind of memory.

pub(crate) mod chain;
pub(crate) mod group;
pub(crate) mod intern;
pub(crate) mod medians;
pub(crate) mod parse;

use std::hash::Hasher;

use crate::hash::Fold;
use crate::input::{File, Input};

/// A kind of memory. Each run of a stage creates a new value, so it starts without memory.
pub(crate) trait Memory: Default {
    /// Parses a JSON document into a tree and queries the tree.
    fn parse(&mut self, document: &str) -> parse::Found;

    /// Groups the words of all files by their lower-case spelling.
    fn group(&mut self, files: &[File]) -> group::Found;

    /// Builds the token trees of each file, with names interned across all files.
    fn intern(&mut self, files: &[File]) -> intern::Found;

    /// Sums `(x + 1) * 2 - x / 3`, with a new vector for each operation.
    fn chain(&mut self, window: &[f64]) -> f64;

    /// The median of a window, and the median absolute deviation.
    fn medians(&mut self, window: &[f64]) -> medians::Found;
}

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Parse,
    Group,
    Intern,
    Chain,
    Medians,
}

/// The result of a stage. If it is not the same for every kind of memory, the tour fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Over the whole result, in order.
    pub(crate) checksum: u64,
    /// Key figures, with their names.
    pub(crate) figures: Figures,
}

impl Stage {
    pub(crate) const ALL: [Stage; 5] =
        [Stage::Parse, Stage::Group, Stage::Intern, Stage::Chain, Stage::Medians];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Parse => "parse JSON",
            Stage::Group => "group words",
            Stage::Intern => "token trees",
            Stage::Chain => "temporaries",
            Stage::Medians => "medians",
        }
    }

    /// What the stage does, and where scopes start and end.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Stage::Parse => parse::DESCRIPTION,
            Stage::Group => group::DESCRIPTION,
            Stage::Intern => intern::DESCRIPTION,
            Stage::Chain => chain::DESCRIPTION,
            Stage::Medians => medians::DESCRIPTION,
        }
    }

    /// Why the stage has no input.
    pub(crate) fn why_idle(self) -> &'static str {
        match self {
            Stage::Parse => "no input: there is no JSON among the files",
            Stage::Medians => "no input: every file has fewer tokens than a window",
            Stage::Group | Stage::Intern | Stage::Chain => "no input: there are no files",
        }
    }

    /// The number of input bytes for this stage.
    pub(crate) fn input_bytes(self, input: &Input) -> usize {
        match self {
            Stage::Parse => input.documents().map(|file| file.text.len()).sum(),
            Stage::Group | Stage::Intern | Stage::Chain => input.bytes(),
            Stage::Medians => medians::input_bytes(input),
        }
    }

    /// Runs the job `passes` times with memory of the kind `M`.
    pub(crate) fn run<M: Memory>(self, input: &Input, passes: usize) -> Outcome {
        let mut memory = M::default();
        let mut checksum = Fold::default();
        let mut figures = [("", 0); 3];
        for _ in 0..passes {
            figures = match self {
                Stage::Parse => parse::run(&mut memory, input, &mut checksum),
                Stage::Group => group::run(&mut memory, input, &mut checksum),
                Stage::Intern => intern::run(&mut memory, input, &mut checksum),
                Stage::Chain => chain::run(&mut memory, input, &mut checksum),
                Stage::Medians => medians::run(&mut memory, input, &mut checksum),
            };
        }
        Outcome { checksum: checksum.finish(), figures }
    }
}

/// Three named figures, for the report.
pub(crate) type Figures = [(&'static str, u64); 3];

/// The whole part of a sum, as a key figure.
#[allow(clippy::cast_possible_truncation, reason = "the checksum covers every bit")]
fn whole(sum: f64) -> u64 {
    sum as u64
}
