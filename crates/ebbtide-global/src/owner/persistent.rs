//! Persistent scopes, for programs whose scopes keep a small part of what they allocate.
//!
//! A block that outlives its scope pins its chunk, and the rest of the chunk is unusable until the
//! last such block is freed. If every scope keeps one record in eight, a program needs eight times
//! the memory of the records that it keeps.
//!
//! A pinned chunk is *sparse* if less than a quarter of its blocks are alive. Once an owner has
//! pinned enough sparse chunks, or a scope has adopted a chunk that has small holes only, its next
//! outermost scope *persists*: it lists the blocks that its owner frees, like a long scope, and it is
//! suspended instead of ended. The next outermost scope continues it, and reuses the free memory
//! between its live blocks. If the first session keeps nothing, the next scope persists instead.
//! Blocks that other threads free come back to it: see the module `returned`. The time from one
//! resumption to the next suspension is a *session*; to the user, each session is a scope.
//!
//! ```text
//!           persist                   nested scopes
//!  none ──────────────► open ◄───────────────────────► inner
//!   ▲                   │  ▲
//!   │  suspend_persistent  │ resume_persistent
//!   │  end_persistent   ▼  │
//!   └────────────────── suspended: no scope is open, freed blocks are listed
//! ```
//!
//! A persistent scope ends in these cases, and retires its chunks:
//!
//! - when it is suspended, if none of its blocks is alive, if its lists serve too few requests, or
//!   if too many of the blocks that other threads freed did not return to it;
//! - when its owner frees the last of its blocks while it is suspended;
//! - when a scope is opened that may not continue it, because of its options,
//!   or because the owner's last scopes kept nothing;
//! - when its owner ends, or releases its pools;
//! - when another owner ends it: at the end of a window in which more was held than the bound
//!   allows, if it had no session in that window.
//!
//! `owner/scopes`, `owner/sessions`, `owner/chunks` and `owner/life` call it. So does `owner/free`:
//! while an owner has no open scope, [`free_without_scope`](Owner::free_without_scope) frees every block in a
//! chunk. It writes `persistence`, and the chunks of the persistent scope.
//!
//! # Invariants
//!
//! - **P1** A persistent scope is the outermost scope, or it is suspended and no scope is open.
//!   While it exists there is no cached chunk. So no other scope uses the memory of its lists, and
//!   the next outermost scope either continues it or begins after its end.
//! - **P2** It adopts no chunk for its free tail, so `tail_start` is 0 in each of its chunks. Pinned
//!   chunks that it adopts whole, in order to list the blocks that its owner frees in them, are in
//!   a separate list, `adopted`.
//! - **P3** It has free lists from its beginning to its end. Every block of its chunks that its
//!   owner frees, or that is returned to it, is listed or rewound, whichever scope is the
//!   innermost.
//! - **P4** Each session has a ticket with an ID of its own, which is in no entry (G8). So the
//!   ticket of one session cannot end another.
//! - **P5** Whoever has the lease of the suspended scope owns its chunks (G2) and `lists_chunk`, the
//!   chunk of its lists. The owner has it during each session, and takes it back for every other
//!   access; while no scope is open, the owner has no other chunk with a live block, and no other
//!   lists. If another thread has ended the scope, the owner takes a new ID, so that it does not
//!   mistake entries of the scope's former chunks for its own, and another chunk for its next lists.
//!   Blocks that the owner frees while the scope is suspended stay counted until it takes the scope
//!   back, or finds that the scope has ended.

use super::{Owner, Ticket};
use crate::{
    memory::{
        held, range,
        run::{self, ChunkRef, Entry, ScopeRef, offset_in_chunk},
    },
    size::{self, SMALL},
};

/// A persistent scope that has taken this many chunks besides its first is ended if its lists serve
/// too few requests.
const LARGE_SCOPE_CHUNKS: u32 = 32;

