//! The work of the tour: five stages, each one job that real programs do. A stage knows its input
//! and what it must find out; a [`Memory`] does the work with its own kind of memory.

pub(crate) mod chain;
pub(crate) mod group;
pub(crate) mod intern;
pub(crate) mod medians;
pub(crate) mod parse;

use std::hash::Hasher;

use crate::hash::Fold;
use crate::input::{File, Input};

/// One way of getting memory. A value is made for each run of a stage, so every kind of memory
/// starts with nothing.
pub(crate) trait Memory: Default {
    /// Parses a JSON document into a tree and queries the tree.
    fn parse(&mut self, document: &str) -> parse::Found;

    /// Groups the words of all files by their spelling in lower case.
    fn group(&mut self, files: &[File]) -> group::Found;

    /// Makes token trees of each file, its names interned over all files.
    fn intern(&mut self, files: &[File]) -> intern::Found;

    /// Sums `(x + 1) * 2 - x / 3`, each operation making a new vector.
    fn chain(&mut self, window: &[f64]) -> f64;

    /// The median of a window, and the median distance from it.
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

/// What a stage found out: equal for every kind of memory, or the tour fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Over everything that was found, in order.
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

    /// What happens, and in the scopes' case where a scope begins and ends.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Stage::Parse => parse::DESCRIPTION,
            Stage::Group => group::DESCRIPTION,
            Stage::Intern => intern::DESCRIPTION,
            Stage::Chain => chain::DESCRIPTION,
            Stage::Medians => medians::DESCRIPTION,
        }
    }

    /// Why this stage has nothing to do, where it has no input.
    pub(crate) fn why_idle(self) -> &'static str {
        match self {
            Stage::Parse => "no input: there is no JSON among the files",
            Stage::Medians => "no input: no file has as many tokens as a window is wide",
            Stage::Group | Stage::Intern | Stage::Chain => "no input: there are no files",
        }
    }

    /// How much of the input concerns this stage; 0 where it has nothing to do.
    pub(crate) fn input_bytes(self, input: &Input) -> usize {
        match self {
            Stage::Parse => input.documents().map(|file| file.text.len()).sum(),
            Stage::Group | Stage::Intern | Stage::Chain => input.bytes(),
            Stage::Medians => medians::input_bytes(input),
        }
    }

    /// Does the job `passes` times over with memory of the kind `M`.
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

/// Three named figures, for a report and for comparison.
pub(crate) type Figures = [(&'static str, u64); 3];

/// The whole part of a sum, as a key figure.
#[allow(clippy::cast_possible_truncation, reason = "the checksum has every bit; a figure need not")]
fn whole(sum: f64) -> u64 {
    sum as u64
}
