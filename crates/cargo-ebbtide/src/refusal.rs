//! Why a program cannot be advised, or a function not be tried: all sentences with which the adviser
//! refuses.

use crate::{
    spelling::{some, without_arguments},
    symbols::Function,
};
use cargo_ebbtide::{
    record::{Unreadable, VERSION},
    trial::report,
};
use std::{
    fmt::{self, Display},
    io,
    path::{Path, PathBuf},
};

/// Why nothing can be said.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    /// The system refuses something, here.
    System(String, String),
    // The command line.
    Usage(String),
    // The program, by its name.
    NotInPath(String),
    NoProgram(String),
    NoFormat(String),
    Setuid(String),
    OtherProcessor(String),
    Static(String),
    Musl(String),
    OwnAllocator(String, &'static str),
    /// A library of the program has an allocator.
    OtherAllocator(String, &'static str, PathBuf),
    NoNames(String),
    Script(PathBuf),
    // The run.
    OtherPlatform,
    Preload(PathBuf),
    NoRecorder,
    NoBlocks,
    Record(Unreadable),
    Interrupted,
    NoTime(f64),
    EndedOtherwise(bool, String, String),
    // The function, by its name.
    OfTheSystem(String),
    MakesFuture(String, String),
    TooMany(String, usize),
    NotUnique(String, Vec<String>),
    Inlined(String, Vec<String>),
    Unknown(String, Vec<String>),
    /// The function, why, and what to write into the program.
    ByHand(String, Box<Refusal>, String),
    // Its code.
    NoCode,
    NoFrames,
    Damaged(String),
    OwnBeginning,
    StackBytes(usize),
    StackAddress,
    NotOnlyCode,
    Short,
    NarrowAddress,
    OnlyThere,
    // In the running program.
    Trial(report::Refusal),
    NotThere,
    NeverCalled,
}

impl Refusal {
    /// Why something failed with a file.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Refusal {
        let path = path.display().to_string();
        |error| Refusal::System(path, error.to_string())
    }

    /// Why a function cannot be tried that is inlined into another one.
    pub(crate) fn inlined(function: &Function) -> Option<Refusal> {
        let name = without_arguments(&function.name).to_owned();
        let host = without_arguments(function.host.as_ref()?).to_owned();
        Some(Refusal::Inlined(name, vec![host]))
    }

    /// Why a temporary folder cannot be used.
    pub(crate) fn folder(error: io::Error) -> Refusal {
        Refusal::System("a temporary folder".to_owned(), error.to_string())
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::System(what, why) => write!(f, "{what}: {why}"),
            Refusal::Usage(text) => f.write_str(text),

            Refusal::NotInPath(name) => write!(f, "`{name}` is no program in PATH"),
            Refusal::NoProgram(name) => write!(f, "`{name}` is not a program"),
            Refusal::NoFormat(name) => {
                write!(f, "`{name}` is neither a program of this system nor a script")
            }
            Refusal::Setuid(name) => {
                write!(f, "`{name}` runs as another user (setuid), so nothing is preloaded")
            }
            Refusal::OtherProcessor(name) => {
                write!(f, "`{name}` is for another processor than x86-64")
            }
            Refusal::Static(name) => write!(
                f,
                "`{name}` is linked statically, so nothing can be preloaded; link it dynamically \
                 (for Rust: a target with glibc, without `-C target-feature=+crt-static`)"
            ),
            Refusal::Musl(name) => {
                write!(f, "`{name}` is built for musl; build it for glibc to advise it")
            }
            Refusal::OwnAllocator(name, function) => write!(
                f,
                "`{name}` has an allocator of its own (`{function}`); build it with the system's, or \
                 write `#[global_allocator] static ALLOC: Recorded<A> = Recorded::new(…)` with \
                 ebbtide-global (feature `recorded`), where A is the allocator, to advise it"
            ),
            Refusal::OtherAllocator(name, function, library) => write!(
                f,
                "`{name}` loads another allocator (`{function}` in {}); run it with the system's to \
                 advise it",
                library.display()
            ),
            Refusal::NoNames(name) => write!(
                f,
                "`{name}` has no symbols, so its functions have no names; build it without `strip`"
            ),
            Refusal::Script(path) => {
                write!(f, "{} is a script; name the program that it starts", path.display())
            }

            Refusal::OtherPlatform => {
                f.write_str("programs can be advised on Linux with glibc on x86-64 only")
            }
            Refusal::Preload(folder) => write!(
                f,
                "the temporary folder {} has a space or a colon in its name; set TMPDIR to another",
                folder.display()
            ),
            Refusal::NoRecorder => {
                f.write_str("nothing was recorded: the program did not load the recorder")
            }
            Refusal::NoBlocks => {
                f.write_str("the program allocates nothing with the system's allocator")
            }
            Refusal::Record(Unreadable::NotARecord) => {
                f.write_str("this is no record of `cargo ebbtide advise`")
            }
            Refusal::Record(Unreadable::Version(version)) => {
                write!(f, "the record has version {version}; this program reads version {VERSION}")
            }
            Refusal::Record(Unreadable::Broken(at)) => {
                write!(f, "the record is broken at byte {at}")
            }
            Refusal::Interrupted => {
                f.write_str("the program was interrupted, so it was not run again")
            }
            Refusal::NoTime(takes) => write!(
                f,
                "nothing was tried, because a run takes {takes:.0} s; `--budget {:.0}` allows for it",
                takes * 12.0
            ),
            Refusal::EndedOtherwise(is_scoped, ended, first) => write!(
                f,
                "a run {} scopes ended in another way than the first, without: {ended}, and {first}",
                if *is_scoped { "with" } else { "without" }
            ),

            Refusal::OfTheSystem(name) => {
                write!(f, "`{name}` is a function of the system; try one that calls it")
            }
            Refusal::MakesFuture(name, whole) => write!(
                f,
                "`{name}` only makes a future; try `{whole}::{{{{closure}}}}`, which is polled"
            ),
            Refusal::TooMany(name, count) => {
                write!(f, "there are {count} functions named `{name}`")
            }
            Refusal::NotUnique(name, found) => {
                write!(f, "`{name}` is not unique: there is {}", some(found))
            }
            Refusal::Inlined(name, callers) => {
                write!(f, "`{name}` is inlined into {}: try a caller", some(callers))?;
                // A closure, or the body of an `async fn`, has no attributes of its own.
                if name.ends_with('}') {
                    return Ok(());
                }
                f.write_str(", or forbid it (`#[inline(never)]`, `__attribute__((noinline))`)")
            }
            Refusal::Unknown(name, similar) => {
                write!(
                    f,
                    "the program has no function `{name}`: it has another name, or is inlined into \
                     its callers"
                )?;
                if similar.is_empty() { Ok(()) } else { write!(f, "; there is {}", some(similar)) }
            }
            Refusal::ByHand(name, why, line) => {
                write!(f, "`{name}` cannot be tried: {why}; by hand, write {line}")
            }

            Refusal::NoCode => f.write_str("it is in no section of the file"),
            Refusal::NoFrames => f.write_str("nothing describes its frame (section .eh_frame)"),
            Refusal::Damaged(why) => f.write_str(why),
            Refusal::OwnBeginning => f.write_str("it jumps to its own beginning"),
            Refusal::StackBytes(bytes) => {
                write!(f, "it takes {bytes} bytes of arguments on the stack")
            }
            Refusal::StackAddress => {
                f.write_str("it takes the address of its arguments on the stack")
            }
            Refusal::NotOnlyCode => f.write_str("not all of it is code"),
            Refusal::Short => f.write_str("it is shorter than a jump"),
            Refusal::NarrowAddress => f.write_str("it begins with an address of 32 bits"),
            Refusal::OnlyThere => f.write_str("its first instructions work at their address only"),

            Refusal::Trial(why) => f.write_str(match why {
                report::Refusal::OtherBytes => {
                    "the function has other code in memory than in its file"
                }
                report::Refusal::NoRoom => "there is no free memory near the function",
                report::Refusal::Protected => {
                    "the system does not let the function's code be changed"
                }
                report::Refusal::Threads => {
                    "a library of the program starts a thread before the function's code can be \
                     changed"
                }
            }),
            Refusal::NotThere => {
                f.write_str("no process of the program had the function when it started")
            }
            Refusal::NeverCalled => f.write_str("the function was never called"),
        }
    }
}

impl From<Unreadable> for Refusal {
    fn from(why: Unreadable) -> Refusal {
        Refusal::Record(why)
    }
}
