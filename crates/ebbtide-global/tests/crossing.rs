//! Claim: threads with owners of their own may allocate, resize and free each other's blocks in any
//! order, in scopes that end in any order, are closed and reopened, and in owners that end. No two
//! live blocks overlap, each keeps its bytes, zeroed blocks are zero, and when all are freed, no
//! chunk is pinned and no byte counts as live.
//!
//! `EBBTIDE_CROSSING_STEPS=10000000 cargo test --release -p ebbtide-global --test all crossing::` is
//! the long run.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{
    Options,
    engine::{Owner, Ticket, is_ours},
    report,
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    collections::{BTreeMap, VecDeque},
    env, mem,
    ops::Range,
    ptr,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicPtr, Ordering},
    },
    thread,
};

const THREADS: u64 = 4;

/// Blocks that a thread keeps to itself.
const HELD: usize = 300;

/// The start and end of each live block of the engine.
static LIVE: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Whether [`LIVE`] is kept. Its lock would hide from a sanitizer the races that it looks for.
fn is_mapped() -> bool {
    static IS_MAPPED: LazyLock<bool> =
        LazyLock::new(|| env::var_os("EBBTIDE_CROSSING_UNMAPPED").is_none());
    *IS_MAPPED
}

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

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end
    }

    fn size(&mut self) -> usize {
        match self.below(64) {
            0..32 => 1 + self.below(128),
            32..48 => 1 + self.below(1100),
            48..58 => 1 + self.below(9000),
            58..62 => 1 + self.below(70_000),
            _ => 1 + self.below(400_000),
        }
    }
}

struct Block {
    start: *mut u8,
    layout: Layout,
    seed: u64,
}

// SAFETY: a block is memory that nobody else uses.
unsafe impl Send for Block {}

impl Block {
    fn range(&self) -> Range<usize> {
        self.start.addr()..self.start.addr() + self.layout.size()
    }

    fn begin_life(&self) {
        assert_eq!(self.start.addr() % self.layout.align(), 0);
        if !is_mapped() || !is_ours(self.start) {
            return;
        }
        let Range { start, end } = self.range();
        let mut live = LIVE.lock().unwrap();
        let before = live.range(..end).next_back().map(|(start, end)| (*start, *end));
        assert!(before.is_none_or(|(_, before_end)| before_end <= start), "{start:x} {before:?}");
        live.insert(start, end);
    }

    fn end_life(&self) {
        if is_mapped() && is_ours(self.start) {
            let end = LIVE.lock().unwrap().remove(&self.start.addr());
            assert_eq!(end, Some(self.range().end));
        }
    }

    fn word(&self, index: usize) -> u64 {
        (self.seed ^ index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn byte(&self, index: usize) -> u8 {
        self.word(index / 8).to_le_bytes()[index % 8]
    }

    /// Writes to the bytes from this index on; in large blocks, only to the first, the last, and
    /// one in each page.
    fn fill(&self, from: usize) {
        for index in Self::places(self.layout.size()).filter(|index| *index >= from) {
            // SAFETY: within the block.
            unsafe { self.start.wrapping_add(index).write(self.byte(index)) };
        }
    }

    fn check(&self, up_to: usize) {
        for index in Self::places(self.layout.size()).filter(|index| *index < up_to) {
            // SAFETY: within the block, which was written to.
            let byte = unsafe { self.start.wrapping_add(index).read() };
            assert_eq!(byte, self.byte(index), "{index} of {:?} at {:?}", self.layout, self.start);
        }
    }

    fn places(size: usize) -> impl Iterator<Item = usize> {
        (0..size).filter(move |index| *index < 512 || index % 512 == 0 || *index + 64 >= size)
    }

    fn is_zero(&self) -> bool {
        // SAFETY: the block was served as zeros.
        let bytes = unsafe { &*ptr::slice_from_raw_parts(self.start, self.layout.size()) };
        bytes.iter().all(|byte| *byte == 0)
    }

    fn alloc(by: &Owner, random: &mut Random) -> Block {
        let align = if random.below(8) == 0 { 1 << random.below(14) } else { 8 };
        let layout = Layout::from_size_align(random.size(), align).unwrap();
        let is_zeroed = random.below(4) == 0;
        let mut start = if is_zeroed { by.alloc_zeroed(layout) } else { by.alloc(layout) };
        if start.is_null() {
            // SAFETY: the size is not 0.
            start = unsafe { System.alloc_zeroed(layout) };
        }
        let block = Block { start, layout, seed: random.0 };
        block.begin_life();
        assert!(!is_zeroed || block.is_zero());
        block.fill(0);
        block
    }

    fn alloc_up_to(largest: usize, by: &Owner, random: &mut Random) -> Block {
        let layout = Layout::from_size_align(1 + random.below(largest), 8).unwrap();
        let mut start = by.alloc(layout);
        if start.is_null() {
            // SAFETY: the size is not 0.
            start = unsafe { System.alloc(layout) };
        }
        let block = Block { start, layout, seed: random.0 };
        block.begin_life();
        block.fill(0);
        block
    }

    fn free(self, by: &Owner) {
        self.check(usize::MAX);
        self.end_life();
        // SAFETY: the block is alive, with this layout.
        if !unsafe { by.dealloc(self.start, self.layout) } {
            // SAFETY: it is alive, and no owner served it, so `System` did, with this layout.
            unsafe { System.dealloc(self.start, self.layout) };
        }
    }

    fn resize(&mut self, by: &Owner, random: &mut Random) {
        let old = self.layout.size();
        let size = match random.below(4) {
            0 => random.size(),
            1 => old + 1 + random.below(64),
            2 => 2 * old,
            _ => 1 + random.below(old),
        };
        if size > 4 << 20 {
            return;
        }
        self.check(usize::MAX);
        self.end_life();
        // SAFETY: the block is alive, with this layout; the size is not 0, and far below the
        // largest.
        let start = unsafe { by.realloc(self.start, self.layout, size) };
        if !start.is_null() {
            // Bytes of the common part that `fill` left out are not checked.
            let common = size.min(old);
            let before = Block { start, ..*self };
            before.check(common);
            self.start = start;
            self.layout = Layout::from_size_align(size, self.layout.align()).unwrap();
            self.fill(0);
        }
        self.begin_life();
        self.check(usize::MAX);
    }
}

fn started() -> Owner {
    let owner = Owner::new();
    assert!(owner.start());
    owner
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
        let random = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1);
        Player { random, owner: started(), tickets: Vec::new(), held: VecDeque::new() }
    }

