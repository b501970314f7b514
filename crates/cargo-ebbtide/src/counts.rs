//! What the recorded blocks tell of each function: how many die in its calls, and how many calls there are.

use crate::{
    calls::{Call, Calls},
    lifetimes::{Block, Lifetimes, Look},
    symbols::{Function, Symbols},
    turns::Turns,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    rc::Rc,
};

/// A scope may allocate so many bytes in any case.
pub(crate) const LITTLE: f64 = 1_048_576.0;

/// A block dies soon if its thread has allocated no more blocks since.
const SOON: u64 = 512;

/// A block that is older than so many inlined calls, by the blocks that one allocates, has outlived its own.
const OLD: f64 = 16.0;

/// A line of a loop has this share of its short-lived blocks.
const LEAST_LINE: f64 = 0.01;

/// If more calls than this share end before a later block, some may have ended before it twice.
const MOST_ENDED: f64 = 0.8;

/// The error of a number of calls that is not used: then those are counted that were seen, or none if the
/// function is inlined.
const MOST_ERROR: f64 = 0.3;

/// What the blocks tell that were allocated some blocks after recorded ones.
#[derive(Default)]
struct After {
    /// The blocks that the recorded ones stand for, and the sum of the squares.
    looked: f64,
    squares: f64,
    /// Those among them of which the call has ended.
    ended: f64,
}

/// A rate with its relative variance.
#[derive(Clone, Copy)]
struct Estimate {
    rate: f64,
    variance: f64,
}

impl After {
    fn add(&mut self, weight: f64, has_ended: bool) {
        self.looked += weight;
        self.squares += weight * weight;
        self.ended += if has_ended { weight } else { 0.0 };
    }

    /// The ends for each block; `None` if there are none, or if two may lie in a gap.
    fn ends(&self, gap: u64) -> Option<Estimate> {
        let share = self.ended / self.looked;
        let looks = self.looked * self.looked / self.squares;
        let variance = (1.0 - share) / share / looks;
        (share > 0.0 && share <= MOST_ENDED)
            .then_some(Estimate { rate: share / gap as f64, variance })
    }
}

impl Estimate {
    /// Whether this rate is lower than another one, beyond chance.
    fn is_below(self, other: Estimate) -> bool {
        self.rate < other.rate * (1.0 - 2.0 * (self.variance + other.variance).sqrt())
    }

    /// The mean of two that are independent.
    fn and(self, other: Estimate) -> Estimate {
        let (one, two) = (1.0 / self.variance, 1.0 / other.variance);
        let rate = (self.rate * one + other.rate * two) / (one + two);
        Estimate { rate, variance: 1.0 / (one + two) }
    }
}

/// A number of calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub(crate) calls: f64,
    /// The standard error, as a share of it.
    pub(crate) error: f64,
    /// Whether these are the calls of the function, and not only of that into which it is inlined.
    pub(crate) is_known: bool,
}

/// What is known of one function while the blocks are counted.
#[derive(Default)]
pub(crate) struct Sums {
    /// The calls that some recorded block was the first to show.
    seen: f64,
    /// By the number of blocks between.
    after: BTreeMap<u64, After>,
    pub(crate) blocks: f64,
    pub(crate) bytes: f64,
    pub(crate) inside: f64,
    pub(crate) by_other: f64,
    pub(crate) resizes: f64,
    pub(crate) members: HashSet<usize>,
    pub(crate) depth: f64,
    pub(crate) escaped: BTreeMap<usize, (f64, f64)>,
    /// The blocks that die soon.
    pub(crate) soon: f64,
    /// The blocks that are short-lived, by the line in the function.
    lines: BTreeMap<(Rc<str>, u32), f64>,
    /// Of an inlined function, the addresses in each of its places, and the blocks that died inside.
    inlined: BTreeMap<usize, BTreeSet<u64>>,
    died: Vec<usize>,
    /// The sum of the squares of the weights of the blocks that are allocated without another call.
    direct: f64,
}

impl Sums {
    /// The number of calls.
    ///
    /// Each call has one last block. If of the blocks that lie `gap` blocks after recorded ones a share
    /// are in another call, there is an end in `gap / share` blocks, as long as no gap has two. The
    /// widest such gap has the most ends. Where some calls have fewer blocks than the gap, it finds
    /// fewer ends than a narrower one does, and is not used. If hardly any call ends, so many blocks
    /// are recorded of each call that all calls are seen.
    fn calls(&self) -> Number {
        let seen = Number { calls: self.seen.max(1.0), error: 0.0, is_known: true };
        let mut ends: Vec<Estimate> = Vec::new();
        for (gap, after) in &self.after {
            let Some(here) = after.ends(*gap) else { continue };
            if ends.iter().any(|narrower| here.is_below(*narrower)) {
                break;
            }
            ends.push(here);
        }
        // The two widest: they are of different recorded blocks.
        let ends = match ends[..] {
            [.., one, two] => one.and(two),
            [one] => one,
            [] => return seen,
        };
        let (calls, error) = (self.blocks * ends.rate, ends.variance.sqrt());
        if error > MOST_ERROR || calls < seen.calls {
            seen
        } else {
            Number { calls, error, is_known: true }
        }
    }

