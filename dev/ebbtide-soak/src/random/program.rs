//! Runs a random program.
//!
//! Its checksum is the sum over all blocks that are made and freed, so it depends neither on the
//! allocator nor on the order of the threads.

use super::{
    keeper::{Block, Keeper},
    shape::{By, Freed, Kept, Order, SAMPLES, Shape, Store, Task, Way},
};
use crate::{
    inputs::Random,
    scopes::{polled, scope, unscoped},
};
use std::{
    collections::VecDeque,
    future::Future,
    hint::black_box,
    mem,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    thread,
};

/// The blocks that wait for another thread, before the thread that sends more frees the oldest.
const MOST_WAITING: usize = 4_096;

/// The site of the scopes around the loops.
const AROUND: usize = 8;

type Job = Pin<Box<dyn Future<Output = Hand> + Send>>;

/// Runs a program, each thread `turns` turns of its loop. Returns its checksum.
pub fn run(shape: Shape, turns: u64) -> u64 {
    let Shape { threads, around, order, tasks } = shape;
    let parts = tasks.into_iter().map(|task| Part::new(task, threads)).collect();
    // Futures refer to it, and may be dropped later than any frame.
    let parts: &'static [Part] = Box::leak::<'static>(Vec::into_boxed_slice(parts));
    let work = move |worker| {
        let mut sum = 0;
        let mut turns = || sum = work(parts, order, worker, turns);
        if around {
            open(AROUND, &mut turns)
        } else {
            turns()
        }
        sum
    };
    let sum = thread::scope(|scope| {
        let workers: Vec<_> =
            (1..threads).map(|worker| scope.spawn(move || work(worker))).collect();
        let own = work(0);
        workers.into_iter().fold(own, |sum: u64, worker| {
            sum.wrapping_add(worker.join().unwrap_or_else(|_| panic!("a thread panicked")))
        })
    });
    parts.iter().fold(sum, |sum, part| sum.wrapping_add(part.end()))
}

/// The loop of a thread. The same for each seed and worker, whatever the others do.
fn work(parts: &'static [Part], order: Order, worker: usize, turns: u64) -> u64 {
    let seed = |number: usize| (2 * worker + number) as u64;
    let mut hands: Vec<Hand> =
        parts.iter().enumerate().map(|(number, part)| Hand::new(part, seed(number))).collect();
    let mut choice = Random::new(seed(100));
    for turn in 0..turns {
        let second = match order {
            Order::Phases => turn >= turns / 2,
            Order::Mixed(one_in) => choice.one_in(one_in),
        };
        let number = usize::from(second).min(parts.len() - 1);
        parts[number].turn(&mut hands[number], worker);
    }
    for (part, hand) in parts.iter().zip(&mut hands) {
        while part.poll(hand, worker) {}
        part.settle(hand, worker);
    }
    hands.iter().fold(0, |sum, hand| sum.wrapping_add(hand.sum))
}

/// A task, and what its threads share.
struct Part {
    task: Task,
    /// Whether the next thread frees what the task kept.
    is_sent: bool,
    /// Whether the store is emptied in the scopes that fill it.
    evicts_in_scopes: bool,
    sizes: [usize; SAMPLES],
    /// One for each thread, or one for all.
    keepers: Vec<Mutex<Keeper>>,
    /// Blocks for each thread.
    waiting: Vec<Mutex<VecDeque<Block>>>,
    /// The futures of each thread, or those of all.
    jobs: Vec<Mutex<VecDeque<Job>>>,
}

impl Part {
    fn new(task: Task, threads: usize) -> Self {
        let keepers = task.kept.map_or(0, |kept| if kept.shared { 1 } else { threads });
        let keepers =
            (0..keepers).filter_map(|_| task.kept.map(Keeper::new)).map(Mutex::new).collect();
        let jobs = match task.way {
            Way::Nested(_) => 0,
            Way::Polled { shared: true, .. } => 1,
            Way::Polled { .. } => threads,
        };
        let is_sent =
            |kept: Kept| matches!(kept.by, By::Another) || matches!(kept.store, Store::Queue);
        let is_by_scope = task.kept.is_some_and(|kept| matches!(kept.by, By::Scope));
        Part {
            is_sent: task.kept.is_some_and(is_sent),
            evicts_in_scopes: is_by_scope && matches!(task.way, Way::Nested(_)),
            sizes: task.sizes.samples(),
            task,
            keepers,
            waiting: (0..threads).map(|_| Mutex::default()).collect(),
            jobs: (0..jobs).map(|_| Mutex::default()).collect(),
        }
    }

