//! Buffers: sizes that drift, blocks that shrink, alternating alignments, large blocks beside small
//! ones.

use super::{each_step, in_scopes, keep, replace, total};
use crate::{
    inputs::{Random, answer, work},
    meter, process,
    scopes::scope,
};
use std::{collections::VecDeque, hint::black_box};

/// One long scope: two vectors with spare capacity become boxed slices, again and again.
pub(super) fn boxed_slices() -> u64 {
    scope(|| {
        each_step(|step, _, sum| {
            let mut one: Vec<u64> = Vec::with_capacity(100);
            let mut other: Vec<u64> = Vec::with_capacity(100);
            one.extend(0..step % 60);
            other.extend(0..step % 30);
            // The first vector is not the last block when it shrinks.
            let (one, other) = (one.into_boxed_slice(), other.into_boxed_slice());
            *sum += (one.len() + other.len()) as u64;
        })
    })
}

/// A scope per request makes boxed slices; a line of each is kept.
pub(super) fn lines_of_boxed_slices() -> u64 {
    let mut kept = VecDeque::new();
    each_step(|_, random, sum| {
        let line = scope(|| {
            let vectors: Vec<Vec<usize>> = (0..12)
                .map(|_| {
                    let mut items = Vec::with_capacity(100);
                    items.extend((0..10 + random.below(50)).map(|n| n * n));
                    items
                })
                .collect();
            let slices = vectors.into_iter().map(Vec::into_boxed_slice);
            let slices: Vec<Box<[usize]>> = slices.collect();
            *sum += total(slices.iter().map(|slice| slice.len() as u64));
            random.words(4)
        });
        keep(&mut kept, line, 5_000);
    })
}

#[repr(align(64))]
struct Line([u64; 8]);

/// One long scope: boxes of 64 bytes, alternately aligned to 64 and to 8.
pub(super) fn alignments_in_turn() -> u64 {
    scope(|| {
        let mut aligned = VecDeque::new();
        let mut small = VecDeque::new();
        let mut plain = VecDeque::new();
        each_step(|step, _, sum| {
            aligned.push_back(Box::new(Line([step; 8])));
            // Otherwise the next block might be aligned to 64 by chance.
            small.push_back(Box::new([step; 3]));
            plain.push_back(Box::new([step; 8]));
            if plain.len() > 10 {
                *sum += aligned.pop_front().map_or(0, |line| line.0[0]);
                small.pop_front();
                // Freed last, so that a last-in, first-out list serves it first.
                *sum += plain.pop_front().map_or(0, |line| line[0]);
            }
        })
    })
}

/// Keeps blocks of every alignment up to 512 for a while.
pub(super) fn mixed_alignments() -> u64 {
    #[repr(align(128))]
    struct Wide([u8; 128]);
    #[repr(align(512))]
    struct Sector([u8; 512]);
    enum Block {
        Byte(Box<u8>),
        Word(Box<u64>),
        Line(Box<Line>),
        Wide(Box<Wide>),
        Sector(Box<Sector>),
        Text(String),
    }
    let mut kept = VecDeque::new();
    in_scopes(|step, random, sum| {
        work(random);
        for _ in 0..4 {
            kept.push_back(match random.below(6) {
                0 => Block::Byte(Box::new(1)),
                1 => Block::Word(Box::new(step)),
                2 => Block::Line(Box::new(Line([step; 8]))),
                3 => Block::Wide(Box::new(Wide([2; 128]))),
                4 => Block::Sector(Box::new(Sector([3; 512]))),
                _ => Block::Text(random.words(6)),
            });
            if kept.len() > 40_000 {
                *sum += match kept.pop_front() {
                    Some(Block::Byte(byte)) => u64::from(*byte),
                    Some(Block::Word(word)) => *word,
                    Some(Block::Line(line)) => line.0[7],
                    Some(Block::Wide(wide)) => u64::from(wide.0[127]),
                    Some(Block::Sector(sector)) => u64::from(sector.0[511]),
                    Some(Block::Text(text)) => text.len() as u64,
                    None => 0,
                };
            }
        }
    })
}

