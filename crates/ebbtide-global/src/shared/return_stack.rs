//! A stack of blocks that other threads freed, on their way back to the scope that served them.
//!
//! A block on the stack is free, but its chunk still counts it as alive. So the chunk is not
//! recycled until a thread takes the block off the stack. Any thread may do so, at any time. The
//! scope's owner takes all blocks at once and puts them into the scope's free lists. When the scope
//! ends, a thread closes the stack and counts its blocks as freed. A thread that frees a block
//! later counts that block itself.
//!
//! The stack has room for [`CAPACITY`] blocks, which bounds the time of the request in which the
//! owner takes all of them. If the stack is full, the thread that frees a block counts it as freed.
//!
//! The stack represents a block by a 64-bit *word*. The caller stores the links: the first eight
//! bytes of a block on the stack contain the word of the next block. There is no ABA problem,
//! because blocks are only added one by one and taken all at once.
//!
//! `owner/returned` calls it. Each entry in the table has one.
//!
//! The models in `tests/loom_returned.rs` cover every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicU64, Ordering};

/// The word of a closed stack, to which no block can be added. All-zero bytes are a closed stack.
const CLOSED: u64 = 0;

/// The word of an open stack without blocks, and the link of the last block.
const EMPTY: u64 = 1;

/// The smallest word that represents a block.
pub(crate) const FIRST_WORD: u64 = 2;

/// The bits of a word that the caller gives to a block. Those above are the number of blocks from
/// this one to the last.
pub(crate) const BLOCK_BITS: u32 = 48;

/// The most blocks on a stack. If its memory is in no cache, taking one block costs up to 0.16 µs.
pub(crate) const CAPACITY: u64 = if cfg!(loom) { 2 } else { 4096 };

/// The bits of a word that the caller gave to its block.
pub(crate) fn block_of(word: u64) -> u64 {
    word & ((1 << BLOCK_BITS) - 1)
}

/// Whether a stack was full, given the word of its first block.
pub(crate) fn was_full(first: u64) -> bool {
    first >> BLOCK_BITS == CAPACITY
}

/// A stack of freed blocks, open while a scope persists. Blocks are words from [`FIRST_WORD`] on, of [`BLOCK_BITS`] bits.
#[derive(Debug)]
pub(crate) struct ReturnStack(AtomicU64);

impl ReturnStack {
    /// A closed stack.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        ReturnStack(AtomicU64::new(CLOSED))
    }

    /// Opens the stack, which is closed.
    pub(crate) fn open(&self) {
        invariant!(self.0.load(Ordering::Relaxed) == CLOSED, "R2, a closed stack is opened");
        // Relaxed: a closed stack has no blocks, and threads that find it closed change nothing.
        self.0.store(EMPTY, Ordering::Relaxed);
    }

    /// Adds a block that was freed but is still counted as alive. `set_next` stores the word of the
    /// next block in it. Returns false if the stack is closed or full.
    #[inline]
    pub(crate) fn push(&self, block: u64, set_next: impl Fn(u64)) -> bool {
        // Relaxed: only the word is used, not the block that it represents.
        let mut word = self.0.load(Ordering::Relaxed);
        while word != CLOSED && word >> BLOCK_BITS < CAPACITY {
            set_next(word);
            let block = block | (((word >> BLOCK_BITS) + 1) << BLOCK_BITS);
            // Release: the link, and all that the caller did with the block, happen before it is
            // taken. Every change of an open stack is a read-modify-write, so acquiring a later
            // word acquires this one, too.
            match self.0.compare_exchange_weak(word, block, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Whether there are blocks.
    #[inline]
    pub(crate) fn has_blocks(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= FIRST_WORD
    }

    /// Takes all blocks of an open stack. Returns the word of the first block; a word below
    /// [`FIRST_WORD`] means that there was none.
    pub(crate) fn take(&self) -> u64 {
        invariant!(
            self.0.load(Ordering::Relaxed) != CLOSED,
            "R2, blocks are taken while it is open"
        );
        // Acquire: pairs with the release of each push.
        self.0.swap(EMPTY, Ordering::Acquire)
    }

    /// Closes the stack and takes all blocks, like [`take`](ReturnStack::take).
    pub(crate) fn close(&self) -> u64 {
        // Acquire: as in `take`.
        self.0.swap(CLOSED, Ordering::Acquire)
    }
}
