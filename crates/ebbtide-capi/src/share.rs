//! Scopes that Rust and C use in turn.

use crate::{
    scope::{CHILD, core_scope, ebb_scope},
    status::ebb_status,
};
use core::ptr;
use ebbtide::{Scope, front_end::Words};

impl ebb_scope {
    /// Lends a Rust scope to C, which allocates in it as in its own. Rust continues with
    /// [`scope`](ebb_scope::scope). Costs nothing.
    ///
    /// The memory lives until the arena is used again, or until C closes the scope.
    ///
    /// ```
    /// use ebbtide::Arena;
    /// use ebbtide_capi::ebb_scope;
    ///
    /// let mut arena = Arena::new();
    /// let mut shared = ebb_scope::lend(arena.scope());
    /// // Here, C may allocate from `&mut shared`.
    ///
    /// // SAFETY: the scope is open, and `arena` is not used as long as this one is.
    /// let scope = unsafe { shared.scope() }.expect("C has not closed it");
    /// assert_eq!(*scope.alloc(7), 7);
    /// ```
    #[must_use]
    pub fn lend(scope: Scope<'_>) -> ebb_scope {
        ebb_scope { words: Words::of(scope), state: ptr::without_provenance_mut(CHILD) }
    }

    /// Converts a scope that was [lent](ebb_scope::lend) to C, or that C passes, to a Rust scope.
    /// Either language may use what the other allocates.
    ///
    /// # Errors
    /// The scope is closed.
    ///
    /// # Safety
    ///
    /// If the scope is open, the rules of [`Words::scope`] hold during `'s`: C does not use the
    /// scope and has no child of it open, and the arena is used only through this scope.
    pub unsafe fn scope<'s>(&'s mut self) -> Result<&'s mut Scope<'s>, ebb_status> {
        // SAFETY: a reference is not null, and by this function's contract, the scope is closed, or
        // its words are in use during `'s`.
        unsafe { core_scope(self) }
    }
}
