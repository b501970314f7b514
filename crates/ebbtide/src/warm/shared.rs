//! The blocks that are kept for all threads.
//!
//! A *window* is a second. What arenas gave back in this window and the last one, and have not asked
//! for again, is kept up to the *demand*: the most that they gave back and then did ask for again. So
//! what one phase of a program leaves does not add to what the next one needs, and a second arena like
//! the first shows that the next will be like it. [`FREE`] bytes need no demand. A block that the heap
//! makes replaces kept ones. All of them go back when the process, with them, has more resident memory
//! than it needed without, and after two windows without arenas. The lock is held for a few
//! instructions, and no call is made under it. Arenas do not wait for it, and do without, unless
//! something has to go back.
//!
//! ```text
//! peak ──────╮      ╭──╮
//!            │      │  │
//! used       │   ╭──╯  │   demand: from low to here
//!            ╰───╯     ╰── kept: no more than that
//! low  ──────────
//! ```
#![forbid(unsafe_code)]

use super::{
    block::Block,
    helper::{self, Windows},
    limit,
    lock::{Guard, Lock},
    own,
};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The most blocks that are kept.
const MOST: usize = 256;

// Relaxed, all of them: they publish nothing, and a bound that is a moment old is as good.
/// The bytes of the blocks of more than [`own::LARGEST`](super::own::LARGEST) bytes in arenas.
static USED: AtomicUsize = AtomicUsize::new(0);
/// The most of them in this window and in the last one.
static PEAK: Recent = Recent::new();
/// The least of them since the peak.
static LOW: AtomicUsize = AtomicUsize::new(0);
/// How far their number rose from the low towards the peak, at most.
static DEMAND: Recent = Recent::new();
/// The most resident bytes of the process besides what was kept. Written by the helper thread.
static NEED: Recent = Recent::new();
/// The complement of the least resident bytes besides what was kept and used, so that the most of it is
/// that of the least. Written by the helper thread.
static OTHERS: Recent = Recent::new();
/// The bytes that are kept, or on their way back to the heap.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// Those of them that are on their way back.
static GOING_BACK: AtomicUsize = AtomicUsize::new(0);
/// Until when the helper thread counts as running, in milliseconds; 0 if there is none. If it changes,
/// another one was started. Written with the lock.
static WATCHED_UNTIL: AtomicU64 = AtomicU64::new(0);
/// Until when no helper thread can be started. Written with the lock.
static UNWATCHED_UNTIL: AtomicU64 = AtomicU64::new(if helper::CAN_START { 0 } else { u64::MAX });

/// What the contents of the newest block that is kept serve again; 0 if they are dead. Written with the
/// lock.
static PREPARED_FOR: AtomicUsize = AtomicUsize::new(0);

/// The forks that are under way.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// The bytes that are kept whatever arenas ask for again: an arena of a mebibyte.
const FREE: usize = 2 << 20;

static KEPT: Lock<Kept> =
    Lock::new(Kept { blocks: [const { None }; MOST], count: 0, window_end: 0 });

/// From this demand on, the helper thread looks how much the rest of the process uses.
const MUCH: usize = 8 << 20;

/// A program fills less than a fraction of this many bytes in a millisecond.
const FILLED_IN_MS: usize = 64 << 20;

/// The most of a number in this window and in the last one.
struct Recent {
    this: AtomicUsize,
    last: AtomicUsize,
}

impl Recent {
    const fn new() -> Self {
        Recent { this: AtomicUsize::new(0), last: AtomicUsize::new(0) }
    }

    fn most(&self) -> usize {
        self.this.load(Relaxed).max(self.last.load(Relaxed))
    }

    fn note(&self, number: usize) {
        if number > self.this.load(Relaxed) {
            self.this.fetch_max(number, Relaxed);
        }
    }

    /// Begins a window in which the number is this at first.
    fn end_window(&self, number: usize) {
        self.last.store(self.this.swap(number, Relaxed), Relaxed);
    }
}

struct Kept {
    /// When the window ends, in milliseconds.
    window_end: u64,
    /// The first `count` are blocks, the oldest first.
    blocks: [Option<Block>; MOST],
    count: usize,
}

impl Kept {
    /// Ends the window if it is over, and the next one too if that is.
    fn end_windows(&mut self, now: u64) {
        if now < self.window_end {
            return;
        }
        end_window();
        let window = u64::from(helper::WINDOW_MS);
        if now >= self.window_end + window {
            end_window();
        }
        self.window_end = now + window;
    }

    /// Until when a helper thread counts as running that now knows when to look again: at the end of
    /// the window or, if much may be kept, before a program could have filled a fraction of it.
    fn next_look(&self, now: u64) -> u64 {
        let demand = DEMAND.most();
        let next = if demand < MUCH {
            self.window_end
        } else {
            self.window_end.min(now + (demand / FILLED_IN_MS).max(4) as u64)
        };
        next + u64::from(helper::GRACE_MS)
    }

