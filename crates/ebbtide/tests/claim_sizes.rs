//! Claim: claims of any sizes hold at most four times the most live bytes and two chunks, a limit
//! refuses only what does not fit without spare chunks, and neither needs a call of the backing in
//! each turn.

#![cfg(feature = "std")]

use crate::common::{fewer_under_miri, properties, watched};
use ebbtide::{AllocError, Arena, ForLifetime, Owned, Scope, collections::NodeVec};
use proptest::prelude::*;
use std::cell::Cell;

/// What an open claim holds at least: its first chunk.
const PER_CLAIM: usize = 512;

/// The sizes of the turns of a loop.
#[derive(Clone, Copy, Debug)]
enum Sizes {
    Rising {
        start: usize,
        step: usize,
    },
    Falling {
        start: usize,
        step: usize,
    },
    SawTooth {
        start: usize,
        step: usize,
        turns: usize,
    },
    Random {
        most: usize,
        seed: usize,
    },
    /// From large to small in each round, as many at a time as there is room for.
    Phases {
        most: usize,
        ratio: usize,
    },
}

impl Sizes {
    /// The size of one turn, and the number of claims that are open at once in it.
    fn of(self, turn: usize) -> (usize, usize) {
        match self {
            Sizes::Rising { start, step } => (start + turn * step, 1),
            Sizes::Falling { start, step } => (start.saturating_sub(turn * step).max(1), 1),
            Sizes::SawTooth { start, step, turns } => (start + turn % turns * step, 1),
            Sizes::Random { most, seed } => {
                let bits = (turn + seed).wrapping_mul(0x9E37_79B9);
                // Small ones are as likely as large ones.
                ((most >> ((bits >> 8) % 12)).max(1) * ((bits >> 20) & 255) / 256 + 1, 1)
            }
            Sizes::Phases { most, ratio } => {
                let count = (0..turn % 7).fold(1, |count, _| count * ratio).min(most / 64);
                (most / count, count)
            }
        }
    }
}

/// What a claim is used for.
#[derive(Clone, Copy, Debug)]
enum Use {
    Slice,
    Vector,
    Pieces,
    GrownVector,
    Nested,
    BesideGrowth,
}

const USES: [Use; 6] =
    [Use::Slice, Use::Vector, Use::Pieces, Use::GrownVector, Use::Nested, Use::BesideGrowth];

/// The live bytes, and the most of them so far.
#[derive(Debug, Default)]
struct Live {
    now: Cell<usize>,
    most: Cell<usize>,
}

impl Live {
    fn add(&self, bytes: usize) {
        self.now.set(self.now.get() + bytes);
        self.most.set(self.most.get().max(self.now.get()));
    }
}

static ZEROS: [u64; 1 << 17] = [0; 1 << 17];

/// One turn of `count` claims of `size` bytes each, all of them open at the end.
fn turn<'a>(
    s: &Scope<'a>,
    kept: &mut NodeVec<'a, u64>,
    live: &Live,
    what: Use,
    (size, count): (usize, usize),
) -> Result<(), AllocError> {
    let before = live.now.get();
    let mut claims = Vec::new();
    for _ in 0..count {
        claims.push(s.try_claim()?);
        live.add(PER_CLAIM);
        let c = claims.last().unwrap().scope();
        match what {
            Use::Slice | Use::BesideGrowth => {
                c.try_alloc_uninit_slice::<u8>(size)?;
                live.add(size);
            }
            Use::Vector => {
                let mut vector = c.vec::<u64>();
                vector.try_reserve(size / 8 + 1)?;
                vector.push(1);
                live.add(size);
            }
            Use::Pieces => {
                for part in [2, 3, 7, 11, 13, 40] {
                    c.try_alloc_uninit_slice::<u8>(size / part)?;
                    live.add(size / part);
                }
            }
            Use::GrownVector => {
                let mut vector = c.vec::<u64>();
                for _ in 0..10 {
                    vector.try_extend_from_slice(&ZEROS[..size / 80])?;
                }
                // When it last grew, the old block and the new one were there.
                live.add(8 * vector.capacity() / 2 * 3);
            }
            Use::Nested => {
                c.try_alloc_uninit_slice::<u8>(size / 2)?;
                live.add(size / 2);
                turn(c, &mut NodeVec::new(), live, Use::Slice, (size / 3, 1))?;
                turn(c, &mut NodeVec::new(), live, Use::Slice, (size / 2, 1))?;
            }
        }
    }
    if let Use::BesideGrowth = what {
        let capacity = kept.capacity();
        kept.with(s).try_extend_from_slice(&[1; 40])?;
        if kept.capacity() > capacity {
            live.add(8 * kept.capacity());
        }
        // The blocks of the vector live on.
        live.now.set(live.now.get() - count * (size + PER_CLAIM));
    } else {
        live.now.set(before);
    }
    Ok(())
}

