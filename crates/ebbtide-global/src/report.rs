//! Figures. Each thread counts for itself; they are added up when they are asked for.
#![forbid(unsafe_code)]

use crate::{
    region::{self, RETAIN},
    size::CHUNK,
};
use core::{
    fmt,
    sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering},
};
use std::{boxed::Box, iter, sync::OnceLock, vec::Vec};

/// Why a request made inside a scope went to the inner allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Small,
    Large,
    Alignment,
    ByteLimit,
    Exhausted,
}

/// What a thread counts. It alone writes. Nodes outlive their threads, and other threads take them over.
#[derive(Debug, Default)]
pub(crate) struct Node {
    next: Link<Node>,
    is_taken: AtomicBool,
    pub(crate) scopes: AtomicU64,
    pub(crate) blocks: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) grown: AtomicU64,
    pub(crate) escaped: AtomicU64,
    pub(crate) pinned: AtomicU64,
    pub(crate) high_water: AtomicU64,
    pub(crate) kept: AtomicUsize,
    fallbacks: [AtomicU64; 5],
}

/// What the scopes of one label count together.
#[derive(Debug, Default)]
pub(crate) struct Label {
    next: Link<Label>,
    text: &'static str,
    scopes: AtomicU64,
    blocks: AtomicU64,
    bytes: AtomicU64,
    escaped: AtomicU64,
}

/// The rest of a list that only ever grows at its end. No lock is held while one is read.
type Link<T> = OnceLock<&'static T>;

static NODES: Link<Node> = OnceLock::new();
static LABELS: Link<Label> = OnceLock::new();

/// Chunks that are pinned at this moment.
pub(crate) static PINNED: AtomicIsize = AtomicIsize::new(0);

trait Linked: Sized + 'static {
    fn next(&self) -> &Link<Self>;
}

impl Linked for Node {
    fn next(&self) -> &Link<Self> {
        &self.next
    }
}

impl Linked for Label {
    fn next(&self) -> &Link<Self> {
        &self.next
    }
}

fn all<T: Linked>(first: &'static Link<T>) -> impl Iterator<Item = &'static T> {
    iter::successors(first.get(), |node| node.next().get()).copied()
}

fn append<T: Linked>(first: &'static Link<T>, node: &'static T) {
    let mut link = first;
    while link.set(node).is_err() {
        if let Some(taken) = link.get() {
            link = taken.next();
        }
    }
}

/// Adds to a counter that only the calling thread writes.
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl Node {
    /// A node for a thread that begins to open scopes. Allocates; its list is never freed.
    pub(crate) fn take() -> &'static Node {
        let free = all(&NODES).find(|node| !node.is_taken.swap(true, Ordering::Acquire));
        free.unwrap_or_else(|| {
            let node: &'static Node = Box::leak(Box::default());
            node.is_taken.store(true, Ordering::Relaxed);
            append(&NODES, node);
            node
        })
    }

    /// Leaves the node, with what was counted, to another thread.
    pub(crate) fn leave(&self) {
        self.is_taken.store(false, Ordering::Release);
    }

    pub(crate) fn fell_back(&self, reason: Reason) {
        add(&self.fallbacks[reason as usize], 1);
    }
}

impl Label {
    /// The entry of a label, made when it is first used: that allocates.
    pub(crate) fn of(text: &'static str) -> &'static Label {
        let same = |label: &&'static Label| core::ptr::eq(label.text, text) || label.text == text;
        all(&LABELS).find(same).unwrap_or_else(|| {
            let label: &'static Label = Box::leak(Box::new(Label { text, ..Label::default() }));
            append(&LABELS, label);
            label
        })
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn text(&self) -> &'static str {
        self.text
    }

    pub(crate) fn count(&self, closed: &Sums) {
        self.scopes.fetch_add(1, Ordering::Relaxed);
        self.blocks.fetch_add(closed.blocks, Ordering::Relaxed);
        self.bytes.fetch_add(closed.bytes, Ordering::Relaxed);
        self.escaped.fetch_add(closed.escaped, Ordering::Relaxed);
    }
}

/// What was served: by one scope and those that it enclosed, or by all of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
    pub(crate) escaped: u64,
}

