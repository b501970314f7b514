//! Claim: what the last scopes left goes back to the system while the program does nothing; a
//! process that forks then does so in the child as well.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use crate::resident::resident_in_arenas;
use ebbtide_global::arena;
use ebbtide_patience::eventually;
use std::{fs, hint::black_box};

const MIB: usize = 1 << 20;

fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    // SAFETY: `sysconf` takes a number.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.expect("a number") * usize::try_from(page_bytes).expect("a size")
}

/// Waits until little memory of arenas is resident. What the inner allocator has served and keeps is
/// not theirs.
fn becomes_little() -> bool {
    eventually(|| resident_in_arenas().is_some_and(|bytes| bytes < 40 * MIB))
}

fn burst() -> usize {
    let blocks: Vec<Vec<u8>> = (0..100_u8).map(|byte| vec![byte; MIB]).collect();
    let small: Vec<Box<[usize; 8]>> = (0..300_000).map(|number| Box::new([number; 8])).collect();
    black_box((&blocks, &small));
    resident()
}

#[test]
fn memory_goes_back_while_nothing_happens() {
    alone!();
    for _ in 0..3 {
        assert!((0..3).all(|_| arena(burst) > 100 * MIB));
        assert!(becomes_little(), "{} MiB are resident", resident() / MIB);
    }
    // SAFETY: the child only opens scopes, sleeps, and ends without destructors. No other thread
    // of this process holds a lock: the helper thread takes none.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "a child can be forked");
    if child == 0 {
        let went_back = arena(burst) > 100 * MIB && becomes_little();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!went_back)) };
    }
    let mut status = 0;
    // SAFETY: the child is this process's own, and the pointer is to an integer of this frame.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "memory goes back in the child");
}
