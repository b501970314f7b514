//! Claim: no byte is handed out twice or lost, and zeroed blocks are zero, while threads resize
//! blocks of all sizes, free each other's, and memory goes back to the system meanwhile.
//!
//! `EBBTIDE_STRESS_ROUNDS=1000` makes the run longer, `EBBTIDE_STRESS_SEED` changes it, and with
//! `EBBTIDE_STRESS_RETAIN` the pools keep sometimes much and sometimes nothing.

#![cfg(target_pointer_width = "64")]

#[cfg(target_os = "linux")]
use crate::resident::resident_in_arenas;
use crate::{
    ALLOC,
    filled::{Block, Random, number},
};
use ebbtide_global::{Options, arena, arena_with, outside, release_pool, report, retain};
use ebbtide_patience::eventually;
use std::{
    alloc::Layout,
    env,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

/// The number of rounds: enough that each check of a round runs.
const ROUNDS: u64 = 9;

/// Up to 8 MiB, small ones more often.
fn size(random: &mut Random) -> usize {
    let log = match random.below(64) {
        0..=31 => random.below(10),
        32..=47 => 10 + random.below(6),
        48..=62 => 14 + random.below(5),
        _ => 18 + random.below(5),
    };
    (1 << log) + random.below(1 << log)
}

fn near(random: &mut Random, old: usize) -> usize {
    match random.below(6) {
        0 => size(random),
        1 => old / 2 + 1,
        2 => old - old / 4,
        3 => old - old / 10,
        4 => (old + random.below(old) + 1).min(8 << 20),
        _ => random.below(old) + 1,
    }
}

struct Worker {
    random: Random,
    blocks: Vec<Block>,
    bytes: usize,
    next: Sender<Block>,
    arriving: Receiver<Block>,
}

impl Worker {
    fn take(&mut self, at: usize) -> Block {
        let block = self.blocks.swap_remove(at);
        self.bytes -= block.layout.size();
        block
    }

    fn put(&mut self, block: Block) {
        self.bytes += block.layout.size();
        outside(|| self.blocks.push(block));
    }

    fn step(&mut self) {
        let count = self.blocks.len();
        let full = self.bytes > 24 << 20 || count > 3000;
        match self.random.below(16) {
            0..=5 if !full => {
                let align = 1 << [0, 3, 3, 3, 4, 6, 9, 12][self.random.below(8)];
                let layout = Layout::from_size_align(size(&mut self.random), align).unwrap();
                let is_zeroed = self.random.is_one_in(3);
                let alloc = if is_zeroed { Block::alloc_zeroed } else { Block::alloc };
                let block = alloc(&ALLOC, layout, self.random.next());
                self.put(block);
            }
            6..=10 if count > 0 => {
                let at = self.random.below(count);
                let mut block = self.take(at);
                let size = near(&mut self.random, block.layout.size());
                block.resize(&ALLOC, size);
                self.put(block);
            }
            11 if count > 0 => {
                let at = self.random.below(count);
                let block = self.take(at);
                outside(|| self.next.send(block).unwrap());
            }
            12 => {
                while let Ok(mut block) = outside(|| self.arriving.try_recv()) {
                    if self.random.below(2) == 0 {
                        let size = near(&mut self.random, block.layout.size());
                        block.resize(&ALLOC, size);
                    }
                    if self.random.below(3) == 0 { block.free(&ALLOC) } else { self.put(block) }
                }
            }
            _ if count > 0 => {
                let at = self.random.below(count);
                self.take(at).free(&ALLOC);
            }
            _ => {}
        }
    }

    fn scope(&mut self, depth: usize) {
        let steps = self.random.below(80);
        for _ in 0..steps {
            match self.random.below(100) {
                0..=1 if depth < 3 => match self.random.below(4) {
                    0 => arena_with(&Options::new().byte_limit(self.random.below(1 << 22)), || {
                        self.scope(depth + 1)
                    }),
                    1 => outside(|| self.scope(depth + 1)),
                    _ => arena(|| self.scope(depth + 1)),
                },
                2 if self.random.below(40) == 0 => release_pool(),
                _ => self.step(),
            }
        }
    }
}

#[test]
fn blocks_keep_their_bytes_while_they_are_resized_and_memory_goes_back() {
    alone!();
    let seed = number("EBBTIDE_STRESS_SEED").unwrap_or(1);
    for round in 1..=number("EBBTIDE_STRESS_ROUNDS").unwrap_or(ROUNDS) {
        if env::var("EBBTIDE_STRESS_RETAIN").is_ok() {
            retain([0, 1 << 20, 64 << 20, 16 << 20][usize::try_from(round % 4).unwrap()]);
        }
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| channel()).unzip();
        let mut senders = senders;
        senders.rotate_left(1);
        let workers: Vec<_> = senders
            .into_iter()
            .zip(receivers)
            .enumerate()
            .map(|(number, (next, arriving))| {
                thread::spawn(move || {
                    let random = Random::new((seed * 1000 + round) * 16 + number as u64 + 1);
                    let mut worker =
                        Worker { random, blocks: Vec::new(), bytes: 0, next, arriving };
                    for _ in 0..20 {
                        if worker.random.below(8) == 0 {
                            worker.scope(1)
                        } else {
                            arena(|| worker.scope(0))
                        }
                    }
                    let Worker { blocks, next, arriving, .. } = worker;
                    drop(next);
                    blocks.into_iter().for_each(|block| block.free(&ALLOC));
                    arriving.iter().for_each(|block| block.free(&ALLOC));
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        let quiet = report();
        assert_eq!(quiet.shrunk, 0, "no block is alive: {quiet}");
        assert_eq!(quiet.live, 0, "{quiet}");
        assert!(quiet.held < 1 << 40 && quiet.kept <= quiet.held, "{quiet:?}");
        assert_eq!(quiet.escapes.pinned_chunks, 0, "{quiet}");
        #[cfg(target_os = "linux")]
        if round % 8 == 1 {
            // Read first: the helper thread may give memory back meanwhile.
            let held = report().held;
            let resident = resident_in_arenas().unwrap();
            assert!(resident <= held + (1 << 20), "{resident} bytes are resident, {held} held");
        }
        if round % 3 == 0 {
            // The helper thread may have runs in hand that it is about to give back.
            let is_released = eventually(|| {
                release_pool();
                report().held <= 1 << 20
            });
            assert!(is_released, "{}", report());
        }
    }
    println!("{}", report());
}
