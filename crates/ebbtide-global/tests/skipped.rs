//! Claim: scopes of a site are skipped while they are slower than the inner allocator, and only
//! then. Nothing but speed and memory depends on it.

// Without a range no scope opens.
#![cfg(target_pointer_width = "64")]

use crate::skipping::work;
use ebbtide_global::{Options, arena, arena_with, engine::is_ours, outside, report, set_skipping};
use std::{cell::Cell, collections::VecDeque, hint::black_box, thread};

const SCOPES: usize = 60_000;

/// A block, which takes several microseconds longer in an arena, or outside of one.
fn block(is_slow_in_arena: bool) -> Box<usize> {
    let block = Box::new(1);
    if is_ours(&raw const *block) == is_slow_in_arena {
        work();
    }
    block
}

/// Runs scopes that keep a block for a while each. Returns how many of the blocks came from the inner
/// allocator.
fn blocks_outside(mut scope: impl FnMut() -> Box<usize>) -> usize {
    let mut kept = [const { None }; 10];
    (0..SCOPES).filter(|number| !is_ours(&raw const **kept[number % 10].insert(scope()))).count()
}

#[test]
fn scopes_that_are_slower_than_the_inner_allocator_are_skipped() {
    alone!();
    set_skipping(true);
    let outside = blocks_outside(|| arena(|| block(true)));
    assert!(outside > SCOPES / 10 * 9, "{outside} of {SCOPES} were skipped");
    // Another thread's report, which does not make this thread publish its figures.
    let other = thread::spawn(report).join().unwrap();
    assert!(other.scopes >= other.fallbacks.skipped_scopes, "{other}");
    assert_eq!(report().fallbacks.skipped_scopes, outside as u64);
    assert_eq!(report().scopes, SCOPES as u64);
    // The scopes of another site are not.
    assert!(is_ours(&raw const *arena(|| Box::new(2))));
    set_skipping(false);
    assert_eq!(blocks_outside(|| arena(|| block(true))), 0);
}

#[test]
fn scopes_that_are_faster_are_served() {
    alone!();
    set_skipping(true);
    let outside = blocks_outside(|| arena(|| block(false)));
    assert!(outside < SCOPES / 5, "{outside} of {SCOPES} were skipped");
}

#[test]
fn an_epoch_without_arenas_is_as_long_if_scopes_of_other_sites_lie_inside() {
    alone!();
    set_skipping(true);
    // Without the scope around them, the others are outermost ones.
    let outside = blocks_outside(|| {
        arena(|| {
            let kept = block(false);
            (0..3).for_each(|_| drop(arena(|| Box::new([0; 4]))));
            (0..3).for_each(|_| drop(arena(|| block(false))));
            kept
        })
    });
    assert!(outside < SCOPES / 5, "{outside} of {SCOPES} were skipped");
}

#[test]
fn labels_and_numbers_tell_sites_of_one_closure_apart() {
    alone!();
    set_skipping(true);
    let run = |options: Options, slow| blocks_outside(|| arena_with(&options, || block(slow)));
    let [skipped, served] = [("slow", true), ("fast", false)]
        .map(|(label, slow)| run(Options::new().label(label), slow));
    assert!(skipped > SCOPES / 10 * 9 && served < SCOPES / 5, "{skipped} and {served} skipped");
    let [skipped, served] =
        [(7, true), (8, false)].map(|(site, slow)| run(Options::new().site(site), slow));
    assert!(skipped > SCOPES / 10 * 9 && served < SCOPES / 5, "{skipped} and {served} skipped");
    assert_eq!(run(Options::new().site(0), true), 0, "0 stands for no site");
}

#[test]
fn without_a_nested_scope_the_scope_around_it_serves() {
    alone!();
    set_skipping(true);
    let mut slow = 0;
    arena(|| {
        for _ in 0..SCOPES {
            // A nested scope takes another chunk than the scope around it.
            let own = Box::new(0);
            let chunk = |block: &usize| (&raw const *block).addr() >> 16;
            let nested = arena(|| {
                let nested = Box::new(0);
                if chunk(&nested) != chunk(&own) {
                    slow += 1;
                    drop(block(true));
                }
                nested
            });
            assert!(is_ours(&raw const *nested));
        }
    });
    assert!(slow < SCOPES / 10, "{slow} of {SCOPES} were opened");
}

#[test]
fn a_long_scope_skips_requests_while_they_are_slower_than_the_inner_allocator() {
    alone!();
    set_skipping(true);
    let requests = Cell::new(0);
    let blocks_outside = |site, is_slow_in_arena| {
        let mut kept = VecDeque::with_capacity(3001);
        arena_with(&Options::new().site(site), || {
            // A long scope takes megabytes.
            let block = || {
                // It is not the scope's to skip.
                outside(|| drop(black_box(Box::new(0))));
                let (block, bytes) = (block(is_slow_in_arena), [0; 1000].to_vec());
                let is_outside = !is_ours(&raw const *block);
                let skipped = u64::from(is_outside) + u64::from(!is_ours(bytes.as_ptr()));
                requests.set(requests.get() + skipped);
                (is_outside, block, bytes)
            };
            kept.extend((0..3000).map(|_| block()));
            let is_outside = |_: &usize| {
                kept.push_back(block());
                kept.pop_front().is_some_and(|(is_outside, ..)| is_outside)
            };
            (0..2 * SCOPES).filter(is_outside).count()
        })
    };
    let [slow, fast] = [blocks_outside(1, true), blocks_outside(2, false)];
    assert!(slow > SCOPES && fast < SCOPES / 2, "{slow} and {fast} of {}", 2 * SCOPES);
    // The bound refuses the others.
    let fallbacks = report().fallbacks;
    let [skipped, total] = [fallbacks.skipped, fallbacks.total()];
    assert_eq!((skipped + fallbacks.waste, total), (requests.get(), requests.get()));
    assert!(skipped > requests.get() / 10 * 9, "{skipped} of {}", requests.get());
}

#[test]
fn units_are_as_long_in_a_scope_that_closes_and_nests_scopes() {
    alone!();
    set_skipping(true);
    let blocks_outside = |site, every, between: &dyn Fn()| {
        arena_with(&Options::new().site(site), || {
            let block = || (block(false), [0; 1000].to_vec());
            let mut kept: VecDeque<_> = (0..3000).map(|_| block()).collect();
            let mut is_outside = || {
                kept.push_back(block());
                kept.pop_front();
                kept.back().is_some_and(|(block, _)| !is_ours(&raw const **block))
            };
            // Until a unit is skipped, which waits for the measurement of another site.
            assert!((0..100 * SCOPES).any(|_| is_outside()));
            let step = |number: &usize| {
                if number % every == 0 {
                    between();
                }
                is_outside()
            };
            (0..2 * SCOPES).filter(step).count()
        })
    };
    let closed = blocks_outside(1, 100, &|| outside(|| ()));
    let nested = blocks_outside(2, 100, &|| {
        arena_with(&Options::new().site(0), || drop(Box::new(1)));
    });
    // In a skipped unit, requests that the scope would not serve do not count.
    let busy = blocks_outside(3, 1, &|| {
        outside(|| {
            (0..6).for_each(|n| drop(black_box(Box::new(n))));
            work();
            work();
        });
    });
    let most = closed.max(nested).max(busy);
    assert!(most < SCOPES, "{closed}, {nested} and {busy} of {}", 2 * SCOPES);
}
