//! The frontier: how many chunks of the range were taken, and how many are committed.
//!
//! `tests/loom_range.rs` tries every interleaving of what is here.
#![forbid(unsafe_code)]

use core::num::NonZeroU32;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};

/// The chunks that are committed at a time.
pub(crate) const STEP: u32 = 512;

/// See the module's head. Chunks below `committed` are committed, and stay so.
#[derive(Debug)]
pub(crate) struct Frontier {
    /// The first chunk that was never taken. Chunk 0 never is: it lies between the table and the
    /// blocks.
    next: AtomicU32,
    /// The first chunk that is not committed.
    committed: AtomicU32,
}

impl Frontier {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Frontier { next: AtomicU32::new(1), committed: AtomicU32::new(0) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Frontier { next: AtomicU32::new(1), committed: AtomicU32::new(0) }
    }

    /// Moves the frontier past so many chunks of a range with `room` for so many, and returns the
    /// number of the first one. They are committed: `commit` does that for the chunks from the
    /// first number to the second, and says whether it could. `None` where it could not, or the
    /// range is used up.
    pub(crate) fn advance(
        &self,
        chunks: u32,
        room: u32,
        commit: impl Fn(u32, u32) -> bool,
    ) -> Option<NonZeroU32> {
        // Relaxed, as is the exchange: each number is given out once in any order of events, and
        // that its chunk is committed is acquired through `committed`.
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

    /// Commits the chunks up to `end`.
    fn commit_up_to(&self, end: u32, room: u32, commit: impl Fn(u32, u32) -> bool) -> bool {
        // Acquire: pairs with the release below. The chunks that another thread committed are used
        // here next.
        let from = self.committed.load(Ordering::Acquire);
        if end <= from {
            return true;
        }
        let to = end.next_multiple_of(STEP).min(room);
        // Several threads may do the same at once: committing twice changes nothing.
        if !commit(from, to) {
            return false;
        }
        // Release: the chunks are committed for whoever acquires this, those below `from` included,
        // for `from` was acquired. A store would do; but the number might go back, and chunks be
        // committed again.
        self.committed.fetch_max(to, Ordering::Release);
        true
    }

    /// The first chunk that was never taken.
    pub(crate) fn next(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }
}
