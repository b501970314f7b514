//! The invariants as assertions, for debug builds.

use super::Owner;
use crate::{count::BIAS, size::CHUNK};
use core::sync::atomic::Ordering;

impl Owner {
    /// Asserts the observable invariants: those of each state, then those of several.
    pub(super) fn check(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        let (has_scope, first_chunk) = (self.has_scope(), self.innermost.first_chunk());
        self.bump.check(self.innermost.is_closed());
        self.cached.check(first_chunk, has_scope);
        self.ledger.check();
        self.innermost.check(&self.bump);
        self.ids.check();
        self.persistence.check(has_scope);
        self.payoff.check();
        self.cache.check();
        invariant!(self.is_started() == self.ledger.counters().is_some(), "the start of an owner");
        let cached = self.cached.entry();
        invariant!(has_scope || first_chunk.is_some() == cached.is_some(), "the state at rest");
        invariant!(cached.is_none() || first_chunk == self.bump.chunk(), "the cached chunk");
        invariant!(cached.is_none() || self.persistence.first_chunk.get().is_none(), "P1");
        let lists = self.innermost.lists().map_or(0, |lists| core::ptr::from_ref(lists).addr());
        let places = self.lists_run.get().map_or(0..1, |run| run.end() - CHUNK / 2..run.end());
        invariant!(lists == 0 || places.contains(&lists), "the place of the lists");
        let (Some(first_chunk), Some(current)) = (first_chunk, self.bump.chunk()) else { return };
        if self.persistence.begins_with(first_chunk) {
            invariant!(current.entry().tail_start.get() == 0, "P2");
            invariant!(lists != 0 && self.bump.lists_small(), "P3");
        }
        self.check_holes(current);
        let scope = if has_scope { self.bump.scope() } else { self.cached.scope() };
        let (mut next, mut has_first) = (Some(current), false);
        // Checks only the newest chunks: each chunk is checked while it is new.
        for _ in 0..8 {
            let Some(chunk) = next else { break };
            let entry = chunk.entry();
            invariant!(entry.scope.load(Ordering::Relaxed) == scope, "G2, scope");
            invariant!(entry.owner.load(Ordering::Relaxed) == self.ids.own(), "G2, owner");
            invariant!(entry.count.peek() > BIAS / 2, "G3, an owned chunk");
            has_first |= chunk == first_chunk;
            next = chunk.next();
            invariant!(next.is_some() || has_first, "the list of a scope's chunks");
        }
    }
}
