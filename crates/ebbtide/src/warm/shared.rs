//! The blocks that are kept for all threads.
//!
//! A *window* is a second. What arenas use and what is kept are together at most the *peak*: the
//! most that arenas used in this window and the last one; a block that the heap makes replaces kept
//! ones as well. So after two windows without arenas,
//! nothing is kept. The lock is held for a few instructions, and no call is made under it. Arenas do
//! not wait for it, and do without, unless something has to go back.
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
/// The most of them in this window.
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// The most of them in the last window.
static PEAK_BEFORE: AtomicUsize = AtomicUsize::new(0);
/// The bytes that are kept, or on their way back to the heap.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// Those of them that are on their way back.
static GOING_BACK: AtomicUsize = AtomicUsize::new(0);
/// Until when the helper thread counts as running, in milliseconds; 0 if there is none. If it changes,
/// another one was started. Written with the lock.
static WATCHED_UNTIL: AtomicU64 = AtomicU64::new(0);
/// Until when no helper thread can be started. Written with the lock.
static UNWATCHED_UNTIL: AtomicU64 = AtomicU64::new(if helper::CAN_START { 0 } else { u64::MAX });

/// The forks that are under way.
static FORKS: AtomicUsize = AtomicUsize::new(0);

static KEPT: Lock<Kept> = Lock::new(Kept { blocks: [const { None }; MOST], count: 0 });

struct Kept {
    /// The first `count` are blocks, the oldest first.
    blocks: [Option<Block>; MOST],
    count: usize,
}

impl Kept {
    /// Returns the block if there is no place for it.
    fn push(&mut self, block: Block) -> Option<Block> {
        let Some(place) = self.blocks.get_mut(self.count) else { return Some(block) };
        HELD.fetch_add(block.size(), Relaxed);
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
        Some(block)
    }
}

/// Hands out a block of this size, the one that was kept last, or what `request` returns.
#[inline(never)]
pub(super) fn take(size: usize, request: impl FnOnce() -> Option<Block>) -> Option<Block> {
    let kept = if held() > 0 { lock().and_then(|mut kept| kept.take(size)) } else { None };
    let block = kept.or_else(|| {
        // What is kept makes room for what is new, even below the peak: the heap would not have what
        // goes back only later, and would take more from the system.
        let rest = held().saturating_sub(size);
        drop_above(|| allowed(size).min(rest));
        request()
    })?;
    let used = USED.fetch_add(size, Relaxed) + size;
    if used > PEAK.load(Relaxed) {
        PEAK.fetch_max(used, Relaxed);
    }
    Some(block)
}

/// Keeps a block, or gives it back.
#[inline(never)]
pub(super) fn keep(block: Block) {
    let used = USED.fetch_sub(block.size(), Relaxed);
    if !limit::is_on() || !own::is_open() {
        return;
    }
    let Some(is_watched) = push(block, used) else { return };
    drop_above(|| allowed(0));
    if !is_watched && !helper::start::<Kept>() {
        if let Some(_kept) = lock_soon() {
            WATCHED_UNTIL.store(0, Relaxed);
            UNWATCHED_UNTIL.store(helper::now() + u64::from(helper::WINDOW_MS), Relaxed);
        }
        trim();
    }
}

/// Adds a block to those that are kept, and returns whether a helper thread is running. If none is, the
/// caller starts one. `None` if the block cannot be kept now.
fn push(block: Block, used: usize) -> Option<bool> {
    // Not with the lock: a sanitizer takes its time.
    block.forbid();
    let now = helper::now();
    let mut kept = lock()?;
    if now < UNWATCHED_UNTIL.load(Relaxed) || FORKS.load(Relaxed) > 0 {
        return None;
    }
    let is_watched = now < WATCHED_UNTIL.load(Relaxed);
    if !is_watched {
        WATCHED_UNTIL.store(now + u64::from(helper::GRACE_MS), Relaxed);
        // No window ended while no helper was running.
        forget_peak(used);
    }
    let refused = kept.push(block);
    drop(kept);
    drop(refused);
    Some(is_watched)
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

    fn end(until: u64) -> Option<u64> {
        if WATCHED_UNTIL.load(Relaxed) != until {
            return None;
        }
        PEAK_BEFORE.store(PEAK.swap(USED.load(Relaxed), Relaxed), Relaxed);
        drop_above(|| allowed(0));
        let kept = KEPT.lock().ok()?;
        if WATCHED_UNTIL.load(Relaxed) != until {
            return None;
        }
        let next = helper::now() + u64::from(helper::WINDOW_MS + helper::GRACE_MS);
        WATCHED_UNTIL.store(if kept.count > 0 { next } else { 0 }, Relaxed);
        (kept.count > 0).then_some(next)
    }
}

/// The bytes that may be kept if arenas take `more`.
fn allowed(more: usize) -> usize {
    let peak = PEAK.load(Relaxed).max(PEAK_BEFORE.load(Relaxed));
    peak.saturating_sub(USED.load(Relaxed).saturating_add(more)).min(limit::get())
}

/// Gives the oldest blocks back as long as more than this is kept.
fn drop_above(most: impl Fn() -> usize) {
    while held() > most() {
        let Some(block) = lock_soon().and_then(|mut kept| kept.take_oldest()) else { return };
        give_back(block);
    }
}

fn give_back(block: Block) {
    let size = block.size();
    block.discard();
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
    drop_above(|| allowed(0));
}

/// Gives everything back, and forgets the peak.
pub(super) fn trim() {
    forget_peak(USED.load(Relaxed));
    while let Some(block) = lock_soon().and_then(|mut kept| kept.take_oldest()) {
        give_back(block);
    }
}

fn forget_peak(used: usize) {
    PEAK.store(used, Relaxed);
    PEAK_BEFORE.store(0, Relaxed);
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
fn lock_soon() -> Option<Guard<'static, Kept>> {
    (0..1000).find_map(|_| {
        let kept = lock();
        if kept.is_none() {
            helper::pause(false);
        }
        kept
    })
}