    fn escape(&mut self, block: &Block) {
        let escaped = self.escaped.entry(block.frame).or_default();
        escaped.0 += block.weight;
        escaped.1 += block.size as f64 * block.weight;
    }

    /// Counts what one look tells of a frame.
    fn look(&mut self, look: &Look, weight: f64, frame: usize) {
        // What had ended at the look before was counted then, for this one too.
        if frame >= look.before {
            return;
        }
        let has_ended = frame >= look.alive;
        let mut gap = look.gap;
        self.after.entry(gap).or_default().add(weight, has_ended);
        while has_ended && gap <= look.last / Look::FARTHER {
            gap *= Look::FARTHER;
            self.after.entry(gap).or_default().add(weight, true);
        }
    }

    /// The number of calls of an inlined function; `None` if nothing tells. From an address that is in no
    /// loop of it, it calls another function once at most: the most such calls are as many as its own. If
    /// all are in loops, and none of these is around it, its calls are as many as those of its `host`.
    fn inlined_calls(
        &self,
        sites: &HashMap<u64, Sums>,
        host: f64,
        lifetimes: &Lifetimes,
        symbols: &Symbols,
    ) -> Option<Number> {
        let of_place = |(place, addresses): (&usize, &BTreeSet<u64>)| {
            let site = |address: &u64| (sites[address].site_calls(), *address);
            let mut sites: Vec<(Number, u64)> = addresses.iter().map(site).collect();
            sites.sort_by(|a, b| b.0.calls.total_cmp(&a.0.calls));
            let mut is_repeated = false;
            for (number, address) in sites {
                match symbols.turns(&lifetimes.modules, address, *place) {
                    Turns::Once => return Some(number),
                    turns => is_repeated |= turns == Turns::InBoth,
                }
            }
            (!is_repeated).then_some(Number { calls: host, error: 0.0, is_known: true })
        };
        let places: Vec<Number> = self.inlined.iter().map(of_place).collect::<Option<_>>()?;
        let calls: f64 = places.iter().map(|place| place.calls).sum();
        let squares: f64 = places.iter().map(|place| (place.calls * place.error).powi(2)).sum();
        let error = squares.sqrt() / calls.max(1.0);
        Some(Number { calls, error, is_known: error <= MOST_ERROR })
    }

    /// The number of calls from an address. Each block is one that is allocated without another call.
    fn site_calls(&self) -> Number {
        if self.direct == 0.0 {
            return self.calls();
        }
        Number { calls: self.blocks, error: self.direct.sqrt() / self.blocks, is_known: true }
    }

    /// Counts what is too old to have died inside an inlined call as what outlives it: where the code is
    /// in the same place again, the call may be a later one.
    fn leave_old(&mut self, calls: f64, blocks: &[Block]) {
        let most = OLD * self.blocks / calls.max(1.0);
        for block in std::mem::take(&mut self.died).into_iter().map(|index| &blocks[index]) {
            if block.age as f64 > most {
                self.inside -= block.weight;
                self.escape(block);
            }
        }
    }

    /// The file and the first line from which it allocates.
    fn first_line(&self) -> Option<String> {
        self.lines.keys().next().map(|(file, line)| format!("{file}:{line}"))
    }

    /// The file and the lines in it from which it allocates what is freed soon, for a function at this
    /// location.
    pub(crate) fn lines(&self, location: Option<&str>) -> Option<String> {
        let (own, _) = location?.rsplit_once(':')?;
        let all: f64 = self.lines.values().sum();
        let mut lines = self
            .lines
            .iter()
            .filter(|((file, _), short)| **file == *own && **short > LEAST_LINE * all)
            .map(|((_, line), _)| *line);
        let first = lines.next()?;
        let last = lines.next_back().map_or(String::new(), |last| format!("-{last}"));
        Some(format!("{own}:{first}{last}"))
    }
}

/// What is known while the blocks are counted.
#[derive(Default)]
pub(crate) struct Counts {
    functions: HashMap<Function, Sums>,
    /// What is called from an address in a function that has inlined calls there.
    sites: HashMap<u64, Sums>,
}

