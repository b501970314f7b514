//! Cases A01 to A08 of dev/CONFORMANCE.md, which describe ArenaPirate.jl, with the calls of this
//! crate.

use ebbtide_global::{
    Options, arena, arena_with, engine, map, outside, release_pool, report, take_out,
};
use ebbtide_patience::eventually;
use std::thread;

/// Numbers that look random.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(state >> 32).unwrap_or(0)) / f64::from(u32::MAX)
        })
        .collect()
}

#[test]
fn a01_results_are_equal_with_and_without() {
    alone!();
    let sum = |n: u64| {
        let (left, right): (Vec<u64>, Vec<u64>) = ((1..=n).collect(), (1..=n).collect());
        left.iter().zip(&right).map(|(a, b)| a + b).collect::<Vec<u64>>().iter().sum::<u64>()
    };
    for n in [0, 1, 10, 1000, 100_000] {
        assert_eq!(arena(|| sum(n)), sum(n));
        assert_eq!(sum(n), n * (n + 1));
    }
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a02_scopes_nest_and_children_use_the_same_blocks() {
    alone!();
    arena(|| {
        let outer = vec![1_u64; 1000];
        let mut places = Vec::new();
        for n in 0..10_u64 {
            let inner = arena(|| {
                let inner = vec![n; 1000];
                assert_eq!(inner.iter().sum::<u64>(), 1000 * n);
                inner.as_ptr().addr()
            });
            places.push(inner);
        }
        places.dedup();
        assert_eq!(places.len(), 1, "every child begins where the last one did");
        assert_eq!(outer.iter().sum::<u64>(), 1000);
    });
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a03_results_grow_outside_and_copies_are_taken_out() {
    alone!();
    let mut results: Vec<Vec<f64>> = Vec::new();
    for n in 0..50 {
        arena(|| {
            let temporary = numbers(n, 500);
            let result: Vec<f64> = temporary.iter().map(|x| x * x).collect();
            let copy = take_out(|| result.clone());
            assert!(!engine::is_ours(copy.as_ptr()));
            outside(|| results.push(copy));
        });
    }
    assert!(!engine::is_ours(results.as_ptr()));
    // Forgetting `outside` and `take_out` is safe.
    let forgotten = arena(|| results.iter().map(|list| list.iter().sum()).collect::<Vec<f64>>());
    assert!(engine::is_ours(forgotten.as_ptr()));
    assert_eq!(forgotten.len(), 50);
}

#[test]
fn a04_map_in_order() {
    alone!();
    let expected: Vec<usize> = (0..100).map(|n| n * (n % 7 + 1)).collect();
    let multiple = |n: usize| vec![n; n % 7 + 1].iter().sum::<usize>();
    assert_eq!(map(0..100, multiple), expected);
    #[cfg(feature = "rayon")]
    assert_eq!(ebbtide_global::par_map(0..100_usize, multiple), expected);
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a05_chunks_stay_in_a_pool_until_it_is_released() {
    alone!();
    let place = || {
        arena(|| {
            let block = vec![1_u8; 40_000_000];
            assert!(engine::is_ours(block.as_ptr()));
            block.as_ptr().addr()
        })
    };
    let first = place();
    assert_eq!(place(), first, "warm memory, at the same place");
    // Less is kept until the helper thread runs, and what is not used for a while goes back.
    let is_kept = || {
        place();
        report().kept >= 40_000_000
    };
    assert!(eventually(is_kept), "{}", report());
    release_pool();
    place();
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a06_a_size_floor_and_the_ordinary_allocator_beyond() {
    alone!();
    let before = report().fallbacks;
    arena_with(&Options::new().min_size(1000).byte_limit(1 << 20), || {
        let (small, large) = (vec![0_u8; 999], vec![0_u8; 1000]);
        assert!(!engine::is_ours(small.as_ptr()) && engine::is_ours(large.as_ptr()));
        let beyond = vec![0_u8; 2 << 20];
        assert!(!engine::is_ours(beyond.as_ptr()));
    });
    let after = report().fallbacks;
    assert!(after.small > before.small && after.byte_limit > before.byte_limit);
    // A type that needs `Drop` is served like any other.
    let strings = arena(|| vec![String::from("a"); 3]);
    assert!(engine::is_ours(strings.as_ptr()));
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a07_a_thread_started_inside_has_arenas_of_its_own() {
    alone!();
    let sums = arena(|| {
        thread::scope(|threads| {
            let workers: Vec<_> = (0..4_u64)
                .map(|n| {
                    threads.spawn(move || {
                        let outside = Box::new(n);
                        assert!(!engine::is_ours(&raw const *outside), "a scope is its thread's");
                        arena(|| {
                            let list = vec![n; 1000];
                            assert!(engine::is_ours(list.as_ptr()));
                            list.iter().sum::<u64>()
                        })
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or(0)).collect::<Vec<_>>()
        })
    });
    assert_eq!(sums, [0, 1000, 2000, 3000]);
}

/// The middle of a copy. The values are finite.
fn median(values: &[f64]) -> f64 {
    let mut copy = values.to_vec();
    let middle = copy.len() / 2;
    *copy.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The least sum of squared errors of a line over a grid of slopes and offsets.
fn search(points: &[f64], side: u32) -> (f64, f64) {
    let error = |slope: f64, offset: f64| {
        let line: Vec<f64> =
            (0..).take(points.len()).map(|n| slope * f64::from(n) + offset).collect();
        let errors: Vec<f64> = line.iter().zip(points).map(|(a, b)| (a - b) * (a - b)).collect();
        errors.iter().sum::<f64>()
    };
    let grid = (0..side * side).map(|n| (f64::from(n / side) / 100.0, f64::from(n % side) / 10.0));
    let all = map(grid, |(slope, offset)| (error(slope, offset), slope, offset));
    let best = all.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or((0.0, 0.0), |(_, slope, offset)| (slope, offset))
}

#[test]
fn a08_medians_and_a_parameter_search_small() {
    alone!();
    let data: Vec<Vec<f64>> = (0..8).map(|seed| numbers(seed, 20_001)).collect();
    let expected: Vec<f64> = data.iter().map(|values| median(values)).collect();
    assert_eq!(map(&data, |values| median(values)), expected);
    let threaded = thread::scope(|threads| {
        let workers: Vec<_> =
            data.iter().map(|values| threads.spawn(|| arena(|| median(values)))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(0.0)).collect::<Vec<_>>()
    });
    assert_eq!(threaded, expected);

    let points: Vec<f64> = (0..500).map(|n| 0.17 * f64::from(n) + 1.3).collect();
    assert_eq!(search(&points, 20), (0.17, 1.3));
    assert_eq!(arena(|| search(&points, 20)), (0.17, 1.3));
}
