//! A program of its own, because it compiles files of the crate as its own.
//!
//! The loom models: every interleaving of threads within the bounds of each model. `ci/loom.sh` runs
//! them. What they check are the modules of the crate, with the atomics of loom.

#![cfg(loom)]
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

#[path = "../src/bounds.rs"]
mod bounds;
#[path = "../src/budget.rs"]
mod budget;
#[path = "../src/count.rs"]
mod count;
#[path = "../src/frontier.rs"]
mod frontier;
#[path = "../src/lease.rs"]
mod lease;
#[path = "../src/once.rs"]
mod once;
#[path = "../src/registry.rs"]
mod registry;
#[path = "../src/returned.rs"]
mod returned;
#[path = "../src/size.rs"]
mod size;
#[path = "../src/stack.rs"]
mod stack;
#[path = "../src/suspended.rs"]
mod suspended;
#[path = "../src/tails.rs"]
mod tails;
#[path = "../src/watch.rs"]
mod watch;

mod loom_count;
mod loom_lease;
mod loom_memory;
mod loom_pool;
mod loom_range;
mod loom_registry;
mod loom_returned;
mod loom_watch;
