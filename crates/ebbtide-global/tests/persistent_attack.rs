//! Claim: no byte is handed out twice, whatever owners with persistent scopes do. The owners use
//! everything that their interface allows, at any moment: they nest scopes of every kind, end them
//! out of order and with stale tickets, free and resize each other's blocks of every size and
//! alignment, release pools and change bounds. Each live block keeps its bytes, and when all are
//! freed no chunk is pinned.
//!
//! `EBBTIDE_ATTACK_STEPS=10000000 cargo test --release -p ebbtide-global --test all
//! persistent_attack::` is the long run.

// Without a range, no scope persists.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{
    Options,
    engine::{Owner, Ticket},
    report, retain,
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    collections::BTreeMap,
    env,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

const THREADS: u64 = 2;
/// The number of owners of each thread; the last one never starts, so it only frees and resizes.
const OWNERS: usize = 4;
/// The number of blocks that threads hold before they free more than they allocate.
const HELD: usize = 1_000;
/// Blocks and owners on their way to other threads.
const MOVING: usize = 100;

/// The start and end of each live block of all threads.
static LIVE: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
static BLOCKS: Mutex<Vec<Block>> = Mutex::new(Vec::new());
static HANDLES: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap() % limit.max(1)
    }

    fn is_one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }

    fn size(&mut self) -> usize {
        match self.below(100) {
            // A few sizes, so that lists serve requests.
            0..40 => 8 * (1 + self.below(8)),
            40..75 => 1 + self.below(200),
            75..90 => 200 + self.below(2_000),
            90..98 => 2_000 + self.below(7_000),
            98 => 8_000 + self.below(70_000),
            _ => 8_100 + self.below(200),
        }
    }

    fn layout(&mut self) -> Layout {
        let log_align = if self.is_one_in(4) { self.below(14) } else { self.below(4) };
        Layout::from_size_align(self.size(), 1 << log_align).unwrap()
    }

    fn options(&mut self) -> Options {
        match self.below(24) {
            0 => Options::new().min_size(1 + self.below(100)),
            1 => Options::new().max_size(self.below(9_000)),
            2 => Options::new().byte_limit(self.below(200_000)),
            3 => Options::new().label("attacked"),
            _ => Options::new(),
        }
    }
}

struct Block {
    start: *mut u8,
    layout: Layout,
    seed: u8,
    /// The index of the owner that allocated it, unless that owner has moved.
    by: usize,
}

// SAFETY: the block is nobody else's.
unsafe impl Send for Block {}

impl Block {
    /// A block that was just allocated.
    fn new(start: *mut u8, layout: Layout, seed: u8, by: usize) -> Block {
        let block = Block { start, layout, seed, by };
        block.register();
        block
    }

    /// Records the block as live: no other live block may overlap it.
    fn register(&self) {
        let (begin, end) = (self.start.addr(), self.start.addr() + self.layout.size());
        assert_eq!(begin % self.layout.align(), 0);
        let mut live = lock(&LIVE);
        let before = live.range(..end).next_back();
        assert!(
            before.is_none_or(|(_, before_end)| *before_end <= begin),
            "{begin:#x} is handed out twice"
        );
        live.insert(begin, end);
    }

    fn unregister(&self) {
        assert!(lock(&LIVE).remove(&self.start.addr()).is_some());
    }

    /// Bytes that differ from place to place.
    fn at(&self, index: usize) -> u8 {
        let [low, high, ..] = index.to_le_bytes();
        self.seed.wrapping_add(low) ^ high
    }

    /// The indices of the bytes that are filled and checked: all of a small block, the ends of a
    /// large one.
    fn checked_bytes(range: std::ops::Range<usize>) -> impl Iterator<Item = usize> {
        let first = range.end.min(range.start.saturating_add(40));
        (range.start..first).chain(first.max(range.end.saturating_sub(40))..range.end)
    }

    fn fill(&self) {
        for index in Self::checked_bytes(0..self.layout.size()) {
            // SAFETY: within the block.
            unsafe { self.start.wrapping_add(index).write(self.at(index)) };
        }
    }

