//! Claim: the next scopes use the memory that one left free.

// Without a range, no scope persists.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{arena, report};
use std::collections::VecDeque;

type Record = (usize, Vec<Vec<u8>>);

/// Makes 64 records of about 700 bytes, and returns every eighth.
fn some(first: usize) -> Vec<Record> {
    let cell = |number: usize, place: usize| vec![1_u8; 1 + (number * 7 + place * 13) % 90];
    let record = |number| (number, (0..8).map(|place| cell(number, place)).collect());
    let records: Vec<Record> = (first..first + 64).map(record).collect();
    records.into_iter().filter(|(number, _)| number % 8 == 0).collect()
}

#[test]
fn the_next_scope_uses_what_one_left_free() {
    alone!();
    let mut kept = VecDeque::new();
    for number in 0..2_000 {
        kept.push_back(arena(|| some(64 * number)));
        if kept.len() > 200 {
            kept.pop_front();
        }
    }
    // 200 scopes keep 1,600 records. If no scope persisted, each would pin a chunk of its own.
    let chunks = report().escapes.pinned_chunks;
    assert!(chunks < 32, "{chunks} chunks");
    // No block is alive then, so the next outermost scope ends the persistent one.
    drop(kept);
    arena(|| ());
    assert_eq!(report().escapes.pinned_chunks, 0);
}
