//! The tests of the core, in one program, because programs take longer to link than to run.
//!
//! A file that changes the process, for example by a global allocator, is a program of its own,
//! which its first line says. `dev/xtask/tests/programs.rs` checks that every file is one or the
//! other.

#![cfg_attr(feature = "nightly", feature(allocator_api, btreemap_alloc), allow(stable_features))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]

#[cfg(feature = "std")]
mod common;
#[cfg(feature = "std")]
mod targets;

mod accessors;
mod allocator;
mod arith;
mod asan;
mod auto_traits;
mod bad_input;
mod builders;
mod bumper;
mod chunk_sizes;
mod claim_sizes;
mod claims;
mod collections;
mod collections_attacked;
mod derive;
mod drop_arena;
mod dynamic;
mod failure;
mod found;
mod front_end;
mod growing;
mod huge_pages;
mod keep;
mod like_std;
mod local;
mod local_switched_stacks;
mod methods;
mod moving;
mod ndarray;
mod owned;
mod panics;
mod panics_without_alloc;
mod peers_bugs;
mod poison;
mod pool;
mod reentrancy;
mod root_allocates;
mod scopes;
mod serde;
mod steady_state;
mod thread_key;
mod traps;
mod typed_arena;
mod unsize;
mod vectors;
