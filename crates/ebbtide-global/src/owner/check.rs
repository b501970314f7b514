//! The invariants as assertions, for debug builds.

use super::{Entry, LEAD, Owner};
use crate::{
    count::BIAS,
    size::{CHUNK, GRANULE},
};
use core::{ptr, sync::atomic::Ordering};
use std::io::Write;

impl Owner {
    /// Aborts the program if an observable invariant is broken. It does not panic, because an
    /// allocator must not unwind.
    pub(super) fn check(&self) {
        if cfg!(debug_assertions) {
            if let Some(broken) = self.broken() {
                let _ = writeln!(std::io::stderr(), "ebbtide-global: {broken} is broken");
                std::process::abort();
            }
        }
    }

    /// Returns the name of a broken invariant.
    fn broken(&self) -> Option<&'static str> {
        let Some(first_chunk) = self.innermost() else {
            let has_chunk = self.first_chunk.get().is_some();
            let at_rest =
                self.open_limit.get() == 0 && has_chunk == self.cached_entry.get().is_some();
            if !at_rest {
                return Some("the state of an owner without scopes");
            }
            if self.persistence.first_chunk.get().is_some() && has_chunk {
                return Some("P1");
            }
            let is_clean = self.cached_entry.get().is_none_or(|entry| entry.count.peek() == BIAS);
            return (!is_clean).then_some("G3, of the cached chunk");
        };
        let Some(current) = self.current_chunk.get() else {
            return Some("a scope without a chunk");
        };
        let is_cached =
            |entry: &Entry| ptr::eq(entry, first_chunk.entry()) && first_chunk == current;
        if self.cached_entry.get().is_some_and(|entry| !is_cached(entry)) {
            return Some("the cached chunk");
        }
        if self.is_persistent(first_chunk) && current.entry().tail_start.get() > 0 {
            return Some("P2");
        }
        let (start, top) = (current.start().addr(), self.top.get().addr());
        let (end, limit) = (self.open_limit.get(), self.limit.get());
        if top < start + LEAD || top > start + CHUNK || top % GRANULE != 0 {
            return Some("G5, top");
        }
        if limit < top || limit > start + CHUNK {
            return Some("G5, limit");
        }
        let is_closed = self.outside_depth.get() > 0 || self.retry_after.get() > 0;
        if end != if is_closed { 0 } else { limit } {
            return Some("G5, end");
        }
        if self.parked.get() > 0 && current.next().is_none() {
            return Some("the parked chunk");
        }
        let mut next = Some(current);
        let mut has_first = false;
        // Checks only the newest chunks: each chunk is checked while it is new.
        for _ in 0..8 {
            let Some(chunk) = next else { break };
            let entry = chunk.entry();
            let is_own = entry.scope.load(Ordering::Relaxed) == self.scope.get()
                && entry.owner.load(Ordering::Relaxed) == self.id.get();
            if !is_own || entry.count.peek() <= BIAS / 2 {
                return Some("G2");
            }
            has_first |= chunk == first_chunk;
            next = chunk.next();
            if next.is_none() && !has_first {
                return Some("the list of a scope's chunks");
            }
        }
        None
    }
}
