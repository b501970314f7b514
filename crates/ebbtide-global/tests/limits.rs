//! Claims: a scope serves exactly the requests that its options allow, to the byte; the inner
//! allocator serves all others, and the report counts them by reason.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{Options, arena_with, engine, release_pool, report, retain};
use ebbtide_patience::eventually;

fn ours(bytes: &[u8]) -> bool {
    engine::is_ours(bytes.as_ptr())
}

#[test]
fn sizes() {
    alone!();
    let before = report().fallbacks;
    arena_with(&Options::new().min_size(100).max_size(10_000), || {
        let blocks = [99, 100, 10_000, 10_001].map(|size| vec![1_u8; size]);
        assert_eq!(blocks.map(|bytes| ours(&bytes)), [false, true, true, false]);
        let mut grows = vec![2_u8; 99];
        grows.extend([3; 200]);
        assert!(!ours(&grows), "what the inner allocator gave stays with it");
    });
    let after = report().fallbacks;
    assert_eq!(after.small - before.small, 2);
    assert_eq!(after.large - before.large, 1);
}

#[test]
fn a_byte_limit() {
    alone!();
    for limit in [0, 1, 100, 1000, 65_519, 65_520, 65_521, 200_000] {
        let before = report();
        arena_with(&Options::new().byte_limit(limit), || {
            let blocks: Vec<[u64; 4]> = Vec::new();
            assert_eq!(blocks.capacity(), 0);
            let mut kept = Vec::with_capacity(20_000);
            kept.push(Box::new([0_u64; 4]));
            let is_served = |block: &[u64; 4]| engine::is_ours(block);
            for n in 1..10_000 {
                kept.push(Box::new([n; 4]));
            }
            let served = kept.iter().filter(|block| is_served(block)).count();
            // `kept` itself is a large block, and counts if it fits.
            let room = if limit >= 160_000 { limit - 160_000 } else { limit };
            assert!(served * 32 <= room, "{served} of {limit}");
            assert!(served * 32 + 64 + 32 * (room / 65_520) >= room, "{served} of {limit}");
            assert!(kept.iter().zip(0..).all(|(block, n)| **block == [n; 4]));
        });
        let after = report();
        assert!(after.fallbacks.byte_limit > before.fallbacks.byte_limit);
        assert!(after.bytes - before.bytes <= limit as u64);
    }
}

#[test]
fn a_scope_with_a_byte_limit_fills_its_chunks() {
    alone!();
    let before = report();
    arena_with(&Options::new().byte_limit(16 << 20), || {
        let blocks: Vec<Box<[u64; 8]>> = (0..60_000).map(|n| Box::new([n; 8])).collect();
        assert!(blocks.iter().zip(0..).all(|(block, n)| **block == [n; 8]));
        let (held, live) = (report().in_use - before.in_use, blocks.len() * 72);
        assert!(held < live / 8 * 9, "{held} bytes for {live}");
    });
    assert_eq!(report().fallbacks.waste, before.fallbacks.waste);
}

#[test]
fn a_byte_limit_counts_what_is_rewound_once() {
    alone!();
    let before = report().fallbacks.byte_limit;
    arena_with(&Options::new().byte_limit(100_000), || {
        for n in 0..1000_usize {
            assert!(ours(&vec![1_u8; 50 + n]));
            assert!(ours(&vec![1_u8; 90_000]));
        }
    });
    assert_eq!(report().fallbacks.byte_limit, before);
}

#[test]
fn kept_memory_is_bounded_and_given_back() {
    alone!();
    let fill = || {
        arena_with(&Options::new(), || {
            drop((0..64).map(|_| vec![1_u8; 1 << 20]).collect::<Vec<_>>())
        })
    };
    // The end of the first scope starts the helper thread, without which less is kept. It may take a
    // while to run.
    let keeps = || {
        fill();
        report().kept >= 64 << 20
    };
    assert!(eventually(keeps), "{}", report());
    release_pool();
    assert_eq!(report().kept, 0);
    retain(8 << 20);
    fill();
    assert!(report().kept <= 17 << 20, "{}", report());
    retain(0);
    release_pool();
    fill();
    assert_eq!(report().kept, 0);
    retain(128 << 20);
}

#[test]
fn a_byte_limit_of_spans_that_grow_and_are_freed() {
    alone!();
    let limit = 256 << 10;
    arena_with(&Options::new().byte_limit(limit), || {
        for _ in 0..100 {
            let mut grows = Vec::<u8>::with_capacity(66_000);
            grows.push(1);
            grows.reserve_exact(118_000);
        }
        let all: Vec<Vec<u8>> = (0..200).map(|_| vec![1; 20_000]).collect();
        let served: usize = all.iter().filter(|bytes| ours(bytes)).map(Vec::len).sum();
        assert!(served <= limit, "{served} bytes of {limit}");
        assert!(served > limit / 2, "what was freed is there again: {served}");
    });
    // Sums that would overflow.
    arena_with(&Options::new().byte_limit(usize::MAX - 1), || {
        for _ in 0..20 {
            let mut grows = Vec::<u8>::with_capacity(70_000);
            grows.push(1);
            grows.reserve_exact(120_000);
        }
    });
}

#[test]
fn a_scope_that_frees_more_than_it_takes_counts_no_bytes() {
    alone!();
    let kept = arena_with(&Options::new(), || "x".repeat(100));
    arena_with(&Options::new().label("frees"), || drop(kept));
    let report = report();
    assert!(report.high_water < 1 << 40, "{}", report.high_water);
    let label = report.labels.iter().find(|label| label.label == "frees");
    assert!(label.is_none_or(|label| label.bytes < 1 << 40), "{label:?}");
}

#[test]
fn a_block_of_no_bytes_is_not_served() {
    alone!();
    let owner = engine::Owner::new();
    assert!(owner.start());
    let ticket = owner.enter(&Options::new()).unwrap();
    let nothing = std::alloc::Layout::from_size_align(0, 1).unwrap();
    assert!(owner.alloc(nothing).is_null());
    assert!(owner.alloc_zeroed(nothing).is_null());
    owner.leave(ticket);
}
