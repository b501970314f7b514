//! Transparent arenas for C++ and C: the functions that the files in `c/` call.
//!
//! `c/operators.cpp` replaces the operators `new` and `delete`, and `c/malloc.c` has `ebb_malloc`
//! and its siblings. They are thin: they load the thread's owner, a thread-local variable of C, and
//! call a function of this library. So the address of the variable costs no call, and the
//! exceptions are thrown by C++ code.
//!
//! # Who calls whom
//!
//! ```text
//! operator new, ebb_malloc ─► ebb_alloc_ ─┬─ no scope is open ─► the caller's function: malloc
//!                                         ├─ it fits ─► a block of the arena           the fast path
//!                                         └─ else ─► slow ─► the engine, or the caller's function
//! operator delete, ebb_free ─► ebb_free_ ─┬─ not of the engine ─► free
//!                                         └─ else ─► the engine
//! in_arena, ebb_enter ─► ebb_enter_ ─┬─ the thread is started ─► the engine
//!                                    └─ else ─► start
//! ```
//!
//! # Rules for every function
//!
//! - `owner` is the thread-local of the calling thread. Its bytes are initially zero, and only
//!   these functions access them. It has the size and alignment that `c/thread.h` states.
//! - A block is null or alive. A block in the engine's range came from these functions, so it has a
//!   header: the operators, `ebb_malloc` and its siblings take every block from them. Any other
//!   block came from the C library.
//! - Programs do not call the functions, whose names end in an underscore.
//! - Nothing unwinds from here. A function of the caller may throw; it is called last, by frames
//!   that have nothing to drop. The functions of the fast paths are `C-unwind`, so that they need
//!   no frame to catch a panic that cannot happen, and may end in a jump.
//! - So the crate does not compile with `panic = "abort"`: each call of a function that may throw
//!   would end the process if it did, and need a frame for that. Functions that return null to C++,
//!   which then throws, would work with either. They were tried: `new` takes 6 instructions more,
//!   which is 9 % of `new` and `delete` in a scope, because C++ keeps the size and tests for null.
//!
//! # Modules, bottom up
//! | module | contents |
//! |---|---|
//! | `memory` | blocks |
//! | `exit` | ending a thread's owner |
//! | `scopes` | scopes |
//! | `report` | statistics |
#![cfg(unix)]
#![allow(non_camel_case_types, reason = "types have the names that the header gives them")]
#![allow(clippy::missing_safety_doc, reason = "the rules for every function are above")]

#[cfg(not(panic = "unwind"))]
compile_error!("C++ exceptions pass through this crate: build it with panic = \"unwind\"");

mod exit;
mod memory;
mod report;
mod scopes;

pub use memory::{
    ebb_alloc_, ebb_alloc_aligned_, ebb_alloc_zeroed_, ebb_free_, ebb_realloc_, ebb_usable_size_,
};
pub use report::{
    ebb_figures, ebb_release_, ebb_report_, ebb_report_text_, ebb_retain, ebb_set_skipping,
};
pub use scopes::{ebb_enter_, ebb_enter_outside_, ebb_enter_with_, ebb_leave_, ebb_scope_options};

/// The bytes of a thread's owner in `c/thread.h`.
const OWNER_BYTES: usize = 768;

const _: () = assert!(size_of::<ebbtide_global::engine::Owner>() <= OWNER_BYTES);
const _: () = assert!(align_of::<ebbtide_global::engine::Owner>() == 64);
