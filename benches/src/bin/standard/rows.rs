//! The rows. *ebbtide* is the standard library's collection in a scope; the names of ours are added.

use bumpalo::Bump;
use ebbtide::{Arena, Scope};
use ebbtide_benches::harness::{Bench, Repeated, Target, hidden, observe, repeated};

const TARGETS: &[Target] = &[Target::BestPeer(1.0)];

pub fn run(bench: &mut Bench) {
    push(bench);
    side_by_side(bench);
    extend_and_sort(bench);
    boxes(bench);
    tree(bench);
}

/// A contestant that turns `len` into `answer`, in memory that is free again after each turn.
fn turns<'a>(
    name: &'static str,
    len: u64,
    answer: u64,
    mut turn: impl FnMut(u64) -> u64 + 'a,
) -> Repeated<'a> {
    assert_eq!(turn(len), answer, "{name}");
    repeated(name, move |times| {
        for _ in 0..times {
            let mut sum = turn(hidden(len as usize) as u64);
            observe(&mut sum);
        }
    })
}

/// Contestants that evaluate the same expression, each with its own allocator.
macro_rules! contestants {
    ($len:expr, $answer:expr, [$($name:literal: |$a:ident: $kind:ident, $n:ident| $body:expr),* $(,)?]) => {
        vec![$(contestants!(@ $kind, $name, $len, $answer, $a, $n, $body)),*]
    };
    (@ scope, $name:literal, $len:expr, $answer:expr, $a:ident, $n:ident, $body:expr) => {{
        let mut arena = Arena::new();
        turns($name, $len, $answer, move |$n| {
            let scope = arena.scope();
            let $a = &scope;
            $body
        })
    }};
    (@ exclusive, $name:literal, $len:expr, $answer:expr, $a:ident, $n:ident, $body:expr) => {{
        let mut arena = Arena::new();
        turns($name, $len, $answer, move |$n| {
            let mut $a = arena.scope();
            $body
        })
    }};
    (@ bump, $name:literal, $len:expr, $answer:expr, $a:ident, $n:ident, $body:expr) => {{
        let mut bump = Bump::new();
        turns($name, $len, $answer, move |$n| {
            let answer = {
                let $a = &bump;
                $body
            };
            bump.reset();
            answer
        })
    }};
    (@ heap, $name:literal, $len:expr, $answer:expr, $a:ident, $n:ident, $body:expr) => {
        turns($name, $len, $answer, move |$n| {
            let $a = ();
            let () = $a;
            $body
        })
    };
}

/// Pushes, and returns the sum of the elements at the ends and of the length.
macro_rules! pushed {
    ($new:expr, $n:ident) => {{
        let mut values = $new;
        for value in 0..$n {
            values.push(value);
        }
        values[0] + values[values.len() - 1] + values.len() as u64
    }};
}

fn push(bench: &mut Bench) {
    let sides = contestants!(1_000, 1_999, [
        "ebbtide": |s: scope, n| pushed!(Vec::new_in(s), n),
        "ebbtide, s.vec()": |s: scope, n| pushed!(s.vec(), n),
        "ebbtide, s.grow_vec()": |s: exclusive, n| pushed!(s.grow_vec(), n),
        "bumpalo": |b: bump, n| pushed!(bumpalo::collections::Vec::new_in(b), n),
        "std heap": |_h: heap, n| pushed!(Vec::new(), n),
    ]);
    bench.repeated_row("standard library: push 1,000 integers", sides, TARGETS);
}

/// A hundred vectors of which each grows a little while all others do.
macro_rules! grown_in_turn {
    ($new:expr, $n:ident) => {{
        let mut vectors: [_; 100] = std::array::from_fn(|_| $new);
        for value in 0..$n {
            for values in &mut vectors {
                values.push(value);
            }
        }
        vectors.iter().map(|values| values[values.len() - 1]).sum::<u64>()
    }};
}

fn side_by_side(bench: &mut Bench) {
    let sides = contestants!(20, 1_900, [
        "ebbtide": |s: scope, n| grown_in_turn!(Vec::new_in(s), n),
        "ebbtide, s.vec()": |s: scope, n| grown_in_turn!(s.vec(), n),
        "bumpalo": |b: bump, n| grown_in_turn!(bumpalo::collections::Vec::new_in(b), n),
        "std heap": |_h: heap, n| grown_in_turn!(Vec::new(), n),
    ]);
    bench.repeated_row("standard library: 100 vectors of 20 integers, in turn", sides, TARGETS);
}

