//! A scope around a loop, and a scope for each of its items. An item builds trees of small blocks,
//! reads them, and drops them in random order. Prints the least time of an item in microseconds,
//! with a peak of about 6 MiB alive in each.
//!
//! Arguments: `beside` keeps trees of the same size alive meanwhile, `keeping` keeps one more block
//! after each item.

use ebbtide_global::{Scoped, arena};
use std::{alloc::System, env, hint::black_box, time::Instant};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

struct Numbers(usize);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

enum Tree {
    Leaf(usize),
    Text(Box<[u8]>),
    List(Vec<Tree>),
    Pair(Box<(Tree, Tree)>),
}

fn build(numbers: &mut Numbers, depth: usize) -> Tree {
    let kind = if depth == 0 { numbers.below(2) } else { 1 + numbers.below(8) };
    match kind {
        0 | 3 => Tree::Leaf(numbers.below(100)),
        1 | 4 => Tree::Text(vec![7; 1 + numbers.below(90)].into()),
        2 | 5 => Tree::Pair(Box::new((build(numbers, depth - 1), build(numbers, depth - 1)))),
        _ => Tree::List((0..numbers.below(7)).map(|_| build(numbers, depth - 1)).collect()),
    }
}

fn sum(tree: &Tree) -> usize {
    match tree {
        Tree::Leaf(number) => *number,
        Tree::Text(text) => text.iter().map(|byte| usize::from(*byte)).sum(),
        Tree::List(trees) => trees.iter().map(sum).sum(),
        Tree::Pair(pair) => sum(&pair.0) + sum(&pair.1),
    }
}

fn drop_in_random_order(tree: Tree, numbers: &mut Numbers) {
    let mut open = vec![tree];
    while !open.is_empty() {
        let which = numbers.below(open.len());
        match open.swap_remove(which) {
            Tree::List(trees) => open.extend(trees),
            Tree::Pair(pair) => open.extend(<[Tree; 2]>::from(*pair)),
            Tree::Leaf(_) | Tree::Text(_) => {}
        }
    }
}

const TREES: usize = 300;
const ITEMS: usize = 60;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let has = |argument: &str| arguments.iter().any(|each| each == argument);
    let (beside, keeping) = (has("beside"), has("keeping"));
    let run = |scope: fn(&mut dyn FnMut())| {
        let mut numbers = Numbers(2_463_534_242);
        let trees = |numbers: &mut Numbers, count| -> Vec<Tree> {
            (0..count).map(|_| build(numbers, 7)).collect()
        };
        let base = trees(&mut numbers, if beside { 2 * TREES } else { 0 });
        let (mut kept, mut least) = (Vec::new(), u128::MAX);
        for _ in 0..ITEMS {
            let start = Instant::now();
            scope(&mut || {
                let (first, second) = (trees(&mut numbers, TREES), trees(&mut numbers, TREES));
                for _ in 0..3 {
                    black_box(first.iter().map(sum).sum::<usize>());
                }
                if keeping {
                    kept.push(vec![1_u8; 50]);
                }
                for tree in second.into_iter().chain(first) {
                    drop_in_random_order(tree, &mut numbers);
                }
            });
            least = least.min(start.elapsed().as_micros());
        }
        black_box((base, kept));
        least
    };
    println!("no scope:             {:6} µs", run(|item| item()));
    println!("a scope for each:     {:6} µs", run(|item| arena(item)));
    println!("one around the loop:  {:6} µs", arena(|| run(|item| item())));
}
