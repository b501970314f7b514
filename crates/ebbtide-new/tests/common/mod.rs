//! Compiling and running programs of C and C++ against the library.

#![allow(dead_code, reason = "not every file uses all of it")]

use std::{
    env,
    ffi::OsStr,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
    thread,
};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The installed compilers of a language, "cc" or "c++": GCC and clang. At least one must be
/// installed.
pub(crate) fn compilers(language: &str) -> impl Iterator<Item = &'static str> {
    let names: &[&str] = if language == "cc" { &["gcc", "clang"] } else { &["g++", "clang++"] };
    let found: Vec<&str> = names.iter().copied().filter(|name| is_there(name)).collect();
    assert!(!found.is_empty(), "no compiler: install one with apt-get install gcc g++ clang");
    found.into_iter()
}

pub(crate) fn is_there(program: &str) -> bool {
    let status =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Whether a header that tests need is installed.
pub(crate) fn has(header: &str, package: &str) -> bool {
    let found = Path::new("/usr/include").join(header).exists();
    if !found {
        eprintln!("left out: {header} is missing; install it with: apt-get install {package}");
    }
    found
}

/// Whether `GoogleTest` is installed. In CI it must be.
pub(crate) fn has_google_test() -> bool {
    let found = has("gtest/gtest.h", "libgtest-dev");
    assert!(found || env::var_os("CI").is_none_or(|ci| ci != "true"), "CI needs GoogleTest");
    found
}

/// Runs a command with this input, which must succeed, and returns what it prints.
pub(crate) fn run(command: &mut Command, input: &str) -> String {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| {
        panic!("{command:?}: {error}; apt-get install cmake make meson pkg-config")
    });
    let mut stdin = child.stdin.take().unwrap();
    // In another thread: the program may answer before it has read everything.
    let output = thread::scope(|threads| {
        threads.spawn(move || stdin.write_all(input.as_bytes()));
        child.wait_with_output().unwrap()
    });
    let run = Run::of(output);
    assert!(run.succeeded, "{command:?}:\n{}", run.output);
    run.output
}

/// The static library, built like these tests. It has a folder of its own: the name of the crate's
/// library has no hash, so this build would replace the one that the documentation tests are linked
/// to, which may have other features.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let target = env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| Path::new(CRATE).join("../../target"), PathBuf::from)
            .join("library");
        let mut command = Command::new(env!("CARGO"));
        let package = env!("CARGO_PKG_NAME");
        command.args(["build", "--quiet", "--package", package]);
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        if profile == "release" {
            command.arg("--release");
        }
        let status = command.current_dir(CRATE).env("CARGO_TARGET_DIR", &target).status().unwrap();
        assert!(status.success(), "cargo builds the library");
        target.join(profile).join(format!("lib{}.a", package.replace('-', "_")))
    })
}

/// The instructions that a program executes, counted by Valgrind.
pub(crate) fn collected(program: &Path, arguments: &[&str]) -> f64 {
    let mut valgrind = Command::new("valgrind");
    // The program may be run by `env`.
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=yes"]);
    let run = valgrind.arg(program).args(arguments).output();
    let run = run.unwrap_or_else(|error| panic!("{error}; apt-get install valgrind"));
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    let count = text.split("Collected : ").nth(1).and_then(|rest| rest.lines().next());
    count.unwrap_or_else(|| panic!("{text}")).trim().parse().unwrap()
}

/// The names that a shared library exports.
pub(crate) fn exported(library: impl AsRef<OsStr>) -> Vec<String> {
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library), "");
    symbols.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect()
}

/// A program that was compiled.
pub(crate) struct Program {
    path: PathBuf,
}

/// How a program ended, and what it printed.
pub(crate) struct Run {
    pub(crate) succeeded: bool,
    pub(crate) output: String,
}

impl Run {
    /// Asserts that at least `least` tests of `GoogleTest` ran and passed.
    pub(crate) fn assert_google_tests_passed(&self, least: usize, what: &str) {
        assert!(self.succeeded, "{what}:\n{}", self.output);
        let passed = self.output.split("[  PASSED  ] ").nth(1).unwrap();
        let count: usize = passed.split(' ').next().unwrap().parse().unwrap();
        assert!(count >= least, "{what}:\n{}", self.output);
    }

    fn of(output: Output) -> Run {
        let text = [output.stdout, output.stderr].concat();
        let output_text = String::from_utf8_lossy(&text).into_owned();
        Run { succeeded: output.status.success(), output: output_text }
    }
}

impl Program {
    /// Compiles a file of `tests`, which must succeed.
    pub(crate) fn compile(compiler: &str, file: &str, flags: &[&str]) -> Program {
        Program::compile_with(compiler, file, flags, &[])
    }

    /// Compiles a file of `tests` and links it to more libraries.
    pub(crate) fn compile_with(
        compiler: &str,
        file: &str,
        flags: &[&str],
        more: &[&str],
    ) -> Program {
        let path = Program::place(compiler, file, flags);
        let libraries = ["-lpthread", "-ldl", "-lm"].map(OsStr::new);
        let mut command = Program::command(compiler, file, flags);
        command.arg("-o").arg(&path).arg(library()).args(more).args(libraries);
        let run = Run::of(command.output().unwrap());
        assert!(run.succeeded, "{compiler} {flags:?} {file}:\n{}", run.output);
        Program { path }
    }

    /// Compiles a file of `tests` to an object file for another program, and returns its path.
    pub(crate) fn object(compiler: &str, file: &str, flags: &[&str]) -> String {
        let path = Program::place(compiler, file, flags).with_extension("o");
        let run = Run::of(
            Program::command(compiler, file, flags)
                .arg("-c")
                .arg("-o")
                .arg(&path)
                .output()
                .unwrap(),
        );
        assert!(run.succeeded, "{compiler} {flags:?} {file}:\n{}", run.output);
        path.into_os_string().into_string().unwrap()
    }

    /// Where the result of a compilation lies.
    fn place(compiler: &str, file: &str, flags: &[&str]) -> PathBuf {
        let name: String = [compiler, file, &flags.concat()]
            .concat()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
    }

    /// Compiles a file of `tests` without making a program.
    ///
    /// # Errors
    ///
    /// What the compiler says.
    pub(crate) fn check(compiler: &str, file: &str, flags: &[&str]) -> Result<(), String> {
        let run = Run::of(Program::command(compiler, file, flags).output().unwrap());
        if run.succeeded { Ok(()) } else { Err(format!("{compiler} {file}:\n{}", run.output)) }
    }

    fn command(compiler: &str, file: &str, flags: &[&str]) -> Command {
        let mut command = Command::new(compiler);
        command.args(flags).arg("-I").arg(Path::new(CRATE).join("include"));
        command.arg(Path::new(CRATE).join("tests").join(file));
        command
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_under(&[], arguments)
    }

    /// Runs it by another program, if one is given with its arguments.
    pub(crate) fn run_under(&self, runner: &[&str], arguments: &[&str]) -> Run {
        let words = runner.iter().map(OsStr::new).chain([self.path.as_os_str()]);
        let words: Vec<&OsStr> = words.chain(arguments.iter().map(OsStr::new)).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        // A request that is too large is refused, as without the sanitizer.
        for options in ["ASAN_OPTIONS", "TSAN_OPTIONS"] {
            command.env(options, "allocator_may_return_null=1");
        }
        Run::of(command.output().unwrap())
    }
}
