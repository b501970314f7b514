//! Growing blocks: vectors that are pushed to, a formatted string, a hash map.

use crate::harness::{Bench, Contestant, Target, contestant, hidden, observe};
use ebbtide::Arena;
use std::fmt::Write;

const PRESIZED: &str = "std, with_capacity";

pub fn run(bench: &mut Bench) {
    for (len, target) in
        [(10, 2.0), (100, 2.0), (1_000, 2.0), (10_000, 1.3), (100_000, 1.3), (1_000_000, 1.3)]
    {
        push(bench, len, target);
    }
    format(bench);
    map(bench);
}

/// The number of turns for about 30,000 pushes per batch.
fn turns(len: usize) -> usize {
    (30_000 / len).max(1)
}

fn repeat<'a>(
    name: &'static str,
    len: usize,
    mut turn: impl FnMut(usize) -> u64 + 'a,
) -> Contestant<'a> {
    let sum = (0..len as u64).sum::<u64>();
    assert_eq!(turn(len), sum, "{name}");
    contestant(name, move || {
        for _ in 0..turns(len) {
            observe(&mut turn(hidden(len)));
        }
    })
}

fn sum(values: &[u64]) -> u64 {
    values.first().copied().unwrap_or(0) + values.last().copied().unwrap_or(0)
}

/// The vector after `len` pushes.
macro_rules! pushed {
    ($new:expr, $len:ident) => {{
        let mut values = $new;
        for n in 0..$len as u64 {
            values.push(n);
        }
        values
    }};
}

fn push(bench: &mut Bench, len: usize, target: f64) {
    let check = |values: &[u64]| -> u64 {
        assert!(values.len() == len);
        // Checks both ends, and in the first turn everything.
        if sum(values) == len as u64 - 1 { (0..len as u64).sum() } else { 0 }
    };
    let (mut grow, mut vec) = (Arena::new(), Arena::new());
    let mut bump = bumpalo::Bump::new();
    bench.row(
        &format!("growth: push {len} integers"),
        turns(len) * len,
        vec![
            repeat("ebbtide", len, move |len| {
                let mut s = grow.scope();
                check(pushed!(s.grow_vec(), len).into_slice())
            }),
            repeat("ebbtide, s.vec()", len, move |len| {
                let s = vec.scope();
                check(&pushed!(s.vec(), len))
            }),
            repeat("bumpalo", len, move |len| {
                let answer = check(&pushed!(bumpalo::collections::Vec::new_in(&bump), len));
                bump.reset();
                answer
            }),
            repeat("std", len, move |len| check(&pushed!(Vec::new(), len))),
            repeat(PRESIZED, len, move |len| check(&pushed!(Vec::with_capacity(len), len))),
        ],
        &[Target::AtLeast(target, "bumpalo"), Target::AtMost(1.0, PRESIZED)],
    );
}

fn format(bench: &mut Bench) {
    const LINES: usize = 200;
    let expected: usize = (0..LINES).map(|n| format!("line {n}: {};\n", n * n).len()).sum();
    let turn = |text: &mut dyn Write| {
        for n in 0..hidden(LINES) {
            writeln!(text, "line {n}: {};", n * n).expect("it fits");
        }
    };
    let (mut grow, mut string) = (Arena::new(), Arena::new());
    let mut bump = bumpalo::Bump::new();
    bench.row(
        "growth: format a string of 200 lines",
        LINES,
        vec![
            contestant("ebbtide", move || {
                let mut s = grow.scope();
                let mut text = s.grow_string();
                turn(&mut text);
                assert_eq!(text.into_str().len(), expected);
            }),
            contestant("ebbtide, s.string()", move || {
                let s = string.scope();
                let mut text = s.string();
                turn(&mut text);
                assert_eq!(text.len(), expected);
            }),
            contestant("bumpalo", move || {
                {
                    let mut text = bumpalo::collections::String::new_in(&bump);
                    turn(&mut text);
                    assert_eq!(text.len(), expected);
                }
                bump.reset();
            }),
            contestant("std", move || {
                let mut text = String::new();
                turn(&mut text);
                assert_eq!(text.len(), expected);
            }),
        ],
        &[Target::AtLeast(1.0, "bumpalo")],
    );
}

fn map(bench: &mut Bench) {
    const KEYS: u64 = 2_000;
    let key = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    macro_rules! fill_and_query {
        ($new:expr) => {{
            let mut map = $new;
            for number in 0..KEYS {
                map.insert(key(number), number);
            }
            let found = (0..KEYS).filter(|&number| map.contains_key(&key(number)));
            assert_eq!(found.count() as u64, KEYS);
        }};
    }
    let mut arena = Arena::new();
    let mut bump = bumpalo::Bump::new();
    bench.row(
        "collections: a map of 2,000 integers: insert, look up, drop",
        usize::try_from(KEYS).expect("small"),
        vec![
            contestant("ebbtide", move || {
                let s = arena.scope();
                fill_and_query!(s.map());
            }),
            contestant("bumpalo", move || {
                fill_and_query!(hashbrown::HashMap::new_in(&bump));
                bump.reset();
            }),
            contestant("std heap", move || fill_and_query!(hashbrown::HashMap::new())),
        ],
        &[Target::AtLeast(1.0, "bumpalo")],
    );
}
