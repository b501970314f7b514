//! The memory that an owner keeps for its next scopes: unused runs, and pinned chunks with a free
//! tail.
//!
//! Only its owner calls it. What it has no room for goes to `memory/pool`.

use crate::{
    memory::{
        held, pool,
        run::{ChunkRef, FIRST_ID, Run},
    },
    size::{CHUNK, CLASSES},
};
use core::cell::Cell;

/// The most bytes that the runs in one owner's cache hold.
const MAX_CACHED: usize = 16 * CHUNK;

/// The number of tails that an owner remembers.
const MAX_TAILS: usize = 8;

/// The largest offset of a tail that is remembered: at least a quarter of the chunk is free.
pub(crate) const USEFUL_TAIL: u32 = 3 << 14;

const _: () = assert!(USEFUL_TAIL as usize == CHUNK / 4 * 3);

/// The number of runs that are examined in a search for one with enough memory.
const SEARCH_LIMIT: usize = 4;

/// The unused runs and the pinned chunks with a free tail that an owner keeps. All-zero bytes are an
/// empty cache.
#[derive(Debug)]
pub(crate) struct Cache {
    runs: [Cell<Option<Run>>; CLASSES],
    /// The bytes that the runs hold.
    held: Cell<usize>,
    /// A stack of pinned chunks. A push onto the full stack replaces the bottom. The entries are
    /// hints: a chunk may have been adopted or freed since.
    tails: [Cell<Option<ChunkRef>>; MAX_TAILS],
    /// The number of tails on the stack.
    tail_count: Cell<usize>,
}

impl Cache {
    /// The bytes that the cached runs hold.
    pub(crate) fn held(&self) -> usize {
        self.held.get()
    }

    /// Takes a run with memory behind it from this cache, or else from the shared pool.
    pub(crate) fn take_warm(&self, class: usize) -> Option<Run> {
        let Some(run) = self.runs[class].get() else { return pool::take_warm(class) };
        self.runs[class].set(run.next());
        self.held.set(self.held.get() - run.entry().held.get());
        Some(run)
    }

    /// Whether this cache or the shared pool probably has a run with memory behind it.
    pub(crate) fn has_warm(&self, class: usize) -> bool {
        self.runs[class].get().is_some() || pool::has_warm(class)
    }

    /// Moves a run whose held bytes `suits` accepts to the front of its class, so that it is taken
    /// next. Returns false, and changes nothing, if `suits` accepts none of the first few runs.
    pub(crate) fn bring_forward(&self, class: usize, suits: impl Fn(usize) -> bool) -> bool {
        let head = self.runs[class].get();
        let mut before: Option<Run> = None;
        for run in Run::list(head).take(SEARCH_LIMIT) {
            if suits(run.entry().held.get()) {
                if let Some(before) = before {
                    before.set_next(run.next());
                    run.set_next(head);
                    self.runs[class].set(Some(run));
                }
                return true;
            }
            before = Some(run);
        }
        false
    }

    /// Puts a run into this cache, or into the shared pool if the cache is full. The caller owns
    /// the run, and no block in it is alive.
    pub(crate) fn give(&self, run: Run) {
        if self.has_room(run) {
            self.keep(run);
        } else {
            pool::give(run);
        }
    }

    /// Like [`give`](Cache::give), for a list of runs.
    pub(crate) fn give_all(&self, runs: Option<Run>) {
        let mut next = runs;
        while let Some(run) = next.filter(|run| self.has_room(*run)) {
            next = run.next();
            self.keep(run);
        }
        pool::give_all(next);
    }

    fn has_room(&self, run: Run) -> bool {
        let held = self.held.get() + run.entry().held.get();
        held <= MAX_CACHED && held <= held::max_pooled()
    }

    fn keep(&self, run: Run) {
        self.held.set(self.held.get() + run.entry().held.get());
        run.set_next(self.runs[run.class()].replace(Some(run)));
    }

    /// Moves all runs to the shared pool.
    pub(crate) fn release_runs(&self) {
        self.runs.iter().for_each(|head| Run::list(head.take()).for_each(pool::give));
        self.held.set(0);
    }

    #[inline(always)]
    pub(crate) fn has_tails(&self) -> bool {
        self.tail_count.get() > 0
    }

    /// Remembers a pinned chunk for its free tail.
    pub(crate) fn remember_tail(&self, chunk: ChunkRef) {
        let count = self.tail_count.get();
        self.tails[count % MAX_TAILS].set(Some(chunk));
        self.tail_count.set((count + 1).min(MAX_TAILS));
    }

    /// Takes the chunk that was remembered last.
    pub(crate) fn take_tail(&self) -> Option<ChunkRef> {
        let last = self.tail_count.get().checked_sub(1)?;
        self.tail_count.set(last);
        self.tails[last].take()
    }

    /// Forgets all tails.
    pub(crate) fn forget_tails(&self) {
        self.tail_count.set(0);
    }

    /// Takes over tails from owners that have ended.
    pub(crate) fn adopt_tails(&self) {
        for _ in 0..MAX_TAILS {
            let Some(chunk) = pool::take_tail() else { return };
            self.remember_tail(chunk);
        }
    }

    /// Asserts G2 for the runs, and that `held` is their sum.
    pub(crate) fn check(&self) {
        let runs = self.runs.iter().flat_map(|head| Run::list(head.get()));
        let held = |run: Run| {
            invariant!(run.entry().scope_id() < FIRST_ID, "G2, a cached run");
            run.entry().held.get()
        };
        invariant!(
            runs.map(held).sum::<usize>() == self.held.get(),
            "the bytes that a cache holds"
        );
        invariant!(self.held.get() <= MAX_CACHED, "the most bytes that a cache holds");
        invariant!(self.tail_count.get() <= MAX_TAILS, "the tails that a cache remembers");
    }

    /// Leaves the tails to other owners.
    pub(crate) fn leave_tails(&self) {
        while let Some(chunk) = self.take_tail() {
            pool::leave_tail(chunk);
        }
    }
}
