//! Threads that hand memory to each other, wait, and end.

use super::{each_step, in_scopes, in_scopes_of, keep, lock, on_workers, total};
use crate::{
    inputs::{Random, Record, answer, work},
    meter,
    scopes::scope,
};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, VecDeque},
    sync::{Arc, Barrier, Mutex, mpsc},
    thread,
    time::Duration,
};

/// One long scope, whose blocks another thread frees.
pub(super) fn freed_by_another() -> u64 {
    let (sender, receiver) = mpsc::sync_channel::<Record>(1000);
    thread::scope(|threads| {
        let consumer = threads.spawn(move || total(receiver.iter().map(|record| record.sum())));
        scope(move || {
            each_step(|_, random, _| {
                assert!(sender.send(answer(random)).is_ok());
            });
        });
        consumer.join().unwrap_or(0)
    })
}

/// Short-lived threads; a string of each is kept.
pub(super) fn many_threads() -> u64 {
    let mut kept = VecDeque::new();
    each_step(|number, _, sum| {
        let made = thread::spawn(move || scope(|| answer(&mut Random::new(number)).title)).join();
        let title = made.unwrap_or_default();
        *sum += title.len() as u64;
        keep(&mut kept, title, 5_000);
    })
}

/// Pools of four threads that start, work, keep some results, and end.
pub(super) fn thread_pools() -> u64 {
    let kept: Mutex<VecDeque<Record>> = Mutex::default();
    let generation = 400;
    let mut begun = 0;
    while begun < meter::steps() {
        thread::scope(|threads| {
            for worker in 0..4 {
                let (kept, seed) = (&kept, begun + worker);
                threads.spawn(move || {
                    let mut random = Random::new(seed);
                    for step in 0..generation / 4 {
                        let record = scope(|| answer(&mut random));
                        if step % 4 == 0 {
                            let mut kept = lock(kept);
                            keep(&mut kept, record, 5_000);
                        }
                        meter::step();
                    }
                });
            }
        });
        begun += generation;
    }
    0
}

/// Sixteen threads take turns to run a large scope. The others wait meanwhile, with what they kept.
pub(super) fn idle_threads() -> u64 {
    const THREADS: u64 = 16;
    let turn = Barrier::new(usize::try_from(THREADS).unwrap_or(1));
    on_workers(THREADS, |worker, steps| {
        let mut random = Random::new(worker);
        let mut kept = VecDeque::new();
        for round in 0..steps / 50 {
            for active in 0..THREADS {
                turn.wait();
                if active != worker {
                    continue;
                }
                for _ in 0..50 {
                    meter::step();
                }
                let last = scope(|| {
                    let mut records: Vec<_> = (0..1500).map(|_| answer(&mut random)).collect();
                    records.pop()
                });
                keep(&mut kept, (round, last), 100);
            }
        }
    });
    0
}

/// A queue of jobs. Two threads add jobs, two take them and return the results.
pub(super) fn job_queue() -> u64 {
    let (jobs_in, jobs) = mpsc::sync_channel::<(u64, Vec<String>)>(2_000);
    let (results_in, results) = mpsc::sync_channel::<Record>(2_000);
    let jobs = Mutex::new(jobs);
    thread::scope(|threads| {
        for producer in 0..2 {
            let jobs_in = jobs_in.clone();
            threads.spawn(move || {
                let mut random = Random::new(producer);
                for _ in 0..meter::steps() / 2 {
                    let job = scope(|| {
                        let seed = work(&mut random);
                        (seed, (0..random.below(8)).map(|_| random.words(4)).collect())
                    });
                    assert!(jobs_in.send(job).is_ok());
                }
            });
        }
        drop(jobs_in);
        for _ in 0..2 {
            let (jobs, results_in) = (&jobs, results_in.clone());
            threads.spawn(move || {
                loop {
                    let next = lock(jobs).recv();
                    let Ok((seed, words)) = next else { break };
                    let result = scope(|| {
                        let mut record = answer(&mut Random::new(seed));
                        record.tags.extend(words);
                        record
                    });
                    assert!(results_in.send(result).is_ok());
                    meter::step();
                }
            });
        }
        drop(results_in);
        total(results.iter().map(|record| record.sum()))
    })
}

