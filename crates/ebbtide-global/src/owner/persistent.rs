//! Scopes that persist: for programs whose scopes keep a little of much.
//!
//! What outlives a scope pins the chunk around it, and the rest of that chunk is of no use until
//! the last such block is freed. Where scope after scope keeps one record in eight, a program needs
//! eight times the memory of its records. So an owner that has pinned enough chunks for less than a
//! quarter of their blocks lets the next outermost scope *persist*. It lists whatever its owner
//! frees, as a long scope does, and it does not end where its closure does. It is suspended there,
//! and the next outermost scope continues it, and uses what is free between the blocks that the one
//! before kept.
//!
//! ```text
//!           persist                   nested scopes
//!  none ──────────────► open ◄───────────────────────► inner
//!   ▲                   │  ▲
//!   │  suspend_persistent  │ resume_persistent
//!   │  end_persistent   ▼  │
//!   └────────────────── suspended: no scope is open, nothing is served, what is freed is listed
//! ```
//!
//! Where it is suspended it ends, and gives its chunks back or leaves them pinned, if nothing in it
//! is alive; if its lists do not serve; or if other threads free what it kept, which no list learns
//! of. A suspended one ends also when a scope opens that cannot continue it, for its options; with
//! its owner; and when somebody asks for the memory of the pools.
//!
//! # Invariants
//!
//! - **P1** While a scope persists it is the outermost one, or is suspended while none is open.
//!   Then there is no cached chunk, either. So no other scope has its place for lists, and the next
//!   outermost one is itself, or begins after its end.
//! - **P2** It bumps in no chunk that was adopted: in every chunk of it `tail` is 0. The chunks
//!   that it adopts whole, for the blocks that its owner frees in them, are in a list of their own
//!   and are not bumped in.
//! - **P3** From its beginning to its end it has lists, and every block in a chunk of it that its
//!   owner frees is put into them, or rewound, whatever scope is the innermost one.
//! - **P4** The scopes that continue it have tickets of their own, which no chunk names (G8): the
//!   ticket of one ends no other.

use super::{Owner, Run, Ticket, bump};
use crate::{
    count::BIAS,
    figures::{Label, PINNED, Usage},
    lists::FreeLists,
    range,
    run::NONE,
    size::{self, CHUNK},
};
use core::sync::atomic::Ordering;

/// A persistent scope of so many chunks may be found not to be worth it.
const LARGE: u32 = 32;

impl Owner {
    pub(super) fn has_persistent(&self) -> bool {
        self.persistence.first.get().is_some()
    }

    /// Whether it is the persistent scope that begins in this chunk.
    pub(super) fn is_persistent(&self, first: Run) -> bool {
        self.persistence.first.get() == Some(first)
    }

    /// Whether the next outermost scope is to persist.
    pub(super) fn is_to_persist(&self) -> bool {
        self.persistence.is_due()
    }

    /// Lets the scope that has just begun in this chunk persist. `None` where it cannot have lists:
    /// then it is like any other.
    pub(super) fn persist(&self, first: Run) -> Option<Ticket> {
        if !self.begin_listing() {
            return None;
        }
        let session = self.new_id();
        self.persistence.begin(first, self.scope.get(), session);
        PINNED.fetch_add(1, Ordering::Relaxed);
        Ticket::of(session)
    }

    /// Opens an outermost scope where a persistent one is suspended: continues that one if it
    /// `may`, or ends it. `None` where none is suspended any more.
    pub(super) fn resume_persistent(
        &self,
        may: bool,
        label: Option<&'static Label>,
    ) -> Option<Ticket> {
        if self.has_scope() {
            return None;
        }
        let first = self.persistence.first.get()?;
        if !may {
            self.end_persistent();
            return None;
        }
        self.restore(Some(first));
        self.begin_figures(&first.entry().record, label);
        let session = self.new_id();
        self.persistence.session.set(session);
        self.persistence.live_before.set(self.live());
        self.check();
        Ticket::of(session)
    }

    /// The live blocks of the persistent scope, the innermost one, as far as its owner knows.
    fn live(&self) -> i64 {
        self.listed().map_or(0, |lists| lists.live.get())
    }

