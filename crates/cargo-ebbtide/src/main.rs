//! `cargo ebbtide advise`: finds the functions of a program whose blocks a scope would serve, and
//! tries them.
//!
//! # Who calls whom
//!
//! ```text
//! main ─► run (starts the program with the recorder) ─► the record
//!      ─► lifetimes (which calls a block has outlived) ─► symbols (names)
//!      ─► calls (those around a block, with inlined ones)
//!      ─► machine (what a block costs here) ─► counts (sums by function) ─► advice (the choice) ─► table
//!      ─► stacks (the tree of calls, and files for other tools) ─► page
//!      ─► measure ─┬─ probe (finds a function and its entry)
//!                  └─ compare (runs with scopes there, and without, until the difference is clear)
//! ```

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "sums and shares, shown with a few digits; indices have 64 bits here"
)]

mod advice;
mod beginning;
mod calls;
mod compare;
mod counts;
mod debug_info;
mod frames;
mod input;
mod lifetimes;
mod machine;
mod measure;
mod page;
mod patch;
mod probe;
mod refusal;
mod run;
mod spelling;
mod stacks;
mod symbols;
mod table;
mod turns;

use advice::{Advice, Times};
use cargo_ebbtide::record::{Record, header};
use compare::{First, Limit, Runs};
use input::Input;
use lexopt::{Arg, ValueExt};
use lifetimes::Lifetimes;
use measure::Findings;
use refusal::Refusal;
use run::{Program, Run};
use stacks::{Format, Node};
use std::{
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{ExitCode, ExitStatus, Stdio},
    time::{Duration, Instant},
};
use symbols::Symbols;

const USAGE: &str = "\
usage: cargo ebbtide advise [options] -- PROGRAM [ARGUMENTS]
       cargo ebbtide advise [options] --read RECORD PROGRAM
       cargo ebbtide advise [options] --try FUNCTION -- PROGRAM [ARGUMENTS]

Runs the program, and records some of its blocks. Then runs it with a scope in each call of a function
and without, in turn, for the functions that may pay, and names those that do.

  --budget N     how many seconds this may take, except for the first run; 60 if left out
  --no-try       run the program once: what scopes would save is expected, not measured
  --try NAME     a function to try instead of what the record names; may be repeated, to try all at once
  --runs N       compare N runs with scopes and as many without, whatever they show
  --every N      record one block in N, 1 for all; as many as cost 5 % of the time if left out
  --all          show every function, not only those that are worth a scope
  --json FILE    write JSON into this file as well; `-` prints it instead of the table
  --page FILE    write a page for a browser into this file as well
  --stacks FILE  write the stacks into this file as well: folded (.folded, .txt), for pprof (.pb, .pb.gz),
                 or for speedscope (.speedscope.json)
  --keep FILE    keep the record in this file
  --status       end with the program's status
  --help         print this

Exit status: 0 if scopes save time, as measured, or as expected with `--no-try` and `--read`; 1 if not;
2 if nothing could be measured.
";

/// What the command line asks for.
#[derive(Debug, Default)]
struct Plan {
    program: Option<OsString>,
    arguments: Vec<OsString>,
    every: Option<u64>,
    is_all: bool,
    json: Option<PathBuf>,
    keep: Option<PathBuf>,
    page: Option<PathBuf>,
    read: Option<PathBuf>,
    stacks: Option<(PathBuf, Format)>,
    tried: Vec<String>,
    runs: Option<usize>,
    budget: Option<u64>,
    is_not_tried: bool,
    passes_status: bool,
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
            Arg::Long("budget") => plan.budget = Some(above_zero("--budget", &mut parser)?),
            Arg::Long("no-try") => plan.is_not_tried = true,
            Arg::Long("status") => plan.passes_status = true,
            Arg::Long("json") => plan.json = Some(parser.value()?.into()),
            Arg::Long("keep") => plan.keep = Some(parser.value()?.into()),
            Arg::Long("page") => plan.page = Some(parser.value()?.into()),
            Arg::Long("read") => plan.read = Some(parser.value()?.into()),
            Arg::Long("stacks") => {
                let path = PathBuf::from(parser.value()?);
                let format = Format::of(&path)?;
                plan.stacks = Some((path, format));
            }
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
    let refused = |error: Refusal| {
        eprintln!("{error}");
        ExitCode::from(2)
    };
    match plan() {
        Ok(plan) if plan.is_help => {
            run::unless_closed(say(USAGE)).map_or_else(refused, |()| ExitCode::SUCCESS)
        }
        Ok(plan) => {
            let outcome = if plan.tried.is_empty() { advise(&plan) } else { try_out(&plan) };
            outcome.map_or_else(refused, |outcome| outcome.code(plan.passes_status))
        }
        Err(error) => refused(usage(&error.to_string())),
    }
}

/// What is wrong with the command line.
fn usage(what: &str) -> Refusal {
    Refusal::Usage(format!("{what}\n\n{USAGE}"))
}

/// What is to be said by the exit status.
struct Outcome {
    is_gain: bool,
    /// How the program ended; `None` if it was not run.
    status: Option<ExitStatus>,
}

