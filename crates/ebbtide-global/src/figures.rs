//! Counters. Each owner writes its own; a report adds them up.
#![forbid(unsafe_code)]

use crate::registry::Registry;
use core::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering};

/// Why the inner allocator served a request that was made inside a scope; for `SkippedScope`, a
/// whole scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    TooSmall,
    TooLarge,
    Alignment,
    ByteLimit,
    Exhausted,
    Waste,
    SkippedScope,
}

/// The number of [`Reason`]s.
const REASONS: usize = Reason::SkippedScope as usize + 1;

/// What one owner counts. Only the owner writes to it. It outlives the owner, and a later owner
/// takes it over.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    is_taken: AtomicBool,
    pub(crate) scopes_ended: AtomicU64,
    /// Blocks that were served.
    pub(crate) blocks: AtomicU64,
    /// Bytes that were served, rounded as they are in memory. What a rewound bump pointer serves
    /// again counts once.
    pub(crate) bytes: AtomicU64,
    /// Bytes that this owner freed, whoever served them, without what it rewound. Modulo 2^64, the
    /// sum over all owners of `bytes - freed` is the number of live bytes.
    pub(crate) freed: AtomicU64,
    /// Reallocations in place.
    pub(crate) grown: AtomicU64,
    /// Blocks that were alive when their scope ended.
    pub(crate) escaped: AtomicU64,
    /// Chunks that were pinned.
    pub(crate) pinned: AtomicU64,
    /// The most bytes that one scope took.
    pub(crate) high_water: AtomicU64,
    /// Bytes in the owner's cache of runs.
    pub(crate) cached: AtomicUsize,
    fallbacks: [AtomicU64; REASONS],
}

static COUNTERS: Registry<Counters> = Registry::new();
static LABELS: Registry<Label> = Registry::new();

/// Bytes freed by threads that have no counters.
static FREED_ELSEWHERE: AtomicU64 = AtomicU64::new(0);

/// Owners that have counters at this moment.
static OWNERS: AtomicUsize = AtomicUsize::new(0);

/// Chunks that are pinned at this moment.
pub(crate) static PINNED: AtomicIsize = AtomicIsize::new(0);

/// Adds to a counter that only the calling thread writes.
///
/// Relaxed, like every access to counters: nothing else is read by what they say, and reports need
/// no two of them to be of the same moment. That a later owner goes on from the last value is the
/// matter of [`Counters::leave`].
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl Counters {
    /// Counters for a new owner: those of an owner that has ended, or new ones. Allocates.
    pub(crate) fn take() -> &'static Counters {
        OWNERS.fetch_add(1, Ordering::Relaxed);
        let free = COUNTERS.iter().find(|counters| {
            // Acquire: pairs with the release in `leave`. The new owner starts from what the one
            // before counted.
            !counters.is_taken.load(Ordering::Relaxed)
                && !counters.is_taken.swap(true, Ordering::Acquire)
        });
        free.unwrap_or_else(|| {
            COUNTERS.append(Counters { is_taken: AtomicBool::new(true), ..Counters::default() })
        })
    }

    /// Leaves the counters, with what they count, to a later owner.
    pub(crate) fn leave(&self) {
        OWNERS.fetch_sub(1, Ordering::Relaxed);
        // Release: see `take`.
        self.is_taken.store(false, Ordering::Release);
    }

    pub(crate) fn count_fallback(&self, reason: Reason) {
        add(&self.fallbacks[reason as usize], 1);
    }

    /// The requests that fell back for a reason.
    pub(crate) fn fallbacks(&self, reason: Reason) -> u64 {
        self.fallbacks[reason as usize].load(Ordering::Relaxed)
    }
}

/// The counters of all owners, those that have ended included.
pub(crate) fn counters() -> impl Iterator<Item = &'static Counters> {
    COUNTERS.iter()
}

/// The number of owners that are at work.
pub(crate) fn owners() -> usize {
    OWNERS.load(Ordering::Relaxed)
}

/// Counts bytes that were freed by a thread without counters.
pub(crate) fn freed_elsewhere(bytes: u64) {
    FREED_ELSEWHERE.fetch_add(bytes, Ordering::Relaxed);
}

/// The live bytes of the whole program, as far as owners have published their figures. Costs two
/// loads for each owner that there ever was at a time.
pub(crate) fn live_bytes() -> usize {
    let balance = |sum: u64, counters: &Counters| {
        sum.wrapping_add(counters.bytes.load(Ordering::Relaxed))
            .wrapping_sub(counters.freed.load(Ordering::Relaxed))
    };
    let live =
        COUNTERS.iter().fold(0_u64, balance).wrapping_sub(FREED_ELSEWHERE.load(Ordering::Relaxed));
    // The sum is of no one moment. Below 0 where a free was published, or is seen, before the
    // allocation.
    i64::try_from(live).ok().and_then(|live| usize::try_from(live).ok()).unwrap_or(0)
}

/// What one scope did, those inside of it included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
    pub(crate) escaped: u64,
}

/// What the scopes with one label did.
#[derive(Debug, Default)]
pub(crate) struct Label {
    pub(crate) text: &'static str,
    pub(crate) scopes: AtomicU64,
    pub(crate) blocks: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) escaped: AtomicU64,
}

impl Label {
    /// The counters of a label, new ones when the label is first used: that allocates. Costs a
    /// comparison for each label before it.
    pub(crate) fn find_or_create(text: &'static str) -> &'static Label {
        LABELS.find_or_append(|label| label.text == text, Label { text, ..Label::default() })
    }

    /// The counters of a label that was first used with a string at this address.
    pub(crate) fn find_by_address(text: &'static str) -> Option<&'static Label> {
        LABELS.iter().find(|label| core::ptr::eq(label.text, text))
    }

    /// Counts a scope that ended.
    pub(crate) fn count(&self, usage: &Usage) {
        self.scopes.fetch_add(1, Ordering::Relaxed);
        self.blocks.fetch_add(usage.blocks, Ordering::Relaxed);
        self.bytes.fetch_add(usage.bytes, Ordering::Relaxed);
        self.escaped.fetch_add(usage.escaped, Ordering::Relaxed);
    }
}

/// All labels, in the order of their first use.
pub(crate) fn labels() -> impl Iterator<Item = &'static Label> {
    LABELS.iter()
}
