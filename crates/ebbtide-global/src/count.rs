//! The count of a chunk's live blocks, as far as several threads share it.
//!
//! The owner of a chunk counts in a plain integer, which is not here. Other threads take from the
//! counter here, which an owner sets to [`BIAS`] first. So it tells by itself what a chunk is:
//!
//! | value | the chunk |
//! |---|---|
//! | 0 | is in a pool, or on its way there |
//! | `1..BIAS / 2` | is retired and pinned, with this many live blocks; an exchange takes it over |
//! | above | has an owner |
//!
//! No value of an owned chunk comes near `BIAS / 2`: while a chunk has one owner, a byte of it that
//! another thread freed is not handed out again, so other threads free at most [`MOST_BLOCKS`] of
//! its blocks.
//!
//! `tests/loom.rs` tries every interleaving of what is here.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering, fence};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};

/// Where the count of an owned chunk begins.
pub(crate) const BIAS: u32 = 1 << 30;

/// The most blocks that fit into a chunk.
pub(crate) const MOST_BLOCKS: usize = crate::size::CHUNK / crate::size::GRANULE;

// An adopted chunk begins with the bias and its pinned blocks; frees of others then take no more
// than what was pinned and what was bumped.
const _: () = assert!(2 * MOST_BLOCKS < (BIAS / 4) as usize);

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Count(AtomicU32);

impl Count {
    /// The count of a chunk in a pool.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Count(AtomicU32::new(0))
    }

    /// Begins to own a chunk from a pool, or one of the caller's that [is empty](Count::is_empty).
    #[inline]
    pub(crate) fn own(&self) {
        self.0.store(BIAS, Ordering::Relaxed);
    }

    /// Whether no block of the caller's chunk is alive, where `local` is the owner's own count. If
    /// so, nobody else can name the chunk, and what others did to its blocks happened before.
    #[inline]
    pub(crate) fn is_empty(&self, local: i32) -> bool {
        #[allow(clippy::cast_sign_loss, reason = "both wrap alike")]
        let others = BIAS.wrapping_sub(local as u32);
        // Acquire: pairs with the release of each free by another thread.
        self.0.load(Ordering::Acquire) == others
    }

    /// Ends the ownership of a chunk of which [`is_empty`](Count::is_empty) is true.
    #[inline]
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Frees a block of a chunk that the caller does not own. True if that was the last block of a
    /// retired chunk: then the chunk is the caller's, to be put into a pool.
    #[inline]
    pub(crate) fn free(&self) -> bool {
        let last = self.0.fetch_sub(1, Ordering::Release) == 1;
        if last {
            fence(Ordering::Acquire);
        }
        last
    }

    /// Retires a chunk: the owner's own count joins in. Returns the blocks that are alive; if there
    /// are none the chunk is the caller's, to be put into a pool. Everything about the chunk must
    /// be written before.
    #[inline]
    pub(crate) fn settle(&self, local: i32) -> u32 {
        #[allow(clippy::cast_sign_loss, reason = "both wrap alike")]
        let change = (local as u32).wrapping_sub(BIAS);
        let live = self.0.fetch_add(change, Ordering::Release).wrapping_add(change);
        debug_assert!(live < BIAS / 2, "as many blocks were freed as allocated, or fewer");
        if live == 0 {
            fence(Ordering::Acquire);
        }
        live
    }

    /// Takes over a chunk that is retired and pinned. Returns how many of its blocks were alive.
    /// What its owner left about it may be read only after this.
    #[inline]
    pub(crate) fn adopt(&self) -> Option<u32> {
        let mut live = self.0.load(Ordering::Relaxed);
        while (1..BIAS / 2).contains(&live) {
            match self.0.compare_exchange_weak(
                live,
                live + BIAS,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(live),
                Err(now) => live = now,
            }
        }
        None
    }

    /// The value, for assertions.
    pub(crate) fn peek(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
