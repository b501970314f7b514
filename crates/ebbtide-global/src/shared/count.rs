//! The part of a chunk's count of live blocks that threads share.
//!
//! The owner of a chunk counts in a plain integer, `local` in the chunk's entry. Other threads
//! subtract the blocks that they free from the count here, which starts at [`BIAS`] when a chunk
//! gets an owner. The count determines the state of the chunk:
//!
//! | value | the chunk |
//! |---|---|
//! | 0 | is in a pool, or about to be put there |
//! | `1..BIAS / 2` | is retired and pinned, with this many live blocks; an exchange adopts it |
//! | above | has an owner |
//!
//! The count of an owned chunk never falls as low as `BIAS / 2`: other threads free at most the
//! blocks that it had when it was adopted and those that were bumped since, because a byte that
//! another thread freed is not served again before the chunk is empty.
//!
//! `owner/retire` changes the owner of a chunk, and `owner/free` frees.
//!
//! The model in `tests/loom_count.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicU32, Ordering};

/// The initial count of an owned chunk.
pub(crate) const BIAS: u32 = 1 << 30;

// Twice as many blocks as fit into a chunk.
const _: () = assert!(2 * crate::size::CHUNK / crate::size::GRANULE < (BIAS / 2) as usize);

/// The shared part of a chunk's live count, whose value determines the state of the chunk.
#[derive(Debug)]
pub(crate) struct Count(AtomicU32);

impl Count {
    /// The count of a chunk in a pool.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Count(AtomicU32::new(0))
    }

    /// Makes the caller the owner of a chunk from a pool, or resets a chunk of the caller's that
    /// [is empty](Count::is_empty).
    #[inline]
    pub(crate) fn own(&self) {
        invariant!(self.peek() == 0 || self.peek() > BIAS / 2, "G2, a pinned chunk is adopted");
        // Relaxed: giving up the chunk, or `is_empty`, ordered all earlier accesses to it. Other
        // threads free blocks only after the owner has passed the blocks to them, which orders this
        // store.
        self.0.store(BIAS, Ordering::Relaxed);
    }

    /// Whether no block of the caller's chunk is alive, given the owner's own count `local`. If so,
    /// no other thread has a pointer into the chunk, and all accesses to it by other threads
    /// happened before.
    #[inline]
    pub(crate) fn is_empty(&self, local: i32) -> bool {
        #[allow(clippy::cast_sign_loss, reason = "both wrap alike")]
        let others = BIAS.wrapping_sub(local as u32);
        // Acquire: pairs with the release of each free by another thread.
        self.0.load(Ordering::Acquire) == others
    }

    /// Gives up a chunk for which [`is_empty`](Count::is_empty) returned true.
    #[inline]
    pub(crate) fn clear(&self) {
        invariant!(self.peek() > BIAS / 2, "G2, only its owner gives up a chunk");
        // Relaxed: no other thread has a block of the chunk. The pool orders it for the next owner.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Frees a block of a chunk that the caller does not own. Returns true if that was the last live
    /// block of a retired chunk: then the caller owns the chunk and must put it into a pool.
    #[inline]
    pub(crate) fn free(&self) -> bool {
        // Release: pairs with `is_empty` and `acquire`. The changes by other threads between the two
        // are read-modify-writes, so they continue the release sequence.
        let before = self.0.fetch_sub(1, Ordering::Release);
        invariant!(before > 0, "G3, a block is freed in a chunk with live blocks");
        let is_last = before == 1;
        if is_last {
            self.acquire();
        }
        is_last
    }

    /// Orders what all threads did with a chunk before its count became 0, where the caller got it.
    #[inline]
    fn acquire(&self) {
        // Acquire: pairs with the release of each free, and of `settle`. A fence would do as well, but
        // ThreadSanitizer does not know fences.
        let _ = self.0.load(Ordering::Acquire);
    }

    /// Retires a chunk: adds the owner's own count. Returns the number of live blocks; if it is 0,
    /// the caller owns the chunk and must put it into a pool. The chunk's entry must be complete
    /// before.
    #[inline]
    pub(crate) fn settle(&self, local: i32) -> u32 {
        #[allow(clippy::cast_sign_loss, reason = "both wrap alike")]
        let change = (local as u32).wrapping_sub(BIAS);
        // Release: pairs with `adopt`, which reads the entry, and with `acquire` in `free`, whose caller
        // reuses the chunk.
        let live = self.0.fetch_add(change, Ordering::Release).wrapping_add(change);
        invariant!(live < BIAS / 2, "G3, at most as many blocks are freed as were served");
        if live == 0 {
            self.acquire();
        }
        live
    }

    /// Adopts a chunk that is retired and pinned. Returns false if it is no longer pinned. The fields
    /// of its entry may be read only after this.
    #[inline]
    pub(crate) fn adopt(&self) -> bool {
        // Relaxed, as on failure: the value is only compared; the exchange reads it again.
        let mut live = self.0.load(Ordering::Relaxed);
        while (1..BIAS / 2).contains(&live) {
            // Acquire: pairs with the release in `settle`, for the fields of the entry.
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.0.compare_exchange_weak(live, live + BIAS, acquire, relaxed) {
                Ok(_) => return true,
                Err(now) => live = now,
            }
        }
        false
    }

    /// The count, for assertions.
    pub(crate) fn peek(&self) -> u32 {
        // Relaxed: assertions only ask for values that the caller's own accesses ordered.
        self.0.load(Ordering::Relaxed)
    }
}
