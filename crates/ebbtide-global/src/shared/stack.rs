//! A lock-free stack of runs that have no owner, shared by all threads.
//!
//! The caller stores the links between the runs. The stack is one 64-bit word. Its lower half is
//! the number of the run on top, and its upper half counts changes, to avoid the ABA problem:
//! popping must fail if the run on top was popped and pushed again meanwhile, because another run
//! may now lie below it.
//!
//! `memory/pool` has two for each class of runs.
//!
//! The model in `tests/loom_pool.rs` covers every interleaving of these operations.
#![forbid(unsafe_code)]

use crate::shared::atomic::{AtomicU64, Ordering};

/// A lock-free stack of unused runs. Runs are numbers other than 0; 0 stands for none.
#[derive(Debug)]
pub(crate) struct Stack(AtomicU64);

impl Stack {
    new_atomic!(Stack(AtomicU64::new(0)));

    fn word(before: u64, head: u32) -> u64 {
        ((before >> 32).wrapping_add(1) << 32) | u64::from(head)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn head(word: u64) -> u32 {
        word as u32
    }

    /// Pushes a run that the caller owns. `set_next` stores the link to the run below it.
    pub(crate) fn push(&self, run: u32, set_next: impl Fn(u32)) {
        // Relaxed: only the number of the run is used, not what it refers to.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            invariant!(Self::head(word) != run, "a run is pushed once");
            set_next(Self::head(word));
            let new = Self::word(word, run);
            // Release: the link and the caller's writes to the run happen before it is popped.
            // Every change of the word is a read-modify-write, so acquiring a later word acquires
            // this push, too.
            match self.0.compare_exchange_weak(word, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Pops a run; 0 if the stack is empty. `next` reads the link of a run.
    pub(crate) fn pop(&self, next: impl Fn(u32) -> u32) -> u32 {
        // Acquire, here and on failure: pairs with the release of the push, whose link is read
        // below.
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            let run = Self::head(word);
            if run == 0 {
                return 0;
            }
            // If another thread pops the run meanwhile and links it elsewhere, `next` may return
            // anything, but the word has changed and the exchange fails.
            let new = Self::word(word, next(run));
            // Acquire: the caller may access the run from here on. Relaxed would do on success,
            // because `word` was acquired when it was loaded, but it would not be cheaper.
            match self.0.compare_exchange_weak(word, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return run,
                Err(now) => word = now,
            }
        }
    }
}