    fn check(&self) {
        let up_to = self.layout.size();
        for index in Self::checked_bytes(0..up_to) {
            // SAFETY: within the block, and written to.
            let byte = unsafe { self.start.wrapping_add(index).read() };
            assert_eq!(byte, self.at(index), "byte {index} of {up_to}");
        }
    }

    /// Checks the start of a block that was resized.
    fn check_head(&self, common: usize) {
        for index in 0..common.min(40) {
            // SAFETY: within the block, and written to.
            let byte = unsafe { self.start.wrapping_add(index).read() };
            assert_eq!(byte, self.at(index), "byte {index} after it was resized");
        }
    }

    fn free(self, by: &Owner) {
        self.check();
        self.unregister();
        // SAFETY: the block is alive, with this layout.
        if !unsafe { by.dealloc(self.start, self.layout) } {
            // SAFETY: it is alive, and no owner served it, so `System` did, with this layout.
            unsafe { System.dealloc(self.start, self.layout) };
        }
    }

    /// Resizes the block like `Scoped`: if the engine refuses, it moves to the inner allocator.
    fn resize(&mut self, by: &Owner, size: usize, seed: u8) {
        self.check();
        self.unregister();
        let common = size.min(self.layout.size());
        let new_layout = Layout::from_size_align(size, self.layout.align()).unwrap();
        // SAFETY: the block is alive, with this layout; the size is not 0.
        let start = unsafe { by.realloc(self.start, self.layout, size) };
        if start.is_null() {
            // SAFETY: the size is not 0.
            let start = unsafe { System.alloc(new_layout) };
            assert!(!start.is_null());
            // SAFETY: both have so many bytes, and the new one is nobody else's.
            unsafe { start.copy_from_nonoverlapping(self.start, common) };
            // SAFETY: the block is alive, with this layout.
            if !unsafe { by.dealloc(self.start, self.layout) } {
                // SAFETY: it is alive, and no owner served it, so `System` did, with this layout.
                unsafe { System.dealloc(self.start, self.layout) };
            }
            self.start = start;
        } else {
            self.start = start;
        }
        self.layout = new_layout;
        self.register();
        self.check_head(common);
        self.seed = seed;
        self.fill();
    }
}

/// An owner and the claims on its scopes.
#[derive(Default)]
struct Handle {
    owner: Owner,
    open: Vec<Ticket>,
    old: Vec<Ticket>,
    is_stranger: bool,
}

impl Handle {
    fn new() -> Handle {
        let handle = Handle::default();
        assert!(handle.owner.start());
        handle
    }

    fn leave(&mut self, ticket: Ticket) {
        self.owner.leave(ticket);
        self.old.push(ticket);
    }
}

/// The frequencies of events for a while: each happens once in this many operations.
#[derive(Clone, Copy)]
struct Phase {
    /// Blocks are freed and resized by an owner other than their own.
    by_others: usize,
    /// Scopes are left open, or have options.
    wild: usize,
    /// Blocks outlive their scope.
    kept: usize,
}

struct Attacker {
    random: Random,
    handles: Vec<Handle>,
    blocks: Vec<Block>,
    seed: u8,
    phase: Phase,
}

impl Attacker {
    fn new(seed: u64) -> Attacker {
        let mut handles: Vec<Handle> = (1..OWNERS).map(|_| Handle::new()).collect();
        handles.push(Handle { is_stranger: true, ..Handle::default() });
        Attacker {
            random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            handles,
            blocks: Vec::new(),
            seed: 0,
            phase: Phase { by_others: 1, wild: 1, kept: 8 },
        }
    }

    fn alloc(&mut self, by: usize) {
        let layout = self.random.layout();
        let zeroed = self.random.is_one_in(8);
        let owner = &self.handles[by].owner;
        let start = if zeroed { owner.alloc_zeroed(layout) } else { owner.alloc(layout) };
        if start.is_null() {
            return;
        }
        self.seed = self.seed.wrapping_add(1);
        let block = Block::new(start, layout, self.seed, by);
        if zeroed {
            // SAFETY: the block is alive, and zeros were written to it.
            let byte = |index| unsafe { start.wrapping_add(index).read() };
            assert!((0..layout.size()).all(|index| byte(index) == 0));
        }
        block.fill();
        self.blocks.push(block);
    }

