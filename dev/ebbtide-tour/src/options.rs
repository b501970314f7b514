//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, ValueExt};

use crate::measure::Effort;

pub(crate) const HELP: &str = "\
The tour of ebbtide: runs the same jobs on the heap and in arenas.

usage: ebbtide-tour [OPTIONS] [FILE_OR_FOLDER]...
       cargo run --release [-- [OPTIONS] [FILE_OR_FOLDER]...]

It parses JSON, groups words and computes with temporary vectors. It does so
with each kind of memory, checks that the results agree, prints a table and
writes an HTML page with charts.

The input is the given files and folders. Folders are read recursively, except
hidden entries, links, and folders marked as caches. Files ending in .json are
read as JSON, all others as plain text. By default, the input is the output of
`cargo metadata` and the source of every crate of this checkout.

options:
  --seconds N    measure for about N seconds (default: 15)
  --quick        measure for about a second, with less work
  --max-mib N    read at most N MiB of input (default: 16)
  --page FILE    write the page to FILE (default: target/tour/index.html)
  -h, --help     print this help
  -V, --version  print the version

exit code: 0 on success, 1 if results disagree or the page cannot be written, 2
if the command line or the input is unusable.
";

/// The requested action.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Help,
    Version,
    Run(Options),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) effort: Effort,
    pub(crate) max_bytes: usize,
    pub(crate) page: Option<PathBuf>,
}

const MIB: usize = 1 << 20;

const FULL: Effort =
    Effort { budget: Duration::from_secs(15), min_rounds: 5, min_passes: 3, stage_bytes: 16 * MIB };
const QUICK: Effort =
    Effort { budget: Duration::from_secs(1), min_rounds: 3, min_passes: 1, stage_bytes: MIB / 4 };

impl Request {
    /// Parses the arguments after the program's name.
    pub(crate) fn parse(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, lexopt::Error> {
        let mut options =
            Options { paths: Vec::new(), effort: FULL, max_bytes: 16 * MIB, page: None };
        let mut budget = None;
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Short('h') | Arg::Long("help") => return Ok(Request::Help),
                Arg::Short('V') | Arg::Long("version") => return Ok(Request::Version),
                Arg::Long("quick") => options.effort = QUICK,
                Arg::Long("seconds") => budget = Some(parser.value()?.parse_with(seconds)?),
                Arg::Long("max-mib") => {
                    options.max_bytes = parser.value()?.parse_with(mebibytes)?
                }
                Arg::Long("page") => options.page = Some(parser.value()?.into()),
                Arg::Value(path) => options.paths.push(path.into()),
                Arg::Short(_) | Arg::Long(_) => return Err(argument.unexpected()),
            }
        }
        options.effort.budget = budget.unwrap_or(options.effort.budget);
        Ok(Request::Run(options))
    }
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let valid = text.parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    valid
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or("expected a number of seconds above 0")
}

fn mebibytes(text: &str) -> Result<usize, &'static str> {
    let valid = text.parse().ok().filter(|&count: &usize| count > 0);
    valid.and_then(|count| count.checked_mul(MIB)).ok_or("expected a whole number of MiB above 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Request, String> {
        Request::parse(arguments.iter().map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn options_and_paths_can_be_mixed() {
        let expected = Options {
            paths: vec!["a".into(), "--b".into()],
            effort: Effort { budget: Duration::from_millis(500), ..QUICK },
            max_bytes: 2 * MIB,
            page: Some("p.html".into()),
        };
        let arguments =
            ["a", "--seconds=0.5", "--quick", "--max-mib", "2", "--page", "p.html", "--", "--b"];
        assert_eq!(parse(&arguments), Ok(Request::Run(expected)));
    }

    #[test]
    fn invalid_options_are_rejected_by_name() {
        for (arguments, expected) in [
            (&["--fast"][..], "--fast"),
            (&["-x"], "-x"),
            (&["--seconds", "0"], "above 0"),
            (&["--seconds", "inf"], "above 0"),
            (&["--max-mib", "1.5"], "above 0"),
            (&["--max-mib", "18446744073709551615"], "above 0"),
            (&["--page"], "--page"),
        ] {
            let error = parse(arguments).err().unwrap_or_default();
            assert!(error.contains(expected), "{arguments:?}: {error}");
        }
    }
}
