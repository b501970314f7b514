//! Counters of owners and labels. Each owner writes its own counters; a report adds them up.
//!
//! `scope/ledger` writes them, `report` and `memory/held` read them. An owner that starts takes over
//! the counters of one that has ended.
#![forbid(unsafe_code)]

use crate::{
    shared::{lease::Lease, registry::Registry},
    sites::Sites,
};
use core::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};

/// Why the inner allocator served a request inside a scope. `SkippedScope` counts whole scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    TooSmall,
    TooLarge,
    Alignment,
    ByteLimit,
    Exhausted,
    Waste,
    SkippedRequest,
    SkippedScope,
}

/// The number of [`Reason`]s.
const REASONS: usize = Reason::SkippedScope as usize + 1;

/// The counters of one owner. Only this owner writes to them. When it ends, a later owner takes
/// them over and continues counting.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Taken while an owner uses the counters.
    lease: Lease,
    /// Scopes that were opened and have ended.
    pub(crate) scopes_ended: AtomicU64,
    /// Blocks served.
    pub(crate) blocks: AtomicU64,
    /// Bytes served, with the rounding of each block. Bytes that are served again after the bump
    /// pointer was rewound count once.
    pub(crate) bytes: AtomicU64,
    /// Bytes that this owner freed, including those of other owners, but not those that it rewound.
    /// The sum of `bytes - freed` over all owners, modulo 2^64, is the number of live bytes.
    pub(crate) freed: AtomicU64,
    /// Reallocations in place.
    pub(crate) grown: AtomicU64,
    /// Blocks that were alive when their scope ended.
    pub(crate) escaped: AtomicU64,
    /// The number of times that a chunk was pinned.
    pub(crate) pinned: AtomicU64,
    /// The most bytes that one scope took.
    pub(crate) high_water: AtomicU64,
    /// Bytes in the owner's cache of runs.
    pub(crate) cached: AtomicUsize,
    fallbacks: [AtomicU64; REASONS],
    /// For each of the first labels, the usage of this owner's scopes with that label.
    labels: [LabelCounters; OWN_LABELS],
    /// Whether the owner's scopes pay. Later owners go on with it.
    pub(crate) sites: Sites,
}

/// The number of labels for which each owner has counters of its own. Scopes with other labels use
/// shared counters, which costs four locked instructions for each scope.
const OWN_LABELS: usize = 8;

static COUNTERS: Registry<Counters> = Registry::new();
static LABELS: Registry<Label> = Registry::new();

/// The number of the next label. If two threads create the same label at once, one number stays
/// unused.
static NEXT_LABEL: AtomicUsize = AtomicUsize::new(0);

/// Bytes freed by threads that have no counters.
static FREED_ELSEWHERE: AtomicU64 = AtomicU64::new(0);

/// The number of owners that have counters.
static OWNERS: AtomicUsize = AtomicUsize::new(0);

/// The number of chunks that are pinned.
static PINNED: AtomicIsize = AtomicIsize::new(0);

/// Adds to a counter that only the calling thread writes.
///
/// Relaxed, like every access to counters: they publish no other data, and a report does not need
/// values of the same moment. [`Counters::leave`] orders the last value for the next owner.
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl Counters {
    /// Returns counters for a new owner: those of an ended owner if there are any. Allocates
    /// otherwise.
    pub(crate) fn take() -> &'static Counters {
        OWNERS.fetch_add(1, Ordering::Relaxed);
        // The new owner continues from the values of the previous one.
        let free = COUNTERS.iter().find(|counters| counters.lease.take());
        free.unwrap_or_else(|| {
            COUNTERS.append(Counters { lease: Lease::taken(), ..Counters::default() })
        })
    }

    /// Leaves the counters to a later owner, with their values.
    pub(crate) fn leave(&self) {
        let owners = OWNERS.fetch_sub(1, Ordering::Relaxed);
        invariant!(owners > 0, "the number of owners");
        self.lease.leave();
    }

    /// Counts a request, or a skipped scope, that the inner allocator serves.
    pub(crate) fn count_fallback(&self, reason: Reason) {
        add(&self.fallbacks[reason as usize], 1);
    }

    /// The number of requests that fell back for a reason.
    pub(crate) fn fallbacks(&self, reason: Reason) -> u64 {
        self.fallbacks[reason as usize].load(Ordering::Relaxed)
    }
}

/// The counters of all owners, including those that have ended.
pub(crate) fn counters() -> impl Iterator<Item = &'static Counters> {
    COUNTERS.iter()
}

/// The number of owners that were started and have not ended.
pub(crate) fn owners() -> usize {
    OWNERS.load(Ordering::Relaxed)
}

/// Counts bytes that were freed by a thread without counters.
pub(crate) fn freed_elsewhere(bytes: u64) {
    FREED_ELSEWHERE.fetch_add(bytes, Ordering::Relaxed);
}

