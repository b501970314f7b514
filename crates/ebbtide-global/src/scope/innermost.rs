//! The state of the innermost scope beside its bump pointer. It is saved in the scope's record as
//! one value while another scope is the innermost.
//!
//! `owner/switch` saves and restores it; all of `owner` reads it.

use crate::{
    memory::{
        lists::FreeLists,
        run::{ChunkRef, Flushed, Saved, ScopeRecord, ScopeRef},
    },
    scope::{
        bump::Bump,
        mode::{Mode, RETRY},
    },
};
use core::{cell::Cell, ptr::NonNull};

/// The innermost scope, its mode and its free lists. All-zero bytes are valid.
#[derive(Debug)]
pub(crate) struct Innermost {
    /// The scope; if no scope is open, the one that would begin in the cached chunk.
    scope: Cell<Option<ScopeRef>>,
    /// The chunk after which the next search for an empty chunk starts; `None` for the current
    /// chunk. Not saved.
    pub(crate) search_position: Cell<Option<ChunkRef>>,
    mode: Cell<Mode>,
    /// The free lists, once they were created.
    lists: Cell<Option<NonNull<FreeLists>>>,
}

impl Innermost {
    /// The scope; if no scope is open, the one that would begin in the cached chunk.
    pub(crate) fn scope(&self) -> Option<ScopeRef> {
        self.scope.get()
    }

    /// Makes a new scope the innermost one. If no scope is open afterwards, `scope` is the one that
    /// would begin in the cached chunk.
    pub(crate) fn begin(&self, scope: Option<ScopeRef>) {
        self.scope.set(scope);
        self.search_position.set(None);
        self.mode.set(Mode::PLAIN);
        self.lists.set(None);
    }

    /// Saves the scope's state in its record.
    pub(crate) fn save(&self, bump: &Bump, record: &ScopeRecord, flushed: Flushed) {
        let (position, mode, lists) = (bump.position(flushed), self.mode.get(), self.lists.get());
        record.saved.set(Saved { position, mode, lists });
    }

    /// Restores the state of a scope.
    pub(crate) fn restore(&self, scope: ScopeRef, saved: &Saved) {
        self.begin(Some(scope));
        self.mode.set(saved.mode);
        self.lists.set(saved.lists);
    }

    /// The scope's mode.
    pub(crate) fn mode(&self) -> Mode {
        self.mode.get()
    }

    /// Sets the mode. `Owner::set_mode` installs it as well.
    pub(crate) fn set_mode(&self, mode: Mode) {
        self.mode.set(mode);
    }

    /// Asserts what the fields say of the scope that `bump` has.
    pub(crate) fn check(&self, bump: &Bump) {
        let is_own = |run: ChunkRef| run.entry().scope_id() == bump.scope_id();
        invariant!(self.search_position.get().is_none_or(is_own), "search_position");
        invariant!(self.mode().retry_after <= RETRY, "retry_after");
        let is_reset = self.lists.get().is_none() && self.mode() == Mode::PLAIN;
        invariant!(bump.has_scope() || is_reset, "the state without a scope");
        let Some(lists) = self.lists() else { return };
        lists
            .check(|block| ChunkRef::containing(block).is_some_and(is_own) && !bump.is_free(block));
    }

    // Free lists

    /// Sets the free lists.
    ///
    /// # Safety
    ///
    /// They are initialised, and no other scope uses their memory before this one has ended.
    pub(crate) unsafe fn set_lists(&self, lists: NonNull<FreeLists>) {
        self.lists.set(Some(lists));
    }

    /// The free lists, if they were created.
    #[inline(always)]
    pub(crate) fn lists(&self) -> Option<&FreeLists> {
        // SAFETY: the caller of `set_lists` has promised that they are initialised and that nobody
        // else uses them. They are cells, so no `&mut` to them exists.
        self.lists.get().map(|lists| unsafe { lists.as_ref() })
    }
}
