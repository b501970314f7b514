//! Scopes that are skipped because their site does not pay.
//!
//! `owner/scopes` and `owner/sessions` call it when scopes begin and end, `owner/life` when threads
//! do. It writes the [`Sites`] of the owner's counters, and whether fast scopes ask.
#![forbid(unsafe_code)]

use super::Owner;
use crate::{
    figures::{Counted, Reason, Usage},
    memory::os,
    scope::ledger::PUBLISH_EVERY,
    sites::Sites,
};

impl Owner {
    /// What is known about the sites of this owner's scopes. `None` before its start and after its
    /// end.
    pub(super) fn sites(&self) -> Option<&'static Sites> {
        self.ledger.counters().map(|counters| &counters.sites)
    }

    /// Lets fast scopes open without a look at their site, unless one is measured or skipped.
    pub(super) fn set_gate(&self) {
        self.cached.set_gate(self.sites().is_some_and(Sites::are_asked));
    }

    /// Whether to skip a scope that is about to open: if so, for how many scopes the decision holds.
    pub(super) fn skips(&self, counted: Counted) -> Option<u64> {
        let sites = self.sites().filter(|sites| sites.are_asked())?;
        let skips = sites.skips(self.site_of(counted), os::thread_time);
        self.set_gate();
        skips
    }

    /// Counts a scope that has ended and was not fast, for its site. What was the scope around it is
    /// the innermost one now.
    pub(super) fn count_for_site(&self, counted: Counted) {
        let Some(sites) = self.sites() else { return };
        sites.count(self.site_of(counted), os::thread_time);
        self.set_gate();
    }

    /// The site of a scope. Nested scopes are sites of their own: without them, the scope around
    /// serves.
    fn site_of(&self, counted: Counted) -> u32 {
        if self.has_scope() && counted.site != 0 { !counted.site } else { counted.site }
    }

    /// Counts a skipped scope, of which `left` more are skipped.
    pub(super) fn skip(&self, counted: Counted, left: u64) {
        self.ledger.count_scope(counted, &Usage::default());
        if counted.scopes() > 0 {
            self.ledger.count_fallback(Reason::SkippedScope);
        }
        if left % PUBLISH_EVERY == 0 {
            // Skipped scopes serve nothing, so without this call, memory that is not used would
            // never go back to the system.
            self.observe(0);
        }
    }
}
