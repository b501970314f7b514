//! The work of the tour: three stages, each a job that real programs do. A stage provides the input
//! and checks the result; a [`Memory`] does the work with its own kind of memory.

pub(crate) mod chain;
pub(crate) mod group;
pub(crate) mod parse;

use std::hash::Hasher;

use crate::hash::Fold;
use crate::input::{File, Input};

/// A kind of memory. Each run of a stage creates a new value, so it starts without memory.
pub(crate) trait Memory: Default {
    /// Parses a JSON document into a tree and queries the tree.
    fn parse(&mut self, document: &str) -> Result<parse::Found, serde_json::Error>;

    /// Groups the words of all files by their lower-case spelling.
    fn group(&mut self, files: &[File]) -> group::Found;

    /// Sums `(x + 1) * 2 - x / 3`, with a new vector for each operation.
    fn chain(&mut self, window: &[f64]) -> f64;
}

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Parse,
    Group,
    Chain,
}

/// The result of a stage. If it is not the same for every kind of memory, the tour fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Over the whole result, in order.
    pub(crate) checksum: u64,
    /// Key figures, with their names.
    pub(crate) figures: Figures,
}

/// Three named figures, for the report.
pub(crate) type Figures = [(&'static str, u64); 3];

impl Stage {
    pub(crate) const ALL: [Stage; 3] = [Stage::Parse, Stage::Group, Stage::Chain];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Parse => "parse JSON",
            Stage::Group => "group words",
            Stage::Chain => "temporaries",
        }
    }

    /// What the stage does, and where scopes start and end.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Stage::Parse => parse::DESCRIPTION,
            Stage::Group => group::DESCRIPTION,
            Stage::Chain => chain::DESCRIPTION,
        }
    }

    /// Why scopes may take more memory or more pages than the heap.
    pub(crate) fn limit(self) -> &'static str {
        match self {
            Stage::Parse => parse::LIMIT,
            Stage::Group => group::LIMIT,
            Stage::Chain => chain::LIMIT,
        }
    }

    /// The number of input bytes for this stage.
    pub(crate) fn input_bytes(self, input: &Input) -> usize {
        match self {
            Stage::Parse => input.documents().map(|file| file.text.len()).sum(),
            Stage::Group | Stage::Chain => input.bytes(),
        }
    }

    /// Runs the job `passes` times with memory of the kind `M`.
    pub(crate) fn run<M: Memory>(self, input: &Input, passes: usize) -> Outcome {
        let mut memory = M::default();
        let mut checksum = Fold::default();
        let mut figures = [("", 0); 3];
        for _ in 0..passes {
            figures = self.pass(&mut memory, input, &mut checksum);
        }
        Outcome { checksum: checksum.finish(), figures }
    }

    /// Runs the job once.
    pub(crate) fn pass<M: Memory>(
        self,
        memory: &mut M,
        input: &Input,
        checksum: &mut Fold,
    ) -> Figures {
        match self {
            Stage::Parse => parse::run(memory, input, checksum),
            Stage::Group => group::run(memory, input, checksum),
            Stage::Chain => chain::run(memory, input, checksum),
        }
    }
}
