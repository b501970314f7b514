//! The invariants as assertions, for debug builds.

use super::Owner;
use crate::{count::BIAS, run::Entry};
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
            let has_chunk = self.innermost.first_chunk().is_some();
            let at_rest = !self.bump.is_open() && has_chunk == self.cached.entry().is_some();
            if !at_rest {
                return Some("the state of an owner without scopes");
            }
            if self.persistence.first_chunk.get().is_some() && has_chunk {
                return Some("P1");
            }
            let is_clean = self.cached.entry().is_none_or(|entry| entry.count.peek() == BIAS);
            return (!is_clean).then_some("G3, of the cached chunk");
        };
        let Some(current) = self.bump.chunk() else {
            return Some("a scope without a chunk");
        };
        let is_cached =
            |entry: &Entry| ptr::eq(entry, first_chunk.entry()) && first_chunk == current;
        if self.cached.entry().is_some_and(|entry| !is_cached(entry)) {
            return Some("the cached chunk");
        }
        if self.persistence.begins_with(first_chunk) && current.entry().tail_start.get() > 0 {
            return Some("P2");
        }
        if let Some(broken) = self.bump.broken(self.innermost.is_closed()) {
            return Some(broken);
        }
        if self.are_holes_broken(current) {
            return Some("H2 or H3");
        }
        let mut next = Some(current);
        let mut has_first = false;
        // Checks only the newest chunks: each chunk is checked while it is new.
        for _ in 0..8 {
            let Some(chunk) = next else { break };
            let entry = chunk.entry();
            let is_own = entry.scope.load(Ordering::Relaxed) == self.bump.scope()
                && entry.owner.load(Ordering::Relaxed) == self.ids.own();
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
