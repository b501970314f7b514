//! Claims: a block that shrinks gives its memory back at once, in whichever scope, on whichever
//! thread and in however many steps; and so do small blocks of other scopes.

// Without a range nothing is held.
#![cfg(all(any(target_os = "linux", windows), target_pointer_width = "64"))]

use ebbtide_global::{arena, release_pool, report};
use std::thread;

/// What may be held beside the live bytes: 1 MiB behind shrunk blocks, and a few chunks.
const SLACK: usize = 3 << 20;

fn shrink(vector: &mut Vec<u8>, len: usize) {
    vector.truncate(len);
    vector.shrink_to_fit();
    assert!(vector.capacity() == len && vector[0] == vector[len - 1]);
}

fn step_by_step(vector: &mut Vec<u8>, len: usize) {
    while vector.len() > len {
        let next = len.max(vector.len() / 10 * 9);
        shrink(vector, next);
    }
}

/// Blocks of `size` bytes outlive their scopes and are shrunk to `len` bytes.
fn shrunk(size: usize, len: usize, shrink_all: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let mut kept: Vec<Vec<u8>> = Vec::with_capacity(100);
    for number in 0..40 {
        arena(|| kept.push(vec![number; size]));
    }
    let before = report();
    assert!(before.in_use >= 40 * size, "{before}");
    assert_eq!(before.held, before.in_use + before.kept + before.escapes.pinned_bytes);
    shrink_all(&mut kept);
    assert!(kept.iter().all(|vector| vector.len() == len));
    release_pool();
    let report = report();
    assert!(report.held <= 40 * len + 40 * len / 2 + SLACK, "{report}");
    assert!(report.shrunk <= 1 << 20, "{report}");
}

#[test]
fn large_blocks_in_no_scope() {
    alone!();
    for len in [1_000, 20_000, 300_000] {
        shrunk(1 << 20, len, |kept| kept.iter_mut().for_each(|vector| shrink(vector, len)));
        shrunk(1 << 20, len, |kept| kept.iter_mut().for_each(|vector| step_by_step(vector, len)));
    }
}

#[test]
fn large_blocks_in_a_later_scope() {
    alone!();
    for len in [1_000, 20_000, 300_000] {
        shrunk(1 << 20, len, |kept| {
            arena(|| kept.iter_mut().for_each(|vector| step_by_step(vector, len)));
        });
    }
}

#[test]
fn large_blocks_on_another_thread() {
    alone!();
    for len in [1_000, 20_000, 300_000] {
        shrunk(1 << 20, len, |kept| {
            thread::scope(|threads| {
                threads.spawn(|| kept.iter_mut().for_each(|vector| shrink(vector, len)));
            });
        });
    }
}

#[test]
fn large_blocks_in_their_own_scope() {
    alone!();
    for len in [1_000, 20_000, 300_000] {
        let kept: Vec<Vec<u8>> = arena(|| {
            let mut kept: Vec<_> = (0..40).map(|number| vec![number; 1 << 20]).collect();
            kept.iter_mut().for_each(|vector| step_by_step(vector, len));
            kept
        });
        release_pool();
        let report = report();
        assert!(report.held <= 40 * len + 40 * len / 2 + SLACK, "{report}");
        drop(kept);
    }
}

#[test]
fn a_block_that_shrank_grows_again_with_its_contents() {
    alone!();
    let mut kept: Vec<Vec<u8>> = (0..40).map(|number| arena(|| vec![number; 1 << 20])).collect();
    kept.iter_mut().for_each(|vector| shrink(vector, 100_000));
    for (number, vector) in (0..40).zip(&mut kept) {
        vector.resize(900_000, number);
        assert!(vector.iter().all(|byte| *byte == number));
        arena(|| assert!(vec![0_u8; 1 << 20].iter().all(|byte| *byte == 0)));
    }
}

#[test]
fn small_blocks_of_other_scopes() {
    alone!();
    let mut kept: Vec<Vec<u8>> = Vec::with_capacity(3_000);
    for number in 0..100_u8 {
        arena(|| kept.extend((0..30).map(|_| vec![number; 8_000])));
    }
    assert!(report().held >= 3_000 * 8_000, "{}", report());
    kept.iter_mut().for_each(|vector| step_by_step(vector, 100));
    release_pool();
    let report = report();
    assert!(report.held <= SLACK, "{report}");
}

#[test]
fn a_block_that_grows_again_leaves_nothing_behind_its_end() {
    alone!();
    let mut kept: Vec<u8> = arena(|| vec![1; 1 << 20]);
    shrink(&mut kept, 600_000);
    let behind = report().shrunk;
    assert!(behind > 400_000, "{behind} bytes");
    kept.reserve_exact(200_000);
    let left = report().shrunk;
    assert!(behind - left >= 200_000 && left > 200_000, "{left} of {behind} bytes");
    kept.reserve_exact((1 << 20) - kept.len());
    assert_eq!(report().shrunk, 0);
}
