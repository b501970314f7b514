//! The IDs of owners and scopes. No ID is used twice in a process (G7 in `owner`).
//!
//! The starts of owners and scopes call it.
#![forbid(unsafe_code)]

use crate::memory::run::{ENDED, FIRST_ID};
use core::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

/// IDs reserved per batch.
const BATCH: u64 = 1 << 20;

static NEXT_BATCH: AtomicU64 = AtomicU64::new(FIRST_ID);

/// An owner's ID, and those that it gives to its scopes. All-zero bytes are valid.
#[derive(Debug)]
pub(crate) struct Ids {
    /// The owner's ID; 0 before it is started and [`ENDED`] afterwards.
    own: Cell<u64>,
    /// The next ID of the reserved batch, which ends before `end`.
    next: Cell<u64>,
    end: Cell<u64>,
}

impl Ids {
    /// The owner's ID.
    #[inline(always)]
    pub(crate) fn own(&self) -> u64 {
        self.own.get()
    }

    /// Whether the owner was started and has not ended.
    #[inline(always)]
    pub(crate) fn is_started(&self) -> bool {
        self.own() >= FIRST_ID
    }

    /// Gives the owner a new ID. It starts with its first one.
    pub(crate) fn renew(&self) {
        self.own.set(self.fresh());
    }

    /// Marks the owner as ended.
    pub(crate) fn finish(&self) {
        self.own.set(ENDED);
    }

    /// An ID that was never used.
    pub(crate) fn fresh(&self) -> u64 {
        if self.next.get() == self.end.get() {
            self.reserve();
        }
        let id = self.next.get();
        self.next.set(id + 1);
        id
    }

    /// Asserts G7, as far as one owner sees it.
    pub(crate) fn check(&self) {
        let (own, next, end) = (self.own.get(), self.next.get(), self.end.get());
        invariant!(next <= end && end - next <= BATCH, "G7, the batch");
        invariant!(!self.is_started() || own < next || end < own, "G7, an owner's ID is used once");
    }

    #[cold]
    fn reserve(&self) {
        // 64 bits never wrap. Relaxed: each batch is handed out once in any order of events.
        let first = NEXT_BATCH.fetch_add(BATCH, Ordering::Relaxed);
        self.next.set(first);
        self.end.set(first + BATCH);
    }
}
