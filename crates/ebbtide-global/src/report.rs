//! The report: figures about all scopes of the program.
#![forbid(unsafe_code)]

use crate::{
    figures::{self, Counters, Reason, Usage, counters, labels},
    memory::{held, pool, range},
    size::CHUNK,
};
use core::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};
use std::vec::Vec;

/// Figures about all scopes since the program started: see [`report`].
///
/// ```
/// use ebbtide_global::{Options, Scoped, arena_with, report};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// arena_with(&Options::new().label("parse"), || drop(vec![1, 2, 3]));
///
/// let report = report();
/// assert!(report.blocks > 0);
/// println!("{report}");
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Whether scopes can be served: the global allocator is a [`Scoped`](crate::Scoped), and the
    /// system reserved a range of addresses. `None` before the first scope.
    pub is_active: Option<bool>,
    /// Scopes that have ended. A future counts as one, however often it was polled; calls of
    /// [`outside`](crate::outside) do not count.
    pub scopes: u64,
    /// Blocks that arenas served.
    pub blocks: u64,
    /// The bytes that scopes took. Bytes that are served again after the bump pointer was rewound
    /// count once.
    pub bytes: u64,
    /// Reallocations done in place.
    pub grown_in_place: u64,
    /// Requests inside scopes that went to the inner allocator.
    pub fallbacks: Fallbacks,
    /// Blocks still alive when their scope ended.
    pub escapes: Escapes,
    /// The most bytes that one scope took.
    pub high_water: u64,
    /// The size of the reserved address range, in bytes. Most of it has no memory behind it.
    pub reserved: usize,
    /// The bytes of all chunks that were ever in use.
    pub claimed: usize,
    /// The bytes that threads and pools keep for the next scopes, a part of `held`.
    pub kept: usize,
    /// The bytes of live blocks in arenas, as last published by each thread. A thread publishes its
    /// figures whenever it has served another 256 KiB, and when an outermost scope ends.
    pub live: usize,
    /// The peak of `live` in the last one to two seconds.
    pub live_peak: usize,
    /// The bytes that arenas hold: `kept` for the next scopes, [`Escapes::pinned_bytes`] in pinned
    /// chunks, and `in_use`.
    pub held: usize,
    /// The bytes of large blocks, of the chunks of open scopes, and of the chunk in which each
    /// thread's next scope begins.
    pub in_use: usize,
    /// The bytes behind the ends of large blocks that shrank, a part of `in_use`. Such bytes go
    /// back to the system at once, except for 1 MiB.
    pub shrunk: usize,
    /// The bound up to which arenas take memory, as [`arena`](crate::arena) promises: one and a
    /// half times `live_peak`, plus 16 MiB, plus 4 MiB for each running thread that has opened a
    /// scope. [`retain`](crate::retain) may raise it. [`arena`](crate::arena) names the programs in
    /// which `held` stays above it.
    pub bound: usize,
    /// Figures for each [`Options::label`](crate::Options::label), in the order of first use.
    pub labels: Vec<LabelReport>,
}

/// Requests inside scopes that the inner allocator served, by reason.
///
/// ```
/// use ebbtide_global::{Options, Scoped, arena_with, report};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// arena_with(&Options::new().max_size(100), || drop(vec![0u8; 1_000]));
///
/// let fallbacks = report().fallbacks;
/// println!("{} requests were too large for an arena", fallbacks.large);
/// # assert!(fallbacks.large >= 1 || report().scopes == 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fallbacks {
    /// Below [`Options::min_size`](crate::Options::min_size).
    pub small: u64,
    /// Above [`Options::max_size`](crate::Options::max_size).
    pub large: u64,
    /// Aligned to more than 4 KiB, the most that an arena serves.
    pub alignment: u64,
    /// Beyond [`Options::byte_limit`](crate::Options::byte_limit).
    pub byte_limit: u64,
    /// The range of addresses was used up, or the system had no memory.
    pub exhausted: u64,
    /// The arenas held too much memory for their live bytes, so they were not allowed to take more.
    /// This happens before [`Report::bound`] is reached.
    pub waste: u64,
    /// Skipped in a long scope, in which they are slower than those of the inner allocator, or to
    /// measure whether they are: see [`arena`](crate::arena#scopes-that-do-not-pay).
    pub skipped: u64,
    /// Skipped scopes, which were not opened, because those of their site are slower than the inner
    /// allocator, or to measure whether they are: see [`arena`](crate::arena). Not part of [`total`](Fallbacks::total), which counts requests.
    pub skipped_scopes: u64,
}

