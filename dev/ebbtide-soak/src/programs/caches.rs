//! Caches with every eviction policy, by one thread or shared by several.

use super::{each_step, in_scopes, in_scopes_of, replace};
use crate::{
    inputs::{Random, Record, answer, work},
    meter,
    scopes::{scope, scope_with},
};
use ebbtide_global::Options;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Mutex,
    thread,
    time::Duration,
};

/// The order of eviction when a cache is full: the entry with the lowest rank goes first.
type Rank = (u64, u64);

/// The rank of an entry that is inserted or used now. `old` is its previous rank.
type Policy = fn(old: Option<Rank>, now: u64, random: &mut Random) -> Rank;

/// A cache of records, which is unaware of arenas.
struct Cache {
    policy: Policy,
    capacity: usize,
    now: u64,
    random: Random,
    entries: HashMap<u64, (Rank, Record)>,
    order: BTreeMap<Rank, u64>,
}

impl Cache {
    fn new(policy: Policy, capacity: usize) -> Self {
        let (entries, order) = Default::default();
        Cache { policy, capacity, now: 0, random: Random::new(11), entries, order }
    }

    /// Looks up an entry, makes it if it is missing, and returns its sum.
    fn get(&mut self, key: u64, make: impl FnOnce() -> Record) -> u64 {
        self.now += 1;
        if let Some((rank, record)) = self.entries.get_mut(&key) {
            self.order.remove(rank);
            *rank = (self.policy)(Some(*rank), self.now, &mut self.random);
            self.order.insert(*rank, key);
            return record.sum();
        }
        while self.entries.len() >= self.capacity {
            let Some((_, evicted)) = self.order.pop_first() else { break };
            self.entries.remove(&evicted);
        }
        let rank = (self.policy)(None, self.now, &mut self.random);
        let record = make();
        let sum = record.sum();
        self.order.insert(rank, key);
        self.entries.insert(key, (rank, record));
        sum
    }
}

fn least_recently_used(_: Option<Rank>, now: u64, _: &mut Random) -> Rank {
    (0, now)
}

fn first_in_first_out(old: Option<Rank>, now: u64, _: &mut Random) -> Rank {
    old.unwrap_or((0, now))
}

fn least_frequently_used(old: Option<Rank>, now: u64, _: &mut Random) -> Rank {
    (old.map_or(0, |(uses, _)| uses + 1), now)
}

fn most_recently_used(_: Option<Rank>, now: u64, _: &mut Random) -> Rank {
    (u64::MAX - now, 0)
}

fn random_replacement(old: Option<Rank>, now: u64, random: &mut Random) -> Rank {
    old.unwrap_or_else(|| (random.number(), now))
}

/// Entries are on probation until they are used a second time.
fn segmented(old: Option<Rank>, now: u64, _: &mut Random) -> Rank {
    (u64::from(old.is_some()), now)
}

/// Entries expire after a time of their own.
fn expiring(old: Option<Rank>, now: u64, random: &mut Random) -> Rank {
    old.unwrap_or_else(|| (now + random.number() % 20_000, now))
}

/// Random keys, twice as many as the cache holds; low ones are more frequent.
fn key(random: &mut Random, capacity: usize) -> u64 {
    let keys = 2 * capacity;
    random.below(keys).min(random.below(keys)) as u64
}

const CAPACITY: usize = 20_000;

fn one_thread(policy: Policy, around: impl Fn(&mut dyn FnMut())) -> u64 {
    let mut cache = Cache::new(policy, CAPACITY);
    each_step(|_, random, sum| {
        around(&mut || {
            let key = key(random, CAPACITY);
            let mut made = Random::new(key);
            *sum += cache.get(key, || answer(&mut made));
        });
    })
}

fn plain(policy: Policy) -> u64 {
    one_thread(policy, |work| scope(work))
}

pub(super) fn lru() -> u64 {
    plain(least_recently_used)
}

pub(super) fn fifo() -> u64 {
    plain(first_in_first_out)
}

pub(super) fn lfu() -> u64 {
    plain(least_frequently_used)
}

pub(super) fn mru() -> u64 {
    plain(most_recently_used)
}

pub(super) fn random() -> u64 {
    plain(random_replacement)
}

pub(super) fn slru() -> u64 {
    plain(segmented)
}

pub(super) fn ttl() -> u64 {
    plain(expiring)
}

pub(super) fn lru_with_byte_limit() -> u64 {
    let options = Options::new().byte_limit(1 << 20);
    one_thread(least_recently_used, |work| scope_with(&options, work))
}

pub(super) fn lru_with_label() -> u64 {
    let options = Options::new().label("request");
    one_thread(least_recently_used, |work| scope_with(&options, work))
}

pub(super) fn lru_with_sizes() -> u64 {
    let options = Options::new().min_size(24).max_size(512);
    one_thread(least_recently_used, |work| scope_with(&options, work))
}

pub(super) fn lru_in_lifelong_scope() -> u64 {
    scope(|| plain(least_recently_used))
}

pub(super) fn lru_in_one_scope() -> u64 {
    scope(|| one_thread(least_recently_used, |work| work()))
}

pub(super) fn lru_retain_none() -> u64 {
    ebbtide_global::retain(0);
    plain(least_recently_used)
}

pub(super) fn lru_retain_little() -> u64 {
    ebbtide_global::retain(100_000);
    plain(least_recently_used)
}

pub(super) fn lru_retain_much() -> u64 {
    ebbtide_global::retain(1 << 40);
    plain(least_recently_used)
}

/// A scope for the request, and a nested one that makes the entry.
pub(super) fn lru_nested() -> u64 {
    let mut cache = Cache::new(least_recently_used, CAPACITY);
    in_scopes(|_, random, sum| {
        let key = key(random, CAPACITY);
        let mut made = Random::new(key);
        *sum += cache.get(key, || scope(|| answer(&mut made)));
    })
}

/// Four workers, all of which make, use and evict entries.
pub(super) fn lru_shared() -> u64 {
    let cache = Mutex::new(Cache::new(least_recently_used, CAPACITY));
    in_scopes_of(4, |_, _, random| {
        let key = key(random, CAPACITY);
        // Made without holding the lock, so often in vain.
        let record = answer(&mut Random::new(key));
        super::lock(&cache).get(key, || record);
    })
}

/// The clock algorithm: a used entry gets a second chance.
pub(super) fn clock() -> u64 {
    let mut ring: VecDeque<(u64, bool)> = VecDeque::new();
    let mut entries: HashMap<u64, (bool, Record)> = HashMap::new();
    in_scopes(|_, random, sum| {
        let key = key(random, CAPACITY);
        if let Some((is_used, record)) = entries.get_mut(&key) {
            *is_used = true;
            *sum += record.sum();
            return;
        }
        while entries.len() >= CAPACITY {
            let Some((oldest, _)) = ring.pop_front() else { break };
            match entries.get_mut(&oldest) {
                Some((is_used, _)) if *is_used => {
                    *is_used = false;
                    ring.push_back((oldest, false));
                }
                _ => drop(entries.remove(&oldest)),
            }
        }
        let record = answer(&mut Random::new(key));
        *sum += record.sum();
        entries.insert(key, (false, record));
        ring.push_back((key, false));
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
