//! Claim: the bytes counted as held are those that the system's pages take, whatever their size,
//! and stay within the promise.
//!
//! Natively this is a test of one size of pages. `ci/platforms.sh aarch64` runs it with pages of 16
//! and of 64 KiB, as QEMU simulates them.

// Without a range nothing is held.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use ebbtide_global::{arena, engine, report};

const CHUNK: usize = 64 << 10;

fn page_bytes() -> usize {
    // SAFETY: `sysconf` takes a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("Linux knows it")
}

/// The bytes of the pages that a large block takes; it does not share them.
fn pages_of(block: &[u8]) -> usize {
    assert!(engine::is_ours(block.as_ptr()));
    let start = block.as_ptr().addr();
    (start % CHUNK + block.len()).next_multiple_of(page_bytes())
}

#[test]
fn large_blocks_count_as_held_with_their_pages() {
    alone!();
    arena(|| {
        let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(50);
        blocks.push(vec![1; 9_000]);
        let before = report().held;
        let added = (0..40).map(|index| vec![1_u8; 9_000 + 611 * index]);
        blocks.extend(added);
        let held = report().held - before;
        let taken: usize = blocks[1..].iter().map(|block| pages_of(block)).sum();
        // With pages of 4 KiB, the bytes held are an average, which includes 4 KiB for the offset
        // of each block in its first page.
        let tolerance = if page_bytes() > 4096 { 0 } else { taken / 50 };
        assert!(held + tolerance >= taken, "{held} count as held, pages take {taken}");
        assert!(held <= taken + taken / 8, "{held} count as held, pages take {taken}");

        // A block grows by a page, in place or not.
        let last = blocks.last_mut().expect("there are some");
        last.resize(last.len() + page_bytes(), 2);
        let taken: usize = blocks[1..].iter().map(|block| pages_of(block)).sum();
        assert!(report().held - before + tolerance >= taken, "{}", report());
        let report = report();
        assert!(report.held <= report.bound, "{report}");
    });
}
