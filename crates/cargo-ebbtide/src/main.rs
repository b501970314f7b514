//! `cargo ebbtide advise`: finds the functions of a program whose blocks a scope would serve, and
//! tries them.
//!
//! # Who calls whom
//!
//! ```text
//! main ─► run (starts the program with the recorder) ─► the record
//!      ─► lifetimes (which calls a block has outlived) ─► symbols (names)
//!      ─► machine (what a block costs here) ─► advice (sums by function, the choice) ─► table, page
//!      ─► probe (finds a function and its entry) ─► compare (runs with scopes there, and without)
//!                                                                                      ─► table
//! ```

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "sums and shares, shown with a few digits; indices have 64 bits here"
)]

mod advice;
mod compare;
mod debug_info;
mod lifetimes;
mod machine;
mod page;
mod probe;
mod run;
mod spelling;
mod symbols;
mod table;

use advice::{Advice, Times};
use cargo_ebbtide::record::{Record, Unreadable, header};
use lexopt::{Arg, ValueExt};
use lifetimes::Lifetimes;
use run::Program;
use std::{ffi::OsString, path::PathBuf, process::ExitCode};
use symbols::Symbols;

const USAGE: &str = "\
usage: cargo ebbtide advise [options] -- PROGRAM [ARGUMENTS]
       cargo ebbtide advise [options] --read RECORD PROGRAM
       cargo ebbtide advise [options] --try FUNCTION -- PROGRAM [ARGUMENTS]

Runs the program, records some of its blocks, and names the functions that would pay as scopes. With
`--try`, runs it with a scope in each call of the function and without, in turn, and compares.

  --every N      record one block in N, 1 for all; as many as cost 5 % of the time if left out
  --all          show every function, not only those that are worth a scope
  --try NAME     a function to try; may be repeated
  --runs N       with `--try`: as many runs with scopes, and as many without; 5 if left out
  --json         print JSON instead of a table
  --page FILE    write a page for a browser into this file as well
  --keep FILE    keep the record in this file
  --help         print this

Exit status: 0 if there is advice, or the scopes that were tried save time; 1 if no scope would pay, or
these do not; 2 if nothing could be measured.
";

/// What the command line asks for.
#[derive(Debug, Default)]
struct Plan {
    program: Option<OsString>,
    arguments: Vec<OsString>,
    every: Option<u64>,
    is_all: bool,
    is_json: bool,
    keep: Option<PathBuf>,
    page: Option<PathBuf>,
    read: Option<PathBuf>,
    tried: Vec<String>,
    runs: Option<usize>,
    is_help: bool,
}