    fn turn(&'static self, hand: &mut Hand, worker: usize) {
        if self.is_sent {
            self.receive(hand, worker);
        }
        match &self.task.way {
            Way::Nested(levels) if levels.is_empty() => self.level(hand, worker, 0),
            Way::Nested(_) => open(4 * self.task.site, &mut || self.level(hand, worker, 1)),
            Way::Polled { .. } => {
                self.start_jobs(hand, worker);
                self.poll(hand, worker);
            }
        }
        if self.task.beyond > 0 {
            let mut live = Live::default();
            hand.make(self.task.beyond, &mut live);
            hand.end(live);
        }
        self.settle(hand, worker);
        hand.turn += 1;
    }

    /// What happens in a scope that is `depth` deep.
    fn level(&self, hand: &mut Hand, worker: usize, depth: usize) {
        let mut live = Live::default();
        let first = self.task.blocks.div_ceil(2);
        hand.make(first, &mut live);
        if let Way::Nested(levels) = &self.task.way {
            if let Some(level) = levels.get(depth) {
                for _ in 0..level.count {
                    let mut inner = || self.level(hand, worker, depth + 1);
                    if level.outside {
                        unscoped(inner);
                    } else {
                        open(4 * self.task.site + depth, &mut inner);
                    }
                }
            }
        }
        hand.make(self.task.blocks - first, &mut live);
        if self.task.kept.is_some_and(|kept| !kept.returned) {
            self.put(hand, worker);
        }
        if self.evicts_in_scopes {
            self.evict(hand, worker);
        }
        hand.end(live);
    }

    /// Puts what is left into the store, and evicts what is too much, outside of the turn's scopes.
    fn settle(&self, hand: &mut Hand, worker: usize) {
        self.put(hand, worker);
        if !self.evicts_in_scopes {
            self.evict(hand, worker);
        }
    }

    fn keeper(&self, worker: usize) -> Option<MutexGuard<'_, Keeper>> {
        Some(lock(self.keepers.get(worker % self.keepers.len().max(1))?))
    }

    fn put(&self, hand: &mut Hand, worker: usize) {
        if hand.kept.is_empty() {
            return;
        }
        let Some(mut keeper) = self.keeper(worker) else { return };
        let mut kept = mem::take(&mut hand.kept);
        for block in kept.drain(..) {
            hand.free_any(keeper.put(block));
        }
        hand.kept = kept;
        hand.is_over = keeper.is_over();
        if self.task.kept.is_some_and(|kept| kept.grows) {
            keeper.grow();
        }
    }

    fn evict(&self, hand: &mut Hand, worker: usize) {
        if !mem::take(&mut hand.is_over) {
            return;
        }
        let Some(mut keeper) = self.keeper(worker) else { return };
        while let Some(block) = keeper.evict() {
            if self.is_sent {
                let next = (worker + 1) % self.waiting.len();
                let mut waiting = lock(&self.waiting[next]);
                waiting.push_back(block);
                if waiting.len() > MOST_WAITING {
                    hand.free_any(waiting.pop_front());
                }
            } else {
                hand.free(block);
            }
        }
    }

    /// Frees the blocks that another thread sent.
    fn receive(&self, hand: &mut Hand, worker: usize) {
        let waiting = mem::take(&mut *lock(&self.waiting[worker]));
        for block in waiting {
            hand.free(block);
        }
    }

    /// Starts all futures in the first turn, and then as many as end.
    fn start_jobs(&'static self, hand: &mut Hand, worker: usize) {
        let Way::Polled { futures, polls, .. } = self.task.way else { return };
        let started = match hand.turn {
            0 => futures,
            turn => usize::from(turn % (polls + 1) == 0),
        };
        for _ in 0..started {
            let seed = hand.random.number();
            let job: Job = match self.task.site {
                0 => polled(job::<0>(self, seed)),
                _ => polled(job::<1>(self, seed)),
            };
            lock(&self.jobs[worker % self.jobs.len()]).push_back(job);
        }
    }

    /// Polls the next future. False if there is none.
    fn poll(&self, hand: &mut Hand, worker: usize) -> bool {
        let Some(jobs) = self.jobs.get(worker % self.jobs.len().max(1)) else { return false };
        let next = lock(jobs).pop_front();
        let Some(mut job) = next else { return false };
        match job.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => lock(jobs).push_back(job),
            Poll::Ready(done) => {
                hand.sum = hand.sum.wrapping_add(done.sum);
                hand.kept.extend(done.kept);
            }
        }
        true
    }

    /// Frees what is left at the end of the program.
    fn end(&'static self) -> u64 {
        let mut hand = Hand::new(self, 0);
        for keeper in &self.keepers {
            let mut keeper = lock(keeper);
            while let Some(block) = keeper.take() {
                hand.free(block);
            }
        }
        for worker in 0..self.waiting.len() {
            self.receive(&mut hand, worker);
        }
        hand.sum
    }
}

