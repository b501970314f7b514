//! Claim: a long-lived scope needs memory for its live blocks, not for everything that it has
//! allocated, even if blocks are freed long after the scope has left their chunk.

use ebbtide_global::{arena, report};
use std::collections::VecDeque;

#[test]
fn memory_of_a_queue_is_used_again() {
    alone!();
    // The longest holds 650 KB, and 65 MB go through each.
    for most in [10, 100, 1_000, 10_000] {
        let before = report().claimed;
        let sum: usize = arena(|| {
            let mut queue = VecDeque::new();
            let push = |number: usize| {
                queue.push_back(vec![0xA5; 40 + number % 50]);
                let oldest = if queue.len() > most { queue.pop_front() } else { None };
                oldest.map_or(0, |block: Vec<u8>| block.len())
            };
            (0..1_000_000).map(push).sum()
        });
        assert!(sum > 60_000_000);
        let more = report().claimed - before;
        assert!(more < 8 << 20, "{most} in the queue: {more} bytes");
    }
}
