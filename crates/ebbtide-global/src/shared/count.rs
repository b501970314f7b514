//! The part of a chunk's count of live blocks that threads share, and its free blocks that no scope
//! has listed.
//!
//! Both are in one word, so that one exchange frees a block: it subtracts the block from the count
//! and pushes it as a [hole](crate::shared::hole) onto the chunk's stack. The lower half of the word is the
//! count, the upper half the [`Holes`]. The caller stores the links between the holes.
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
//! The count of an owned chunk never falls as low as `BIAS / 2`. Other threads free at most as many
//! of its blocks as fit into it before the owner [takes holes](Count::take), because a byte that
//! another thread freed is not served again before. And whenever the owner takes holes, it first
//! [moves](Count::absorb) a `local` that has become large to the count.
//!
//! Any thread may push a hole at any time. Only the chunk's owner takes holes, so there is no ABA
//! problem. Holes of a chunk without live blocks mean nothing, because all of its bytes are free.
//!
//! `owner/retire` changes the owner of a chunk, `owner/remote` frees, and `owner/holes` leaves and takes
//! holes.
//!
//! The model in `tests/loom_count.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::{
    atomic::{AtomicU64, Ordering, fence},
    hole::{Hole, Holes},
};

/// The initial count of an owned chunk.
pub(crate) const BIAS: u32 = 1 << 30;

/// The value of `local` from which on it is moved to the count.
const MOST_LOCAL: u32 = BIAS / 4;

// The count of an adopted chunk begins at the bias plus its pinned blocks. Other threads subtract
// at most the pinned blocks and those bumped since: twice as many as fit into a chunk, or less than
// `MOST_LOCAL` and as many again if the owner takes holes.
const _: () = assert!(2 * crate::size::CHUNK / crate::size::GRANULE < (BIAS / 4) as usize);

/// The shared part of a chunk's live count, whose value determines the state of the chunk.
#[derive(Debug)]
pub(crate) struct Count(AtomicU64);

#[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn count_in(word: u64) -> u32 {
    word as u32
}

fn holes_in(word: u64) -> Holes {
    #[allow(clippy::cast_possible_truncation, reason = "the upper half has 32 bits")]
    Holes::from_bits((word >> 32) as u32)
}

fn word(count: u32, holes: Holes) -> u64 {
    u64::from(holes.to_bits()) << 32 | u64::from(count)
}

