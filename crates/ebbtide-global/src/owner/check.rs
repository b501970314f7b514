//! The invariants as assertions, for debug builds.
//!
//! The end of each slow operation calls it. It writes nothing.

use super::Owner;
use crate::{
    memory::run::{Entry, ScopeRef},
    shared::count::BIAS,
};

impl Owner {
    /// Asserts the observable invariants: those of each state, then those of several.
    pub(super) fn check(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        let (has_scope, scope) = (self.has_scope(), self.innermost.scope());
        self.bump.check(self.innermost.mode());
        self.cached.check(scope.map(ScopeRef::first_chunk), has_scope);
        self.ledger.check();
        self.innermost.check(&self.bump);
        self.ids.check();
        self.cache.check();
        invariant!(self.is_started() == self.ledger.counters().is_some(), "the start of an owner");
        let cached = self.cached.entry();
        invariant!(has_scope || scope.is_some() == cached.is_some(), "the state at rest");
        invariant!(
            cached.is_none() || scope.map(ScopeRef::first_chunk) == self.bump.chunk(),
            "the cached chunk"
        );
        let (Some(scope), Some(current)) = (scope, self.bump.chunk()) else { return };
        let id = if has_scope { self.bump.scope_id() } else { cached.map_or(0, Entry::scope_id) };
        let (mut next, mut has_first) = (Some(current), false);
        // Checks only the newest chunks: each chunk is checked while it is new.
        for _ in 0..8 {
            let Some(chunk) = next else { break };
            let entry = chunk.entry();
            invariant!(entry.scope_id() == id, "G2, scope");
            invariant!(entry.owner_id() == self.ids.own(), "G2, owner");
            invariant!(entry.count.peek() > BIAS / 2, "G3, an owned chunk");
            has_first |= chunk == scope.first_chunk();
            next = chunk.next();
            invariant!(next.is_some() || has_first, "the list of a scope's chunks");
        }
    }
}
