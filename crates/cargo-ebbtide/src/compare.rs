//! Runs a program with scopes in some of its functions and without, in turn.

use crate::run::{self, Program};
use cargo_ebbtide::trial::{
    entry::{ENTRIES, Entry},
    report::{BYTES, REPORT, Refusal, Report},
};
use std::{
    ffi::OsString,
    fs::{self, File},
    hash::{DefaultHasher, Hasher},
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Instant,
};

/// The trial, a shared library.
const TRIAL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trial.so"));

/// What one run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// The time of the processor, in seconds.
    pub(crate) processor: f64,
    /// The time that passed, in seconds.
    pub(crate) elapsed: f64,
    /// The most memory that was resident, in bytes.
    pub(crate) peak: f64,
}

/// What all runs took.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The calls of the functions in one run.
    pub(crate) calls: u64,
    pub(crate) without: Vec<Cost>,
    pub(crate) with: Vec<Cost>,
    /// Whether the program prints the same in scopes; `None` if it does not without either.
    pub(crate) prints_the_same: Option<bool>,
}

impl Comparison {
    /// What scopes save of the processor's time: of the shortest runs, and the least and the most of
    /// any pair.
    pub(crate) fn saved(&self) -> (f64, f64, f64) {
        let shortest = |costs: &[Cost]| costs.iter().map(|c| c.processor).fold(f64::MAX, f64::min);
        let pairs = self.without.iter().zip(&self.with);
        let pairs = pairs.map(|(without, with)| 1.0 - with.processor / without.processor);
        let (least, most) = pairs
            .fold((f64::MAX, f64::MIN), |(least, most), saved| (least.min(saved), most.max(saved)));
        (1.0 - shortest(&self.with) / shortest(&self.without), least, most)
    }

    /// The peak of the memory with scopes, divided by that without.
    pub(crate) fn peaks(&self) -> f64 {
        let largest = |costs: &[Cost]| costs.iter().map(|cost| cost.peak).fold(1.0, f64::max);
        largest(&self.with) / largest(&self.without)
    }
}

/// Runs the program `runs` times with scopes and as often without, after one run without. That one
/// prints what the program prints; the others are silent.
pub(crate) fn compare(
    program: &Program,
    entries: &[Entry],
    runs: usize,
) -> Result<Comparison, String> {
    let folder = tempfile::tempdir().map_err(run::no_folder)?;
    let input = Input::keep(folder.path())?;
    let scopes = Scopes::new(folder.path(), entries)?;
    run::outlive_interrupts();
    run::forget_peak();
    let output = folder.path().join("output");
    let file = File::create(&output).map_err(run::no_folder)?;
    let expected = once(program, &input, None, file.into(), Stdio::inherit())?.0;
    let mut first = File::open(&output).map_err(run::no_folder)?;
    io::copy(&mut first, &mut io::stdout()).map_err(|error| format!("standard output: {error}"))?;
    let mut comparison =
        Comparison { calls: 0, without: Vec::new(), with: Vec::new(), prints_the_same: None };
    let mut printed = [vec![hash(&output)?], Vec::new()];
    for round in 0..runs {
        // Whatever changes in time affects both.
        let order = if round % 2 == 0 { [false, true] } else { [true, false] };
        for is_scoped in order {
            if is_scoped {
                scopes.reset()?;
            }
            let file = File::create(&output).map_err(run::no_folder)?;
            let scopes = is_scoped.then_some(&scopes);
            let (status, cost) = once(program, &input, scopes, file.into(), Stdio::null())?;
            if let Some(scopes) = scopes {
                comparison.calls = scopes.calls()?;
            }
            if status != expected {
                let how = |status| run::fate(status).unwrap_or_else(|| "it ended well".to_owned());
                return Err(format!(
                    "a run {} scopes ended in another way than the first, without: {}, and {}",
                    if is_scoped { "with" } else { "without" },
                    how(status),
                    how(expected),
                ));
            }
            printed[usize::from(is_scoped)].push(hash(&output)?);
            if is_scoped { &mut comparison.with } else { &mut comparison.without }.push(cost);
        }
    }
    let [without, with] = printed;
    let is_always_the_same = without.windows(2).all(|pair| pair[0] == pair[1]);
    comparison.prints_the_same =
        is_always_the_same.then(|| with.iter().all(|hash| *hash == without[0]));
    if comparison.calls == 0 {
        return Err("the function was never called".to_owned());
    }
    Ok(comparison)
}