impl Count {
    /// The count of a chunk in a pool.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Count(AtomicU64::new(0))
    }

    /// Makes the caller the owner of a chunk from a pool, or resets a chunk of the caller's that
    /// [is empty](Count::is_empty).
    #[inline]
    pub(crate) fn own(&self) {
        invariant!(self.peek() == 0 || self.peek() > BIAS / 2, "G2, a pinned chunk is adopted");
        // Relaxed: giving up the chunk, or `is_empty`, ordered all earlier accesses to it. Other
        // threads free blocks only after the owner has passed the blocks to them, which orders this
        // store.
        self.0.store(word(BIAS, Holes::NONE), Ordering::Relaxed);
    }

    /// Whether no block of the caller's chunk is alive, given the owner's own count `local`. If so,
    /// no other thread has a pointer into the chunk, and all accesses to it by other threads
    /// happened before.
    #[inline]
    pub(crate) fn is_empty(&self, local: i32) -> bool {
        #[allow(clippy::cast_sign_loss, reason = "both wrap alike")]
        let others = BIAS.wrapping_sub(local as u32);
        // Acquire: pairs with the release of each free by another thread.
        count_in(self.0.load(Ordering::Acquire)) == others
    }

    /// Gives up a chunk for which [`is_empty`](Count::is_empty) returned true.
    #[inline]
    pub(crate) fn clear(&self) {
        invariant!(self.peek() > BIAS / 2, "G2, only its owner gives up a chunk");
        // Relaxed: no other thread has a block of the chunk. The pool orders it for the next owner.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Frees a block of a chunk that the caller does not own. `set_next` stores the link to the next
    /// hole in the block. Returns `None` if that was the last live block of a retired chunk: then
    /// the caller owns the chunk and must put it into a pool. Returns the chunk's holes otherwise.
    #[inline]
    pub(crate) fn free(&self, block: Hole, set_next: impl Fn(u16)) -> Option<Holes> {
        invariant!(self.peek() > 0, "G3, a block is freed in a chunk with live blocks");
        let word = self.push(block, 1, set_next);
        if count_in(word) == 0 {
            // Acquire: pairs with the releases of the other frees and of `settle`.
            fence(Ordering::Acquire);
            return None;
        }
        Some(holes_in(word))
    }

    /// Leaves a free part of the caller's chunk, which counts as no live block, to its next owner.
    /// `set_next` stores the link to the next hole in it.
    pub(crate) fn leave(&self, hole: Hole, set_next: impl Fn(u16)) {
        self.push(hole, 0, set_next);
    }

    /// Pushes a hole and subtracts `freed` blocks. Returns the word after that.
    #[inline]
    fn push(&self, hole: Hole, freed: u32, set_next: impl Fn(u16)) -> u64 {
        // Relaxed: the first hole is only linked to, not accessed.
        let mut old = self.0.load(Ordering::Relaxed);
        loop {
            let holes = holes_in(old);
            set_next(holes.first());
            let new = word(count_in(old).wrapping_sub(freed), holes.with(hole));
            // Release: pairs with `is_empty`, with `take`, and with the two fences. The
            // changes by other threads between the two are read-modify-writes, so they continue
            // the release sequence.
            match self.0.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return new,
                Err(now) => old = now,
            }
        }
    }

    /// Retires a chunk: adds the owner's own count. Returns the number of live blocks and the holes;
    /// if the number is 0, the caller owns the chunk and must put it into a pool. The chunk's entry
    /// must be complete before.
    #[inline]
    pub(crate) fn settle(&self, local: i32) -> (u32, Holes) {
        // The count does not fall below 0, so nothing is borrowed from the upper half.
        #[allow(clippy::cast_sign_loss, reason = "both wrap alike")]
        let change = (i64::from(local) - i64::from(BIAS)) as u64;
        // Release: pairs with `adopt`, which reads the entry, and with the fence in `free`, whose
        // caller reuses the chunk.
        let word = self.0.fetch_add(change, Ordering::Release).wrapping_add(change);
        let live = count_in(word);
        invariant!(live < BIAS / 2, "G3, at most as many blocks are freed as were served");
        if live == 0 {
            // Acquire: pairs with the release of each free by another thread.
            fence(Ordering::Acquire);
        }
        (live, holes_in(word))
    }

    /// Adopts a chunk that is retired and pinned. Returns how many of its blocks were alive, or
    /// `None` if it is no longer pinned. The fields of its entry may be read only after this.
    #[inline]
    pub(crate) fn adopt(&self) -> Option<u32> {
        // Relaxed, as on failure: the value is only compared; the exchange reads it again.
        let mut old = self.0.load(Ordering::Relaxed);
        while (1..BIAS / 2).contains(&count_in(old)) {
            let live = count_in(old);
            match self.0.compare_exchange_weak(
                old,
                word(live + BIAS, holes_in(old)),
                // Acquire: pairs with the release in `settle`, for the fields of the entry.
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(live),
                Err(now) => old = now,
            }
        }
        None
    }

    /// Called before the owner takes holes, so that a scope that serves the same bytes for ever while
    /// other threads free them does not use up the bias. Moves the owner's own count here if it is
    /// large, and returns what is left of it.
    pub(crate) fn absorb(&self, local: i32) -> i32 {
        let Some(large) = u32::try_from(local).ok().filter(|local| *local >= MOST_LOCAL) else {
            return local;
        };
        // Relaxed: the sum of both is as before, and only the owner compares it. A sum of at most
        // `BIAS` and the live blocks carries nothing to the upper half.
        self.0.fetch_add(u64::from(large), Ordering::Relaxed);
        0
    }

    /// Takes the newest `most` holes of the caller's chunk, or all. `read_link` reads the link of the
    /// hole that begins at a granule. Returns the granule of the first hole, and how many were taken.
    pub(crate) fn take(&self, most: u32, read_link: impl Fn(u16) -> (Hole, u16)) -> (u16, u32) {
        invariant!(self.peek() > BIAS / 2, "H1, only the owner takes holes");
        // Acquire, here and on failure: pairs with the release of each push, whose link is read
        // below. Only the owner takes holes, so those that are on the stack stay there.
        let mut old = self.0.load(Ordering::Acquire);
        loop {
            let (mut left, mut taken) = (holes_in(old), 0);
            while left.first() != 0 && taken < most {
                let (hole, next) = read_link(left.first());
                left = left.without(hole, next);
                taken += 1;
            }
            let new = word(count_in(old), left);
            match self.0.compare_exchange_weak(old, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return (holes_in(old).first(), taken),
                Err(now) => old = now,
            }
        }
    }

    /// Subtracts blocks as if other threads had freed them, whose bytes the owner has served again.
    #[cfg(test)]
    pub(crate) fn free_again(&self, blocks: u32) {
        self.0.fetch_sub(blocks.into(), Ordering::Relaxed);
    }

    /// The count, for assertions and figures.
    pub(crate) fn peek(&self) -> u32 {
        // Relaxed: assertions only ask for values that the caller's own accesses ordered, and
        // figures may be a moment old.
        count_in(self.0.load(Ordering::Relaxed))
    }
}
