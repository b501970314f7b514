//! Which functions would pay as scopes.

use crate::{
    calls::Calls,
    compare::LEAST_GAIN,
    counts::{Counts, LITTLE, Number, Sums},
    lifetimes::{Block, Costs, Lifetimes},
    machine,
    symbols::{Function, Symbols},
};
use cargo_ebbtide::record::{Record, header};
use std::collections::HashSet;

/// A scope must serve so many blocks before it pays for itself.
const LEAST_BLOCKS: f64 = 16.0;

/// A scope must end the life of this share of its blocks.
const LEAST_INSIDE: f64 = 0.8;

/// A scope may allocate so many times the memory that its blocks hold on average, because memory
/// that is freed in a scope is not all used again before its end.
const MOST_CHURN: f64 = 72.0;

/// A program saves about 0.4 to 1.0 of the difference between an allocation and one in a scope that a
/// loop on this machine shows: chosen with the programs of dev/records/adviser.csv.
const REALISED: (f64, f64) = (0.4, 1.0);

/// A scope with less memory is preferred if it has at least this share of the gain.
pub(crate) const NEARLY: f64 = 0.75;

/// Functions with this share of common blocks and calls are one function for an adviser.
const ALIKE: f64 = 0.95;

/// The times of the program and of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The time of the program in seconds of the processor, without that of recording.
    pub(crate) program: f64,
    /// The time that a block takes, in seconds: to allocate it and to free it.
    pub(crate) alloc: f64,
    pub(crate) free: f64,
    /// The share of that time that a block of a scope takes.
    pub(crate) in_scope: f64,
    /// The time to open and to close a scope, in seconds.
    pub(crate) scope: f64,
}

impl Times {
    /// What records tell of the times. `seconds` are those of the processor that the process took with
    /// its children; `None` if there are children, or if they are not known.
    pub(crate) fn of(records: &[Record<'_>], lifetimes: &Lifetimes, seconds: Option<f64>) -> Times {
        // The ticks between two looks at the clock.
        const CLOCK: f64 = 25.0;
        let sum = |of: &dyn Fn(&Record<'_>) -> u64| -> f64 {
            records.iter().map(|record| of(record) as f64).sum()
        };
        let header = |index: usize| sum(&|record| record.header(index));
        let difference = |latest: usize, start: usize| {
            sum(&|record| record.header(latest).saturating_sub(record.header(start)))
        };
        let ticks = difference(header::LATEST_TICKS, header::START_TICKS).max(1.0);
        let passed = difference(header::LATEST_NANOSECONDS, header::START_NANOSECONDS) / 1e9;
        let tick = passed / ticks;
        let own = difference(header::LATEST_PROCESSOR, header::START_PROCESSOR) / 1e9;
        let taken = seconds.unwrap_or(if own > 0.0 { own } else { passed }).max(1e-9);
        let machine = machine::measure();
        // Where recording takes most of the time, it disturbs what blocks take. Beside other work, it waits
        // for the processor, as the program does, and the share of the ticks says more than the difference.
        let inside = header(header::INSIDE_TICKS) / (lifetimes.ticks as f64).max(1.0);
        let is_mostly_recorded = inside > 0.5;
        let timed = |costs: &Costs| match costs.mean(CLOCK) {
            Some(ticks) if !is_mostly_recorded => ticks * tick,
            _ => machine.pair / 2.0,
        };
        let (alloc, free) = (timed(&lifetimes.allocs), timed(&lifetimes.frees));
        let without = if is_mostly_recorded {
            taken * (1.0 - inside).max(0.0)
        } else {
            (taken - header(header::SPENT_TICKS) * tick).max(taken / 4.0)
        };
        // A recorded block costs the program's allocator nothing.
        let program = without + lifetimes.blocks.len() as f64 * (alloc + free);
        Times { program, alloc, free, in_scope: machine.in_scope, scope: machine.scope }
    }

    /// The share of the program's time that the allocator takes for so many blocks: at most 1, as the
    /// clock is not exact, and on a busy machine even less.
    fn share(&self, blocks: f64) -> f64 {
        (blocks * (self.alloc + self.free) / self.program).min(1.0)
    }

    /// The share of the program's time that scopes save in so many calls of a function.
    fn saved(&self, sums: &Sums, calls: f64, realised: f64) -> f64 {
        // A block that moves is allocated and freed once more.
        let moved = sums.resizes * sums.inside / sums.blocks.max(1.0);
        let pair = (self.alloc + self.free) * (1.0 - self.in_scope);
        ((sums.inside + moved) * pair * realised - calls * self.scope) / self.program
    }
}

/// Where blocks of a scope that outlive it were allocated.
#[derive(Clone, Debug)]
pub(crate) struct Escape {
    /// The functions around the allocation, from the innermost on.
    pub(crate) stack: Vec<Function>,
    pub(crate) blocks: f64,
    pub(crate) bytes: f64,
}

/// A function as a scope.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) function: Function,
    pub(crate) calls: f64,
    /// The standard error of that number, as a share of it.
    pub(crate) calls_error: f64,
    /// Whether these are its calls, and not only those of the function into which it is inlined.
    pub(crate) are_counted: bool,
    /// The blocks that die soon.
    soon: f64,
    /// Blocks and bytes that were allocated in its calls.
    pub(crate) blocks: f64,
    pub(crate) bytes: f64,
    /// The blocks among them that were freed before the call ended.
    pub(crate) inside: f64,
    /// The blocks that another thread freed.
    pub(crate) by_other: f64,
    pub(crate) resizes: f64,
    /// The number of recorded blocks that this rests on.
    pub(crate) recorded: usize,
    /// Shares of the program's time: what the allocator takes for these blocks, and the bounds between
    /// which the gain of a scope is expected.
    pub(crate) time: f64,
    pub(crate) gains: (f64, f64),
    pub(crate) escapes: Vec<Escape>,
    /// The file and the lines in it from where its blocks are allocated that are freed soon.
    pub(crate) lines: Option<String>,
    /// Whether it is worth a scope, which has to be a future's.
    pub(crate) is_polled: bool,
    /// The mean number of functions around it.
    depth: f64,
    members: HashSet<usize>,
}

