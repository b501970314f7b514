//! Scoped arena memory: a few instructions to allocate, none to free a whole scope.
//!
//! A piece of code opens a [`Scope`] and allocates values in it. When the scope ends, all of its
//! memory is free again, as if the values had been on the stack. The compiler proves that no
//! reference escapes.
//!
//! ```
//! use ebbtide::Arena;
//!
//! let mut arena = Arena::new();
//! let mut outer = arena.scope();
//! let kept = outer.alloc(1);
//! {
//!     let inner = outer.scope();
//!     inner.alloc_str("gone after this block");
//! }
//! *kept += 1;
//! assert_eq!(*kept, 2);
//! ```
//!
//! - [`Arena`] owns chunks of memory and grows. [`Fixed`] and [`StackArena`] use memory that you
//!   provide.
//! - [`Scope`] allocates. It is three words by value, without a destructor. Functions take
//!   `&Scope<'a>`, for every kind of arena.
//! - [`boxed::Box`] owns a value in the arena and runs its destructor. [`alloc`](Scope::alloc)
//!   rejects types that need a destructor, so nothing leaks silently.
//! - [`DropArena`] runs the destructors of values of any types. `TypedArena` has values of one
//!   type, which may refer to each other in cycles, and runs their destructors.
//! - [`Owned`] is an arena and a value in it, such as a tree, as one value.
//! - [`keep`](Scope::keep), [`keep_str_or`](Scope::keep_str_or) and their siblings keep the result
//!   of a child scope in its parent. [`transaction`](Scope::transaction) keeps everything, or
//!   nothing after an error.
//! - [`Backing`] is where chunks come from: [`Heap`], or a type of yours.
//! - From Rust 1.100 on, the standard library's `Vec` and `Box` allocate from `&Scope`, `&Arena`,
//!   `Arena` and `Rc<Arena>`, see [below](#the-standard-librarys-collections).
//! - [`GrowVec`] and [`GrowString`] are builders that grow in place, one at a time. The module
//!   [`collections`] has vectors and strings without a destructor, maps and sets.
//! - The function `scope` and the module `local` give access to the default arena of a thread.
//!   `Pool` has arenas for many threads.
//! - The module [`front_end`] is for interfaces to other languages.
//!
//! Method names follow bumpalo: `alloc`, `alloc_with`, `alloc_str`, `alloc_slice_copy` and so on.
//! Every method of a scope that allocates has a `try_` version that returns [`AllocError`] where
//! the other one calls `handle_alloc_error`. Users of bumpalo, typed-arena and bump-scope find their
//! calls in the module [`migrating`].
//!
//! # The standard library's collections
//!
//! They need Rust 1.100, and no feature:
//!
#![cfg_attr(std_allocator, doc = "```")]
#![cfg_attr(not(std_allocator), doc = "```ignore")]
//! use ebbtide::Arena;
//! use std::rc::Rc;
//!
//! let mut arena = Arena::new();
//! let s = arena.scope();
//! let mut numbers = Vec::new_in(&s);
//! numbers.extend(0..100);
//! let shape: Box<dyn Fn(i32) -> i32, _> = Box::new_in(|n| 2 * n, &s);
//! assert_eq!(numbers.iter().map(|n| shape(*n)).sum::<i32>(), 9_900);
//!
//! // Without a lifetime: whoever holds a collection holds the arena.
//! let arena = Rc::new(Arena::new());
//! let mut names = Vec::new_in(Rc::clone(&arena));
//! names.push(Box::new_in("ebb", arena));
//! assert_eq!(*names[0], "ebb");
//! ```
//!
//! # Memory
//!
//! The first chunk has 16 KiB (64 KiB in a thread's default arena). Each further chunk is twice as
//! large as the one before, up to 4 MiB. The arena keeps its chunks when a scope ends, so a warm loop
//! does not call the heap. [`trim`](Arena::trim), [`reset_with`](Arena::reset_with) and dropping the
//! arena release them. Open one scope per item, inside the loop: a scope around the loop keeps the
//! memory of all items until the loop ends.
//!
//! # Sanitizers
//!
//! A build with `-Zsanitizer=address` needs no other option: memory of an ended scope is poisoned once
//! the next scope opens over it, and a dropped arena's memory goes back to the heap at once. So the sanitizer
//! reports raw pointers that outlived either. With the thread, memory and hardware sanitizers, the
//! memory of dropped arenas goes back at once as well, but memory that is used again within an
//! arena hides faults from them.
//!
//! # Features
//!
//! - `std` (default) implies `alloc` and adds the default arenas and `Pool`. `alloc` adds `Heap`,
//!   and methods that move values in from `Vec` and `Box`. Without both, the crate needs only
//!   `core`.
//! - `allocator-api2-02`, `-03`, `-04`: each implements the trait `Allocator` of one version of
//!   allocator-api2. If another crate enables the feature `nightly` of version 0.2, which makes its
//!   trait the standard library's, error E0119 says that the trait is implemented twice: enable
//!   `allocator-api2-02-nightly` here.
//! - `nightly`: all collections of the standard library, with a nightly compiler, also one before
//!   1.100.
//! - `hashbrown-017`: `s.map()`, `s.set()` and the other maps and sets of [`collections`].
//!   `ndarray-017`: arrays of any dimension.
//! - `serde`: boxes and collections, and `dynamic` values such as JSON; `derive` adds a derive macro for
//!   types that deserialise into a scope. `rayon`: `Pool::par_map`. `huge-pages`: a backing of huge pages.
//! - `poison`, for debugging, fills memory with `0xDB` after its scope has ended, and makes
//!   [`Stats::high_water`] exact to the byte. It costs time for each byte that a scope used.
//! - `full` is all of these but `allocator-api2-02-nightly`, `nightly` and `poison`.
//!
//! The crates whose types or traits are part of this API are re-exported under the name of their
//! feature, as `ebbtide::hashbrown_017`. A later major version of such a crate gets a new feature
//! and a new module. Methods without a version in their name, such as `s.map()`, keep their current
//! version until ebbtide's next major release.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(feature = "nightly", feature(allocator_api, cfg_version), allow(stable_features))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