macro_rules! sorted {
    ($new:expr, $n:ident) => {{
        let mut values = $new;
        values.extend((0..$n).map(|value| value.wrapping_mul(0x9E37_79B9_7F4A_7C15) % $n));
        values.sort_unstable();
        values[values.len() / 2]
    }};
}

fn extend_and_sort(bench: &mut Bench) {
    let heap = |n: u64| sorted!(Vec::new(), n);
    let sides = contestants!(1_000, heap(1_000), [
        "ebbtide": |s: scope, n| sorted!(Vec::new_in(s), n),
        "ebbtide, s.vec()": |s: scope, n| sorted!(s.vec(), n),
        "bumpalo": |b: bump, n| sorted!(bumpalo::collections::Vec::new_in(b), n),
        "std heap": |_h: heap, n| sorted!(Vec::new(), n),
    ]);
    bench.repeated_row("standard library: extend by 1,000 integers and sort", sides, TARGETS);
}

macro_rules! boxed {
    ($vec:expr, $boxed:expr, $n:ident) => {{
        let mut boxes = $vec;
        boxes.reserve($n as usize);
        for value in 0..$n {
            boxes.push($boxed([value; 4]));
        }
        boxes.iter().map(|value| value[3]).sum::<u64>()
    }};
}

fn boxes(bench: &mut Bench) {
    let sides = contestants!(1_000, 499_500, [
        "ebbtide": |s: scope, n| boxed!(Vec::new_in(s), |x| Box::new_in(x, s), n),
        "ebbtide, s.boxed()": |s: scope, n| boxed!(s.owned_vec(), |x| s.boxed(x), n),
        "bumpalo": |b: bump, n| {
            boxed!(
                bumpalo::collections::Vec::new_in(b),
                |x| bumpalo::boxed::Box::new_in(x, b),
                n
            )
        },
        "std heap": |_h: heap, n| boxed!(Vec::new(), |x| Box::new(x), n),
    ]);
    bench.repeated_row("standard library: 1,000 boxes of 32 bytes", sides, TARGETS);
}

/// A binary tree of the numbers below `n`, inserted in a mixed order, and the sum of its depths.
macro_rules! tree {
    ([$($generics:tt)*], $allocator:ty, $boxed:ty, |$a:ident, $node:ident| $new:expr, $with:expr, $n:ident) => {{
        struct Node<$($generics)*> {
            key: u64,
            children: [Option<$boxed>; 2],
        }

        fn insert<$($generics)*>($a: $allocator, mut place: &mut Option<$boxed>, key: u64) -> u64 {
            let mut depth = 0;
            while let Some(node) = place {
                let side = usize::from(key > node.key);
                place = &mut node.children[side];
                depth += 1;
            }
            let $node = Node { key, children: [None, None] };
            *place = Some($new);
            depth
        }

        let mut root = None;
        (0..$n).map(|n| insert($with, &mut root, n.wrapping_mul(0x9E37_79B9_7F4A_7C15))).sum::<u64>()
    }};
}

fn tree(bench: &mut Bench) {
    let heap = |n: u64| tree!([], (), Box<Node>, |_a, node| Box::new(node), (), n);
    let sides = contestants!(1_000, heap(1_000), [
        "ebbtide": |s: scope, n| {
            tree!(['s], &'s Scope<'s>, Box<Node<'s>, &'s Scope<'s>>, |s, node| Box::new_in(node, s), s, n)
        },
        "ebbtide, s.alloc()": |s: scope, n| {
            tree!(['s], &'s Scope<'s>, &'s mut Node<'s>, |s, node| s.alloc(node), s, n)
        },
        "bumpalo": |b: bump, n| {
            tree!(['b], &'b Bump, bumpalo::boxed::Box<'b, Node<'b>>,
                |b, node| bumpalo::boxed::Box::new_in(node, b), b, n)
        },
        "std heap": |_h: heap, n| tree!([], (), Box<Node>, |_a, node| Box::new(node), (), n),
    ]);
    bench.repeated_row("standard library: a tree of 1,000 boxes", sides, TARGETS);
}
