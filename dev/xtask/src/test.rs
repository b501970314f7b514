//! `cargo xtask check` and `cargo xtask test`: run the steps of a tier, two at a time where they do
//! not share a target folder.
//!
//! The terminal shows a line for each step that ended. Its output is in a file in `target/xtask/`,
//! whose last lines are printed if the step fails.

use crate::record;
use crate::step::{End, Lane, Outcome, Step, Tier};
use crate::steps::STEPS;
use crate::tally::Tally;
use crate::{Failure, process};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The steps that run at the same time.
const WORKERS: usize = 2;

/// The lines of a failed step's output that are printed.
const TAIL: usize = 40;

/// The options of both commands, for the usage text.
pub(crate) const OPTIONS: &str = "
  --list        prints the steps, and does not run them
  --only TEXT   runs the steps, of any tier, whose title contains TEXT; may be repeated
  --from TEXT   begins at the first step whose title contains TEXT
  --keep-going  goes on after a failure
  --record      writes times and counts to dev/records/test-runs.md; with --all also of some steps";

/// What the arguments ask for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    tier: Tier,
    list: bool,
    /// Only the steps, of any tier, whose title contains one of these.
    only: Vec<String>,
    /// Only the first step whose title contains this, and those after it.
    from: Option<String>,
    keep_going: bool,
    record: bool,
}

impl Options {
    fn parse(tier: Tier, arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Options {
            tier,
            list: false,
            only: Vec::new(),
            from: None,
            keep_going: false,
            record: false,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut text = || {
                let text = arguments.next().map(|text| text.to_lowercase());
                text.ok_or_else(|| Failure::Usage(format!("{argument} takes a part of a title")))
            };
            match argument.as_str() {
                "--all" if tier == Tier::Test => options.tier = Tier::All,
                "--list" => options.list = true,
                "--only" => options.only.push(text()?),
                "--from" => options.from = Some(text()?),
                "--keep-going" => options.keep_going = true,
                "--record" => options.record = true,
                _ => return Err(Failure::Usage(format!("unknown argument: `{argument}`"))),
            }
        }
        let is_whole = options.only.is_empty() && options.from.is_none();
        if options.record && !is_whole && options.tier != Tier::All {
            let error = "--record needs a run of all steps, except for --all";
            return Err(Failure::Usage(error.to_owned()));
        }
        Ok(options)
    }

    fn select(&self) -> Result<Vec<&'static Step>, Failure> {
        let has = |step: &Step, text: &str| step.title.to_lowercase().contains(text);
        let is_meant = |step: &&Step| match &self.only[..] {
            [] => step.tier <= self.tier,
            texts => texts.iter().any(|text| has(step, text)),
        };
        let mut steps: Vec<&Step> = STEPS.iter().filter(is_meant).collect();
        if let Some(text) = &self.from {
            let first = steps.iter().position(|step| has(step, text)).unwrap_or(steps.len());
            steps.drain(..first);
        }
        if steps.is_empty() {
            return Err(Failure::Usage("no step has such a title; --list shows them".to_owned()));
        }
        Ok(steps)
    }
}

pub(crate) fn check(arguments: &[String]) -> Result<(), Failure> {
    run_tier(Tier::Check, arguments)
}

pub(crate) fn test(arguments: &[String]) -> Result<(), Failure> {
    run_tier(Tier::Test, arguments)
}

fn run_tier(tier: Tier, arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(tier, arguments)?;
    let steps = options.select()?;
    if options.list {
        for step in steps {
            println!("{:5}  {}", format!("{:?}", step.tier).to_lowercase(), step.title);
        }
        return Ok(());
    }
    let logs = Path::new("target/xtask");
    fs::create_dir_all(logs).map_err(|error| Failure::Usage(format!("target/xtask: {error}")))?;

    let start = Instant::now();
    let outcomes = run(&steps, logs, options.keep_going);
    let time = start.elapsed();
    let mut sum = Tally::default();
    for (_, outcome) in &outcomes {
        sum += outcome.tally;
    }
    println!("{:8.1} s  in all", time.as_secs_f64());
    let is_green = sum.failed == 0;
    if options.record && (is_green || options.tier == Tier::All) {
        record::write(options.tier, &outcomes, time)?;
    }
    println!("\n{sum}");
    if is_green { Ok(()) } else { Err(Failure::Work) }
}

/// The steps that have not started, and the lanes of those that run.
struct Queue {
    waiting: VecDeque<&'static Step>,
    running: Vec<&'static Step>,
}

impl Queue {
    /// The first step that may run beside those that do.
    fn pop(&mut self) -> Option<&'static Step> {
        let is_free = |step: &&Step| match step.lane {
            Lane::Alone => self.running.is_empty(),
            lane => !self.running.iter().any(|other| [lane, Lane::Alone].contains(&other.lane)),
        };
        let index = self.waiting.iter().position(is_free)?;
        let step = self.waiting.remove(index)?;
        self.running.push(step);
        Some(step)
    }
}

