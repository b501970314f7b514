//! What all threads share: pools of runs that nobody uses, and pinned chunks with a free tail.
//!
//! A pool is a pair of stacks for each class of runs: those with memory behind them, and those whose memory went back to the system.
//! Memory goes back when a window of time ends in which it was not used, when the bound of `memory` falls, when the pools hold more than
//! the user allowed, and when the user asks.

use crate::{
    memory,
    os::{self, Purged},
    run::Run,
    size::{self, CHUNK, CLASSES},
};
use core::{
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

/// Runs with memory behind them.
static WARM: [Stack; CLASSES] = [const { Stack::new() }; CLASSES];

/// Runs without.
static EMPTY: [Stack; CLASSES] = [const { Stack::new() }; CLASSES];

/// The bytes that the warm runs hold.
static POOLED: AtomicUsize = AtomicUsize::new(0);

/// The least that [`POOLED`] was in this window: so much was not needed.
static UNUSED: AtomicUsize = AtomicUsize::new(0);

/// Takes a run with memory behind it.
pub(crate) fn take_warm(class: usize) -> Option<Run> {
    let run = WARM[class].pop()?;
    let held = run.entry().held.get();
    let before = POOLED.fetch_sub(held, Ordering::Relaxed);
    UNUSED.fetch_min(before.saturating_sub(held), Ordering::Relaxed);
    Some(run)
}

/// Takes a run without memory behind it. Its bytes up to `touched` may hold anything, the others are zeros. `None` where the range, or
/// the system's memory, is used up.
pub(crate) fn take_empty(class: usize) -> Option<Run> {
    let Some(run) = EMPTY[class].pop() else { return Run::fresh(class) };
    let is_usable =
        NonNull::new(run.start()).is_some_and(|start| os::recommit(start, size::run_bytes(class)));
    if !is_usable {
        EMPTY[class].push(run);
        return None;
    }
    Some(run)
}

/// Puts a run into the pool. Nothing in it is in use, and the caller owns it. Its memory goes back to the system where more is held than may be.
pub(crate) fn give(run: Run) {
    let held = run.entry().held.get();
    let pooled = POOLED.load(Ordering::Relaxed) + held;
    if held == 0 || pooled > memory::most_pooled() || memory::excess() >= held {
        give_empty(run);
    } else {
        POOLED.fetch_add(held, Ordering::Relaxed);
        WARM[run.class()].push(run);
    }
}

/// Gives the memory of a run beyond the first `bytes` back to the system. Nothing in the run is in use, and the caller owns it.
pub(crate) fn trim_run(run: Run, bytes: usize) {
    let entry = run.entry();
    let (keep, held) = (bytes.next_multiple_of(os::page_bytes()), entry.held.get());
    let Some(start) = NonNull::new(run.start().wrapping_add(keep)) else { return };
    // On Windows the rest would have to be committed again before it is used.
    if cfg!(windows) || keep >= held {
        return;
    }
    // SAFETY: the caller owns the run (G2), which holds no live block (G4), and its chunks are committed (G1).
    if unsafe { os::purge(start, held - keep) } != Purged::Gone {
        return;
    }
    entry.touched.set(entry.touched.get().min(keep));
    entry.held.set(keep);
    memory::shrink(held - keep);
}

/// Gives the memory of a run back to the system, and puts the run into the pool.
fn give_empty(run: Run) {
    let entry = run.entry();
    let held = entry.held.get();
    if held > 0 {
        let size_bytes = held.next_multiple_of(CHUNK).min(size::run_bytes(run.class()));
        let purged = NonNull::new(run.start()).map_or(Purged::Not, |start| {
            // SAFETY: whoever gives a run to the pool owns it (G2), it holds no live block (G4), and its chunks are committed (G1).
            unsafe { os::purge(start, size_bytes) }
        });
        match purged {
            Purged::Gone => entry.touched.set(0),
            Purged::Offered => {}
            Purged::Not => {
                POOLED.fetch_add(held, Ordering::Relaxed);
                return WARM[run.class()].push(run);
            }
        }
        entry.held.set(0);
        memory::shrink(held);
    }
    EMPTY[run.class()].push(run);
}

/// Gives at least so much of the pools' memory back to the system, if they have it.
pub(crate) fn trim(bytes: usize) {
    let mut left = bytes;
    for class in (0..CLASSES).rev() {
        // All are taken before the first is put back: the system may keep the memory of some.
        let mut taken: Option<Run> = None;
        while left > 0 {
            let Some(run) = take_warm(class) else { break };
            left = left.saturating_sub(run.entry().held.get());
            run.set_next(taken);
            taken = Some(run);
        }
        while let Some(run) = taken {
            taken = run.next();
            give_empty(run);
        }
    }
}

/// Gives back what was not used in the window that ends, beyond what pools keep anyway, and what is beyond the bound.
pub(crate) fn end_window() {
    let pooled = POOLED.load(Ordering::Relaxed);
    let unused = UNUSED.swap(pooled, Ordering::Relaxed).min(pooled);
    trim(unused.saturating_sub(memory::retained()).max(memory::excess()));
}

/// The bytes that the pools hold.
pub(crate) fn pooled() -> usize {
    POOLED.load(Ordering::Relaxed)
}

/// Runs that nobody owns, last in, first out, without a lock. The upper half of the word counts the changes, so that a
/// head which went and came back is not taken for one that stayed.
struct Stack(AtomicU64);

impl Stack {
    const fn new() -> Self {
        Stack(AtomicU64::new(0))
    }

    fn word(before: u64, head: u32) -> u64 {
        ((before >> 32).wrapping_add(1) << 32) | u64::from(head)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn head(word: u64) -> Option<Run> {
        Run::from_number(word as u32)
    }

    fn push(&self, run: Run) {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            run.set_next(Self::head(word));
            let new = Self::word(word, run.number());
            match self.0.compare_exchange_weak(word, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    fn pop(&self) -> Option<Run> {
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            let run = Self::head(word)?;
            // Another thread may take the run at this moment and link it elsewhere; then the exchange fails.
            let next = run.next().map_or(0, Run::number);
            let new = Self::word(word, next);
            match self.0.compare_exchange_weak(word, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(run),
                Err(now) => word = now,
            }
        }
    }
}

/// Pinned chunks that ended owners remembered for their free tails. Only hints: who takes one has to adopt it.
static TAILS: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];

/// Where the next tail is put.
static NEXT_TAIL: AtomicU32 = AtomicU32::new(0);

/// Leaves a pinned chunk with a free tail to other owners.
pub(crate) fn leave_tail(run: Run) {
    let place = NEXT_TAIL.fetch_add(1, Ordering::Relaxed) as usize % TAILS.len();
    TAILS[place].store(run.number(), Ordering::Relaxed);
}

/// A pinned chunk that another owner left.
pub(crate) fn take_tail() -> Option<Run> {
    let taken = |tail: &AtomicU32| {
        if tail.load(Ordering::Relaxed) == 0 { 0 } else { tail.swap(0, Ordering::Relaxed) }
    };
    TAILS.iter().map(taken).find_map(Run::from_number)
}
