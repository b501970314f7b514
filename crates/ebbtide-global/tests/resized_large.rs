//! Claim: no byte is handed out twice or lost, and zeroed blocks are zero, while threads resize
//! blocks of all sizes, free each other's, and memory goes back to the system meanwhile.
//!
//! `EBBTIDE_STRESS_ROUNDS=1000` makes the run longer, `EBBTIDE_STRESS_SEED` changes it, and with
//! `EBBTIDE_STRESS_RETAIN` the pools keep sometimes much and sometimes nothing.

#![cfg(target_pointer_width = "64")]

#[cfg(target_os = "linux")]
use crate::resident::resident_in_arenas;
use ebbtide_global::{Options, arena, arena_with, outside, release_pool, report, retain};
use ebbtide_patience::eventually;
use std::{
    alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc},
    env,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

/// The number of rounds: enough that each check of a round runs.
const ROUNDS: u64 = 9;

/// A block, filled with a pattern that depends on its seed and the offset.
struct Block {
    start: *mut u8,
    layout: Layout,
    seed: u64,
}

// SAFETY: a block is a plain owner of memory.
unsafe impl Send for Block {}

fn word(seed: u64, index: usize) -> u64 {
    (seed ^ index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Block {
    fn new(size: usize, align: usize, seed: u64, zeroed: bool) -> Block {
        let layout = Layout::from_size_align(size, align).unwrap();
        let serve = if zeroed { alloc_zeroed } else { alloc };
        // SAFETY: the size is not 0.
        let start = unsafe { serve(layout) };
        assert!(!start.is_null() && start.addr() % align == 0);
        let block = Block { start, layout, seed };
        if zeroed {
            assert!(block.bytes(size).iter().all(|&byte| byte == 0), "{size} bytes are not zero");
        }
        block.fill(0);
        block
    }

    #[allow(clippy::mut_from_ref)]
    fn bytes(&self, size: usize) -> &mut [u8] {
        // SAFETY: alive, and this large; initialised by the kernel or by `fill`.
        unsafe { std::slice::from_raw_parts_mut(self.start, size) }
    }

    fn fill(&self, from: usize) {
        let bytes = self.bytes(self.layout.size());
        let seed = self.seed;
        for (index, chunk) in bytes.chunks_mut(8).enumerate().skip(from / 8) {
            chunk.copy_from_slice(&word(seed, index).to_ne_bytes()[..chunk.len()]);
        }
    }

    fn check(&self, size: usize) {
        for (index, chunk) in self.bytes(size).chunks(8).enumerate() {
            let expected = word(self.seed, index).to_ne_bytes();
            assert!(chunk == &expected[..chunk.len()], "damaged at {} of {size}", index * 8);
        }
    }

    fn resize(&mut self, size: usize) {
        let kept = self.layout.size().min(size);
        // SAFETY: alive, with this layout, and the size is not 0.
        let start = unsafe { realloc(self.start, self.layout, size) };
        assert!(!start.is_null());
        self.start = start;
        self.layout = Layout::from_size_align(size, self.layout.align()).unwrap();
        self.check(kept);
        self.fill(kept);
    }

    fn free(self) {
        self.check(self.layout.size());
        // SAFETY: alive, with this layout, and not used again.
        unsafe { dealloc(self.start, self.layout) };
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap() % end
    }

    /// Up to 8 MiB, small ones more often.
    fn size(&mut self) -> usize {
        let log = match self.below(64) {
            0..=31 => self.below(10),
            32..=47 => 10 + self.below(6),
            48..=62 => 14 + self.below(5),
            _ => 18 + self.below(5),
        };
        (1 << log) + self.below(1 << log)
    }

    fn near(&mut self, size: usize) -> usize {
        match self.below(6) {
            0 => self.size(),
            1 => size / 2 + 1,
            2 => size - size / 4,
            3 => size - size / 10,
            4 => (size + self.below(size) + 1).min(8 << 20),
            _ => self.below(size) + 1,
        }
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
                let size = self.random.size();
                let align = 1 << [0, 3, 3, 3, 4, 6, 9, 12][self.random.below(8)];
                let (seed, zeroed) = (self.random.next(), self.random.below(3) == 0);
                let block = Block::new(size, align, seed, zeroed);
                self.put(block);
            }
            6..=10 if count > 0 => {
                let at = self.random.below(count);
                let mut block = self.take(at);
                let size = self.random.near(block.layout.size());
                block.resize(size);
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
                        let size = self.random.near(block.layout.size());
                        block.resize(size);
                    }
                    if self.random.below(3) == 0 { block.free() } else { self.put(block) }
                }
            }
            _ if count > 0 => {
                let at = self.random.below(count);
                self.take(at).free();
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
    let rounds = env::var("EBBTIDE_STRESS_ROUNDS").ok().and_then(|text| text.parse().ok());
    let seed = env::var("EBBTIDE_STRESS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for round in 1..=rounds.unwrap_or(ROUNDS) {
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
                    let random = Random((seed * 1000 + round) * 16 + number as u64 + 1);
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
                    blocks.into_iter().for_each(Block::free);
                    arriving.iter().for_each(Block::free);
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
