//! Filled blocks, and pseudo-random numbers: for the tests in which owners do anything in any order.

use ebbtide_global::{
    engine::{Owner, is_ours},
    outside,
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    collections::BTreeMap,
    env, iter,
    ops::Range,
    ptr,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

/// Pseudo-random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap() % end.max(1)
    }

    pub(crate) fn is_one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }
}

/// The program's allocator, if it were a `Scoped<System>` with this owner on every thread.
pub(crate) struct Through<'a>(pub(crate) &'a Owner);

// SAFETY: the owner and `System` keep the contract. Each block is freed by the one that served it, as
// the owner says.
unsafe impl GlobalAlloc for Through<'_> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.0.alloc(layout);
        if !block.is_null() {
            return block;
        }
        // SAFETY: the size is not 0, as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = self.0.alloc_zeroed(layout);
        if !block.is_null() {
            return block;
        }
        // SAFETY: the size is not 0, as the caller says.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block is alive, with this layout, as the caller says.
        if !unsafe { self.0.dealloc(block, layout) } {
            // SAFETY: it is alive, and no owner served it, so `System` did, with this layout.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the block is alive, with this layout, and the new size has one.
        let resized = unsafe { self.0.realloc(block, layout, new_size) };
        if !resized.is_null() {
            return resized;
        }
        let new_layout = Layout::from_size_align(new_size, layout.align()).unwrap();
        // SAFETY: the size is not 0.
        let new = unsafe { System.alloc(new_layout) };
        assert!(!new.is_null());
        // SAFETY: both have so many bytes, and the new block is nobody else's.
        unsafe { new.copy_from_nonoverlapping(block, layout.size().min(new_size)) };
        // SAFETY: the block is alive, with this layout, and not used again.
        unsafe { self.dealloc(block, layout) };
        new
    }
}

