//! Interleaved timing: in every round, each contestant of a row runs one batch, in random order, so
//! that other load on the machine and the state left by other contestants affect all of them
//! equally. Ratios are computed within a round.

use crate::{machine, spread::Spread};
use lexopt::prelude::*;
use std::{
    hint::black_box,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

/// The options of a run.
pub struct Plan {
    /// The maximum number of rounds per row.
    pub rounds: usize,
    /// The time per row. A row with long batches gets fewer rounds, but at least [`FEWEST`].
    pub budget: Duration,
    /// Leaves out the largest inputs.
    pub quick: bool,
    /// Measures only rows whose name contains this.
    pub only: String,
    /// The file for the record.
    pub csv: Option<PathBuf>,
}

const FEWEST: usize = 7;

impl Plan {
    /// Parses the command line. `full` is the time per row without `--quick`, `quick` with it.
    pub fn from_arguments(full: Duration, quick: Duration) -> Result<Self, lexopt::Error> {
        let mut plan =
            Plan { rounds: 600, budget: full, quick: false, only: String::new(), csv: None };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("quick") => {
                    (plan.rounds, plan.budget, plan.quick) = (100, quick, true);
                }
                Long("only") => plan.only = arguments.value()?.string()?,
                Long("csv") => plan.csv = Some(arguments.value()?.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(plan)
    }
}

/// The main function of a program that measures rows.
pub fn main(full: Duration, quick: Duration, run: impl FnOnce(&mut Bench)) -> ExitCode {
    match Plan::from_arguments(full, quick) {
        Ok(plan) => {
            let mut bench = Bench::new(plan);
            run(&mut bench);
            bench.verdict()
        }
        Err(error) => {
            eprintln!("{error}\nusage: [--quick] [--only TEXT] [--csv FILE]");
            ExitCode::from(2)
        }
    }
}

/// A contestant of a row.
pub struct Contestant<'a> {
    name: &'static str,
    /// Runs one batch of this many operations and returns its time.
    batch: Box<dyn FnMut() -> Duration + 'a>,
}

/// A contestant that runs `batch`.
pub fn contestant<'a>(name: &'static str, mut batch: impl FnMut() + 'a) -> Contestant<'a> {
    timed(name, move || {
        let start = Instant::now();
        batch();
        start.elapsed()
    })
}

/// A contestant whose batches measure their own time, because they include work that does not
/// count.
pub fn timed<'a>(name: &'static str, batch: impl FnMut() -> Duration + 'a) -> Contestant<'a> {
    Contestant { name, batch: Box::new(batch) }
}

/// A contestant whose operation is too short for the clock, so that a batch repeats it.
pub struct Repeated<'a> {
    name: &'static str,
    /// Runs the operation this many times.
    run: Box<dyn FnMut(usize) + 'a>,
}

/// A contestant whose `run` repeats its operation the given number of times.
pub fn repeated<'a>(name: &'static str, run: impl FnMut(usize) + 'a) -> Repeated<'a> {
    Repeated { name, run: Box::new(run) }
}

/// The least time of a batch of repeated operations: a thousand times the resolution of the clock,
/// and long enough that what the previous contestant left in the caches does not count.
const LEAST_BATCH: Duration = Duration::from_micros(20);

