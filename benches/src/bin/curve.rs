//! The instructions of arenas of 0 to 64 KiB that are made, filled and dropped, counted by Callgrind:
//! bumpalo, [`Arena`](ebbtide::Arena) and the interface of bumpalo over it.
//!
//! ```text
//! curve                      # every 16 bytes; fails at a point above bumpalo's, or at a cliff
//! curve --step 256           # fewer points, each with the one 16 bytes before it
//! curve --csv FILE
//! ```
//!
//! Before a point is counted, four arenas like it are made and dropped.

use ebbtide_benches::machine;
use std::{env, fs, hint::black_box, process::Command};

const LARGEST: usize = 64 << 10;

/// The bytes between a point and the one before.
const STEP: usize = 16;

/// The most instructions at a point, relative to those at the one before.
const CLIFF: f64 = 1.15;

/// From here on, each fill allocates at both.
const LEAST: usize = 48;

/// Fills an arena with this many bytes.
type Fill = fn(usize);

const CONTESTANTS: [&str; 3] = ["bumpalo", "Arena", "ebbtide-bumpalo"];

/// What arenas are filled with, and up to how many bytes each of ours must be ahead. A vector moves where
/// a chunk ends, and bumpalo's where it has doubled, so the copies of large ones come at other points.
const FILLS: [(&str, usize); 3] = [("words", LARGEST), ("nodes", LARGEST), ("pushes", 16 << 10)];

macro_rules! fills {
    ($arena:ident = $make:expr, $vector:expr) => {
        [
            |bytes| {
                let $arena = $make;
                for n in 0..black_box(bytes / 8) {
                    black_box($arena.alloc(n as u64));
                }
            },
            |bytes| {
                let $arena = $make;
                for n in 0..black_box(bytes / 24) {
                    black_box($arena.alloc([n as u64; 3]));
                }
            },
            |bytes| {
                let $arena = $make;
                let mut vector = $vector;
                for n in 0..black_box(bytes / 8) {
                    vector.push(n as u64);
                }
                black_box(&vector);
            },
        ]
    };
}

/// The functions of each contestant.
fn all() -> [[Fill; FILLS.len()]; CONTESTANTS.len()] {
    [
        fills!(arena = bumpalo::Bump::new(), bumpalo::collections::Vec::new_in(&arena)),
        fills!(arena = ebbtide::Arena::new(), arena.vec()),
        fills!(arena = interface::Bump::new(), interface::collections::Vec::new_in(&arena)),
    ]
}

/// Makes, fills and drops the arena that is counted.
// No other function has this name.
#[unsafe(no_mangle)]
#[inline(never)]
fn ebbtide_point(fill: Fill, bytes: usize) {
    fill(bytes);
}

fn points(step: usize) -> impl Iterator<Item = usize> {
    let before = (step > STEP).then_some(STEP);
    (step..=LARGEST)
        .step_by(step)
        .flat_map(move |n| before.map(|less| n - less).into_iter().chain([n]))
}

/// The instructions of each contestant at each point.
fn counts(fill: usize, step: usize) -> Option<Vec<Vec<f64>>> {
    let file = env::temp_dir().join(format!("ebbtide-curve-{}", std::process::id()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--combine-dumps=yes"])
        .args(["--toggle-collect=ebbtide_point", "--dump-after=ebbtide_point"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(env::current_exe().ok()?)
        .args(["--run", &fill.to_string(), &step.to_string()])
        .output()
        .ok()?;
    let text = fs::read_to_string(&file).ok()?;
    fs::remove_file(file).ok()?;
    let counts = text.lines().filter_map(|line| line.strip_prefix("summary: "));
    let counts: Vec<f64> = counts.map_while(|count| count.trim().parse().ok()).collect();
    let points: Vec<_> = counts.chunks(CONTESTANTS.len()).map(<[f64]>::to_vec).collect();
    (output.status.success() && points.len() >= self::points(step).count()).then_some(points)
}

fn main() {
    let (mut step, mut csv) = (STEP, None);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok()).expect("a number");
        match argument.as_str() {
            "--run" => return run(number(), number()),
            "--step" => step = number(),
            "--csv" => csv = arguments.next(),
            _ => panic!("unknown argument: {argument}"),
        }
    }
    let mut record = machine::header() + "fill,bytes,bumpalo,Arena,ebbtide-bumpalo\n";
    let mut failed = 0;
    for (fill, (name, ahead)) in FILLS.into_iter().enumerate() {
        let counts = counts(fill, step).expect("Valgrind runs");
        println!("\n{name:8} {:>8} {:>8} {:>16}", CONTESTANTS[0], CONTESTANTS[1], CONTESTANTS[2]);
        let mut last = None;
        for (bytes, count) in points(step).zip(&counts) {
            let [theirs, arena, interface] = count[..] else { panic!("three counts a point") };
            record += &format!("{name},{bytes},{theirs},{arena},{interface}\n");
            let before = last.replace((bytes, count)).filter(|(last, _)| last + STEP == bytes);
            let is_cliff = before.is_some_and(|(_, before)| {
                (1..CONTESTANTS.len()).any(|ours| count[ours] > CLIFF * before[ours])
            });
            let is_behind = arena.max(interface) > theirs && bytes <= ahead;
            let is_failed = bytes >= LEAST && (is_behind || is_cliff && ahead == LARGEST);
            failed += usize::from(is_failed);
            if is_failed || bytes % 4096 == 0 {
                let mark = if is_failed { "  BEHIND, or a cliff" } else { "" };
                println!("{bytes:8} {theirs:>8} {arena:>8} {interface:>16}{mark}");
            }
        }
    }
    if let Some(path) = csv {
        fs::write(path, record).expect("the record can be written");
    }
    println!("\n{failed} points failed");
    if failed > 0 {
        std::process::exit(1);
    }
}

/// Makes the arenas of every point.
fn run(fill: usize, step: usize) {
    for bytes in points(step) {
        for contestant in all() {
            (0..4).for_each(|_| contestant[fill](bytes));
            ebbtide_point(contestant[fill], bytes);
        }
    }
}
