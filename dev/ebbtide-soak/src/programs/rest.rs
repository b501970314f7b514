//! Programs whose load ends. Three seconds later, their memory must have gone back to the system,
//! whatever the program does meanwhile. A run at a small scale rests for less, and records nothing.

use super::{each_step, in_scopes, replace, total};
use crate::{
    inputs::{Random, work},
    meter, process,
    scopes::scope,
};
use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

pub(super) fn nothing() {
    thread::sleep(meter::rest());
}

fn plain_work() {
    let (start, mut random) = (Instant::now(), Random::new(1));
    while start.elapsed() < meter::rest() {
        black_box(work(&mut random));
    }
}

fn ten_scopes_a_second() {
    let (start, mut random) = (Instant::now(), Random::new(1));
    while start.elapsed() < meter::rest() {
        black_box(scope(|| work(&mut random)));
        thread::sleep(Duration::from_millis(100));
    }
}

/// Rests, then records the resident memory.
pub(super) fn rest(rest: fn()) {
    rest();
    meter::rested(process::status().resident_kib);
}

/// 16 MiB.
fn large(step: u64) -> Vec<u8> {
    let byte = u8::try_from(step % 251).unwrap_or(0);
    vec![byte; 16 << 20]
}

fn shrink(vector: &mut Vec<u8>, len: usize) {
    vector.truncate(len);
    vector.shrink_to_fit();
}

fn sum_of(vectors: &[Vec<u8>]) -> u64 {
    total(vectors.iter().map(|vector| (vector.len() + usize::from(vector[0])) as u64))
}

/// Vectors of 16 MiB outlive their scopes, `shrink` shrinks all of them, and nothing happens.
fn shrunk(shrink: impl FnOnce(&mut Vec<Vec<u8>>)) -> u64 {
    let mut kept = Vec::new();
    each_step(|step, _, _| {
        scope(|| kept.push(large(step)));
    });
    shrink(&mut kept);
    rest(nothing);
    sum_of(&kept)
}

pub(super) fn shrunk_in_no_scope() -> u64 {
    shrunk(|kept| kept.iter_mut().for_each(|vector| shrink(vector, 1_000)))
}

pub(super) fn shrunk_in_a_later_scope() -> u64 {
    shrunk(|kept| scope(|| kept.iter_mut().for_each(|vector| shrink(vector, 1_000))))
}

pub(super) fn shrunk_by_another_thread() -> u64 {
    shrunk(|kept| {
        thread::scope(|threads| {
            threads.spawn(|| kept.iter_mut().for_each(|vector| shrink(vector, 20_000)));
        });
    })
}

/// The vectors shrink in the scope in which they were made, by a quarter at a time.
pub(super) fn shrunk_step_by_step() -> u64 {
    let mut kept = Vec::new();
    scope(|| {
        each_step(|step, _, _| {
            kept.push(large(step));
        });
        for vector in &mut kept {
            while vector.len() > 1_000 {
                let len = vector.len() / 4 * 3;
                shrink(vector, len);
            }
        }
    });
    rest(nothing);
    sum_of(&kept)
}

/// Blocks of 8,000 bytes outlive their scopes and shrink to 100 bytes.
pub(super) fn shrunk_small() -> u64 {
    let mut kept = Vec::new();
    in_scopes(|step, _, _| {
        kept.push(vec![u8::try_from(step % 251).unwrap_or(0); 8_000]);
        black_box((0..5).map(|_| vec![1_u8; 7_000]).collect::<Vec<_>>());
    });
    kept.iter_mut().for_each(|vector| shrink(vector, 100));
    rest(nothing);
    sum_of(&kept)
}

/// 150 matrices of 64 KB to 1 MB are kept. Each scope makes three, and replaces one.
pub(super) fn matrices() -> u64 {
    let mut kept: Vec<Vec<f64>> = Vec::new();
    let sum = each_step(|_, random, sum| {
        let matrix = scope(|| {
            let mut make = || {
                let rows = 90 + random.below(270);
                vec![1.5; rows * rows]
            };
            let (one, two, three) = (make(), make(), make());
            *sum += (one.len() + two.len()) as u64;
            three
        });
        replace(&mut kept, matrix, 150, random);
    });
    drop(kept);
    rest(nothing);
    sum
}

