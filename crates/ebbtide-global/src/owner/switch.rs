//! Which scope is the innermost, and what of the state is brought up to date when another becomes
//! it.
//!
//! All of `owner` calls it. It alone moves what was bumped to the counts, and installs a mode.

use super::Owner;
use crate::{
    figures::Counted,
    memory::run::{ChunkRef, Flushed, ScopeRecord, ScopeRef},
    scope::{bump::Bumped, mode::Mode},
};

/// Converts a number of blocks to the type of a chunk's count.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the true sum is small (G3); on the way it may wrap"
)]
pub(super) fn signed(blocks: u64) -> i32 {
    blocks as i32
}

impl Owner {
    /// Promotes a fast scope to a full scope. Called before a scope does anything but bump in its
    /// first chunk.
    pub(super) fn promote(&self) {
        if self.cached.entry().is_some() {
            if let Some(entry) = self.cached.take() {
                // Nothing was flushed since the previous scope ended.
                entry.record.count_as(Counted { site: self.site.get(), ..Counted::default() });
                self.ledger.begin_scope(&self.bump, &entry.record);
            }
        }
    }

    /// Takes the cached chunk out of the cache.
    pub(super) fn take_cached(&self) -> Option<ChunkRef> {
        self.cached.take().and(self.innermost.scope()).map(ScopeRef::first_chunk)
    }

    /// Sets the mode of the innermost scope, and what the fast paths do in it.
    pub(super) fn set_mode(&self, mode: Mode) {
        self.innermost.set_mode(mode);
        self.bump.install(mode);
    }

    /// Adds the blocks and bytes bumped in the current chunk to the counts.
    pub(super) fn flush(&self) -> Flushed {
        if let Some(Bumped { chunk, blocks, bytes }) = self.bump.flush() {
            let entry = chunk.entry();
            invariant!(entry.owner_id() == self.ids.own(), "G2, the counted chunk");
            // Truncated to 32 bits: the frees were subtracted already, and the true sum is small (G3).
            entry.local.set(entry.local.get().wrapping_add(signed(blocks)));
            self.ledger.count_bytes(bytes);
        }
        Flushed::all_counted()
    }

    /// Saves the innermost scope's state in its record, before another becomes the innermost.
    pub(super) fn save(&self, record: &ScopeRecord) -> Flushed {
        let flushed = self.flush();
        self.innermost.save(&self.bump, record, flushed);
        record.unit.set(self.unit());
        flushed
    }

    /// Makes the scope `outer` the innermost one again. With `None`, no scope is open afterwards.
    pub(super) fn restore(&self, outer: Option<ScopeRef>, flushed: Flushed) {
        let Some(scope) = outer else {
            let cached = self.cached.entry().and(self.innermost.scope());
            self.innermost.begin(cached);
            self.bump.rest(cached.map(ScopeRef::first_chunk), self.cached.end(), flushed);
            self.skips_left.set(0);
            return;
        };
        let saved = scope.record().saved.get();
        self.innermost.restore(scope, &saved);
        self.bump.resume(saved.position, scope.id(), flushed);
        self.bump.install(saved.mode);
        self.resume_unit(saved.mode.skips, scope.record().unit.get());
    }

    /// The requests of the innermost scope's unit that it still skips or, if it skips none, has served.
    pub(super) fn unit(&self) -> u32 {
        match self.skips_left.get() {
            0 => {
                let served = self.ledger.blocks(&self.bump).wrapping_sub(self.unit_began.get());
                u32::try_from(served).unwrap_or(u32::MAX)
            }
            left => left,
        }
    }

    /// Goes on with a unit, of which so many requests are left to skip, or were served.
    pub(super) fn resume_unit(&self, skips: bool, requests: u32) {
        let (left, served) = if skips { (requests, 0) } else { (0, requests) };
        self.skips_left.set(left);
        self.unit_began.set(self.ledger.blocks(&self.bump).wrapping_sub(served.into()));
    }
}