/// The start and end of each live block of the engine.
static LIVE: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// [`LIVE`], unless its lock would hide from a sanitizer the races that it looks for.
fn live() -> Option<MutexGuard<'static, BTreeMap<usize, usize>>> {
    static IS_MAPPED: LazyLock<bool> =
        LazyLock::new(|| env::var_os("EBBTIDE_CROSSING_UNMAPPED").is_none());
    IS_MAPPED.then(|| LIVE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A live block with contents of its own. No two of the engine overlap.
pub(crate) struct Block {
    pub(crate) start: *mut u8,
    pub(crate) layout: Layout,
    seed: u64,
    is_headed: bool,
}

// SAFETY: a block is memory that nobody else uses.
unsafe impl Send for Block {}

impl Block {
    pub(crate) fn alloc(by: &impl GlobalAlloc, layout: Layout, seed: u64) -> Block {
        // SAFETY: the tests ask for no size of 0.
        Block::begin(unsafe { by.alloc(layout) }, layout, seed, false)
    }

    pub(crate) fn alloc_zeroed(by: &impl GlobalAlloc, layout: Layout, seed: u64) -> Block {
        // SAFETY: the tests ask for no size of 0.
        let start = unsafe { by.alloc_zeroed(layout) };
        assert!(!start.is_null());
        // SAFETY: the block is alive and was served as zeros.
        let bytes = unsafe { &*ptr::slice_from_raw_parts(start, layout.size()) };
        assert!(bytes.iter().all(|byte| *byte == 0), "{layout:?} is not zero");
        Block::begin(start, layout, seed, false)
    }

    /// A block with a header. `None` if no scope of the owner serves it.
    pub(crate) fn alloc_headed(by: &Owner, layout: Layout, seed: u64) -> Option<Block> {
        let start = by.alloc_headed(layout.size(), layout.align());
        (!start.is_null()).then(|| Block::begin(start, layout, seed, true))
    }

    fn begin(start: *mut u8, layout: Layout, seed: u64, is_headed: bool) -> Block {
        assert!(!start.is_null());
        let block = Block { start, layout, seed, is_headed };
        block.begin_life();
        block.fill();
        block
    }

    fn begin_life(&self) {
        let (start, end) = (self.start.addr(), self.start.addr() + self.layout.size());
        assert_eq!(start % self.layout.align(), 0);
        if let Some(mut live) = self.is_ours().then(live).flatten() {
            let before = live.range(..end).next_back().map(|(start, end)| (*start, *end));
            let is_alone = before.is_none_or(|(_, before_end)| before_end <= start);
            assert!(is_alone, "{start:x} is handed out twice: {before:x?}");
            outside(|| live.insert(start, end));
        }
    }

    fn end_life(&self) {
        if let Some(mut live) = self.is_ours().then(live).flatten() {
            let end = outside(|| live.remove(&self.start.addr()));
            assert_eq!(end, Some(self.start.addr() + self.layout.size()));
        }
    }

    /// Whether the engine served it.
    pub(crate) fn is_ours(&self) -> bool {
        is_ours(self.start)
    }

    pub(crate) fn is_headed(&self) -> bool {
        self.is_headed
    }

    /// The places of a block of this size that are filled: all of a small one; in a large one the first
    /// and the last, and a few in each page. Those of one item belong to one word.
    fn places(size: usize) -> impl Iterator<Item = Range<usize>> {
        let first = size.min(512);
        let last = size.saturating_sub(64).max(first);
        let between = (first..last).step_by(512).map(|place| place..place + 1);
        iter::once(0..first).chain(between).chain(iter::once(last..size)).flat_map(|places| {
            let words = places.start / 8..places.end.div_ceil(8);
            words.map(move |word| places.start.max(8 * word)..places.end.min(8 * word + 8))
        })
    }

    /// What the word with this place contains.
    fn word(&self, place: usize) -> [u8; 8] {
        let word = (self.seed ^ (place / 8) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        word.to_le_bytes()
    }

    fn fill(&self) {
        for places in Self::places(self.layout.size()) {
            let bytes = &self.word(places.start)[places.start % 8..][..places.len()];
            let start = self.start.wrapping_add(places.start);
            // SAFETY: within the block.
            unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
    }

    pub(crate) fn check(&self) {
        self.check_up_to(self.layout.size());
    }

    fn check_up_to(&self, end: usize) {
        for places in Self::places(self.layout.size()).take_while(|places| places.start < end) {
            let places = places.start..places.end.min(end);
            let expected = &self.word(places.start)[places.start % 8..][..places.len()];
            let start = self.start.wrapping_add(places.start);
            // SAFETY: within the block, which was written to.
            let bytes = unsafe { &*ptr::slice_from_raw_parts(start, places.len()) };
            assert_eq!(bytes, expected, "{places:?} of {:?} at {:?}", self.layout, self.start);
        }
    }

    pub(crate) fn free(self, by: &impl GlobalAlloc) {
        self.check();
        self.end_life();
        // SAFETY: the block is alive, with this layout, and not used again.
        unsafe { by.dealloc(self.start, self.layout) };
    }

    /// Frees a block with or without a header.
    pub(crate) fn free_any(self, by: &Owner) {
        if !self.is_headed {
            return self.free(&Through(by));
        }
        self.check();
        self.end_life();
        // SAFETY: the block is alive, has a header, and is not used again.
        assert!(unsafe { by.free_headed(self.start) });
    }

    /// Resizes a block without a header.
    pub(crate) fn resize(&mut self, by: &impl GlobalAlloc, size: usize) {
        self.check();
        self.end_life();
        // SAFETY: the block is alive, with this layout; the size is not 0, and far below the
        // largest.
        self.start = unsafe { by.realloc(self.start, self.layout, size) };
        assert!(!self.start.is_null());
        // Those places of the common part that were filled.
        self.check_up_to(self.layout.size().min(size));
        self.layout = Layout::from_size_align(size, self.layout.align()).unwrap();
        self.begin_life();
        self.fill();
    }
}

pub(crate) fn started() -> Owner {
    let owner = Owner::new();
    assert!(owner.start());
    owner
}

/// A number that the environment may set.
pub(crate) fn number(name: &str) -> Option<u64> {
    env::var(name).ok().and_then(|value| value.parse().ok())
}
