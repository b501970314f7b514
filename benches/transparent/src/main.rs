//! Runs the contestants' programs: for each row one process a contestant, which make their input and then run
//! batches in turn. Ratios are taken within a round.
//!
//! Times are of this machine and moment; page faults are counted by the system around each batch; peak memory is
//! the whole process's, input and program included; instructions are those of one batch under Callgrind, on one
//! thread.

use ebbtide_transparent::workloads::{Kind, ROWS, Row};
use lexopt::prelude::*;
use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

#[path = "../../src/machine.rs"]
mod machine;
#[path = "../../src/spread.rs"]
mod spread;

use spread::Spread;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A program, and whether it opens scopes.
struct Contestant {
    name: &'static str,
    program: &'static str,
    outside: bool,
}

const fn inside(name: &'static str, program: &'static str) -> Contestant {
    Contestant { name, program, outside: false }
}

const fn outside(name: &'static str, program: &'static str) -> Contestant {
    Contestant { name, program, outside: true }
}

/// The first is ours, and what the others are compared with.
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

/// How often the processes of a row start anew: where a heap happens to lie decides how it goes on, for glibc's
/// whether it gives memory back to the system after every scope.
const GENERATIONS: u32 = 20;
const QUICK_GENERATIONS: u32 = 5;
/// Of one generation.
const MOST_ROUNDS: usize = 100;
const FEWEST_ROUNDS: usize = 3;

/// What a run does.
struct Plan {
    budget: Duration,
    quick: bool,
    only: String,
    counts: bool,
    reports: bool,
    csv: Option<PathBuf>,
}

