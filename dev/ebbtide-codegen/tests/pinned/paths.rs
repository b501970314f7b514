//! Control flow of a function's assembly: which blocks run if the requested block of memory fits.

use crate::machine::{Machine, is_code};
use std::collections::{BTreeMap, BTreeSet};

/// The calls that the fast path may make. Any other leads to the slow path or to a panic.
const WARM: [&str; 3] = ["memcpy", "memmove", "prefetch"];

const COPIES: [&str; 2] = ["memcpy", "memmove"];

/// The basic blocks of a function.
struct Graph<'a> {
    machine: Machine,
    blocks: Vec<Vec<&'a str>>,
    successors: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn of(machine: Machine, body: &'a str) -> Self {
        let mut blocks = vec![Vec::new()];
        let mut labels = BTreeMap::new();
        for line in body.lines() {
            if let Some(label) = line.strip_suffix(':') {
                blocks.push(Vec::new());
                labels.insert(label, blocks.len() - 1);
                continue;
            }
            let instruction = line.trim();
            blocks.last_mut().expect("never empty").push(instruction);
            if machine.is_jump(instruction) || machine.is_return(instruction) {
                blocks.push(Vec::new());
            }
        }
        let successors = (0..blocks.len())
            .map(|index| {
                let last = blocks[index].last().copied().unwrap_or_default();
                let target = machine
                    .is_jump(last)
                    .then(|| labels.get(machine.label(last)).copied())
                    .flatten();
                let falls = !machine.is_return(last) && !machine.is_unconditional(last);
                let next = (falls && index + 1 < blocks.len()).then_some(index + 1);
                target.into_iter().chain(next).collect()
            })
            .collect();
        Graph { machine, blocks, successors }
    }

    /// What a call through a register calls, if the register was loaded with a function's address.
    fn target(&self, call: &'a str) -> &'a str {
        let Some(register) = self.machine.called_register(call) else { return call };
        let is_load = |line: &&&str| self.machine.loads_function(register, line);
        let mut loads = self.blocks.iter().flatten().filter(is_load);
        loads.next_back().copied().unwrap_or_default()
    }

    /// Whether a block makes a call that is not part of the fast path. Calls through a register
    /// without a known function belong to the test's own code.
    fn is_cold(&self, index: usize) -> bool {
        self.blocks[index].iter().filter(|line| self.machine.is_call(line)).any(|call| {
            let target = self.target(call);
            !target.is_empty() && !WARM.iter().any(|copy| target.contains(copy))
        })
    }

    /// The blocks on a path from the start to a return or tail call without a cold call; in a
    /// function with a loop, the blocks of the loop.
    fn fast(&self) -> BTreeSet<usize> {
        let warm: Vec<bool> = (0..self.blocks.len()).map(|index| !self.is_cold(index)).collect();
        let reached = closure(&[0], |index| {
            self.successors[index].iter().copied().filter(|next| warm[*next]).collect()
        });
        let ends: Vec<usize> = reached
            .iter()
            .copied()
            .filter(|index| {
                let last = self.blocks[*index].last().copied().unwrap_or_default();
                let leaves =
                    self.machine.is_unconditional(last) && self.successors[*index].is_empty();
                // A jump to the cold code is a call that does not return here.
                let is_warm = WARM.iter().any(|function| last.contains(function));
                self.machine.is_return(last) || leaves && is_warm
            })
            .collect();
        let fast = closure(&ends, |index| {
            reached.iter().copied().filter(|from| self.successors[*from].contains(&index)).collect()
        });
        let next = |index: usize| -> Vec<usize> {
            self.successors[index].iter().copied().filter(|next| fast.contains(next)).collect()
        };
        let in_cycle = |index: usize| closure(&next(index), next).contains(&index);
        let turn: BTreeSet<usize> = fast.iter().copied().filter(|index| in_cycle(*index)).collect();
        if turn.is_empty() { fast } else { turn }
    }
}

/// Everything that can be reached from `from`.
fn closure(from: &[usize], next: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let mut found: BTreeSet<usize> = from.iter().copied().collect();
    let mut open = from.to_vec();
    while let Some(index) = open.pop() {
        open.extend(next(index).into_iter().filter(|index| found.insert(*index)));
    }
    found
}

/// The instructions that run if the block fits, in the order of the listing; in a function with a
/// loop, those of one iteration.
pub(crate) fn fast_path(machine: Machine, body: &str) -> Vec<&str> {
    let graph = Graph::of(machine, body);
    let fast = graph.fast();
    fast.into_iter().flat_map(|index| graph.blocks[index].clone()).collect()
}

/// The number of instructions on the shortest path without a cold call, and how many of them load a
/// pair of words. In a function that calls `memcpy`, the path includes such a call. `None` if there
/// is no such path.
pub(crate) fn shortest(machine: Machine, body: &str) -> Option<(usize, usize)> {
    let graph = Graph::of(machine, body);
    let fast = graph.fast();
    let copies = |index: usize| {
        let mut calls = graph.blocks[index].iter().filter(|line| machine.is_call(line));
        calls.any(|call| COPIES.iter().any(|copy| graph.target(call).contains(copy)))
    };
    let has_copy = fast.iter().any(|index| copies(*index));
    let length = |index: usize| {
        let block = &graph.blocks[index];
        let pairs = block.iter().filter(|line| line.starts_with("ldp\t")).count();
        (block.iter().filter(|line| is_code(line)).count(), pairs)
    };
    // The state is a block, and whether a copy was made on the way to it.
    let mut open = BTreeSet::from([(length(0), 0, !has_copy || copies(0))]);
    let mut done = BTreeSet::new();
    while let Some((so_far, index, copied)) = open.pop_first() {
        if !done.insert((index, copied)) {
            continue;
        }
        let next = || graph.successors[index].iter().copied().filter(|next| fast.contains(next));
        if copied && next().next().is_none() {
            return Some(so_far);
        }
        open.extend(next().map(|next| {
            let (instructions, pairs) = length(next);
            let sum = (so_far.0 + instructions, so_far.1 + pairs);
            (sum, next, copied || copies(next))
        }));
    }
    None
}

/// The instructions of the fast path that write to the stack, or pass its address to `memcpy`;
/// saving registers on entry does not count.
pub(crate) fn stack_stores(machine: Machine, body: &str) -> Vec<String> {
    let graph = Graph::of(machine, body);
    let mut stores = Vec::new();
    for index in graph.fast() {
        let block = &graph.blocks[index];
        for (position, line) in block.iter().enumerate() {
            let next_call = || block[position..].iter().find(|line| machine.is_call(line));
            let is_copy_to_stack = machine.passes_stack(line)
                && next_call().is_some_and(|call| {
                    COPIES.iter().any(|copy| graph.target(call).contains(copy))
                });
            if machine.is_stack_store(line) || is_copy_to_stack {
                stores.push((*line).to_owned());
            }
        }
    }
    stores
}
