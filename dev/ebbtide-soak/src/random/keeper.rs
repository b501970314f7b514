//! The stores of blocks that outlive their scope.

use super::shape::{By, Kept, Store};
use crate::inputs::Random;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    mem,
};

/// What programs allocate.
pub(super) type Block = Vec<u8>;

/// A store with its limits.
pub(super) struct Keeper {
    kept: Kept,
    /// Its own, so that its order does not change what the threads allocate.
    random: Random,
    blocks: Blocks,
    count: usize,
    bytes: usize,
    is_clearing: bool,
}

enum Blocks {
    Vector(Vec<Block>),
    Ring(VecDeque<Block>),
    Map { entries: HashMap<u64, (u64, Block)>, order: BTreeMap<u64, u64>, now: u64 },
    Tree(BTreeMap<u64, Block>),
    List(Option<Box<Node>>),
}

struct Node {
    block: Block,
    next: Option<Box<Node>>,
}

impl Keeper {
    pub(super) fn new(kept: Kept) -> Self {
        let blocks = match kept.store {
            Store::Vector => Blocks::Vector(Vec::new()),
            Store::Ring | Store::Queue => Blocks::Ring(VecDeque::new()),
            Store::Map => {
                let (entries, order) = Default::default();
                Blocks::Map { entries, order, now: 0 }
            }
            Store::Tree => Blocks::Tree(BTreeMap::new()),
            Store::List => Blocks::List(None),
        };
        let random = Random::new(3);
        Keeper { kept, random, blocks, count: 0, bytes: 0, is_clearing: false }
    }

    /// Adds a block. Returns one that it replaces, or the block itself if there is no room until the
    /// end of the program.
    pub(super) fn put(&mut self, block: Block) -> Option<Block> {
        if matches!(self.kept.by, By::End) && self.is_full() {
            return Some(block);
        }
        self.count += 1;
        self.bytes += block.len();
        let key = self.random.below(2 * self.kept.most_blocks) as u64;
        let replaced = match &mut self.blocks {
            Blocks::Vector(blocks) => {
                blocks.push(block);
                None
            }
            Blocks::Ring(blocks) => {
                blocks.push_back(block);
                None
            }
            Blocks::Map { entries, order, now } => {
                *now += 1;
                order.insert(*now, key);
                let replaced = entries.insert(key, (*now, block));
                replaced.map(|(then, block)| {
                    order.remove(&then);
                    block
                })
            }
            Blocks::Tree(blocks) => blocks.insert(key, block),
            Blocks::List(first) => {
                let next = first.take();
                *first = Some(Box::new(Node { block, next }));
                None
            }
        };
        self.taken(replaced)
    }

    /// Removes a block if there are too many.
    pub(super) fn evict(&mut self) -> Option<Block> {
        if !self.is_clearing && !self.is_over() {
            return None;
        }
        self.is_clearing = self.kept.cleared && self.count > 1;
        self.take()
    }

    /// Removes any block.
    pub(super) fn take(&mut self) -> Option<Block> {
        let taken = match &mut self.blocks {
            Blocks::Vector(blocks) if blocks.is_empty() => None,
            Blocks::Vector(blocks) => Some(blocks.swap_remove(self.random.below(blocks.len()))),
            Blocks::Ring(blocks) => blocks.pop_front(),
            Blocks::Map { entries, order, .. } => {
                let oldest = order.pop_first();
                oldest.and_then(|(_, key)| entries.remove(&key)).map(|(_, block)| block)
            }
            Blocks::Tree(blocks) => blocks.pop_first().map(|(_, block)| block),
            Blocks::List(first) => first.take().map(|mut node| {
                *first = node.next.take();
                mem::take(&mut node.block)
            }),
        };
        self.taken(taken)
    }

    /// Lets a block grow a little, in stores that find one at once.
    pub(super) fn grow(&mut self) {
        let place = self.random.below(self.count.max(1));
        let block = match &mut self.blocks {
            Blocks::Vector(blocks) => blocks.get_mut(place),
            Blocks::Ring(blocks) => blocks.get_mut(place),
            Blocks::List(first) => first.as_mut().map(|node| &mut node.block),
            Blocks::Map { .. } | Blocks::Tree(_) => None,
        };
        if let Some(block) = block.filter(|block| block.len() < 16 << 10) {
            block.extend_from_slice(&[1; 64]);
            self.bytes += 64;
        }
    }

    fn taken(&mut self, block: Option<Block>) -> Option<Block> {
        if let Some(block) = &block {
            self.count -= 1;
            self.bytes -= block.len();
        }
        block
    }

    fn is_full(&self) -> bool {
        self.count >= self.kept.most_blocks || self.bytes >= self.kept.most_bytes
    }

    pub(super) fn is_over(&self) -> bool {
        self.count > self.kept.most_blocks || self.bytes > self.kept.most_bytes
    }
}
