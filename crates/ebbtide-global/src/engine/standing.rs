//! Scopes that keep a little of much.
//!
//! What outlives a scope pins the chunk around it, and the rest of that chunk is of no use until the last such block is freed.
//! Where scope after scope keeps one record in eight, a program needs eight times the memory of its records. So an
//! owner that has pinned [`PATIENCE`] chunks for less than a quarter of their blocks lets the next outermost scope
//! *stand*: that one lists whatever its owner frees, as a long scope does, and does not end where its closure does. It
//! rests there, and the next outermost scope goes on in it. What the one left free, in between what it kept, the next one
//! uses.
//!
//! ```text
//!           stand                 nested scopes
//!  none ────────────► open ◄───────────────────────► inner
//!   ▲                 │  ▲
//!   │            rest │  │ go_on
//!   │   end_standing  ▼  │
//!   └─────────────── resting: no scope is open, nothing is served, what is freed is listed
//! ```
//!
//! Where it rests it ends, and gives its chunks back or leaves them pinned, if nothing in it is alive; if it has become larger than
//! what a pool may keep; if its lists do not serve, or other threads free what it kept, which no list learns of. A resting
//! one ends also when a scope opens that cannot go on in it, for its options; with its owner; and when somebody asks for
//! the pools' memory.
//!
//! # Invariants
//!
//! - **S1** While a scope stands it is the outermost one, or rests while none is open; then there is no idle chunk, either. So
//!   no other scope has its place for lists, and the next outermost one is itself, or begins after its end.
//! - **S2** None of its chunks was adopted: every block in them is its own (`tail` is 0).
//! - **S3** From its beginning to its end it has lists, and every block in a chunk of it that its owner frees is put into them, or
//!   rewound, whatever scope is the innermost one.
//! - **S4** The scopes that go on in it have tickets of their own, which no chunk names (G8): the ticket of one ends no other.

use super::{Chunk, Entry, Lists, Owner, Record, STRANGER, Ticket, bump};
use crate::{
    count::BIAS,
    region::{self, RETAIN},
    report::{Label, PINNED, Sums},
    size::{self, CHUNK},
};
use core::{cell::Cell, sync::atomic::Ordering};

/// So many chunks an owner pins for little before a scope stands: 1 MiB. Fewer in debug builds, so that tests come there.
const PATIENCE: usize = if cfg!(debug_assertions) { 2 } else { 16 };

/// A standing scope of so many chunks may be found not to be worth it.
const LARGE: u32 = 32;

/// What an owner knows of the scope that stands, and of whether one is to.
#[derive(Debug)]
pub(super) struct Standing {
    /// Its first chunk. `None` where no scope stands.
    pub(super) first: Cell<Option<Chunk>>,
    /// What its chunks name as their scope; [`STRANGER`] where there is none.
    pub(super) scope: Cell<u64>,
    /// The ticket of the scope that goes on in it, or was the last to.
    pub(super) session: Cell<u64>,
    /// Its live blocks when that one began.
    before: Cell<i64>,
    /// The chunk that is looked at next for what other threads freed.
    probe: Cell<Option<Chunk>>,
    /// Whether it ends the next time that it rests.
    is_spent: Cell<bool>,
    /// Chunks that this owner pinned for little, less those that it saw free again, whoever had pinned them.
    sparse: Cell<usize>,
    /// How many there must be before a scope stands.
    patience: Cell<usize>,
}

impl Standing {
    pub(super) const fn new() -> Standing {
        Standing {
            first: Cell::new(None),
            scope: Cell::new(STRANGER),
            session: Cell::new(0),
            before: Cell::new(0),
            probe: Cell::new(None),
            is_spent: Cell::new(false),
            sparse: Cell::new(0),
            patience: Cell::new(PATIENCE),
        }
    }

    /// Remembers whether a chunk is about to be pinned for little: `kept` blocks of those bumped since it got its owner. One
    /// that adds nothing to what an earlier owner kept leaves it at that.
    pub(super) fn pinning(&self, entry: &Entry, kept: i32) {
        if kept > 0 {
            entry.is_sparse.set(kept.saturating_mul(4) < entry.bumped.get());
        }
        if entry.is_sparse.get() {
            self.sparse.set(self.sparse.get() + 1);
        }
    }

    /// Forgets a chunk that is this owner's now.
    pub(super) fn unpinned(&self, entry: &Entry) {
        if entry.is_sparse.get() {
            self.sparse.set(self.sparse.get().saturating_sub(1));
        }
    }
}

impl Owner {
    pub(super) fn has_standing(&self) -> bool {
        self.standing.first.get().is_some()
    }

    /// Whether it is the standing scope that begins in this chunk.
    pub(super) fn is_standing(&self, first: Chunk) -> bool {
        self.standing.first.get() == Some(first)
    }

    /// Whether the next outermost scope is to stand.
    pub(super) fn is_to_stand(&self) -> bool {
        let patience = self.standing.patience.get();
        self.standing.sparse.get() >= patience && may_hold(patience)
    }

