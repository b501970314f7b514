//! The state of an owner's persistent scope, and the policy that decides whether the next scope
//! persists. The methods that act on it are in `owner/persistent`.
//!
//! Whether an owner's scopes [keep](Persistence::keeps) blocks also decides whether they may use the
//! reserve of the memory bound (`owner/supply`).

use crate::{
    figures,
    memory::{
        held,
        run::{Entry, FIRST_ID, NO_SCOPE, ScopeRef},
    },
    size::CHUNK,
};
use core::cell::Cell;

/// The number of sparse chunks that an owner pins before a scope persists: 1 MiB. Lower in debug
/// builds, so that tests reach it.
const THRESHOLD: usize = if cfg!(debug_assertions) { 2 } else { 16 };

/// The number of outermost scopes in a row that keep nothing before this owner's scopes no longer count
/// as scopes that keep blocks. It doubles, up to the second value, each time that one of the next few
/// keeps a block after all: ending a persistent scope takes time for each of its chunks, and the block
/// pins a chunk of the reserve. Lower in debug builds, so that tests reach it.
const PATIENCE: (u32, u32) = (if cfg!(debug_assertions) { 2 } else { 8 }, 1024);

/// The most blocks whose frees are pending. Each of them may keep a chunk of 64 KiB, so they keep
/// at most 1 MiB if the thread waits.
const MAX_PENDING: usize = 16;

/// A block and its size.
pub(crate) type Pending = (*mut u8, usize);

/// Whether the pinned chunks of the whole process hold more than twice the live bytes of the recent
/// past.
pub(crate) fn are_mostly_free() -> bool {
    figures::pinned() > 2 * held::BUDGET.peak() / CHUNK + THRESHOLD
}

/// The persistent scope of an owner, and what decides whether the next scope persists. All-zero bytes
/// are valid: there is none.
#[derive(Debug)]
pub(crate) struct Persistence {
    /// The persistent scope, if there is one.
    pub(crate) scope: Cell<Option<ScopeRef>>,
    /// The ID of the current or last session, which is the ID in its ticket (P4).
    pub(crate) session: Cell<u64>,
    /// The scope's live blocks when the session began.
    pub(crate) live_before: Cell<i64>,
    /// The scope's live blocks while it is suspended, less those whose frees are pending. 0 before it
    /// is suspended for the first time.
    pub(crate) live_left: Cell<i64>,
    /// Blocks that were freed while the scope is suspended, and are still counted as alive.
    pending: [Cell<Pending>; MAX_PENDING],
    /// The number of blocks in `pending`.
    pending_count: Cell<usize>,
    /// Whether the scope ends when it is suspended next.
    pub(crate) is_ending: Cell<bool>,
    /// The window in which this owner last looked for empty chunks because more was held than the
    /// bound allows.
    pub(crate) swept_in: Cell<u64>,
    /// The number of sparse chunks that this owner pinned, less the number that it adopted or
    /// freed. The latter may have been pinned by any owner.
    pub(crate) sparse_chunks: Cell<usize>,
    /// The number of outermost scopes since the last one that kept a block. Fast scopes do not count.
    quiet: Cell<u32>,
    /// How many of them it takes beyond the first value of [`PATIENCE`].
    more_patience: Cell<u32>,
}

impl Persistence {
    /// Whether this is the persistent scope.
    pub(crate) fn is(&self, scope: ScopeRef) -> bool {
        self.scope.get() == Some(scope)
    }

    /// The persistent scope's ID, as in the entries of its chunks; [`NO_SCOPE`] if there is none. Other
    /// threads must not be able to end the scope.
    pub(crate) fn scope_id(&self) -> u64 {
        self.scope.get().map_or(NO_SCOPE, ScopeRef::id)
    }

    /// Records that a scope persists from now on, with its first session.
    pub(crate) fn begin(&self, scope: ScopeRef, session: u64) {
        self.scope.set(Some(scope));
        self.session.set(session);
        self.live_before.set(0);
        self.is_ending.set(false);
        self.live_left.set(0);
    }

