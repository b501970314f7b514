//! What a contestant's process does: it makes the input of one row, and then what each line of its standard
//! input asks for.

use crate::{
    Arena, Plain,
    workloads::{self, text::Numbers},
};
use std::{
    env, fs, hint,
    io::{self, BufRead, Write},
    process::ExitCode,
    time::Instant,
};

/// Runs the row that the first argument names, `inside` scopes or `outside` of any, in the layout of heap that the
/// seed comes to. With `--count` one batch runs inside [`counted_by_callgrind`], and that is all.
///
/// What the arguments are is a piece of the layout: they lie on the heap. The driver therefore gives all contestants
/// the same, and the two words take one class of block.
pub fn main<A: Arena>() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (row, scopes, seed, count) = match arguments[..] {
        [row, scopes, seed] => (row, scopes, seed, false),
        [row, scopes, seed, "--count"] => (row, scopes, seed, true),
        _ => return usage(),
    };
    let Ok(seed) = seed.parse() else { return usage() };
    let mut numbers = Numbers::new(seed);
    let mut scattered = scatter(&mut numbers);
    let task = match scopes {
        "inside" => workloads::open::<A>(row),
        "outside" => workloads::open::<Plain>(row),
        _ => None,
    };
    let Some(mut batch) = task else { return usage() };
    scattered.extend(scatter(&mut numbers));
    if count {
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

fn usage() -> ExitCode {
    eprintln!("no row of that name, or usage: ROW inside|outside SEED [--count]");
    ExitCode::from(2)
}

/// Makes blocks and frees half of them: where a heap happens to lie is to be another thing with every seed.
///
/// How many and how large is drawn by the order of magnitude, up to 512 blocks of up to 256 bytes, so that no number
/// of them has been chosen: few let glibc's heap shrink after a scope, many do not.
fn scatter(numbers: &mut Numbers) -> Vec<Vec<u8>> {
    let mut up_to = |bits: usize| {
        let magnitude = numbers.below(bits + 1);
        1 + numbers.below(1 << magnitude)
    };
    let count = up_to(9);
    let mut blocks: Vec<Vec<u8>> =
        (0..count).map(|_| hint::black_box(Vec::with_capacity(up_to(8)))).collect();
    blocks.retain(|_| numbers.below(2) == 0);
    blocks
}

/// What Callgrind is told to count.
#[inline(never)]
fn counted_by_callgrind(batch: &mut dyn FnMut() -> u64) {
    hint::black_box(batch());
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