    /// Lets the scope that has just begun in this chunk stand. `None` where it cannot have lists: then it is like any other.
    pub(super) fn stand(&self, first: Chunk) -> Option<Ticket> {
        self.begin_listing();
        self.lists.get()?;
        let (standing, session) = (&self.standing, self.new_id());
        standing.first.set(Some(first));
        standing.scope.set(self.scope.get());
        standing.session.set(session);
        standing.before.set(0);
        standing.probe.set(None);
        standing.is_spent.set(false);
        standing.sparse.set(0);
        PINNED.fetch_add(1, Ordering::Relaxed);
        Ticket::of(session)
    }

    /// Opens an outermost scope where one rests: goes on in that one, or ends it. `None` where none rests any more.
    pub(super) fn go_on(&self, may: bool, label: Option<&'static Label>) -> Option<Ticket> {
        if self.has_scope() {
            return None;
        }
        let first = self.standing.first.get()?;
        if !may {
            self.end_standing();
            return None;
        }
        self.resume(Some(first));
        self.begin_figures(&first.entry().record, label);
        let session = self.new_id();
        self.standing.session.set(session);
        self.standing.before.set(self.live());
        self.check();
        Ticket::of(session)
    }

    /// The live blocks of the standing scope, the innermost one, as far as its owner knows.
    fn live(&self) -> i64 {
        self.listed().map_or(0, |lists| lists.live.get())
    }

    /// Closes the standing scope, the innermost one: it rests, or ends.
    pub(super) fn rest(&self, first: Chunk) -> Sums {
        let (standing, record) = (&self.standing, &first.entry().record);
        self.suspend(record);
        let live = self.live();
        // Earlier scopes' blocks that were freed in this one are not told from its own.
        let kept = u64::try_from(live - standing.before.get()).unwrap_or(0);
        bump(&self.escaped, kept + u64::from(record.spans.get()));
        bump(&self.scopes, 1);
        let sums = self.tell(record.begun());
        if let Some(current) = self.current.get() {
            self.probe(current);
        }
        self.resume(None);
        if live == 0 || standing.is_spent.get() || !may_hold(record.chunks()) {
            self.end_standing();
        }
        self.publish(sums.bytes);
        self.check();
        sums
    }

    /// Ends the scope that rests, if there is one.
    pub(super) fn end_standing(&self) {
        let Some(first) = self.standing.first.take() else { return };
        self.standing.scope.set(STRANGER);
        let chunks = isize::try_from(first.entry().record.chunks()).unwrap_or(0);
        PINNED.fetch_sub(chunks, Ordering::Relaxed);
        // What it leaves behind was told whenever it rested.
        let escaped = self.escaped.get();
        self.resume(Some(first));
        self.give_up(first);
        self.escaped.set(escaped);
    }

    /// The standing scope has taken another chunk.
    pub(super) fn standing_grew(&self, moves: u32) {
        PINNED.fetch_add(1, Ordering::Relaxed);
        // It asks for memory though of four blocks that it made one is alive. So what is free has other sizes than it needs, or was
        // rewound, and there is nothing to be won.
        let is_of_no_use = |lists: &Lists| lists.live.get() * 4 < lists.bumped.get();
        if moves >= LARGE && moves.is_power_of_two() && self.listed().is_some_and(is_of_no_use) {
            self.standing.is_spent.set(true);
        }
    }

    /// Looks at one chunk of the standing scope, another one each time, for what other threads freed: that is of no use to it before
    /// its end. Where that is a quarter of what was alive, the next one is to be waited for longer.
    fn probe(&self, current: Chunk) {
        let standing = &self.standing;
        let chunk = standing.probe.get().unwrap_or(current);
        standing.probe.set(chunk.next());
        let entry = chunk.entry();
        // S2: nothing was pinned in it when it came.
        let foreign = BIAS.saturating_sub(entry.count.peek());
        if i64::from(foreign) * 4 > i64::from(entry.local.get()) {
            standing.is_spent.set(true);
            standing.patience.set(standing.patience.get().saturating_mul(2));
        }
    }

    /// Lists a block of the standing scope while that is not the innermost one.
    ///
    /// # Safety
    ///
    /// The block has this size, was freed and is counted.
    pub(super) unsafe fn free_standing(&self, block: *mut u8, size: usize) {
        let Some(first) = self.standing.first.get() else { return };
        let Some(lists) = first.entry().record.lists.get() else { return };
        // SAFETY: the scope's lists are its own until it ends (S1), and it has not.
        let lists = unsafe { lists.as_ref() };
        lists.live.set(lists.live.get() - 1);
        // SAFETY: passed on; the chunk names this scope.
        unsafe { lists.push(region::reach(block), size::list(size::round(size))) };
    }
}

impl Record {
    /// How many chunks a scope has that adopted none.
    fn chunks(&self) -> usize {
        self.moves.get() as usize + 1
    }
}

/// Whether so many chunks are no more than a pool may keep.
fn may_hold(chunks: usize) -> bool {
    chunks.saturating_mul(CHUNK) <= RETAIN.load(Ordering::Relaxed)
}