impl Owner {
    /// Makes the scope that has just begun persistent. `None` if it cannot have
    /// lists; it then stays an ordinary scope.
    pub(super) fn persist(&self, scope: ScopeRef) -> Option<Ticket> {
        invariant!(scope.outer().is_none(), "P1, an outermost scope persists");
        invariant!(self.persistence.scope.get().is_none(), "P1, one scope persists");
        let suspended = self.suspended()?;
        if !suspended.begin() {
            return None;
        }
        if !self.begin_listing() {
            suspended.ended();
            return None;
        }
        let session = self.ids.fresh();
        self.persistence.begin(scope, session);
        self.persistence.live_before.set(self.live());
        scope.first_chunk().entry().returned.open();
        self.hold_for_persistent(scope.first_chunk());
        Ticket::of(session)
    }

    /// The live blocks of the persistent scope, including those that other threads have freed. The
    /// scope must be the innermost.
    pub(super) fn live(&self) -> i64 {
        self.innermost.lists().map_or(0, |lists| lists.live())
    }

    /// Lets other threads end the suspended scope, which has `live` live blocks.
    pub(super) fn suspend(&self, scope: ScopeRef, live: i64) {
        invariant!(!self.has_scope(), "P1, no scope is open while one is suspended");
        invariant!(live > 0, "P5, a suspended scope has live blocks");
        let Some(suspended) = self.suspended() else { return };
        if self.persistence.live_left.replace(live) == 0 {
            // Not before: if the first session had kept nothing, the next scope would have to persist.
            self.persistence.sparse_chunks.set(0);
        }
        suspended.leave(scope.first_chunk().number(), self.persistence.session.get());
    }

    /// Takes the suspended scope back, so that no other thread can end it, and frees the blocks
    /// whose frees are pending. Returns the scope. `None` if there is none, or if another
    /// thread has ended it.
    pub(super) fn take_back(&self) -> Option<ScopeRef> {
        let scope = self.persistence.scope.get()?;
        invariant!(!self.has_scope(), "P1, a suspended scope is taken back");
        let is_own = self.suspended()?.take().is_some();
        if !is_own {
            self.persistence.scope.set(None);
            // Whoever ended the scope has given up the chunk of its lists as well (P5).
            self.lists_chunk.set(None);
            // Until then, entries of the scope's former chunks may still have this owner's ID (P5).
            self.ids.renew();
        }
        while let Some((block, size)) = self.persistence.pop_pending() {
            // SAFETY: the block is still counted, so its chunk is in use and in the range.
            let Some(place) = (unsafe { run::find(block) }) else { continue };
            if is_own {
                // SAFETY: the block was freed, is counted and has this size. The scope's chunks are
                // this owner's (P5), and the block lies in one of them.
                unsafe { self.free_own(place.entry(), block, size) };
            } else {
                // SAFETY: the block was freed, is counted and has this size.
                unsafe { self.free_shared(place.chunk(), block, size) };
            }
        }
        is_own.then_some(scope)
    }

    /// Ends the suspended persistent scope, if there is one.
    pub(super) fn end_persistent(&self) {
        if let Some(scope) = self.take_back() {
            self.end_taken_back(scope);
        }
    }

    /// Ends the persistent scope, which other threads cannot end. No scope is open.
    pub(super) fn end_taken_back(&self, scope: ScopeRef) {
        invariant!(!self.has_scope(), "P1, a suspended scope ends");
        self.persistence.scope.set(None);
        self.retire_suspended(scope);
        if let Some(suspended) = self.suspended() {
            suspended.ended();
        }
    }

