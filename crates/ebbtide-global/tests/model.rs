//! Claim: whatever owners do, in any order (allocate, free and resize their own and each other's
//! blocks, open and end scopes in and out of order, end themselves), every live block keeps its
//! bytes, and when all are freed no chunk is pinned.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::{Block, Through};
use ebbtide_global::{
    Options,
    engine::{Owner, Ticket},
    report,
};
use proptest::prelude::*;
use std::alloc::Layout;

#[derive(Clone, Debug)]
enum Step {
    Alloc {
        by: usize,
        size: usize,
        log_align: u32,
        zeroed: bool,
    },
    Free {
        by: usize,
        which: usize,
    },
    Resize {
        by: usize,
        which: usize,
        size: usize,
    },
    Enter {
        by: usize,
        limits: usize,
    },
    /// A scope that keeps every eighth of its blocks.
    KeepLittle {
        by: usize,
        blocks: usize,
        size: usize,
    },
    /// Many blocks, most of which are freed in another order, some by another owner, so that a scope has
    /// many chunks, some of them empty. A nested scope may be open meanwhile. The blocks may have
    /// headers; those are not kept.
    Replace {
        by: usize,
        other: usize,
        blocks: usize,
        size: usize,
        keep: usize,
        nested: bool,
        headed: bool,
    },
    Outside {
        by: usize,
    },
    Leave {
        by: usize,
        which: usize,
    },
    LeaveLast {
        by: usize,
    },
    End {
        by: usize,
    },
    Release {
        by: usize,
    },
}

const OWNERS: usize = 3;

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        8 => 1..200_usize,
        4 => 200..3000_usize,
        2 => 3000..20_000_usize,
        1 => 20_000..300_000_usize,
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    // The last index stands for an owner that was not started.
    let by = 0..OWNERS + 1;
    prop_oneof![
        20 => (by.clone(), sizes(), 0..8_u32, prop::bool::weighted(0.2))
            .prop_map(|(by, size, log_align, zeroed)| Step::Alloc { by, size, log_align, zeroed }),
        16 => (by.clone(), any::<usize>()).prop_map(|(by, which)| Step::Free { by, which }),
        8 => (by.clone(), any::<usize>(), sizes())
            .prop_map(|(by, which, size)| Step::Resize { by, which, size }),
        5 => (by.clone(), 0..6_usize).prop_map(|(by, limits)| Step::Enter { by, limits }),
        4 => (by.clone(), 1..200_usize, 1..400_usize)
            .prop_map(|(by, blocks, size)| Step::KeepLittle { by, blocks, size }),
        1 => (by.clone(), by.clone(), 500..4000_usize, 1..300_usize, 2..2000_usize, prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(by, other, blocks, size, keep, nested, headed)| {
                Step::Replace { by, other, blocks, size, keep, nested, headed }
            }),
        1 => by.clone().prop_map(|by| Step::Outside { by }),
        1 => (by.clone(), any::<usize>()).prop_map(|(by, which)| Step::Leave { by, which }),
        4 => by.clone().prop_map(|by| Step::LeaveLast { by }),
        1 => by.clone().prop_map(|by| Step::End { by }),
        1 => by.prop_map(|by| Step::Release { by }),
    ]
}

#[derive(Default)]
struct World {
    owners: [Owner; OWNERS + 1],
    tickets: Vec<Vec<Ticket>>,
    blocks: Vec<Block>,
    seed: u64,
}

impl World {
    fn new() -> World {
        let world = World { tickets: vec![Vec::new(); OWNERS + 1], ..World::default() };
        for owner in &world.owners[..OWNERS] {
            assert!(owner.start());
        }
        world
    }

    fn alloc(&mut self, by: usize, layout: Layout, zeroed: bool) -> Block {
        self.seed += 1;
        let alloc = if zeroed { Block::alloc_zeroed } else { Block::alloc };
        alloc(&Through(&self.owners[by]), layout, self.seed)
    }

