//! Starts the processes of random programs, and prints their table: a line of comma-separated values
//! for each program, then lines with the quantiles and means of the ratios.

use super::shape::Shape;
use std::{env, process::Command, process::ExitCode, time::Duration};

const USAGE: &str = "usage: --random [NUMBER] [--seed FIRST] [--only SEED] [--variants NAME,NAME…] \
                     [--runs NUMBER] [--turns NUMBER] [--check]";

/// A program over one allocator.
struct Variant {
    name: &'static str,
    binary: &'static str,
    opens_scopes: bool,
    /// The variant that it is compared with.
    inner: usize,
}

const VARIANTS: [Variant; 6] = [
    variant("glibc", "random-glibc", false, 0),
    variant("mimalloc", "random-mimalloc", false, 0),
    variant("scopes-glibc", "random-scoped-glibc", true, 0),
    variant("scopes-mimalloc", "random-scoped-mimalloc", true, 1),
    variant("none-glibc", "random-scoped-glibc", false, 0),
    variant("none-mimalloc", "random-scoped-mimalloc", false, 1),
];

const fn variant(
    name: &'static str,
    binary: &'static str,
    opens_scopes: bool,
    inner: usize,
) -> Variant {
    Variant { name, binary, opens_scopes, inner }
}

/// The limits of a variant, as ratios to its inner allocator.
struct Bar {
    variant: usize,
    /// Of the arithmetic mean, which is never below the geometric one.
    mean: f64,
    /// Of 95 % of the programs, and of all.
    most: Option<(f64, f64)>,
}

const BARS: [Bar; 4] = [
    Bar { variant: 2, mean: 0.90, most: Some((1.10, 1.3)) },
    Bar { variant: 3, mean: 0.97, most: Some((1.10, 1.3)) },
    Bar { variant: 4, mean: 1.02, most: None },
    Bar { variant: 5, mean: 1.02, most: None },
];

/// A program may need this many times its inner allocator's memory, and so many KiB in addition.
const PEAK: (f64, f64) = (1.25, 16.0 * 1024.0);

/// The least processor time of a run over glibc. The number of turns is the first power of two that
/// takes so long, so it is the same again unless the time is close to this.
const LEAST: Duration = Duration::from_millis(150);

/// The options of the command line.
struct Plan {
    number: u64,
    seed: u64,
    only: Option<u64>,
    variants: Vec<usize>,
    runs: usize,
    turns: Option<u64>,
    check: bool,
}

impl Plan {
    fn from_arguments(arguments: impl Iterator<Item = String>) -> Option<Plan> {
        let mut plan = Plan {
            number: 100,
            seed: 1,
            only: None,
            variants: (0..VARIANTS.len()).collect(),
            runs: 3,
            turns: None,
            check: false,
        };
        let mut arguments = arguments.peekable();
        if let Some(number) = arguments.peek().and_then(|number| number.parse().ok()) {
            plan.number = number;
            arguments.next();
        }
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--seed" => plan.seed = arguments.next()?.parse().ok()?,
                "--only" => plan.only = Some(arguments.next()?.parse().ok()?),
                "--variants" => {
                    let place = |name| VARIANTS.iter().position(|variant| variant.name == name);
                    let places = arguments.next()?.split(',').map(place).collect::<Option<_>>();
                    plan.variants = places?;
                }
                "--runs" => plan.runs = arguments.next()?.parse().ok()?,
                "--turns" => plan.turns = Some(arguments.next()?.parse().ok()?),
                "--check" => plan.check = true,
                _ => return None,
            }
        }
        Some(plan)
    }
}

/// The measurements of one variant: the least of its runs.
#[derive(Clone, Copy, Debug)]
struct Measured {
    sum: u64,
    micros: f64,
    peak_kib: f64,
}

/// The measurements of one program; none for variants that did not run.
type Row = [Option<Measured>; VARIANTS.len()];

