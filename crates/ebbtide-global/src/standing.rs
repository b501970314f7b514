//! A scope that stays, for scopes of which a little escapes.
//!
//! Where a little of every scope outlives it, the chunks that the scopes filled are kept for a few blocks each, and what
//! died between those is of use to nobody. An owner that sees this makes one scope of its outermost ones: where a scope would
//! end it is paused, and where the next would begin it goes on. Its chunks stay the owner's, and it lists
//! whatever is freed; so what one scope leaves dead serves the next. That is slower than to bump, and about as
//! fast as the allocators that do the same: docs/decisions/0016-standing-scopes.md has the figures.
//!
//! G4 and G6 hold as for any long scope, for that is what it is. It ends in good order, as a scope does, when scopes leave
//! nothing behind any more, when half of its chunks are empty (others freed what was in them, or sizes changed), and
//! with its owner.
#![forbid(unsafe_code)]

use super::{ALL_BUT, Owner, Record, bump, change};
use crate::{
    count::BIAS,
    options::Options,
    region::Chunk,
    report::{Label, PINNED, Sums},
    size::CHUNK,
};
use core::{cell::Cell, sync::atomic::Ordering};

/// Scopes are joined when they pinned so many bytes, needed less than a quarter of them, and half of the chunks are still
/// pinned. Sooner in debug builds, so that tests come there.
const ENOUGH: usize = if cfg!(debug_assertions) { 8 * CHUNK } else { 16 * CHUNK };

/// After so many chunks it is looked whether some are empty.
const CHUNKS: u32 = if cfg!(debug_assertions) { 4 } else { 32 };

/// After so many scopes it is looked whether anything outlived them.
const SCOPES: u64 = 256;

/// Whether the outermost scopes of an owner are one, and what tells whether they should be.
#[derive(Debug)]
pub(super) struct Standing {
    /// The first chunk of the scope that stays, paused or not.
    first: Cell<Option<Chunk>>,
    /// The next outermost scope is to stay.
    is_due: Cell<bool>,
    /// Bytes that scopes pinned when they ended, and how many of them they needed to.
    pinned: Cell<usize>,
    needed: Cell<usize>,
    /// The chunks that were pinned, of any owner, when `pinned` was 0.
    pinned_before: Cell<isize>,
    /// Blocks of the scope that its owner freed since it went on.
    freed: Cell<u64>,
    /// Chunks that it may come to before they are looked at.
    limit: Cell<u32>,
    /// What its last scopes did, up to [`SCOPES`].
    scopes: Cell<u64>,
    blocks: Cell<u64>,
    escaped: Cell<u64>,
}

impl Standing {
    pub(super) const fn new() -> Self {
        Standing {
            first: Cell::new(None),
            is_due: Cell::new(false),
            pinned: Cell::new(0),
            needed: Cell::new(0),
            pinned_before: Cell::new(0),
            freed: Cell::new(0),
            limit: Cell::new(0),
            scopes: Cell::new(0),
            blocks: Cell::new(0),
            escaped: Cell::new(0),
        }
    }

    #[inline(always)]
    pub(super) fn first(&self) -> Option<Chunk> {
        self.first.get()
    }

    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.is_due.get()
    }

    /// The record of the scope that stays, if it is the one that a chunk's entry names.
    #[inline]
    pub(super) fn record(&self, scope: u64) -> Option<&'static Record> {
        let entry = self.first.get()?.entry();
        (entry.scope.load(Ordering::Relaxed) == scope).then_some(&entry.record)
    }

    #[inline]
    pub(super) fn count_freed(&self) {
        bump(&self.freed, 1);
    }

    /// The chunks of the scope that stays.
    pub(super) fn chunks(&self) -> usize {
        self.first.get().map_or(0, |first| first.entry().record.moves.get() as usize + 1)
    }

    #[inline(always)]
    pub(super) fn pinned(&self) -> usize {
        self.pinned.get()
    }

    #[inline(always)]
    pub(super) fn set_pinned(&self, bytes: usize) {
        self.pinned.set(bytes);
    }

    /// So many bytes of a chunk were pinned.
    #[inline]
    pub(super) fn count_pinned(&self, bytes: u32) {
        if self.pinned.get() == 0 {
            self.pinned_before.set(PINNED.load(Ordering::Relaxed));
        }
        self.pinned.set(self.pinned.get().saturating_add(bytes as usize));
    }

    /// An outermost scope ended.
    #[inline]
    pub(super) fn count_ended(&self, sums: &Sums) {
        let pinned = self.pinned.get();
        if pinned == 0 || sums.escaped == 0 {
            return;
        }
        // What escaped was of the middle size, as far as anybody can tell.
        let escaped = sums.escaped.saturating_mul(sums.bytes / sums.blocks.max(1));
        let needed =
            self.needed.get().saturating_add(usize::try_from(escaped).unwrap_or(usize::MAX));
        self.needed.set(needed);
        if pinned >= ENOUGH {
            let more = PINNED.load(Ordering::Relaxed) - self.pinned_before.get();
            let stays = usize::try_from(more).unwrap_or(0) * CHUNK >= pinned / 2;
            self.is_due.set(stays && needed < pinned / 4);
            self.forget();
        }
    }

    fn forget(&self) {
        self.pinned.set(0);
        self.needed.set(0);
    }
}

