//! Starting a program with the recorder.

use crate::refusal::Refusal;
use cargo_ebbtide::{
    EVERY, FOLDER,
    record::{Record, header},
};
use object::{Object, ObjectSegment, ObjectSymbol};
use std::{
    collections::{BTreeMap, HashSet},
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::{
        fs::PermissionsExt,
        process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// The recorder, a shared library.
const RECORDER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recorder.so"));

/// A program to run.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// As the user wrote it: some programs do what they are called, by a link.
    pub(crate) name: OsString,
    pub(crate) arguments: Vec<OsString>,
}

impl Program {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.arg0(&self.name).args(&self.arguments);
        command
    }
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: ExitStatus,
    /// The time of the processor that the program took, in seconds, and the time that passed.
    pub(crate) seconds: f64,
    pub(crate) took: Duration,
    /// The records of a process and its children of `fork`, one behind another.
    pub(crate) record: Vec<u8>,
    /// The number of other processes that were recorded.
    pub(crate) others: usize,
}

/// Finds the program, and refuses one that cannot be recorded, with the reason.
pub(crate) fn find(name: &OsStr) -> Result<PathBuf, Refusal> {
    let shown = name.to_string_lossy().into_owned();
    let path = Path::new(name);
    let path = if path.components().count() > 1 {
        path.to_owned()
    } else {
        let folders = env::var_os("PATH").unwrap_or_default();
        let found = env::split_paths(&folders).map(|folder| folder.join(name));
        found
            .into_iter()
            .find(|path| path.is_file())
            .ok_or_else(|| Refusal::NotInPath(shown.clone()))?
    };
    let path = fs::canonicalize(&path)
        .map_err(|error| Refusal::System(format!("`{shown}`"), error.to_string()))?;
    let metadata = fs::metadata(&path)
        .map_err(|error| Refusal::System(format!("`{shown}`"), error.to_string()))?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(Refusal::NoProgram(shown));
    }
    if metadata.permissions().mode() & 0o6000 != 0 {
        return Err(Refusal::Setuid(shown));
    }
    let bytes = fs::read(&path)
        .map_err(|error| Refusal::System(format!("`{shown}`"), error.to_string()))?;
    if bytes.starts_with(b"#!") {
        return Ok(path);
    }
    let file = object::File::parse(&*bytes).map_err(|_| Refusal::NoFormat(shown.clone()))?;
    if file.architecture() != object::Architecture::X86_64 {
        return Err(Refusal::OtherProcessor(shown));
    }
    let interpreter = interpreter(&file).ok_or_else(|| Refusal::Static(shown.clone()))?;
    if interpreter.contains("musl") {
        return Err(Refusal::Musl(shown));
    }
    if let Some(own) = own_allocator(&path) {
        return Err(Refusal::OwnAllocator(shown, own));
    }
    for library in libraries(&path).into_iter().filter(|library| !is_system(library)) {
        if let Some(own) = own_allocator(&library) {
            return Err(Refusal::OtherAllocator(shown, own, library));
        }
    }
    Ok(path)
}

/// A function of an allocator that a file defines: one that the preloaded libraries replace or call,
/// or that frees blocks which these may have allocated.
fn own_allocator(file: &Path) -> Option<&'static str> {
    const OF_C: [&str; 9] = [
        "malloc",
        "calloc",
        "realloc",
        "free",
        "__libc_malloc",
        "__libc_calloc",
        "__libc_realloc",
        "__libc_free",
        "__libc_memalign",
    ];
    const OTHERS: [&str; 10] = [
        "mallocx",
        "sdallocx",
        "_rjem_malloc",
        "mi_malloc",
        "mi_free",
        "je_malloc",
        "tc_malloc",
        "snmalloc",
        "sn_malloc",
        "rpmalloc",
    ];
    /// The module of `ebbtide_global::Recorded`, which shows an allocator to the preloaded libraries, as
    /// compilers write it into symbols.
    const RECORDED: &str = "14ebbtide_global8recorded";
    let bytes = fs::read(file).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let defined: HashSet<&str> = symbols
        .filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok())
        .collect();
    let first = |names: &[&'static str]| names.iter().copied().find(|name| defined.contains(name));
    let is_recorded = || defined.iter().any(|name| name.contains(RECORDED));
    first(&OF_C).or_else(|| first(&OTHERS).filter(|_| !is_recorded()))
}

/// A program, and the libraries that are loaded with it.
pub(crate) fn modules(program: &Path) -> Vec<PathBuf> {
    [program.to_owned()].into_iter().chain(libraries(program)).collect()
}

