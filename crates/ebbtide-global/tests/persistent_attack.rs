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

use crate::filled::{Block, Random, Through, number, started};
use ebbtide_global::{
    Options,
    engine::{Owner, Ticket},
    report, retain, set_skipping,
};
use std::{
    alloc::Layout,
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

static BLOCKS: Mutex<Vec<Served>> = Mutex::new(Vec::new());
static HANDLES: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn size(random: &mut Random) -> usize {
    match random.below(100) {
        // A few sizes, so that lists serve requests.
        0..40 => 8 * (1 + random.below(8)),
        40..75 => 1 + random.below(200),
        75..90 => 200 + random.below(2_000),
        90..98 => 2_000 + random.below(7_000),
        98 => 8_000 + random.below(70_000),
        _ => 8_100 + random.below(200),
    }
}

fn options(random: &mut Random) -> Options {
    let options = match random.below(24) {
        0 => Options::new().min_size(1 + random.below(100)),
        1 => Options::new().max_size(random.below(9_000)),
        2 => Options::new().byte_limit(random.below(200_000)),
        3 => Options::new().label("attacked"),
        _ => Options::new(),
    };
    options.site(site(random))
}

fn site(random: &mut Random) -> u32 {
    u32::try_from(random.below(8)).unwrap()
}

struct Served {
    block: Block,
    /// The index of the owner that allocated it, unless that owner has moved.
    by: usize,
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
        Handle { owner: started(), ..Handle::default() }
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
    blocks: Vec<Served>,
    phase: Phase,
    site: u32,
    slow: bool,
}

impl Attacker {
    fn new(seed: u64) -> Attacker {
        let mut handles: Vec<Handle> = (1..OWNERS).map(|_| Handle::new()).collect();
        handles.push(Handle { is_stranger: true, ..Handle::default() });
        Attacker {
            random: Random::new(seed),
            handles,
            blocks: Vec::new(),
            phase: Phase { by_others: 1, wild: 1, kept: 8 },
            site: 1,
            slow: true,
        }
    }

    fn alloc(&mut self, by: usize) {
        let log_align = if self.random.is_one_in(4) { 14 } else { 4 };
        let align = 1 << self.random.below(log_align);
        let layout = Layout::from_size_align(size(&mut self.random), align).unwrap();
        let alloc = if self.random.is_one_in(8) { Block::alloc_zeroed } else { Block::alloc };
        let by_owner = Through(&self.handles[by].owner);
        let block = alloc(&by_owner, layout, self.random.next());
        if block.is_ours() == self.slow {
            (0..200).for_each(|n| {
                std::hint::black_box(n);
            });
        }
        if block.is_ours() {
            self.blocks.push(Served { block, by });
        } else {
            block.free(&by_owner);
        }
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
            self.free_at(which, by);
        }
    }

    fn free_at(&mut self, which: usize, by: usize) {
        self.blocks.swap_remove(which).block.free(&Through(&self.handles[by].owner));
    }

    fn resize(&mut self, by: usize) {
        let Some(which) = self.which() else { return };
        let by = self.choose_owner(which, by);
        let old = self.blocks[which].block.layout.size();
        let size = match self.random.below(4) {
            0 => size(&mut self.random),
            1 => old * 2,
            2 => (old / 2 + self.random.below(3)).max(1),
            _ => (old + self.random.below(64)).saturating_sub(32).max(1),
        };
        let by = Through(&self.handles[by].owner);
        self.blocks[which].block.resize(&by, size.min(200_000));
    }

    /// A scope like those of programs: allocates many blocks, frees most of them, and keeps a few.
    fn session(&mut self, by: usize, depth: usize) {
        let options = if self.random.is_one_in(8 * self.phase.wild) {
            options(&mut self.random)
        } else {
            Options::new()
        };
        // Scopes of one site follow each other, so that they are measured.
        let site = if self.random.is_one_in(4) { site(&mut self.random) } else { self.site };
        let owner = &self.handles[by].owner;
        let ticket = if options == Options::new() && self.random.is_one_in(2) {
            owner.enter_default_at(site)
        } else {
            owner.enter(&options.site(site))
        };
        self.slow = site % 2 == 1;
        let from = self.blocks.len();
        let most = if depth == 0 && self.random.is_one_in(500) { 40_000 } else { 400 };
        for _ in 0..self.random.below(most) {
            match self.random.below(240) {
                0..120 => self.alloc(by),
                120..200 if self.blocks.len() > from => {
                    let which = from + self.random.below(self.blocks.len() - from);
                    self.free_at(which, by);
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
                self.free_at(which, by);
            }
        }
        ticket.into_iter().for_each(|ticket| self.handles[by].leave(ticket));
    }

    fn enter(&mut self, by: usize) {
        let options = options(&mut self.random);
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
            self.site = site(&mut self.random);
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
            941..945 => {
                retain([0, 1 << 16, 1 << 18, 1 << 22, 128 << 20, usize::MAX][self.random.below(6)]);
            }
            945..950 => retain(128 << 20),
            950..999 => self.pass(by),
            _ => {}
        }
        while self.blocks.len() > HELD {
            self.free(by);
        }
    }

    fn run(mut self, steps: u64) {
        for number in 0..steps {
            self.step();
            if number % 256 == 0 {
                self.blocks.iter().for_each(|served| served.block.check());
            }
        }
        // Some blocks outlive their owners.
        let (early, late) = (self.blocks.len() / 2, self.blocks);
        for (number, Served { block, .. }) in late.into_iter().enumerate() {
            if number == early {
                self.handles.iter().for_each(|handle| handle.owner.end());
            }
            block.free(&Through(&self.handles[number % OWNERS].owner));
        }
        self.handles.iter().for_each(|handle| handle.owner.end());
    }
}

#[test]
fn no_byte_is_handed_out_twice() {
    alone!();
    set_skipping(true);
    let steps = number("EBBTIDE_ATTACK_STEPS").unwrap_or(if cfg!(miri) { 10 } else { 2_000 });
    let seed = number("EBBTIDE_ATTACK_SEED").unwrap_or(1);
    let threads = number("EBBTIDE_ATTACK_THREADS").unwrap_or(THREADS);
    let run = |number| move || Attacker::new(seed * 64 + number).run(steps);
    let running: Vec<_> = (0..threads).map(|number| thread::spawn(run(number))).collect();
    let joined: Vec<_> = running.into_iter().map(thread::JoinHandle::join).collect();
    assert!(joined.into_iter().all(|result| result.is_ok()));
    let rest = Handle::new();
    for Served { block, .. } in lock(&BLOCKS).drain(..) {
        block.free(&Through(&rest.owner));
    }
    lock(&HANDLES).drain(..).for_each(|handle| handle.owner.end());
    rest.owner.end();
    let report = report();
    assert_eq!(report.escapes.pinned_chunks, 0, "{report:?}");
    println!("{report:?}");
}
