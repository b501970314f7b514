//! Littering: makes a heap like that of a process that has run for long, before a program starts in
//! it. The method is that of van Kempen and Berger, "Reconsidering 'Reconsidering Custom Memory
//! Allocation'" (2026).
//!
//! A recorder counts the blocks of each size that a program has at its peak. A litterer lets the
//! allocator serve many blocks of these sizes, in random order, and frees all but a share of them, in
//! random order as well. General allocators then serve the program from what is free in between.

use crate::{Arena, workloads::text::Numbers};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    hint,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

/// Larger blocks are served by the system, or by pages of their own.
const LARGEST: usize = 2_048;
/// Sizes are counted in steps of this many bytes.
const STEP: usize = 16;
const CLASSES: usize = LARGEST / STEP + 1;
/// The blocks of an aged scope.
const BLOCKS_OF_A_SCOPE: usize = 1_000;

/// The system's allocator. Counts the live blocks by size, and remembers the counts of the peak.
#[derive(Debug)]
pub struct Recorder {
    live: AtomicUsize,
    counts: [AtomicUsize; CLASSES],
    peak: AtomicUsize,
    peak_counts: [AtomicUsize; CLASSES],
}

static RECORDER: Recorder = Recorder {
    live: AtomicUsize::new(0),
    counts: [const { AtomicUsize::new(0) }; CLASSES],
    peak: AtomicUsize::new(0),
    peak_counts: [const { AtomicUsize::new(0) }; CLASSES],
};

impl Recorder {
    fn add(&self, layout: Layout) {
        let Some(count) = self.counts.get(layout.size().div_ceil(STEP)) else { return };
        count.fetch_add(1, Relaxed);
        let live = self.live.fetch_add(1, Relaxed) + 1;
        // Copying the counts at each step towards the peak would take too long.
        if live > self.peak.load(Relaxed) + self.peak.load(Relaxed) / 64 {
            self.peak.store(live, Relaxed);
            for (peak, count) in self.peak_counts.iter().zip(&self.counts) {
                peak.store(count.load(Relaxed), Relaxed);
            }
        }
    }

    fn remove(&self, layout: Layout) {
        if let Some(count) = self.counts.get(layout.size().div_ceil(STEP)) {
            count.fetch_sub(1, Relaxed);
            self.live.fetch_sub(1, Relaxed);
        }
    }
}

/// The global allocator of the recording program.
#[derive(Debug)]
pub struct Recorded;

// SAFETY: the system's allocator serves every request.
unsafe impl GlobalAlloc for Recorded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        RECORDER.add(layout);
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        RECORDER.remove(layout);
        // SAFETY: the caller's promises; `alloc` returned the block of `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Without arenas. Its report is the record: the number of blocks of each class at the peak.
#[derive(Debug)]
pub enum Recording {}

impl Arena for Recording {
    fn scope<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    fn report() -> String {
        let counts = RECORDER.peak_counts.iter().map(|count| count.load(Relaxed).to_string());
        counts.collect::<Vec<_>>().join(" ")
    }
}

/// How a heap is littered.
pub(crate) struct Litter {
    /// For each class, the number of blocks of this class and of smaller ones.
    sums: Vec<usize>,
    blocks: usize,
    kept_percent: usize,
    /// In scopes, from which the blocks that are kept escape.
    inside: bool,
}

impl Litter {
    /// Reads `COUNTS BLOCKS PERCENT outside|inside`, where the counts are a record, separated by
    /// commas.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [counts, blocks, kept_percent, scopes] = words[..] else { return None };
        let counts = counts.split(',').map(|count| count.parse::<usize>().ok());
        let sums = counts.scan(0, |sum, count| {
            *sum += count?;
            Some(*sum)
        });
        let sums: Vec<usize> = sums.collect();
        (sums.len() == CLASSES && sums.last() > Some(&0)).then_some(())?;
        let (blocks, kept_percent) = (blocks.parse().ok()?, kept_percent.parse().ok()?);
        Some(Litter { sums, blocks, kept_percent, inside: scopes == "inside" })
    }

    /// Litters this process's heap. What is kept is never freed.
    pub(crate) fn spread<A: Arena>(&self, numbers: &mut Numbers) {
        if !self.inside {
            return self.some(self.blocks, numbers);
        }
        // By this thread and by another one, which then ends.
        let scopes = self.blocks / BLOCKS_OF_A_SCOPE / 2;
        let age = |numbers: &mut Numbers| {
            for _ in 0..scopes {
                A::scope(|| self.some(BLOCKS_OF_A_SCOPE, numbers));
            }
        };
        age(numbers);
        thread::scope(|threads| threads.spawn(|| age(numbers)).join()).expect("it cannot panic");
    }

    fn some(&self, blocks: usize, numbers: &mut Numbers) {
        let mut served: Vec<Vec<u8>> = (0..blocks).map(|_| self.block(numbers)).collect();
        for last in (1..served.len()).rev() {
            served.swap(last, numbers.below(last + 1));
        }
        let kept = served.split_off(blocks - blocks * self.kept_percent / 100);
        drop(served);
        kept.into_iter().for_each(std::mem::forget);
    }

    /// A block of a size of the record, by its frequency there, whose memory is in use.
    fn block(&self, numbers: &mut Numbers) -> Vec<u8> {
        let total = *self.sums.last().expect("a record has classes");
        let drawn = numbers.below(total);
        let class = self.sums.partition_point(|&sum| sum <= drawn);
        let size = (class * STEP).max(1);
        hint::black_box(vec![1; size])
    }
}
