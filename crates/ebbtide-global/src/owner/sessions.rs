//! Sessions of a persistent scope: see the module `persistent`.
//!
//! `owner/scopes` calls it at the beginning and the end of an outermost scope, `owner/alloc` for
//! returned blocks.

use super::{Owner, Ticket};
use crate::{
    figures::{Counted, Usage},
    memory::{
        held,
        run::{Flushed, ScopeRef},
    },
    scope::mode::Mode,
    size,
};

impl Owner {
    /// Starts a session of the suspended scope if the next outermost scope may continue it (`may`),
    /// and ends the suspended scope otherwise. `None` if there is no suspended scope, or it has
    /// ended.
    pub(super) fn resume_persistent(&self, may: bool, counted: Counted) -> Option<Ticket> {
        if self.has_scope() {
            return None;
        }
        let scope = self.take_back()?;
        if !may {
            self.end_taken_back(scope);
            return None;
        }
        self.restore(Some(scope), Flushed::nothing_bumped());
        let record = &scope.record();
        record.count_as(counted);
        self.ledger.begin_scope(&self.bump, record);
        record.large.set(0);
        let session = self.ids.fresh();
        self.persistence.session.set(session);
        self.persistence.live_before.set(self.live());
        self.check();
        Ticket::of(session)
    }

    /// Suspends the persistent scope or ends it. The scope must be the innermost.
    pub(super) fn suspend_persistent(&self, scope: ScopeRef) -> Usage {
        let (persistence, record) = (&self.persistence, &scope.record());
        self.innermost.set_mode(Mode { outside_depth: 0, ..self.innermost.mode() });
        let flushed = self.save(record);
        self.take_returned();
        self.sweep_beyond_bound(flushed);
        let live = self.live();
        // This subtracts the blocks of earlier sessions that the session has freed.
        let kept = u64::try_from(live - persistence.live_before.get()).unwrap_or(0);
        self.ledger.count_escaped(kept + u64::from(record.large.get()));
        let usage = self.ledger.end_scope(&self.bump, record.counted(), record.at_start.get());
        self.restore(None, flushed);
        if live == 0 || persistence.is_ending.get() {
            self.end_taken_back(scope);
        } else {
            self.suspend(scope, live);
        }
        self.persistence.scope_ended(kept);
        self.count_for_site(record.counted());
        self.publish(usage.bytes);
        self.check();
        usage
    }

    /// Gives back the empty chunks of the persistent scope, which is the innermost, if more memory
    /// is held than the bound allows. At most once per window, because it walks through all chunks
    /// of the scope and clears its lists.
    pub(super) fn sweep_beyond_bound(&self, flushed: Flushed) {
        if held::excess(true) == 0 {
            return;
        }
        let window = held::BUDGET.window();
        if self.persistence.swept_in.replace(window) != window {
            self.sweep(self.adopted(), flushed);
        }
    }

    /// Before a scope takes another chunk: if it is the persistent scope, lists the blocks that
    /// other threads returned, and pops one like [`pop`](Owner::pop). Beyond the bound, chunks that
    /// became empty are given back first.
    #[cold]
    #[inline(never)]
    pub(super) fn pop_returned<const PHASE: usize>(
        &self,
        rounded: usize,
        align: usize,
    ) -> Option<*mut u8> {
        if !self.is_persistent() || !self.take_returned() {
            return None;
        }
        self.sweep_beyond_bound(self.flush());
        self.pop::<PHASE>(rounded, size::list(rounded), align)
    }
}