    /// A block with a header, or without one if no scope serves it.
    fn alloc_headed(&mut self, by: usize, layout: Layout) -> Block {
        let block = Block::alloc_headed(&self.owners[by], layout, self.seed);
        block.unwrap_or_else(|| self.alloc(by, layout, false))
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Alloc { by, size, log_align, zeroed } => {
                let layout = Layout::from_size_align(size, 1 << log_align).unwrap();
                let block = self.alloc(by, layout, zeroed);
                self.blocks.push(block);
            }
            Step::KeepLittle { by, blocks, size } => {
                let ticket = self.owners[by].enter(&Options::new());
                let layout = Layout::from_size_align(size, 8).unwrap();
                let made: Vec<Block> = (0..blocks).map(|_| self.alloc(by, layout, false)).collect();
                for (number, block) in made.into_iter().enumerate() {
                    if number % 8 == 7 {
                        self.blocks.push(block);
                    } else {
                        block.free_any(&self.owners[by]);
                    }
                }
                // Some tickets are forgotten.
                if blocks % 16 > 0 {
                    ticket.into_iter().for_each(|ticket| self.owners[by].leave(ticket));
                }
            }
            Step::Replace { by, other, blocks, size, keep, nested, headed } => {
                let layout = Layout::from_size_align(size, 8).unwrap();
                for _ in 0..2 {
                    let make = |_| match headed {
                        true => self.alloc_headed(by, layout),
                        false => self.alloc(by, layout, false),
                    };
                    let mut made: Vec<Block> = (0..blocks).map(make).collect();
                    let owner = &self.owners[by];
                    let inner = if nested { owner.enter(&Options::new()) } else { None };
                    let mut place = 0;
                    while !made.is_empty() {
                        place = (place + 7919) % made.len();
                        let block = made.swap_remove(place);
                        match made.len() % keep {
                            0 if !block.is_headed() => self.blocks.push(block),
                            1 => block.free_any(&self.owners[other]),
                            _ => block.free_any(&self.owners[by]),
                        }
                    }
                    inner.into_iter().for_each(|inner| self.owners[by].leave(inner));
                }
            }
            Step::Free { by, which } if !self.blocks.is_empty() => {
                let block = self.blocks.swap_remove(which % self.blocks.len());
                block.free_any(&self.owners[by]);
            }
            Step::Resize { by, which, size } if !self.blocks.is_empty() => {
                let which = which % self.blocks.len();
                self.blocks[which].resize(&Through(&self.owners[by]), size);
            }
            Step::Enter { by, limits } => {
                let options = match limits {
                    0 => Options::new().min_size(100),
                    1 => Options::new().max_size(5000),
                    2 => Options::new().byte_limit(100_000),
                    _ => Options::new(),
                };
                self.tickets[by].extend(self.owners[by].enter(&options));
            }
            Step::Outside { by } => self.tickets[by].extend(self.owners[by].enter_outside()),
            Step::Leave { by, which } => {
                // Any ticket so far, of any owner.
                let all: Vec<Ticket> = self.tickets.iter().flatten().copied().collect();
                if !all.is_empty() {
                    self.owners[by].leave(all[which % all.len()]);
                }
            }
            Step::LeaveLast { by } => {
                if let Some(ticket) = self.tickets[by].pop() {
                    self.owners[by].leave(ticket);
                }
            }
            Step::End { by } => {
                self.owners[by].end();
                self.tickets[by].clear();
                if by < OWNERS {
                    self.owners[by] = Owner::new();
                    assert!(self.owners[by].start());
                }
            }
            Step::Release { by } => self.owners[by].release_pools(),
            Step::Free { .. } | Step::Resize { .. } => {}
        }
    }
}

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn live_blocks_keep_their_bytes() {
    alone!();
    proptest!(config(), |(steps in prop::collection::vec(steps(), 1..600))| {
        let mut world = World::new();
        for (number, step) in steps.iter().enumerate() {
            world.step(step);
            if number % 16 == 0 {
                world.blocks.iter().for_each(Block::check);
            }
        }
        for (number, block) in std::mem::take(&mut world.blocks).into_iter().enumerate() {
            block.free_any(&world.owners[number % (OWNERS + 1)]);
        }
        for owner in &world.owners {
            owner.end();
        }
        prop_assert_eq!(report().escapes.pinned_chunks, 0);
    });
}
