//! Functions that need scratch memory: Bumper.jl's example (y = x + 1, then the sum of y) over 3 to
//! 3,000 integers; nested scopes of 10 words.

use crate::harness::{Bench, Contestant, Target, contestant, hidden, observe};
use ebbtide::{Arena, Scope};

const EXPLICIT: &str = "ebbtide, explicit";
const DEFAULT: &str = "ebbtide, default";
const HEAP: &str = "heap";

pub fn run(bench: &mut Bench) {
    for len in [3, 30, 300, 3_000] {
        let least = if len == 30 { 1.5 } else { 1.0 };
        bench.row(
            &format!("W1: y = x + 1 over {len} integers, explicit scope"),
            turns(len),
            vec![explicit(len), default(len), heap(len)],
            &[Target::AtMost(1.0, DEFAULT), Target::AtLeast(least, HEAP)],
        );
        bench.row(
            &format!("W1: y = x + 1 over {len} integers, default scope"),
            turns(len),
            vec![default(len), explicit(len), heap(len)],
            &[Target::AtLeast(least, HEAP)],
        );
    }
    bench.row(
        "W2: nested scopes of 10 words",
        NESTED,
        vec![nested_explicit(), nested_default(), nested_heap()],
        &[Target::AtMost(1.0, "ebbtide, default in default"), Target::AtLeast(1.5, HEAP)],
    );
}

/// The number of calls for about 30,000 integers per batch.
fn turns(len: usize) -> usize {
    30_000 / len
}

/// Calls a function over integers from 1 to 10 and checks the result.
fn calls<'a>(
    name: &'static str,
    len: usize,
    mut function: impl FnMut(&[i64]) -> i64 + 'a,
) -> Contestant<'a> {
    let xs: Vec<i64> = (0..len).map(|i| i as i64 % 10 + 1).collect();
    let sum: i64 = xs.iter().map(|x| x + 1).sum();
    contestant(name, move || {
        for _ in 0..hidden(turns(len)) {
            assert_eq!(function(&xs), sum, "{name}");
        }
    })
}

#[inline(always)]
fn sum_of_successors(ys: &mut [i64]) -> i64 {
    // Otherwise the compiler could remove the array.
    observe(ys);
    ys.iter().sum()
}

#[inline(always)]
fn in_scope(s: &Scope<'_>, xs: &[i64]) -> i64 {
    sum_of_successors(s.alloc_slice_fill_with(xs.len(), |i| xs[i] + 1))
}

fn explicit<'a>(len: usize) -> Contestant<'a> {
    #[inline(never)]
    fn f(arena: &mut Arena, xs: &[i64]) -> i64 {
        in_scope(&arena.scope(), xs)
    }
    let mut arena = Arena::new();
    calls(EXPLICIT, len, move |xs| f(&mut arena, xs))
}

fn default<'a>(len: usize) -> Contestant<'a> {
    #[inline(never)]
    fn f(xs: &[i64]) -> i64 {
        ebbtide::scope(|s| in_scope(&s, xs))
    }
    calls(DEFAULT, len, f)
}

fn heap<'a>(len: usize) -> Contestant<'a> {
    #[inline(never)]
    fn f(xs: &[i64]) -> i64 {
        sum_of_successors(&mut xs.iter().map(|x| x + 1).collect::<Vec<_>>())
    }
    calls(HEAP, len, f)
}

const NESTED: usize = 1024 * 16;
type Words = [u64; 10];

/// A child of a scope.
fn nested_explicit<'a>() -> Contestant<'a> {
    let mut arena = Arena::new();
    contestant(EXPLICIT, move || {
        let mut outer = arena.scope();
        observe(outer.alloc_uninit::<Words>());
        for _ in 0..hidden(NESTED) {
            observe(outer.scope().alloc_uninit::<Words>());
        }
    })
}

/// A default scope inside another one, with an arena of its own.
fn nested_default<'a>() -> Contestant<'a> {
    contestant("ebbtide, default in default", || {
        ebbtide::scope(|outer| {
            observe(outer.alloc_uninit::<Words>());
            for _ in 0..hidden(NESTED) {
                ebbtide::scope(|inner| observe(inner.alloc_uninit::<Words>()));
            }
        });
    })
}

fn nested_heap<'a>() -> Contestant<'a> {
    contestant(HEAP, || {
        for _ in 0..hidden(NESTED) {
            observe(&mut *Box::<Words>::new_uninit());
        }
    })
}