impl Plan {
    fn from_arguments() -> std::result::Result<Self, lexopt::Error> {
        let mut plan = Plan {
            budget: Duration::from_secs(8),
            quick: false,
            only: String::new(),
            counts: true,
            reports: false,
            csv: None,
        };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("quick") => {
                    (plan.budget, plan.quick, plan.counts) = (Duration::from_secs(2), true, false);
                }
                Long("only") => plan.only = arguments.value()?.string()?,
                Long("counts") => plan.counts = true,
                Long("no-counts") => plan.counts = false,
                Long("reports") => plan.reports = true,
                Long("csv") => plan.csv = Some(arguments.value()?.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(plan)
    }
}

fn main() -> ExitCode {
    let plan = match Plan::from_arguments() {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!(
                "{error}\nusage: [--quick] [--only TEXT] [--counts | --no-counts] [--reports] [--csv FILE]"
            );
            return ExitCode::from(2);
        }
    };
    match run(&plan) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(plan: &Plan) -> Result<()> {
    let programs = build()?;
    let counts = plan.counts && has_valgrind();
    if plan.counts && !counts {
        println!("instructions: left out, valgrind is missing");
    }
    let mut bench = Bench::default();
    for row in ROWS.iter().filter(|row| row.name.contains(&plan.only)) {
        if row.slow && plan.quick {
            continue;
        }
        let measured = measure(row, &programs, plan)?;
        let counted = counts && !row.threads && !row.slow;
        let instructions = if counted { count(row, &programs)? } else { Vec::new() };
        bench.judge(row, measured, &instructions);
    }
    bench.summaries();
    if let Some(path) = &plan.csv {
        let columns = "row,contestant,median_ns,p99_ns,ratio,ratio_low,ratio_high,rounds,instructions,faults,\
                       peak_kib,bar,value,held\n";
        fs::write(path, machine::header() + columns + &bench.record)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    // A missed bar is a finding, not an error.
    println!("\n{} bars missed", bench.missed.len());
    bench.missed.iter().for_each(|text| println!("  {text}"));
    Ok(())
}

/// Builds the contestants beside this program, so that none is older than it; returns their folder.
fn build() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--quiet", "--bins", "--manifest-path"]).arg(manifest);
    if !command.status()?.success() {
        return Err("the contestants cannot be built".into());
    }
    let this = env::current_exe()?;
    Ok(this.parent().ok_or("a program lies in a folder")?.to_owned())
}

fn has_valgrind() -> bool {
    let status = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// A contestant's process, with the input of one row.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

struct Batch {
    nanoseconds: f64,
    faults: f64,
    result: u64,
}

impl Process {
    fn start(contestant: &Contestant, row: &Row, programs: &Path) -> Result<Self> {
        let mut command = Command::new(programs.join(contestant.program));
        command.arg(row.name).args(contestant.outside.then_some("--outside"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Process { child, input, output })
    }

    fn ask(&mut self, what: &str) -> Result<String> {
        writeln!(self.input, "{what}")?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
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
            line.clear();
            self.output.read_line(&mut line)?;
            line.truncate(line.trim_end().len());
        }
        Ok(report)
    }

    fn end(self) -> Result<()> {
        let Process { mut child, input, .. } = self;
        drop(input);
        if child.wait()?.success() { Ok(()) } else { Err("a contestant failed".into()) }
    }
}

/// What one contestant did in one row. Times and faults are by the scope, one a round.
#[derive(Default)]
struct Measured {
    times: Vec<f64>,
    faults: Vec<f64>,
    peak_kib: f64,
}

fn measure(row: &Row, programs: &Path, plan: &Plan) -> Result<Vec<Measured>> {
    println!("\n{}", row.name);
    let start = |contestant| Process::start(contestant, row, programs);
    let mut measured: Vec<Measured> = CONTESTANTS.iter().map(|_| Measured::default()).collect();
    let mut peaks = vec![Vec::new(); CONTESTANTS.len()];
    let scopes = row.scopes as f64;
    let mut expected = None;
    let generations = match (row.slow, plan.quick) {
        (true, _) => 2,
        (false, true) => QUICK_GENERATIONS,
        (false, false) => GENERATIONS,
    };
    for generation in 0..generations {
        let mut processes = CONTESTANTS.iter().map(start).collect::<Result<Vec<_>>>()?;
        let rounds = warm(&mut processes, plan.budget / generations)?;
        for round in 0..rounds {
            for place in 0..processes.len() {
                let index = (round + place) % processes.len();
                let batch = processes[index].batch()?;
                if *expected.get_or_insert(batch.result) != batch.result {
                    return Err(format!("{}: {} differs", row.name, CONTESTANTS[index].name).into());
                }
                measured[index].times.push(batch.nanoseconds / scopes);
                measured[index].faults.push(batch.faults / scopes);
            }
        }
        for (process, peaks) in processes.iter_mut().zip(&mut peaks) {
            peaks.push(process.ask("peak")?.parse()?);
        }
        if plan.reports && generation == 0 {
            print!("{}", processes[OURS].report()?);
        }
        processes.into_iter().try_for_each(Process::end)?;
    }
    for (measured, peaks) in measured.iter_mut().zip(peaks) {
        measured.peak_kib = Spread::of(peaks.into_iter()).median;
    }
    Ok(measured)
}

/// Runs a few rounds; returns how many the budget allows.
fn warm(processes: &mut [Process], budget: Duration) -> Result<usize> {
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

/// The instructions that a scope takes, by contestant.
fn count(row: &Row, programs: &Path) -> Result<Vec<Option<f64>>> {
    let count = |contestant: &Contestant| {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg("--toggle-collect=*counted_by_callgrind*");
        command.arg(programs.join(contestant.program)).args([row.name, "--count"]);
        let output = command.args(contestant.outside.then_some("--outside")).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let collected = text.lines().find_map(|line| line.split_once("Collected : "));
        let number = collected.and_then(|(_, number)| number.trim().parse::<f64>().ok());
        Ok(number.filter(|_| output.status.success()).map(|number| number / row.scopes as f64))
    };
    CONTESTANTS.iter().map(count).collect()
}

/// How the times of one contestant compare with another's, round by round.
fn ratio(theirs: &Measured, ours: &Measured) -> Spread {
    Spread::of(theirs.times.iter().zip(&ours.times).map(|(theirs, ours)| theirs / ours))
}

/// Collects what was found.
#[derive(Default)]
struct Bench {
    record: String,
    missed: Vec<String>,
    /// Of the programs: ratios to ours, by contestant.
    ratios: [Vec<f64>; CONTESTANTS.len()],
    /// Outside any scope, to the inner allocator.
    outside: [Vec<f64>; 2],
    /// The largest ratio of peak memory, and its row: of the programs, and of all.
    peaks: [Option<(f64, &'static str)>; 2],
}

struct Verdict {
    bar: String,
    value: f64,
    held: bool,
}

fn at_least(bar: f64, value: f64) -> Option<Verdict> {
    Some(Verdict { bar: format!("at least {bar}"), value, held: value >= bar })
}

fn at_most(bar: f64, value: f64) -> Option<Verdict> {
    Some(Verdict { bar: format!("at most {bar}"), value, held: value <= bar })
}

impl Bench {
    fn judge(&mut self, row: &Row, measured: Vec<Measured>, instructions: &[Option<f64>]) {
        let ours = &measured[OURS];
        let name = match row.kind {
            Kind::Numbers => row.name.to_owned(),
            Kind::Program | Kind::Control => format!("transparent: {}", row.name),
        };
        for (index, (contestant, own)) in CONTESTANTS.iter().zip(&measured).enumerate() {
            let time = Spread::of(own.times.iter().copied());
            let ratio = ratio(own, ours);
            let verdict = match (row.kind, index) {
                (Kind::Program | Kind::Control, GLIBC | MIMALLOC) => at_least(0.97, ratio.median),
                (Kind::Numbers, GLIBC) => at_least(1.0, ratio.median),
                (_, OUTSIDE) => at_most(1.02, self::ratio(own, &measured[GLIBC]).median),
                (_, OUTSIDE_OVER_MIMALLOC) => {
                    at_most(1.02, self::ratio(own, &measured[MIMALLOC]).median)
                }
                _ => None,
            };
            let faults = Spread::of(own.faults.iter().copied()).median;
            let counted = instructions.get(index).copied().flatten();
            let counted = counted.map_or(String::new(), |number| format!("{number:.0}"));
            println!(
                "  {:<31} {:>12.1} ns  p99 {:>12.1}  theirs/ours {:>5.2} [{:.2}, {:.2}]  faults {faults:>8.2}  \
                 peak {:>7} KiB  {counted:>9}",
                contestant.name,
                time.median,
                time.p99,
                ratio.median,
                ratio.low,
                ratio.high,
                own.peak_kib
            );
            let said = self.said(&name, contestant.name, verdict);
            self.record += &format!(
                "\"{name}\",\"{}\",{:.1},{:.1},{:.4},{:.4},{:.4},{},{counted},{faults:.3},{},{}",
                contestant.name,
                time.median,
                time.p99,
                ratio.median,
                ratio.low,
                ratio.high,
                own.times.len(),
                own.peak_kib,
                said
            );
            if row.kind == Kind::Program {
                self.ratios[index].push(ratio.median);
            }
        }
        if row.kind != Kind::Numbers {
            for (place, index, inner) in [(0, OUTSIDE, GLIBC), (1, OUTSIDE_OVER_MIMALLOC, MIMALLOC)]
            {
                let ratio = self::ratio(&measured[index], &measured[inner]).median;
                self.outside[place].push(ratio);
            }
        }
        let peak = ours.peak_kib / measured[GLIBC].peak_kib;
        let [programs, all] = &mut self.peaks;
        for most in
            [(row.kind == Kind::Program).then_some(programs), Some(all)].into_iter().flatten()
        {
            if most.is_none_or(|(most, _)| peak > most) {
                *most = Some((peak, row.name));
            }
        }
        if row.kind == Kind::Numbers {
            let faults = |index: usize| Spread::of(measured[index].faults.iter().copied()).median;
            let (own, theirs) = (faults(OURS), faults(GLIBC));
            let verdict = Verdict {
                bar: format!("fewer than glibc's {theirs:.2}, or none"),
                value: own,
                held: own < theirs || own == 0.0,
            };
            self.summary(&format!("{name}: page faults a scope"), verdict);
        }
    }

    /// The end of a line of the record; a missed bar is remembered.
    fn said(&mut self, row: &str, contestant: &str, verdict: Option<Verdict>) -> String {
        let Some(Verdict { bar, value, held }) = verdict else { return ",,\n".to_owned() };
        if !held {
            self.missed.push(format!("{row}: {value:.3} of {bar}, {contestant}"));
        }
        format!("{bar},{value:.4},{}\n", if held { "yes" } else { "no" })
    }

    fn summary(&mut self, what: &str, verdict: Verdict) {
        let Verdict { bar, value, held } = verdict;
        println!("  {} {what}: {value:.3}, {bar}", if held { "held  " } else { "MISSED" });
        if !held {
            self.missed.push(format!("{what}: {value:.3}, {bar}"));
        }
        let yes = if held { "yes" } else { "no" };
        self.record += &format!("\"{what}\",,,,{value:.4},,,,,,,\"{bar}\",{value:.4},{yes}\n");
    }

    fn summaries(&mut self) {
        println!();
        for (index, bar) in [(GLIBC, 1.45), (MIMALLOC, 1.10)] {
            if let Some(mean) = geometric_mean(&self.ratios[index]) {
                let what = format!("transparent: geometric mean, {}", CONTESTANTS[index].name);
                at_least(bar, mean).into_iter().for_each(|verdict| self.summary(&what, verdict));
            }
        }
        // Over mimalloc, against mimalloc: a ratio of two ratios to ours.
        let pairs = self.ratios[MIMALLOC].iter().zip(&self.ratios[OURS_OVER_MIMALLOC]);
        let over: Vec<f64> = pairs.map(|(theirs, ours)| theirs / ours).collect();
        if let Some(mean) = geometric_mean(&over) {
            let what = "transparent: geometric mean, ebbtide over mimalloc, against mimalloc";
            at_least(1.10, mean).into_iter().for_each(|verdict| self.summary(what, verdict));
        }
        for (place, inner) in [(0, "glibc"), (1, "mimalloc")] {
            if let Some(mean) = geometric_mean(&self.outside[place]) {
                let what = format!("transparent: outside any scope, geometric mean, {inner}");
                at_most(1.02, mean).into_iter().for_each(|verdict| self.summary(&what, verdict));
            }
        }
        for (what, most) in ["the programs", "all rows"].into_iter().zip(self.peaks) {
            if let Some((most, row)) = most {
                let what = format!("transparent: peak memory, the most of {what} ({row})");
                at_most(1.3, most).into_iter().for_each(|verdict| self.summary(&what, verdict));
            }
        }
    }
}

fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}