/// Blocks that outlived their scope.
///
/// ```
/// use ebbtide_global::{Scoped, arena, report};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// let kept = arena(|| vec![1, 2, 3]);
///
/// let escapes = report().escapes;
/// println!("{} blocks outlived their scope, in {} bytes", escapes.blocks, escapes.pinned_bytes);
/// # assert!(escapes.blocks >= 1 || report().scopes == 0);
/// drop(kept); // gives the memory back
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Escapes {
    /// Blocks that were alive when their scope ended. If a scope continues a chunk in which blocks of
    /// earlier scopes are alive, its blocks that other threads have freed count as well, up to the
    /// number of blocks that are alive in the chunk.
    pub blocks: u64,
    /// The number of times that blocks which are counted above pinned a chunk.
    pub chunks: u64,
    /// Chunks that are pinned now, by live blocks.
    pub pinned_chunks: usize,
    /// The bytes of those chunks.
    pub pinned_bytes: usize,
}

/// Figures of the scopes with one label, including the scopes nested in them.
///
/// ```
/// use ebbtide_global::{Options, Scoped, arena_with, report};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// arena_with(&Options::new().label("parse"), || drop(vec![1, 2, 3]));
///
/// let report = report();
/// assert!(report.labels.iter().any(|label| label.label == "parse"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelReport {
    /// The text passed to [`Options::label`](crate::Options::label).
    pub label: &'static str,
    /// Scopes that have ended; see [`Report::scopes`].
    pub scopes: u64,
    /// Blocks that were served.
    pub blocks: u64,
    /// The bytes that the scopes took.
    pub bytes: u64,
    /// Blocks that were alive when their scope ended.
    pub escaped: u64,
    /// Chunks that are kept at the moment for blocks that outlived these scopes. Chunks of a nested
    /// scope with a label of its own are not included.
    pub pinned_chunks: usize,
    /// The bytes of those chunks.
    pub pinned_bytes: usize,
}

/// The share of escaping blocks above which they are worth a look, if they pin memory.
const WORTHWHILE: f64 = 0.05;

/// A scope that served so many times the memory of all arenas probably has a loop in it.
const LOOP: u64 = 16;

/// Bytes that scopes may pin without being leaky, for blocks that are about to be freed, such as
/// those of replies that are being sent.
const PINNED_IN_FLIGHT: usize = 1 << 20;

fn is_leaky(escape_ratio: f64, pinned_bytes: usize) -> bool {
    escape_ratio > WORTHWHILE && pinned_bytes > PINNED_IN_FLIGHT
}

