//! Programs that must, or must not, compile: see `tests`.

/// Compiles the examples of the project's page, which no package contains.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
enum Readme {}

/// Compiles the examples of the page on collections.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/COLLECTIONS.md")]
enum Collections {}