/// Runs a loop in an arena whose first chunk has so many bytes, and checks the bound after each turn.
/// Returns the calls of the backing in each turn.
fn run(sizes: Sizes, what: Use, turns: usize, chunk: usize) -> Vec<usize> {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(chunk, backing);
    let s = arena.scope();
    let (live, mut kept) = (Live::default(), NodeVec::new());
    let mut calls = Vec::new();
    for i in 0..turns {
        let before = log.calls();
        turn(&s, &mut kept, &live, what, sizes.of(i)).unwrap();
        calls.push(log.calls() - before);
        let (held, most) = (log.held(), live.most.get());
        assert!(
            held <= 4 * most + 2 * chunk,
            "{held} for {most} after turn {i} of {sizes:?}, {what:?}"
        );
    }
    calls
}

#[test]
fn sizes_that_rise_take_few_chunks_and_hold_few_bytes() {
    // Filling the largest takes long.
    let rows = [
        (20_000, 64, 1_000),
        (1, 64, 1_000),
        (500, 8, 1_000),
        (100, 1_000, 1_000),
        (5 << 20, 20_480, 200),
    ];
    for (start, step, turns) in rows {
        for what in USES {
            let turns = fewer_under_miri(turns);
            let calls: usize = run(Sizes::Rising { start, step }, what, turns, 16_000).iter().sum();
            assert!(calls <= 60, "{calls} calls for {start} and {step}, {what:?}");
        }
    }
}

#[test]
fn sizes_that_repeat_settle() {
    for what in [Use::Slice, Use::Vector, Use::Pieces, Use::GrownVector, Use::Nested] {
        for sizes in [
            Sizes::Falling { start: 300_000, step: 64 },
            Sizes::SawTooth { start: 1_000, step: 640, turns: 50 },
            Sizes::SawTooth { start: 100_000, step: 6_400, turns: 20 },
            Sizes::Random { most: 1 << 20, seed: 1 },
        ] {
            let turns = fewer_under_miri(1_000);
            let calls: usize = run(sizes, what, turns, 16_000)[turns / 2..].iter().sum();
            assert!(calls <= turns / 50, "{calls} calls for {sizes:?}, {what:?}");
        }
    }
}

#[test]
fn claims_of_several_sizes_in_each_turn_settle() {
    for ratio in (11..100).step_by(3) {
        let (backing, log) = watched();
        let mut arena = Arena::new_in(backing);
        let s = arena.scope();
        let mut calls = 0;
        for turn in 0..40 {
            if turn == 20 {
                calls = log.calls();
            }
            let mut size = 1_000_000;
            while size > 0 {
                s.claim().scope().alloc_uninit_slice::<u8>(size);
                size = size * 10 / ratio;
            }
        }
        assert_eq!(log.calls(), calls, "a ratio of {ratio} / 10");
        assert!(log.held() <= 4_000_000 + 32_000, "a ratio of {ratio} / 10: {}", log.held());
    }
}

/// Allocates slices that rise until one is refused, and returns the largest one.
fn largest_served(
    scope: &mut Scope<'_>,
    alloc: impl Fn(&mut Scope<'_>, usize) -> Result<(), AllocError>,
) -> usize {
    let mut size = 20_000;
    while alloc(scope, size).is_ok() {
        size += 6_400;
    }
    size - 6_400
}

#[test]
fn a_limit_refuses_only_what_does_not_fit_without_spare_chunks() {
    const LIMIT: usize = 2_000_000;
    let served = |alloc: &dyn Fn(&mut Scope<'_>, usize) -> Result<(), AllocError>| {
        let (backing, log) = watched();
        let mut arena = Arena::new_in(backing);
        arena.set_limit(Some(LIMIT));
        let largest = largest_served(&mut arena.scope(), alloc);
        assert!(log.held() <= LIMIT && log.calls() < 40, "{} {}", log.held(), log.calls());
        // What the limit refuses leaves the arena usable.
        crate::common::assert_works(&arena.scope());
        largest
    };
    let slice = |s: &Scope<'_>, size| s.try_alloc_uninit_slice::<u8>(size).map(|_| ());
    let vector = |s: &Scope<'_>, size| s.vec::<u8>().try_reserve(size);
    // The head's chunk, and a claim's first one.
    let most = LIMIT - 17_000 - 6_400;
    assert!(served(&|s, size| slice(s.try_claim()?.scope(), size)) >= most);
    assert!(served(&|s, size| vector(s.try_claim()?.scope(), size)) >= most);
    assert!(served(&|s, size| slice(&s.scope(), size)) >= most);
    assert!(served(&|s, size| vector(&s.scope(), size)) >= most);
    assert!(served(&|s, size| s.try_claim().map(drop).and(slice(&s.scope(), size))) >= most);
    assert!(served(&|s, size| s.try_claim().map(drop).and(s.scope().try_reserve(size))) >= most);
    // The infallible methods serve the same.
    let mut arena = Arena::new();
    arena.set_limit(Some(LIMIT));
    let s = arena.scope();
    for size in (20_000..most).step_by(64 * 50) {
        s.claim().scope().alloc_uninit_slice::<u8>(size);
    }
}

#[test]
fn a_claim_that_copies_a_log_at_each_entry_holds_a_few_logs() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut log = s.vec::<u8>();
    for entry in 0..fewer_under_miri(1_000) {
        log.extend_from_slice(&[1; 46]);
        let claim = s.claim();
        assert_eq!(claim.scope().alloc_slice_copy(&log).len(), 46 * (entry + 1));
    }
    // A vector that grew was copied too.
    let live = log.capacity() * 3 / 2 + log.len();
    assert!(s.stats().held <= 4 * live + 32_000, "{} for {live}", s.stats().held);
}

