//! What a contestant's process does: it makes the input of one row, and then what each line of its standard
//! input asks for.

use crate::{Arena, Plain, workloads};
use std::{
    env, fs,
    io::{self, BufRead, Write},
    process::ExitCode,
    time::Instant,
};

/// Runs the row that the first argument names. With `--outside` no scope is opened; with `--count` one batch
/// runs inside [`counted_by_callgrind`], and that is all.
pub fn main<A: Arena>() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let row = arguments.first().map_or("", String::as_str);
    let task =
        if flag("--outside") { workloads::open::<Plain>(row) } else { workloads::open::<A>(row) };
    let Some(mut batch) = task else {
        eprintln!("no row of that name; usage: ROW [--outside] [--count]");
        return ExitCode::from(2);
    };
    if flag("--count") {
        batch();
        counted_by_callgrind(&mut *batch);
        return ExitCode::SUCCESS;
    }
    match serve(&mut *batch, A::report) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{row}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What Callgrind is told to count.
#[inline(never)]
fn counted_by_callgrind(batch: &mut dyn FnMut() -> u64) {
    std::hint::black_box(batch());
}

/// `batch`: runs one, and answers with its nanoseconds, its page faults and its result. `peak`: the most memory
/// the process ever had, in KiB. `report`: what the allocator tells of itself, up to an empty line.
fn serve(batch: &mut dyn FnMut() -> u64, report: fn() -> String) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        match line?.as_str() {
            "batch" => {
                let faults = faults();
                let start = Instant::now();
                let result = batch();
                let elapsed = start.elapsed().as_nanos();
                let faults = self::faults() - faults;
                writeln!(output, "{elapsed} {faults} {result}")?;
            }
            "peak" => writeln!(output, "{}", peak_kib())?,
            "report" => writeln!(output, "{}\n", report().trim_end().replace("\n\n", "\n"))?,
            other => return Err(io::Error::other(format!("not understood: {other}"))),
        }
        output.flush()?;
    }
    Ok(())
}

/// Page faults of this process so far, minor and major.
fn faults() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may hold anything.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let mut fields = fields.split(' ').skip(7);
    let minor: u64 = fields.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let major: u64 = fields.nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    minor + major
}

/// The most memory the process ever had. Not `ru_maxrss`: that begins with what the parent had at the fork.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