/// What scopes did since the program began: see [`report`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Whether scopes can be served: the global allocator is a [`Scoped`](crate::Scoped), and the system gave a
    /// range of addresses. `None` before the first scope.
    pub is_active: Option<bool>,
    /// Scopes that have ended.
    pub scopes: u64,
    /// Blocks that arenas served.
    pub blocks: u64,
    /// The bytes that scopes took. What a rewound bump pointer hands out again counts once.
    pub bytes: u64,
    /// Reallocations done in place.
    pub grown_in_place: u64,
    /// Requests inside scopes that went to the inner allocator.
    pub fallbacks: Fallbacks,
    /// Blocks still alive when their scope ended.
    pub escapes: Escapes,
    /// The most bytes that one scope took.
    pub high_water: u64,
    /// The addresses that are reserved, in bytes. Nothing lies behind most of them.
    pub reserved: usize,
    /// The bytes of chunks that were ever in use.
    pub claimed: usize,
    /// The bytes that pools keep for the next scopes.
    pub kept: usize,
    /// Figures of the scopes that [`Options::label`](crate::Options::label) names, by the order of their first use.
    pub labels: Vec<LabelReport>,
}

/// Requests made inside scopes that the inner allocator served, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fallbacks {
    /// Below [`Options::min_size`](crate::Options::min_size).
    pub small: u64,
    /// Above [`Options::max_size`](crate::Options::max_size).
    pub large: u64,
    /// Aligned to more than an arena serves, 4 KiB.
    pub alignment: u64,
    /// Beyond [`Options::byte_limit`](crate::Options::byte_limit).
    pub byte_limit: u64,
    /// The range of addresses was used up, or the system had no memory.
    pub exhausted: u64,
}

/// Blocks that outlived their scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Escapes {
    /// Blocks that were alive when their scope ended. Where scopes go on in each other's memory, what a scope frees of an earlier
    /// one's is taken off.
    pub blocks: u64,
    /// How often a chunk was kept because of them.
    pub chunks: u64,
    /// Chunks that are kept at this moment, for blocks that live on or for a thread's next scope between them.
    pub pinned_chunks: usize,
    /// The bytes of those chunks.
    pub pinned_bytes: usize,
}

/// Figures of the scopes of one label. Scopes inside of them count as theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelReport {
    /// What [`Options::label`](crate::Options::label) was given.
    pub label: &'static str,
    /// Scopes that have ended.
    pub scopes: u64,
    /// Blocks that were served.
    pub blocks: u64,
    /// The bytes that the scopes took.
    pub bytes: u64,
    /// Blocks that were alive when their scope ended.
    pub escaped: u64,
}

/// Above this share of escaping blocks an arena costs about as much as it saves.
const WORTHWHILE: f64 = 0.05;

fn ratio(part: u64, whole: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a share, not a count")]
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl LabelReport {
    /// The share of blocks that outlived their scope.
    pub fn escape_ratio(&self) -> f64 {
        ratio(self.escaped, self.blocks)
    }
}

impl Report {
    /// The share of blocks that outlived their scope.
    pub fn escape_ratio(&self) -> f64 {
        ratio(self.escapes.blocks, self.blocks)
    }

    /// The calls that the inner allocator was spared: an allocation for each block, a free for each that did not
    /// outlive its scope, and what was reallocated in place.
    pub fn heap_calls_saved(&self) -> u64 {
        (2 * self.blocks + self.grown_in_place).saturating_sub(self.escapes.blocks)
    }

    /// The labels of which more than one block in twenty outlived its scope: about there an arena stops to pay.
    pub fn leaky_labels(&self) -> impl Iterator<Item = &LabelReport> {
        self.labels.iter().filter(|label| label.escape_ratio() > WORTHWHILE)
    }
}

impl Fallbacks {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.small + self.large + self.alignment + self.byte_limit + self.exhausted
    }
}

