//! The engine by itself, for front ends: allocators of other languages, or of a framework that
//! knows its own scopes.
//!
//! Programs in Rust use [`arena`](crate::arena) and the other functions of this crate; they need
//! nothing from here. A front end keeps an [`Owner`] for each of its threads (or for each handle
//! that it hands out), opens scopes by [`enter`](Owner::enter) and ends them by
//! [`leave`](Owner::leave), and asks [`alloc`](Owner::alloc) for blocks in between. A block may be
//! freed or resized through any owner, by any thread, inside of scopes or outside.
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
//!     // SAFETY: the block is alive, with this layout, and is used no more.
//!     assert!(unsafe { owner.dealloc(block, layout) });
//!     owner.leave(ticket);
//! }
//! ```

pub use crate::owner::{Owner, Ticket};

/// Whether a block is the engine's, whatever owner served it. Costs a comparison.
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
