//! The states of an owner that decide how it serves its next scopes.

pub(crate) mod keeping;
pub(crate) mod refusals;