/// Entries of 100 to 1,500 bytes in a cache with a time to live: filled, then all but one in `share`
/// expire. Three seconds later, it is filled again with other sizes.
fn expired_and_filled(share: usize, meanwhile: fn()) -> u64 {
    let mut random = Random::new(4);
    let steps = usize::try_from(meter::steps() / 2).unwrap_or(0);
    let fill = |cache: &mut Vec<Vec<u8>>, random: &mut Random, from: usize, to: usize| {
        for _ in 0..steps {
            let entry = scope(|| {
                black_box(work(random));
                vec![1_u8; from + random.below(to - from)]
            });
            cache.push(entry);
            meter::step();
        }
    };
    let mut cache = Vec::new();
    fill(&mut cache, &mut random, 100, 1_500);
    let mut place = 0;
    cache.retain(|_| {
        place += 1;
        place % share == 0
    });
    meanwhile();
    fill(&mut cache, &mut random, 60, 1_300);
    total(cache.iter().map(|entry| entry.len() as u64))
}

pub(super) fn expired_and_filled_again() -> u64 {
    expired_and_filled(10, plain_work)
}

pub(super) fn expired_and_filled_after_sleep() -> u64 {
    expired_and_filled(60, nothing)
}

/// Scopes that take 200 MB each, as many as there are steps.
fn burst(make: fn() -> u64, then: fn()) -> u64 {
    let sum = each_step(|_, _, sum| *sum += scope(make));
    rest(then);
    sum
}

fn small_blocks() -> u64 {
    let blocks: Vec<Vec<u64>> = (0..500_000).map(|number| vec![number; 50]).collect();
    black_box(&blocks).iter().map(|block| block[7]).sum()
}

fn large_blocks() -> u64 {
    let blocks: Vec<Vec<u64>> = (0..200).map(|number| vec![number; 125_000]).collect();
    black_box(&blocks).iter().map(|block| block[7]).sum()
}

pub(super) fn burst_then_nothing() -> u64 {
    burst(small_blocks, nothing)
}

pub(super) fn burst_then_work() -> u64 {
    burst(small_blocks, plain_work)
}

pub(super) fn burst_then_scopes() -> u64 {
    burst(small_blocks, ten_scopes_a_second)
}

pub(super) fn large_burst_then_nothing() -> u64 {
    burst(large_blocks, nothing)
}

/// Blocks outlive their scope and are dropped in no scope.
pub(super) fn kept_then_dropped() -> u64 {
    let kept: Vec<Vec<u8>> = (0..meter::steps())
        .map(|step| {
            meter::step();
            scope(|| {
                let temporaries: Vec<_> = (0..8).map(|_| vec![1_u8; 900]).collect();
                vec![temporaries[0][0]; 500 + usize::try_from(step % 900).unwrap_or(0)]
            })
        })
        .collect();
    let sum = total(kept.iter().map(|block| block.len() as u64));
    drop(kept);
    rest(nothing);
    sum
}

/// Threads in turn leave a few blocks each. Then one thread opens scopes, which keep as much again.
pub(super) fn left_by_ended_threads() -> u64 {
    let leave = |number: u64| {
        scope(|| {
            let blocks: Vec<Vec<u64>> = (0..300).map(|_| vec![number; 25]).collect();
            blocks.into_iter().step_by(100).collect::<Vec<_>>()
        })
    };
    let (mut kept, mut random) = (Vec::new(), Random::new(5));
    for number in 0..meter::steps() / 2 {
        kept.extend(thread::spawn(move || leave(number)).join().expect("it ends"));
        meter::step();
    }
    plain_work();
    for _ in 0..meter::steps() / 2 {
        kept.push(scope(|| {
            black_box(work(&mut random));
            vec![1; 100 + random.below(200)]
        }));
        meter::step();
    }
    rest(nothing);
    total(kept.iter().map(|block| block.len() as u64))
}
