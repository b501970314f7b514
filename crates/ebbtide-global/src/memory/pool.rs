//! The pools of unused runs, which all threads share.
//!
//! Each class of runs has a pool of two stacks: one for runs with memory behind them, and one for
//! runs whose memory went back to the system. Memory goes back when it was not used for a window of
//! time, when the bound of `memory/held` falls, when the pools hold more than they may, or when the
//! user requests it.
//!
//! All of `owner`, `memory/cache` and `calls` call it. It writes what a run holds, and only in runs
//! that the caller owns.

use crate::{
    limits::{MAX_JOINED, MAX_SLACK},
    memory::{
        held,
        os::{self, Purged},
        run::{FIRST_ID, LargeRef, Run},
    },
    shared::stack::Stack,
    size::{self, BUMP_CLASS, CHUNK, CLASSES},
};
use core::{
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Runs with memory behind them, by class.
static WARM: [Stack; CLASSES] = [const { Stack::new() }; CLASSES];

/// Runs without memory behind them, by class.
static EMPTY: [Stack; CLASSES] = [const { Stack::new() }; CLASSES];

/// The bytes that the warm runs hold. Relaxed: a run is added before it is pushed, and subtracted
/// after it was popped, and the stack orders the two. So the sum is never negative, but it may be
/// too high for a moment.
static POOLED: AtomicUsize = AtomicUsize::new(0);

/// The minimum of [`POOLED`] in the current window, which is the number of bytes that no thread
/// needed in it. The value is approximate: if a window ends while another thread takes a run, the
/// run may count for either window.
static UNUSED: AtomicUsize = AtomicUsize::new(0);

/// The number of runs of each class that are examined for one that fits.
const SEARCH_LIMIT: usize = 16;

/// The bytes that blocks left behind their ends when they shrank, and that did not go back to the
/// system. Relaxed: a sum that publishes nothing.
static SLACK: AtomicUsize = AtomicUsize::new(0);

/// Takes a run with memory behind it.
pub(crate) fn take_warm(class: usize) -> Option<Run> {
    pop(&WARM[class]).inspect(|run| count_taken(*run))
}

fn count_taken(run: Run) {
    let held = run.entry().held.get();
    let before = POOLED.fetch_sub(held, Ordering::Relaxed);
    invariant!(before >= held, "the bytes of the pools");
    UNUSED.fetch_min(before.saturating_sub(held), Ordering::Relaxed);
}

/// Takes the run that fits a large block of `bytes` bytes best, of this class or of the next two:
/// the one with the least memory beyond `bytes`, but at most as much again; otherwise the one of
/// this class with the most memory. Examines only the first few runs of each class.
pub(crate) fn take_fitting(class: usize, bytes: usize) -> Option<Run> {
    let mut best: Option<Run> = None;
    let mut others: Option<Run> = None;
    let surplus = |run: Run| run.entry().held.get().checked_sub(bytes);
    for stack in WARM.iter().skip(class).take(3) {
        for _ in 0..SEARCH_LIMIT {
            let Some(run) = pop(stack) else { break };
            let is_better = match (surplus(run), best.and_then(surplus)) {
                (Some(one), Some(other)) => one < other,
                (Some(one), None) => one <= bytes,
                (None, Some(_)) => false,
                (None, None) => {
                    let most = best.map_or(0, |best| best.entry().held.get());
                    run.class() == class && run.entry().held.get() > most
                }
            };
            let other = if is_better { best.replace(run) } else { Some(run) };
            if let Some(other) = other {
                other.set_next(others);
                others = Some(other);
            }
        }
    }
    Run::list(others).for_each(|run| push(&WARM[run.class()], run));
    best.inspect(|run| count_taken(*run))
}

/// Takes a run without memory behind it. Its bytes up to `touched` may have any value; the others
/// are zero. `None` if the range is used up or the system has no memory.
pub(crate) fn take_empty(class: usize) -> Option<Run> {
    let Some(run) = pop(&EMPTY[class]) else { return Run::fresh(class) };
    if !run.recommit(size::run_bytes(class)) {
        push(&EMPTY[class], run);
        return None;
    }
    Some(run)
}

/// Puts a run into the pool. The caller owns the run, and no block in it is alive. If more memory
/// is held than allowed, the run's memory goes back to the system. `has_scope`: whether the calling
/// thread has a scope.
pub(crate) fn give(run: Run, has_scope: bool) {
    if is_too_much(run, 0, has_scope) {
        run.set_next(None);
        give_empty(Some(run));
    } else {
        give_warm(run);
    }
}

/// Like [`give`], for a list of runs.
pub(crate) fn give_all(runs: Option<Run>, has_scope: bool) {
    let (mut empty, mut empty_bytes) = (None, 0);
    for run in Run::list(runs) {
        if is_too_much(run, empty_bytes, has_scope) {
            empty_bytes += run.entry().held.get();
            run.set_next(empty);
            empty = Some(run);
        } else {
            give_warm(run);
        }
    }
    give_empty(empty);
}

/// Whether a run's memory must go back to the system. `bytes` other bytes are about to go back as
/// well.
fn is_too_much(run: Run, bytes: usize, has_scope: bool) -> bool {
    let held = run.entry().held.get();
    let pooled = POOLED.load(Ordering::Relaxed) + held;
    held == 0 || !held::may_pool(pooled, has_scope) || held::excess(false) >= bytes + held
}

fn give_warm(run: Run) {
    invariant!(run.entry().held.get() > 0, "a warm run has memory");
    POOLED.fetch_add(run.entry().held.get(), Ordering::Relaxed);
    push(&WARM[run.class()], run);
}

/// Gives the memory of a run beyond the first `bytes` bytes back to the system. The caller owns the
/// run, and no block in it is alive beyond these bytes.
pub(crate) fn trim_run(run: Run, bytes: usize) {
    let entry = run.entry();
    let (keep, held) = (bytes.next_multiple_of(os::page_bytes()), entry.held.get());
    let Some(start) = NonNull::new(run.start().wrapping_add(keep)) else { return };
    if keep >= held {
        return;
    }
    // SAFETY: the caller owns the run (G2), which holds no live block behind `keep` (G4). Its
    // `held` bytes are committed (G1), and `keep` is the start of a page.
    let purged = unsafe { os::purge(start, held - keep) };
    count_purged(run, keep, purged);
}

/// Counts what an attempt to give the memory of a run beyond the first `keep` bytes back has done.
/// Returns false if the run still has it.
fn count_purged(run: Run, keep: usize, purged: Purged) -> bool {
    let entry = run.entry();
    match purged {
        Purged::Gone => entry.touched.set(entry.touched.get().min(keep)),
        Purged::Offered => {}
        Purged::Not => return false,
    }
    held::BUDGET.shrink(entry.held.replace(keep) - keep);
    true
}

/// Gives the memory behind a large block that has shrunk back to the system, unless it is less than
/// an eighth of the block, or little in all blocks together. The block ends `end` bytes from the
/// start of the run.
pub(crate) fn trim_shrunk(large: LargeRef, end: usize) {
    let entry = large.entry();
    forget_slack(large);
    let slack = entry.held.get().saturating_sub(end);
    if slack < (end / 8).max(os::page_bytes()) {
        return;
    }
    if SLACK.fetch_add(slack, Ordering::Relaxed) + slack <= MAX_SLACK {
        entry.slack.set(slack);
    } else {
        SLACK.fetch_sub(slack, Ordering::Relaxed);
        trim_run(large.run(), end);
    }
}

/// Called when the large block of a run is freed or resized.
pub(crate) fn forget_slack(large: LargeRef) {
    let slack = large.entry().slack.take();
    if slack > 0 {
        let before = SLACK.fetch_sub(slack, Ordering::Relaxed);
        invariant!(before >= slack, "the bytes behind shrunk blocks");
    }
}

/// Gives the memory of a list of runs back to the system and puts the runs into the pool. The
/// caller owns the runs, and no block in them is alive. Neighbouring chunks go back in one call,
/// which takes three fifths of the time of separate calls.
fn give_empty(runs: Option<Run>) {
    let mut next = runs;
    while let Some(first) = next {
        next = first.next();
        let held = first.entry().held.get();
        let mut lowest = first;
        let mut size_bytes = held.next_multiple_of(CHUNK).min(size::run_bytes(first.class()));
        let mut count = 1;
        while let Some(run) = next.filter(|run| joins(*run, lowest, size_bytes)) {
            next = run.next();
            lowest = if run.number() < lowest.number() { run } else { lowest };
            size_bytes += CHUNK;
            count += 1;
        }
        let start = NonNull::new(lowest.start()).filter(|_| held > 0);
        let purged = start.map_or(Purged::Not, |start| {
            // SAFETY: the list's runs are owned (G2), hold no live block (G4), and are committed
            // (G1). The bytes are those of `first`, or of `count` neighbours.
            unsafe { os::purge(start, size_bytes) }
        });
        let mut run = first;
        for _ in 0..count {
            let after = run.next();
            if held == 0 || count_purged(run, 0, purged) {
                push(&EMPTY[run.class()], run);
            } else {
                give_warm(run);
            }
            run = after.unwrap_or(run);
        }
    }
}

/// Whether a chunk's memory may go back in one call with that of chunks which begin at `lowest` and
/// have `size_bytes` bytes.
fn joins(run: Run, lowest: Run, size_bytes: usize) -> bool {
    let (start, lowest_start) = (run.start().addr(), lowest.start().addr());
    let is_neighbour = start + CHUNK == lowest_start || start == lowest_start + size_bytes;
    let is_chunk = |run: Run| run.class() == BUMP_CLASS && run.entry().held.get() == CHUNK;
    is_neighbour && size_bytes < MAX_JOINED && is_chunk(run) && is_chunk(lowest)
}

/// Gives at least this many bytes of the pools back to the system, or all that they hold. The last
/// run keeps the memory that is not needed.
pub(crate) fn trim(bytes: usize) {
    let mut left = bytes;
    for class in (0..CLASSES).rev() {
        // Takes all runs before it puts the first one back. Otherwise, if the system does not take
        // back the memory of a run, the loop would take the same run again.
        let mut taken: Option<Run> = None;
        while left > 0 {
            let Some(run) = take_warm(class) else { break };
            let held = run.entry().held.get();
            let keep = held.saturating_sub(left) / os::page_bytes() * os::page_bytes();
            if keep > 0 && class != BUMP_CLASS {
                trim_run(run, keep);
                give_warm(run);
                left = 0;
                break;
            }
            left = left.saturating_sub(held);
            run.set_next(taken);
            taken = Some(run);
        }
        give_empty(taken);
    }
}

/// Called at the end of a window. Gives memory back to the system: what is held beyond the bound, or
/// what was not used during the window, except for what pools always keep within the bound without
/// the reserve.
#[cold]
pub(crate) fn end_window() {
    let pooled = POOLED.load(Ordering::Relaxed);
    let unused = UNUSED.swap(pooled, Ordering::Relaxed).min(pooled);
    let idle = unused.saturating_sub(held::retained()).max(held::excess(true).min(unused));
    trim(idle.max(held::excess(false)));
}

/// The bytes that blocks left behind their ends when they shrank.
pub(crate) fn shrunk() -> usize {
    SLACK.load(Ordering::Relaxed)
}

/// The bytes that the pools hold.
pub(crate) fn pooled() -> usize {
    POOLED.load(Ordering::Relaxed)
}

fn push(stack: &Stack, run: Run) {
    invariant!(run.entry().scope_id() < FIRST_ID, "G2, a run in a pool");
    stack.push(run.number(), |next| run.set_next(Run::from_number(next)));
}

fn pop(stack: &Stack) -> Option<Run> {
    let next = |run| Run::from_number(run).and_then(Run::next).map_or(0, Run::number);
    Run::from_number(stack.pop(next))
}
