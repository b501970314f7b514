//! Programs that make explicit arenas and drop them. The blocks of dropped arenas stay warm for the
//! next ones; the same program without warm blocks shows what it needs.

use super::{each_step, replace, rest};
use crate::{inputs::Random, meter, process, scopes::scope};
use ebbtide::Arena;
use std::{hint::black_box, sync::mpsc, thread, time::Duration};

/// The most arenas that a thread keeps.
const LIVE: usize = 8;

/// A number of bytes between 8 and 64 MiB, as often between any two powers of two.
fn size(random: &mut Random) -> usize {
    let least = 8 << random.below(23);
    least + random.below(least)
}

/// An arena filled with `bytes` bytes; one in four with a single block.
fn filled(bytes: usize, random: &mut Random) -> Arena {
    let arena = Arena::new();
    let most = if random.below(4) == 0 { bytes } else { bytes.min(64 << 10) };
    let mut left = bytes;
    while left > 0 {
        let len = if most == bytes { bytes } else { left.min(1 + random.below(most)) };
        arena.alloc_slice_fill_copy(len, 7_u8);
        left -= len;
    }
    arena
}

fn made(random: &mut Random) -> Arena {
    filled(size(random), random)
}

/// The bytes of a phase.
const PHASE: usize = 200 << 20;

/// An arena of many chunks.
fn phase_of_arena() -> u64 {
    let arena = Arena::new();
    for _ in 0..PHASE / 1024 {
        arena.alloc([7_u8; 1024]);
    }
    used(&arena)
}

/// An arena of one chunk.
fn phase_of_capacity() -> u64 {
    let arena = Arena::with_capacity(PHASE);
    arena.alloc_slice_fill_copy(PHASE, 7_u8);
    used(&arena)
}

fn phase_of_heap() -> u64 {
    let bytes = black_box(vec![7_u8; PHASE]);
    bytes.len() as u64
}

fn in_turn(phases: &[fn() -> u64]) -> u64 {
    each_step(|_, _, sum| *sum += phases.iter().map(|phase| phase()).sum::<u64>())
}

pub(super) fn then_heap() -> u64 {
    in_turn(&[phase_of_arena, phase_of_heap])
}

pub(super) fn after_heap() -> u64 {
    in_turn(&[phase_of_heap, phase_of_capacity])
}

pub(super) fn then_another() -> u64 {
    in_turn(&[phase_of_arena, phase_of_capacity])
}

pub(super) fn repeated_then_heap() -> u64 {
    in_turn(&[phase_of_arena, phase_of_arena, phase_of_arena, phase_of_heap])
}

fn used(arena: &Arena) -> u64 {
    arena.stats().used as u64
}

/// Four threads at a time that make 25 arenas each, keep some of them, and end.
fn generations(pause: Duration) -> u64 {
    const MADE: u64 = 25;
    const THREADS: u64 = 4;
    let work = |seed| {
        let (mut random, mut live, mut sum) = (Random::new(seed), Vec::new(), 0);
        for _ in 0..MADE {
            let arena = made(&mut random);
            sum += used(&arena);
            replace(&mut live, arena, LIVE, &mut random);
            meter::step();
        }
        sum
    };
    let mut sum = 0;
    for generation in 0..meter::steps() / (MADE * THREADS) {
        let seeds = THREADS * generation..THREADS * (generation + 1);
        let workers: Vec<_> = seeds.map(|seed| thread::spawn(move || work(seed))).collect();
        sum += workers.into_iter().map(|worker| worker.join().expect("it ends")).sum::<u64>();
        thread::sleep(pause);
    }
    rest::rest(rest::nothing);
    sum
}

pub(super) fn threads_that_come_and_go() -> u64 {
    generations(Duration::ZERO)
}

/// Some pauses are shorter than the time for which blocks stay warm, and the last is longer.
pub(super) fn idle_phases() -> u64 {
    generations(Duration::from_millis(700))
}

/// One thread makes arenas, another keeps some of them and drops them in any order.
pub(super) fn dropped_by_another() -> u64 {
    let (sender, receiver) = mpsc::sync_channel::<Arena>(0);
    thread::scope(|threads| {
        let dropper = threads.spawn(move || {
            let (mut random, mut live, mut sum) = (Random::new(2), Vec::new(), 0);
            for arena in receiver {
                sum += used(&arena);
                replace(&mut live, arena, LIVE, &mut random);
            }
            sum
        });
        each_step(|_, random, _| {
            assert!(sender.send(made(random)).is_ok());
        });
        drop(sender);
        dropper.join().expect("it ends")
    })
}

/// The arenas lie in scopes of the transparent allocator, and outlive them.
pub(super) fn in_transparent_scopes() -> u64 {
    let mut live = Vec::new();
    let sum = each_step(|_, random, sum| {
        let arena = scope(|| made(random));
        *sum += used(&arena);
        replace(&mut live, arena, LIVE, random);
    });
    drop(live);
    rest::rest(rest::nothing);
    sum
}

/// Children of forks make arenas too, while their parent keeps some.
pub(super) fn children() -> u64 {
    let mut live = Vec::new();
    each_step(|step, random, sum| {
        let arena = made(random);
        *sum += used(&arena);
        replace(&mut live, arena, LIVE, random);
        if step % 50 == 0 {
            *sum += process::in_child(|| {
                let before = process::status().resident_kib;
                let sum = (0..20).fold(0, |sum: u64, _| sum.wrapping_add(used(&made(random))));
                live.clear();
                // A child that keeps what it dropped returns 255.
                let more = process::status().resident_kib.saturating_sub(before);
                if more < 96 << 10 { sum % 200 } else { 255 }
            });
        }
    })
}
