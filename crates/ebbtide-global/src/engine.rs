//! The engine behind [`arena`](crate::arena), for front ends: bindings to other languages, and
//! frameworks that have their own notion of a scope.
//!
//! Rust programs do not need this module; they use [`arena`](crate::arena) and the other functions
//! of this crate. A front end keeps an [`Owner`] for each of its threads, or for each handle that
//! it hands out. It opens scopes with [`enter`](Owner::enter), allocates with
//! [`alloc`](Owner::alloc), and ends scopes with [`leave`](Owner::leave). A block may be freed or
//! resized through any owner, on any thread, inside a scope or outside.
//!
//! ```
//! use ebbtide_global::{Options, engine::Owner};
//! use std::alloc::Layout;
//!
//! let owner = Owner::new();
//! if owner.start() {
//!     let ticket = owner.enter(&Options::new()).expect("a started owner opens scopes");
//!     let layout = Layout::new::<[u64; 4]>();
//!     let block = owner.alloc(layout);
//!     assert!(!block.is_null());
//!     // SAFETY: the block is alive, has this layout, and is not used again.
//!     assert!(unsafe { owner.dealloc(block, layout) });
//!     owner.leave(ticket);
//! }
//! ```

pub use crate::owner::{Owner, Ticket};

/// Whether the engine served a block, through any owner. Costs one comparison.
///
/// ```
/// use ebbtide_global::{Scoped, arena, engine};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// let (inside, outside) = (arena(|| Box::new(1)), Box::new(2));
/// assert!(engine::is_ours(&raw const *inside));
/// assert!(!engine::is_ours(&raw const *outside));
/// ```
#[must_use]
pub fn is_ours<T>(block: *const T) -> bool {
    crate::range::offset_of(block.addr()).is_some()
}