impl Scope {
    fn of(
        function: Function,
        sums: Sums,
        number: Number,
        times: Times,
        calls: &mut Calls<'_>,
    ) -> Scope {
        let gain = |realised| times.saved(&sums, number.calls, realised);
        Scope {
            calls: number.calls,
            calls_error: number.error,
            are_counted: number.is_known,
            soon: sums.soon,
            blocks: sums.blocks,
            bytes: sums.bytes,
            inside: sums.inside,
            by_other: sums.by_other,
            resizes: sums.resizes,
            recorded: sums.members.len(),
            time: times.share(sums.blocks),
            gains: (gain(REALISED.0), gain(REALISED.1)),
            lines: sums.lines(function.location.as_deref()),
            escapes: escapes(&sums, calls),
            is_polled: false,
            depth: sums.depth / sums.blocks.max(1.0),
            members: sums.members,
            function,
        }
    }

    /// The middle of what a scope would save.
    pub(crate) fn gain(&self) -> f64 {
        f64::midpoint(self.gains.0, self.gains.1)
    }

    /// The share of its blocks that a scope would free.
    pub(crate) fn share_inside(&self) -> f64 {
        self.inside / self.blocks.max(1.0)
    }

    /// Whether its calls, if there are many, would be worth a scope each.
    fn pays(&self) -> bool {
        self.gain() >= LEAST_GAIN
            && self.share_inside() >= LEAST_INSIDE
            && self.blocks_a_call() >= LEAST_BLOCKS
            && self.recorded >= 20
    }

    /// Whether a scope would hold little memory, or little more than its blocks do.
    fn is_bounded(&self, blocks: &[Block]) -> bool {
        if !self.are_counted && self.soon >= LEAST_INSIDE * self.blocks {
            return true;
        }
        self.bytes_a_call() <= LITTLE.max(self.alive(blocks) * MOST_CHURN)
    }

