//! Whether scopes pay: each site of scopes is measured with an arena and without one.
//!
//! A *site* is a place in the program that opens scopes. Whether its scopes are faster than the inner
//! allocator cannot be computed from what they keep, so time decides:
//!
//! ```text
//! left ─► 0 ─► epochs with an arena and without, in turn ─► the verdict ─► left = keep epochs
//!                └─ each as many scopes as take EPOCH ticks    └─ keep doubles
//! ```
//!
//! An epoch is timed by the processor time of the thread from its first scope to the first one
//! after it. So it includes what the scopes cause elsewhere in the thread, such as freeing what they
//! kept, and no waiting. The faster way then serves the site until the next measurement. Later
//! measurements are rarer and take longer epochs, so that all of them together take a falling share
//! of the time.
//!
//! An owner measures one site at a time. *Fast* scopes, which free all that they allocate in one
//! chunk, do not count: nothing is faster. While no site is skipped or measured, opening a scope
//! takes no look at its site.
//!
//! `owner/skip` and `owner/life` call it. Each set of counters has a [`Sites`], which belongs to
//! the owner that has the counters; so a thread that starts goes on with the sites of one that has
//! ended. A verdict changes speed and memory, never results.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The sites that an owner distinguishes. Others are not measured.
const SITES: usize = 64;

/// The places that are searched for a site.
const PROBES: usize = 8;

/// The pairs of epochs of a measurement.
const PAIRS: usize = 7;

/// The least duration of the epochs of a site's first measurement, in ticks of
/// [`os::thread_time`](crate::memory::os::thread_time), and of later ones, which are twice as long
/// each time.
const EPOCH: (u64, u64) = (100_000, 4_000_000);

/// The most scopes of an epoch.
const MAX_SCOPES: u64 = 1 << 20;

/// Scopes of a site that end before it is measured for the first time.
const FIRST: u64 = 4;

/// The epochs for which a verdict holds: the first one, and the most.
const KEEP: (u64, u64) = (128, 1 << 14);

/// A verdict holds for at least this many times what its measurement has cost beyond the faster way.
const PRICE: u64 = 64;

/// Scopes of a site that waits for the measurement of another one, before it asks again.
const RETRY: u64 = 64;

/// The ticks after which an epoch that does not end makes room for another site.
const ABANDONED: u64 = 100_000_000;

/// Whether sites are measured. Not in builds with debug assertions, whose speed says nothing about
/// others. Relaxed: it publishes nothing.
static IS_ON: AtomicBool = AtomicBool::new(!cfg!(debug_assertions));

