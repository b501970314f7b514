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
//!
//! # Languages other than Rust
//!
//! - **Free without a layout**: [`alloc_headed`](Owner::alloc_headed) serves blocks that have their
//!   size and alignment in front of them, aligned to 16 bytes, and
//!   [`free_headed`](Owner::free_headed) and [`resize_headed`](Owner::resize_headed) need nothing
//!   but the address. A program must not mix these with blocks of [`alloc`](Owner::alloc): the
//!   engine cannot tell from a block's address whether it has a header.
//! - **Fast paths** for such blocks are inlined: [`alloc_headed_or`](Owner::alloc_headed_or),
//!   [`free_headed`](Owner::free_headed), [`enter_default`](Owner::enter_default) and
//!   [`leave`](Owner::leave).
//! - **Owners in thread-locals of that language**: all-zero bytes are an owner that is not started.
//!   It serves no requests, but can free blocks of other owners. Before a thread ends, it has to
//!   [end](Owner::end) its owner; otherwise the memory that the owner keeps is lost. After that,
//!   the thread may still free blocks through the owner.
//! - **Tickets** are [numbers](Ticket::number); 0 stands for no scope.
//!
//! ```
//! use ebbtide_global::engine::{Owner, Ticket};
//!
//! let owner = Owner::new();
//! owner.start();
//! let number = owner.enter_default().map_or(0, Ticket::number);
//! let block = owner.alloc_headed(100, 16);
//! if !block.is_null() {
//!     // SAFETY: the block is alive, and not used again.
//!     assert!(unsafe { owner.free_headed(block) });
//! }
//! if let Some(ticket) = Ticket::from_number(number) {
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
    crate::memory::range::offset_of(block.addr()).is_some()
}
