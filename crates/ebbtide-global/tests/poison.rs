//! Claim: with the feature `poison`, and in debug builds, a freed block is filled with 0xDE,
//! whichever thread frees it.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]
#![cfg(any(feature = "poison", debug_assertions))]

use ebbtide_global::{arena, engine};
use std::thread;

/// Reads the byte at an address in the engine's range.
fn byte(address: usize) -> u8 {
    let at: *const u8 = std::ptr::with_exposed_provenance(address);
    assert!(engine::is_ours(at));
    // SAFETY: the engine's memory stays committed, and no other thread is at work.
    unsafe { at.read_volatile() }
}

#[test]
fn a_freed_block_is_useless() {
    alone!();
    for size in [16, 100, 2000, 30_000] {
        let free_here = arena(|| {
            let block = vec![1_u8; size];
            let at = block.as_ptr().expose_provenance();
            drop(block);
            assert_eq!((byte(at + 8), byte(at + size - 1)), (0xDE, 0xDE), "{size}");
            vec![2_u8; size]
        });
        let free_there = arena(|| vec![3_u8; size]);
        let at = [&free_here, &free_there].map(|block| block.as_ptr().expose_provenance());
        assert_eq!(at.map(byte), [2, 3]);
        drop(free_here);
        thread::spawn(move || drop(free_there)).join().expect("it only frees");
        assert_eq!(at.map(|at| byte(at + size - 1)), [0xDE, 0xDE], "{size}");
    }
}