    fn options(&mut self) -> Options {
        match self.random.below(10) {
            0 => Options::new().min_size(100),
            1 => Options::new().max_size(self.random.size()),
            2 => Options::new().byte_limit(self.random.below(1 << 20)),
            _ => Options::new(),
        }
    }

    /// A scope that keeps one block in `kept`.
    fn keep_little(&mut self) {
        let ticket = self.owner.enter(&Options::new());
        // Larger blocks pin so much memory that the bound closes scopes.
        let largest = [200, 200, 1500, 9000][self.random.below(4)];
        let (blocks, kept) = (self.random.below(2000), 1 + self.random.below(40));
        for number in 0..blocks {
            let block = Block::alloc_up_to(largest, &self.owner, &mut self.random);
            if number % kept == 0 {
                self.held.push_back(block);
            } else {
                block.free(&self.owner);
            }
        }
        self.leave(ticket);
    }

    /// A scope whose blocks are freed from the oldest to the newest, some by other threads.
    fn queue(&mut self) {
        let ticket = self.owner.enter(&Options::new());
        let mut queue = VecDeque::new();
        let largest = [200, 2000][self.random.below(2)];
        let length = 1 + self.random.below(3000);
        for _ in 0..self.random.below(12_000) {
            queue.push_back(Block::alloc_up_to(largest, &self.owner, &mut self.random));
            if queue.len() > length {
                let oldest = queue.pop_front().unwrap();
                if self.random.below(50) == 0 {
                    self.pass(oldest);
                } else {
                    oldest.free(&self.owner);
                }
            }
        }
        self.leave(ticket);
        queue.into_iter().for_each(|block| block.free(&self.owner));
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
            place.take().into_iter().for_each(|block| block.free(&self.owner));
        }
    }

    fn receive(&mut self) {
        let place = &PASSED[self.random.below(PASSED.len())];
        self.held.extend(place.take());
    }

    fn step(&mut self) {
        match self.random.below(1000) {
            0..400 => {
                let block = Block::alloc(&self.owner, &mut self.random);
                self.held.push_back(block);
            }
            400..700 => {
                if let Some(block) = self.take() {
                    block.free(&self.owner);
                }
            }
            700..800 => {
                let newest = if self.random.below(2) == 0 { self.held.pop_back() } else { None };
                if let Some(mut block) = newest.or_else(|| self.take()) {
                    block.resize(&self.owner, &mut self.random);
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
                    block.free(&self.owner);
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
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
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
            block.free(&player.owner);
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
        place.take().into_iter().for_each(|block| block.free(by));
    }
    drop(owner);
    let report = report();
    assert_eq!((report.escapes.pinned_chunks, report.live), (0, 0));
    assert!(report.held <= report.bound);
}
