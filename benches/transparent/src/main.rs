//! Runs the contestants' programs: for each row, one process per contestant, which creates its
//! input and then runs batches in turn with the others. Ratios are computed within a round.
//!
//! A row has generations: its processes restart with another seed, the same for all contestants,
//! which determines the layout of the heap. Rounds show the effect of the machine, generations that
//! of the layout, so a figure is a mean of the generations' medians. The seeds count up from 1, so
//! that runs are comparable; `--seed` starts from another one.
//!
//! Page faults are counted by the system around each batch. Peak memory is that of the whole
//! process, including its input. Instructions are those of one batch under Callgrind, on one
//! thread.
//!
//! `--litter` runs the programs on heaps like those of old processes instead; see `aged.rs`.

use ebbtide_transparent::workloads::{Kind, ROWS, Row};
use lexopt::prelude::*;
use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

#[path = "../../src/driver.rs"]
mod driver;
#[path = "../../src/machine.rs"]
mod machine;

mod aged;
mod native;

use driver::{Options, Process, Result};

/// A program, and how it opens scopes.
struct Contestant {
    name: &'static str,
    program: &'static str,
    scopes: &'static str,
    /// In C or C++, with this allocator.
    native: Option<&'static str>,
}

impl Contestant {
    fn arguments(&self, row: &Row, seed: u32) -> [String; 3] {
        [row.name.to_owned(), self.scopes.to_owned(), seed.to_string()]
    }
}

/// A contestant and how its heap is littered; an empty text if it is not.
type Entrant<'c> = (&'c Contestant, String);

const fn inside(name: &'static str, program: &'static str) -> Contestant {
    Contestant { name, program, scopes: "inside", native: None }
}

const fn outside(name: &'static str, program: &'static str) -> Contestant {
    Contestant { name, program, scopes: "outside", native: None }
}

/// The first one is ours; the others are compared with it.
const CONTESTANTS: [Contestant; 7] = [
    inside("ebbtide", "transparent-ebbtide"),
    inside("ebbtide over mimalloc", "transparent-ebbtide-mimalloc"),
    inside("glibc", "transparent-glibc"),
    inside("mimalloc", "transparent-mimalloc"),
    inside("jemalloc", "transparent-jemalloc"),
    outside("ebbtide, outside", "transparent-ebbtide"),
    outside("ebbtide over mimalloc, outside", "transparent-ebbtide-mimalloc"),
];
const OURS: usize = 0;
const OURS_OVER_MIMALLOC: usize = 1;
const GLIBC: usize = 2;
const MIMALLOC: usize = 3;
const OUTSIDE: usize = 5;
const OUTSIDE_OVER_MIMALLOC: usize = 6;

/// The number of generations of a row. The layout of a heap affects its speed: for glibc, whether
/// it returns memory to the system after every scope.
const GENERATIONS: u32 = 20;
const QUICK_GENERATIONS: u32 = 5;
const SLOW_GENERATIONS: u32 = 2;
/// The most rounds in a generation.
const MOST_ROUNDS: usize = 100;
const FEWEST_ROUNDS: usize = 3;

/// The options of a run.
struct Plan {
    budget: Duration,
    quick: bool,
    /// The seed of the first generation.
    seed: u32,
    counts: bool,
    litter: bool,
}

fn option(
    plan: &mut Plan,
    name: &str,
    arguments: &mut lexopt::Parser,
) -> std::result::Result<bool, lexopt::Error> {
    match name {
        "quick" => {
            (plan.budget, plan.quick, plan.counts) = (Duration::from_secs(2), true, false);
        }
        "seed" => plan.seed = arguments.value()?.parse()?,
        "counts" => plan.counts = true,
        "no-counts" => plan.counts = false,
        "litter" => plan.litter = true,
        _ => return Ok(false),
    }
    Ok(true)
}

fn main() -> ExitCode {
    let plan =
        Plan { budget: Duration::from_secs(8), quick: false, seed: 1, counts: true, litter: false };
    driver::main("[--quick] [--seed N] [--counts | --no-counts | --litter]", plan, option, run)
}

