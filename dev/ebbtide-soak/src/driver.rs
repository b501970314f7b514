//! The command line, the processes, the table.

use ebbtide_global::{Scoped, warm};
use ebbtide_soak::{
    meter::{self, Measured},
    programs::{PROGRAMS, Program},
    random, scopes,
    verdict::{self, Peak, Run},
};
use std::{
    alloc::System,
    env,
    process::{Command, ExitCode},
    time::Instant,
};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

const USAGE: &str = "usage: [--check] [--only TEXT] [--scale FACTOR] | --run NAME [--scale FACTOR] \
                     [off] | --random …";

/// The steps of the run that repeats a growing one, relative to that one. The longer run decides: a
/// program whose threads free one another's values takes a while to reach its highest use.
const LONGER: f64 = 8.0;

/// The options of the command line.
struct Plan {
    check: bool,
    only: String,
    scale: f64,
    run: Option<String>,
    is_off: bool,
}

impl Plan {
    fn from_arguments() -> Option<Plan> {
        let mut plan =
            Plan { check: false, only: String::new(), scale: 1.0, run: None, is_off: false };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--check" => plan.check = true,
                "--only" => plan.only = arguments.next()?,
                "--scale" => plan.scale = arguments.next()?.parse().ok()?,
                "--run" => plan.run = Some(arguments.next()?),
                "off" => plan.is_off = true,
                _ => return None,
            }
        }
        Some(plan)
    }
}

pub(crate) fn main() -> ExitCode {
    if env::args().nth(1).is_some_and(|first| first == "--random") {
        return random::table::main(env::args().skip(2));
    }
    let Some(plan) = Plan::from_arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if let Some(name) = &plan.run {
        let Some(program) = PROGRAMS.iter().find(|program| program.name == name) else {
            eprintln!("no program is called `{name}`");
            return ExitCode::from(2);
        };
        run(program, &plan);
        return ExitCode::SUCCESS;
    }
    match table(&plan) {
        Ok(missed) if missed > 0 && plan.check => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one program in this process, and prints its figures for the process that compares them.
fn run(program: &Program, plan: &Plan) {
    scopes::switch(!plan.is_off);
    if scopes::are_on() {
        warm();
        // The first scope checks which global allocator is installed.
        scopes::scope(|| ());
    }
    meter::begin(program.steps, plan.scale);
    let start = Instant::now();
    let answer = (program.run)();
    let seconds = start.elapsed().as_secs_f64();
    let Measured { first_peak_kib, second_peak_kib, rested_kib, excess } = meter::end();
    let excess = excess.map_or("none".to_owned(), |excess| excess.to_string());
    let rested = rested_kib.map_or("none".to_owned(), |rested| rested.to_string());
    println!("{first_peak_kib} {second_peak_kib} {rested} {excess} {seconds} {answer}");
    if scopes::are_on() {
        eprintln!("{}", ebbtide_global::report());
    }
}

/// Runs one program in a process of its own.
fn start(program: &Program, scale: f64, is_off: bool) -> Result<Run, String> {
    let failed = |what: String| format!("{}: {what}", program.name);
    let this = env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(this);
    command.args(["--run", program.name, "--scale", &scale.to_string()]);
    if is_off {
        command.arg("off");
    }
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let run = output.status.success().then(|| parse(&text)).flatten();
    let run = run.map(|run| Run { peak: program.peak, ..run });
    run.ok_or_else(|| failed(String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn parse(text: &str) -> Option<Run> {
    let cells: Vec<&str> = text.split_whitespace().collect();
    let [first, second, rested, excess, seconds, answer] = cells[..] else { return None };
    let measured = Measured {
        first_peak_kib: first.parse().ok()?,
        second_peak_kib: second.parse().ok()?,
        rested_kib: rested.parse().ok(),
        excess: excess.parse().ok(),
    };
    Some(Run {
        measured,
        seconds: seconds.parse().ok()?,
        answer: answer.parse().ok()?,
        peak: Peak::USUAL,
    })
}

/// Runs one program without scopes and with them.
fn pair(program: &Program, scale: f64) -> Result<(Run, Run), String> {
    let glibc = start(program, scale, true)?;
    let mut ours = start(program, scale, false)?;
    ours.measured.excess = ours.measured.excess.filter(|_| program.keeps_promise);
    if ours.answer == glibc.answer {
        Ok((glibc, ours))
    } else {
        Err(format!("{}: answers {}, not {}", program.name, ours.answer, glibc.answer))
    }
}

/// Prints the table. Returns the number of programs that exceeded a limit, or why one could not
/// run.
fn table(plan: &Plan) -> Result<usize, String> {
    println!(
        "{:<40} {:>9} {:>9} {:>7} {:>5} {:>6}  missed",
        "program", "glibc MiB", "ours MiB", "ratio", "flat", "time"
    );
    let mut missed = 0;
    let programs = PROGRAMS.iter().filter(|program| program.name.contains(&plan.only));
    for program in programs.clone() {
        let (mut glibc, mut ours) = pair(program, plan.scale)?;
        if verdict::grows(&ours, &glibc) {
            (glibc, ours) = pair(program, plan.scale * LONGER)?;
        }
        let Measured { first_peak_kib, second_peak_kib, .. } = ours.measured;
        #[allow(clippy::cast_precision_loss, reason = "shown with two digits")]
        let flat = second_peak_kib as f64 / first_peak_kib.max(1) as f64;
        let faults = verdict::faults(&ours, &glibc);
        missed += usize::from(!faults.is_empty());
        println!(
            "{:<40} {:>9.1} {:>9.1} {:>7.2} {flat:>5.2} {:>6.2}  {}",
            program.name,
            glibc.peak_kib() / 1024.0,
            ours.peak_kib() / 1024.0,
            ours.peak_kib() / glibc.peak_kib(),
            ours.seconds / glibc.seconds,
            faults.join("; "),
        );
    }
    let held = programs.count() - missed;
    if plan.check {
        // The last line of a test runner, so that `cargo xtask test` can count the programs.
        let verdict = if missed == 0 { "ok" } else { "FAILED" };
        println!("test result: {verdict}. {held} passed; {missed} failed");
    } else {
        println!("{missed} of {} programs missed a bar", held + missed);
    }
    Ok(missed)
}
