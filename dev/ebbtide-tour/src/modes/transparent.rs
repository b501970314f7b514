//! The heap's code, unaware of arenas, with a transparent scope around each job.

use ebbtide_global::arena;

use super::heap::Heap;
use crate::input::File;
use crate::stages::{Memory, group, parse};

/// The heap's code in scopes of the global allocator.
#[derive(Default)]
pub(crate) struct Transparent(Heap);

impl Memory for Transparent {
    fn parse(&mut self, document: &str) -> Result<parse::Found, serde_json::Error> {
        arena(|| self.0.parse(document))
    }

    fn group(&mut self, files: &[File]) -> group::Found {
        arena(|| self.0.group(files))
    }

    fn chain(&mut self, window: &[f64]) -> f64 {
        arena(|| self.0.chain(window))
    }
}
