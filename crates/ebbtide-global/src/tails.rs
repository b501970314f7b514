//! Pinned chunks that ended owners remembered for their free tails.
//!
//! These are hints. A chunk named here may have been freed or adopted since, so whoever takes one
//! has to adopt it through its [`Count`](crate::count::Count). A hint that is overwritten costs
//! memory until the chunk is free.
//!
//! `tests/loom_pool.rs` tries every interleaving of what is here.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};

/// Room for `N` chunks, by their number; 0 stands for none.
#[derive(Debug)]
pub(crate) struct Tails<const N: usize> {
    places: [AtomicU32; N],
    /// Where the next one is put.
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
        // Relaxed: it only spreads the chunks.
        let place = self.next.fetch_add(1, Ordering::Relaxed) as usize % N;
        // Release: whoever knows the number may look at the chunk's count, so the entry was
        // committed before. What else there is to know about the chunk is published by its count.
        self.places[place].store(chunk, Ordering::Release);
    }

    /// Takes a chunk that was left; 0 if none is found.
    pub(crate) fn take(&self) -> u32 {
        let take = |place: &AtomicU32| {
            // The load keeps owners that begin from writing to places that are empty.
            // Acquire: pairs with the release in `leave`.
            if place.load(Ordering::Relaxed) == 0 { 0 } else { place.swap(0, Ordering::Acquire) }
        };
        self.places.iter().map(take).find(|chunk| *chunk != 0).unwrap_or(0)
    }
}
