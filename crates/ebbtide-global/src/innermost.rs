//! The state of the innermost scope beside its bump pointer. It is saved in the scope's record as
//! one value while another scope is the innermost.

use crate::{
    bump::Bump,
    lists::FreeLists,
    run::{ChunkRef, Flushed, Pauses, Saved, ScopeRecord, ScopeRef},
};
use core::{cell::Cell, ptr::NonNull};

/// The number of requests that a paused scope leaves to the inner allocator before it asks for
/// memory again.
pub(crate) const RETRY: u32 = 64;

/// The innermost scope, its pauses and its free lists. All-zero bytes are valid.
#[derive(Debug)]
pub(crate) struct Innermost {
    /// The scope; if no scope is open, the one that would begin in the cached chunk.
    scope: Cell<Option<ScopeRef>>,
    /// The chunk after which the next search for an empty chunk starts; `None` for the current
    /// chunk. Not saved.
    pub(crate) search_position: Cell<Option<ChunkRef>>,
    pauses: Cell<Pauses>,
    /// The free lists, once they were created.
    lists: Cell<Option<NonNull<FreeLists>>>,
}

impl Innermost {
    pub(crate) const fn new() -> Self {
        Innermost {
            scope: Cell::new(None),
            search_position: Cell::new(None),
            pauses: Cell::new(Pauses { outside_depth: 0, retry_after: 0 }),
            lists: Cell::new(None),
        }
    }

    /// The scope; if no scope is open, the one that would begin in the cached chunk.
    #[inline]
    pub(crate) fn scope(&self) -> Option<ScopeRef> {
        self.scope.get()
    }

    /// Makes a new scope the innermost one. If no scope is open afterwards, `scope` is the one that
    /// would begin in the cached chunk.
    #[inline]
    pub(crate) fn begin(&self, scope: Option<ScopeRef>) {
        self.scope.set(scope);
        self.search_position.set(None);
        self.pauses.set(Pauses::default());
        self.lists.set(None);
    }

    /// Saves the scope's state in its record.
    #[inline]
    pub(crate) fn save(&self, bump: &Bump, record: &ScopeRecord, flushed: Flushed) {
        let (position, pauses, lists) =
            (bump.position(flushed), self.pauses.get(), self.lists.get());
        record.saved.set(Saved { position, pauses, lists });
    }

    /// Restores the state of a scope.
    #[inline]
    pub(crate) fn restore(&self, scope: ScopeRef, saved: &Saved) {
        self.begin(Some(scope));
        self.pauses.set(saved.pauses);
        self.lists.set(saved.lists);
    }

    // Pauses

    /// Whether `enter_outside` closed the scope.
    #[inline]
    pub(crate) fn is_outside(&self) -> bool {
        self.pauses.get().outside_depth > 0
    }

    /// Whether the scope is closed to requests, for whichever reason.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.is_outside() || self.pauses.get().retry_after > 0
    }

    /// Counts a call to `enter_outside` (`by` is 1), or reverses one (-1).
    #[inline]
    pub(crate) fn nest_outside(&self, by: i32) {
        let pauses = self.pauses.get();
        let outside_depth = pauses.outside_depth.saturating_add_signed(by);
        self.pauses.set(Pauses { outside_depth, ..pauses });
    }

    /// Reverses all calls to `enter_outside`.
    pub(crate) fn leave_all_outside(&self) {
        self.pauses.set(Pauses { outside_depth: 0, ..self.pauses.get() });
    }

    /// Pauses the scope for the next [`RETRY`] requests.
    pub(crate) fn pause(&self) {
        self.pauses.set(Pauses { retry_after: RETRY, ..self.pauses.get() });
    }

    /// Counts a request to a paused scope. Returns true if the scope asks for memory again.
    #[cold]
    pub(crate) fn retry(&self) -> bool {
        let pauses = self.pauses.get();
        if pauses.retry_after == 0 || pauses.outside_depth > 0 {
            return false;
        }
        self.pauses.set(Pauses { retry_after: pauses.retry_after - 1, ..pauses });
        pauses.retry_after == 1
    }

    /// Asserts what the fields say of the scope that `bump` has.
    pub(crate) fn check(&self, bump: &Bump) {
        let is_own = |run: ChunkRef| run.entry().scope_id() == bump.scope_id();
        invariant!(self.search_position.get().is_none_or(is_own), "search_position");
        invariant!(self.pauses.get().retry_after <= RETRY, "retry_after");
        let is_reset = self.lists.get().is_none() && !self.is_closed();
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