    /// Suspends the persistent scope, the innermost one, or ends it.
    pub(super) fn suspend_persistent(&self, first: Run) -> Usage {
        let (persistence, record) = (&self.persistence, &first.entry().record);
        self.outside.set(0);
        self.save(record);
        let live = self.live();
        // Blocks of earlier scopes that were freed in this one are not told from its own.
        let kept = u64::try_from(live - persistence.live_before.get()).unwrap_or(0);
        bump(&self.escaped, kept + u64::from(record.large.get()));
        bump(&self.scopes_ended, 1);
        let usage = self.count_scope(record.label.get(), record.begun());
        if let Some(current) = self.current.get() {
            self.probe(current);
        }
        self.restore(None);
        if live == 0 || persistence.is_spent.get() {
            self.end_persistent();
        }
        self.payoff.scope_ended(self.blocks(), self.escaped.get());
        self.publish(usage.bytes);
        self.check();
        usage
    }

    /// Ends the persistent scope, which is suspended, if there is one.
    pub(super) fn end_persistent(&self) {
        let Some(first) = self.persistence.first.take() else { return };
        self.persistence.scope.set(NONE);
        let chunks = isize::try_from(first.entry().record.chunks()).unwrap_or(0);
        PINNED.fetch_sub(chunks, Ordering::Relaxed);
        // What it leaves behind was counted whenever it was suspended.
        let escaped = self.escaped.get();
        self.restore(Some(first));
        self.give_up(first);
        let mut next = self.persistence.adopted.take();
        while let Some(chunk) = next {
            next = chunk.next();
            PINNED.fetch_sub(1, Ordering::Relaxed);
            self.retire(chunk, CHUNK);
        }
        self.escaped.set(escaped);
    }

    /// Takes note that the persistent scope has taken another chunk.
    pub(super) fn persistent_grew(&self, moves: u32) {
        PINNED.fetch_add(1, Ordering::Relaxed);
        // It asks for memory though of four blocks that it made one is alive. So what is free has
        // other sizes than it needs, or was rewound, and there is nothing to be won.
        let is_of_no_use = |lists: &FreeLists| lists.live.get() * 4 < lists.bumped.get();
        if moves >= LARGE && moves.is_power_of_two() && self.listed().is_some_and(is_of_no_use) {
            self.persistence.is_spent.set(true);
        }
    }

    /// Looks at one chunk of the persistent scope, another one each time, for what other threads
    /// freed: that is of no use to it before its end. Where that is a quarter of what was alive,
    /// the scope ends, and the next one is waited for longer.
    fn probe(&self, current: Run) {
        let persistence = &self.persistence;
        let chunk = persistence.probe.get().unwrap_or(current);
        persistence.probe.set(chunk.next());
        let entry = chunk.entry();
        // P2: nothing was pinned in it when it came.
        let foreign = BIAS.saturating_sub(entry.count.peek());
        if i64::from(foreign) * 4 > i64::from(entry.local.get()) {
            persistence.is_spent.set(true);
            persistence.wait_longer();
        }
    }

    /// Takes a pinned chunk over for the persistent scope, so that what its owner frees in it is
    /// listed. False where no scope persists, or the chunk is not to be had.
    pub(super) fn adopt_whole(&self, chunk: Run) -> bool {
        let Some(lists) = self.persistent_lists() else { return false };
        let entry = chunk.entry();
        let Some(live) = entry.count.adopt() else { return false };
        self.persistence.unpinned(entry);
        self.own(entry, self.persistence.scope.get());
        entry.pinned.set(live);
        entry.tail.set(0);
        chunk.set_next(self.persistence.adopted.replace(Some(chunk)));
        lists.live.set(lists.live.get() + i64::from(live));
        let before = &self.persistence.live_before;
        before.set(before.get() + i64::from(live));
        true
    }

    /// The lists of the persistent scope, if there is one.
    fn persistent_lists(&self) -> Option<&FreeLists> {
        let first = self.persistence.first.get()?;
        let is_innermost = self.innermost() == Some(first);
        let saved = &first.entry().record.lists;
        let lists = if is_innermost { self.lists.get() } else { saved.get() }?;
        // SAFETY: the scope's lists were made when it began to persist (P3), and their place is its
        // own until it ends (P1).
        Some(unsafe { lists.as_ref() })
    }

    /// Lists a block of the persistent scope.
    ///
    /// # Safety
    ///
    /// The block has this size, was freed, is counted, and lies in a chunk of the persistent scope.
    pub(super) unsafe fn list_persistent(&self, block: *mut u8, size: usize) {
        let Some(lists) = self.persistent_lists() else { return };
        lists.live.set(lists.live.get() - 1);
        // SAFETY: the block was alive a moment ago, so it is in no list; the caller says that it is
        // free now and lies in a chunk of the scope that the lists are of.
        unsafe { lists.push(range::reach(block), size::list(size::round(size))) };
    }
}
