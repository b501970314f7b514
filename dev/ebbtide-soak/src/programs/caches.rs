//! Caches, by one thread or shared by several. Other orders of eviction are among the random programs.

use super::{each_step, in_scopes, in_scopes_of, replace};
use crate::{
    inputs::{Random, Record, answer, work},
    meter,
    scopes::{scope, scope_with},
};
use ebbtide_global::Options;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Mutex,
    thread,
    time::Duration,
};

/// A cache of records, which is unaware of arenas. When it is full, it evicts the entry that was used
/// least recently.
struct Cache {
    capacity: usize,
    now: u64,
    entries: HashMap<u64, (u64, Record)>,
    order: BTreeMap<u64, u64>,
}

impl Cache {
    fn new(capacity: usize) -> Self {
        let (entries, order) = Default::default();
        Cache { capacity, now: 0, entries, order }
    }

    /// Looks up an entry, makes it if it is missing, and returns its sum.
    fn get(&mut self, key: u64, make: impl FnOnce() -> Record) -> u64 {
        self.now += 1;
        if let Some((used, record)) = self.entries.get_mut(&key) {
            self.order.remove(used);
            *used = self.now;
            self.order.insert(self.now, key);
            return record.sum();
        }
        while self.entries.len() >= self.capacity {
            let Some((_, evicted)) = self.order.pop_first() else { break };
            self.entries.remove(&evicted);
        }
        let record = make();
        let sum = record.sum();
        self.order.insert(self.now, key);
        self.entries.insert(key, (self.now, record));
        sum
    }
}

/// Random keys, twice as many as the cache holds; low ones are more frequent.
fn key(random: &mut Random, capacity: usize) -> u64 {
    let keys = 2 * capacity;
    random.below(keys).min(random.below(keys)) as u64
}

const CAPACITY: usize = 20_000;

fn one_thread(around: impl Fn(&mut dyn FnMut())) -> u64 {
    let mut cache = Cache::new(CAPACITY);
    each_step(|_, random, sum| {
        around(&mut || {
            let key = key(random, CAPACITY);
            let mut made = Random::new(key);
            *sum += cache.get(key, || answer(&mut made));
        });
    })
}

pub(super) fn lru() -> u64 {
    one_thread(|work| scope(work))
}

pub(super) fn lru_with_byte_limit() -> u64 {
    let options = Options::new().byte_limit(1 << 20);
    one_thread(|work| scope_with(&options, work))
}

pub(super) fn lru_with_label() -> u64 {
    let options = Options::new().label("request");
    one_thread(|work| scope_with(&options, work))
}

pub(super) fn lru_with_sizes() -> u64 {
    let options = Options::new().min_size(24).max_size(512);
    one_thread(|work| scope_with(&options, work))
}

pub(super) fn lru_in_lifelong_scope() -> u64 {
    scope(lru)
}

pub(super) fn lru_in_one_scope() -> u64 {
    scope(|| one_thread(|work| work()))
}

pub(super) fn lru_retain_none() -> u64 {
    ebbtide_global::retain(0);
    lru()
}

pub(super) fn lru_retain_little() -> u64 {
    ebbtide_global::retain(100_000);
    lru()
}

pub(super) fn lru_retain_much() -> u64 {
    ebbtide_global::retain(1 << 40);
    lru()
}

/// A scope for the request, and a nested one that makes the entry.
pub(super) fn lru_nested() -> u64 {
    let mut cache = Cache::new(CAPACITY);
    in_scopes(|_, random, sum| {
        let key = key(random, CAPACITY);
        let mut made = Random::new(key);
        *sum += cache.get(key, || scope(|| answer(&mut made)));
    })
}

/// Four workers, all of which make, use and evict entries.
pub(super) fn lru_shared() -> u64 {
    let cache = Mutex::new(Cache::new(CAPACITY));
    in_scopes_of(4, |_, _, random| {
        let key = key(random, CAPACITY);
        // Made without holding the lock, so often in vain.
        let record = answer(&mut Random::new(key));
        super::lock(&cache).get(key, || record);
    })
}

/// 330 MiB in blocks of 1 to 7 KiB, replaced at random.
pub(super) fn large_random() -> u64 {
    const LIVE: usize = 82_500;
    let mut live: Vec<Vec<u8>> = Vec::with_capacity(LIVE);
    in_scopes(|_, random, sum| {
        let block = vec![1_u8; 1024 + random.below(6 * 1024)];
        *sum += block.len() as u64;
        replace(&mut live, block, LIVE, random);
    })
}

/// 300,000 small records, replaced at random; every record outlives its scope.
pub(super) fn small_random() -> u64 {
    const LIVE: usize = 300_000;
    let mut live: Vec<String> = Vec::with_capacity(LIVE);
    each_step(|_, random, sum| {
        let text = scope(|| random.words(4));
        *sum += text.len() as u64;
        replace(&mut live, text, LIVE, random);
    })
}

/// A crowd comes and goes: keeps 180 MiB, drops all but one text in a hundred, and does little for
/// three seconds.
pub(super) fn crowd() -> u64 {
    let mut live: Vec<String> = Vec::new();
    let mut random = Random::new(1);
    let mut sum = 0;
    let quiet = meter::steps() / 100;
    for _ in quiet..meter::steps() {
        live.push(scope(|| random.words(4).repeat(25)));
        meter::step();
    }
    live.retain(|_| random.below(100) == 0);
    live.shrink_to_fit();
    for _ in 0..quiet {
        sum += scope(|| work(&mut random));
        thread::sleep(Duration::from_millis(1));
        meter::step();
    }
    sum + live.iter().map(|text| text.len() as u64).sum::<u64>()
}

/// A cache grows to a hundred times its size, is cleared, and stays small for a while, again and
/// again.
pub(super) fn bursts() -> u64 {
    let mut live: Vec<Record> = Vec::new();
    let round = (meter::steps() / 4).max(1);
    each_step(|step, random, sum| {
        let is_burst = step % round < round / 2;
        scope(|| {
            let record = answer(random);
            *sum += record.sum();
            if !is_burst && live.len() > 500 {
                live.truncate(500);
                live.shrink_to_fit();
            }
            if is_burst || live.len() < 500 {
                live.push(record);
            } else {
                let place = random.below(500);
                live[place] = record;
            }
        });
    })
}

/// A tree of `nodes` nodes.
struct Tree([Option<Box<Tree>>; 2], u64);

impl Tree {
    fn build(nodes: u64) -> Option<Box<Tree>> {
        let (left, right) = ((nodes.max(1) - 1) / 2, nodes / 2);
        (nodes > 0).then(|| Box::new(Tree([Tree::build(left), Tree::build(right)], nodes)))
    }

    fn sum(&self) -> u64 {
        self.0.iter().flatten().fold(self.1, |sum, child| sum + child.sum())
    }
}

/// Requests that build a tree of `NODES` nodes and free it. One in `EVERY` caches a small block.
pub(super) fn trees<const NODES: u64, const EVERY: u64, const CACHED: usize>() -> u64 {
    let mut cache: Vec<Vec<u8>> = Vec::with_capacity(CACHED);
    in_scopes(|number, random, sum| {
        let tree = Tree::build(NODES);
        *sum += tree.as_ref().map_or(0, |tree| tree.sum());
        if number % EVERY == 0 {
            replace(&mut cache, vec![1; 100], CACHED, random);
        }
    })
}
