//! Stores: documents, buffers and indexes that are changed in place, merged, or built once.

use super::{each_step, in_scopes, total};
use crate::{
    inputs::{Random, answer, work},
    meter,
    scopes::{scope, unscoped},
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, collections::VecDeque, hint::black_box, mem};

/// A log-structured store: entries are collected in a table, full tables become sorted runs, and
/// four runs of one level are merged into one of the next.
pub(super) fn log_structured() -> u64 {
    type Entries = Vec<(String, Vec<u8>)>;
    const TABLE: usize = 1_000;
    fn merge(runs: Vec<Entries>) -> Entries {
        let mut merged = BTreeMap::new();
        for (key, value) in runs.into_iter().flatten() {
            merged.insert(key, value);
        }
        merged.into_iter().collect()
    }
    let mut table: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut levels: Vec<Vec<Entries>> = vec![Vec::new(); 4];
    in_scopes(|_, random, sum| {
        work(random);
        let key = format!("{} {}", random.words(2), random.below(40));
        table.insert(key, vec![1; 20 + random.below(200)]);
        if table.len() < TABLE {
            return;
        }
        levels[0].push(mem::take(&mut table).into_iter().collect());
        for level in 0..levels.len() {
            // The lowest level is always a single run.
            let is_last = level + 1 == levels.len();
            if levels[level].len() >= if is_last { 2 } else { 4 } {
                let merged = merge(mem::take(&mut levels[level]));
                *sum += merged.len() as u64;
                levels[if is_last { level } else { level + 1 }].push(merged);
            }
        }
    })
}

/// JSON documents that requests change in place: members are added, grow, and are removed.
pub(super) fn patched_documents() -> u64 {
    const DOCUMENTS: usize = 3_000;
    let mut documents: Vec<Value> = (0..DOCUMENTS).map(|_| Value::Null).collect();
    in_scopes(|step, random, sum| {
        let patch = json!({
            random.word(): random.words(3),
            random.word(): [step, random.below(100)],
            random.word(): { random.word(): random.words(2) },
            random.word(): null,
        });
        let patch: Value = serde_json::from_str(&patch.to_string()).unwrap_or_default();
        let place = random.below(DOCUMENTS);
        let document = &mut documents[place];
        if !document.is_object() {
            *document = Value::Object(Map::new());
        }
        let (Some(members), Value::Object(changes)) = (document.as_object_mut(), patch) else {
            return;
        };
        for (name, change) in changes {
            match (change, members.get_mut(&name)) {
                (Value::Null, _) => drop(members.remove(&name)),
                (Value::Array(more), Some(Value::Array(list))) if list.len() < 12 => {
                    list.extend(more);
                }
                (change, _) => drop(members.insert(name, change)),
            }
        }
        *sum += members.len() as u64;
    })
}

/// Builds an index in one scope, which keeps half of what it allocates for ever; then reads it.
pub(super) fn built_once() -> u64 {
    let mut random = Random::new(1);
    let index: BTreeMap<String, Box<[u32]>> = scope(|| {
        let mut places: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for place in 0..400_000 {
            let line = random.words(3);
            for pair in line.split(' ').collect::<Vec<_>>().windows(2) {
                let key = format!("{} {} {}", pair[0], pair[1], place % 400);
                places.entry(key).or_default().push(place);
            }
        }
        places.into_iter().map(|(key, places)| (key, places.into_boxed_slice())).collect()
    });
    let mut sum = 0;
    for _ in 0..meter::steps() {
        sum += scope(|| {
            let from = random.words(2);
            let found =
                index.range(from..).take(8).map(|(key, places)| (key.clone(), places.len()));
            total(found.collect::<Vec<_>>().iter().map(|(key, places)| (key.len() + places) as u64))
        });
        meter::step();
    }
    sum
}

/// A pool of buffers. A scope takes one, grows it, and puts it back cleared; occasionally a new one
/// replaces it.
pub(super) fn pooled_buffers() -> u64 {
    let mut pool: Vec<Vec<u8>> = Vec::new();
    let mut in_use: VecDeque<Vec<u8>> = VecDeque::new();
    in_scopes(|_, random, sum| {
        let mut buffer = pool.pop().unwrap_or_default();
        for _ in 0..1 + random.below(20) {
            buffer.extend_from_slice(answer(random).body.as_bytes());
        }
        *sum += buffer.len() as u64;
        in_use.push_back(buffer);
        if in_use.len() > 500 {
            let mut done = in_use.pop_front().unwrap_or_default();
            done.clear();
            // Drops one in sixteen, so that a later request makes a new one.
            if random.below(16) > 0 {
                pool.push(done);
            }
        }
    })
}

/// Buffers that are made outside of scopes and grow in them, or the reverse.
pub(super) fn grown_across() -> u64 {
    let mut kept: VecDeque<Vec<u64>> = VecDeque::new();
    each_step(|step, random, sum| {
        let inside = scope(|| {
            work(random);
            vec![step; 1 + random.below(30)]
        });
        let beyond = vec![step; 1 + random.below(30)];
        for mut buffer in [inside, beyond] {
            for _ in 0..random.below(5) {
                scope(|| buffer.extend_from_slice(black_box(&[step; 20])));
                buffer.push(step);
                scope(|| unscoped(|| buffer.push(step)));
            }
            if random.below(3) == 0 {
                scope(|| buffer.shrink_to_fit());
            }
            *sum += buffer.len() as u64;
            kept.push_back(buffer);
        }
        while kept.len() > 10_000 {
            if step % 2 == 0 {
                kept.pop_front();
            } else {
                scope(|| kept.pop_front());
            }
        }
    })
}