fn run(plan: &Plan, options: &Options, programs: &Path) -> Result<()> {
    let mut bench = Bench::default();
    let selected = |rows: &'static [Row]| {
        rows.iter().filter(|row| row.name.contains(&options.only)).collect::<Vec<_>>()
    };
    let rows = selected(ROWS);
    if plan.litter {
        let budget = Duration::from_secs(if plan.quick { 1 } else { 2 });
        let plan = &Plan { budget, ..*plan };
        let native = selected(native::ROWS);
        let is_available = !native.is_empty() && native::is_available(programs);
        let native = native.into_iter().filter(|_| is_available);
        aged::run(&mut bench, rows.into_iter().chain(native), plan, options, programs)?;
    } else {
        run_fresh(&mut bench, rows.into_iter(), plan, options, programs)?;
    }
    if let Some(path) = &options.csv {
        let columns = "row,contestant,median_ns,p99_ns,ratio,ratio_low,ratio_high,rounds,instructions,faults,\
                       peak_kib,bar,value,held\n";
        fs::write(path, machine::header() + columns + bench.record.as_str())
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    // A missed target is not an error.
    println!("\n{} targets missed", bench.missed.len());
    bench.missed.iter().for_each(|text| println!("  {text}"));
    Ok(())
}

fn run_fresh(
    bench: &mut Bench,
    rows: impl Iterator<Item = &'static Row>,
    plan: &Plan,
    options: &Options,
    programs: &Path,
) -> Result<()> {
    let counts = plan.counts && has_valgrind();
    if plan.counts && !counts {
        println!("left out: instructions, because Valgrind is missing");
    }
    let entrants = CONTESTANTS.each_ref().map(|contestant| (contestant, String::new()));
    let rows = rows.filter(|row| !matches!(row.kind, Kind::Unseen | Kind::Explicit));
    for row in rows.filter(|row| !row.slow || !plan.quick) {
        println!("\n{}", row.name);
        let generations = match (row.slow, plan.quick) {
            (true, _) => SLOW_GENERATIONS,
            (false, true) => QUICK_GENERATIONS,
            (false, false) => GENERATIONS,
        };
        let measured = measure(row, &entrants, generations, programs, plan, options.reports)?;
        let counted = counts && !row.threads && !row.slow;
        let instructions = if counted { count(row, programs)? } else { Vec::new() };
        bench.judge(row, measured, &instructions);
    }
    bench.summaries();
    Ok(())
}

