//! A global allocator with safe arena scopes, for code that is unaware of arenas.
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
//!     // Everything allocated in here, by any code, comes from an arena.
//!     let mut numbers: Vec<String> = text.split(' ').map(String::from).collect();
//!     numbers.sort();
//!     numbers.pop()
//! });
//! assert_eq!(largest.as_deref(), Some("3"));
//! ```
//!
//! [`arena`] is a safe function. It takes any closure and returns any result. When the closure
//! returns, chunks without live blocks can be reused immediately. A block that escapes, like the
//! string above, stays valid until any thread frees it. This is safe for any closure, because each
//! chunk of 64 KiB counts its live blocks and is not reused while one of them is alive. The memory
//! that arenas hold is bounded; [`arena`] says how, and for which programs the bound does not hold.
//!
//! | call | what it does |
//! |---|---|
//! | [`arena`], [`arena_with`] | runs a closure in a scope; [`Options`] restrict what the scope serves |
//! | [`enter`] | opens a scope until its guard is dropped |
//! | [`outside`], [`take_out`] | runs a closure with the inner allocator |
//! | [`map`], `par_map` (feature `rayon`) | calls a closure on each item, in a scope per item |
//! | [`spawn_in_arena`], [`ArenaFuture`] | runs a thread in a scope; polls a future in scopes |
//! | `ArenaLayer` (feature `tower`) | answers each request of a server in such a future |
//! | [`warm`] | initialises the lazy globals of std outside of any arena |
//! | [`release_pool`], [`retain`] | return memory to the system; set how much is kept |
//! | [`report`] | returns statistics: blocks and bytes served, fallbacks by reason, escaped blocks |
//!
//! # When it pays
//!
//! A scope pays if the work in it allocates much and keeps little: parsing, compiling, answering a
//! request, numeric work with temporary vectors. Open one scope per item, inside the loop. A scope
//! does not pay if most blocks outlive it or if it allocates only a few; allocate long-lived data
//! in [`outside`]. [`Report::leaky_labels`] names the scopes that keep memory: more than one block in
//! twenty outlived its scope, and more than 1 MiB is pinned now. The examples `medians`, `search`, `group_by` and `json_server` show scopes at
//! work.
//!
//! # Features
//!
//! - `rayon`: `par_map`.
//! - `tower`: `ArenaLayer`.
//! - `recorded`: `Recorded`, with which `cargo ebbtide advise` sees a program with an allocator of its own.
//! - `tracing`: emits an event at level `TRACE` for every scope that ends.
//! - `poison`: fills blocks with 0xDE when they are freed. Debug builds always do so.
//!
//! # Platforms
//!
//! Scopes work on 64-bit Unix and Windows; the tests run on Linux, Windows and macOS. Elsewhere (with
//! 32-bit addresses, on WebAssembly), and if the system refuses to reserve a range of addresses,
//! every request goes to the inner allocator. So it does in a build for a sanitizer that checks
//! accesses (`-Zsanitizer=address`, for example), which then sees each block.
//!
//! Memory that [`release_pool`] or [`retain`] gives back is available to other processes at once on
//! Linux and Windows; other Unixes reclaim it when they need it. On Windows, addresses that have
//! ever been in use count as committed memory, in steps of 32 MiB, until they are given back.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The loom models cannot map memory. `tests/loom*.rs` include the modules that they model directly.
#![cfg(not(loom))]

#[macro_use]
mod invariant;
#[macro_use]
mod shared;

mod calls;
pub mod engine;
mod figures;
mod future;
#[cfg(feature = "tower")]
mod layer;
mod limits;
mod memory;
mod options;
mod owner;
mod policy;
#[cfg(feature = "recorded")]
mod recorded;
mod report;
mod scope;
mod scoped;
mod sites;
mod size;
mod thread;

#[cfg(feature = "rayon")]
pub use calls::par_map;
pub use calls::{
    Entered, arena, arena_with, enter, map, outside, release_pool, set_skipping, spawn_in_arena,
    take_out, warm,
};
pub use future::ArenaFuture;
#[cfg(feature = "tower")]
pub use layer::{ArenaLayer, ArenaService};
pub use options::Options;
#[cfg(feature = "recorded")]
pub use recorded::Recorded;
pub use report::{Escapes, Fallbacks, LabelReport, Report, report, retain};
pub use scoped::Scoped;

/// Compiles the examples of the page on servers.
#[cfg(all(doctest, feature = "tower"))]
#[doc = include_str!("../SERVER.md")]
enum ServerPage {}

/// Compiles the examples of the package's own page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
enum Readme {}
