//! Publishing what an owner served, and the ends of windows.
//!
//! The ends of scopes, and whatever is about to take memory, call it. It writes the owner's
//! counters and, at the end of a window, the pools.

use super::Owner;
use crate::memory::pool;

impl Owner {
    /// Publishes this owner's figures for the report. `bytes` is the number of bytes that the scope
    /// just ended took, for the high-water mark.
    #[inline(never)]
    pub(crate) fn publish(&self, bytes: u64) {
        self.ledger.publish(&self.bump, bytes, self.cache.held());
        self.observe_if_due(0);
    }

    /// Observes the live bytes of the whole program if this owner has served enough since it last
    /// did, with `more` bytes that are about to be served here.
    pub(super) fn observe_if_due(&self, more: usize) {
        if self.ledger.is_observation_due(more) {
            self.observe(more);
        }
    }

    /// Observes the live bytes of the whole program. `more` bytes are about to be served here.
    pub(super) fn observe(&self, more: usize) {
        if self.ledger.observe(&self.bump, more) {
            pool::end_window();
        }
    }
}
