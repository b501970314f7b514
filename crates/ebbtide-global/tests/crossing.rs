//! Claim: threads with owners of their own may allocate, resize and free each other's blocks in any
//! order, in scopes that end in any order, are closed and reopened, and in owners that end. No two
//! live blocks overlap, each keeps its bytes, zeroed blocks are zero, and when all are freed, no
//! chunk is pinned and no byte counts as live.
//!
//! `EBBTIDE_CROSSING_STEPS=10000000 cargo test --release -p ebbtide-global --test all crossing::` is
//! the long run.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::{Block, Random, Through, number, started};
use ebbtide_global::{
    Options,
    engine::{Owner, Ticket},
    report, set_skipping,
};
use std::{
    alloc::Layout,
    collections::VecDeque,
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering},
    thread,
};

const THREADS: u64 = 4;

/// Blocks that a thread keeps to itself.
const HELD: usize = 300;

/// Blocks on their way to another thread.
static PASSED: [Passed; 8] = [const { Passed(AtomicPtr::new(ptr::null_mut())) }; 8];

/// A stack of blocks that any thread may push to, and take as a whole.
struct Passed(AtomicPtr<Node>);

struct Node {
    block: Block,
    next: *mut Node,
}

impl Passed {
    fn push(&self, block: Block) {
        let node = Box::into_raw(Box::new(Node { block, next: ptr::null_mut() }));
        let mut head = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is not pushed yet, so it is this thread's.
            unsafe { (*node).next = head };
            match self.0.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn take(&self) -> Vec<Block> {
        let mut next = self.0.swap(ptr::null_mut(), Ordering::Acquire);
        let mut blocks = Vec::new();
        while !next.is_null() {
            // SAFETY: the node came from a `Box`, and the thread that took the stack owns it.
            let node = unsafe { Box::from_raw(next) };
            next = node.next;
            blocks.push(node.block);
        }
        blocks
    }
}

fn size(random: &mut Random) -> usize {
    match random.below(64) {
        0..32 => 1 + random.below(128),
        32..48 => 1 + random.below(1100),
        48..58 => 1 + random.below(9000),
        58..62 => 1 + random.below(70_000),
        _ => 1 + random.below(400_000),
    }
}

/// A thread's part.
struct Player {
    random: Random,
    owner: Owner,
    tickets: Vec<Ticket>,
    held: VecDeque<Block>,
}

impl Player {
    fn new(seed: u64) -> Player {
        let random = Random::new(seed);
        Player { random, owner: started(), tickets: Vec::new(), held: VecDeque::new() }
    }

    fn options(&mut self) -> Options {
        // Sites are measured and skipped, and so are the units of long scopes.
        let options = Options::new().site([0, 1, 2, 3][self.random.below(4)]);
        match self.random.below(10) {
            0 => options.min_size(100),
            1 => options.max_size(size(&mut self.random)),
            2 => options.byte_limit(self.random.below(1 << 20)),
            _ => options,
        }
    }

    fn alloc(&mut self) -> Block {
        let align = if self.random.is_one_in(8) { 1 << self.random.below(14) } else { 8 };
        let layout = Layout::from_size_align(size(&mut self.random), align).unwrap();
        let alloc = if self.random.is_one_in(4) { Block::alloc_zeroed } else { Block::alloc };
        alloc(&Through(&self.owner), layout, self.random.next())
    }

    fn alloc_up_to(&mut self, largest: usize) -> Block {
        let layout = Layout::from_size_align(1 + self.random.below(largest), 8).unwrap();
        Block::alloc(&Through(&self.owner), layout, self.random.next())
    }

    fn resize(&mut self, block: &mut Block) {
        let old = block.layout.size();
        let size = match self.random.below(4) {
            0 => size(&mut self.random),
            1 => old + 1 + self.random.below(64),
            2 => 2 * old,
            _ => 1 + self.random.below(old),
        };
        if size <= 4 << 20 {
            block.resize(&Through(&self.owner), size);
        }
    }

    /// A scope that keeps one block in `kept`.
    fn keep_little(&mut self) {
        let ticket = self.owner.enter(&Options::new().site(5));
        // Larger blocks pin so much memory that the bound closes scopes.
        let largest = [200, 200, 1500, 9000][self.random.below(4)];
        let (blocks, kept) = (self.random.below(2000), 1 + self.random.below(40));
        for number in 0..blocks {
            let block = self.alloc_up_to(largest);
            if number % kept == 0 {
                self.held.push_back(block);
            } else {
                block.free(&Through(&self.owner));
            }
        }
        self.leave(ticket);
    }