    /// Defers freeing a block of the suspended scope. Returns whether
    /// [`pop_pending`](Persistence::pop_pending) must be called until nothing is pending: no more
    /// blocks can be deferred, or this was the scope's last one.
    pub(crate) fn push_pending(&self, freed: Pending) -> bool {
        let (count, left) = (self.pending_count.get(), self.live_left.get() - 1);
        self.pending[count].set(freed);
        self.pending_count.set(count + 1);
        self.live_left.set(left);
        count + 1 == MAX_PENDING || left == 0
    }

    /// Takes a block whose free is pending.
    pub(crate) fn pop_pending(&self) -> Option<Pending> {
        let last = self.pending_count.get().checked_sub(1)?;
        self.pending_count.set(last);
        Some(self.pending[last].get())
    }

    /// Asserts P1 and P5, as far as they concern these fields.
    pub(crate) fn check(&self, has_scope: bool) {
        let (scope, pending) = (self.scope.get(), self.pending_count.get());
        let may_wait = scope.is_some() && !has_scope && pending < MAX_PENDING;
        invariant!(pending == 0 || may_wait, "P5, pending");
        // Another thread may have ended a suspended scope.
        let Some(scope) = scope.filter(|_| has_scope) else { return };
        invariant!(scope.id() >= FIRST_ID, "P5");
        invariant!(scope.outer().is_none(), "P1");
    }

    /// Whether the next outermost scope should persist. Other threads may have freed the last
    /// blocks of the chunks that this owner pinned. So at least as many chunks must be pinned in
    /// the whole process.
    pub(crate) fn is_due(&self) -> bool {
        self.sparse_chunks.get() >= THRESHOLD && figures::pinned() >= THRESHOLD && self.keeps()
    }

    /// Whether one of this owner's last scopes kept a block. Otherwise a new one gains nothing from
    /// persisting and from filling holes: it leaves its chunks empty.
    pub(crate) fn keeps(&self) -> bool {
        self.quiet.get() < self.patience()
    }

    fn patience(&self) -> u32 {
        PATIENCE.0 + self.more_patience.get()
    }

    /// Records that an outermost scope or a session ended, or that none could open, and how many more
    /// blocks are alive.
    pub(crate) fn scope_ended(&self, kept: u64) {
        if kept == 0 {
            self.quiet.set(self.quiet.get().saturating_add(1));
            return;
        }
        let (quiet, patience) = (self.quiet.take(), self.patience());
        if quiet >= 4 * patience {
            self.more_patience.set(0);
        } else if quiet >= patience {
            self.more_patience.set((2 * patience).min(PATIENCE.1) - PATIENCE.0);
        }
    }

    /// Called when an outermost scope was refused a chunk. If the owner's last scopes kept nothing,
    /// its next ones persist all the same, and use holes of pinned chunks. Returns false if they do
    /// so already.
    pub(crate) fn resort_to_holes(&self) -> bool {
        let resorts = !self.keeps();
        if resorts {
            self.scope_ended(1);
            self.demand();
        }
        resorts
    }

    /// Makes the next outermost scope persist. Called when memory is short.
    pub(crate) fn demand(&self) {
        self.sparse_chunks.set(self.sparse_chunks.get().max(THRESHOLD));
    }

    /// Records that a chunk is about to be pinned, and whether it is sparse. `kept` of the blocks
    /// that its owner bumped are alive. If that is 0, only blocks of an earlier owner pin the
    /// chunk, and `is_sparse` does not change.
    pub(crate) fn record_pinned(&self, entry: &Entry, kept: i32) {
        if kept > 0 {
            entry.is_sparse.set(kept.saturating_mul(4) < entry.bumped.get());
        }
        if entry.is_sparse.get() {
            self.sparse_chunks.set(self.sparse_chunks.get() + 1);
        }
    }

    /// Records that this owner took over a pinned chunk.
    pub(crate) fn record_unpinned(&self, entry: &Entry) {
        if entry.is_sparse.get() {
            self.sparse_chunks.set(self.sparse_chunks.get().saturating_sub(1));
        }
    }
}