    /// The bytes that its blocks hold on average, in all of its calls. Not the most: that of a few blocks,
    /// each of which stands for thousands, is mostly chance.
    fn alive(&self, blocks: &[Block]) -> f64 {
        let mut changes = Vec::new();
        for block in self.members.iter().map(|member| blocks[*member]) {
            let bytes = block.size as f64 * block.weight;
            changes.push((block.birth, bytes, block.weight));
            changes.extend(block.death.map(|death| (death, -bytes, 0.0)));
        }
        changes.sort_by_key(|change| change.0);
        let (mut held, mut sum) = (0.0_f64, 0.0_f64);
        for (_, change, weight) in changes {
            held += change;
            sum += held * weight;
        }
        sum / self.blocks.max(1.0)
    }

    /// Whether it was called once, or its calls look like one, with more than a little memory.
    pub(crate) fn seems_to_be_one_call(&self) -> bool {
        self.are_counted && self.calls < 1.5 && self.bytes_a_call() > LITTLE
    }

    pub(crate) fn blocks_a_call(&self) -> f64 {
        self.blocks / self.calls.max(1.0)
    }

    pub(crate) fn bytes_a_call(&self) -> f64 {
        self.bytes / self.calls.max(1.0)
    }
}

/// All that is known of a run.
pub(crate) struct Advice {
    /// Every function in whose calls blocks were allocated, by gain.
    pub(crate) all: Vec<Scope>,
    /// The indices of those that may be worth a scope, in sets that have calls in common.
    pub(crate) sets: Vec<Vec<usize>>,
    /// The indices of those that are worth a scope, the best first.
    pub(crate) chosen: Vec<usize>,
    /// If none is, the index of the innermost one that would be, but for its memory: either a loop is
    /// in it, or it is called in a loop and its calls look like one.
    pub(crate) too_long: Option<usize>,
    /// Blocks of the whole program, and the share of its time that the allocator takes.
    pub(crate) blocks: f64,
    pub(crate) recorded: usize,
    pub(crate) time: f64,
}