    /// Returns the block if there is no place for it.
    fn push(&mut self, block: Block, prepared_for: usize) -> Option<Block> {
        let Some(place) = self.blocks.get_mut(self.count) else { return Some(block) };
        HELD.fetch_add(block.size(), Relaxed);
        PREPARED_FOR.store(prepared_for, Relaxed);
        self.count += 1;
        place.replace(block)
    }

    /// Takes the newest block of this size.
    fn take(&mut self, size: usize) -> Option<Block> {
        let is_wanted = |block: &Option<Block>| block.as_ref().is_some_and(|b| b.size() == size);
        let at = self.blocks.get(..self.count)?.iter().rposition(is_wanted)?;
        HELD.fetch_sub(size, Relaxed);
        self.remove(at)
    }

    /// Takes the newest block, if its contents are prepared for this.
    fn take_prepared(&mut self, wanted: usize) -> Option<Block> {
        if PREPARED_FOR.load(Relaxed) != wanted {
            return None;
        }
        let block = self.remove(self.count.checked_sub(1)?)?;
        HELD.fetch_sub(block.size(), Relaxed);
        Some(block)
    }

    /// Takes the oldest block, for [`give_back`].
    fn take_oldest(&mut self) -> Option<Block> {
        let block = self.remove(0)?;
        GOING_BACK.fetch_add(block.size(), Relaxed);
        Some(block)
    }

    fn remove(&mut self, at: usize) -> Option<Block> {
        let blocks = self.blocks.get_mut(at..self.count)?;
        let block = blocks.first_mut()?.take()?;
        // By hand: `rotate_left` brings a panic along, and with it the printing of one.
        let mut places = blocks.iter_mut().peekable();
        while let Some(place) = places.next() {
            let Some(next) = places.peek_mut() else { break };
            core::mem::swap(place, next);
        }
        self.count -= 1;
        if at == self.count {
            PREPARED_FOR.store(0, Relaxed);
        }
        Some(block)
    }
}

/// The block that was kept last, if its contents were prepared for this, and it still is kept.
#[inline]
pub(super) fn take_prepared(wanted: usize) -> Option<Block> {
    if PREPARED_FOR.load(Relaxed) != wanted {
        return None;
    }
    let block = lock()?.take_prepared(wanted)?;
    note_taken(block.size());
    Some(block)
}

/// Hands out a block of this size, the one that was kept last, or what `request` returns.
#[inline(never)]
pub(super) fn take(size: usize, request: impl FnOnce() -> Option<Block>) -> Option<Block> {
    let kept = if held() > 0 { lock().and_then(|mut kept| kept.take(size)) } else { None };
    let block = kept.or_else(|| {
        // What is kept makes room for what is new, even below the peak: the heap would not have what
        // goes back only later, and would take more from the system.
        let rest = held().saturating_sub(size);
        // It can take the place of what the heap gets back here, so that stays resident.
        drop_above(size, rest, drop);
        request()
    })?;
    note_taken(size);
    Some(block)
}

fn note_taken(size: usize) {
    let used = USED.fetch_add(size, Relaxed) + size;
    let peak = PEAK.most();
    DEMAND.note(used.min(peak).saturating_sub(LOW.load(Relaxed)));
    PEAK.note(used);
    if used > peak {
        LOW.store(used, Relaxed);
    }
}

/// Keeps a block, or gives it back. Its contents are prepared for this, or dead if that is 0.
#[inline(never)]
pub(super) fn keep(block: Block, prepared_for: usize) {
    let size = block.size();
    let used = USED.fetch_sub(size, Relaxed).wrapping_sub(size);
    LOW.fetch_min(used, Relaxed);
    if !limit::is_on() || !own::is_open() {
        return;
    }
    let Some((is_watched, most)) = push(block, prepared_for) else { return };
    if held() > most {
        drop_above(0, usize::MAX, Block::discard);
    }
    if !is_watched && !helper::start::<Kept>() {
        if let Some(_kept) = lock_soon() {
            WATCHED_UNTIL.store(0, Relaxed);
            UNWATCHED_UNTIL.store(helper::now() + u64::from(helper::WINDOW_MS), Relaxed);
        }
        trim();
    }
}

/// Adds a block to those that are kept, and returns whether a helper thread is running, and how many bytes
/// may be kept. If none is running, the caller starts one. Gives the block back and returns `None` if it
/// cannot be kept now.
fn push(block: Block, prepared_for: usize) -> Option<(bool, usize)> {
    // Not with the lock: a sanitizer takes its time.
    block.forbid();
    let now = helper::now();
    let mut kept = lock()?;
    kept.end_windows(now);
    let is_refused = now < UNWATCHED_UNTIL.load(Relaxed) || FORKS.load(Relaxed) > 0;
    let most = allowed(0);
    if is_refused || block.size() > most {
        drop(kept);
        block.discard();
        return None;
    }
    let (announced, next) = (WATCHED_UNTIL.load(Relaxed), kept.next_look(now));
    // A helper that looks only at the end of the window is too late where much is kept.
    let is_watched = now < announced && announced <= next + 64;
    if !is_watched {
        WATCHED_UNTIL.store(next, Relaxed);
    }
    let refused = kept.push(block, prepared_for);
    drop(kept);
    drop(refused);
    Some((is_watched, most))
}

