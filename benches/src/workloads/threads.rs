//! One arena per core, from a pool: the time of one thread's work, alone and beside others. The
//! control computes in registers and shows how the cores themselves scale.
//!
//! Each thread is pinned to a core. Otherwise two new threads may start on the same core and finish
//! before the scheduler moves one of them, which doubles the time.

use crate::{
    harness::{Bench, Contestant, Target, hidden, observe, timed},
    workloads::real::{self, Ast, Work},
};
use ebbtide::{Pool, Scope};
use std::{
    sync::{Arc, Barrier},
    thread,
    time::Instant,
};

const ALONE: &str = "ebbtide, one thread";
const CONTROL: &str = "control";
const TURNS: usize = 500_000;

pub fn run(bench: &mut Bench) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for threads in (1..=cores).filter(|n| n.is_power_of_two() || *n == cores) {
        bench.row(
            &format!("threads: {threads}, a scope of ten allocations a turn"),
            TURNS,
            vec![
                pooled("ebbtide", threads, scopes),
                pooled(ALONE, 1, scopes),
                on("bumpalo", threads, bumpalo),
                on("std", threads, heap),
                on(CONTROL, threads, control),
                on("control, one thread", 1, control),
            ],
            &[Target::AtMost(1.1, ALONE)],
        );
        let ast = Arc::new(Ast::new(real::sources()));
        let (together, alone, theirs) = (Arc::clone(&ast), Arc::clone(&ast), Arc::clone(&ast));
        let tokens = ast.operations();
        bench.row(
            &format!("threads: {threads}, an AST of this repository's sources, a token"),
            tokens,
            vec![
                pooled("ebbtide", threads, move |s| check(&together, together.turn(&s))),
                pooled(ALONE, 1, move |s| check(&alone, alone.turn(&s))),
                on("bumpalo", threads, move || {
                    check(&theirs, theirs.turn(&&bumpalo::Bump::new()));
                }),
                on(CONTROL, threads, control),
                on("control, one thread", 1, control),
            ],
            &[Target::AtMost(1.1, ALONE)],
        );
    }
}

fn check(ast: &Ast, answer: usize) {
    assert_eq!(answer, ast.expected());
}

/// The time from the first thread's start to the last thread's end.
fn on<'a>(
    name: &'static str,
    threads: usize,
    work: impl Fn() + Send + Sync + 'static,
) -> Contestant<'a> {
    timed(name, move || {
        let start = Barrier::new(threads);
        let spans: Vec<(Instant, Instant)> = thread::scope(|scope| {
            let (start, work) = (&start, &work);
            let cores = core_affinity::get_core_ids().unwrap_or_default();
            let spawn = |index: usize| {
                let core = cores.get(index).copied();
                scope.spawn(move || {
                    core.map(core_affinity::set_for_current);
                    start.wait();
                    let begun = Instant::now();
                    work();
                    (begun, Instant::now())
                })
            };
            let handles: Vec<_> = (0..threads).map(spawn).collect();
            handles.into_iter().map(|handle| handle.join().expect("no panic")).collect()
        });
        let begun = spans.iter().map(|span| span.0).min().expect("a thread");
        let ended = spans.iter().map(|span| span.1).max().expect("a thread");
        ended - begun
    })
}

fn pooled<'a>(
    name: &'static str,
    threads: usize,
    work: impl Fn(Scope<'_>) + Send + Sync + 'static,
) -> Contestant<'a> {
    let pool = Pool::new();
    on(name, threads, move || pool.scope(&work))
}

/// One arena per thread, one scope per turn.
fn scopes(mut outer: Scope<'_>) {
    for turn in 0..hidden(TURNS) {
        let s = outer.scope();
        for n in 0..10 {
            observe(s.alloc(turn + n));
        }
    }
}

fn bumpalo() {
    let mut bump = bumpalo::Bump::new();
    for turn in 0..hidden(TURNS) {
        for n in 0..10 {
            observe(bump.alloc(turn + n));
        }
        bump.reset();
    }
}

fn heap() {
    for turn in 0..hidden(TURNS) {
        let boxes: [Box<usize>; 10] = std::array::from_fn(|n| Box::new(turn + n));
        observe(&mut { boxes });
    }
}

/// A computation without memory, about as long as the other rows.
fn control() {
    let mut x = hidden(1) as u64;
    for _ in 0..hidden(TURNS * 8) {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        observe(&mut x);
    }
}