impl Owner {
    /// Makes the outermost scope, which has just begun, one that stays.
    #[cold]
    pub(super) fn stay(&self, first: Chunk) {
        let standing = &self.standing;
        standing.is_due.set(false);
        standing.first.set(Some(first));
        standing.limit.set(CHUNKS);
        for counter in [&standing.freed, &standing.scopes, &standing.blocks, &standing.escaped] {
            counter.set(0);
        }
        self.begin_listing();
        if self.list_floor.get() > ALL_BUT {
            // It has no lists, so to stay would be to no purpose.
            standing.first.set(None);
        }
    }

    /// The scope that stays goes on.
    pub(super) fn go_on(&self, first: Chunk, options: &Options, label: Option<&'static Label>) {
        self.standing.freed.set(0);
        self.resume(Some(first));
        let record = &first.entry().record;
        self.describe(record, options, label);
        if record.lists.get().is_some() {
            self.list_all(record);
        }
    }

    /// Whether the scope that stays, which is the innermost, should do so.
    fn should_stay(&self, first: Chunk) -> bool {
        let standing = &self.standing;
        if standing.scopes.get() >= SCOPES {
            if standing.escaped.get() * 64 < standing.blocks.get() {
                return false;
            }
            for counter in [&standing.scopes, &standing.blocks, &standing.escaped] {
                counter.set(0);
            }
        }
        if first.entry().record.moves.get() < standing.limit.get() {
            return true;
        }
        let (mut empty, mut all) = (0, 0);
        let mut next = self.current.get();
        while let Some(chunk) = next {
            let entry = chunk.entry();
            let others = change(u64::from(entry.count.peek()).wrapping_sub(u64::from(BIAS)));
            empty += u32::from(entry.local.get().wrapping_add(others) == 0);
            all += 1;
            next = chunk.next();
        }

        standing.limit.set(all * 2);
        empty * 2 < all
    }

    /// Pauses the scope that stays, which is the innermost. Returns what is told of the scope that ends.
    #[inline(never)]
    pub(super) fn pause(&self, first: Chunk) -> Sums {
        let standing = &self.standing;
        let record = &first.entry().record;
        self.suspend(record);
        let blocks = self.blocks().wrapping_sub(record.blocks.get());
        let escaped = blocks.saturating_sub(standing.freed.get());
        bump(&self.escaped, escaped);
        bump(&self.scopes, 1);
        bump(&standing.scopes, 1);
        bump(&standing.blocks, blocks);
        bump(&standing.escaped, escaped);
        let sums = self.since(&Sums {
            blocks: record.blocks.get(),
            bytes: record.bytes.get(),
            escaped: record.escaped.get(),
        });
        if let Some(label) = record.label.get() {
            label.count(&sums);
        }
        if self.should_stay(first) {
            self.resume(None);
        } else {
            self.end_standing();
        }
        self.publish(sums.bytes);
        sums
    }

    /// Ends the scope that stays, which is paused or the innermost.
    pub(super) fn end_standing(&self) {
        let Some(first) = self.standing.first.take() else { return };
        self.resume(Some(first));
        // What escaped was counted when it did.
        let escaped = self.escaped.get();
        self.retire_all(first, None);
        self.escaped.set(escaped);
        self.resume(None);
        self.standing.forget();
    }
}