impl Windows for Kept {
    fn before_fork() {
        // Whoever has the lock before keeps a block that goes back here. Nobody does afterwards.
        let kept = lock_soon();
        FORKS.fetch_add(1, Relaxed);
        drop(kept);
        trim();
    }

    fn after_fork() {
        #[allow(deprecated, reason = "the oldest supported compiler has no `try_update`")]
        let _ = FORKS.fetch_update(Relaxed, Relaxed, |forks| forks.checked_sub(1));
    }

    fn in_child() {
        WATCHED_UNTIL.store(0, Relaxed);
        // Another thread may have been giving a block back. If one had the lock, nobody will have it
        // again, and nothing is kept.
        let kept = lock();
        let held = kept.as_ref().map_or(0, |kept| {
            kept.blocks.iter().flatten().map(Block::size).fold(0, usize::wrapping_add)
        });
        HELD.store(held, Relaxed);
        GOING_BACK.store(0, Relaxed);
        FORKS.store(kept.is_none().into(), Relaxed);
    }

    fn watched_until() -> Option<u64> {
        KEPT.lock().ok().map(|_| WATCHED_UNTIL.load(Relaxed))
    }

    fn look(until: u64, resident: fn() -> Option<usize>) -> Option<u64> {
        if WATCHED_UNTIL.load(Relaxed) != until {
            return None;
        }
        KEPT.lock().ok()?.end_windows(helper::now());
        if DEMAND.most() >= MUCH && resident().is_some_and(exceeds_need) {
            trim();
        }
        drop_above(0, usize::MAX, Block::discard);
        let kept = KEPT.lock().ok()?;
        if WATCHED_UNTIL.load(Relaxed) != until {
            return None;
        }
        let next = kept.next_look(helper::now());
        WATCHED_UNTIL.store(if kept.count > 0 { next } else { 0 }, Relaxed);
        (kept.count > 0).then_some(next)
    }
}

/// The bytes that may be kept if arenas take `more`.
#[inline(never)]
fn allowed(more: usize) -> usize {
    let given_back = PEAK.most().saturating_sub(USED.load(Relaxed).saturating_add(more));
    given_back.min(DEMAND.most().max(FREE)).min(limit::get())
}

/// Gives the oldest blocks back by `give` as long as more than `most` is kept, or than is allowed if
/// arenas take `more`.
#[inline(never)]
fn drop_above(more: usize, most: usize, give: fn(Block)) {
    while held() > allowed(more).min(most) {
        let Some(block) = lock_soon().and_then(|mut kept| kept.take_oldest()) else { return };
        give_back(block, give);
    }
}

#[inline(never)]
fn give_back(block: Block, give: fn(Block)) {
    let size = block.size();
    give(block);
    HELD.fetch_sub(size, Relaxed);
    GOING_BACK.fetch_sub(size, Relaxed);
}

/// Waits until no other thread is giving a block back, for at most ten seconds.
pub(super) fn wait_for_heap() {
    for turn in 0..10_000 {
        if GOING_BACK.load(Relaxed) == 0 {
            return;
        }
        helper::pause(turn >= 100);
    }
}

/// After the limit was lowered.
pub(super) fn shrink() {
    drop_above(0, usize::MAX, Block::discard);
}

/// Gives everything back, and forgets what arenas asked for.
pub(super) fn trim() {
    forget();
    while let Some(block) = lock_soon().and_then(|mut kept| kept.take_oldest()) {
        give_back(block, Block::discard);
    }
}

fn forget() {
    for _ in 0..2 {
        end_window();
    }
}

#[inline(never)]
fn end_window() {
    PEAK.end_window(USED.load(Relaxed));
    for recent in [&DEMAND, &NEED, &OTHERS] {
        recent.end_window(0);
    }
}

/// Whether, of these resident bytes, what is kept takes more than the process needed recently, and a
/// sixteenth of it. If it does, the rest of the process needs the memory now.
///
/// No look may have met the moment in which the process needed most; so it counts as at least what
/// arenas used at most and, besides, the others at least.
fn exceeds_need(resident: usize) -> bool {
    let besides = resident.saturating_sub(held());
    NEED.note(besides);
    OTHERS.note(!besides.saturating_sub(USED.load(Relaxed)));
    let need = (!OTHERS.most()).saturating_add(PEAK.most()).max(NEED.most());
    resident > need.saturating_add(need / 16)
}

/// The bytes that are kept.
pub(super) fn held() -> usize {
    HELD.load(Relaxed)
}

/// `None` if another thread has the lock.
fn lock() -> Option<Guard<'static, Kept>> {
    KEPT.try_lock().ok()
}

/// Waits for the lock, but not for ever: the parent of a fork may have left it locked.
#[inline(never)]
fn lock_soon() -> Option<Guard<'static, Kept>> {
    (0..1000).find_map(|_| {
        let kept = lock();
        if kept.is_none() {
            helper::pause(false);
        }
        kept
    })
}
