//! What threads share: safe code over atomics. The loom models in `tests/loom*.rs` compile these files.

#[macro_use]
pub(crate) mod atomic;
pub(crate) mod bounds;
pub(crate) mod budget;
pub(crate) mod count;
pub(crate) mod frontier;
pub(crate) mod lease;
pub(crate) mod once;
pub(crate) mod registry;
pub(crate) mod stack;
pub(crate) mod watch;