/// The libraries that the loader loads with a program, which it does not run.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let listed = Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1").output();
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    let paths = String::from_utf8_lossy(&listed).into_owned();
    let paths = paths.lines().filter_map(|line| {
        let path = line.split("=> ").nth(1).unwrap_or(line.trim()).split(" (").next()?;
        fs::canonicalize(path).ok()
    });
    paths.collect()
}

/// Whether a file has functions that the preloaded libraries themselves call.
pub(crate) fn is_system(module: &Path) -> bool {
    const NAMES: [&str; 4] = ["libc", "libpthread", "libdl", "libgcc_s"];
    let name = module.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split(".so").next().unwrap_or_default();
    NAMES.contains(&name) || name.starts_with("libc-") || name.starts_with("ld-")
}

/// The loader that a program names; `None` if it is linked statically.
fn interpreter(file: &object::File<'_>) -> Option<String> {
    if let Some(section) = object::Object::section_by_name(file, ".interp") {
        let data = object::ObjectSection::data(&section).ok()?;
        return Some(String::from_utf8_lossy(data).into_owned());
    }
    // A program without sections: look where the loader looks.
    let first = file.segments().next()?;
    let data = first.data().ok()?;
    let text = String::from_utf8_lossy(&data[..data.len().min(4096)]).into_owned();
    let at = text.find("/ld-")?;
    Some(text[at..].chars().take(40).collect())
}

/// Runs the program to its end, with this input. One block in `every` is recorded.
pub(crate) fn record(program: &Program, every: Option<u64>, input: Stdio) -> Result<Run, Refusal> {
    let folder = tempfile::tempdir().map_err(Refusal::folder)?;
    let preload = preload(folder.path(), RECORDER)?;
    let records = folder.path().join("records");
    fs::create_dir(&records).map_err(Refusal::folder)?;
    let mut command = program.command();
    command.env("LD_PRELOAD", preload).env(FOLDER, &records).stdin(input);
    if let Some(every) = every {
        command.env(EVERY, every.to_string());
    }
    let start = Instant::now();
    let Ended { status, seconds, .. } = run(command, &program.path)?;
    let took = start.elapsed();
    let mut files = Vec::new();
    for entry in fs::read_dir(&records).map_err(Refusal::folder)? {
        files.push(fs::read(entry.map_err(Refusal::folder)?.path()).map_err(Refusal::folder)?);
    }
    // A process may have been killed before its record had a head.
    let mut families: BTreeMap<u64, Vec<Record<'_>>> = BTreeMap::new();
    for record in files.iter().filter_map(|bytes| Record::new(bytes).ok()) {
        families.entry(record.header(header::FAMILY)).or_default().push(record);
    }
    let bytes = |family: &Vec<Record<'_>>| -> usize {
        family.iter().map(|record| record.complete().len()).sum()
    };
    let mut largest = families.into_values().max_by_key(bytes).ok_or(Refusal::NoRecorder)?;
    largest.sort_by_key(|record| record.header(header::START_TICKS));
    let record = largest.iter().flat_map(|record| record.complete()).copied().collect();
    Ok(Run { status, seconds, took, record, others: files.len() - largest.len() })
}

/// Writes a library into a folder, and returns what the loader has to preload.
pub(crate) fn preload(folder: &Path, library: &[u8]) -> Result<OsString, Refusal> {
    if library.is_empty() {
        return Err(Refusal::OtherPlatform);
    }
    let path = folder.join("preload.so");
    fs::write(&path, library).map_err(Refusal::folder)?;
    let mut preload = path.into_os_string();
    if preload.as_encoded_bytes().iter().any(|byte| b" :".contains(byte)) {
        // The loader separates the names of libraries by these.
        return Err(Refusal::Preload(folder.to_owned()));
    }
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    Ok(preload)
}

/// Whether an interrupt came from the keyboard. Relaxed: nothing else is read after it.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether an interrupt came from the keyboard.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// Lets the program, which gets it too, end by an interrupt from the keyboard, and this one say what it
/// knows.
pub(crate) fn outlive_interrupts() {
    // SAFETY: `interrupted` stores a word. The program does not inherit a handler.
    unsafe { signal(SIGINT, interrupted) };
}

const SIGINT: i32 = 2;

extern "C" fn interrupted(_signal: i32) {
    IS_INTERRUPTED.store(true, Ordering::Relaxed);
}

