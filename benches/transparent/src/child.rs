//! A contestant's process: creates the input of one row, then executes the commands on its standard
//! input.

use crate::{
    Arena, Explicit, Plain,
    litter::Litter,
    workloads::{self, text::Numbers},
};
use std::{
    env, fs, hint,
    io::{self, BufRead, Write},
    process::ExitCode,
    time::Instant,
};

/// Runs the row named by the first argument, `inside` or `outside` of scopes, with one `around` all of
/// the program, or with `explicit` ones, with a heap layout determined by the seed. With `--litter` and
/// its arguments, litters the heap before it creates the input. With `--count`, runs one batch inside
/// [`counted_by_callgrind`] and exits.
///
/// The arguments are on the heap, so they affect its layout. The driver gives all contestants the
/// same ones, and the words need blocks of the same size class.
pub fn main<A: Arena>() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [row, scopes, seed, options @ ..] = &arguments[..] else { return usage() };
    let (litter, options) = match options {
        ["--litter", litter, options @ ..] => (Some(litter), options),
        _ => (None, options),
    };
    let count = match options {
        [] => false,
        ["--count"] => true,
        _ => return usage(),
    };
    let Ok(seed) = seed.parse() else { return usage() };
    let mut numbers = Numbers::new(seed);
    if let Some(litter) = litter {
        let Some(litter) = Litter::parse(litter) else { return usage() };
        litter.spread::<A>(&mut numbers);
    }
    let open = match *scopes {
        "inside" => workloads::open::<A>,
        "outside" | "around" => workloads::open::<Plain>,
        "explicit" => workloads::open::<Explicit>,
        _ => return usage(),
    };
    let mut run = move || {
        let mut scattered = scatter(&mut numbers);
        let Some(mut batch) = open(row) else { return usage() };
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
    };
    if *scopes == "around" { A::scope(run) } else { run() }
}

fn usage() -> ExitCode {
    eprintln!(
        "no row of that name, or usage: ROW inside|outside|around|explicit SEED [--litter LITTER] \
         [--count]"
    );
    ExitCode::from(2)
}

/// Randomises the heap layout: allocates blocks and frees half of them.
///
/// Number and sizes are drawn by order of magnitude, up to 512 blocks of up to 256 bytes. Few
/// blocks let glibc's heap shrink after a scope, many do not.
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

/// Callgrind counts this function.
#[inline(never)]
fn counted_by_callgrind(batch: &mut dyn FnMut() -> u64) {
    hint::black_box(batch());
}

/// `batch`: runs a batch and prints its nanoseconds, page faults and result. `report`: prints the
/// allocator's report and an empty line.
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
            "report" => writeln!(output, "{}\n", report().trim_end().replace("\n\n", "\n"))?,
            other => return Err(io::Error::other(format!("unknown command: {other}"))),
        }
        output.flush()?;
    }
    Ok(())
}

/// Page faults of this process so far, minor and major.
fn faults() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program name, in brackets, may contain any character.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let mut fields = fields.split(' ').skip(7);
    let minor: u64 = fields.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let major: u64 = fields.nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    minor + major
}