/// Functions that start the program or a thread, and those of the allocator itself.
pub(crate) fn is_of_the_runtime(name: &str) -> bool {
    const STARTS: [&str; 14] = [
        "_start",
        "__libc_start",
        "start_thread",
        "clone",
        "std::rt::",
        "std::sys::",
        "std::panic",
        "core::ops::function",
        "alloc::",
        "<alloc::",
        "__rust_",
        "__rustc::",
        "__rdl_",
        "<ebbtide_global::recorded",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

impl Advice {
    pub(crate) fn of(lifetimes: &Lifetimes, symbols: &Symbols, times: Times) -> Advice {
        let mut calls = Calls::new(lifetimes, symbols);
        let counts = Counts::of(lifetimes, &mut calls);
        let may_pay = |sums: &Sums, calls| times.saved(sums, calls, REALISED.1) >= LEAST_GAIN;
        let functions = counts.functions(lifetimes, symbols, may_pay).into_iter();
        let mut all: Vec<Scope> = functions
            .filter(|(function, ..)| function.is_named && !is_of_the_runtime(&function.name))
            .map(|(function, sums, number)| Scope::of(function, sums, number, times, &mut calls))
            .collect();
        all.sort_by(|a, b| b.gain().total_cmp(&a.gain()).then_with(|| a.function.cmp(&b.function)));
        for scope in all.iter_mut().filter(|scope| scope.pays()) {
            scope.is_polled = symbols.is_polled(&scope.function);
        }
        let sets = sets(&all, &lifetimes.blocks);
        let firsts = sets.iter().filter_map(|set| set.first().copied());
        let mut chosen: Vec<usize> =
            firsts.filter(|index| all[*index].is_bounded(&lifetimes.blocks)).collect();
        chosen.sort_by(|a, b| all[*b].gain().total_cmp(&all[*a].gain()));
        let best = all.iter().map(Scope::gain).fold(0.0, f64::max);
        let too_long = (0..all.len())
            .filter(|index| chosen.is_empty() && all[*index].are_counted)
            .filter(|index| all[*index].pays() && all[*index].gain() >= NEARLY * best)
            .max_by(|a, b| {
                let key = |index: usize| (all[index].function.is_own(), all[index].depth);
                let (a, b) = (key(*a), key(*b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            });
        let recorded = lifetimes.blocks.len();
        let blocks = lifetimes.blocks.iter().map(|block| block.weight).sum();
        Advice { all, sets, chosen, too_long, blocks, recorded, time: times.share(blocks) }
    }
}

/// Where the blocks of a function that outlive its calls were allocated, the most bytes first.
fn escapes(sums: &Sums, calls: &mut Calls<'_>) -> Vec<Escape> {
    let escapes = sums.escaped.iter().map(|(frame, (blocks, bytes))| {
        let path = calls.of(*frame);
        let functions = path.iter().rev().map(|call| &call.place.function);
        let stack = functions.filter(|function| !is_of_the_runtime(&function.name)).cloned();
        Escape { stack: stack.collect(), blocks: *blocks, bytes: *bytes }
    });
    let mut escapes: Vec<Escape> = escapes.collect();
    escapes.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    escapes
}

/// The functions that may be worth a scope, in sets whose calls lie in one another; in each, the one to
/// prefer is first: of those with little memory, of the program's own functions, if there are any, and of
/// those with nearly the best gain, the one that holds the least memory, and of several the innermost.
fn sets(all: &[Scope], blocks: &[Block]) -> Vec<Vec<usize>> {
    let weight = |members: &mut dyn Iterator<Item = &usize>| -> f64 {
        members.map(|member| blocks[*member].weight).sum()
    };
    let common = |one: &Scope, other: &Scope| weight(&mut one.members.intersection(&other.members));
    let mut left: Vec<usize> = (0..all.len()).filter(|index| all[*index].pays()).collect();
    let mut sets = Vec::new();
    while let Some(best) = left.first().copied() {
        let is_related = |other: &usize| {
            let (one, other) = (&all[best], &all[*other]);
            common(one, other) / one.blocks.min(other.blocks).max(1.0) > 0.5
        };
        let (mut related, others) = left.into_iter().partition::<Vec<_>, _>(is_related);
        left = others;
        let key = |index: usize| {
            let scope = &all[index];
            let is_less = scope.gain() < NEARLY * all[best].gain();
            (
                !scope.is_bounded(blocks),
                is_less,
                scope.function.host.is_some(),
                scope.function.is_inlined_closure(),
                !scope.function.is_own(),
            )
        };
        related.sort_by(|a, b| {
            let memory = |index: usize| all[index].bytes_a_call();
            let memory = memory(*a).total_cmp(&memory(*b));
            key(*a).cmp(&key(*b)).then(memory).then(all[*b].depth.total_cmp(&all[*a].depth))
        });
        // A call of what is polled may serve many requests. The innermost future is that of one.
        let is_future = |index: usize| all[index].is_polled && all[index].function.is_own();
        let first = related.first().copied().filter(|first| all[*first].is_polled);
        let nearly = |index: &&usize| {
            is_future(**index)
                && all[**index].is_bounded(blocks)
                && first.is_some_and(|first| all[**index].gain() >= NEARLY * all[first].gain())
        };
        let depth = |a: &&usize, b: &&usize| all[**a].depth.total_cmp(&all[**b].depth);
        if let Some(request) = related.iter().filter(nearly).max_by(depth).copied() {
            related.sort_by_key(|index| *index != request);
        }
        // A function that only calls another one says nothing new.
        let mut different: Vec<usize> = Vec::new();
        for index in related {
            let scope = &all[index];
            let alike = |other: &Scope| {
                let calls = scope.calls.min(other.calls) / scope.calls.max(other.calls).max(1.0);
                calls * common(scope, other) / scope.blocks.max(other.blocks).max(1.0)
            };
            if different.iter().all(|other| alike(&all[*other]) < ALIKE) {
                different.push(index);
            }
        }
        sets.push(different);
    }
    sets
}