    /// A scope whose blocks are freed from the oldest to the newest, some by other threads.
    fn queue(&mut self) {
        let ticket = self.owner.enter(&Options::new().site(6));
        let mut queue = VecDeque::new();
        let largest = [200, 2000][self.random.below(2)];
        let length = 1 + self.random.below(3000);
        for _ in 0..self.random.below(12_000) {
            queue.push_back(self.alloc_up_to(largest));
            if queue.len() > length {
                let oldest = queue.pop_front().unwrap();
                if self.random.below(50) == 0 {
                    self.pass(oldest);
                } else {
                    oldest.free(&Through(&self.owner));
                }
            }
        }
        self.leave(ticket);
        queue.into_iter().for_each(|block| block.free(&Through(&self.owner)));
    }

    fn leave(&mut self, ticket: Option<Ticket>) {
        match (ticket, self.random.below(8)) {
            // The scope is left later, in any order, or never.
            (Some(ticket), 0) => self.tickets.push(ticket),
            (Some(ticket), _) => self.owner.leave(ticket),
            (None, _) => {}
        }
    }

    fn pass(&mut self, block: Block) {
        let place = &PASSED[self.random.below(PASSED.len())];
        place.push(block);
        if self.random.below(40) == 0 {
            place.take().into_iter().for_each(|block| block.free(&Through(&self.owner)));
        }
    }

    fn receive(&mut self) {
        let place = &PASSED[self.random.below(PASSED.len())];
        self.held.extend(place.take());
    }

    fn step(&mut self) {
        match self.random.below(1000) {
            0..400 => {
                let block = self.alloc();
                self.held.push_back(block);
            }
            400..700 => {
                if let Some(block) = self.take() {
                    block.free(&Through(&self.owner));
                }
            }
            700..800 => {
                let newest = if self.random.below(2) == 0 { self.held.pop_back() } else { None };
                if let Some(mut block) = newest.or_else(|| self.take()) {
                    self.resize(&mut block);
                    self.held.push_back(block);
                }
            }
            800..860 => {
                if let Some(block) = self.take() {
                    self.pass(block);
                }
            }
            860..880 => self.receive(),
            880..930 => {
                let options = self.options();
                self.tickets.extend(self.owner.enter(&options));
            }
            930..945 => self.tickets.extend(self.owner.enter_outside()),
            945..985 => {
                // Occasionally the last one twice, or any earlier one.
                let ticket = match self.random.below(8) {
                    0 => self.tickets.last().copied(),
                    1 if !self.tickets.is_empty() => {
                        let which = self.random.below(self.tickets.len());
                        Some(self.tickets[which])
                    }
                    _ => self.tickets.pop(),
                };
                ticket.into_iter().for_each(|ticket| self.owner.leave(ticket));
            }
            985..990 => self.keep_little(),
            990..992 => self.queue(),
            992..996 => {
                self.tickets.drain(..).rev().for_each(|ticket| self.owner.leave(ticket));
            }
            996 => self.owner.release_pools(),
            997 => {
                // Replaces the owner. The old one ends with its open scopes, here or on another
                // thread.
                let old = mem::replace(&mut self.owner, started());
                if self.random.below(2) == 0 {
                    thread::spawn(move || drop(old)).join().unwrap();
                }
                self.tickets.clear();
            }
            _ => {
                // The number of kept blocks varies widely, and with it the pinned memory.
                let keep = self.random.below(HELD);
                while self.held.len() > keep {
                    let block = self.take().unwrap();
                    block.free(&Through(&self.owner));
                }
            }
        }
        while self.held.len() > HELD * 4 {
            let block = self.take().unwrap();
            self.pass(block);
        }
    }

    fn take(&mut self) -> Option<Block> {
        if self.held.is_empty() {
            return None;
        }
        let which = self.random.below(self.held.len());
        self.held.swap_remove_back(which)
    }
}

#[test]
fn blocks_cross_threads() {
    alone!();
    set_skipping(true);
    let steps = number("EBBTIDE_CROSSING_STEPS").unwrap_or(if cfg!(debug_assertions) {
        6_000
    } else {
        30_000
    });
    let seed = number("EBBTIDE_CROSSING_SEED").unwrap_or(1);
    let play = |thread| {
        let mut player = Player::new(seed * 1000 + thread);
        (0..steps / THREADS).for_each(|_| player.step());
        while let Some(block) = player.take() {
            block.free(&Through(&player.owner));
        }
    };
    thread::scope(|scope| {
        let start = |thread| scope.spawn(move || play(thread));
        let threads: Vec<_> = (1..=THREADS).map(start).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    println!("{:?}", report());
    // They are freed by an owner that was not started, and by one that was.
    let (stranger, owner) = (Owner::new(), started());
    for (place, by) in PASSED.iter().zip([&stranger, &owner].into_iter().cycle()) {
        place.take().into_iter().for_each(|block| block.free(&Through(by)));
    }
    drop(owner);
    let report = report();
    assert_eq!((report.escapes.pinned_chunks, report.live), (0, 0));
    assert!(report.held <= report.bound);
}