    /// Frees a block while no scope is open. If `is_own`, the chunk has this owner's ID: it belongs
    /// to the suspended scope, unless another thread has ended that scope (P5).
    ///
    /// # Safety
    ///
    /// The block was freed and has this size.
    pub(super) unsafe fn free_without_scope(
        &self,
        chunk: ChunkRef,
        block: *mut u8,
        size: usize,
        is_own: bool,
    ) {
        if is_own && self.persistence.scope.get().is_some() {
            // The lease costs a locked instruction, so it is taken for many blocks at once.
            if self.persistence.push_pending((block, size)) && self.take_back().is_some() {
                self.suspend_or_end();
            }
            return;
        }
        // SAFETY: the block was freed, is counted and has this size.
        if unsafe { self.return_block(chunk.entry(), block, size) } {
            return;
        }
        if size <= SMALL && held::is_tight() && self.take_back().is_some() {
            let is_adopted = self.adopt_whole(chunk);
            if is_adopted {
                // SAFETY: the block was freed, is counted, has this size, and lies in a chunk that
                // this owner has just adopted.
                unsafe { self.free_own(chunk.entry(), block, size) };
            }
            self.suspend_or_end();
            if is_adopted {
                return;
            }
        }
        // SAFETY: the block was freed, is counted and has this size.
        unsafe { self.free_shared(chunk, block, size) };
    }

    /// Reverses [`take_back`](Owner::take_back): suspends the scope again, or ends it if none of
    /// its blocks is alive.
    fn suspend_or_end(&self) {
        let Some(scope) = self.persistence.scope.get() else { return };
        let live = self.persistent_lists().map_or(0, |lists| lists.live());
        // If the scope were only suspended, its chunks would stay with the owner, which may not
        // open another scope for a long time.
        if live == 0 {
            self.end_taken_back(scope);
        } else {
            self.suspend(scope, live);
        }
    }

    /// Counts a chunk of the persistent scope as pinned, because the chunk stays when the session
    /// ends.
    fn hold_for_persistent(&self, chunk: ChunkRef) {
        let Some(scope) = self.scope() else { return };
        chunk.entry().set_label(scope.record().label.get());
        chunk.entry().count_pinned();
        self.accept_returns(chunk);
    }

    /// Records that the persistent scope has taken another chunk.
    pub(super) fn persistent_grew(&self, chunk: ChunkRef, added_chunks: u32) {
        self.hold_for_persistent(chunk);
        // The scope takes another chunk although less than a quarter of its blocks are alive. So
        // the freed blocks have other sizes than it needs, or were rewound, and its lists do not
        // help.
        let bumped = |chunk: ChunkRef| i64::from(chunk.entry().bumped.get());
        let is_useless =
            || self.live() * 4 < ChunkRef::list(self.bump.chunk()).map(bumped).sum::<i64>();
        if added_chunks >= LARGE_SCOPE_CHUNKS && added_chunks.is_power_of_two() && is_useless() {
            self.persistence.is_ending.set(true);
        }
    }

    /// Adopts a pinned chunk for the persistent scope, so that the blocks that its owner frees in
    /// it are listed. Returns false if there is no persistent scope or the chunk cannot be adopted.
    /// Other threads must not be able to end the scope.
    pub(super) fn adopt_whole(&self, chunk: ChunkRef) -> bool {
        let Some(scope) = self.persistence.scope.get() else { return false };
        let Some(live) = self.adopt(chunk, scope.id()) else { return false };
        chunk.entry().tail_start.set(0);
        self.accept_returns(chunk);
        chunk.set_next(scope.record().adopted.replace(Some(chunk)));
        self.persistent_adopted(scope.id(), live);
        true
    }

    /// Frees a block of an outer scope or of the persistent scope.
    ///
    /// # Safety
    ///
    /// The block was freed, is counted, has this size, and lies in a chunk of this owner with this
    /// entry.
    pub(super) unsafe fn free_own(&self, entry: &Entry, block: *mut u8, size: usize) {
        entry.local.set(entry.local.get().wrapping_sub(1));
        if entry.scope_id() == self.persistence.scope_id() {
            let list = size::list(size::round(size));
            // SAFETY: the block was freed, is counted, has a size of this list and lies in a chunk of
            // the persistent scope. The pointer is valid for the whole range.
            unsafe { self.list_persistent(range::widen_provenance(block), list) };
        } else if offset_in_chunk(block) < entry.tail_start.get() {
            entry.older_freed.set(entry.older_freed.get().wrapping_add(1));
        }
    }
}
