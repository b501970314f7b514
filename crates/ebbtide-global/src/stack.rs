//! A stack of runs that nobody owns, shared by all threads, without a lock.
//!
//! The links between the runs are the caller's. The upper half of the stack's word counts its
//! changes: a thread that is about to take the head must not succeed when the head was taken and
//! put back meanwhile, for the run below it may be another one by then (the ABA problem).
//!
//! `tests/loom_pool.rs` tries every interleaving of what is here.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};

/// See the module's head. Runs are numbers other than 0; 0 stands for none.
#[derive(Debug)]
pub(crate) struct Stack(AtomicU64);

impl Stack {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Stack(AtomicU64::new(0))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Stack(AtomicU64::new(0))
    }

    fn word(before: u64, head: u32) -> u64 {
        ((before >> 32).wrapping_add(1) << 32) | u64::from(head)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn head(word: u64) -> u32 {
        word as u32
    }

    /// Puts a run on top, which the caller owns. `set_next` links it to the run that was on top.
    pub(crate) fn push(&self, run: u32, set_next: impl Fn(u32)) {
        // Relaxed: of the word that is read here, only the number is used.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            set_next(Self::head(word));
            let new = Self::word(word, run);
            // Release: the link, and whatever the caller did to the run, has happened before it is
            // popped. Every change of the word is a read-modify-write, so whoever acquires a later
            // word acquires this push too.
            match self.0.compare_exchange_weak(word, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Takes the run on top, or 0 if there is none. `next` reads the link of a run.
    pub(crate) fn pop(&self, next: impl Fn(u32) -> u32) -> u32 {
        // Acquire, here and on failure: pairs with the release of the push, whose link is read
        // below.
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            let run = Self::head(word);
            if run == 0 {
                return 0;
            }
            // Another thread may take the run at this moment and link it elsewhere. Then the word
            // has changed, and the exchange fails.
            let new = Self::word(word, next(run));
            // Acquire: the caller may touch what belongs to the run's owner. The load of `word` was
            // one already, and the exchange succeeds on that very word, so Relaxed would do; this
            // is no dearer and needs no proof.
            match self.0.compare_exchange_weak(word, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return run,
                Err(now) => word = now,
            }
        }
    }
}
