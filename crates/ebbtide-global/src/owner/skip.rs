//! Scopes, and units of long scopes, that are skipped because their site does not pay.
//!
//! A long scope may be the only one of its site. So what it serves is measured in *units*, each as
//! many requests as it serves between two ends of chunks. In a skipped unit, the inner allocator serves.
//!
//! `owner/scopes` calls it when scopes begin and end, `owner/life` when threads do, `owner/alloc` at the end of a chunk and for each skipped request. It writes the [`Sites`] of the
//! owner's counters, and whether fast scopes ask.
#![forbid(unsafe_code)]

use super::Owner;
use crate::{
    figures::{Counted, Reason, Usage},
    memory::{os, run::ScopeRef},
    options::Options,
    scope::mode::Mode,
    sites::{self, Sites},
};

/// The most scopes that are skipped after one look at their site.
const BATCH: u32 = 64;

/// A scope that took this many bytes is long. What it serves is then measured in *units*, as if each
/// were a scope.
const LONG: u64 = 2 << 20;

/// The least number of requests of a unit.
const UNIT: u32 = 512;

/// The site of the units of a long scope.
fn site_of_units(scope: ScopeRef) -> u32 {
    match (scope.record().counted().site, scope.outer()) {
        (0, _) => 0,
        (site, None) => site ^ 0x5555_5554,
        (site, Some(_)) => site ^ 0xAAAA_AAA8,
    }
}

impl Owner {
    /// What is known about the sites of this owner's scopes. `None` before its start and after its
    /// end.
    pub(super) fn sites(&self) -> Option<&'static Sites> {
        self.ledger.counters().map(|counters| &counters.sites)
    }

    /// Lets fast scopes open without a look at their site, unless one is measured or skipped.
    pub(super) fn set_gate(&self) {
        self.cached.set_gate(sites::is_on() && self.sites().is_some_and(Sites::are_asked));
    }

    /// Whether to skip a scope that is about to open with the default options. Like
    /// [`skips`](Owner::skips), but usually without a look at its site.
    #[inline(always)]
    pub(crate) fn skips_again(&self, site: u32) -> bool {
        let left = self.batch_left.get();
        let skips =
            left > 0 && site == self.batch_site.get() && !self.has_scope() && sites::is_on();
        if skips {
            self.batch_left.set(left - 1);
        }
        skips
    }

    /// Ends a batch: counts the scopes that [`skips_again`](Owner::skips_again) has skipped, and gives
    /// the others back to their site.
    pub(super) fn end_batch(&self) {
        let left = self.batch_left.take();
        let skipped = self.batch_uncounted.take() - left;
        if let Some(sites) = self.sites().filter(|_| left > 0) {
            sites.give_back(self.batch_site.get(), left);
        }
        self.count_skips(Counted::default(), skipped);
    }

    fn count_skips(&self, counted: Counted, scopes: u32) {
        for _ in 0..scopes {
            counted.count(&Usage::default(), self.ledger.counters());
            if counted.scopes() > 0 {
                self.ledger.count_fallback(Reason::SkippedScope);
            }
        }
        // Skipped scopes serve nothing, so without this call, memory that is not used would never go
        // back to the system.
        self.unobserved.set(self.unobserved.get() + scopes);
        if self.unobserved.get() >= BATCH {
            self.unobserved.set(0);
            self.observe(0);
        }
    }

    /// Whether to skip a scope that is about to open. If so, so are those of a batch
    /// that [`skips_again`](Owner::skips_again) skips.
    pub(super) fn skips(&self, options: &Options, counted: Counted) -> bool {
        let Some(sites) = self.sites().filter(|sites| sites.are_asked()) else { return false };
        // Nested scopes, and those that the figures tell apart, are skipped one by one.
        let is_plain = !self.has_scope() && counted.is_plain() && *options == Options::new();
        let most = if is_plain { BATCH } else { 1 };
        self.end_batch();
        let skipped = sites.skips(self.site_of(counted), most, os::thread_time);
        self.set_gate();
        let more = skipped.saturating_sub(1);
        self.count_skips(counted, skipped - more);
        self.batch_site.set(counted.site);
        self.batch_left.set(more);
        self.batch_uncounted.set(more);
        skipped > 0
    }

    /// Counts a scope that has ended and was not fast, for its site. What was the scope around it is
    /// the innermost one now.
    pub(super) fn count_for_site(&self, counted: Counted) {
        let Some(sites) = self.sites() else { return };
        sites.count(self.site_of(counted), os::thread_time);
        self.set_gate();
    }

    /// Whether the innermost scope skips this request, which is counted. Not if the scope might not
    /// serve it anyway: such requests are not counted in a unit that the scope serves, either.
    #[inline(always)]
    pub(crate) fn skips_request(&self) -> bool {
        if self.skips_left.get() == 0 {
            return false;
        }
        let mode = self.innermost.mode();
        if mode.is_outside() || mode.is_selective {
            return false;
        }
        self.skips_accepted()
    }

    /// Like [`skips_request`](Owner::skips_request), for a request that the scope would serve.
    #[inline(always)]
    pub(super) fn skips_accepted(&self) -> bool {
        let left = self.skips_left.get();
        if left == 0 {
            return false;
        }
        self.skips_left.set(left - 1);
        let skips = left > 1 || self.scope().is_some_and(|scope| self.next_unit(scope));
        if skips {
            self.ledger.count_fallback(Reason::SkippedRequest);
        }
        skips
    }

    /// At the end of a chunk of the innermost scope: if the scope is long, and has served enough for
    /// a unit, decides whether it skips the next one. Returns whether it does, with the present
    /// request as the first.
    pub(super) fn end_unit(&self) -> bool {
        let Some(scope) = self.scope() else { return false };
        self.promote();
        let record = scope.record();
        let is_long = self.ledger.bytes_since(record.at_start.get()) >= LONG;
        if !is_long {
            self.resume_unit(false, 0);
            return false;
        }
        let served = self.unit();
        if served < UNIT {
            return false;
        }
        self.unit.set(served);
        if let Some(sites) = self.sites() {
            sites.count(site_of_units(scope), os::thread_time);
        }
        self.next_unit(scope)
    }

    /// Begins a unit of the innermost scope: skips it, or opens the scope for it. Returns whether it
    /// is skipped.
    #[cold]
    #[inline(never)]
    fn next_unit(&self, scope: ScopeRef) -> bool {
        let skips = self.sites().filter(|sites| sites.are_asked()).is_some_and(|sites| {
            let skipped = sites.skips(site_of_units(scope), 1, os::thread_time);
            self.set_gate();
            skipped > 0
        });
        self.resume_unit(skips, if skips { self.unit.get() } else { 0 });
        self.set_mode(Mode { skips, ..self.innermost.mode() });
        skips
    }

    /// The site of a scope. Nested scopes are sites of their own: without them, the scope around
    /// serves.
    fn site_of(&self, counted: Counted) -> u32 {
        if self.has_scope() && counted.site != 0 { !counted.site } else { counted.site }
    }
}