/// Prints the table of the programs that the arguments after `--random` ask for.
pub fn main(arguments: impl Iterator<Item = String>) -> ExitCode {
    let Some(plan) = Plan::from_arguments(arguments) else {
        eprintln!("{USAGE}\nvariants: {}", VARIANTS.map(|variant| variant.name).join(","));
        return ExitCode::from(2);
    };
    match table(&plan) {
        Ok(missed) if missed > 0 && plan.check => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table. Returns the number of bars that were missed, or why a program could not run.
fn table(plan: &Plan) -> Result<usize, String> {
    let seeds = match plan.only {
        Some(seed) => {
            for line in format!("{:#?}", Shape::draw(seed)).lines() {
                println!("# {line}");
            }
            seed..seed + 1
        }
        None => plan.seed..plan.seed + plan.number,
    };
    let names = VARIANTS.map(|variant| variant.name);
    let head = |unit| names.map(|name| format!("{name} {unit}")).join(",");
    println!("seed,turns,{},{},shape", head("ms"), head("MiB"));
    let mut rows = Vec::new();
    for seed in seeds {
        let turns = plan.turns.map_or_else(|| calibrated(seed), Ok)?;
        let row = measure(plan, seed, turns)?;
        let cells = |figure: fn(&Measured) -> f64| {
            let figure = |cell: &Measured| format!("{:.1}", figure(cell));
            row.map(|cell| cell.as_ref().map(figure).unwrap_or_default()).join(",")
        };
        let (times, peaks) = (cells(|it| it.micros / 1e3), cells(|it| it.peak_kib / 1024.0));
        println!("{seed},{turns},{times},{peaks},{}", Shape::draw(seed));
        rows.push((seed, row));
    }
    summary(&rows);
    let (missed, held): (Vec<_>, Vec<_>) = bars(&rows).into_iter().partition(|bar| bar.1);
    for (bar, _) in &missed {
        println!("# missed: {bar}");
    }
    if plan.check {
        let verdict = if missed.is_empty() { "ok" } else { "FAILED" };
        println!("test result: {verdict}. {} passed; {} failed", held.len(), missed.len());
    }
    Ok(missed.len())
}

/// The number of turns of each thread for which the program takes long enough over glibc.
fn calibrated(seed: u64) -> Result<u64, String> {
    let least = LEAST.as_secs_f64() * 1e6;
    let mut turns = 1;
    loop {
        let Measured { micros, .. } = run(&VARIANTS[0], seed, turns)?;
        turns *= match micros {
            long if long >= least => return Ok(turns),
            long if long >= least / 24.0 => 2,
            _ => 8,
        };
    }
}

/// Runs one program in all variants, in turn, and keeps the least of the figures.
fn measure(plan: &Plan, seed: u64, turns: u64) -> Result<Row, String> {
    let mut row: Row = [None; VARIANTS.len()];
    let mut sums = None;
    for _ in 0..plan.runs {
        for &place in &plan.variants {
            let variant = &VARIANTS[place];
            let new = run(variant, seed, turns)?;
            let expected = *sums.get_or_insert(new.sum);
            if new.sum != expected {
                let (name, sum) = (variant.name, new.sum);
                return Err(format!("seed {seed}, {turns} turns, {name}: {sum}, not {expected}"));
            }
            let least = row[place].unwrap_or(new);
            row[place] = Some(Measured {
                sum: new.sum,
                micros: new.micros.min(least.micros),
                peak_kib: new.peak_kib.min(least.peak_kib),
            });
        }
    }
    Ok(row)
}

/// Runs one variant of a program in a process of its own.
fn run(variant: &Variant, seed: u64, turns: u64) -> Result<Measured, String> {
    let failed = |what: String| format!("seed {seed}, {turns} turns, {}: {what}", variant.name);
    let this = env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(this.with_file_name(variant.binary));
    command.args([seed, turns].map(|number| number.to_string()));
    command.args(variant.opens_scopes.then_some("on"));
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let measured = output.status.success().then(|| parse(&text)).flatten();
    measured.ok_or_else(|| failed(String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn parse(text: &str) -> Option<Measured> {
    let cells: Vec<&str> = text.split_whitespace().collect();
    let [sum, micros, peak_kib] = cells[..] else { return None };
    Some(Measured {
        sum: sum.parse().ok()?,
        micros: micros.parse().ok()?,
        peak_kib: peak_kib.parse().ok()?,
    })
}

type Figure = fn(&Measured) -> f64;
const TIME: Figure = |measured| measured.micros;
const PEAK_KIB: Figure = |measured| measured.peak_kib;

/// The ratios of a variant to its inner allocator in ascending order, with their seeds.
fn ratios(rows: &[(u64, Row)], variant: usize, figure: Figure) -> Vec<(f64, u64)> {
    let ratio = |(seed, row): &(u64, Row)| {
        let (own, inner) = row[variant].zip(row[VARIANTS[variant].inner])?;
        Some((figure(&own) / figure(&inner), *seed))
    };
    let mut ratios: Vec<_> = rows.iter().filter_map(ratio).collect();
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    ratios
}

/// The smallest ratio that `share` of all ratios do not exceed.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn quantile(ratios: &[(f64, u64)], share: f64) -> f64 {
    let place = (ratios.len() as f64 * share).ceil() as usize;
    ratios[place.clamp(1, ratios.len()) - 1].0
}

#[allow(clippy::cast_precision_loss, reason = "shown with three digits")]
fn mean(ratios: &[(f64, u64)], scale: fn(f64) -> f64) -> f64 {
    ratios.iter().map(|ratio| scale(ratio.0)).sum::<f64>() / ratios.len() as f64
}

fn summary(rows: &[(u64, Row)]) {
    println!(
        "# {:<28} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6} {:>6}  seeds of the most",
        "ratio", "25 %", "50 %", "75 %", "90 %", "95 %", "most", "geom.", "arith."
    );
    for (what, figure) in [("time", TIME), ("peak", PEAK_KIB)] {
        for (place, variant) in VARIANTS.iter().enumerate().skip(1) {
            let ratios = ratios(rows, place, figure);
            if ratios.is_empty() {
                continue;
            }
            print!(
                "# {:<28}",
                format!("{what}, {}/{}", variant.name, VARIANTS[variant.inner].name)
            );
            for share in [0.25, 0.5, 0.75, 0.9, 0.95, 1.0] {
                print!(" {:>5.2}", quantile(&ratios, share));
            }
            print!(" {:>6.3} {:>6.3} ", mean(&ratios, f64::ln).exp(), mean(&ratios, |it| it));
            for (_, seed) in ratios.iter().rev().take(5) {
                print!(" {seed}");
            }
            println!();
        }
    }
}

/// Every bar, and whether the programs missed it.
fn bars(rows: &[(u64, Row)]) -> Vec<(String, bool)> {
    let mut bars = Vec::new();
    for &Bar { variant, mean: most_mean, most } in &BARS {
        let name = VARIANTS[variant].name;
        let times = ratios(rows, variant, TIME);
        if times.is_empty() {
            continue;
        }
        let mut bar = |what: &str, value: f64, most: f64| {
            bars.push((format!("{name}, {what}: {value:.3}, at most {most}"), value > most));
        };
        bar("arithmetic mean of the times", mean(&times, |it| it), most_mean);
        if let Some((most_of_95, most)) = most {
            bar("95 % of the times", quantile(&times, 0.95), most_of_95);
            bar("all times", quantile(&times, 1.0), most);
        }
        for (seed, row) in rows {
            let pair = row[variant].zip(row[VARIANTS[variant].inner]);
            let Some((own, inner)) = pair else { continue };
            let most = PEAK.0 * inner.peak_kib + PEAK.1;
            bar(&format!("peak of {seed} in KiB"), own.peak_kib, most);
        }
    }
    bars
}
