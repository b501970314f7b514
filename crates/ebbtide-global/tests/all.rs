//! The tests of the transparent allocator, in one program, because programs take longer to link
//! than to run. Each test runs in a process of its own, whose range, pools and report no other test
//! uses.
//!
//! A file that needs another allocator or replaces a function is a program of its own, which its
//! first line says. `dev/xtask/tests/programs.rs` checks that every file is one or the other.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]

use ebbtide_global::Scoped;
use std::alloc::System;

#[macro_use]
mod alone;
#[cfg(target_pointer_width = "64")]
mod filled;
#[cfg(target_pointer_width = "64")]
mod idle;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod resident;
#[cfg(target_pointer_width = "64")]
mod skipping;

mod best_fit;
mod bumper;
mod channels;
mod chunk_ends;
mod crossing;
mod empty_chunks;
mod ended_threads;
mod epoch;
mod evicted;
mod exhausted;
mod fork;
mod futures;
mod given_back;
mod given_back_together;
mod globals;
mod headed;
mod idle_memory;
mod idle_owners;
mod labels;
mod late_threads;
mod layouts;
mod limits;
mod live_bytes;
mod model;
mod no_range;
mod pages;
mod panics;
mod paused;
mod poison;
mod queues;
mod rayon;
mod released_pools;
mod resized_large;
mod retained;
mod scopes;
mod shrunk;
mod skipped;
mod skipped_polls;
mod tails;
mod thread_exit;
mod tickets;
mod tower;
mod tracing;
mod turns;
mod unloaded;
mod warm_runs;
mod window_at_end;
mod zeroed_runs;

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);