/// What printing brought. Whoever reads what is printed may have read enough.
pub(crate) fn unless_closed(printed: io::Result<()>) -> Result<(), Refusal> {
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Refusal::System("standard output".to_owned(), error.to_string()))
        }
        _ => Ok(()),
    }
}

unsafe extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// The seconds of the processor that it took, with its children.
    pub(crate) seconds: f64,
    /// The most bytes that were resident in it, or in one of these.
    pub(crate) peak: f64,
}

/// Starts a program, and waits until it ends.
///
/// It may end before its copies do: as a daemon, or as a server whose children outlive it. They are
/// waited for, until somebody interrupts.
pub(crate) fn run(mut command: Command, program: &Path) -> Result<Ended, Refusal> {
    const PR_SET_CHILD_SUBREAPER: i32 = 36;
    unsafe extern "C" {
        fn prctl(option: i32, ...) -> i32;
    }
    // Whoever loses its parent gets this process. Where the system cannot do so, nobody is waited for.
    // SAFETY: `prctl` reads one word for this option, and changes nothing else of this process.
    unsafe { prctl(PR_SET_CHILD_SUBREAPER, 1_usize) };
    let child = command.spawn().map_err(Refusal::at(program))?;
    // It has the other end of a pipe, which is to be closed when the program ends.
    drop(command);
    let mut ended = loop {
        if let Some(ended) = wait(child.id().cast_signed(), 0).map_err(|error| {
            Refusal::System("waiting for the program".to_owned(), error.to_string())
        })? {
            break ended;
        }
    };
    let since = Instant::now();
    let mut is_said = false;
    loop {
        match wait(-1, WNOHANG) {
            Ok(Some(other)) => {
                ended.seconds += other.seconds;
                ended.peak = ended.peak.max(other.peak);
            }
            Ok(None) if !is_interrupted() && has_orphan(program) => {
                if !is_said && since.elapsed() > Duration::from_secs(2) {
                    eprintln!("the program has ended, but not its copies; Ctrl-C ends waiting");
                    is_said = true;
                }
                thread::sleep(Duration::from_millis(5));
            }
            // Processes of other programs go on, as they do without the adviser.
            _ => return Ok(ended),
        }
    }
}

const WNOHANG: i32 = 1;

/// Waits for a process, or any for -1; `None` if none has ended yet.
fn wait(process: i32, options: i32) -> io::Result<Option<Ended>> {
    #[repr(C)]
    #[derive(Default)]
    struct Usage {
        times: [i64; 4],
        most_kibibytes: i64,
        others: [i64; 13],
    }
    unsafe extern "C" {
        fn wait4(process: i32, status: *mut i32, options: i32, usage: *mut Usage) -> i32;
    }
    let (mut status, mut usage) = (0, Usage::default());
    // SAFETY: the variables have the layouts that the C library writes.
    let ended = unsafe { wait4(process, &raw mut status, options, &raw mut usage) };
    if ended == -1 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(None) } else { Err(error) };
    }
    let [user, user_micros, system, system_micros] = usage.times.map(|part| part as f64);
    let seconds = user + system + (user_micros + system_micros) / 1e6;
    let peak = usage.most_kibibytes as f64 * 1024.0;
    let status = ExitStatus::from_raw(status);
    Ok((ended != 0).then_some(Ended { status, seconds, peak }))
}

/// Whether a child of this process, which it has not started, runs this program.
fn has_orphan(program: &Path) -> bool {
    let own = std::process::id().to_string();
    fs::read_dir("/proc").into_iter().flatten().flatten().any(|process| {
        let of = |name: &str| process.path().join(name);
        let Ok(stat) = fs::read_to_string(of("stat")) else { return false };
        // The name of the program, in parentheses, the state, and the parent.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split(' ').nth(2));
        // A process that is ending has no program any more.
        let runs_it = || match fs::read_link(of("exe")) {
            Ok(exe) => exe == program,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        parent == Some(&own) && runs_it()
    })
}

/// Forgets the most memory that was resident in this process until now: a program that it starts
/// begins with that number.
pub(crate) fn forget_peak() {
    unsafe extern "C" {
        fn malloc_trim(kept: usize) -> i32;
    }
    // SAFETY: has no preconditions.
    unsafe { malloc_trim(0) };
    // Where that is impossible, the peaks of small programs are too high, with scopes and without.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// How a program ended, as a shell says it.
pub(crate) fn shell_status(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// How a program ended, if it was not well.
pub(crate) fn fate(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("it ended with status {code}")),
        (None, Some(signal)) => Some(format!("it was ended by signal {signal}")),
        (None, None) => Some("it did not end by itself".to_owned()),
    }
}
