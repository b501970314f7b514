//! Claims: blocks of every size and alignment are served as requested, or refused as the contract
//! says; zeroed blocks are zero, even in memory that was used before; and blocks are resized in
//! place, or moved with their bytes, whichever scope they belong to.

use ebbtide_global::{arena, engine, outside, report};
use std::{
    alloc::{self, Layout},
    ptr,
};

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a layout")
}

/// A block with all of its bytes written.
struct Block {
    start: *mut u8,
    layout: Layout,
    pattern: u8,
}

impl Block {
    fn new(size: usize, align: usize, pattern: u8) -> Block {
        let layout = layout(size, align);
        // SAFETY: the size is not 0.
        let start = unsafe { alloc::alloc(layout) };
        assert!(!start.is_null());
        assert_eq!(start.addr() % align, 0);
        // SAFETY: the block has this size.
        unsafe { start.write_bytes(pattern, size) };
        Block { start, layout, pattern }
    }

    fn holds(&self, size: usize) -> bool {
        // SAFETY: the block has at least this size, and was written to.
        let bytes = unsafe { &*ptr::slice_from_raw_parts(self.start, size) };
        bytes.iter().all(|byte| *byte == self.pattern)
    }

    fn resize(&mut self, size: usize) {
        // SAFETY: the block is alive, with this layout; the size is not 0.
        let start = unsafe { alloc::realloc(self.start, self.layout, size) };
        assert!(!start.is_null());
        let common = size.min(self.layout.size());
        self.start = start;
        self.layout = layout(size, self.layout.align());
        assert_eq!(start.addr() % self.layout.align(), 0);
        assert!(self.holds(common));
        // SAFETY: the block has this size.
        unsafe { start.write_bytes(self.pattern, size) };
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        assert!(self.holds(self.layout.size()));
        // SAFETY: the block is alive, with this layout.
        unsafe { alloc::dealloc(self.start, self.layout) };
    }
}

const SIZES: [usize; 18] = [
    1, 2, 7, 8, 16, 24, 100, 1023, 1024, 1025, 5000, 8192, 8193, 20_000, 65_535, 65_536, 300_000,
    5_000_000,
];

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn every_alignment() {
    alone!();
    arena(|| {
        for log in 0..=20 {
            let blocks: Vec<Block> =
                SIZES.iter().zip(1..).map(|(size, n)| Block::new(*size, 1 << log, n)).collect();
            for block in &blocks {
                let served = engine::is_ours(block.start);
                // For alignments in between, it depends on where the free part of the chunk begins.
                assert!(served || log > 12, "{:?}", block.layout);
                assert!(!served || log < 16, "{:?}", block.layout);
            }
        }
    });
    assert!(report().fallbacks.alignment >= 5 * SIZES.len() as u64);
}

#[test]
fn an_alignment_of_a_gigabyte() {
    alone!();
    let block = arena(|| Block::new(1, 1 << 30, 1));
    assert!(block.holds(1));
}

// Two gibibytes, which is the most that 32 bits can ask for, may be had.
#[cfg(target_pointer_width = "64")]
#[test]
fn impossible_requests_return_null() {
    alone!();
    use std::hint::black_box;

    let max = usize::MAX / 2;
    // Without `black_box`, the optimiser assumes that the allocation of an unused block succeeds.
    let ask = || {
        for (size, align) in [(max, 1), (max - 7, 8), (max & !4095, 4096), (1 << 46, 1 << 30)] {
            // SAFETY: the size is not 0.
            assert!(black_box(unsafe { alloc::alloc(layout(size, align)) }).is_null());
            // SAFETY: the size is not 0.
            assert!(black_box(unsafe { alloc::alloc_zeroed(layout(size, align)) }).is_null());
            let block = Block::new(100, align.min(64), 9);
            let most = max + 1 - block.layout.align();
            // SAFETY: the block is alive, with this layout; the size, rounded up to the alignment,
            // is no more than `isize::MAX`.
            let resized = unsafe { alloc::realloc(block.start, block.layout, most) };
            assert!(black_box(resized).is_null());
            assert!(block.holds(100), "nothing has changed");
        }
    };
    ask();
    arena(ask);
}

#[test]
fn zeroed_memory_is_zero_though_it_was_used() {
    alone!();
    for _ in 0..5 {
        for size in SIZES {
            arena(|| {
                drop(Block::new(size, 8, 0xFF));
                let zeros = vec![0_u8; size];
                assert!(zeros.iter().all(|byte| *byte == 0), "{size}");
                drop(Block::new(size, 8, 0xFF));
                let more: Vec<Vec<u64>> = (0..3).map(|_| vec![0; size.div_ceil(8)]).collect();
                assert!(more.iter().flatten().all(|word| *word == 0), "{size}");
            });
        }
    }
}

#[test]
fn resizing_keeps_the_bytes() {
    alone!();
    let resize_all = |block: &mut Block| {
        for to in SIZES {
            block.resize(to);
        }
        for to in SIZES.iter().rev() {
            block.resize(*to);
        }
    };
    for from in SIZES {
        for align in [1, 16, 128, 4096, 8192] {
            // The last block, one that is followed by another, one of an outer scope, one that
            // escaped.
            let mut escaped = arena(|| {
                let mut last = Block::new(from, align, 1);
                resize_all(&mut last);
                let mut before = Block::new(from, align, 2);
                let behind = Block::new(40, 8, 3);
                resize_all(&mut before);
                let mut outer = Block::new(from, align, 4);
                let _behind = Block::new(40, 8, 5);
                arena(|| resize_all(&mut outer));
                outside(|| resize_all(&mut last));
                drop(behind);
                Block::new(from, align, 6)
            });
            resize_all(&mut escaped);
        }
    }
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a_span_grows_in_place() {
    alone!();
    arena(|| {
        let mut bytes: Vec<u8> = Vec::with_capacity(100_000);
        let mut moves = 0;
        let mut at = bytes.as_ptr().addr();
        for n in 0..8_000_000_usize {
            bytes.push(n.to_le_bytes()[0]);
            moves += usize::from(bytes.as_ptr().addr() != at);
            at = bytes.as_ptr().addr();
        }
        assert!(moves <= 4, "{moves}");
        assert!(bytes.iter().enumerate().all(|(n, byte)| *byte == n.to_le_bytes()[0]));
    });
}