/// A queue of buffers whose sizes drift from 100 bytes to 3 KiB and back.
fn drifting(step: u64, random: &mut Random) -> Vec<u8> {
    let phase = usize::try_from(step / 20 % 6_000).unwrap_or(0);
    let size = 100 + phase.min(6_000 - phase) + random.below(64);
    vec![1; size]
}

fn drift(around: impl Fn(&mut dyn FnMut())) -> u64 {
    let mut queue = VecDeque::new();
    each_step(|step, random, sum| {
        around(&mut || {
            let buffer = drifting(step, random);
            *sum += buffer.len() as u64;
            keep(&mut queue, buffer, 20_000);
        });
    })
}

/// Everything in one long scope.
pub(super) fn drifting_in_one_scope() -> u64 {
    scope(|| drift(|work| work()))
}

/// A scope per buffer.
pub(super) fn drifting_over_scopes() -> u64 {
    drift(|work| scope(work))
}

/// The bytes in the queue of [`fall`].
const QUEUED: usize = 100 << 20;

/// A queue of [`QUEUED`] bytes in buffers whose sizes fall from `largest` to `smallest`, `falls`
/// times.
fn fall((largest, smallest): (usize, usize), falls: u64, around: impl Fn(&mut dyn FnMut())) -> u64 {
    let mut queue = VecDeque::new();
    let mut queued = 0;
    let mut random = Random::new(1);
    let mut sum = 0;
    let period = (meter::steps() / falls).max(1);
    let mut step = 0;
    while step < meter::steps() {
        around(&mut || {
            for _ in 0..4 {
                let left = period - step % period;
                let above = (largest - smallest) as u64 * left / period;
                let size = smallest + usize::try_from(above).unwrap_or(0) + random.below(64);
                queue.push_back(vec![1_u8; size]);
                queued += size;
                while queued > QUEUED {
                    queued -= queue.pop_front().map_or(queued, |buffer| buffer.len());
                }
                sum += size as u64;
                step += 1;
                meter::step();
            }
        });
    }
    sum
}

/// A scope for each four buffers.
pub(super) fn falling_over_scopes() -> u64 {
    fall((60_000, 4_000), 1, |work| scope(work))
}

/// The same in one long scope, again and again.
pub(super) fn falling_in_one_scope() -> u64 {
    scope(|| fall((60_000, 4_000), 4, |work| work()))
}

/// 200,000 buffers of 50 to 500 bytes in one long scope, replaced at random.
pub(super) fn replaced_in_one_scope() -> u64 {
    const LIVE: usize = 200_000;
    scope(|| {
        let mut live: Vec<Vec<u8>> = Vec::with_capacity(LIVE);
        each_step(|_, random, sum| {
            let buffer = vec![1; 50 + random.below(450)];
            *sum += buffer.len() as u64;
            replace(&mut live, buffer, LIVE, random);
        })
    })
}

/// Large blocks, a scope for each four.
pub(super) fn falling_large() -> u64 {
    fall((2_000_000, 100_000), 2, |work| scope(work))
}

fn kept_beside(most: usize, mut make: impl FnMut(&mut Random) -> Vec<u8>) -> u64 {
    let mut kept = VecDeque::new();
    each_step(|_, random, sum| {
        let buffer = scope(|| make(random));
        *sum += buffer.len() as u64;
        keep(&mut kept, buffer, most);
    })
}

/// Kept vectors grow to 10 kB beside temporaries that grow to 200 kB.
pub(super) fn grown_beside_larger() -> u64 {
    kept_beside(6_000, |random| {
        let (mut kept, mut temporary) = (Vec::new(), Vec::new());
        for _ in 0..50 + random.below(50) {
            kept.extend_from_slice(black_box(&[7; 100]));
            temporary.extend_from_slice(black_box(&[8; 2_000]));
        }
        black_box(&temporary);
        kept
    })
}