fn plan() -> Result<Plan, lexopt::Error> {
    let mut plan = Plan::default();
    // Cargo passes the name of the subcommand.
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "ebbtide") {
        arguments.remove(1);
    }
    match arguments.get(1).and_then(|first| first.to_str()) {
        Some("advise") => drop(arguments.remove(1)),
        Some("--help" | "-h") | None => plan.is_help = true,
        Some(other) => return Err(format!("`{other}` is no command; there is `advise`").into()),
    }
    let mut parser = lexopt::Parser::from_iter(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("every") => plan.every = Some(above_zero("--every", &mut parser)?),
            Arg::Long("runs") => plan.runs = Some(above_zero("--runs", &mut parser)? as usize),
            Arg::Long("try") => plan.tried.push(parser.value()?.string()?),
            Arg::Long("all") => plan.is_all = true,
            Arg::Long("json") => plan.is_json = true,
            Arg::Long("keep") => plan.keep = Some(parser.value()?.into()),
            Arg::Long("page") => plan.page = Some(parser.value()?.into()),
            Arg::Long("read") => plan.read = Some(parser.value()?.into()),
            Arg::Long("help") | Arg::Short('h') => plan.is_help = true,
            Arg::Value(program) => {
                plan.program = Some(program);
                plan.arguments = parser.raw_args()?.collect();
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(plan)
}

/// The value of an option, a number above 0.
fn above_zero(option: &str, parser: &mut lexopt::Parser) -> Result<u64, lexopt::Error> {
    let value = parser.value()?.string()?;
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{option} {value}` is not a number above 0").into())
}

fn main() -> ExitCode {
    let refused = |error: String| {
        eprintln!("{error}");
        ExitCode::from(2)
    };
    match plan() {
        Ok(plan) if plan.is_help => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(plan) if plan.tried.is_empty() => advise(&plan).unwrap_or_else(refused),
        Ok(plan) => try_out(&plan).unwrap_or_else(refused),
        Err(error) => refused(format!("{error}\n\n{USAGE}")),
    }
}

/// The program of the command line.
fn program(plan: &Plan) -> Result<Program, String> {
    let name = plan.program.as_ref().ok_or_else(|| format!("no program is named\n\n{USAGE}"))?;
    let arguments = plan.arguments.clone();
    Ok(Program { path: run::find(name)?, name: name.clone(), arguments })
}

fn try_out(plan: &Plan) -> Result<ExitCode, String> {
    let program = program(plan)?;
    let mut entries = Vec::new();
    for name in &plan.tried {
        entries.extend(probe::entries(&program.path, name)?);
    }
    let compared = compare::compare(&program, &entries, plan.runs.unwrap_or(5))?;
    if plan.is_json {
        println!("{}", table::compared_json(&plan.tried, &compared));
    } else {
        print!("{}", table::compared(&plan.tried, &compared));
    }
    let (saved, least, _) = compared.saved();
    Ok(if saved > 0.0 && least > 0.0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn advise(plan: &Plan) -> Result<ExitCode, String> {
    let program = program(plan)?;
    let (bytes, seconds) = match &plan.read {
        Some(path) => {
            let failed = |error| format!("{}: {error}", path.display());
            (std::fs::read(path).map_err(failed)?, None)
        }
        None => {
            let run = run::record(&program, plan.every)?;
            if let Some(fate) = run::fate(run.status) {
                eprintln!("the program did not end well: {fate}; this is what was recorded");
            }
            if run.others > 0 {
                let others = run.others;
                eprintln!("{others} other processes were recorded; this is the one with the most");
            }
            (run.record, Some(run.seconds))
        }
    };
    if let Some(keep) = &plan.keep {
        std::fs::write(keep, &bytes).map_err(|error| format!("{}: {error}", keep.display()))?;
    }
    let (advice, page) = advice(&bytes, seconds, plan.page.is_some())?;
    if let Some((path, page)) = plan.page.as_ref().zip(page) {
        std::fs::write(path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if plan.is_json {
        println!("{}", table::json(&advice));
    } else {
        print!("{}", table::text(&advice, plan.is_all));
    }
    Ok(if advice.chosen.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Reads a record. `seconds` are those of the processor that the program took; those that passed, if
/// they are not known. Returns the page as well, if it is asked for.
fn advice(
    bytes: &[u8],
    seconds: Option<f64>,
    is_page: bool,
) -> Result<(Advice, Option<String>), String> {
    let unreadable = |error| match error {
        Unreadable::NotARecord => "this is no record of `cargo ebbtide advise`".to_owned(),
        Unreadable::Version(version) => format!(
            "the record has version {version}; this program reads version {}",
            cargo_ebbtide::record::VERSION
        ),
        Unreadable::Broken(at) => format!("the record is broken at byte {at}"),
    };
    let record = Record::new(bytes).map_err(unreadable)?;
    let symbols = Symbols::new();
    let forks = record.header(header::FORKS);
    if forks > 0 {
        eprintln!(
            "{forks} children of `fork` were not recorded; if they do the work of the program, run \
             it with one process, as for debugging"
        );
    }
    let lifetimes =
        Lifetimes::of(&record, |modules, one, other| symbols.same_function(modules, one, other))
            .map_err(unreadable)?;
    if lifetimes.blocks.is_empty() {
        return Err("the program allocates nothing with the system's allocator".to_owned());
    }
    let program = lifetimes.modules.first().map_or("", |module| module.path.as_str());
    if !symbols.has_names(program) {
        return Err(symbols::no_names(program));
    }
    let difference = |latest: usize, start: usize| {
        record.header(latest).saturating_sub(record.header(start)) as f64
    };
    let ticks = difference(header::LATEST_TICKS, header::START_TICKS).max(1.0);
    let nanoseconds = difference(header::LATEST_NANOSECONDS, header::START_NANOSECONDS).max(1.0);
    let tick = nanoseconds / ticks / 1e9;
    let spent = record.header(header::SPENT_TICKS) as f64 * tick;
    let program_seconds = seconds.unwrap_or(nanoseconds / 1e9);
    // The time between two looks at the clock.
    let clock = 25.0;
    let machine = machine::measure();
    // Where every block is recorded, none is timed.
    let timed = |ticks: f64| if ticks > 0.0 { ticks * tick } else { machine.pair / 2.0 };
    let times = Times {
        // Beside other work, recording waits for the processor as well.
        program: program_seconds - spent.min(program_seconds * 0.75),
        alloc: timed(lifetimes.allocs.mean(clock)),
        free: timed(lifetimes.frees.mean(clock)),
        in_scope: machine.in_scope,
        scope: machine.scope,
    };
    let advice = Advice::of(&lifetimes, &symbols, times);
    let page = is_page.then(|| page::html(&advice, &lifetimes, &symbols));
    Ok((advice, page))
}
