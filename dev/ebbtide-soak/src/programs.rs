//! The programs, by kind.

mod arenas;
mod buffers;
mod caches;
mod events;
mod rest;
mod servers;
mod state;
mod storage;
mod threads;

use crate::{inputs::Random, meter, scopes::scope, verdict::Peak};
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

/// A program, and its number of steps.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The name that `--only` and `--run` search for.
    pub name: &'static str,
    /// The number of steps at scale 1.
    pub steps: u64,
    /// Runs the program and returns its answer, or 0 if that depends on the order of threads.
    pub run: fn() -> u64,
    /// Whether the memory held must stay within the promise. It cannot while most blocks of nearly
    /// every chunk are dead and some are alive. The resident memory is compared with glibc's anyway.
    pub keeps_promise: bool,
    /// The most resident memory.
    pub peak: Peak,
}

const fn program(name: &'static str, steps: u64, run: fn() -> u64) -> Program {
    Program { name, steps, run, keeps_promise: true, peak: Peak::USUAL }
}

/// A program whose phases each need all of the memory of the last.
const fn phases(name: &'static str, run: fn() -> u64) -> Program {
    Program { peak: Peak::OF_PHASES, ..program(name, 8, run) }
}

/// A program that replaces its blocks by others of other sizes, in scopes that keep them.
const fn replacing(name: &'static str, steps: u64, run: fn() -> u64) -> Program {
    Program { peak: Peak::OF_REPLACED, keeps_promise: false, ..program(name, steps, run) }
}

/// All programs, in the order of the table.
pub const PROGRAMS: &[Program] = &[
    program("sessions of 4 workers, a scope a request", 200_000, servers::sessions),
    program("LRU of 4 workers", 200_000, caches::lru_shared),
    program("LRU, scopes with a byte limit", 100_000, caches::lru_with_byte_limit),
    program("LRU, nested in a lifelong scope", 100_000, caches::lru_in_lifelong_scope),
    program("LRU, retain 100,000", 100_000, caches::lru_retain_little),
    program("boxed slices in one scope", 1_000_000, buffers::boxed_slices),
    program("alignments in turn in one scope", 1_000_000, buffers::alignments_in_turn),
    program("drifting sizes in one scope", 400_000, buffers::drifting_in_one_scope),
    program("one scope, freed by another thread", 200_000, threads::freed_by_another),
    program("lines kept beside boxed slices", 200_000, buffers::lines_of_boxed_slices),
    program("10 kB kept beside 200 kB", 30_000, buffers::grown_beside_larger),
    program("10 kB kept beside small", 15_000, buffers::kept_beside_small),
    program("330 MiB, random eviction", 250_000, caches::large_random),
    program("20,000 threads in turn", 20_000, threads::many_threads),
    program("connections as futures", 250_000, servers::connections),
    program("20 kB kept, huge pages", 50_000, buffers::huge_pages),
    program("axum, a scope a request", 120_000, servers::axum_scope_a_request),
    program("axum, a future a request", 120_000, servers::axum_future_a_request),
    program("stages of a batch job", 12, state::stages),
    program("LRU", 100_000, caches::lru),
    program("LRU in one scope", 100_000, caches::lru_in_one_scope),
    program("LRU, scopes in scopes", 100_000, caches::lru_nested),
    program("LRU, scopes with a label", 100_000, caches::lru_with_label),
    program("LRU, scopes for some sizes", 100_000, caches::lru_with_sizes),
    program("LRU, retain 0", 100_000, caches::lru_retain_none),
    program("LRU, retain 1 TiB", 100_000, caches::lru_retain_much),
    program("bursts", 160_000, caches::bursts),
    program("sessions copied out", 100_000, servers::copied_out),
    program("futures on two threads", 100_000, servers::futures),
    program("job queue", 120_000, threads::job_queue),
    program("priority queue", 100_000, threads::priority_queue),
    program("actors", 500_000, threads::actors),
    program("subscribers", 150_000, threads::subscribers),
    program("trees exchanged by two threads", 40_000, threads::exchange),
    program("parallel map", 100_000, threads::parallel_map),
    program("thread pools that come and go", 200_000, threads::thread_pools),
    program("16 threads, idle in turn", 16 * 50 * 4, threads::idle_threads),
    program("drifting sizes, a scope each", 400_000, buffers::drifting_over_scopes),
    replacing("sizes that fall, a scope for four", 60_000, buffers::falling_over_scopes),
    replacing("sizes that fall, in one scope", 60_000, buffers::falling_in_one_scope),
    program("sizes that fall, large blocks", 3_000, buffers::falling_large),
    replacing("random sizes replaced in one scope", 3_000_000, buffers::replaced_in_one_scope),
    program("mixed alignments", 100_000, buffers::mixed_alignments),
    program("strings shrunk to fit", 100_000, buffers::shrunk_strings),
    program("vectors that grow and shrink", 400_000, buffers::grow_and_shrink),
    program("zeroed buffers", 3_000, buffers::zeroed),
    program("large temporaries, then small", 60_000, buffers::large_then_small),
    program("compiler with its own arenas", 2_000, state::compiler),
    program("plugins", 100_000, state::plugins),
    program("interpreter, a scope a statement", 400_000, state::interpreter),
    program("interpreter in one scope", 400_000, state::interpreter_in_one_scope),
    program("growing log", 90_000, state::growing_log),
    program("editor with undo", 60_000, state::editor),
    program("ordered index", 200_000, state::index),
    program("interner", 100_000, state::interner),
    program("graph", 60_000, state::graph),
    program("scopes eight deep", 10_000, state::nested),
    program("small records, random eviction", 1_500_000, caches::small_random),
    program("a tree, one in four caches a block", 60_000, caches::trees::<511, 4, 1_000>),
    program("a tree, one in 100 caches a block", 60_000, caches::trees::<511, 100, 1_000>),
    program("15 nodes, each caches a block", 600_000, caches::trees::<15, 1, 30_000>),
    program("15 nodes, one in two caches a block", 600_000, caches::trees::<15, 2, 30_000>),
    program("a crowd that comes and goes", 300_000, caches::crowd),
    program("pipeline of four threads", 60_000, threads::pipeline),
    program("64 threads, idle in turn", 64 * 300, threads::many_idle_threads),
    program("threads in arenas", 5_000, threads::threads_in_arenas),
    program("texts grown to 4 MiB", 1_000, buffers::grown_texts),
    program("one block in 64 for good", 60_000, buffers::one_in_many_for_good),
    program("maps that grow and shrink", 1_000_000, state::maps_that_grow_and_shrink),
    program("log-structured store", 100_000, storage::log_structured),
    program("documents patched in place", 100_000, storage::patched_documents),
    program("index built in one scope, then read", 100_000, storage::built_once),
    program("pooled buffers", 20_000, storage::pooled_buffers),
    program("buffers grown across scopes", 100_000, storage::grown_across),
    program("requests that panic", 100_000, events::panics),
    program("forked children", 40_000, events::children),
    program("timer wheels", 80_000, events::timers),
    program("two labels, one store", 120_000, events::two_labels),
    program("caches in thread-locals", 100_000, events::thread_caches),
    program("divide and conquer", 60, events::divide_and_conquer),
    program("work stealing", 150_000, events::stolen_work),
    program("a cache dropped by a thread that waits", 100_000, threads::dropped_by_idle),
    program("a cache dropped while its owner waits", 100_000, threads::dropped_by_another),
    program("shrunk in no scope", 20, rest::shrunk_in_no_scope),
    program("shrunk in a later scope", 20, rest::shrunk_in_a_later_scope),
    program("shrunk by another thread", 20, rest::shrunk_by_another_thread),
    program("shrunk step by step in its scope", 20, rest::shrunk_step_by_step),
    program("8 kB shrunk to 100 bytes", 20_000, rest::shrunk_small),
    program("matrices, one of 150 replaced", 4_000, rest::matrices),
    Program {
        keeps_promise: false,
        ..program("expired, and filled again", 300_000, rest::expired_and_filled_again)
    },
    Program {
        keeps_promise: false,
        ..program(
            "expired, and filled after a sleep",
            200_000,
            rest::expired_and_filled_after_sleep,
        )
    },
    program("a burst of 200 MB, then nothing", 3, rest::burst_then_nothing),
    program("a burst of 200 MB, then plain work", 3, rest::burst_then_work),
    program("a burst of 200 MB, then ten scopes a second", 3, rest::burst_then_scopes),
    program("a burst of large blocks, then nothing", 3, rest::large_burst_then_nothing),
    program("kept, then dropped in no scope", 100_000, rest::kept_then_dropped),
    program("left by threads that ended", 4_000, rest::left_by_ended_threads),
    program("arenas of threads that come and go", 1_000, arenas::threads_that_come_and_go),
    program("arenas, and idle phases", 400, arenas::idle_phases),
    program("arenas dropped by another thread", 1_000, arenas::dropped_by_another),
    program("arenas in transparent scopes", 1_000, arenas::in_transparent_scopes),
    program("arenas of forked children", 1_000, arenas::children),
    phases("an arena, then the heap, in turn", arenas::then_heap),
    phases("the heap, then an arena, in turn", arenas::after_heap),
    phases("an arena, then one of another kind", arenas::then_another),
    phases("arenas that repeat, then the heap", arenas::repeated_then_heap),
];