/// Runs the steps, and prints a line for each. Stops starting steps after the first failure, unless
/// `keep_going`.
fn run(steps: &[&'static Step], logs: &Path, keep_going: bool) -> Vec<(&'static Step, Outcome)> {
    let bar = ProgressBar::new(steps.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len}  {elapsed}  {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    let queue = Queue { waiting: steps.iter().copied().collect(), running: Vec::new() };
    let (queue, ended) = (Mutex::new(queue), Condvar::new());
    let outcomes = Mutex::new(Vec::new());
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let show_running = |queue: &Queue| {
        let titles: Vec<_> = queue.running.iter().map(|step| step.title).collect();
        bar.set_message(titles.join(", "));
    };
    let work = || {
        loop {
            let mut queue = lock();
            let step = loop {
                if let Some(step) = queue.pop() {
                    break step;
                }
                if queue.waiting.is_empty() {
                    return;
                }
                queue = ended.wait(queue).unwrap_or_else(PoisonError::into_inner);
            };
            show_running(&queue);
            drop(queue);

            let outcome = step.run(logs);
            bar.suspend(|| print(step, &outcome));
            bar.inc(1);
            let mut queue = lock();
            queue.running.retain(|other| other.title != step.title);
            if matches!(outcome.end, End::Failed(_)) && !keep_going {
                queue.waiting.clear();
            }
            show_running(&queue);
            drop(queue);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((step, outcome));
            ended.notify_all();
        }
    };
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(work);
        }
    });
    bar.finish_and_clear();
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn print(step: &Step, outcome: &Outcome) {
    let verdict = match &outcome.end {
        End::Passed => outcome.tally.to_string(),
        End::LeftOut(why) => format!("left out: {why}"),
        End::Failed(why) => format!("FAILED: {why}"),
    };
    println!("{:8.1} s  {}: {verdict}", outcome.time.as_secs_f64(), step.title);
    if let End::Failed(_) = outcome.end {
        let text = fs::read(&outcome.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text.lines().collect();
        println!("--- the end of {}", outcome.log.display());
        println!("{}", lines[lines.len().saturating_sub(TAIL)..].join("\n"));
        println!("---");
    }
}

/// `cargo xtask hook`: has Git run `cargo xtask check` before each push.
pub(crate) fn hook(arguments: &[String]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err(Failure::Usage("hook takes no arguments".to_owned()));
    }
    let path = process::output("git rev-parse --git-path hooks/pre-push")
        .ok_or_else(|| Failure::Usage("this is no checkout of Git".to_owned()))?;
    let script = "#!/bin/sh\nexec cargo xtask check\n";
    if fs::read_to_string(&path).is_ok_and(|other| other != script) {
        return Err(Failure::Usage(format!("{path} exists, and is another hook")));
    }
    let written = fs::write(&path, script).and_then(|()| make_executable(Path::new(&path)));
    written.map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    println!("{path} runs `cargo xtask check` before each push");
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Options, Queue, STEPS};
    use crate::step::{Lane, Tier};
    use std::collections::HashSet;

    fn options(line: &str) -> Option<Options> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(Tier::Test, &words).ok()
    }

    #[test]
    fn a_step_of_any_tier_runs_by_a_part_of_its_title() {
        let steps = options("--only MUTANTS").and_then(|options| options.select().ok());
        assert_eq!(steps.map(|steps| steps.len()), Some(1));
        let two = options("--only mutants --only oldest").and_then(|o| o.select().ok());
        assert!(two.is_some_and(|steps| steps.len() > 2));
        assert!(options("--only").is_none() && options("--quick").is_none());
        assert!(options("--only nonsense").is_some_and(|options| options.select().is_err()));
    }

    #[test]
    fn each_tier_has_the_steps_of_those_before_it() {
        let count = |line| options(line).and_then(|o| o.select().ok()).map_or(0, |s| s.len());
        assert_eq!(count("--all"), STEPS.len());
        assert!(0 < count("") && count("") < count("--all"));
        assert!(count("--from lints") < count(""));
    }

    #[test]
    fn only_a_whole_tier_is_recorded_except_the_longest() {
        assert!(options("--record").is_some() && options("--only lints --record").is_none());
        assert!(options("--all --only mutants --record").is_some());
    }

    #[test]
    fn steps_that_share_a_target_folder_run_one_after_the_other() {
        let mut queue = Queue { waiting: STEPS.iter().collect(), running: Vec::new() };
        while let Some(step) = queue.pop() {
            assert!(step.lane != Lane::Alone);
        }
        let lanes: HashSet<_> = queue.running.iter().map(|s| format!("{:?}", s.lane)).collect();
        assert_eq!(lanes.len(), queue.running.len());
        while !queue.waiting.is_empty() {
            queue.running.clear();
            while let Some(step) = queue.pop() {
                assert!(step.lane != Lane::Alone || queue.running.len() == 1);
            }
        }
    }

    #[test]
    fn titles_are_unique() {
        let titles: HashSet<_> = STEPS.iter().map(|step| step.title).collect();
        assert_eq!(titles.len(), STEPS.len());
    }
}
