//! Runs a command line: leading `NAME=value` words set environment variables, the rest is split at
//! spaces.
//!
//! No shell is involved, so a line means the same on every platform, and the printed line is
//! exactly what was run.

use crate::Failure;
use std::fs::File;
use std::io::{self, Write};
use std::process::{Command, ExitStatus, Stdio};

/// Whether the command succeeds; its output is discarded. False if there is no such program.
pub(crate) fn succeeds(line: &str) -> bool {
    command(line)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The standard output of a command that succeeds, without the end of the last line.
pub(crate) fn output(line: &str) -> Option<String> {
    let output = command(line).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    output.status.success().then_some(text)
}

/// Prints the command and runs it, with the output of this program.
pub(crate) fn show(line: &str) -> io::Result<ExitStatus> {
    println!("$ {line}");
    command(line).status()
}

/// Prints the command and runs it; fails if it does not succeed.
pub(crate) fn step(line: &str) -> Result<(), Failure> {
    match show(line) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            eprintln!("{status}: {line}");
            Err(Failure::Work)
        }
        Err(error) => {
            eprintln!("{error}: {line}");
            Err(Failure::Work)
        }
    }
}

/// Runs the command, and writes it and its output to `log`.
pub(crate) fn run(line: &str, log: &File) -> io::Result<ExitStatus> {
    let mut own = log.try_clone()?;
    writeln!(own, "$ {line}")?;
    command(line).stdout(log.try_clone()?).stderr(own).status()
}
fn command(line: &str) -> Command {
    let mut words = line.split_whitespace().peekable();
    let mut environment = Vec::new();
    while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
        environment.push((name, value));
        words.next();
    }
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).envs(environment).stdin(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::command;
    use std::ffi::OsStr;

    #[test]
    fn leading_assignments_become_the_environment() {
        let command = command("A=1 B=x=y cargo test C=3");
        assert_eq!(command.get_program(), "cargo");
        assert!(command.get_args().eq(["test", "C=3"]));
        let environment: Vec<_> = command.get_envs().collect();
        let expected = [("A", "1"), ("B", "x=y")]
            .map(|(name, value)| (OsStr::new(name), Some(OsStr::new(value))));
        assert_eq!(environment, expected);
    }
}