/// See [`set_skipping`](crate::set_skipping).
pub(crate) fn set_skipping(is_on: bool) {
    IS_ON.store(is_on, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// A word that only the owner of the counters uses. Relaxed: the lease of the counters orders what
/// one owner leaves to the next.
#[derive(Debug, Default)]
struct Word(AtomicU64);

impl Word {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    fn replace(&self, value: u64) -> u64 {
        let before = self.get();
        self.set(value);
        before
    }
}

#[derive(Debug, Default)]
struct Site {
    /// The number of the site; 0 if the place is free.
    key: Word,
    /// Scopes until the site is measured again. While it is measured, until the end of the epoch.
    left: Word,
    /// Scopes of an epoch.
    scopes: Word,
    /// The epochs for which the last verdict holds; 0 before the first one.
    keep: Word,
    /// 1 if the site's scopes are skipped.
    skips: Word,
}

/// What is known about the sites of an owner's scopes, and the measurement that is under way.
#[derive(Debug)]
pub(crate) struct Sites {
    sites: [Site; SITES],
    /// The sites whose scopes are skipped.
    skipped: Word,
    /// The index of the site that is measured, plus 1; 0 if none is.
    measured: Word,
    /// When the epoch began, on this thread's clock; while no thread has the counters, what it has
    /// taken so far.
    began: Word,
    /// The durations of the epochs that have ended, with an arena and without in turn.
    times: [Word; 2 * PAIRS],
    /// How many have ended.
    ended: Word,
}

impl Default for Sites {
    fn default() -> Self {
        Sites {
            sites: core::array::from_fn(|_| Site::default()),
            skipped: Word::default(),
            measured: Word::default(),
            began: Word::default(),
            times: core::array::from_fn(|_| Word::default()),
            ended: Word::default(),
        }
    }
}

impl Sites {
    /// Whether a scope must [ask](Sites::skips) before it opens.
    pub(crate) fn are_asked(&self) -> bool {
        self.skipped.get() + self.measured.get() > 0
    }

    /// Whether a site is measured.
    pub(crate) fn is_measuring(&self) -> bool {
        self.measured.get() > 0
    }

    /// How many scopes of this site, of which one is about to open, are to be skipped, at most `most`.
    /// Counts them. 0 if the scope is to be opened. `now` is the thread's clock.
    pub(crate) fn skips(&self, key: u32, most: u32, now: impl FnOnce() -> u64) -> u32 {
        let found = self.find(key).filter(|(_, site)| site.key.get() > 0 && is_on());
        let Some((index, site)) = found else { return 0 };
        if site.left.get() == 0 {
            if self.is_measured(index) {
                self.end_epoch(site, now());
            } else {
                self.begin(index, site, now());
            }
        }
        // Of a measurement that is under way, every second epoch does without the arena.
        let skips =
            if self.is_measured(index) { self.ended.get() % 2 } else { site.skips.get() } == 1;
        if skips {
            let skipped = site.left.get().min(most.into());
            site.left.set(site.left.get() - skipped);
            u32::try_from(skipped).unwrap_or(0)
        } else {
            if self.is_measured(index) {
                count_down(site);
            }
            0
        }
    }

    /// Takes back scopes that were counted as skipped, but did not open.
    pub(crate) fn give_back(&self, key: u32, scopes: u32) {
        if let Some((_, site)) = self.find(key) {
            site.left.set(site.left.get() + u64::from(scopes));
        }
    }

    /// Counts a scope of this site that has ended and was not fast.
    pub(crate) fn count(&self, key: u32, now: impl FnOnce() -> u64) {
        let Some((index, site)) = self.find(key).filter(|_| is_on()) else { return };
        if site.key.get() == 0 {
            site.key.set(key.into());
            site.left.set(FIRST);
            site.scopes.set(1);
        }
        if !self.is_measured(index) && count_down(site) {
            self.begin(index, site, now());
        }
    }

    /// Interrupts an epoch at the end of a thread.
    pub(crate) fn interrupt(&self, now: impl FnOnce() -> u64) {
        if self.is_measuring() {
            self.began.set(now().wrapping_sub(self.began.get()));
        }
    }

    /// Goes on with an epoch that was [interrupted](Sites::interrupt), on another thread.
    pub(crate) fn go_on(&self, now: impl FnOnce() -> u64) {
        self.interrupt(now);
    }

    fn is_measured(&self, index: usize) -> bool {
        self.measured.get() == index as u64 + 1
    }

    /// The place of a site, or a free one for it. `None` if there is neither.
    fn find(&self, key: u32) -> Option<(usize, &Site)> {
        if key == 0 {
            return None;
        }
        let first = (key.wrapping_mul(0x9E37_79B9) >> 26) as usize;
        (first..first + PROBES).map(|at| at % SITES).map(|at| (at, &self.sites[at])).find(
            |(_, site)| matches!(site.key.get(), found if found == u64::from(key) || found == 0),
        )
    }

    /// Begins to measure a site, unless another one is measured.
    fn begin(&self, index: usize, site: &Site, now: u64) {
        let is_busy = self.is_measuring() && now.wrapping_sub(self.began.get()) < ABANDONED;
        if is_busy || now == 0 {
            return site.left.set(RETRY);
        }
        site.left.set(site.scopes.get());
        self.measured.set(index as u64 + 1);
        self.ended.set(0);
        self.began.set(now);
    }

    /// How many epochs have ended, for use as an index.
    fn ended(&self) -> usize {
        usize::try_from(self.ended.get()).unwrap_or(0)
    }

    /// Ends an epoch of the site that is measured.
    fn end_epoch(&self, site: &Site, now: u64) {
        let took = now.wrapping_sub(self.began.replace(now));
        let (ended, scopes) = (self.ended.get(), site.scopes.get());
        // A negative time: the owner has moved to another thread, whose clock is behind. The epoch
        // begins again.
        if i64::try_from(took).is_err() {
            return site.left.set(scopes);
        }
        if ended == 0 && took < EPOCH.0 && scopes < MAX_SCOPES {
            site.scopes.set(2 * scopes);
        } else {
            self.times[self.ended()].set(took);
            self.ended.set(ended + 1);
            if let Some(verdict) = self.verdict() {
                return self.decide(site, verdict, took);
            }
        }
        site.left.set(site.scopes.get());
    }

    /// Whether to skip the site that is measured; `None` if more epochs must tell. Compares each
    /// epoch with an arena to each one without: a rank test, which a few long epochs do not mislead.
    fn verdict(&self) -> Option<Verdict> {
        let pairs = self.ended() / 2;
        if self.ended.get() % 2 == 1 || pairs < 3 {
            return None;
        }
        let longer = |a: usize, b: usize, share: u64| {
            let times = |way: usize| (0..pairs).map(move |n| self.times[2 * n + way].get());
            times(a).map(|x| times(b).filter(|y| x > y + y / share).count()).sum::<usize>()
        };
        if longer(0, 1, 4) == pairs * pairs {
            Some(Verdict::Skip)
        } else if longer(1, 0, 4) == pairs * pairs {
            Some(Verdict::Serve)
        } else if pairs < PAIRS {
            None
        } else if longer(0, 1, 50) > PAIRS * PAIRS * 3 / 4 {
            Some(Verdict::Skip)
        } else if longer(1, 0, 50) > PAIRS * PAIRS * 3 / 4 {
            Some(Verdict::Serve)
        } else {
            Some(Verdict::Unclear)
        }
    }

    /// The median duration of the epochs with an arena (0) or without (1). A jump of the clock does not
    /// change it much.
    fn median(&self, way: usize) -> u64 {
        let pairs = self.ended() / 2;
        let mut times = [0; PAIRS];
        (0..pairs).for_each(|pair| times[pair] = self.times[2 * pair + way].get());
        times[..pairs].sort_unstable();
        times[pairs / 2]
    }

    /// Ends a measurement. The next one is rarer, and takes longer epochs.
    fn decide(&self, site: &Site, verdict: Verdict, took: u64) {
        if verdict != Verdict::Unclear {
            let skips = u64::from(verdict == Verdict::Skip);
            self.skipped.set(self.skipped.get() + skips - site.skips.replace(skips));
        }
        let [with, without] = [0, 1].map(|way| self.median(way));
        let lost = with.abs_diff(without).saturating_mul(self.ended.get() / 2);
        let price = (lost / with.min(without).max(1)).saturating_mul(PRICE);
        let keep = (2 * site.keep.get()).clamp(KEEP.0, KEEP.1).max(price);
        site.keep.set(keep);
        site.left.set(site.scopes.get().saturating_mul(keep));
        if took < EPOCH.1 {
            site.scopes.set(2 * site.scopes.get());
        }
        self.measured.set(0);
    }
}

/// What a measurement has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Serve,
    Skip,
    /// The site stays as it was.
    Unclear,
}

/// Counts a scope. Returns whether none is left.
fn count_down(site: &Site) -> bool {
    let left = site.left.get().saturating_sub(1);
    site.left.set(left);
    left == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// A thread that opens scopes, none of them fast, and a clock.
    struct Thread {
        sites: Sites,
        now: Cell<u64>,
        /// The state of a generator of random numbers.
        random: Cell<u64>,
    }

    impl Thread {
        fn new() -> Thread {
            set_skipping(true);
            Thread { sites: Sites::default(), now: Cell::new(1), random: Cell::new(1) }
        }

        fn random(&self) -> u64 {
            let next = self.random.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            self.random.set(next);
            next >> 33
        }

        /// Runs scopes of a site. `cost` returns the ticks of the next one, and is told whether it is
        /// skipped. Returns the ticks of all, and how many were skipped.
        fn run(&self, key: u32, scopes: u64, cost: impl Fn(bool) -> u64) -> (u64, u64) {
            let (before, mut skipped) = (self.now.get(), 0);
            for _ in 0..scopes {
                let asked = self.sites.are_asked();
                let skips = asked && self.sites.skips(key, 1, || self.now.get()) > 0;
                self.now.set(self.now.get() + cost(skips));
                if skips {
                    skipped += 1;
                } else {
                    self.sites.count(key, || self.now.get());
                }
            }
            (self.now.get() - before, skipped)
        }
    }

    const SCOPES: u64 = 1_000_000;

    #[test]
    fn a_site_takes_little_more_than_the_faster_way() {
        for (with, without) in [(200, 100), (100, 200), (1000, 100), (100, 1000), (100_000, 70_000)]
        {
            let (ticks, _) =
                Thread::new().run(1, SCOPES, |skips| if skips { without } else { with });
            let least = SCOPES * with.min(without);
            assert!(ticks < least / 100 * 103, "{with} {without}: {ticks} of {least}");
        }
    }

    #[test]
    fn noise_is_no_reason_to_skip() {
        let thread = Thread::new();
        let noisy = |_| if thread.random() % 50 == 0 { 5000 } else { 50 + thread.random() % 100 };
        let (_, skipped) = thread.run(1, 4 * SCOPES, noisy);
        assert!(skipped < SCOPES / 5, "{skipped} skipped");
    }

    #[test]
    fn a_difference_is_found_in_noise() {
        let thread = Thread::new();
        let cost = |skips| {
            let usual = 50 + thread.random() % 100;
            let rare = if thread.random() % 50 == 0 { 1000 } else { 0 };
            usual + rare + if skips { 0 } else { 20 }
        };
        let (_, skipped) = thread.run(1, SCOPES, cost);
        assert!(skipped > SCOPES / 10 * 9, "{skipped} skipped");
    }

    #[test]
    fn a_site_that_changes_is_measured_again() {
        let thread = Thread::new();
        thread.run(1, SCOPES, |skips| if skips { 100 } else { 200 });
        let (_, skipped) = thread.run(1, 10 * SCOPES, |skips| if skips { 200 } else { 100 });
        assert!(skipped < 5 * SCOPES, "{skipped} skipped");
    }

    #[test]
    fn sites_are_measured_one_after_the_other() {
        let thread = Thread::new();
        let (mut pays, mut loses) = (0, 0);
        for _ in 0..SCOPES {
            pays += thread.run(1, 1, |skips| if skips { 200 } else { 100 }).1;
            loses += thread.run(2, 1, |skips| if skips { 100 } else { 200 }).1;
        }
        assert!(pays < SCOPES / 50 && loses > SCOPES / 50 * 49, "{pays} and {loses} skipped");
    }

    #[test]
    fn a_site_that_ends_makes_room_for_others() {
        let thread = Thread::new();
        thread.run(1, FIRST, |_| 10);
        assert!(thread.sites.is_measuring());
        let (_, skipped) = thread.run(2, SCOPES, |skips| if skips { 1000 } else { 2000 });
        assert!(skipped > SCOPES / 10 * 8, "{skipped} skipped");
    }

    #[test]
    fn threads_that_run_one_scope_each_measure_together() {
        let thread = Thread::new();
        let mut skipped = 0;
        for _ in 0..SCOPES / 10 {
            skipped += thread.run(1, 1, |skips| if skips { 1000 } else { 2000 }).1;
            thread.sites.interrupt(|| thread.now.get());
            thread.now.set(1 + thread.random());
            thread.sites.go_on(|| thread.now.get());
        }
        assert!(skipped > SCOPES / 100 * 8, "{skipped} skipped");
    }

    #[test]
    fn an_owner_that_moves_to_a_thread_with_another_clock_is_measured_on() {
        let thread = Thread::new();
        let skipped = |scopes, with, without| -> u64 {
            let run = |number| {
                match number % 20_000 {
                    100 => thread.now.set(thread.now.get() + (1 << 40)),
                    10_100 => thread.now.set(1),
                    _ => {}
                }
                thread.run(1, 1, |skips| if skips { without } else { with }).1
            };
            (0..scopes).map(run).sum()
        };
        let before = skipped(SCOPES, 2000, 1000);
        assert!(before > SCOPES / 10 * 8, "{before} skipped");
        let after = skipped(3 * SCOPES, 1000, 2000);
        assert!(after < 2 * SCOPES, "{after} skipped");
    }

    #[test]
    fn a_clock_that_stands_still_skips_nothing() {
        let thread = Thread::new();
        thread.now.set(0);
        assert_eq!(thread.run(1, SCOPES / 10, |_| 0), (0, 0));
    }

    #[test]
    fn more_sites_than_there_are_places_are_served() {
        let thread = Thread::new();
        for key in 1..1000 {
            thread.run(key, 2 * FIRST, |_| 100);
        }
        let known = thread.sites.sites.iter().filter(|site| site.key.get() > 0).count();
        assert_eq!(known, SITES);
    }
}