/// A future: some blocks in each poll, which live until it ends.
async fn job<const SITE: usize>(part: &'static Part, seed: u64) -> Hand {
    let mut hand = Hand::new(part, seed);
    let mut live = Live::default();
    let Way::Polled { polls, .. } = part.task.way else { return hand };
    for _ in 0..polls {
        hand.make(part.task.blocks, &mut live);
        tokio::task::yield_now().await;
    }
    hand.end(live);
    hand
}

/// Temporaries.
#[derive(Default)]
struct Live {
    /// The only one, if one may be alive.
    single: Block,
    blocks: VecDeque<Block>,
    text: Block,
}

/// Makes and frees the blocks of one thread or future, and sums them up.
struct Hand {
    part: &'static Part,
    random: Random,
    sum: u64,
    turn: usize,
    /// Blocks that are not in a store yet.
    kept: Vec<Block>,
    /// Whether the store has more than it may.
    is_over: bool,
}

impl Hand {
    fn new(part: &'static Part, seed: u64) -> Self {
        Hand { part, random: Random::new(seed), sum: 0, turn: 0, kept: Vec::new(), is_over: false }
    }

    /// Makes `count` blocks. Those that are not kept become temporaries.
    fn make(&mut self, count: usize, live: &mut Live) {
        let task = &self.part.task;
        for _ in 0..count {
            let block = self.block();
            for _ in 1..task.passes {
                self.add(black_box(&block).iter().map(|&byte| u64::from(byte)).sum());
            }
            for _ in 0..task.compute {
                let number = self.random.number();
                self.add(number);
            }
            if task.text {
                live.text.extend_from_slice(&[2; 24]);
            }
            if task.kept.is_some_and(|kept| self.random.one_in(kept.one_in)) {
                self.kept.push(block);
                continue;
            }
            if task.live == 1 {
                self.free(mem::replace(&mut live.single, block));
                continue;
            }
            if live.blocks.len() >= task.live {
                let freed = match task.freed {
                    Freed::Newest => live.blocks.pop_back(),
                    Freed::Oldest => live.blocks.pop_front(),
                    Freed::Any => {
                        live.blocks.swap_remove_back(self.random.below(live.blocks.len()))
                    }
                };
                self.free_any(freed);
            }
            live.blocks.push_back(block);
        }
    }

    fn block(&mut self) -> Block {
        let (task, sizes) = (&self.part.task, &self.part.sizes);
        let number = self.random.number();
        let [.., high, low, byte] = number.to_be_bytes();
        let size = sizes[usize::from(u16::from_be_bytes([high, low])) % sizes.len()];
        let len = if task.passes == 0 { size.min(16) } else { size };
        match task.growth {
            Some(growth) if self.random.one_in(growth.one_in) => {
                let piece = size.div_ceil(growth.pieces);
                let mut block = Vec::new();
                while block.len() < size {
                    block.resize(size.min(block.len() + piece), byte);
                }
                if growth.shrinks {
                    block.shrink_to_fit();
                }
                block
            }
            _ => {
                let mut block = Vec::with_capacity(size);
                block.resize(len, byte);
                block
            }
        }
    }

    /// Frees temporaries, or keeps their text.
    fn end(&mut self, live: Live) {
        self.free(live.single);
        for block in live.blocks {
            self.free(block);
        }
        let task = &self.part.task;
        if task.text && task.kept.is_some_and(|kept| self.random.one_in(kept.one_in)) {
            self.kept.push(live.text);
        } else {
            self.free(live.text);
        }
    }

    fn free(&mut self, block: Block) {
        let ends = [block.first(), block.last()];
        self.add(ends.into_iter().flatten().map(|&byte| u64::from(byte)).sum());
        self.add(block.len() as u64);
    }

    fn free_any(&mut self, block: Option<Block>) {
        if let Some(block) = block {
            self.free(block);
        }
    }

    fn add(&mut self, number: u64) {
        self.sum = self.sum.wrapping_add(number);
    }
}

/// Runs `f` in a scope. Each site has a closure and a line of its own, like scopes in different
/// places of a program.
fn open(site: usize, f: &mut dyn FnMut()) {
    match site {
        0 => at::<0>(f),
        1 => at::<1>(f),
        2 => at::<2>(f),
        3 => at::<3>(f),
        4 => at::<4>(f),
        5 => at::<5>(f),
        6 => at::<6>(f),
        7 => at::<7>(f),
        _ => at::<AROUND>(f),
    }
}

#[track_caller]
#[allow(clippy::redundant_closure, reason = "the closure's type is the site")]
fn at<const SITE: usize>(f: &mut dyn FnMut()) {
    scope(|| f());
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