/// The required result of a row.
pub enum Target {
    /// At least this many times as fast as the best peer.
    BestPeer(f64),
    /// At least this many times as fast as the named contestant.
    AtLeast(f64, &'static str),
    /// At most this many times the time of the named contestant.
    AtMost(f64, &'static str),
}

/// The contestant that the others are compared with.
pub const OURS: &str = "ebbtide";
/// The contestant that checks nothing, as a lower bound.
pub const LIMIT: &str = "limit";

/// Collects rows.
pub struct Bench {
    plan: Plan,
    record: String,
    missed: Vec<String>,
    settle: bool,
}

/// The result of a row.
pub struct Outcome {
    /// The best peer's time ÷ ours.
    pub best: f64,
    pub best_name: &'static str,
}

impl Bench {
    pub fn new(plan: Plan) -> Self {
        let columns =
            "row,contestant,median_ns,p99_ns,ratio,ratio_low,ratio_high,rounds,bar,value,held\n";
        Bench { plan, record: machine::header() + columns, missed: Vec::new(), settle: false }
    }

    pub fn quick(&self) -> bool {
        self.plan.quick
    }

    /// Whether a row of this name will be measured, for rows with expensive input.
    pub fn wants(&self, name: &str) -> bool {
        name.contains(&self.plan.only)
    }

    /// Measures the rows of `rows` with an untimed batch before each timed batch of a contestant,
    /// so that memory the heap kept from another contestant does not count. For batches that create
    /// and drop large arenas.
    pub fn settled(&mut self, rows: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.settle, true);
        rows(self);
        self.settle = before;
    }

    /// Measures one row. A batch does `operations` operations; the first contestant is ours.
    #[allow(clippy::cast_precision_loss)]
    pub fn row(
        &mut self,
        name: &str,
        operations: usize,
        mut contestants: Vec<Contestant<'_>>,
        targets: &[Target],
    ) -> Option<Outcome> {
        if !self.wants(name) {
            return None;
        }
        let rounds = self.warm(&mut contestants);
        let mut times = vec![Vec::with_capacity(rounds); contestants.len()];
        let mut order: Vec<usize> = (0..contestants.len()).collect();
        let mut random = fastrand::Rng::with_seed(0);
        for _ in 0..rounds {
            // The previous contestant affects caches and the heap. A rotation would always have the
            // same predecessor.
            random.shuffle(&mut order);
            for &index in &order {
                if self.settle {
                    (contestants[index].batch)();
                }
                let elapsed = (contestants[index].batch)();
                times[index].push(elapsed.as_nanos() as f64 / operations as f64);
            }
        }
        println!("\n{name}");
        let sides: Vec<Side> = contestants
            .iter()
            .zip(&times)
            .map(|(side, own)| Side {
                name: side.name,
                time: Spread::of(own.iter().copied()),
                ratio: Spread::of(own.iter().zip(&times[0]).map(|(theirs, ours)| theirs / ours)),
            })
            .collect();
        let verdicts: Vec<Verdict> =
            targets.iter().filter_map(|target| target.check(&sides)).collect();
        for Side { name: side, time, ratio } in &sides {
            println!(
                "  {side:<22} {:>9.3} ns  p99 {:>9.3}   theirs/ours {:>6.2}  [{:.2}, {:.2}]",
                time.median, time.p99, ratio.median, ratio.low, ratio.high
            );
            self.record.push_str(&format!(
                "\"{name}\",\"{side}\",{:.4},{:.4},{:.4},{:.4},{:.4},{rounds},",
                time.median, time.p99, ratio.median, ratio.low, ratio.high
            ));
            let verdict = verdicts.iter().find(|verdict| verdict.against == *side);
            self.record.push_str(&match verdict {
                Some(Verdict { target, value, held, .. }) => {
                    format!("{target},{value:.4},{}\n", if *held { "yes" } else { "no" })
                }
                None => ",,\n".to_owned(),
            });
        }
        for Verdict { against, target, value, held } in verdicts {
            let text = format!("{value:.2} of {target}, {against}");
            println!("  {} {text}", if held { "met   " } else { "MISSED" });
            if !held {
                self.missed.push(format!("{name}: {text}"));
            }
        }
        best_peer(&sides).map(|side| Outcome { best: side.ratio.median, best_name: side.name })
    }

    /// Measures one row of repeated operations. All contestants repeat theirs equally often, chosen
    /// so that the fastest one's batch takes [`LEAST_BATCH`].
    pub fn repeated_row(
        &mut self,
        name: &str,
        mut contestants: Vec<Repeated<'_>>,
        targets: &[Target],
    ) -> Option<Outcome> {
        if !self.wants(name) {
            return None;
        }
        let mut turns = 1;
        let is_short = |side: &mut Repeated<'_>, turns| {
            let start = Instant::now();
            (side.run)(turns);
            start.elapsed() < LEAST_BATCH
        };
        while contestants.iter_mut().any(|side| is_short(side, turns)) {
            turns *= 2;
        }
        let contestants = contestants
            .into_iter()
            .map(|Repeated { name, mut run }| contestant(name, move || run(turns)))
            .collect();
        self.row(name, turns, contestants, targets)
    }

