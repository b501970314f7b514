//! What an owner knows of its persistent scope, and of whether the next scope is to persist: see
//! `owner/persistent`.

use crate::run::{Entry, NO_ID, Run};
use core::cell::Cell;

/// So many chunks an owner pins for little before a scope persists: 1 MiB. Fewer in debug builds,
/// so that tests come there.
const THRESHOLD: usize = if cfg!(debug_assertions) { 2 } else { 16 };

/// The most that the threshold grows to where persisting does not pay.
const MAX_THRESHOLD: usize = 16 * THRESHOLD;

/// What an owner knows of its persistent scope, and of whether there is to be one.
#[derive(Debug)]
pub(crate) struct Persistence {
    /// Its first chunk. `None` where no scope persists.
    pub(crate) first_chunk: Cell<Option<Run>>,
    /// What its chunks name as their scope; [`NO_ID`] where there is none.
    pub(crate) scope: Cell<u64>,
    /// The ticket of the scope that continues it, or was the last to.
    pub(crate) session: Cell<u64>,
    /// The chunks that it adopted whole, in a list of their own: nothing is bumped in them.
    pub(crate) adopted: Cell<Option<Run>>,
    /// Its live blocks when that one began.
    pub(crate) live_before: Cell<i64>,
    /// The chunk that is looked at next for what other threads freed.
    pub(crate) probe: Cell<Option<Run>>,
    /// Whether it ends the next time that it is suspended.
    pub(crate) is_ending: Cell<bool>,
    /// Chunks that this owner pinned for little, less those that it saw free again, whoever had
    /// pinned them.
    sparse_chunks: Cell<usize>,
    /// How many there must be before a scope persists.
    threshold: Cell<usize>,
}

impl Persistence {
    pub(crate) const fn new() -> Persistence {
        Persistence {
            first_chunk: Cell::new(None),
            scope: Cell::new(NO_ID),
            session: Cell::new(0),
            adopted: Cell::new(None),
            live_before: Cell::new(0),
            probe: Cell::new(None),
            is_ending: Cell::new(false),
            sparse_chunks: Cell::new(0),
            threshold: Cell::new(THRESHOLD),
        }
    }

    /// Takes note of a scope that persists from now on.
    pub(crate) fn begin(&self, first_chunk: Run, scope: u64, session: u64) {
        self.first_chunk.set(Some(first_chunk));
        self.scope.set(scope);
        self.session.set(session);
        self.live_before.set(0);
        self.probe.set(None);
        self.is_ending.set(false);
        self.sparse_chunks.set(0);
    }

    /// Whether the next outermost scope is to persist.
    pub(crate) fn is_due(&self) -> bool {
        self.sparse_chunks.get() >= self.threshold.get()
    }

    /// Lets the next outermost scope persist, for memory is short.
    pub(crate) fn demand(&self) {
        self.sparse_chunks.set(self.sparse_chunks.get().max(self.threshold.get()));
    }

    /// Asks for more chunks before a scope persists again.
    pub(crate) fn raise_threshold(&self) {
        self.threshold.set((self.threshold.get() * 2).min(MAX_THRESHOLD));
    }

    /// Takes note of a chunk that is about to be pinned, for `kept` blocks of those that were
    /// bumped since it got its owner. One that adds nothing to what an earlier owner kept stays as
    /// it was.
    pub(crate) fn record_pinned(&self, entry: &Entry, kept: i32) {
        if kept > 0 {
            entry.is_sparse.set(kept.saturating_mul(4) < entry.bumped.get());
        }
        if entry.is_sparse.get() {
            self.sparse_chunks.set(self.sparse_chunks.get() + 1);
        }
    }

    /// Takes note of a pinned chunk that is this owner's now.
    pub(crate) fn record_unpinned(&self, entry: &Entry) {
        if entry.is_sparse.get() {
            self.sparse_chunks.set(self.sparse_chunks.get().saturating_sub(1));
        }
    }
}