/// What a run with scopes needs.
struct Scopes {
    preload: OsString,
    entries: String,
    report: PathBuf,
}

impl Scopes {
    fn new(folder: &Path, entries: &[Entry]) -> Result<Scopes, String> {
        let preload = run::preload(folder, TRIAL)?;
        let entries: Vec<String> = entries.iter().map(Entry::line).collect();
        Ok(Scopes { preload, entries: entries.join("\n"), report: folder.join("report") })
    }

    fn reset(&self) -> Result<(), String> {
        fs::write(&self.report, [0; BYTES]).map_err(run::no_folder)
    }

    /// The calls of the latest run, or why there were no scopes.
    fn calls(&self) -> Result<u64, String> {
        let bytes = fs::read(&self.report).map_err(run::no_folder)?;
        let report = Report::read(&bytes);
        match Refusal::from_number(report.refusal.into_inner()) {
            Some(Refusal::OtherBytes) => {
                Err("the function has other code in memory than in its file".to_owned())
            }
            Some(Refusal::NoRoom) => Err("there is no free memory near the function".to_owned()),
            Some(Refusal::Protected) => {
                Err("the system does not let the function's code be changed".to_owned())
            }
            Some(Refusal::Threads) => Err("a library of the program starts a thread before the \
                 function's code can be changed"
                .to_owned()),
            None if report.processes.into_inner() == 0 => {
                Err("no process of the program had the function when it started".to_owned())
            }
            None => Ok(report.calls.into_inner()),
        }
    }
}

/// What the program reads: the same in each run.
struct Input(Option<PathBuf>);

impl Input {
    /// Keeps what is passed to this program, unless somebody types it.
    fn keep(folder: &Path) -> Result<Input, String> {
        let mut input = io::stdin();
        if input.is_terminal() {
            return Ok(Input(None));
        }
        let path = folder.join("input");
        let mut file = File::create(&path).map_err(run::no_folder)?;
        io::copy(&mut input, &mut file).map_err(run::no_folder)?;
        Ok(Input(Some(path)))
    }

    fn open(&self) -> Result<Stdio, String> {
        match &self.0 {
            Some(path) => Ok(File::open(path).map_err(run::no_folder)?.into()),
            None => Ok(Stdio::null()),
        }
    }
}

fn once(
    program: &Program,
    input: &Input,
    scopes: Option<&Scopes>,
    output: Stdio,
    errors: Stdio,
) -> Result<(ExitStatus, Cost), String> {
    let mut command = program.command();
    command.stdin(input.open()?).stdout(output).stderr(errors);
    if let Some(scopes) = scopes {
        command
            .env("LD_PRELOAD", &scopes.preload)
            .env(ENTRIES, &scopes.entries)
            .env(REPORT, &scopes.report);
    }
    let start = Instant::now();
    let child = command.spawn().map_err(|error| format!("{}: {error}", program.path.display()))?;
    let (status, processor, peak) = run::wait(&child)?;
    Ok((status, Cost { processor, elapsed: start.elapsed().as_secs_f64(), peak }))
}

/// A number for the contents of a file, which others have by accident only.
fn hash(path: &Path) -> Result<u64, String> {
    let mut file = File::open(path).map_err(run::no_folder)?;
    let (mut hasher, mut part) = (DefaultHasher::new(), vec![0; 1 << 16]);
    loop {
        let bytes = file.read(&mut part).map_err(run::no_folder)?;
        if bytes == 0 {
            return Ok(hasher.finish());
        }
        hasher.write(&part[..bytes]);
    }
}