fn ratio(part: u64, whole: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a share, not a count")]
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl LabelReport {
    /// The share of blocks that outlived their scope, from 0 to 1; 0 if there were no blocks. Those that
    /// are freed soon after it do no harm: see [`Report::leaky_labels`].
    ///
    /// ```
    /// use ebbtide_global::{Options, Scoped, arena_with, report};
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    ///
    /// let kept = arena_with(&Options::new().label("load"), || vec![1, 2, 3]);
    /// for label in report().labels {
    ///     println!("{}: {:.0} % outlived their scope", label.label, 100.0 * label.escape_ratio());
    /// }
    /// # drop(kept);
    /// ```
    pub fn escape_ratio(&self) -> f64 {
        ratio(self.escaped, self.blocks)
    }
}

impl Report {
    /// The share of blocks that outlived their scope, from 0 to 1; 0 if there were no blocks.
    ///
    /// ```
    /// use ebbtide_global::{Scoped, arena, report};
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    ///
    /// let sum = arena(|| vec![1, 2, 3].iter().sum::<u32>());
    /// println!("{:.0} % of the blocks outlived their scope", 100.0 * report().escape_ratio());
    /// # assert_eq!(sum, 6);
    /// ```
    pub fn escape_ratio(&self) -> f64 {
        ratio(self.escapes.blocks, self.blocks)
    }

    /// The number of calls to the inner allocator that arenas saved: an allocation for each block,
    /// a free for each block that did not outlive its scope, and the reallocations in place.
    ///
    /// ```
    /// use ebbtide_global::{Options, Scoped, arena_with, report};
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    ///
    /// arena_with(&Options::new().label("parse"), || drop(vec![1, 2, 3]));
    ///
    /// assert!(report().heap_calls_saved() > 0);
    /// ```
    pub fn heap_calls_saved(&self) -> u64 {
        (2 * self.blocks + self.grown_in_place).saturating_sub(self.escapes.blocks)
    }

    /// The labels for which more than one block in twenty outlived its scope and more than 1 MiB is
    /// pinned at the moment. Blocks that were freed soon after their scope, such as those of a reply that
    /// was sent, pin nothing and do not make a label leaky. Many replies that are being sent, and the
    /// buffers of many open connections, may: if the label is leaky while the program is idle, or
    /// what it pins grows, allocate in [`outside`](crate::outside) what keeps the blocks.
    ///
    /// ```
    /// use ebbtide_global::{Options, Scoped, arena_with, report};
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    ///
    /// arena_with(&Options::new().label("parse"), || drop(vec![1, 2, 3]));
    ///
    /// assert_eq!(report().leaky_labels().count(), 0); // everything was dropped in its scope
    /// ```
    pub fn leaky_labels(&self) -> impl Iterator<Item = &LabelReport> {
        self.labels.iter().filter(|label| is_leaky(label.escape_ratio(), label.pinned_bytes))
    }

    /// The pinned bytes that no label explains.
    fn pinned_without_label(&self) -> usize {
        let labelled: usize = self.labels.iter().map(|label| label.pinned_bytes).sum();
        self.escapes.pinned_bytes.saturating_sub(labelled)
    }

    /// Whether one scope served far more than was ever alive.
    fn has_loop(&self) -> bool {
        self.high_water / LOOP > self.claimed as u64
    }
}

impl Fallbacks {
    /// The number of all these requests.
    ///
    /// ```
    /// use ebbtide_global::{Options, Scoped, arena_with, report};
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    ///
    /// arena_with(&Options::new().label("parse"), || drop(vec![1, 2, 3]));
    ///
    /// assert_eq!(report().fallbacks.total(), 0);
    /// ```
    pub fn total(&self) -> u64 {
        self.small
            + self.large
            + self.alignment
            + self.byte_limit
            + self.exhausted
            + self.waste
            + self.skipped
    }
}

/// Returns figures about all scopes of the program so far.
///
/// The figures of the calling thread include its last outermost scope. For each other running
/// thread, the last scopes may be missing, but at most 63 small ones.
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
/// assert_eq!(report.scopes, 1);
/// println!("{report}");
/// # drop(kept);
/// ```
pub fn report() -> Report {
    crate::thread::with(|owner| owner.publish_at_rest());
    let sum = |counter: fn(&Counters) -> &AtomicU64| {
        counters().map(|each| counter(each).load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    };
    let fallbacks = |reason| counters().map(|each| each.fallbacks(reason)).sum();
    let skipped_scopes = fallbacks(Reason::SkippedScope);
    let pinned_chunks = figures::pinned();
    let (reserved, claimed) = range::sizes();
    let cached = counters().map(|each| each.cached.load(Ordering::Relaxed)).sum::<usize>();
    let (held, kept) = (held::BUDGET.held(), cached + pool::pooled());
    let pinned_bytes = pinned_chunks * CHUNK;
    Report {
        is_active: crate::thread::is_active(),
        scopes: sum(|each| &each.scopes_ended) + skipped_scopes,
        blocks: sum(|each| &each.blocks),
        bytes: sum(|each| &each.bytes),
        grown_in_place: sum(|each| &each.grown),
        fallbacks: Fallbacks {
            small: fallbacks(Reason::TooSmall),
            large: fallbacks(Reason::TooLarge),
            alignment: fallbacks(Reason::Alignment),
            byte_limit: fallbacks(Reason::ByteLimit),
            exhausted: fallbacks(Reason::Exhausted),
            waste: fallbacks(Reason::Waste),
            skipped: fallbacks(Reason::SkippedRequest),
            skipped_scopes,
        },
        escapes: Escapes {
            blocks: sum(|each| &each.escaped),
            chunks: sum(|each| &each.pinned),
            pinned_chunks,
            pinned_bytes,
        },
        high_water: counters()
            .map(|each| each.high_water.load(Ordering::Relaxed))
            .max()
            .unwrap_or(0),
        reserved,
        claimed,
        kept,
        live: figures::live_bytes(),
        live_peak: held::BUDGET.peak(),
        held,
        in_use: held.saturating_sub(kept).saturating_sub(pinned_bytes),
        shrunk: pool::shrunk(),
        bound: held::promised(figures::owners()),
        labels: labels()
            .map(|label| {
                let (scopes, Usage { blocks, bytes, escaped }) = label.usage();
                LabelReport {
                    label: label.text,
                    scopes,
                    blocks,
                    bytes,
                    escaped,
                    pinned_chunks: label.pinned(),
                    pinned_bytes: label.pinned() * CHUNK,
                }
            })
            .collect(),
    }
}

/// Sets how many unused bytes are kept for the next scopes.
///
/// By default, the pool that threads share keeps 6 to 12 MiB for ever, and memory that was in use in
/// the recent past as well; for that, the end of a scope starts a helper thread while arenas hold more
/// than 12 MiB. After this call, the pool keeps at most `bytes` at any time, and keeps those for
/// ever, and no helper thread is started. If `bytes` is more than 16 MiB, the difference also raises the bound that
/// [`arena`](crate::arena) promises. Memory beyond `bytes` goes back to the system the next time
/// that it reaches the pool; [`release_pool`](crate::release_pool) returns it at once.
///
/// Besides the pool, each thread keeps what its last scopes left, up to 1 MiB or `bytes`, whichever
/// is less, and the chunk of 64 KiB in which its next scope begins. The bound includes them.
///
/// ```
/// ebbtide_global::retain(16 << 20);
/// ```
pub fn retain(bytes: usize) {
    held::set_retained(bytes);
}

/// A number of bytes, displayed with a unit.
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
                    "scopes are not served: the global allocator is not a `Scoped`, or the system did not reserve a range of addresses"
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
        let Fallbacks {
            small,
            large,
            alignment,
            byte_limit,
            exhausted,
            waste,
            skipped,
            skipped_scopes,
        } = self.fallbacks;
        writeln!(
            f,
            "served by the inner allocator: {} ({small} too small, {large} too large, {alignment} by alignment, \
             {byte_limit} by byte limit, {exhausted} without memory, {waste} to bound memory, {skipped} skipped), and {skipped_scopes} skipped scopes",
            self.fallbacks.total(),
        )?;
        writeln!(
            f,
            "outlived their scope: {} blocks ({:.2} %); {} chunks are pinned now, {}",
            self.escapes.blocks,
            100.0 * self.escape_ratio(),
            self.escapes.pinned_chunks,
            Bytes(self.escapes.pinned_bytes as u64),
        )?;
        write!(
            f,
            "live: {}, recently at most {}; held: {} of at most {}: {} in pinned chunks, {} in large blocks and open scopes, {} for the next scopes",
            Bytes(self.live as u64),
            Bytes(self.live_peak as u64),
            Bytes(self.held as u64),
            Bytes(self.bound as u64),
            Bytes(self.escapes.pinned_bytes as u64),
            Bytes(self.in_use as u64),
            Bytes(self.kept as u64),
        )?;
        if self.has_loop() {
            write!(
                f,
                "\none scope served {} in {} of memory; if there is a loop in it, open a scope for each item, not one around the loop",
                Bytes(self.high_water),
                Bytes(self.claimed as u64),
            )?;
        }
        let mut pinned = |scopes: &str, ratio: f64, bytes: usize| {
            write!(
                f,
                "\n{scopes}: {:.1} % of the blocks outlived their scope, and pin {} now; if that stays while the program is idle, or grows, allocate what keeps them in `outside`",
                100.0 * ratio,
                Bytes(bytes as u64),
            )
        };
        for label in self.leaky_labels() {
            pinned(&format!("`{}`", label.label), label.escape_ratio(), label.pinned_bytes)?;
        }
        let elsewhere = self.pinned_without_label();
        if is_leaky(self.escape_ratio(), elsewhere) {
            pinned("without a label", self.escape_ratio(), elsewhere)?;
        }
        Ok(())
    }
}