    /// Chooses a block, mostly a recent one.
    fn which(&mut self) -> Option<usize> {
        let count = self.blocks.len();
        let which = if self.random.is_one_in(3) {
            self.random.below(count)
        } else {
            count.saturating_sub(1 + self.random.below(20))
        };
        (which < count).then_some(which)
    }

    /// The owner that frees or resizes a block.
    fn choose_owner(&mut self, which: usize, by: usize) -> usize {
        if self.random.is_one_in(self.phase.by_others) { by } else { self.blocks[which].by }
    }

    fn free(&mut self, by: usize) {
        if let Some(which) = self.which() {
            let by = self.choose_owner(which, by);
            self.blocks.swap_remove(which).free(&self.handles[by].owner);
        }
    }

    fn resize(&mut self, by: usize) {
        let Some(which) = self.which() else { return };
        let by = self.choose_owner(which, by);
        let old = self.blocks[which].layout.size();
        let size = match self.random.below(4) {
            0 => self.random.size(),
            1 => old * 2,
            2 => (old / 2 + self.random.below(3)).max(1),
            _ => (old + self.random.below(64)).saturating_sub(32).max(1),
        };
        self.seed = self.seed.wrapping_add(1);
        let size = size.min(200_000);
        self.blocks[which].resize(&self.handles[by].owner, size, self.seed);
    }

    /// A scope like those of programs: allocates many blocks, frees most of them, and keeps a few.
    fn session(&mut self, by: usize, depth: usize) {
        let options = if self.random.is_one_in(8 * self.phase.wild) {
            self.random.options()
        } else {
            Options::new()
        };
        let Some(ticket) = self.handles[by].owner.enter(&options) else { return };
        let from = self.blocks.len();
        for _ in 0..self.random.below(400) {
            match self.random.below(240) {
                0..120 => self.alloc(by),
                120..200 if self.blocks.len() > from => {
                    let which = from + self.random.below(self.blocks.len() - from);
                    self.blocks.swap_remove(which).free(&self.handles[by].owner);
                }
                200..224 => self.resize(by),
                224..230 => self.free(by),
                230 if depth < 4 => self.session(by, depth + 1),
                _ => {}
            }
        }
        let kept = self.phase.kept;
        let mut which = from;
        while which < self.blocks.len() {
            if self.random.is_one_in(kept) {
                which += 1;
            } else {
                self.blocks.swap_remove(which).free(&self.handles[by].owner);
            }
        }
        self.handles[by].leave(ticket);
    }

    fn enter(&mut self, by: usize) {
        let options = self.random.options();
        let handle = &mut self.handles[by];
        let ticket = if self.random.is_one_in(8) {
            handle.owner.enter_outside()
        } else {
            handle.owner.enter(&options)
        };
        handle.open.extend(ticket);
    }

    /// Ends a scope: the innermost, any, one that has ended, one of another owner.
    fn leave(&mut self, by: usize) {
        let kind = self.random.below(8);
        let from = if kind == 0 { self.random.below(OWNERS) } else { by };
        let which = self.random.next();
        let pick = |tickets: &[Ticket]| {
            tickets.get(usize::try_from(which).unwrap() % tickets.len().max(1)).copied()
        };
        let ticket = match kind {
            0 => pick(&self.handles[from].open),
            1 => pick(&self.handles[by].old),
            2 => pick(&self.handles[by].open),
            _ => self.handles[by].open.pop(),
        };
        if let Some(ticket) = ticket {
            self.handles[by].leave(ticket);
        }
        if self.handles[by].open.len() > 30 {
            self.handles[by].open.clear();
        }
        let old = &mut self.handles[by].old;
        if old.len() > 100 {
            old.drain(..50);
        }
    }

