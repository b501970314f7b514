//! The kinds of memory that the tour compares. A new kind is a module with a [`Memory`] and an entry in [`MODES`].

pub(crate) mod heap;
mod scopes;

use crate::input::Input;
use crate::stages::{Memory, Outcome, Stage};

/// A kind of memory, as the report names it.
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Does a stage's job some number of times over.
    pub(crate) run: fn(Stage, &Input, usize) -> Outcome,
}

impl Mode {
    const fn of<M: Memory>(name: &'static str, description: &'static str) -> Self {
        Self { name, description, run: |stage, input, passes| stage.run::<M>(input, passes) }
    }
}

/// Every kind; the first is the one that the others are compared with.
pub(crate) const MODES: &[Mode] = &[
    Mode::of::<heap::Heap>(
        "heap",
        "Vec, String and HashMap of the standard library, as one writes them every day",
    ),
    Mode::of::<scopes::Scopes>(
        "scopes",
        "explicit scopes of ebbtide: plain values that lie and go together",
    ),
];
