//! A program of its own, because it compiles files of the crate as its own.
//!
//! The loom models: every interleaving of threads within the bounds of each model. `ci/loom.sh` runs
//! them. They compile the modules of the crate that threads share, with the atomics of loom. The
//! modules contain no unsafe code, except for three blocks in `registry`.
//!
//! Not modelled, and why:
//!
//! - `scope_id`, `owner_id` and `next` of a chunk's entry. They are loaded and stored `Relaxed`. A thread
//!   that relies on a value holds a live block or owns the chunk, and that orders the accesses. The
//!   documentation of `Entry` in `run.rs` has the argument.
//! - Counters: `PINNED`, `POOLED`, `UNUSED`, the figures of owners and labels. Each change is a single
//!   atomic operation, or only one thread writes the counter. Reports and trimming read them, and
//!   need no exact value.
//! - `NEXT_BATCH`: one `fetch_add`.
//! - `INSTALLED`: all threads that compute it arrive at the same value.
//! - `RETAIN`: a setting. No other data depends on it.
//! - The system calls `mmap`, `mprotect` and `madvise`. The models use a cell or an unordered flag
//!   instead. `tests/fork_at_start.rs` stops a thread while it reserves the range, and forks.
//! - Overflow of the change counter of a stack, which has 32 bits. It would matter only if a thread
//!   was suspended during exactly a multiple of 2^32 changes and then found the same run on top.

#![cfg(loom)]
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

#[macro_use]
#[path = "../src/invariant.rs"]
mod invariant;
#[path = "../src/limits.rs"]
mod limits;
#[path = "../src/size.rs"]
mod size;

#[macro_use]
#[path = "../src/shared"]
mod shared {
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
}

mod loom_count;
mod loom_lease;
mod loom_memory;
mod loom_plain;
mod loom_pool;
mod loom_range;
mod loom_registry;
mod loom_watch;
