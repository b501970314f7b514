//! Claim: while the pools hold enough memory for a request, it is not refused, whatever the sizes
//! of the blocks were that left it there.

// Without a range nothing is held.
#![cfg(all(any(target_os = "linux", windows), target_pointer_width = "64"))]

use ebbtide_global::{arena, report};
use std::hint::black_box;

#[test]
fn memory_of_other_sizes_serves_large_blocks() {
    alone!();
    let mut state = 7_u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from((state >> 33) % bound).unwrap_or(0)
    };
    let mut kept: Vec<Vec<u8>> = Vec::with_capacity(60);
    let (mut requests, mut refused) = (0, 0);
    for step in 0..2_000 {
        let before = report().fallbacks.waste;
        let matrix = arena(|| {
            let mut make = || {
                let rows = 256 + below(760);
                Vec::<u8>::with_capacity(rows * rows)
            };
            black_box((make(), make(), make())).2
        });
        if kept.len() < 60 {
            kept.push(matrix);
        } else {
            let place = below(60);
            kept[place] = matrix;
        }
        if step > 100 {
            requests += 3;
            refused += report().fallbacks.waste - before;
        }
    }
    assert!(refused * 50 <= requests, "{refused} of {requests} were refused: {}", report());
}
