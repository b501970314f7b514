//! The state of the innermost scope beside its bump pointer. It is saved in the scope's record as
//! one value while another scope is the innermost.
//!
//! `owner/switch` saves and restores it; all of `owner` reads it.

use crate::{
    memory::run::{ChunkRef, Flushed, Saved, ScopeRecord, ScopeRef},
    scope::{bump::Bump, mode::Mode},
};
use core::cell::Cell;

/// The innermost scope and its mode. All-zero bytes are valid.
#[derive(Debug)]
pub(crate) struct Innermost {
    /// The scope; if no scope is open, the one that would begin in the cached chunk.
    scope: Cell<Option<ScopeRef>>,
    /// The chunk after which the next search for an empty chunk starts; `None` for the current
    /// chunk. Not saved.
    pub(crate) search_position: Cell<Option<ChunkRef>>,
    mode: Cell<Mode>,
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
    }

    /// Saves the scope's state in its record.
    pub(crate) fn save(&self, bump: &Bump, record: &ScopeRecord, flushed: Flushed) {
        record.saved.set(Saved { position: bump.position(flushed), mode: self.mode.get() });
    }

    /// Restores the state of a scope.
    pub(crate) fn restore(&self, scope: ScopeRef, saved: &Saved) {
        self.begin(Some(scope));
        self.mode.set(saved.mode);
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
        let is_reset = self.mode() == Mode::PLAIN;
        invariant!(bump.has_scope() || is_reset, "the state without a scope");
    }
}
