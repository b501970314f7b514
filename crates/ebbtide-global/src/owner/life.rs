//! How an owner starts and ends.
//!
//! `thread` and `engine` call it. It writes every state.

use super::Owner;
use crate::{
    limits::UNWATCHED,
    memory::{
        held,
        helper::{self, EndWindow},
        os, pool,
        range::{self, Readiness},
        run::{Flushed, NOT_STARTED},
    },
    scope::ledger::observe_published,
    size::CHUNK,
};
use core::sync::atomic::Ordering;

impl Owner {
    /// Enables the owner to open scopes. Returns false if no range of addresses is available or the
    /// owner has [ended](Owner::end). Also returns false if another thread has been reserving the
    /// range for a third of a second, which happens after a fork or on a very busy machine; call it
    /// again later in this case. The first call allocates a little memory, so do not call it from
    /// inside an allocator.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// if owner.start() {
    ///     assert!(owner.enter_default().is_some());
    /// }
    /// owner.end();
    /// assert!(!owner.start());
    /// ```
    pub fn start(&self) -> bool {
        if self.ids.own() == NOT_STARTED && range::prepare() == Readiness::Ready {
            self.ledger.start(&self.bump);
            if let Some(sites) = self.sites() {
                sites.go_on(os::thread_time);
            }
            self.ids.renew();
            self.observe(0);
        }
        self.is_started()
    }

    /// Ends every scope and gives all unused memory to the shared pools. The owner never opens a
    /// scope again. Live blocks stay valid.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// owner.enter_default();
    /// let block = owner.alloc_headed(100, 16);
    /// owner.end();
    /// // SAFETY: the block is alive, and not used again.
    /// assert!(unsafe { owner.free_headed(block) });
    /// assert!(owner.enter_default().is_none());
    /// ```
    pub fn end(&self) {
        if !self.is_started() {
            return;
        }
        while self.scope().is_some() {
            self.close();
        }
        self.end_batch();
        self.publish(0);
        self.release_pools();
        if let Some(sites) = self.sites() {
            sites.interrupt(os::thread_time);
        }
        self.ledger.finish();
        self.ids.finish();
        // The bound falls with the number of owners.
        if observe_published() {
            pool::end_window();
        }
        // No helper thread waits for what a scope left that was still open.
        let unwatched = if held::may_pool(pool::pooled(), false) { 0 } else { pool::pooled() };
        pool::trim(held::excess(false).max(unwatched.saturating_sub(UNWATCHED)));
        helper::wait_for_start();
    }

    /// Gives the memory that this owner keeps for its next scopes to the shared pools. While a
    /// scope is open, part of it stays.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// owner.leave(ticket);
    /// owner.release_pools(); // before a thread waits for long
    /// assert!(owner.enter_default().is_some(), "it takes memory again");
    /// ```
    pub fn release_pools(&self) {
        // While a scope is open, the cached chunk may be its first chunk.
        if self.scope().is_none() {
            if let Some(chunk) = self.take_cached() {
                let flushed = Flushed::nothing_bumped();
                self.restore(None, flushed);
                self.retire(chunk, CHUNK, flushed);
            }
        }
        self.cache.release_runs();
        if let Some(counters) = self.ledger.counters() {
            counters.cached.store(0, Ordering::Relaxed);
        }
    }

    /// Publishes the figures of this owner, so that the [report](crate::report) includes its last
    /// outermost scope. Call it before `report`, while no scope is open. `report` itself does so
    /// only for the owner of the calling thread.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// owner.leave(ticket);
    /// owner.publish_at_rest();
    /// assert!(ebbtide_global::report().scopes >= 1);
    /// ```
    pub fn publish_at_rest(&self) {
        self.end_batch();
        if self.scope().is_none() {
            self.publish(0);
        }
        self.observe(0);
    }
}

impl EndWindow for Owner {
    fn end_window_if_due() {
        if observe_published() {
            pool::end_window();
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.end();
    }
}
