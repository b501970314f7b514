//! Claim: memory does not grow over time. Threads open scope after scope, keep every eighth record,
//! send it to another thread, and drop it there much later.
//!
//! `EBBTIDE_SOAK_SCOPES=1000000 cargo test --release -p ebbtide-global --test all soak:: --
//! --nocapture` is the long run.

// Without a range, no scope serves requests.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{arena, outside, release_pool, report, warm};
use std::{
    collections::VecDeque,
    env, fs,
    sync::{
        Barrier,
        atomic::{AtomicI64, Ordering},
        mpsc,
    },
    thread,
};

/// Records that are alive.
static LIVE: AtomicI64 = AtomicI64::new(0);

/// The number of records that a thread holds before it drops the oldest.
const HELD: usize = 2_000;

struct Record {
    number: u64,
    name: String,
    tags: Vec<String>,
}

impl Record {
    fn new(number: u64) -> Self {
        LIVE.fetch_add(1, Ordering::Relaxed);
        let tags = (0..number % 5).map(|tag| format!("tag {tag} of {number}")).collect();
        Record { number, name: format!("record {number}"), tags }
    }

    fn is_whole(&self) -> bool {
        let Record { number, name, tags } = self;
        *name == format!("record {number}")
            && tags.len() as u64 == number % 5
            && tags.iter().enumerate().all(|(n, tag)| *tag == format!("tag {n} of {number}"))
    }

    /// The blocks that a record consists of: the name, each tag, and the vector of the tags.
    fn blocks(&self) -> u64 {
        1 + self.tags.len() as u64 + u64::from(self.tags.capacity() > 0)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The results of one thread.
#[derive(Clone, Copy, Default)]
struct Seen {
    kept: u64,
    kept_sum: u64,
    blocks: u64,
    dropped: u64,
    dropped_sum: u64,
}

/// Makes the records `numbers`, each in a scope; sends every eighth on, and takes care of what
/// arrives.
fn work(
    numbers: std::ops::Range<u64>,
    next: mpsc::Sender<Record>,
    arriving: &mpsc::Receiver<Record>,
) -> Seen {
    let mut seen = Seen::default();
    let mut held = VecDeque::new();
    let drop_one = |seen: &mut Seen, record: Record| {
        assert!(record.is_whole(), "record {} is damaged: {}", record.number, record.name);
        seen.dropped += 1;
        seen.dropped_sum += record.number;
    };
    for number in numbers {
        let kept = arena(|| {
            let record = Record::new(number);
            assert!(record.is_whole());
            (number % 8 == 0).then_some(record)
        });
        if let Some(record) = kept {
            seen.kept += 1;
            seen.kept_sum += number;
            seen.blocks += record.blocks();
            // From now on another thread holds the record, and drops it.
            assert!(next.send(record).is_ok());
        }
        held.extend(arriving.try_iter());
        while held.len() > HELD {
            held.pop_front().into_iter().for_each(|record| drop_one(&mut seen, record));
        }
    }
    drop(next);
    // Some are dropped inside a scope that did not serve them.
    arena(|| held.drain(..).for_each(|record| drop_one(&mut seen, record)));
    arriving.iter().for_each(|record| drop_one(&mut seen, record));
    seen
}

/// The resident memory of the process, in KiB; `None` if the system does not report it.
fn resident_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Runs all threads once, with this many scopes in total.
fn live(first: u64, scopes: u64, threads: u64) -> Seen {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| mpsc::channel()).unzip();
    let share = scopes / threads;
    let together = Barrier::new(usize::try_from(threads).unwrap_or(1));
    let together = &together;
    let mut seen = Seen::default();
    thread::scope(|scope| {
        let mut next = senders;
        next.rotate_left(1);
        let workers: Vec<_> = next
            .into_iter()
            .zip(receivers)
            .zip(0..)
            .map(|((next, arriving), thread)| {
                scope.spawn(move || {
                    together.wait();
                    let begin = first + thread * share;
                    work(begin..begin + share, next, &arriving)
                })
            })
            .collect();
        for worker in workers {
            let one = worker.join().expect("a thread panicked");
            seen.kept += one.kept;
            seen.kept_sum += one.kept_sum;
            seen.blocks += one.blocks;
            seen.dropped += one.dropped;
            seen.dropped_sum += one.dropped_sum;
        }
    });
    seen
}

#[test]
fn after_a_long_life_nothing_is_lost_and_the_memory_is_back() {
    alone!();
    warm();
    let scopes = env::var("EBBTIDE_SOAK_SCOPES").ok().and_then(|text| text.parse().ok());
    let scopes: u64 = scopes.unwrap_or(40_000);
    let threads = thread::available_parallelism().map_or(2, usize::from).clamp(2, 8) as u64;
    // Ten rounds, in each of which every thread keeps a whole number of records.
    let life = (scopes / 10).next_multiple_of(8 * threads);

    // The first scope opens another one, to find out which global allocator is installed.
    arena(|| ());
    let before = report();
    let mut blocks = 0;
    let mut levels = Vec::new();
    for round in 0..10 {
        let seen = live(round * life, life, threads);
        assert_eq!(seen.kept, life / 8);
        assert_eq!(seen.dropped, seen.kept, "a record was lost, or came twice");
        assert_eq!(seen.dropped_sum, seen.kept_sum);
        assert_eq!(LIVE.load(Ordering::Relaxed), 0);
        blocks += seen.blocks;
        levels.push((resident_kib(), report().claimed));
    }

    let report = outside(report);
    println!("{} scopes by {threads} threads", 10 * life);
    println!("resident KiB and claimed bytes after each tenth: {levels:?}");
    println!("{report}");
    // The scopes of the records, and one in which each thread drops the records that it holds last.
    assert_eq!(report.scopes - before.scopes, 10 * (life + threads));
    // If another thread frees a block while the next scope uses the rest of its chunk, the report
    // does not count the block as escaped.
    let escaped = report.escapes.blocks - before.escapes.blocks;
    assert!(escaped <= blocks && escaped >= blocks / 10 * 9, "{escaped} of {blocks}");
    assert_eq!(report.escapes.pinned_chunks, before.escapes.pinned_chunks);
    assert_eq!(report.fallbacks.total(), before.fallbacks.total());
    // The memory reaches a level and stays there.
    assert!(levels[9].1 <= levels[2].1 * 3 / 2 + (4 << 20), "{levels:?}");
    if let (Some(third), Some(last)) = (levels[2].0, levels[9].0) {
        assert!(last <= third * 3 / 2 + 4096, "{levels:?}");
    }
    release_pool();
}
