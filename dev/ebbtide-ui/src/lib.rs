//! Programs that must, or must not, compile: see `tests`.

/// Compiles the examples of pages that no package contains: of the project's own page, and of the
/// book's chapters. Blocks that need Rust 1.100 are marked `rust,ignore`; `ci/beta.sh` runs them.
macro_rules! pages {
    ($($name:ident $file:literal)*) => {$(
        #[cfg(doctest)]
        #[doc = include_str!($file)]
        enum $name {}
    )*};
}

pages! {
    Readme "../../../README.md"
    Adviser "../../../docs/ADVISER.md"
    Collections "../../../docs/COLLECTIONS.md"
    Destructors "../../../docs/DESTRUCTORS.md"
    Errors "../../../docs/ERRORS.md"
    Memory "../../../docs/MEMORY.md"
    Results "../../../docs/RESULTS.md"
    Scopes "../../../docs/SCOPES.md"
    Threads "../../../docs/THREADS.md"
    Transparent "../../../docs/TRANSPARENT.md"
}