/// Jobs of very different priority: some wait for a long time.
pub(super) fn priority_queue() -> u64 {
    let mut queue: BinaryHeap<Reverse<(u64, Vec<String>)>> = BinaryHeap::new();
    in_scopes(|step, random, sum| {
        let urgency = step + [10, 1_000, 40_000][random.below(3)];
        let record = answer(random);
        queue.push(Reverse((urgency, record.tags)));
        if queue.len() > 20_000 {
            let job = queue.pop();
            *sum += job.map_or(0, |Reverse((_, tags))| total(tags.iter().map(|t| t.len() as u64)));
        }
    })
}

/// Actors with mailboxes and state. Four threads run the actors that have messages.
pub(super) fn actors() -> u64 {
    #[derive(Default)]
    struct Actor {
        mailbox: Mutex<VecDeque<Arc<Record>>>,
        state: Mutex<HashMap<String, Arc<Record>>>,
    }
    let actors: Vec<Actor> = (0..500).map(|_| Actor::default()).collect();
    in_scopes_of(4, |_, _, random| {
        // Sends a message to three others.
        let message = Arc::new(answer(random));
        for _ in 0..3 {
            let receiver = &actors[random.below(actors.len())];
            lock(&receiver.mailbox).push_back(Arc::clone(&message));
        }
        let actor = &actors[random.below(actors.len())];
        let mail = std::mem::take(&mut *lock(&actor.mailbox));
        let mut state = lock(&actor.state);
        for message in mail {
            state.insert(message.title.clone(), message);
        }
        if state.len() > 20 {
            state.clear();
        }
    })
}

/// One publisher and four subscribers, which forget messages at different speeds.
pub(super) fn subscribers() -> u64 {
    thread::scope(|threads| {
        let (senders, subscribers): (Vec<_>, Vec<_>) = [10, 100, 1_000, 10_000]
            .into_iter()
            .map(|memory| {
                let (sender, receiver) = mpsc::sync_channel::<Arc<[u8]>>(64);
                let subscriber = threads.spawn(move || {
                    let mut last = VecDeque::new();
                    let mut sum = 0;
                    for message in receiver {
                        sum += scope(|| String::from_utf8_lossy(&message).to_uppercase().len());
                        keep(&mut last, message, memory);
                    }
                    sum as u64
                });
                (sender, subscriber)
            })
            .unzip();
        each_step(|_, random, _| {
            let message: Arc<[u8]> = scope(|| answer(random).body.into_bytes().into());
            for sender in &senders {
                assert!(sender.send(Arc::clone(&message)).is_ok());
            }
        });
        drop(senders);
        total(subscribers.into_iter().map(|subscriber| subscriber.join().unwrap_or(0)))
    })
}

/// Two threads exchange trees: each frees those of the other.
pub(super) fn exchange() -> u64 {
    struct Tree {
        name: String,
        children: Vec<Tree>,
    }
    fn grow(random: &mut Random, depth: usize) -> Tree {
        let children = if depth == 0 { 0 } else { 1 + random.below(4) };
        Tree {
            name: random.words(1 + depth),
            children: (0..children).map(|_| grow(random, depth - 1)).collect(),
        }
    }
    fn size(tree: &Tree) -> u64 {
        tree.name.len() as u64 + total(tree.children.iter().map(size))
    }
    let ((to_right, from_left), (to_left, from_right)) =
        (mpsc::sync_channel::<Tree>(100), mpsc::sync_channel::<Tree>(100));
    let side = |seed, to: mpsc::SyncSender<Tree>, from: mpsc::Receiver<Tree>| {
        move || {
            let mut random = Random::new(seed);
            let mut sum = 0;
            for _ in 0..meter::steps() / 2 {
                let sent = scope(|| {
                    work(&mut random);
                    to.send(grow(&mut random, 4))
                });
                assert!(sent.is_ok());
                sum += from.try_iter().map(|tree| size(&tree)).sum::<u64>();
                meter::step();
            }
            drop(to);
            sum + total(from.iter().map(|tree| size(&tree)))
        }
    };
    thread::scope(|threads| {
        let left = threads.spawn(side(1, to_right, from_right));
        let right = threads.spawn(side(2, to_left, from_left));
        left.join().unwrap_or(0) + right.join().unwrap_or(0)
    })
}

