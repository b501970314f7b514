//! The C interface of ebbtide: the functions that `include/ebbtide.h` declares.
//!
//! The header has the fast paths as inline functions. This library has the cold paths, which the
//! inline functions call when a block does not fit, and the functions that create, end or inspect
//! arenas. Only the header calls functions whose names end in an underscore.
//!
//! # Rules for every function
//!
//! - A pointer is null, or valid during the call for the accesses that its type implies. Where a
//!   value is needed, null is an error ([`EBB_NULL`](`ebb_status`::EBB_NULL)); it is never
//!   dereferenced.
//! - An `ebb_scope` is closed, or its words are in use, as [`ebbtide::front_end`] defines it. The
//!   header changes the words only as that module allows.
//! - An arena is a handle that `ebb_arena_new` or one of its siblings returned and that was not ended
//!   since. One thread at a time uses an arena and its scopes.
//! - A function that fails returns a status or null, records the status for [`ebb_last_status`],
//!   and changes nothing.
//! - Nothing unwinds: the library calls only fallible methods of the core, and the functions of a
//!   backing must not unwind either.
//!
//! # Modules, bottom up
//! | module | contents |
//! |---|---|
//! | `last` | the last status of each thread |
//! | `status` | status codes and their texts |
//! | `backing` | the heap, two function pointers, or nothing |
//! | `cleanup` | functions that run when a scope ends |
//! | `arena` | creating, ending, trimming and limiting arenas |
//! | `scope` | the cold paths of scopes |
//! | `share` | scopes that Rust and C use in turn |
//! | `thread` | the arenas of a thread |
//! | `stats` | statistics as a struct and as text |
//! | `heap` | the current heap of each thread |
//! | `places` | where scopes were opened and closed, for the checks of the header |
//!
//! Without the feature `std`, the static library needs only C's `abort`. It then has no heap and no
//! `thread` and remembers no `places`, and all threads share the last status and the current heap.
#![cfg_attr(not(feature = "std"), no_std)]
#![allow(non_camel_case_types, reason = "types have the names that the header gives them")]
#![allow(clippy::missing_safety_doc, reason = "the rules for every function are above")]

mod arena;
mod backing;
mod cleanup;
mod heap;
mod last;
#[cfg(not(feature = "std"))]
mod panic;
mod places;
mod scope;
mod share;
mod stats;
mod status;
#[cfg(feature = "std")]
mod thread;

pub use arena::{
    EBB_ARENA_SIZE, ebb_arena, ebb_arena_free, ebb_arena_limit, ebb_arena_merge, ebb_arena_new,
    ebb_arena_new_in, ebb_arena_reset, ebb_arena_set_limit, ebb_arena_shrink, ebb_arena_storage,
    ebb_arena_trim, ebb_fixed_new, ebb_options, ebb_spilling_new,
};
pub use backing::ebb_backing;
pub use cleanup::ebb_cleanup_;
pub use heap::{ebb_current_heap_, ebb_replace_current_heap_};
pub use places::{
    ebb_closed_, ebb_opened_, ebb_opened_since_, ebb_openings_, ebb_places_, ebb_places_of_,
};
pub use scope::{
    ebb_alloc_low_slowly_, ebb_alloc_slowly_, ebb_cleanups_, ebb_free_ranges_, ebb_is_position_,
    ebb_make_room_, ebb_open_slowly_, ebb_owns, ebb_run_cleanups_, ebb_scope,
};
pub use stats::{ebb_arena_stats, ebb_scope_stats, ebb_stats, ebb_stats_text};
pub use status::{ebb_fail_, ebb_last_status, ebb_status, ebb_status_text};
#[cfg(feature = "std")]
pub use thread::{ebb_thread_close_, ebb_thread_open_, ebb_thread_trim, ebb_warm_set_limit};

use core::ffi::{CStr, c_char};

/// The version of the library at run time; `EBB_VERSION` is the version of the header. A million
/// for each major version, plus a thousand for each minor version, plus the patch version.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_version() -> u32 {
    const VERSION: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) * 1_000_000
        + number(env!("CARGO_PKG_VERSION_MINOR")) * 1_000
        + number(env!("CARGO_PKG_VERSION_PATCH"));
    VERSION
}

/// The version of the library as text, such as "1.2.3".
#[unsafe(no_mangle)]
pub extern "C" fn ebb_version_text() -> *const c_char {
    const TEXT: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("a version has no zero in it"),
        };
    TEXT.as_ptr()
}

const fn number(digits: &str) -> u32 {
    let (mut sum, mut index) = (0, 0);
    while index < digits.len() {
        sum = sum * 10 + (digits.as_bytes()[index] - b'0') as u32;
        index += 1;
    }
    sum
}