impl Outcome {
    fn code(&self, passes_status: bool) -> ExitCode {
        match self.status.filter(|_| passes_status) {
            Some(status) => ExitCode::from(run::shell_status(status)),
            None => ExitCode::from(u8::from(!self.is_gain)),
        }
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints the table, and writes the JSON if it is asked for.
fn show(plan: &Plan, table: &str, json: &serde_json::Value) -> Result<(), Refusal> {
    match &plan.json {
        Some(path) if path == Path::new("-") => run::unless_closed(say(&format!("{json}\n"))),
        Some(path) => {
            std::fs::write(path, format!("{json}\n")).map_err(Refusal::at(path))?;
            run::unless_closed(say(table))
        }
        None => run::unless_closed(say(table)),
    }
}

/// The program of the command line.
fn program(plan: &Plan) -> Result<Program, Refusal> {
    let name = plan.program.as_ref().ok_or_else(|| usage("no program is named"))?;
    let arguments = plan.arguments.clone();
    Ok(Program { path: run::find(name)?, name: name.clone(), arguments })
}

/// When comparing is to end.
fn limit(plan: &Plan) -> Limit {
    let budget = Duration::from_secs(plan.budget.unwrap_or(60));
    Limit { pairs: plan.runs, end: Instant::now() + budget }
}

fn try_out(plan: &Plan) -> Result<Outcome, Refusal> {
    let program = program(plan)?;
    let mut entries = Vec::new();
    for name in &plan.tried {
        entries.extend(probe::named_entries(&program.path, name)?);
    }
    run::outlive_interrupts();
    let (input, first) = Input::keep()?;
    let first = compare::first(&program, first)?;
    let mut runs = Runs::new(&program, &program.path, &input, first, limit(plan))?;
    let compared = runs.compare(&[entries])?.remove(0)?;
    let table = table::compared(&plan.tried, &compared);
    show(plan, &table, &table::compared_json(&plan.tried, &compared))?;
    Ok(Outcome { is_gain: compared.is_gain(), status: Some(first.status) })
}

fn advise(plan: &Plan) -> Result<Outcome, Refusal> {
    let program = program(plan)?;
    run::outlive_interrupts();
    if let Some(path) = &plan.read {
        let record = std::fs::read(path).map_err(Refusal::at(path))?;
        return say_advice(plan, &record, None, |_, _| Ok(None));
    }
    let (input, first) = if plan.is_not_tried {
        (None, Stdio::inherit())
    } else {
        let (input, first) = Input::keep()?;
        (Some(input), first)
    };
    let run = run::record(&program, plan.every, first)?;
    if let Some(fate) = run::fate(run.status) {
        eprintln!("the program did not end well: {fate}; this is what was recorded");
    }
    if run.others > 0 {
        eprintln!(
            "{} other processes were recorded; this is the program with the most",
            run.others
        );
    }
    if let Some(keep) = &plan.keep {
        std::fs::write(keep, &run.record).map_err(Refusal::at(keep))?;
    }
    say_advice(plan, &run.record, Some(&run), |advice, lifetimes| {
        let Some(input) = input.filter(|_| !advice.sets.is_empty()) else { return Ok(None) };
        let limit = limit(plan);
        let first = First { status: run.status, took: run.took, printed: None };
        let modules = lifetimes.files();
        let file = modules.first().unwrap_or(&program.path);
        let mut runs = Runs::new(&program, file, &input, first, limit)?;
        measure::measure(advice, &mut runs, &modules, limit.end).map(Some)
    })
}

/// Says what a record, and trying, show. Where nothing could be tried, it says why.
fn say_advice(
    plan: &Plan,
    record: &[u8],
    run: Option<&Run>,
    measure: impl FnOnce(&mut Advice, &Lifetimes) -> Result<Option<Findings>, Refusal>,
) -> Result<Outcome, Refusal> {
    let symbols = Symbols::new();
    let alone = run.filter(|run| run.others == 0);
    let (mut advice, lifetimes) = advice(record, &symbols, alone.map(|run| run.seconds))?;
    let findings = measure(&mut advice, &lifetimes);
    let is_expected = matches!(findings, Ok(None));
    let findings = findings.unwrap_or_else(|why| {
        eprintln!("{why}");
        None
    });
    if plan.page.is_some() || plan.stacks.is_some() {
        let stacks = Node::of(&lifetimes, &symbols);
        if let Some(path) = &plan.page {
            let page = page::html(&advice, findings.as_ref(), &stacks);
            std::fs::write(path, page).map_err(Refusal::at(path))?;
        }
        if let Some((path, format)) = &plan.stacks {
            let file = format.file(&stacks);
            file.and_then(|file| std::fs::write(path, file)).map_err(Refusal::at(path))?;
        }
    }
    let table = table::text(&advice, findings.as_ref(), plan.is_all);
    show(plan, &table, &table::json(&advice, findings.as_ref()))?;
    let is_gain = match &findings {
        Some(findings) => findings.are_gains(),
        None => is_expected && !advice.chosen.is_empty(),
    };
    Ok(Outcome { is_gain, status: run.map(|run| run.status) })
}

/// Reads the records of a program. `seconds` are those of the processor that the program and its children took; `None` if
/// they are not known.
fn advice(
    bytes: &[u8],
    symbols: &Symbols,
    seconds: Option<f64>,
) -> Result<(Advice, Lifetimes), Refusal> {
    let records = Record::all(bytes)?;
    let sum = |index: usize| records.iter().map(|record| record.header(index)).sum::<u64>();
    let left_out = sum(header::LEFT_OUT);
    if left_out > 0 {
        eprintln!(
            "{left_out} children of `fork` were not recorded; if they do the work of the program, run \
             it with fewer processes, as for debugging"
        );
    }
    let lifetimes =
        Lifetimes::of(&records, |modules, one, other| symbols.same_function(modules, one, other))?;
    if lifetimes.blocks.is_empty() {
        return Err(Refusal::NoBlocks);
    }
    let seconds = seconds.filter(|_| sum(header::FORKS) + left_out == 0);
    let program = lifetimes.modules.first().map_or("", |module| module.path.as_str());
    if !symbols.has_names(program) {
        return Err(Refusal::NoNames(program.to_owned()));
    }
    let times = Times::of(&records, &lifetimes, seconds);
    Ok((Advice::of(&lifetimes, symbols, times), lifetimes))
}