struct Words;
impl ForLifetime for Words {
    type Of<'a> = NodeVec<'a, u64>;
}

#[test]
fn claims_of_an_owned_hold_a_few_times_their_largest() {
    let mut owned = Owned::<Words>::new(|_| NodeVec::new());
    let turns = fewer_under_miri(2_000);
    for i in 0..turns {
        owned.with_mut(|s, words| {
            let claim = s.claim();
            let sorted = claim.scope().alloc_slice_copy(words);
            sorted.sort_unstable();
            words.push(s, sorted.last().map_or(0, |last| last + i as u64));
        });
    }
    let live = 8 * turns * 3;
    assert!(owned.held() <= 4 * live + 32_000, "{} for {live}", owned.held());
}

#[test]
fn chunks_are_not_released_while_an_iterator_may_return_to_them() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    {
        let s = arena.scope();
        let claims: Vec<_> = (0..20).map(|_| s.claim()).collect();
        for claim in &claims {
            claim.scope().alloc_uninit_slice::<u8>(10_000);
        }
    }
    arena.set_limit(Some(arena.held() + 1_000));
    let refused = || arena.root().try_alloc_uninit_slice::<u8>(100_000).is_err();
    let mut chunks = arena.chunks();
    assert!(chunks.next().is_some() && refused() && chunks.count() > 20);
    let mut parts = arena.used_parts();
    assert!(refused() && parts.next().is_none());
    drop(parts);
    let free = ebbtide::front_end::free_ranges(arena.root());
    assert!(refused() && free.count() > 0);
    std::mem::forget(arena.chunks());
    assert!(refused() && log.releases() == 0, "one was forgotten");
    // An arena that is borrowed exclusively has no iterators.
    arena.trim();
    assert!(log.releases() > 20);
}

#[test]
fn spare_chunks_are_released_for_a_request_that_fits_without_them() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    {
        let s = arena.scope();
        drop((0..50).map(|_| s.claim()).collect::<Vec<_>>());
    }
    arena.set_limit(Some(arena.held() + 1_000));
    let held = arena.held();
    assert!(arena.root().try_alloc_uninit_slice::<u8>(100_000).is_err());
    assert_eq!(arena.held(), held, "in vain");
    assert_eq!(arena.root().alloc_uninit_slice::<u8>(held - 18_000).len(), held - 18_000);
    assert!(log.releases() > 40 && arena.held() <= held + 1_000);
    assert_eq!(arena.chunks().count(), arena.stats().chunks);
}

fn sizes() -> impl Strategy<Value = Sizes> {
    prop_oneof![
        (1_usize..100_000, 1_usize..5_000).prop_map(|(start, step)| Sizes::Rising { start, step }),
        (1_usize..300_000, 1_usize..5_000).prop_map(|(start, step)| Sizes::Falling { start, step }),
        (1_usize..100_000, 1_usize..5_000, 2_usize..60)
            .prop_map(|(start, step, turns)| Sizes::SawTooth { start, step, turns }),
        (1_usize..300_000, 0_usize..1_000).prop_map(|(most, seed)| Sizes::Random { most, seed }),
        (1_000_usize..30_000, 2_usize..6).prop_map(|(most, ratio)| Sizes::Phases { most, ratio }),
    ]
}

proptest! {
    #![proptest_config(properties(60))]

    /// Loops of any sizes and uses, one after the other in one arena.
    #[test]
    fn any_claims_hold_at_most_four_times_the_most_live_bytes(
        loops in proptest::collection::vec((sizes(), 0_usize..6, 1_usize..100), 1..5),
        chunk in 400_usize..20_000,
        limit in proptest::option::of(100_000_usize..3_000_000),
    ) {
        let (backing, log) = watched();
        let mut arena = Arena::with_chunk_size_in(chunk, backing);
        arena.set_limit(limit);
        let s = arena.scope();
        let (live, mut kept) = (Live::default(), NodeVec::new());
        for (sizes, what, turns) in loops {
            for i in 0..turns {
                let (size, count) = sizes.of(i);
                if turn(&s, &mut kept, &live, USES[what], (size, count)).is_err() {
                    // A quarter of the limit had no room for what was live and the refused turn.
                    let refused = 3 * count * (size + PER_CLAIM) + 24 * kept.capacity();
                    let (most, limit) = (live.most.get() + refused, limit.unwrap());
                    prop_assert!(4 * most + 2 * chunk >= limit, "{} of {}", most, limit);
                    prop_assert!(log.held() <= limit);
                    return Ok(());
                }
                let (held, most) = (log.held(), live.most.get());
                prop_assert!(held <= 4 * most + 2 * chunk, "{held} for {most}");
                prop_assert!(limit.is_none_or(|limit| held <= limit));
            }
        }
        prop_assert_eq!(s.stats().held, log.held());
    }
}
