//! The tour of ebbtide: runs the same jobs on the heap and in arenas, and reports what differs. See
//! `--help`.

mod checkout;
mod counting;
mod hash;
mod input;
mod machine;
mod measure;
mod modes;
mod options;
mod page;
mod paging;
mod report;
mod stages;
mod units;

use std::env;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use ebbtide_global::Scoped;
use indicatif::{ProgressBar, ProgressStyle};

use crate::counting::CountingHeap;
use crate::options::{Options, Request};

/// Outside of scopes, every request goes to the counting heap.
#[global_allocator]
static ALLOCATOR: Scoped<CountingHeap> = Scoped::new(CountingHeap);

fn main() -> ExitCode {
    let result = match Request::parse(env::args_os().skip(1)) {
        Ok(Request::Help) => print(format_args!("{}", options::HELP)),
        Ok(Request::Version) => print(format_args!("ebbtide-tour {}\n", env!("CARGO_PKG_VERSION"))),
        Ok(Request::Run(options)) => run(&options),
        Err(error) => Err(Failure::unusable(format!("{error}\n  --help lists the options"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // There is no way to report a failure to write to standard error.
            let _ = writeln!(io::stderr(), "ebbtide-tour: {}", failure.message);
            failure.code.into()
        }
    }
}

/// An error that ends the tour, with its exit code.
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn new(message: impl fmt::Display) -> Self {
        Self { code: 1, message: message.to_string() }
    }

    /// The command line or the input is unusable.
    fn unusable(message: impl fmt::Display) -> Self {
        Self { code: 2, message: message.to_string() }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let progress = ProgressBar::new(100).with_style(
        ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    progress.set_message("reading the input");
    progress.tick();
    let input = if options.paths.is_empty() {
        checkout::read(options.max_bytes)
    } else {
        input::from_paths(&options.paths, options.max_bytes)
    };
    let input = input.map_err(Failure::unusable)?;
    progress.suspend(|| print(format_args!("{}\n", report::input(&input))))?;
    let report = measure::all(&input, options.effort, &progress).map_err(Failure::new)?;
    progress.finish_and_clear();
    print(format_args!("{report}"))?;
    let page = options.page.clone().unwrap_or_else(page::default_path);
    page::write(&page, &input, &report)
        .map_err(|error| Failure::new(format_args!("cannot write {}: {error}", page.display())))?;
    print(format_args!("\npage     {}\n", page.display()))
}

fn print(text: fmt::Arguments<'_>) -> Result<(), Failure> {
    let written = io::stdout().write_fmt(text);
    written.map_err(|error| Failure::new(format_args!("cannot print the report: {error}")))
}
