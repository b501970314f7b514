//! Claim: after its first iterations a loop no longer calls the backing, whatever it does, and
//! `trim` keeps as much memory as requested.

#![cfg(feature = "std")]

use crate::common::{Log, Watched, end, watched};
use ebbtide::{Arena, Fixed, Retain, Scope};
use std::{mem::MaybeUninit, sync::Arc};

fn counted() -> (Arena<Watched>, Arc<Log>) {
    let (backing, log) = watched();
    (Arena::new_in(backing), log)
}

/// Pseudo-random numbers with a fixed seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 40).unwrap()
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() % bound
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for i in (1..values.len()).rev() {
            values.swap(i, self.below(i + 1));
        }
    }
}

/// The number of calls to the backing in each turn.
fn calls_by_turn(turns: usize, mut turn: impl FnMut(&mut Scope<'_>, usize)) -> Vec<usize> {
    let (mut arena, log) = counted();
    let calls = (0..turns)
        .map(|number| {
            let before = log.calls();
            turn(&mut arena.scope(), number);
            log.calls() - before
        })
        .collect();
    assert_eq!(log.releases(), 0, "a scope's end gives no chunk back");
    calls
}

/// Sizes with an occasional oversize request.
fn mixed_sizes(count: usize, seed: u64) -> Vec<usize> {
    let mut numbers = Numbers(seed);
    (0..count)
        .map(|i| match i % 50 {
            10 => 100_000 + numbers.below(1_000_000),
            30 => 5_000 + numbers.below(20_000),
            _ => 1 + numbers.below(500),
        })
        .collect()
}

fn take(s: &Scope<'_>, size: usize) {
    s.alloc_uninit_slice::<u8>(size);
}

#[test]
fn equal_iterations_call_the_backing_only_in_the_first() {
    for seed in 0..20 {
        let sizes = mixed_sizes(1000, seed);
        let calls = calls_by_turn(20, |s, _| sizes.iter().for_each(|size| take(s, *size)));
        assert!(calls[0] > 0 && calls[1..].iter().all(|n| *n == 0), "seed {seed}: {calls:?}");
    }
}

#[test]
fn equal_iterations_with_growing_blocks_call_the_backing_only_in_the_first() {
    let calls = calls_by_turn(20, |s, _| {
        for len in [10, 1000, 100_000, 10, 30_000] {
            s.alloc_slice_from_iter((0..len).filter(|n| n % 3 != 0));
            s.alloc([0_u8; 100]);
            s.alloc_fmt(format_args!("{len:>5000}"));
        }
    });
    assert!(calls[0] > 0 && calls[1..].iter().all(|n| *n == 0), "{calls:?}");
}

#[test]
fn equal_iterations_of_nested_scopes_call_the_backing_only_in_the_first() {
    fn nest(mut s: Scope<'_>, depth: usize) {
        for i in 0..3 {
            take(&s, 700 * depth + i);
            s.alloc_fmt(format_args!("{i:>500}"));
            if depth > 0 {
                nest(s.scope(), depth - 1);
            }
        }
    }
    let calls = calls_by_turn(10, |s, _| nest(s.scope(), 5));
    assert!(calls[0] > 0 && calls[1..].iter().all(|n| *n == 0), "{calls:?}");
}

#[test]
fn a_working_set_that_grows_and_shrinks_settles() {
    // Up to the peak and down again, four times: only the first time requests memory.
    let turns = 400;
    let calls = calls_by_turn(turns, |s, turn| {
        let phase = turn % 100;
        let level = if phase < 50 { phase } else { 99 - phase };
        for _ in 0..level * 40 {
            take(s, 300);
        }
    });
    assert!(calls[..50].iter().sum::<usize>() > 0);
    assert!(calls[50..].iter().all(|n| *n == 0), "{calls:?}");
}

#[test]
fn an_oversize_request_that_grows_and_shrinks_settles() {
    let calls = calls_by_turn(300, |s, turn| {
        let phase = turn % 100;
        let level = if phase < 50 { phase } else { 99 - phase };
        take(s, 100);
        take(s, 10_000 + level * 10_000);
        take(s, 100);
    });
    assert!(calls[50..].iter().all(|n| *n == 0), "{calls:?}");
}

#[test]
fn sizes_in_any_order_settle() {
    // The order changes every turn, so that requests of all sizes meet chunks of all sizes.
    for seed in 0..10 {
        let mut sizes = mixed_sizes(500, seed);
        let mut numbers = Numbers(seed + 100);
        let calls = calls_by_turn(200, |s, _| {
            numbers.shuffle(&mut sizes);
            sizes.iter().for_each(|size| take(s, *size));
        });
        assert!(calls[1..].iter().sum::<usize>() <= 2, "seed {seed}: {calls:?}");
    }
}

#[test]
fn memory_held_stays_within_a_factor_of_the_peak() {
    for seed in 0..10 {
        let mut sizes = mixed_sizes(500, seed);
        let peak: usize = sizes.iter().sum();
        let mut numbers = Numbers(seed + 100);
        let (mut arena, log) = counted();
        for _ in 0..100 {
            numbers.shuffle(&mut sizes);
            let s = arena.scope();
            sizes.iter().for_each(|size| take(&s, *size));
        }
        assert!(log.held() < 3 * peak, "seed {seed}: {} held for {peak}", log.held());
    }
}

#[test]
fn the_number_of_calls_grows_with_the_logarithm() {
    let (mut arena, log) = counted();
    let s = arena.scope();
    for i in 0..100_000_u64 {
        s.alloc(i);
    }
    assert!(log.calls() <= 9, "{:?}", log.sizes());
    let sizes = log.sizes();
    assert!(sizes.windows(2).all(|pair| pair[0] * 2 == pair[1]), "{sizes:?}");
}

#[test]
fn doubling_stops_at_four_mebibytes() {
    let (mut arena, log) = counted();
    let s = arena.scope();
    for _ in 0..40 {
        take(&s, 1_000_000);
    }
    assert!(log.sizes().iter().all(|size| *size <= 4 << 20), "{:?}", log.sizes());
    assert!(log.sizes().last().is_some_and(|size| *size > 3 << 20));
}

#[test]
fn trim_keeps_the_first_chunk_of_an_idle_arena() {
    let (mut arena, log) = counted();
    mixed_sizes(1000, 1).into_iter().for_each(|size| take(arena.root(), size));
    arena.reset();
    assert!(log.live() > 3);
    arena.trim();
    assert_eq!((log.live(), log.held()), (1, log.sizes()[0]));
    let stats = arena.stats();
    assert_eq!((stats.chunks, stats.held, stats.used), (1, log.held(), 0));
    arena.trim();
    assert_eq!(log.live(), 1);
}

#[test]
fn trim_keeps_only_the_chunks_that_the_root_uses() {
    let (mut arena, log) = counted();
    let fill = |s: &Scope<'_>, n: u64| (0..n).for_each(|i| _ = s.alloc([i; 10]));
    fill(arena.root(), 500);
    let (used, chunks) = (arena.stats().used, arena.stats().chunks);
    fill(&arena.scope(), 5000);
    assert!(log.live() > chunks);
    arena.trim();
    assert_eq!((log.live(), arena.stats().chunks), (chunks, chunks));
    assert_eq!((arena.stats().held, arena.stats().used), (log.held(), used));
    // The rest of the root's last chunk is used before the backing is called.
    let calls = log.calls();
    arena.root().alloc(1_u64);
    assert_eq!(log.calls(), calls);
}

#[test]
fn trim_keeps_oversize_chunks_that_the_root_uses() {
    let (mut arena, log) = counted();
    let large = std::ptr::from_mut(arena.root().alloc_slice_fill_copy(100_000, 7_u8));
    arena.scope().alloc_slice_fill_copy(200_000, 8_u8);
    assert_eq!(log.live(), 3);
    arena.trim();
    assert_eq!((log.live(), arena.stats().oversize), (2, 1));
    // SAFETY: the root was not reset, so the slice is alive, and nothing else refers to it.
    assert!(unsafe { &*large }.iter().all(|x| *x == 7));
}

#[test]
fn trim_of_an_empty_arena_does_nothing() {
    let (mut arena, log) = counted();
    arena.trim();
    arena.reset();
    assert_eq!((log.calls(), arena.stats().held), (0, 0));
}

#[test]
fn retained_bytes_are_at_most_the_bound_and_no_chunk_fewer() {
    let (mut arena, log) = counted();
    for most in [usize::MAX, 1 << 20, 1 << 16, 10_000, 5000, 4064, 4063, 100, 0] {
        mixed_sizes(500, 3).into_iter().for_each(|size| take(&arena.scope(), size));
        (0..1000).for_each(|_| take(arena.root(), 100));
        let chunks: Vec<_> = arena.chunks().map(|chunk| chunk.capacity).collect();
        let first = <Arena>::chunk_overhead(chunks[0]);
        let later = (log.held() - first - chunks.iter().sum::<usize>()) / (chunks.len() - 1);
        let mut expected = 0;
        for (i, chunk) in chunks.into_iter().enumerate() {
            let size = chunk + if i == 0 { first } else { later };
            expected += if size <= most - expected { size } else { 0 };
        }
        arena.reset_with(Retain::Bytes(most));
        let stats = arena.stats();
        assert_eq!((log.held(), stats.held, stats.used), (expected, expected, 0), "{most}");
        assert!(log.held() <= most);
    }
    assert_eq!((log.live(), log.held()), (0, 0));
    arena.scope().alloc(1_u64);
    assert_eq!(log.live(), 1);
}

#[test]
fn retaining_everything_releases_nothing() {
    let (mut arena, log) = counted();
    mixed_sizes(500, 4).into_iter().for_each(|size| take(arena.root(), size));
    let held = log.held();
    arena.reset_with(Retain::All);
    arena.reset_with(Retain::Bytes(usize::MAX));
    arena.reset_with(Retain::Bytes(held));
    assert_eq!((log.held(), log.releases()), (held, 0));
    arena.reset_with(Retain::Bytes(held - 1));
    assert_eq!(log.releases(), 1);
}

#[test]
fn a_loop_that_keeps_a_bound_settles() {
    let (mut arena, log) = counted();
    let mut calls = Vec::new();
    for _ in 0..20 {
        let before = log.calls();
        (0..2000).for_each(|_| take(arena.root(), 100));
        arena.reset_with(Retain::Bytes(1 << 20));
        calls.push(log.calls() - before);
    }
    assert!(calls[1..].iter().all(|n| *n == 0), "{calls:?}");
}

#[test]
fn the_limit_bounds_the_memory_held_at_every_moment() {
    for limit in [5000, 10_000, 65_536, 300_001] {
        let (mut arena, log) = counted();
        arena.set_limit(Some(limit));
        for seed in 0..5 {
            let s = arena.scope();
            for size in mixed_sizes(300, seed) {
                let _ = s.try_alloc_uninit_slice::<u8>(size);
                assert!(log.held() <= limit);
            }
        }
        assert!(log.held() > limit / 2, "and lets nearly all of it be used");
    }
}

#[test]
fn a_spilling_buffer_keeps_its_chunks() {
    let (backing, log) = watched();
    let mut fixed = Fixed::new([MaybeUninit::uninit(); 1000]).or_spill(backing);
    let sizes = mixed_sizes(500, 5);
    let mut calls = Vec::new();
    for _ in 0..10 {
        let before = log.calls();
        let s = fixed.scope();
        sizes.iter().for_each(|size| take(&s, *size));
        calls.push(log.calls() - before);
    }
    assert!(calls[0] > 0 && calls[1..].iter().all(|n| *n == 0), "{calls:?}");
    assert_eq!(fixed.stats().held, log.held());
    fixed.trim();
    assert_eq!((log.live(), fixed.stats().held, fixed.stats().chunks), (0, 0, 1));
    take(&fixed.scope(), 5000);
    drop(fixed);
    assert_eq!(log.live(), 0);
}

#[test]
fn a_buffer_large_enough_never_spills() {
    let (backing, log) = watched();
    let mut fixed = Fixed::new([MaybeUninit::uninit(); 1000]).or_spill(backing);
    for _ in 0..10 {
        let s = fixed.scope();
        (0..1000).for_each(|_| take(&s, 1));
    }
    assert_eq!(log.calls(), 0);
}

#[test]
fn an_arena_that_moves_between_iterations_settles() {
    let (mut arena, log) = counted();
    let mut calls = Vec::new();
    for _ in 0..10 {
        let before = log.calls();
        mixed_sizes(300, 6).into_iter().for_each(|size| take(&arena.scope(), size));
        // The arena's address changes; its chunks stay.
        arena = *std::hint::black_box(Box::new(arena));
        calls.push(log.calls() - before);
    }
    assert!(calls[1..].iter().all(|n| *n == 0), "{calls:?}");
}

/// Otherwise every child of a loop would have to. With 64 bytes left, or a small next chunk, it
/// stays.
#[test]
fn a_nearly_full_scope_moves_to_the_next_chunk_when_a_child_opens() {
    // The bytes left when the parent allocates next.
    let stays = |left: usize, behind: usize| {
        let mut arena = Arena::with_chunk_size(1024);
        let mut s = arena.scope();
        let first = s.alloc([1_u8; 16]);
        let top = std::ptr::from_ref(first).addr() + 16;
        let stats = s.stats();
        s.alloc_uninit_slice::<u8>(stats.capacity - stats.used - left);
        let bottom = top - stats.capacity;
        if behind < 128 {
            // The lowest limit that allows a chunk gives the smallest one.
            for more in (0..1024).step_by(16) {
                arena.set_limit(Some(stats.held + more));
                s = arena.scope();
                s.alloc_uninit_slice::<u8>(stats.capacity - left);
                if s.scope().try_alloc([2_u8; 112]).is_ok() {
                    break;
                }
            }
            assert_eq!(s.scope().stats().chunks, 2);
        } else {
            s.scope().alloc_uninit_slice::<u8>(behind);
        }
        end(s.scope());
        let next = std::ptr::from_ref(s.alloc(3_u8)).addr();
        (bottom..top).contains(&next)
    };
    for left in [1, 16, 63] {
        assert!(!stays(left, 10_000), "{left} bytes left");
        assert!(!stays(left, 200), "{left} bytes left");
        assert!(stays(left, 112), "{left} bytes left, 112 behind");
    }
    for left in [64, 65, 100, 500] {
        assert!(stays(left, 10_000), "{left} bytes left");
    }
}