    /// Passes blocks, or an owner as it is, to another thread.
    fn pass(&mut self, by: usize) {
        if self.random.is_one_in(4) {
            let mut moving = lock(&HANDLES);
            if moving.len() < 4 {
                let handle = if self.handles[by].is_stranger {
                    Handle { is_stranger: true, ..Handle::default() }
                } else {
                    Handle::new()
                };
                moving.push(std::mem::replace(&mut self.handles[by], handle));
            } else {
                let which = self.random.below(moving.len());
                std::mem::swap(&mut moving[which], &mut self.handles[by]);
            }
            return;
        }
        let mut moving = lock(&BLOCKS);
        for _ in 0..self.random.below(50) {
            if moving.len() < MOVING && !self.blocks.is_empty() {
                let which = self.random.below(self.blocks.len());
                moving.push(self.blocks.swap_remove(which));
            } else if !moving.is_empty() {
                let which = self.random.below(moving.len());
                self.blocks.push(moving.swap_remove(which));
            }
        }
    }

    fn step(&mut self) {
        if self.random.is_one_in(300) {
            self.phase = Phase {
                by_others: [1, 10, 100, 10_000][self.random.below(4)],
                wild: [1, 10, 100, 10_000][self.random.below(4)],
                kept: [2, 8, 16, 40, 400][self.random.below(5)],
            };
            for Handle { owner, open, .. } in &mut self.handles {
                open.drain(..).for_each(|ticket| owner.leave(ticket));
            }
        }
        let by = self.random.below(OWNERS);
        let is_wild = self.random.is_one_in(self.phase.wild);
        match self.random.below(1_000) {
            0..200 => self.alloc(by),
            200..400 => self.free(by),
            400..500 => self.resize(by),
            500..700 => self.session(by, 0),
            700..800 if is_wild => self.enter(by),
            800..930 => self.leave(by),
            930..999 if !is_wild => {}
            930..940 => self.handles[by].owner.release_pools(),
            940..941 => {
                self.handles[by].owner.end();
                if !self.handles[by].is_stranger {
                    self.handles[by] = Handle::new();
                }
            }
            941..945 => retain([0, 1 << 16, 1 << 18, 1 << 22, 128 << 20][self.random.below(5)]),
            945..950 => retain(128 << 20),
            950..999 => self.pass(by),
            _ => {}
        }
        while self.blocks.len() > HELD {
            self.free(by);
        }
    }

    fn run(mut self, steps: usize) {
        for number in 0..steps {
            self.step();
            if number % 256 == 0 {
                self.blocks.iter().for_each(|block| block.check());
            }
        }
        // Some blocks outlive their owners.
        let (early, late) = (self.blocks.len() / 2, self.blocks);
        for (number, block) in late.into_iter().enumerate() {
            if number == early {
                self.handles.iter().for_each(|handle| handle.owner.end());
            }
            block.free(&self.handles[number % OWNERS].owner);
        }
        self.handles.iter().for_each(|handle| handle.owner.end());
    }
}

#[test]
fn no_byte_is_handed_out_twice() {
    alone!();
    let steps = env::var("EBBTIDE_ATTACK_STEPS").ok().and_then(|steps| steps.parse().ok());
    let seed = env::var("EBBTIDE_ATTACK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let threads =
        env::var("EBBTIDE_ATTACK_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(THREADS);
    let steps = steps.unwrap_or(if cfg!(miri) { 10 } else { 2_000 });
    let run = |number| move || Attacker::new(seed * 64 + number).run(steps);
    let running: Vec<_> = (0..threads).map(|number| thread::spawn(run(number))).collect();
    let joined: Vec<_> = running.into_iter().map(thread::JoinHandle::join).collect();
    assert!(joined.into_iter().all(|result| result.is_ok()));
    let rest = Handle::new();
    for block in lock(&BLOCKS).drain(..) {
        block.free(&rest.owner);
    }
    lock(&HANDLES).drain(..).for_each(|handle| handle.owner.end());
    rest.owner.end();
    assert!(lock(&LIVE).is_empty());
    let report = report();
    assert_eq!(report.escapes.pinned_chunks, 0, "{report:?}");
    println!("{report:?}");
}