    /// Records the heap memory of an arena per allocated byte.
    pub fn memory(&mut self, row: &str, contestant: &str, taken: usize, asked: usize) {
        #[allow(clippy::cast_precision_loss)]
        let ratio = taken as f64 / asked as f64;
        println!("  {contestant:<22} {ratio:>9.3} heap bytes per byte");
        self.record.push_str(&format!("\"memory, {row}\",\"{contestant}\",{ratio:.4},,,,,,,,\n"));
    }

    /// Runs a few rounds, and returns the number that fits the budget.
    fn warm(&self, contestants: &mut [Contestant<'_>]) -> usize {
        let start = Instant::now();
        let mut rounds = 0u32;
        while rounds < 20 && (rounds == 0 || start.elapsed() < self.plan.budget / 8) {
            for side in &mut *contestants {
                (side.batch)();
            }
            rounds += 1;
        }
        let round = start.elapsed() / rounds * if self.settle { 2 } else { 1 };
        let affordable = self.plan.budget.as_nanos() / round.as_nanos().max(1);
        usize::try_from(affordable).unwrap_or(usize::MAX).clamp(FEWEST, self.plan.rounds)
    }

    /// Records a summary and whether its target is met.
    pub fn summary(&mut self, what: &str, target: &str, value: f64, held: bool) {
        println!("\n{} {what}: {value:.3} of {target}", if held { "met   " } else { "MISSED" });
        let yes = if held { "yes" } else { "no" };
        self.record.push_str(&format!("\"{what}\",,,,{value:.4},,,,{target},{value:.4},{yes}\n"));
        if !held {
            self.missed.push(format!("{what}: {value:.3} of {target}"));
        }
    }

    /// Writes the record. A missed target is not an error; it is printed and recorded.
    pub fn verdict(self) -> ExitCode {
        if let Some(path) = &self.plan.csv
            && let Err(error) = std::fs::write(path, &self.record)
        {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("\n{} targets missed", self.missed.len());
        for text in &self.missed {
            println!("  {text}");
        }
        ExitCode::SUCCESS
    }
}

struct Side {
    name: &'static str,
    time: Spread,
    ratio: Spread,
}

struct Verdict {
    against: &'static str,
    target: String,
    value: f64,
    held: bool,
}

fn best_peer(sides: &[Side]) -> Option<&Side> {
    let peers = sides.iter().filter(|side| !side.name.starts_with(OURS) && side.name != LIMIT);
    peers.min_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median))
}

impl Target {
    fn check(&self, sides: &[Side]) -> Option<Verdict> {
        let named = |name: &str| sides.iter().find(|side| side.name == name);
        let (side, target, value, held) = match *self {
            Target::BestPeer(least) => {
                let side = best_peer(sides)?;
                let value = side.ratio.median;
                (side, format!("at least {least} against the best peer"), value, value >= least)
            }
            Target::AtLeast(least, against) => {
                let side = named(against)?;
                let value = side.ratio.median;
                (side, format!("at least {least}"), value, value >= least)
            }
            Target::AtMost(most, against) => {
                let side = named(against)?;
                let value = 1.0 / side.ratio.median;
                (side, format!("at most {most}"), value, value <= most)
            }
        };
        Some(Verdict { against: side.name, target, value, held })
    }
}

/// Acts like an opaque call that may read the pointer, its target, and any other reachable memory.
#[inline(always)]
pub fn observe<T: ?Sized>(value: &mut T) {
    black_box(value);
}

/// Hides a number from the optimiser.
pub fn hidden(number: usize) -> usize {
    black_box(number)
}
