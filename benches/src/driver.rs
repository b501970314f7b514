//! The parts shared by drivers that start a process for each contestant: the command line, the
//! build, and the process.

use lexopt::prelude::*;
use std::{
    env,
    error::Error,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
};

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The options of every driver.
#[derive(Default)]
pub struct Options {
    /// `--only TEXT`: what a name has to contain.
    pub only: String,
    /// `--reports`: prints the allocators' reports.
    pub reports: bool,
    /// `--csv PATH`: where the record is written.
    pub csv: Option<PathBuf>,
}

/// Parses the command line, builds the contestants, which are in the driver's folder, and calls
/// `run` with that folder.
///
/// `option` parses a long option of the driver's own into `plan`, and returns false if it does not
/// know the option. `usage` lists these options.
pub fn main<P>(
    usage: &str,
    mut plan: P,
    option: impl Fn(&mut P, &str, &mut lexopt::Parser) -> std::result::Result<bool, lexopt::Error>,
    run: impl FnOnce(&P, &Options, &Path) -> Result<()>,
) -> ExitCode {
    let mut options = Options::default();
    let mut parse = || {
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            let Long(name) = argument else { return Err(argument.unexpected()) };
            let name = name.to_owned();
            match name.as_str() {
                "only" => options.only = arguments.value()?.string()?,
                "reports" => options.reports = true,
                "csv" => options.csv = Some(arguments.value()?.into()),
                name if option(&mut plan, name, &mut arguments)? => {}
                name => return Err(Long(name).unexpected()),
            }
        }
        Ok(())
    };
    if let Err(error) = parse() {
        eprintln!("{error}\nusage: {usage} [--only TEXT] [--reports] [--csv PATH]");
        return ExitCode::from(2);
    }
    match build().and_then(|programs| run(&plan, &options, &programs)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the contestants and returns their folder.
fn build() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--quiet", "--bins", "--manifest-path"]).arg(manifest);
    // Cargo reads the configuration of `benches/` there.
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    if !command.status()?.success() {
        return Err("the contestants cannot be built".into());
    }
    let this = env::current_exe()?;
    Ok(this.parent().ok_or("a program lies in a folder")?.to_owned())
}

/// A contestant's process. It ends when its standard input does.
pub struct Process {
    child: Child,
    pub input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Process { child, input, output })
    }

    /// Reads the next line of the process's output, without its end.
    pub fn read_line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        line.truncate(line.trim_end().len());
        Ok(line)
    }

    /// Reads a figure of the process's status, in KiB: `VmRSS`, `VmHWM`.
    pub fn status_kib(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// Closes the process's input and waits for its end.
    pub fn end(self) -> Result<()> {
        let Process { mut child, input, .. } = self;
        drop(input);
        if child.wait()?.success() { Ok(()) } else { Err("a contestant failed".into()) }
    }
}
