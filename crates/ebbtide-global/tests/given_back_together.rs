//! Claims: when memory goes back to the system, that of neighbouring chunks goes back as a whole,
//! and blocks between them keep their contents. It goes back even if all scopes are skipped.

// These systems tell what is behind an address. Without a range no scope opens.
#![cfg(all(any(target_os = "linux", windows), target_pointer_width = "64"))]

use crate::skipping::{SKIPPED, assert_that_memory_goes_back};
use ebbtide_global::{arena, arena_with, release_pool, report, retain};

type Block = Vec<u8>;

const MIB: usize = 1 << 20;

/// The blocks whose indices `keeps` accepts, of 96 MiB of blocks. Each has contents of its own.
fn burst(keeps: impl Fn(usize) -> bool) -> Vec<(usize, Block)> {
    let blocks: Vec<_> = (0..96 * MIB / 512).map(|index| (index, contents(index))).collect();
    blocks.into_iter().filter(|(index, _)| keeps(*index)).collect()
}

fn contents(index: usize) -> Block {
    let mut block = vec![0xAB; 512];
    block[..8].copy_from_slice(&index.to_ne_bytes());
    block
}

/// Resident bytes; 0 where nobody says. Under Wine, the file is that of another process.
fn resident() -> usize {
    if !cfg!(target_os = "linux") {
        return 0;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kib.unwrap_or(0) << 10
}

#[test]
fn memory_goes_back_as_a_whole_and_without_that_of_live_blocks() {
    alone!();
    // Otherwise memory goes back by itself if a window of time ends first.
    retain(128 * MIB);
    // A quarter of the chunks stay, alone and in groups, with groups of all sizes between them.
    let is_kept = |index: usize| index % 64 == 0 && (index / 128).pow(2) % 61 < 16;
    let kept = arena(|| burst(is_kept));
    let before = (report().held, resident());
    release_pool();
    let after = (report().held, resident());
    assert!(after.0 + 48 * MIB < before.0, "{before:?} {after:?}");
    // Poisoned memory is resident as well, but only after it was freed.
    let (fell_by, held_fell_by) = (before.1.saturating_sub(after.1), before.0 - after.0);
    assert!(after.1 == 0 || fell_by + 4 * MIB > held_fell_by, "{before:?} {after:?}");
    for (index, block) in &kept {
        assert_eq!(*block, contents(*index));
    }
}

#[test]
fn memory_goes_back_while_scopes_are_skipped() {
    alone!();
    assert_that_memory_goes_back(|| arena_with(&SKIPPED, || ()));
}