/// The live bytes of the whole program, as last published by each owner. Costs two loads for each
/// set of counters. There are as many sets as the most owners that existed at the same time.
pub(crate) fn live_bytes() -> usize {
    let balance = |sum: u64, counters: &Counters| {
        sum.wrapping_add(counters.bytes.load(Ordering::Relaxed))
            .wrapping_sub(counters.freed.load(Ordering::Relaxed))
    };
    let live =
        COUNTERS.iter().fold(0_u64, balance).wrapping_sub(FREED_ELSEWHERE.load(Ordering::Relaxed));
    // The values were not read at one moment, so the sum may be negative: a free may be published
    // or read before the allocation of the block.
    i64::try_from(live).ok().and_then(|live| usize::try_from(live).ok()).unwrap_or(0)
}

/// Counts a chunk that is about to be pinned by a scope with this label.
pub(crate) fn count_pinned(label: Option<&'static Label>) {
    PINNED.fetch_add(1, Ordering::Relaxed);
    if let Some(label) = label {
        label.pinned.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reverses [`count_pinned`], called with the same label.
pub(crate) fn count_unpinned(label: Option<&'static Label>) {
    PINNED.fetch_sub(1, Ordering::Relaxed);
    if let Some(label) = label {
        label.pinned.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of chunks that are pinned.
pub(crate) fn pinned() -> usize {
    usize::try_from(PINNED.load(Ordering::Relaxed)).unwrap_or(0)
}

/// How the figures count a scope.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) label: Option<&'static Label>,
    /// Whether the scope continues one that was counted before, as each poll of a future but the
    /// first does. Such a scope adds to the blocks and bytes, but not to the number of scopes.
    pub(crate) continues: bool,
    /// The number of the scope's site; 0 if it is not to be measured.
    pub(crate) site: u32,
}

impl Counted {
    /// Whether the figures count the scope like any other.
    pub(crate) fn is_plain(self) -> bool {
        self.label.is_none() && !self.continues
    }

    /// The number of scopes that the scope counts as: 0 if it continues another one.
    pub(crate) fn scopes(self) -> u64 {
        u64::from(!self.continues)
    }

    /// Adds the figures of the scope, which has ended, to those of its label. `counters` are its
    /// owner's.
    pub(crate) fn count(self, usage: &Usage, counters: Option<&Counters>) {
        let Some(label) = self.label else { return };
        match counters.and_then(|counters| counters.labels.get(label.number)) {
            Some(own) => own.count(usage, self.scopes(), add),
            None => label.shared.count(usage, self.scopes(), |counter, more| {
                counter.fetch_add(more, Ordering::Relaxed);
            }),
        }
    }
}

/// The figures of one scope, including the scopes nested in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
    pub(crate) escaped: u64,
}

/// The usage of the scopes with one label.
#[derive(Debug, Default)]
struct LabelCounters {
    scopes: AtomicU64,
    blocks: AtomicU64,
    bytes: AtomicU64,
    escaped: AtomicU64,
}

impl LabelCounters {
    /// Adds the usage of a scope that ended and counts as `scopes` scopes.
    fn count(&self, usage: &Usage, scopes: u64, add: impl Fn(&AtomicU64, u64)) {
        add(&self.scopes, scopes);
        add(&self.blocks, usage.blocks);
        add(&self.bytes, usage.bytes);
        add(&self.escaped, usage.escaped);
    }
}

/// A label, with the usage of all scopes with this label.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) text: &'static str,
    /// The index in the owners' own counters, if it is below [`OWN_LABELS`].
    number: usize,
    shared: LabelCounters,
    pinned: AtomicIsize,
}

impl Label {
    /// Finds a label by its text, or creates it, which allocates. Costs a comparison for each label
    /// that was used before this one.
    pub(crate) fn find_or_create(text: &'static str) -> &'static Label {
        let is_wanted = |label: &Label| label.text == text;
        LABELS.iter().find(|label| is_wanted(label)).unwrap_or_else(|| {
            let number = NEXT_LABEL.fetch_add(1, Ordering::Relaxed);
            let (shared, pinned) = (LabelCounters::default(), AtomicIsize::new(0));
            LABELS.find_or_append(is_wanted, Label { text, number, shared, pinned })
        })
    }

    /// Finds a label that was first used with the string at this address. Cheaper than comparing
    /// texts.
    pub(crate) fn find_by_address(text: &'static str) -> Option<&'static Label> {
        LABELS.iter().find(|label| core::ptr::eq(label.text, text))
    }

    /// The number of chunks that scopes with this label have pinned and that are still pinned.
    pub(crate) fn pinned(&self) -> usize {
        usize::try_from(self.pinned.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// The number of scopes with this label that have ended, and their usage.
    pub(crate) fn usage(&self) -> (u64, Usage) {
        let own = COUNTERS.iter().filter_map(|counters| counters.labels.get(self.number));
        let (mut scopes, mut usage) = (0_u64, Usage::default());
        for counters in own.chain([&self.shared]) {
            let sum =
                |sum: u64, counter: &AtomicU64| sum.wrapping_add(counter.load(Ordering::Relaxed));
            scopes = sum(scopes, &counters.scopes);
            usage.blocks = sum(usage.blocks, &counters.blocks);
            usage.bytes = sum(usage.bytes, &counters.bytes);
            usage.escaped = sum(usage.escaped, &counters.escaped);
        }
        (scopes, usage)
    }
}

/// All labels, in the order of their first use.
pub(crate) fn labels() -> impl Iterator<Item = &'static Label> {
    LABELS.iter()
}
