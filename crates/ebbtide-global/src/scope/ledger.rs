//! What an owner has served since its start, and when it publishes that for the report and for the
//! memory bound.
//!
//! All of `owner` calls it. It writes the owner's counters in `figures`, which other threads read.

use crate::{
    figures::{self, Counted, Counters, Reason, Usage},
    limits::OBSERVE_EVERY,
    memory::{held, os, run::ScopeRecord},
    scope::bump::{Bump, add},
};
use core::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

/// The number of fast scopes that end between two publications.
pub(crate) const PUBLISH_EVERY: u64 = 64;

/// The totals of an owner, together with those of its [`Bump`], modulo 2^64. All-zero bytes are
/// valid.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ledger {
    // These two end the owner's second cache line.
    /// How many more fast scopes may end before the figures are published. Those that have ended
    /// since the last publication are not in `scopes_ended` yet.
    scopes_until_publish: Cell<u64>,
    /// The bytes served, up to the last flush.
    bytes: Cell<u64>,

    /// `None` before the start and after the end.
    counters: Cell<Option<&'static Counters>>,
    /// `bytes` at the last observation of the whole program's live bytes.
    observed_bytes: Cell<u64>,
    /// The large blocks that were served.
    other_blocks: Cell<u64>,
    /// The blocks that were resized in place.
    grown: Cell<u64>,
    /// The blocks that were alive when their scope ended.
    escaped: Cell<u64>,
    scopes_ended: Cell<u64>,
}

/// Observes the live bytes that all owners have published, for the memory bound. Returns true if
/// that ended a window.
pub(crate) fn observe_published() -> bool {
    held::observe(figures::live_bytes(), os::milliseconds())
}

impl Ledger {
    /// Takes counters. Those of an ended owner still have its values.
    pub(crate) fn start(&self, bump: &Bump) {
        let counters = Counters::take();
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        bump.start(value(&counters.blocks), value(&counters.freed));
        self.scopes_ended.set(value(&counters.scopes_ended));
        self.bytes.set(value(&counters.bytes));
        self.grown.set(value(&counters.grown));
        self.escaped.set(value(&counters.escaped));
        self.observed_bytes.set(self.bytes.get());
        self.counters.set(Some(counters));
        self.scopes_until_publish.set(PUBLISH_EVERY);
    }

    /// Leaves the counters to a later owner.
    pub(crate) fn finish(&self) {
        if let Some(counters) = self.counters.take() {
            counters.leave();
        }
    }

