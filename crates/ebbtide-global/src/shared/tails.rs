//! Pinned chunks with free tails, which ending owners leave to other owners.
//!
//! The entries are hints. A chunk that is stored here may have been freed or adopted meanwhile, so
//! a thread that takes one must adopt it through its [`Count`](crate::shared::count::Count). If an entry is
//! overwritten, the tail of its chunk stays unused until the last block of the chunk is freed.
//!
//! `memory/pool` has one, for all owners.
//!
//! The model in `tests/loom_pool.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicU32, Ordering};

/// Up to `N` chunks, by number; 0 marks a free place.
#[derive(Debug)]
pub(crate) struct Tails<const N: usize> {
    places: [AtomicU32; N],
    /// The place of the next chunk, modulo `N`.
    next: AtomicU32,
}

impl<const N: usize> Tails<N> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Tails { places: [const { AtomicU32::new(0) }; N], next: AtomicU32::new(0) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Tails { places: core::array::from_fn(|_| AtomicU32::new(0)), next: AtomicU32::new(0) }
    }

    /// Leaves a pinned chunk to other owners.
    pub(crate) fn leave(&self, chunk: u32) {
        // Relaxed: the number only spreads the chunks over the places.
        let place = self.next.fetch_add(1, Ordering::Relaxed) as usize % N;
        // Release: a taker reads the chunk's count, so the memory of the entry must be committed
        // before. The count publishes everything else about the chunk.
        self.places[place].store(chunk, Ordering::Release);
    }

    /// Takes a chunk that an owner left; 0 if there is none.
    pub(crate) fn take(&self) -> u32 {
        let take = |place: &AtomicU32| {
            // The load avoids writes to empty places. Acquire: pairs with the release in `leave`.
            if place.load(Ordering::Relaxed) == 0 { 0 } else { place.swap(0, Ordering::Acquire) }
        };
        self.places.iter().map(take).find(|chunk| *chunk != 0).unwrap_or(0)
    }
}
