//! Events in a program: panics, forks, timers, imports, threads with variables of their own.

use super::{each_step, in_scopes, in_scopes_of, keep, lock, on_workers, total};
use crate::{
    inputs::{Random, Record, answer, work},
    meter, process,
    scopes::{scope, scope_with},
};
use ebbtide_global::Options;
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Mutex,
    thread,
};

/// One request in four panics, in a nested scope, after it has kept something.
pub(super) fn panics() -> u64 {
    let mut kept: VecDeque<String> = VecDeque::new();
    each_step(|step, random, sum| {
        let request = catch_unwind(AssertUnwindSafe(|| {
            scope(|| {
                let record = answer(random);
                kept.push_back(record.title);
                scope(|| {
                    let local = answer(random);
                    kept.extend(local.tags.into_iter().take(1));
                    if step % 4 == 0 {
                        // Drops `local` and `record` while unwinding, and does not call the panic
                        // hook.
                        resume_unwind(Box::new(local.body));
                    }
                });
                record.body.len() as u64
            })
        }));
        *sum += request.unwrap_or_else(|cause| {
            cause.downcast().map_or(0, |body: Box<String>| body.len() as u64)
        });
        while kept.len() > 20_000 {
            kept.pop_front();
        }
    })
}

/// Forks a child in the scope of every four hundredth request. The child answers a hundred
/// requests, drops what it inherited, and ends; the parent continues.
pub(super) fn children() -> u64 {
    let mut kept: VecDeque<Record> = VecDeque::new();
    in_scopes(|step, random, sum| {
        let record = answer(random);
        if step % 400 == 0 {
            let mut own = Random::new(step);
            *sum += process::in_child(|| {
                let before = process::status().resident_kib;
                let answered = total((0..100).map(|_| scope(|| work(&mut own))));
                kept.clear();
                // A child whose memory grows without bound returns 255.
                let more = process::status().resident_kib.saturating_sub(before);
                if more < 16 * 1024 { answered % 200 } else { 255 }
            });
        }
        keep(&mut kept, record, 5_000);
    })
}

/// Timer wheels: closures that one request registers run many requests later, or are cancelled.
pub(super) fn timers() -> u64 {
    type Timer = Box<dyn FnOnce() -> u64>;
    const SLOTS: usize = 512;
    // Two wheels; a slot of the second is a full turn of the first.
    let mut wheels: [Vec<Vec<(usize, u64, Timer)>>; 2] =
        [(); 2].map(|()| (0..SLOTS).map(|_| Vec::new()).collect());
    let mut cancelled: HashMap<u64, ()> = HashMap::new();
    each_step(|step, random, sum| {
        let now = usize::try_from(step).unwrap_or(0);
        scope(|| {
            for timer in 0..2 {
                let record = answer(random);
                let wait =
                    if random.below(4) == 0 { random.below(20_000) } else { random.below(500) };
                let run: Timer =
                    Box::new(move || record.title.len() as u64 + record.tags.len() as u64);
                let due = now + 1 + wait;
                let wheel = usize::from(wait >= SLOTS);
                let slot = if wheel == 0 { due % SLOTS } else { due / SLOTS % SLOTS };
                wheels[wheel][slot].push((due, 2 * step + timer, run));
            }
            if random.below(3) == 0 {
                cancelled.insert(2 * step.saturating_sub(random.below(400) as u64), ());
            }
        });
        scope(|| {
            if now % SLOTS == 0 {
                for timer in std::mem::take(&mut wheels[1][now / SLOTS % SLOTS]) {
                    wheels[0][timer.0 % SLOTS].push(timer);
                }
            }
            let (due, waiting): (Vec<_>, Vec<_>) =
                wheels[0][now % SLOTS].drain(..).partition(|(due, ..)| *due <= now);
            wheels[0][now % SLOTS] = waiting;
            for (_, id, run) in due {
                if cancelled.remove(&id).is_none() {
                    *sum += run();
                }
            }
            if cancelled.len() > 5_000 {
                cancelled.clear();
                cancelled.shrink_to_fit();
            }
        });
    })
}

