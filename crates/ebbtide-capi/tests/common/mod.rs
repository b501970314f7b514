//! Installing the library, and compiling and running programs of C and C++ against it. Shared by the
//! tests of `ebbtide-capi` and `ebbtide-new`.

#![allow(dead_code, reason = "not every file uses all of it")]

use std::{
    env,
    ffi::OsStr,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Mutex, OnceLock},
    thread,
};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");
/// The crate, and the name of its library for pkg-config.
const PACKAGE: &str = env!("CARGO_PKG_NAME");

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

/// The builds of the library that programs are linked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// What `cargo xtask dist --archive` packs, unpacked elsewhere. C programs use the shared library.
    Shared,
    /// What `cargo xtask dist --static --strip --poison` installs.
    Static,
    /// The library that cargo builds with the tests' profile, with debug assertions: not what is
    /// installed, but it finds faults of the library that are not visible outside.
    Checked,
}

impl Build {
    /// The build for programs with these flags: those that are optimised, as programs mostly are when
    /// they run for long, use the shared library, those under sanitizers the static one, and
    /// those that are not optimised the one with assertions.
    fn of(flags: &[&str]) -> Build {
        match flags {
            _ if flags.contains(&"-O2") => Build::Shared,
            _ if flags.contains(&"-O0") => Build::Checked,
            _ => Build::Static,
        }
    }

    /// The folder of the installed files.
    pub(crate) fn prefix(self) -> &'static str {
        static PREFIXES: [OnceLock<String>; 2] = [const { OnceLock::new() }; 2];
        match self {
            Build::Static => PREFIXES[0].get_or_init(|| {
                let prefix = format!("{SCRATCH}/{PACKAGE}-static");
                let _ = fs::remove_dir_all(&prefix);
                build(dist(&prefix).args(["--static", "--strip", "--poison"]));
                prefix
            }),
            Build::Shared | Build::Checked => PREFIXES[1].get_or_init(unpacked),
        }
    }

    /// What pkg-config says about the library.
    fn pkgconfig(self, what: &str) -> Vec<String> {
        let mut pkgconfig = Command::new("pkg-config");
        pkgconfig.env("PKG_CONFIG_PATH", format!("{}/lib/pkgconfig", self.prefix()));
        let name = PACKAGE.trim_end_matches("-capi");
        let words = run(pkgconfig.args([what, name]), "");
        words.split_whitespace().map(str::to_owned).collect()
    }

    /// The flags for the compiler.
    pub(crate) fn cflags(self) -> Vec<String> {
        self.pkgconfig("--cflags")
    }

    /// The flags for the linker. The loader finds a shared library where it is.
    pub(crate) fn libs(self) -> Vec<String> {
        let lib = format!("{}/lib", self.prefix());
        if self == Build::Checked {
            let own = Some(format!("{lib}/libebbtide_new.a")).filter(|_| PACKAGE == "ebbtide-new");
            let library = checked().to_str().unwrap().to_owned();
            let needs = ["-lpthread", "-ldl", "-lm"].map(str::to_owned);
            return own.into_iter().chain([library]).chain(needs).collect();
        }
        let mut libs = self.pkgconfig("--libs");
        libs.push(format!("-Wl,-rpath,{lib}"));
        libs
    }
}

/// Installs the library, twice into a staging folder, so that the second installation replaces
/// existing files, and unpacks the archive of it.
fn unpacked() -> String {
    let (stage, prefix) =
        (format!("{SCRATCH}/{PACKAGE}-stage"), format!("{SCRATCH}/{PACKAGE}-shared"));
    for folder in [&stage, &prefix] {
        let _ = fs::remove_dir_all(folder);
    }
    for archive in [None, Some("--archive")] {
        build(dist("/usr/local").args(archive).env("DESTDIR", &stage));
    }
    run(Command::new("tar").args(["-xzf", "usr/local.tar.gz"]).current_dir(&stage), "");
    fs::rename(format!("{stage}/local"), &prefix).unwrap();
    prefix
}

/// The command that installs the library.
pub(crate) fn dist(prefix: &str) -> Command {
    let mut dist = Command::new(env!("CARGO"));
    dist.args(["run", "--quiet", "--package", "xtask", "--", "dist", prefix]);
    dist.current_dir(CRATE).env_remove("DESTDIR");
    dist
}

/// Runs a command that builds the library, which must succeed.
pub(crate) fn build(command: &mut Command) {
    let output = built(command);
    assert!(output.status.success(), "{command:?}:\n{}", Run::of(output).output);
}

/// Runs a command that builds the library. One at a time: they share a folder, and the libraries in it
/// have the same names.
pub(crate) fn built(command: &mut Command) -> Output {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock();
    command.output().unwrap()
}

/// The library of [`Build::Checked`]. It has a folder of its own: the name of the crate's library has
/// no hash, so this build would replace the one that the documentation tests are linked to, which may
/// have other features.
pub(crate) fn checked() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let target = env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| Path::new(CRATE).join("../../target"), PathBuf::from)
            .join("library");
        let mut command = Command::new(env!("CARGO"));
        command.args(["build", "--quiet", "--package", PACKAGE]);
        let status = command.current_dir(CRATE).env("CARGO_TARGET_DIR", &target).status().unwrap();
        assert!(status.success(), "cargo builds the library");
        target.join("debug").join(format!("lib{}.a", PACKAGE.replace('-', "_")))
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
        let mut command = Program::command(compiler, file, flags);
        command.arg("-o").arg(&path).args(more).args(Build::of(flags).libs());
        run(&mut command, "");
        Program { path }
    }

    /// Links object files to this build of the library, if any, and to more libraries.
    pub(crate) fn link(
        compiler: &str,
        objects: &[&str],
        build: Option<Build>,
        more: &[&str],
    ) -> Program {
        let name = build.map_or_else(|| "without".to_owned(), |build| format!("{build:?}"));
        let path = Path::new(objects[0]).with_extension(name);
        let libs = build.map(Build::libs).unwrap_or_default();
        let mut command = Command::new(compiler);
        command.arg("-o").arg(&path).args(objects).args(more).args(libs);
        run(&mut command, "");
        Program { path }
    }

    /// Compiles a file of `tests` to an object file for another program, and returns its path.
    pub(crate) fn object(compiler: &str, file: &str, flags: &[&str]) -> String {
        let path = Program::place(compiler, file, flags).with_extension("o");
        run(Program::command(compiler, file, flags).arg("-c").arg("-o").arg(&path), "");
        path.into_os_string().into_string().unwrap()
    }

    /// Where the result of a compilation lies.
    fn place(compiler: &str, file: &str, flags: &[&str]) -> PathBuf {
        let name: String = [compiler, file, &flags.concat()]
            .concat()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        Path::new(SCRATCH).join(name)
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
        command.args(flags).args(Build::of(flags).cflags());
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
