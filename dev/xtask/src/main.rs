//! The commands of this repository, run as `cargo xtask NAME`.
//!
//! A new command is a module with a `run` function and a row in [`COMMANDS`].

mod bench;
mod bless;
mod dist;
mod header;
mod inventory;
mod process;
mod record;
mod soak;
mod step;
mod steps;
mod tally;
mod test;
mod tool;
mod vendor;

use std::env;
use std::path::Path;
use std::process::ExitCode;

/// A command, run as `cargo xtask NAME ARGUMENTS`.
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
        usage: "check [OPTIONS]",
        about: "checks what is worth its time before each commit: lints, unit tests, documentation",
        run: test::check,
    },
    Command {
        usage: "test [--all] [OPTIONS]",
        about: "runs every check that decides whether the libraries are right on this platform; \
                --all adds other platforms, other people's tests, mutants, and all that takes long",
        run: test::test,
    },
    Command {
        usage: "hook",
        about: "has Git run `cargo xtask check` before each push",
        run: test::hook,
    },
    Command {
        usage: "bench [--quick | tables | server ARGUMENTS | litter [ARGUMENTS]]",
        about: "runs every benchmark and updates docs/; --quick writes to target/bench only; server \
                runs that one alone, with arguments such as --seconds 20; litter measures programs \
                on old heaps, and updates docs/ unless it has arguments such as --quick",
        run: bench::run,
    },
    Command {
        usage: "soak [ARGUMENTS]",
        about: "runs the programs that keep memory, or with --random 300 as many random ones, over \
                glibc, mimalloc and scopes on both; --check fails if one exceeds a limit",
        run: soak::run,
    },
    Command {
        usage: "bless",
        about: "records the assembly of the fast paths; look at the difference",
        run: bless::run,
    },
    Command {
        usage: "unsafe",
        about: "updates the counts of unsafe code in docs/UNSAFE.md",
        run: inventory::run,
    },
    Command {
        usage: "dist [OPTIONS] PREFIX",
        about: "installs the C interface: libraries, headers, pkg-config file, CMake package",
        run: dist::run,
    },
    Command {
        usage: "header",
        about: "writes the declarations of ebbtide.h from the library's source",
        run: header::run,
    },
    Command {
        usage: "vendor NAME FOLDER",
        about: "copies our bumpalo or typed-arena under that name, for a patch of the registry",
        run: vendor::run,
    },
    Command { usage: "help", about: "prints this text", run: help },
];

/// Why a command failed.
enum Failure {
    /// Unknown command or argument: exit code 2.
    Usage(String),
    /// A program that the command ran failed: exit code 1. The reason has been printed.
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
        return Err(Failure::Usage("no command given".to_owned()));
    };
    let name = match name.as_str() {
        "-h" | "--help" => "help",
        name => name,
    };
    let command = COMMANDS
        .iter()
        .find(|command| command.name() == name)
        .ok_or_else(|| Failure::Usage(format!("unknown command: `{name}`")))?;
    if rest.first().is_some_and(|first| first == "-h" || first == "--help") {
        return help(rest);
    }

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
    text + "\n\noptions of check and test:" + test::OPTIONS + "\n\noptions of dist:" + dist::OPTIONS
}
