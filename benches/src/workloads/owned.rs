//! Arenas that run destructors: values of one type against typed-arena, of any type against
//! blink-alloc. Each turn makes an arena, fills it and drops it.

use crate::harness::{Bench, Contestant, Target, contestant, hidden, observe};
use ebbtide::{DropArena, TypedArena};

const OURS: &str = "ebbtide";
const TYPED_ARENA: &str = "typed-arena";
const BLINK_ALLOC: &str = "blink-alloc";

pub fn run(bench: &mut Bench) {
    for count in [10, 1_000, 100_000] {
        let targets = &[Target::BestPeer(1.0)];
        let row = |kind: &str| format!("owned: {count} {kind}");
        bench.row(&row("u64 of one type"), count, typed(count, |n| n as u64), targets);
        let string = |n: usize| (String::new(), n);
        bench.row(&row("strings of one type"), count, typed(count, string), targets);
        bench.row(&row("slices of four of one type"), count, slices(count), targets);
        bench.row(&row("strings of any type"), count, any(count, string), targets);
    }
}

/// A contestant that makes an arena, allocates `$count` times, checks the number of values if
/// given, and drops the arena.
macro_rules! fill {
    ($name:expr, $new:expr, $count:expr, |$arena:ident, $n:ident| $allocation:expr $(, $len:expr)?) => {
        contestant($name, move || {
            let $arena = $new;
            for $n in 0..hidden($count) {
                observe($allocation);
            }
            $(assert_eq!($arena.len(), $len);)?
        })
    };
}

/// The arenas of one type.
macro_rules! one_type {
    ($count:expr, |$arena:ident, $n:ident| $allocation:expr, $len:expr) => {
        vec![
            fill!(OURS, TypedArena::new(), $count, |$arena, $n| $allocation, $len),
            fill!(TYPED_ARENA, typed_arena::Arena::new(), $count, |$arena, $n| $allocation, $len),
        ]
    };
}

fn typed<'a, T: 'a>(count: usize, make: impl Fn(usize) -> T + Copy + 'a) -> Vec<Contestant<'a>> {
    one_type!(count, |arena, n| arena.alloc(make(n)), count)
}

fn slices<'a>(count: usize) -> Vec<Contestant<'a>> {
    let four = |n: usize| n as u64..n as u64 + 4;
    one_type!(count, |arena, n| &mut arena.alloc_extend(four(n))[3], 4 * count)
}

fn any<'a, T: 'static>(count: usize, make: impl Fn(usize) -> T + Copy + 'a) -> Vec<Contestant<'a>> {
    vec![
        fill!(OURS, DropArena::new(), count, |arena, n| arena.alloc(make(n))),
        fill!(BLINK_ALLOC, blink_alloc::Blink::new(), count, |arena, n| arena.put(make(n))),
    ]
}
