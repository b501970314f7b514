//! What all threads share: pools of runs that nobody uses, and pinned chunks with a free tail.
//!
//! A pool is a pair of stacks for each class of runs: those with memory behind them, and those
//! whose memory went back to the system. Memory goes back when a window of time ends in which it
//! was not used, when the bound of `memory` falls, when the pools hold more than the user allowed,
//! and when the user asks.

use crate::{
    memory,
    os::{self, Purged},
    run::Run,
    size::{self, CHUNK, CLASSES},
    stack::Stack,
    tails::Tails,
};
use core::{
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Runs with memory behind them.
static WARM: [Stack; CLASSES] = [const { Stack::new() }; CLASSES];

/// Runs without.
static EMPTY: [Stack; CLASSES] = [const { Stack::new() }; CLASSES];

/// The bytes that the warm runs hold. Relaxed: a run is counted before it is pushed, and counted
/// out after it was popped, which the stack orders. So it never falls below 0, and for moments it
/// is too high.
static POOLED: AtomicUsize = AtomicUsize::new(0);

/// The least that [`POOLED`] was in this window: so much was not needed. A guess: where a window
/// ends at this moment, what another thread takes may count for the one or the other.
static UNUSED: AtomicUsize = AtomicUsize::new(0);

/// Takes a run with memory behind it.
pub(crate) fn take_warm(class: usize) -> Option<Run> {
    let run = pop(&WARM[class])?;
    let held = run.entry().held.get();
    let before = POOLED.fetch_sub(held, Ordering::Relaxed);
    UNUSED.fetch_min(before.saturating_sub(held), Ordering::Relaxed);
    Some(run)
}

/// Takes a run without memory behind it. Its bytes up to `touched` may hold anything, the others
/// are zeros. `None` where the range, or the system's memory, is used up.
pub(crate) fn take_empty(class: usize) -> Option<Run> {
    let Some(run) = pop(&EMPTY[class]) else { return Run::fresh(class) };
    let is_usable =
        NonNull::new(run.start()).is_some_and(|start| os::recommit(start, size::run_bytes(class)));
    if !is_usable {
        push(&EMPTY[class], run);
        return None;
    }
    Some(run)
}

/// Puts a run into the pool. Nothing in it is in use, and the caller owns it. Its memory goes back
/// to the system where more is held than may be.
pub(crate) fn give(run: Run) {
    let held = run.entry().held.get();
    let pooled = POOLED.load(Ordering::Relaxed) + held;
    if held == 0 || pooled > memory::max_pooled() || memory::excess() >= held {
        give_empty(run);
    } else {
        POOLED.fetch_add(held, Ordering::Relaxed);
        push(&WARM[run.class()], run);
    }
}

/// Gives the memory of a run beyond the first `bytes` back to the system. Nothing in the run is in
/// use, and the caller owns it.
pub(crate) fn trim_run(run: Run, bytes: usize) {
    let entry = run.entry();
    let (keep, held) = (bytes.next_multiple_of(os::page_bytes()), entry.held.get());
    let Some(start) = NonNull::new(run.start().wrapping_add(keep)) else { return };
    // On Windows the rest would have to be committed again before it is used.
    if cfg!(windows) || keep >= held {
        return;
    }
    // SAFETY: the caller owns the run (G2), which holds no live block (G4), and its chunks are
    // committed (G1).
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
            // SAFETY: whoever gives a run to the pool owns it (G2), it holds no live block (G4),
            // and its chunks are committed (G1).
            unsafe { os::purge(start, size_bytes) }
        });
        match purged {
            Purged::Gone => entry.touched.set(0),
            Purged::Offered => {}
            Purged::Not => {
                POOLED.fetch_add(held, Ordering::Relaxed);
                return push(&WARM[run.class()], run);
            }
        }
        entry.held.set(0);
        memory::shrink(held);
    }
    push(&EMPTY[run.class()], run);
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

/// Gives back what was not used in the window that ends, beyond what pools keep anyway, and what is
/// beyond the bound.
pub(crate) fn end_window() {
    let pooled = POOLED.load(Ordering::Relaxed);
    let unused = UNUSED.swap(pooled, Ordering::Relaxed).min(pooled);
    trim(unused.saturating_sub(memory::retained()).max(memory::excess()));
}

/// The bytes that the pools hold.
pub(crate) fn pooled() -> usize {
    POOLED.load(Ordering::Relaxed)
}

fn push(stack: &Stack, run: Run) {
    stack.push(run.number(), |next| run.set_next(Run::from_number(next)));
}

fn pop(stack: &Stack) -> Option<Run> {
    let next = |run| Run::from_number(run).and_then(Run::next).map_or(0, Run::number);
    Run::from_number(stack.pop(next))
}

static TAILS: Tails<64> = Tails::new();

/// Leaves a pinned chunk with a free tail to other owners.
pub(crate) fn leave_tail(run: Run) {
    TAILS.leave(run.number());
}

/// A pinned chunk that another owner left.
pub(crate) fn take_tail() -> Option<Run> {
    Run::from_number(TAILS.take())
}