/// Compiles the examples of the package's own page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
enum Readme {}

// rustdoc lists the methods of `Scope` in the order of the modules. rustfmt sorts each group.
mod value;

mod scope;

mod slice;

mod string;

pub mod boxed;

mod vector;

mod text;

mod arena;
#[doc(hidden)]
pub mod arith;
#[cfg(feature = "ndarray-017")]
mod array;
mod backing;
mod chunk;
pub mod collections;
mod collector;
#[cfg(any(
    feature = "allocator-api2-02",
    feature = "allocator-api2-03",
    feature = "allocator-api2-04",
    std_allocator
))]
mod compat;
mod copy;
#[cfg(feature = "serde")]
pub mod deserialize;
mod drop_arena;
#[cfg(feature = "serde")]
pub mod dynamic;
mod error;
mod fixed;
mod fresh;
pub mod front_end;
#[cfg(feature = "alloc")]
mod heap;
#[cfg(feature = "huge-pages")]
mod huge;
mod init_guard;
mod keep;
#[cfg(feature = "std")]
pub mod local;
/// A page for users of other arenas; there is no code in it.
#[cfg(all(doc, any(not(doctest), all(feature = "std", feature = "hashbrown-017"))))]
#[doc = include_str!("../MIGRATING.md")]
pub mod migrating {}
mod owned;
mod poison;
// The loom models include the file of the pool directly, with other locks (`tests/loom.rs`).
mod in_root;
#[cfg(all(feature = "std", not(loom)))]
mod pool;
#[cfg(all(feature = "std", not(loom)))]
mod pool_root;
mod prefetch;
mod raw;
mod root;
#[cfg(feature = "serde")]
pub mod serialize;
mod stats;
#[cfg(feature = "std")]
mod thread_end;
#[cfg(all(feature = "std", target_os = "linux"))]
mod thread_key;
mod threads;
#[cfg(feature = "alloc")]
pub mod typed_arena;
#[cfg(feature = "std")]
pub mod warm;

#[cfg(feature = "allocator-api2-02")]
pub use allocator_api2_02;
#[cfg(feature = "allocator-api2-03")]
pub use allocator_api2_03;
#[cfg(feature = "allocator-api2-04")]
pub use allocator_api2_04;
#[cfg(feature = "hashbrown-017")]
pub use hashbrown_017;
#[cfg(feature = "ndarray-017")]
pub use ndarray_017;

pub use arena::{Arena, Retain};
#[cfg(feature = "alloc")]
pub use backing::Heap;
pub use backing::{Backing, DefaultBacking, NoSpill};
pub use drop_arena::DropArena;
pub use error::{AllocError, AllocOrInitError};
#[cfg(feature = "alloc")]
pub use fixed::SpareCapacity;
pub use fixed::{Fixed, RawBytes, StackArena, StackBytes};
#[cfg(feature = "huge-pages")]
pub use huge::HugePages;
pub use keep::ForLifetime;
#[cfg(feature = "std")]
pub use local::{scope, try_scope};
pub use owned::Owned;
#[cfg(all(feature = "std", not(loom)))]
pub use pool::{Pool, Pooled};
#[cfg(all(feature = "std", not(loom)))]
pub use pool_root::PooledRoot;
pub use scope::{Checkpoint, Claim, Scope};
pub use stats::{Chunk, Stats};
pub use text::GrowString;
#[cfg(feature = "alloc")]
pub use typed_arena::TypedArena;
pub use value::Zeroable;
pub use vector::GrowVec;

/// Expands to its contents if `Allocator` of the standard library needs no feature gate, which another
/// crate may not have.
#[cfg(stable_allocator)]
#[doc(hidden)]
#[macro_export]
macro_rules! __std_allocator {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(not(stable_allocator))]
#[doc(hidden)]
#[macro_export]
macro_rules! __std_allocator {
    ($($code:tt)*) => {};
}

/// Expands to its contents unless `Allocator` of allocator-api2 0.2 is that of the standard library.
#[cfg(not(feature = "allocator-api2-02-nightly"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __allocator_api2_02 {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(feature = "allocator-api2-02-nightly")]
#[doc(hidden)]
#[macro_export]
macro_rules! __allocator_api2_02 {
    ($($code:tt)*) => {};
}