impl Counts {
    pub(crate) fn of(lifetimes: &Lifetimes, calls: &mut Calls<'_>) -> Counts {
        let mut counts = Counts::default();
        let (blocks, bytes) = lifetimes.blocks.iter().fold((0.0, 0.0), |(blocks, bytes), block| {
            (blocks + block.weight, bytes + block.size as f64 * block.weight)
        });
        for (index, block) in lifetimes.blocks.iter().enumerate() {
            let is_short = block.age as f64 * bytes / blocks <= LITTLE;
            let path = calls.of(block.frame);
            counts.add(index, block, &path, calls.alive(block), is_short);
        }
        for look in &lifetimes.looks {
            let block = &lifetimes.blocks[look.block];
            counts.look(look, block.weight, &calls.of(block.frame));
        }
        counts
    }

    /// Counts one block for each function on its stack, for the outermost of its calls. It is short-lived if
    /// its thread allocates little until its death.
    fn add(&mut self, index: usize, block: &Block, path: &[Call], alive: usize, is_short: bool) {
        let weight = block.weight;
        let mut seen = HashSet::new();
        for (depth, call) in path.iter().enumerate() {
            let function = &call.place.function;
            if !seen.insert(function) {
                continue;
            }
            let sums = self.functions.entry(function.clone()).or_default();
            let bytes = block.size as f64 * weight;
            sums.blocks += weight;
            sums.bytes += bytes;
            sums.resizes += block.resizes as f64 * weight;
            sums.depth += depth as f64 * weight;
            sums.members.insert(index);
            if call.frame >= block.continued {
                sums.seen += 1.0;
            }
            if block.freed_by_other {
                sums.by_other += weight;
            }
            let is_inside = depth < alive;
            if is_inside {
                sums.inside += weight;
                sums.soon += if block.age <= SOON { weight } else { 0.0 };
            } else {
                sums.escape(block);
            }
            if let Some(line) = &call.place.line {
                let short = if is_inside && is_short { weight } else { 0.0 };
                *sums.lines.entry(line.clone()).or_default() += short;
            }
            if function.host.is_some() {
                sums.inlined.entry(call.place.inlined).or_default().insert(call.address);
                sums.died.extend(is_inside.then_some(index));
                let site = self.sites.entry(call.address).or_default();
                // Functions that are inlined into one another have one frame.
                if site.members.insert(index) {
                    let is_direct = path.last().is_some_and(|last| last.frame == call.frame);
                    let is_new = is_direct || call.frame + 1 >= block.continued;
                    site.blocks += weight;
                    site.direct += if is_direct { weight * weight } else { 0.0 };
                    site.seen += if is_new { 1.0 } else { 0.0 };
                }
            }
        }
    }

    /// Counts what one look tells of each function on the stack, for the outermost of its calls.
    fn look(&mut self, look: &Look, weight: f64, path: &[Call]) {
        let (mut seen, mut sites) = (HashSet::new(), HashSet::new());
        for call in path {
            let function = &call.place.function;
            if !seen.insert(function) {
                continue;
            }
            if function.host.is_none() {
                if let Some(sums) = self.functions.get_mut(function) {
                    sums.look(look, weight, call.frame);
                }
            } else if let Some(site) = self.sites.get_mut(&call.address)
                && sites.insert(call.address)
            {
                site.look(look, weight, call.frame + 1);
            }
        }
    }

    /// What is known of each function, with the number of its calls. That of an inlined function is only
    /// looked for if it `may_pay` with so many calls at least.
    pub(crate) fn functions(
        self,
        lifetimes: &Lifetimes,
        symbols: &Symbols,
        may_pay: impl Fn(&Sums, f64) -> bool,
    ) -> Vec<(Function, Sums, Number)> {
        let Counts { functions, sites } = self;
        let compiled = functions.iter().filter(|(function, _)| function.host.is_none());
        let compiled: HashMap<String, f64> =
            compiled.map(|(function, sums)| (function.name.clone(), sums.calls().calls)).collect();
        let number = |(mut function, mut sums): (Function, Sums)| {
            let Some(host) = &function.host else {
                let number = sums.calls();
                return (function, sums, number);
            };
            let host = compiled.get(host).copied().unwrap_or(1.0);
            let found = may_pay(&sums, host)
                .then(|| sums.inlined_calls(&sites, host, lifetimes, symbols))
                .flatten();
            let number = found.unwrap_or(Number { calls: host, error: 0.0, is_known: false });
            sums.leave_old(number.calls, &lifetimes.blocks);
            function.location = sums.first_line();
            (function, sums, number)
        };
        functions.into_iter().map(number).collect()
    }
}