fn has_valgrind() -> bool {
    let status = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// A contestant's process for one row.
struct Worker(Process);

struct Batch {
    nanoseconds: f64,
    faults: f64,
    result: u64,
}

impl Worker {
    fn start(entrant: &Entrant<'_>, row: &Row, seed: u32, programs: &Path) -> Result<Self> {
        let (contestant, litter) = entrant;
        if let Some(allocator) = contestant.native {
            let mut command = native::littered(entrant, allocator, row, seed, programs);
            return Process::start(&mut command).map(Worker);
        }
        let mut command = Command::new(programs.join(contestant.program));
        // The program name is on the heap with the other arguments, so it affects the layout.
        command.arg0("contestant").args(contestant.arguments(row, seed));
        if !litter.is_empty() {
            command.args(["--litter", litter]);
        }
        Process::start(&mut command).map(Worker)
    }

    fn ask(&mut self, what: &str) -> Result<String> {
        writeln!(self.0.input, "{what}")?;
        self.0.input.flush()?;
        self.0.read_line()
    }

    fn batch(&mut self) -> Result<Batch> {
        let line = self.ask("batch")?;
        let cells: Vec<&str> = line.split(' ').collect();
        let [nanoseconds, faults, result] = cells[..] else {
            return Err("a contestant ended early".into());
        };
        Ok(Batch {
            nanoseconds: nanoseconds.parse()?,
            faults: faults.parse()?,
            result: result.parse()?,
        })
    }

    fn report(&mut self) -> Result<String> {
        let mut report = String::new();
        let mut line = self.ask("report")?;
        while !line.is_empty() {
            writeln!(report, "    {line}")?;
            line = self.0.read_line()?;
        }
        Ok(report)
    }
}

/// The results of one contestant in one row and one layout: times and faults per scope, one of each
/// per round.
#[derive(Default)]
struct Generation {
    times: Vec<f64>,
    faults: Vec<f64>,
    peak_kib: f64,
}

/// The results of one contestant in one row.
#[derive(Default)]
struct Measured(Vec<Generation>);

impl Measured {
    fn time(&self) -> Mean {
        Mean::of(self.0.iter().map(|generation| median(generation.times.iter().copied())))
    }

    /// Over all rounds in all layouts.
    fn p99(&self) -> f64 {
        percentile(99, self.0.iter().flat_map(|generation| &generation.times).copied())
    }

    fn rounds(&self) -> usize {
        self.0.iter().map(|generation| generation.times.len()).sum()
    }

    /// An arithmetic mean, because some layouts have none.
    fn faults(&self) -> f64 {
        let medians = self.0.iter().map(|generation| median(generation.faults.iter().copied()));
        mean(&medians.collect::<Vec<_>>())
    }

    fn peak_kib(&self) -> f64 {
        median(self.0.iter().map(|generation| generation.peak_kib))
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    percentile(50, values)
}

fn percentile(percent: usize, values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() * percent / 100]
}

/// A 10 % trimmed geometric mean over the generations, which excludes outliers caused by other
/// programs, with a 95 % interval by Student's t and the Winsorized deviation (Tukey and
/// McLaughlin).
struct Mean {
    value: f64,
    low: f64,
    high: f64,
}

impl Mean {
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let mut logarithms: Vec<f64> = figures.map(f64::ln).collect();
        logarithms.sort_by(f64::total_cmp);
        let total = logarithms.len();
        let cut = total / 10;
        let kept = &logarithms[cut..total - cut];
        let value = mean(kept);
        // Trimmed values count as the outermost that were kept.
        let (least, most) = (kept[0], kept[kept.len() - 1]);
        logarithms.iter_mut().for_each(|logarithm| *logarithm = logarithm.clamp(least, most));
        let middle = mean(&logarithms);
        let squares: f64 = logarithms.iter().map(|logarithm| (logarithm - middle).powi(2)).sum();
        let deviation = (squares / (total - 1) as f64 * total as f64).sqrt();
        let half_width = student(total - 2 * cut) * deviation / (total - 2 * cut) as f64;
        let [value, low, high] = [value, value - half_width, value + half_width].map(f64::exp);
        Mean { value, low, high }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The quantile of Student's t for a 95 % interval of a mean.
fn student(figures: usize) -> f64 {
    match figures {
        2 => 12.706,
        5 => 2.776,
        16 => 2.131,
        other => unreachable!("the quantile for {other} figures is missing"),
    }
}

/// The results of each entrant; the first one is ours.
fn measure(
    row: &Row,
    entrants: &[Entrant<'_>],
    generations: u32,
    programs: &Path,
    plan: &Plan,
    reports: bool,
) -> Result<Vec<Measured>> {
    let mut measured: Vec<Measured> = entrants.iter().map(|_| Measured::default()).collect();
    let scopes = row.scopes as f64;
    let mut expected = None;
    for seed in plan.seed..plan.seed + generations {
        let start = |entrant| Worker::start(entrant, row, seed, programs);
        let mut processes = entrants.iter().map(start).collect::<Result<Vec<_>>>()?;
        let mut generation: Vec<Generation> =
            entrants.iter().map(|_| Generation::default()).collect();
        let rounds = warm(&mut processes, plan.budget / generations)?;
        for round in 0..rounds {
            for place in 0..processes.len() {
                let index = (round + place) % processes.len();
                let batch = processes[index].batch()?;
                if *expected.get_or_insert(batch.result) != batch.result {
                    let name = entrants[index].0.name;
                    return Err(format!("{}: {name} differs", row.name).into());
                }
                generation[index].times.push(batch.nanoseconds / scopes);
                generation[index].faults.push(batch.faults / scopes);
            }
        }
        for (process, generation) in processes.iter_mut().zip(&mut generation) {
            generation.peak_kib = process.0.status_kib("VmHWM") as f64;
        }
        if reports && seed == plan.seed && entrants[OURS].0.native.is_none() {
            print!("{}", processes[OURS].report()?);
        }
        processes.into_iter().try_for_each(|worker| worker.0.end())?;
        for (measured, generation) in measured.iter_mut().zip(generation) {
            measured.0.push(generation);
        }
    }
    Ok(measured)
}

/// Runs a few rounds, and returns the number that fits the budget.
fn warm(processes: &mut [Worker], budget: Duration) -> Result<usize> {
    // The first answer comes only after a process has littered its heap.
    processes.iter_mut().try_for_each(|process| process.batch().map(drop))?;
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 2 || (rounds < 20 && start.elapsed() < budget / 8) {
        processes.iter_mut().try_for_each(|process| process.batch().map(drop))?;
        rounds += 1;
    }
    let round = start.elapsed() / rounds;
    let affordable = budget.as_nanos() / round.as_nanos().max(1);
    Ok(usize::try_from(affordable).unwrap_or(MOST_ROUNDS).clamp(FEWEST_ROUNDS, MOST_ROUNDS))
}

/// The instructions per scope, by contestant.
fn count(row: &Row, programs: &Path) -> Result<Vec<Option<f64>>> {
    let count = |contestant: &Contestant| {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg("--toggle-collect=*counted_by_callgrind*");
        command.arg(programs.join(contestant.program)).args(contestant.arguments(row, 1));
        let output = command.arg("--count").output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let collected = text.lines().find_map(|line| line.split_once("Collected : "));
        let number = collected.and_then(|(_, number)| number.trim().parse::<f64>().ok());
        Ok(number.filter(|_| output.status.success()).map(|number| number / row.scopes as f64))
    };
    CONTESTANTS.iter().map(count).collect()
}

/// The ratio of two contestants' times: by round, then by layout.
fn ratio(theirs: &Measured, ours: &Measured) -> Mean {
    Mean::of(theirs.0.iter().zip(&ours.0).map(|(theirs, ours)| {
        median(theirs.times.iter().zip(&ours.times).map(|(theirs, ours)| theirs / ours))
    }))
}

/// Collects results.
#[derive(Default)]
struct Bench {
    record: String,
    missed: Vec<String>,
    /// Ratios to ours in the programs, by contestant.
    ratios: [Vec<f64>; CONTESTANTS.len()],
    /// The same for the untuned programs.
    untuned: [Vec<f64>; CONTESTANTS.len()],
    /// Ratios to the inner allocator, outside any scope.
    outside: [Vec<f64>; 2],
    /// The largest ratio of peak memory, and its row: of the programs, of those that were not tuned
    /// for, and of all rows.
    peaks: [Option<(f64, &'static str)>; 3],
}

struct Verdict {
    target: String,
    value: f64,
    held: bool,
}

fn at_least(target: f64, value: f64) -> Verdict {
    Verdict { target: format!("at least {target}"), value, held: value >= target }
}

fn at_most(target: f64, value: f64) -> Verdict {
    Verdict { target: format!("at most {target}"), value, held: value <= target }
}

impl Bench {
    fn judge(&mut self, row: &Row, measured: Vec<Measured>, instructions: &[Option<f64>]) {
        let ours = &measured[OURS];
        let name = match row.kind {
            Kind::Numbers => row.name.to_owned(),
            _ => format!("transparent: {}", row.name),
        };
        for (index, (contestant, own)) in CONTESTANTS.iter().zip(&measured).enumerate() {
            let ratio = ratio(own, ours);
            let to = |inner: usize| self::ratio(own, &measured[inner]).value;
            let verdict = match (row.kind, index) {
                (Kind::Program | Kind::Control, GLIBC | MIMALLOC) => {
                    Some(at_least(0.97, ratio.value))
                }
                (Kind::Untuned, GLIBC | MIMALLOC) => Some(at_least(0.98, ratio.value)),
                (Kind::Numbers, GLIBC) => Some(at_least(1.0, ratio.value)),
                (_, OUTSIDE) => Some(at_most(1.02, to(GLIBC))),
                (_, OUTSIDE_OVER_MIMALLOC) => Some(at_most(1.02, to(MIMALLOC))),
                _ => None,
            };
            let value = ratio.value;
            let counted = instructions.get(index).copied().flatten();
            self.line(&name, contestant.name, own, ratio, counted, verdict);
            match row.kind {
                Kind::Program => self.ratios[index].push(value),
                Kind::Untuned => self.untuned[index].push(value),
                _ => {}
            }
        }
        if row.kind != Kind::Numbers {
            for (place, index, inner) in [(0, OUTSIDE, GLIBC), (1, OUTSIDE_OVER_MIMALLOC, MIMALLOC)]
            {
                let ratio = self::ratio(&measured[index], &measured[inner]).value;
                self.outside[place].push(ratio);
            }
        }
        let peak = ours.peak_kib() / measured[GLIBC].peak_kib();
        let [programs, untuned, all] = &mut self.peaks;
        let of_kind = match row.kind {
            Kind::Program => Some(programs),
            Kind::Untuned => Some(untuned),
            _ => None,
        };
        for most in [of_kind, Some(all)].into_iter().flatten() {
            if most.is_none_or(|(most, _)| peak > most) {
                *most = Some((peak, row.name));
            }
        }
        if row.kind == Kind::Numbers {
            let (own, theirs) = (ours.faults(), measured[GLIBC].faults());
            let verdict = Verdict {
                target: format!("fewer than glibc's {theirs:.2}, or none"),
                value: own,
                held: own < theirs || own == 0.0,
            };
            self.summary(&format!("{name}: page faults a scope"), verdict);
        }
    }

    /// Prints and records the results of one contestant in one row.
    fn line(
        &mut self,
        row: &str,
        contestant: &str,
        own: &Measured,
        ratio: Mean,
        instructions: Option<f64>,
        verdict: Option<Verdict>,
    ) {
        let (time, p99, faults) = (own.time().value, own.p99(), own.faults());
        let counted = instructions.map_or(String::new(), |number| format!("{number:.0}"));
        println!(
            "  {contestant:<31} {time:>12.1} ns  p99 {p99:>12.1}  theirs/ours {:>5.2} [{:.2}, {:.2}]  \
             faults {faults:>8.2}  peak {:>7} KiB  {counted:>9}",
            ratio.value,
            ratio.low,
            ratio.high,
            own.peak_kib()
        );
        let verdict = self.verdict_cells(row, contestant, verdict);
        let Mean { value, low, high } = ratio;
        self.record += &format!(
            "\"{row}\",\"{contestant}\",{time:.1},{p99:.1},{value:.4},{low:.4},{high:.4},{},{counted},\
             {faults:.3},{},{verdict}",
            own.rounds(),
            own.peak_kib(),
        );
    }

    /// The last cells of a record line. Remembers a missed target.
    fn verdict_cells(&mut self, row: &str, contestant: &str, verdict: Option<Verdict>) -> String {
        let Some(Verdict { target, value, held }) = verdict else { return ",,\n".to_owned() };
        if !held {
            self.missed.push(format!("{row}: {value:.3} of {target}, {contestant}"));
        }
        format!("{target},{value:.4},{}\n", if held { "yes" } else { "no" })
    }

    fn summary(&mut self, what: &str, verdict: Verdict) {
        let Verdict { target, value, held } = verdict;
        println!("  {} {what}: {value:.3}, {target}", if held { "met   " } else { "MISSED" });
        if !held {
            self.missed.push(format!("{what}: {value:.3}, {target}"));
        }
        let yes = if held { "yes" } else { "no" };
        self.record += &format!("\"{what}\",,,,{value:.4},,,,,,,\"{target}\",{value:.4},{yes}\n");
    }

    /// A summary of a mean, if there are rows that it is of.
    fn mean(&mut self, what: &str, ratios: &[f64], verdict: impl FnOnce(f64) -> Verdict) {
        if let Some(mean) = geometric_mean(ratios) {
            self.summary(what, verdict(mean));
        }
    }

    fn summaries(&mut self) {
        println!();
        let [ratios, untuned, outside] =
            [self.ratios.to_vec(), self.untuned.to_vec(), self.outside.to_vec()];
        self.mean("transparent: geometric mean, glibc", &ratios[GLIBC], |mean| {
            at_least(1.45, mean)
        });
        self.mean("transparent: geometric mean, mimalloc", &ratios[MIMALLOC], |mean| {
            at_least(1.1, mean)
        });
        if let Some(mean) = geometric_mean(&untuned[GLIBC]) {
            println!(
                "         transparent: geometric mean of the untuned programs, glibc: {mean:.3}"
            );
        }
        let what = "transparent: geometric mean of the untuned programs, mimalloc";
        self.mean(what, &untuned[MIMALLOC], |mean| at_least(1.06, mean));
        // Over mimalloc, compared with mimalloc: the ratio of two ratios to ours.
        let pairs = ratios[MIMALLOC].iter().zip(&ratios[OURS_OVER_MIMALLOC]);
        let over: Vec<f64> = pairs.map(|(theirs, ours)| theirs / ours).collect();
        let what = "transparent: geometric mean, ebbtide over mimalloc, against mimalloc";
        self.mean(what, &over, |mean| at_least(1.1, mean));
        for (ratios, inner) in outside.iter().zip(["glibc", "mimalloc"]) {
            let what = format!("transparent: outside any scope, geometric mean, {inner}");
            self.mean(&what, ratios, |mean| at_most(1.02, mean));
        }
        for (what, most) in
            ["the programs", "the untuned programs", "all rows"].into_iter().zip(self.peaks)
        {
            if let Some((most, row)) = most {
                let what = format!("transparent: peak memory, the most of {what} ({row})");
                self.summary(&what, at_most(1.3, most));
            }
        }
    }
}

fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    (!ratios.is_empty()).then(|| mean(&logarithms).exp())
}
