//! The memory that an owner keeps for its next scopes: unused runs, and a pinned chunk with a free
//! tail.
//!
//! Only its owner calls it. What it has no room for goes to `memory/pool`.

use crate::{
    limits::MAX_CACHED,
    memory::{
        held, pool,
        run::{ChunkRef, FIRST_ID, Run},
    },
    size::{CHUNK, CLASSES},
};
use core::cell::Cell;

/// The largest offset of a tail that is remembered: at least a quarter of the chunk is free.
pub(crate) const USEFUL_TAIL: u32 = 3 << 14;

const _: () = assert!(USEFUL_TAIL as usize == CHUNK / 4 * 3);

/// The number of runs that are examined in a search for one with enough memory.
const SEARCH_LIMIT: usize = 4;

/// The unused runs and the pinned chunk with a free tail that an owner keeps. All-zero bytes are an
/// empty cache.
#[derive(Debug)]
pub(crate) struct Cache {
    runs: [Cell<Option<Run>>; CLASSES],
    /// The bytes that the runs hold.
    held: Cell<usize>,
    /// The pinned chunk with a free tail that a scope of this owner left last. A hint: it may have been
    /// freed since.
    pub(crate) tail: Cell<Option<ChunkRef>>,
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
    /// the run, and no block in it is alive. `has_scope`: whether the owner has a scope.
    pub(crate) fn give(&self, run: Run, has_scope: bool) {
        if self.has_room(run) {
            self.keep(run);
        } else {
            pool::give(run, has_scope);
        }
    }

    /// Like [`give`](Cache::give), for a list of runs.
    pub(crate) fn give_all(&self, runs: Option<Run>, has_scope: bool) {
        let mut next = runs;
        while let Some(run) = next.filter(|run| self.has_room(*run)) {
            next = run.next();
            self.keep(run);
        }
        pool::give_all(next, has_scope);
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
        let give = |run| pool::give(run, false);
        self.runs.iter().for_each(|head| Run::list(head.take()).for_each(give));
        self.held.set(0);
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
    }
}