    pub(crate) fn counters(&self) -> Option<&'static Counters> {
        self.counters.get()
    }

    // Counting

    /// Counts bytes that were served.
    #[inline(always)]
    pub(crate) fn count_bytes(&self, bytes: u64) {
        add(&self.bytes, bytes);
    }

    /// Counts a large block that was served.
    #[inline(always)]
    pub(crate) fn count_large(&self, bytes: usize) {
        add(&self.other_blocks, 1);
        add(&self.bytes, bytes as u64);
    }

    /// Counts a block that was resized in place.
    #[inline(always)]
    pub(crate) fn count_grown(&self) {
        add(&self.grown, 1);
    }

    /// Counts blocks that outlive their scope.
    pub(crate) fn count_escaped(&self, blocks: u64) {
        add(&self.escaped, blocks);
    }

    pub(crate) fn count_fallback(&self, reason: Reason) {
        if let Some(counters) = self.counters.get() {
            counters.count_fallback(reason);
        }
    }

    /// Counts a chunk that is pinned now.
    pub(crate) fn count_pinned(&self) {
        if let Some(counters) = self.counters.get() {
            figures::add(&counters.pinned, 1);
        }
    }

    /// Counts freed bytes, even if the owner was never started.
    pub(crate) fn count_freed(&self, bump: &Bump, bytes: usize) {
        bump.count_freed(bytes);
        let Some(counters) = self.counters.get() else {
            return figures::freed_elsewhere(bytes as u64);
        };
        let unpublished = bump.freed().wrapping_sub(counters.freed.load(Ordering::Relaxed));
        // Usually the end of a scope publishes the count. Outside of scopes there is no such end,
        // and a scope that only frees may last for ever. This publishes the served bytes as well,
        // because fast scopes may have served and freed blocks and published neither.
        if !bump.has_scope() || unpublished >= OBSERVE_EVERY {
            self.publish_bytes(bump, 0);
        }
    }

    // Totals

    pub(crate) fn blocks(&self, bump: &Bump) -> u64 {
        bump.blocks().wrapping_add(self.other_blocks.get())
    }

    /// The bytes served, up to the last flush.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// The bytes served since `begun`, up to the last flush; 0 if more bytes of blocks from before
    /// it were rewound.
    pub(crate) fn bytes_since(&self, begun: Usage) -> u64 {
        let bytes = self.bytes.get().wrapping_sub(begun.bytes);
        if i64::try_from(bytes).is_ok() { bytes } else { 0 }
    }

    // Scopes

    /// Counts a fast scope that ended. Returns true if the figures are to be published.
    #[inline(always)]
    pub(crate) fn end_fast_scope(&self) -> bool {
        let more = self.scopes_until_publish.get() - 1;
        self.scopes_until_publish.set(more);
        more == 0
    }

    /// Records the figures at the start of a scope. Nothing has been bumped since the last flush.
    pub(crate) fn begin_scope(&self, bump: &Bump, record: &ScopeRecord) {
        record.at_start.set(Usage {
            blocks: bump.flushed_blocks().wrapping_add(self.other_blocks.get()),
            bytes: self.bytes.get(),
            escaped: self.escaped.get(),
        });
    }

    /// Counts a scope that ends, and returns its usage. `begun` has the figures at its start.
    pub(crate) fn end_scope(&self, bump: &Bump, counted: Counted, begun: Usage) -> Usage {
        let usage = Usage {
            blocks: self.blocks(bump).wrapping_sub(begun.blocks),
            bytes: self.bytes_since(begun),
            escaped: self.escaped.get().wrapping_sub(begun.escaped),
        };
        add(&self.scopes_ended, counted.scopes());
        counted.count(&usage, self.counters.get());
        usage
    }

    // Publishing

    /// Publishes the figures for the report. `bytes` is the number of bytes that the scope just
    /// ended took, for the high-water mark, and `cached` the bytes in the owner's cache.
    pub(crate) fn publish(&self, bump: &Bump, bytes: u64, cached: usize) {
        let ended = PUBLISH_EVERY - self.scopes_until_publish.replace(PUBLISH_EVERY);
        add(&self.scopes_ended, ended);
        let Some(counters) = self.counters.get() else { return };
        counters.scopes_ended.store(self.scopes_ended.get(), Ordering::Relaxed);
        counters.blocks.store(self.blocks(bump), Ordering::Relaxed);
        counters.grown.store(self.grown.get(), Ordering::Relaxed);
        counters.escaped.store(self.escaped.get(), Ordering::Relaxed);
        counters.cached.store(cached, Ordering::Relaxed);
        self.publish_bytes(bump, 0);
        if counters.high_water.load(Ordering::Relaxed) < bytes {
            counters.high_water.store(bytes, Ordering::Relaxed);
        }
    }

    /// Publishes the bytes served and freed, and `more` that are about to be served.
    pub(crate) fn publish_bytes(&self, bump: &Bump, more: usize) {
        let Some(counters) = self.counters.get() else { return };
        // `bytes` lacks what was bumped since the last flush.
        let unflushed = bump.unflushed_bytes().wrapping_add(more as u64);
        counters.bytes.store(self.bytes.get().wrapping_add(unflushed), Ordering::Relaxed);
        counters.freed.store(bump.freed(), Ordering::Relaxed);
    }

    /// Whether the owner has served enough since it last observed the whole program's live bytes.
    /// `more` bytes are about to be served.
    pub(crate) fn is_observation_due(&self, more: usize) -> bool {
        let unobserved = self.bytes.get().wrapping_sub(self.observed_bytes.get());
        unobserved.wrapping_add(more as u64) >= OBSERVE_EVERY
    }

    /// Observes the live bytes of the whole program. `more` bytes are about to be served here. They
    /// are published before they are served. Otherwise two threads that are about to serve large
    /// blocks would not know of each other's, and one would be refused. Returns true if that ended
    /// a window.
    #[cold]
    pub(crate) fn observe(&self, bump: &Bump, more: usize) -> bool {
        if self.counters.get().is_none() {
            return false;
        }
        self.observed_bytes.set(self.bytes.get());
        self.publish_bytes(bump, more);
        observe_published()
    }

    /// Asserts that the figures are published often enough.
    pub(crate) fn check(&self) {
        let is_counting = (1..=PUBLISH_EVERY).contains(&self.scopes_until_publish.get());
        invariant!(is_counting || self.counters.get().is_none(), "scopes_until_publish");
    }
}