/// Scopes with one label import records. Those with another query them, change some, and replace
/// what the former made.
pub(super) fn two_labels() -> u64 {
    const RECORDS: usize = 8_000;
    let [import, query] = ["import", "query"].map(|label| Options::new().label(label));
    let mut records: BTreeMap<usize, Record> = BTreeMap::new();
    each_step(|step, random, sum| {
        if step % 50 == 0 {
            scope_with(&import, || {
                for _ in 0..50 {
                    let mut record = answer(random);
                    // An import queries the existing records.
                    let tags = scope_with(&query, || {
                        let near = records.range(random.below(RECORDS)..).take(3);
                        near.flat_map(|(_, record)| record.tags.iter().take(1).cloned())
                            .collect::<Vec<_>>()
                    });
                    record.tags.extend(tags);
                    records.insert(random.below(RECORDS), record);
                }
            });
        }
        *sum += scope_with(&query, || {
            let from = random.below(RECORDS);
            let mut found: Vec<(usize, String)> = records
                .range(from..)
                .take(10)
                .map(|(&place, record)| (place, record.body.to_uppercase()))
                .collect();
            found.sort_by(|one, other| one.1.cmp(&other.1));
            if let Some((place, body)) = found.pop() {
                if let Some(record) = records.get_mut(&place) {
                    record.body = body;
                    record.body.truncate(600);
                    record.tags.truncate(3);
                }
            }
            total(found.iter().map(|(_, body)| body.len() as u64))
        });
    })
}

/// Threads that come and go. Each has a cache in a thread-local variable, which its scopes fill and
/// which is dropped when it ends.
pub(super) fn thread_caches() -> u64 {
    thread_local! {
        static CACHE: RefCell<HashMap<u64, Record>> = RefCell::default();
    }
    const EACH: u64 = 500;
    on_workers(4, |worker, steps| {
        for round in 0..steps / EACH {
            let spawned = thread::spawn(move || {
                let mut random = Random::new(worker << 32 | round);
                for _ in 0..EACH {
                    scope(|| {
                        let key = random.below(400) as u64;
                        CACHE.with_borrow_mut(|cache| {
                            if cache.len() > 300 {
                                cache.clear();
                            }
                            cache.entry(key).or_insert_with(|| answer(&mut random)).sum()
                        });
                        work(&mut random);
                    });
                    meter::step();
                }
            });
            assert!(spawned.join().is_ok());
        }
    });
    0
}

/// Sorts texts by dividing them among threads. Each half is made in the scope of one thread and
/// merged in the scope of another.
pub(super) fn divide_and_conquer() -> u64 {
    fn sorted(random: &mut Random, count: usize, depth: usize) -> Vec<String> {
        if depth == 0 {
            return scope(|| {
                let mut texts: Vec<String> =
                    (0..count).map(|_| answer(random).title + " " + random.word()).collect();
                texts.sort();
                texts
            });
        }
        let mut left = Random::new(random.number());
        let (one, other) = thread::scope(|threads| {
            let one = threads.spawn(|| sorted(&mut left, count / 2, depth - 1));
            let other = sorted(random, count / 2, depth - 1);
            (one.join().unwrap_or_default(), other)
        });
        scope(|| {
            let mut merged = Vec::new();
            let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
            while let (Some(first), Some(second)) = (one.peek(), other.peek()) {
                merged.extend(if first <= second { one.next() } else { other.next() });
            }
            merged.extend(one.chain(other));
            merged
        })
    }
    let mut last = Vec::new();
    each_step(|_, random, sum| {
        last = sorted(random, 8_000, 3);
        *sum += total(last.iter().step_by(100).map(|text| text.len() as u64));
    })
}

/// Four workers with a queue each. A worker whose queue is empty takes half of another's.
pub(super) fn stolen_work() -> u64 {
    let queues: Vec<Mutex<VecDeque<(u32, Record)>>> = (0..4).map(|_| Mutex::default()).collect();
    in_scopes_of(4, |worker, step, random| {
        let own = &queues[usize::try_from(worker).unwrap_or(0)];
        let next = lock(own).pop_back();
        match next {
            // A task creates smaller ones.
            Some((depth, record)) if depth > 0 => {
                let parts = record.tags.iter().map(|tag| {
                    let mut part = answer(random);
                    part.title.push_str(tag);
                    (depth - 1, part)
                });
                let parts: Vec<_> = parts.take(3).collect();
                lock(own).extend(parts);
            }
            Some((_, record)) => drop(record),
            None => {
                let victim = &queues[random.below(queues.len())];
                let mut victim = lock(victim);
                let half = victim.len() / 2;
                let stolen: Vec<_> = victim.drain(..half).collect();
                drop(victim);
                lock(own).extend(stolen);
            }
        }
        if step % 64 == 0 && lock(own).len() < 500 {
            lock(own).push_back((5, answer(random)));
        }
    })
}