/// All threads process the items of a batch, each item in a scope. The results are kept until the
/// next batch.
pub(super) fn parallel_map() -> u64 {
    const BATCH: u64 = 2_000;
    let mut kept: Vec<Vec<Record>> = Vec::new();
    let mut sum = 0;
    for batch in 0..meter::steps() / BATCH {
        kept = thread::scope(|threads| {
            let workers: Vec<_> = (0..4)
                .map(|worker| {
                    threads.spawn(move || {
                        let mut random = Random::new(4 * batch + worker);
                        let records = (0..BATCH / 4).map(|_| {
                            meter::step();
                            scope(|| answer(&mut random))
                        });
                        records.collect::<Vec<_>>()
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect()
        });
        sum += total(kept.iter().flatten().map(Record::sum));
    }
    drop(kept);
    sum
}

/// A pipeline of four threads. Each changes what the previous one made, and frees the original.
pub(super) fn pipeline() -> u64 {
    let (sender, receiver) = mpsc::sync_channel::<Record>(500);
    thread::scope(|threads| {
        threads.spawn(move || {
            each_step(|_, random, _| {
                let record = scope(|| answer(random));
                assert!(sender.send(record).is_ok());
            });
        });
        let mut from = receiver;
        for stage in 0..3 {
            let (sender, receiver) = mpsc::sync_channel::<Record>(500);
            threads.spawn(move || {
                for record in from {
                    let changed = scope(|| {
                        let tags = record.tags.iter().map(|tag| format!("{stage} {tag}"));
                        let tags = tags.collect();
                        let body = record.body.replace("<li>", "<p>");
                        Record { title: record.title.to_uppercase(), body, tags }
                    });
                    drop(record);
                    assert!(sender.send(changed).is_ok());
                }
            });
            from = receiver;
        }
        total(from.iter().map(|record| record.sum()))
    })
}

/// 64 threads. Each keeps a little of one scope, and then waits for its next turn.
pub(super) fn many_idle_threads() -> u64 {
    const THREADS: u64 = 64;
    let turn = Barrier::new(usize::try_from(THREADS).unwrap_or(1));
    on_workers(THREADS, |worker, steps| {
        let mut random = Random::new(worker);
        let mut kept = VecDeque::new();
        for _ in 0..steps {
            turn.wait();
            keep(&mut kept, scope(|| answer(&mut random)), 50);
            meter::step();
        }
    });
    0
}

/// Threads that run as a whole in a scope, and leave their result behind.
pub(super) fn threads_in_arenas() -> u64 {
    let mut kept = VecDeque::new();
    each_step(|step, _, sum| {
        let job = move || {
            let mut random = Random::new(step);
            (0..20).map(|_| answer(&mut random)).collect::<Vec<_>>()
        };
        let thread = if crate::scopes::are_on() {
            ebbtide_global::spawn_in_arena(job)
        } else {
            thread::spawn(job)
        };
        let records = thread.join().unwrap_or_default();
        *sum += total(records.iter().map(Record::sum));
        kept.extend(records.into_iter().step_by(10));
        while kept.len() > 2_000 {
            kept.pop_front();
        }
    })
}

/// A thread fills a cache, drops all of it outside of any scope, and waits.
pub(super) fn dropped_by_idle() -> u64 {
    dropped(|cache| *lock(cache) = HashMap::new(), |_| ())
}

/// A thread fills a cache, and waits while another thread drops all of it.
pub(super) fn dropped_by_another() -> u64 {
    dropped(|_| (), |cache| *lock(cache) = HashMap::new())
}

type Cache = Mutex<HashMap<usize, Record>>;

/// A thread fills a cache, calls `end` and waits. Another thread calls `begin`, and goes on with
/// little for three seconds.
fn dropped(end: impl Fn(&Cache) + Sync, begin: impl Fn(&Cache)) -> u64 {
    let quiet = meter::steps() / 20;
    let cache = Cache::default();
    let (filled, done) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|threads| {
        threads.spawn(|| {
            let mut random = Random::new(1);
            for _ in quiet..meter::steps() {
                scope(|| lock(&cache).insert(random.below(50_000), answer(&mut random)));
                meter::step();
            }
            end(&cache);
            filled.wait();
            done.wait();
        });
        filled.wait();
        begin(&cache);
        let mut random = Random::new(2);
        let mut sum = 0;
        for _ in 0..quiet {
            sum += scope(|| total((0..20).map(|_| work(&mut random))));
            thread::sleep(Duration::from_micros(500));
            meter::step();
        }
        done.wait();
        sum
    })
}
