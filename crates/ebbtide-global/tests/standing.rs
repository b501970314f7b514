//! Claims: where a little of every scope outlives it, and much would be kept for that, a thread's scopes share their memory; what
//! escaped stays whole; that ends when nothing escapes any more, when others have freed what was there, and with the thread.

#![allow(clippy::expect_used, reason = "in a test, a panic is how a failure is told")]

use ebbtide_global::{Options, Scoped, arena, arena_with, release_pool, report};
use std::{alloc::System, collections::VecDeque, thread};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

/// Words, of which every eighth escapes.
const WORDS: usize = 400;
/// The scopes whose words live on.
const LIVE: usize = 400;
/// What those need, generously; each scope fills a third of a chunk.
const ENOUGH: usize = 4 << 20;
const _: () = assert!(LIVE * (64 << 10) / 3 > 2 * ENOUGH);

fn word(scope: usize, number: usize) -> String {
    format!("{scope:8}{number:8}").repeat(1 + (scope + number) % 5)
}

/// Makes words in a scope, and keeps a few.
fn keep(scope: usize) -> Vec<String> {
    arena(|| {
        let words: Vec<String> = (0..WORDS).map(|number| word(scope, number)).collect();
        words.into_iter().step_by(8).collect()
    })
}

fn check(scope: usize, kept: &[String]) {
    for (number, kept) in (0..WORDS).step_by(8).zip(kept) {
        assert_eq!(*kept, word(scope, number));
    }
}

/// Kept words by the scope that made them, first in, first out. Returns the bytes of chunks that were ever in use.
fn turn_over(scopes: usize, drop: fn(Vec<String>)) -> usize {
    let mut live = VecDeque::new();
    for scope in 0..scopes {
        live.push_back((scope, keep(scope)));
        if live.len() > LIVE {
            let (scope, kept) = live.pop_front().expect("there are some");
            check(scope, &kept);
            drop(kept);
        }
    }
    live.iter().for_each(|(scope, kept)| check(*scope, kept));
    report().claimed
}

/// One process, one order: what is claimed only ever grows.
#[test]
fn scopes_that_keep_a_little_share_their_memory() {
    // By the thread itself. Blocks are made with one size and freed with another, which fills no list without end.
    let claimed = turn_over(10 * LIVE, drop);
    assert!(claimed < ENOUGH, "{claimed} bytes");
    let escapes = report().escapes;
    assert!(escapes.blocks > 0 && escapes.pinned_chunks > 0, "{escapes:?}");

    // Other scopes meanwhile: with a limit, inside of others, with what is excluded.
    let kept = keep(0);
    let limited = Options::new().byte_limit(1 << 20);
    assert_eq!(arena_with(&limited, || word(1, 1)), word(1, 1));
    assert_eq!(arena(|| arena(|| word(2, 2))), word(2, 2));
    let large = Options::new().min_size(64).label("large");
    let small = report().fallbacks.small;
    assert_eq!(*arena_with(&large, || Box::new(7)), 7);
    assert_eq!(report().fallbacks.small, small + 1);
    check(0, &kept);
    drop(kept);

    // Nothing escapes any more: the chunks go back.
    for scope in 0..1000 {
        arena(|| drop((0..WORDS).map(|number| word(scope, number)).collect::<Vec<_>>()));
    }
    assert_eq!(report().escapes.pinned_chunks, 0);

    // By other threads. What they free is in no list, and yet not lost.
    let claimed = turn_over(2 * LIVE, |kept| thread::spawn(|| drop(kept)).join().expect("it ends"));
    assert!(claimed < 3 * ENOUGH, "{claimed} bytes");

    // The pool is given back while what escaped lives.
    let kept: Vec<_> = (0..LIVE).map(keep).collect();
    release_pool();
    kept.iter().enumerate().for_each(|(scope, kept)| check(scope, kept));
    drop(kept);
    assert_eq!(report().escapes.pinned_chunks, 0);

    // A thread ends while what escaped lives.
    let kept = thread::spawn(|| (0..LIVE).map(keep).collect::<Vec<_>>()).join().expect("it ends");
    kept.iter().enumerate().for_each(|(scope, kept)| check(scope, kept));
    drop(kept);
    assert_eq!(report().escapes.pinned_chunks, 0);
}
