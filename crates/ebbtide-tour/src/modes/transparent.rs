//! The heap's code, unaware of arenas, with a transparent scope around each job.

use ebbtide_global::arena;

use super::heap::Heap;
use crate::input::File;
use crate::stages::{Memory, group, intern, medians, parse};

/// The heap's code in scopes of the global allocator.
#[derive(Default)]
pub(crate) struct Transparent(Heap);

impl Memory for Transparent {
    fn parse(&mut self, document: &str) -> parse::Found {
        arena(|| self.0.parse(document))
    }

    fn group(&mut self, files: &[File]) -> group::Found {
        arena(|| self.0.group(files))
    }

    fn intern(&mut self, files: &[File]) -> intern::Found {
        arena(|| self.0.intern(files))
    }

    fn chain(&mut self, window: &[f64]) -> f64 {
        arena(|| self.0.chain(window))
    }

    fn medians(&mut self, window: &[f64]) -> medians::Found {
        arena(|| self.0.medians(window))
    }
}