/// Runs `step` with its number once for each step, and returns the sum that it adds up.
fn each_step(mut step: impl FnMut(u64, &mut Random, &mut u64)) -> u64 {
    let mut random = Random::new(1);
    let mut sum = 0;
    for number in 0..meter::steps() {
        step(number, &mut random, &mut sum);
        meter::step();
    }
    sum
}

/// [`each_step`], with a scope around each step.
fn in_scopes(mut step: impl FnMut(u64, &mut Random, &mut u64)) -> u64 {
    each_step(|number, random, sum| scope(|| step(number, random, sum)))
}

/// Runs `step` in scopes of `workers` threads, which share the steps. Its arguments are the worker
/// and the worker's own number of the step. The answer depends on the order of the threads, so it
/// is always 0.
fn in_scopes_of(workers: u64, step: impl Fn(u64, u64, &mut Random) + Sync) -> u64 {
    on_workers(workers, |worker, steps| {
        let mut random = Random::new(worker);
        for number in 0..steps {
            scope(|| step(worker, number, &mut random));
            meter::step();
        }
    });
    0
}

/// Runs `work(worker, steps)` on `workers` threads, which share the steps.
fn on_workers(workers: u64, work: impl Fn(u64, u64) + Sync) {
    let work = &work;
    thread::scope(|threads| {
        for worker in 0..workers {
            threads.spawn(move || work(worker, meter::steps() / workers));
        }
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a value to a queue; above `most` values, drops the oldest.
fn keep<T>(kept: &mut VecDeque<T>, value: T, most: usize) {
    kept.push_back(value);
    if kept.len() > most {
        kept.pop_front();
    }
}

/// Adds a value; above `most` values, it replaces a random one.
fn replace<T>(live: &mut Vec<T>, value: T, most: usize, random: &mut Random) {
    if live.len() < most {
        live.push(value);
    } else {
        live[random.below(most)] = value;
    }
}

fn total(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::wrapping_add)
}
