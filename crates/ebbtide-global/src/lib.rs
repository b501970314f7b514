//! Arenas for code that knows nothing of arenas: a global allocator with safe scopes.
//!
//! ```
//! use ebbtide_global::{Scoped, arena};
//! use std::alloc::System;
//!
//! #[global_allocator]
//! static ALLOC: Scoped<System> = Scoped::new(System); // or over mimalloc, jemalloc …
//!
//! let text = "3 1 2";
//! let largest = arena(|| {
//!     // All that is allocated in here comes from an arena, by whatever code.
//!     let mut numbers: Vec<String> = text.split(' ').map(String::from).collect();
//!     numbers.sort();
//!     numbers.pop()
//! });
//! assert_eq!(largest.as_deref(), Some("3"));
//! ```
//!
//! [`arena`] is a safe function and takes any closure with any result. When it ends, what is dead
//! is reclaimed at once; what escaped, like the string above, stays valid and is reclaimed when it
//! is freed, by whatever thread. The compiler does not check that nothing escapes, because nothing
//! depends on it: chunks of 64 KiB count their live blocks, and one in which something lives is not
//! used again. [`engine`] has the argument.
//!
//! | call | what it does |
//! |---|---|
//! | [`arena`], [`arena_with`] | a scope; [`Options`] say what it serves |
//! | [`outside`], [`take_out`] | the inner allocator for the length of a closure |
//! | [`map`], `par_map` (feature `rayon`) | a scope for every item |
//! | [`spawn_in_arena`], [`ArenaFuture`] | a thread, or a future, in scopes of its own |
//! | `ArenaLayer` (feature `tower`) | every request of a server in such a future |
//! | [`warm`] | makes std's lazy globals outside of any arena |
//! | [`release_pool`], [`retain`] | what is kept for the next scopes |
//! | [`report`] | blocks and bytes served, fallbacks by reason, escaped blocks |
//!
//! # When it pays
//!
//! Where a piece of work allocates much, keeps little of it, and ends: parsing, compiling,
//! answering a request, numeric work with temporary vectors. It does not where most of what is
//! allocated stays, or where hardly anything is allocated a scope. [`Report::leaky_labels`] names
//! the scopes of which more than one block in twenty outlived its scope.
//!
//! # Features
//!
//! `rayon` brings `par_map`; `tower` brings `ArenaLayer`; `tracing` an event, at level `TRACE`, for
//! every scope that ends; `poison` fills blocks with 0xDE when they are freed, which debug builds
//! do anyway.
//!
//! # Platforms
//!
//! 64-bit Linux and Windows; other 64-bit Unixes compile and are not tested. Elsewhere (in 32 bits,
//! on WebAssembly), and where the system gives no range of addresses, everything comes from the
//! inner allocator. Memory that is given back ([`release_pool`], [`retain`]) is the system's again
//! at once on Linux and Windows; other Unixes take it when they need it. On Windows the addresses
//! that were ever in use count as promised memory, 32 MiB at a time, until they are given back.
#![cfg_attr(docsrs, feature(doc_cfg))]
// Models know nothing of mapped memory: `tests/loom*.rs` take the modules that they model by
// themselves.
#![cfg(not(loom))]

mod bounds;
mod budget;
mod cache;
mod calls;
mod count;
pub mod engine;
mod figures;
mod frontier;
mod future;
#[cfg(feature = "tower")]
mod layer;
mod lists;
mod memory;
mod once;
mod options;
mod os;
mod owner;
mod payoff;
mod persistence;
mod pool;
mod range;
mod registry;
mod report;
mod run;
mod scoped;
mod size;
mod stack;
mod tails;
mod thread;

#[cfg(feature = "rayon")]
pub use calls::par_map;
pub use calls::{arena, arena_with, map, outside, release_pool, spawn_in_arena, take_out, warm};
pub use future::ArenaFuture;
#[cfg(feature = "tower")]
pub use layer::{ArenaLayer, ArenaService};
pub use options::Options;
pub use report::{Escapes, Fallbacks, LabelReport, Report, report, retain};
pub use scoped::Scoped;

/// Compiles the examples of the page on servers.
#[cfg(all(doctest, feature = "tower"))]
#[doc = include_str!("../../../docs/SERVER.md")]
enum ServerPage {}
