//! The commands of this repository, run as `cargo xtask NAME`.
//!
//! A new command is a module with a `run` function and a row in [`COMMANDS`].

mod bench;
mod bless;
mod inventory;
mod process;
mod step;
mod tally;
mod test;
mod tool;

use std::env;
use std::path::Path;
use std::process::ExitCode;

/// What `cargo xtask NAME ARGUMENTS` does.
struct Command {
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), Failure>,
}

impl Command {
    fn name(&self) -> &'static str {
        self.usage.split(' ').next().unwrap_or_default()
    }
}

const COMMANDS: &[Command] = &[
    Command {
        usage: "test [--quick]",
        about: "every check, set-up included; --quick leaves out what takes long: optimized builds, sanitizers, coverage …",
        run: test::run,
    },
    Command {
        usage: "bench [--quick]",
        about: "every measurement, with the record, plots and tables in docs/; --quick writes only target/bench",
        run: bench::run,
    },
    Command {
        usage: "bless",
        about: "records the assembly of the fast paths as it is now; look at the difference",
        run: bless::run,
    },
    Command {
        usage: "unsafe",
        about: "counts the unsafe code of each file in docs/UNSAFE.md anew",
        run: inventory::run,
    },
    Command { usage: "help", about: "this text", run: help },
];

/// Why a command did not do its work.
enum Failure {
    /// It was asked for something that does not exist: exit code 2.
    Usage(String),
    /// It ran, and what it ran failed: exit code 1. The reason has been printed where it happened.
    Work,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Work) => ExitCode::FAILURE,
        Err(Failure::Usage(message)) => {
            eprintln!("{message}\n\n{}", usage());
            ExitCode::from(2)
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Failure::Usage("which command?".to_owned()));
    };
    let name = match name.as_str() {
        "-h" | "--help" => "help",
        name => name,
    };
    let command = COMMANDS
        .iter()
        .find(|command| command.name() == name)
        .ok_or_else(|| Failure::Usage(format!("no command is called `{name}`")))?;

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    env::set_current_dir(&root)
        .map_err(|error| Failure::Usage(format!("{}: {error}", root.display())))?;
    (command.run)(rest)
}

fn help(_arguments: &[String]) -> Result<(), Failure> {
    println!("{}", usage());
    Ok(())
}

fn usage() -> String {
    let width = COMMANDS.iter().map(|c| c.usage.len()).max().unwrap_or(0);
    let mut text = String::from("usage: cargo xtask COMMAND");
    for Command { usage, about, .. } in COMMANDS {
        text += &format!("\n  {usage:width$}  {about}");
    }
    text
}
