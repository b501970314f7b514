//! The frontier of the range: the first chunk that was never in use, and the first that is not
//! committed.
//!
//! `memory/range` has one.
//!
//! The model in `tests/loom_range.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicU32, Ordering};
use core::num::NonZeroU32;

/// The number of chunks that are committed in one step.
pub(crate) const STEP: u32 = 512;

/// The first chunk that was never taken, and the first not committed. Chunks below `committed` stay committed for ever.
#[derive(Debug)]
pub(crate) struct Frontier {
    /// The first chunk that was never taken. Chunk 0 is not used, so that no block borders on the
    /// table.
    next: AtomicU32,
    /// The first chunk that is not committed.
    committed: AtomicU32,
}

impl Frontier {
    new_atomic!(Frontier { next: AtomicU32::new(1), committed: AtomicU32::new(0) });

    /// Takes `chunks` new chunks of a range that has `room` chunks in all, commits them, and
    /// returns the number of the first. `commit(from, to)` commits the chunks `from..to` and
    /// returns whether it succeeded. `None` if committing fails or the range is used up.
    pub(crate) fn advance(
        &self,
        chunks: u32,
        room: u32,
        commit: impl Fn(u32, u32) -> bool,
    ) -> Option<NonZeroU32> {
        // Relaxed, like the exchange: read-modify-writes hand out each number once in any order.
        // `committed` orders the committing.
        let mut first = self.next.load(Ordering::Relaxed);
        loop {
            let end = first.checked_add(chunks).filter(|end| *end <= room)?;
            if !self.commit_up_to(end, room, &commit) {
                return None;
            }
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            match self.next.compare_exchange_weak(first, end, success, failure) {
                Ok(_) => return NonZeroU32::new(first),
                Err(now) => first = now,
            }
        }
    }

    /// Commits the chunks below `end` that are not committed yet.
    fn commit_up_to(&self, end: u32, room: u32, commit: impl Fn(u32, u32) -> bool) -> bool {
        // Acquire: pairs with the release below. The caller is about to use chunks that another
        // thread may have committed.
        let from = self.committed.load(Ordering::Acquire);
        if end <= from {
            return true;
        }
        let to = end.next_multiple_of(STEP).min(room);
        // Several threads may do this at once: committing twice changes nothing.
        if !commit(from, to) {
            return false;
        }
        // Release: all chunks below `to` are committed for a thread that acquires this value; those
        // below `from` because `from` was acquired. With a store instead of `fetch_max`, the value
        // could fall and chunks would be committed again.
        self.committed.fetch_max(to, Ordering::Release);
        true
    }

    /// The first chunk that was never taken.
    pub(crate) fn next(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }
}
