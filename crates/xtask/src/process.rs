//! Runs a command line: leading `NAME=value` words set environment variables, the rest is split at
//! spaces.
//!
//! No shell is involved, so a line means the same on every platform, and the printed line is
//! exactly what was run.

use std::io::{self, BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};

/// Whether the command succeeds; its output is discarded. False if there is no such program.
pub(crate) fn succeeds(line: &str) -> bool {
    command(line)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs the command, prints its standard output, and passes each line to `watch`.
pub(crate) fn run(line: &str, mut watch: impl FnMut(&str)) -> io::Result<ExitStatus> {
    let mut child = command(line).stdout(Stdio::piped()).spawn()?;
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = BufReader::new(stdout);
        let mut bytes = Vec::new();
        // Bytes, not `lines()`: a test may print invalid UTF-8.
        while stdout.read_until(b'\n', &mut bytes)? != 0 {
            let text = String::from_utf8_lossy(&bytes);
            print!("{text}");
            watch(text.trim_end());
            bytes.clear();
        }
    }
    child.wait()
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