/// What all scopes of the program did so far.
///
/// The calling thread's figures are those of its last outermost scope that ended; of other threads that are at work, up
/// to 63 small scopes may be missing.
///
/// ```
/// use ebbtide_global::{Scoped, arena, report};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// let kept = arena(|| (0..100).map(|i| i.to_string()).collect::<Vec<_>>().pop());
/// let report = report();
/// assert!(report.blocks >= 100 && report.escapes.blocks == 1);
/// println!("{report}");
/// # drop(kept);
/// ```
pub fn report() -> Report {
    crate::thread::with(|owner| owner.publish_at_rest());
    let sum = |counter: fn(&Node) -> &AtomicU64| {
        all(&NODES).map(|node| counter(node).load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    };
    let pinned_chunks = usize::try_from(PINNED.load(Ordering::Relaxed)).unwrap_or(0);
    let (reserved, claimed) = region::sizes();
    let kept = all(&NODES).map(|node| node.kept.load(Ordering::Relaxed)).sum::<usize>();
    Report {
        is_active: crate::thread::is_active(),
        scopes: sum(|node| &node.scopes),
        blocks: sum(|node| &node.blocks),
        bytes: sum(|node| &node.bytes),
        grown_in_place: sum(|node| &node.grown),
        fallbacks: Fallbacks {
            small: sum(|node| &node.fallbacks[Reason::Small as usize]),
            large: sum(|node| &node.fallbacks[Reason::Large as usize]),
            alignment: sum(|node| &node.fallbacks[Reason::Alignment as usize]),
            byte_limit: sum(|node| &node.fallbacks[Reason::ByteLimit as usize]),
            exhausted: sum(|node| &node.fallbacks[Reason::Exhausted as usize]),
        },
        escapes: Escapes {
            blocks: sum(|node| &node.escaped),
            chunks: sum(|node| &node.pinned),
            pinned_chunks,
            pinned_bytes: pinned_chunks * CHUNK,
        },
        high_water: all(&NODES)
            .map(|node| node.high_water.load(Ordering::Relaxed))
            .max()
            .unwrap_or(0),
        reserved,
        claimed,
        kept: kept + region::kept(),
        labels: all(&LABELS)
            .map(|label| LabelReport {
                label: label.text,
                scopes: label.scopes.load(Ordering::Relaxed),
                blocks: label.blocks.load(Ordering::Relaxed),
                bytes: label.bytes.load(Ordering::Relaxed),
                escaped: label.escaped.load(Ordering::Relaxed),
            })
            .collect(),
    }
}

/// Bounds the bytes that each thread's pool keeps for its next scopes, and the pool that all share. 128 MiB unless
/// it is called. What is beyond goes back to the system when it comes to a pool the next time. A thread whose scopes go on
/// in each other's memory keeps as much besides, until it ends, opens another scope, or calls
/// [`release_pool`](crate::release_pool).
///
/// ```
/// ebbtide_global::retain(16 << 20);
/// ```
pub fn retain(bytes: usize) {
    RETAIN.store(bytes, Ordering::Relaxed);
}

/// Bytes for people.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut unit = 0;
        #[allow(clippy::cast_precision_loss, reason = "two digits are shown")]
        let mut value = self.0 as f64;
        while value >= 1024.0 && unit < 4 {
            value /= 1024.0;
            unit += 1;
        }
        write!(f, "{value:.2} {}", ["B", "KiB", "MiB", "GiB", "TiB"][unit])
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_active {
            None => return write!(f, "no scope was opened"),
            Some(false) => {
                return write!(
                    f,
                    "scopes are not served: the global allocator is no `Scoped`, or the system gave no range of addresses"
                );
            }
            Some(true) => {}
        }
        writeln!(
            f,
            "{} scopes served {} blocks, {}; {} heap calls saved; at most {} in one scope",
            self.scopes,
            self.blocks,
            Bytes(self.bytes),
            self.heap_calls_saved(),
            Bytes(self.high_water),
        )?;
        let Fallbacks { small, large, alignment, byte_limit, exhausted } = self.fallbacks;
        writeln!(
            f,
            "to the inner allocator: {} ({small} too small, {large} too large, {alignment} by alignment, \
             {byte_limit} by byte limit, {exhausted} without memory)",
            self.fallbacks.total(),
        )?;
        writeln!(
            f,
            "escaped: {} blocks ({:.2} %); {} chunks are pinned, {}",
            self.escapes.blocks,
            100.0 * self.escape_ratio(),
            self.escapes.pinned_chunks,
            Bytes(self.escapes.pinned_bytes as u64),
        )?;
        write!(f, "kept for the next scopes: {}", Bytes(self.kept as u64))?;
        for label in self.leaky_labels() {
            write!(
                f,
                "\n`{}`: {:.1} % of its {} blocks outlived their scope; an arena hardly pays there",
                label.label,
                100.0 * label.escape_ratio(),
                label.blocks,
            )?;
        }
        Ok(())
    }
}