/// Kept buffers of 10 kB beside small temporaries of 150 kB together.
pub(super) fn kept_beside_small() -> u64 {
    kept_beside(7_000, |random| {
        let temporaries: Vec<_> = (0..40).map(|_| answer(random)).collect();
        vec![1; 9_000 + temporaries.len() + random.below(2_000)]
    })
}

/// 3,000 kept vectors of 20 kB on a system that uses huge pages.
pub(super) fn huge_pages() -> u64 {
    let block = scope(|| Box::new(1_u64));
    process::want_huge_pages(&raw const *block as usize);
    kept_beside(3_000, |random| {
        work(random);
        vec![1; 19_000 + random.below(2_000)]
    })
}

/// Kept strings give up their spare capacity.
pub(super) fn shrunk_strings() -> u64 {
    let mut kept = VecDeque::new();
    in_scopes(|_, random, sum| {
        let mut body = answer(random).body;
        body.truncate(20 + random.below(200));
        body.shrink_to_fit();
        *sum += body.len() as u64;
        keep(&mut kept, body, 40_000);
    })
}

/// One long scope whose vectors alternately grow and shrink.
pub(super) fn grow_and_shrink() -> u64 {
    scope(|| {
        let mut vectors: Vec<Vec<u8>> = (0..2_000).map(|_| Vec::new()).collect();
        each_step(|_, random, sum| {
            let vector = &mut vectors[random.below(2_000)];
            if random.below(3) == 0 {
                vector.truncate(random.below(50));
                vector.shrink_to_fit();
            } else {
                vector.resize(vector.len() + random.below(500), 1);
            }
            *sum += vector.len() as u64;
        })
    })
}

/// Zeroed buffers of 1 KiB to 2 MiB, some of them kept.
pub(super) fn zeroed() -> u64 {
    let mut kept = VecDeque::new();
    in_scopes(|_, random, sum| {
        for _ in 0..4 {
            let size = 1 << (10 + random.below(12));
            let mut buffer = vec![0_u8; size];
            assert!(buffer[size / 2] == 0);
            buffer[random.below(size)] = 1;
            black_box(&buffer);
            *sum += size as u64;
            if random.below(8) == 0 && size <= 1 << 17 {
                kept.push_back(buffer);
            }
        }
        while kept.len() > 400 {
            kept.pop_front();
        }
    })
}

/// Large numeric temporaries, then only small scopes for a while, again and again.
pub(super) fn large_then_small() -> u64 {
    let mut kept = VecDeque::new();
    let round = (meter::steps() / 6).max(1);
    each_step(|step, random, sum| {
        if step % round == 0 {
            *sum += scope(|| {
                let columns: Vec<Vec<u64>> = (0..10).map(|n| vec![n; 1 << 20]).collect();
                total(columns.iter().map(|column| column[7]))
            });
        }
        let record = scope(|| answer(random));
        keep(&mut kept, record, 3_000);
    })
}

/// Texts of up to 4 MiB that grow piece by piece, each in a scope; the last three are kept.
pub(super) fn grown_texts() -> u64 {
    let mut kept = VecDeque::new();
    in_scopes(|_, random, sum| {
        let pieces = 1 << random.below(14);
        let mut text = String::new();
        for _ in 0..pieces {
            text.push_str(black_box(&"0123456789abcdef".repeat(16)));
        }
        *sum += text.len() as u64;
        keep(&mut kept, text, 3);
    })
}

/// One block in 64 lives as long as the program.
pub(super) fn one_in_many_for_good() -> u64 {
    let mut kept = Vec::new();
    let half = meter::steps() / 2;
    in_scopes(|step, random, _| {
        let blocks: Vec<_> = (0..64).map(|_| random.words(3)).collect();
        // The first half of the run makes everything that is kept.
        if step < half {
            kept.extend(blocks.into_iter().next());
        }
    });
    total(kept.iter().map(|text| text.len() as u64))
}
