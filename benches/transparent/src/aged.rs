//! The programs on heaps like those of old processes; see `litter.rs` of the library.
//!
//! Each allocator is littered by itself. Ebbtide is littered twice: through the allocator that it gets
//! its memory from, as by a program that opens no scopes, and through scopes from which blocks escape.
//!
//! Programs in C and C++ are littered by a preloaded library; see `native.rs`.
//!
//! Programs with explicit arenas are compared with the same code over the heap. Their arenas get
//! chunks from the littered allocator.

use crate::{
    Bench, Contestant, Entrant, Measured, Options, Plan, Result, Worker, at_least, at_most, inside,
    measure,
    native::{self, JEMALLOC, MIMALLOC, native},
    ratio,
};
use ebbtide_transparent::workloads::{Kind, Row};
use std::path::Path;

/// The percentage of the blocks that are kept.
const KEPT: [usize; 4] = [0, 5, 15, 30];
const QUICK_KEPT: [usize; 1] = [5];
/// The blocks served before the program starts, for each that it has alive at its peak, and at least.
const MULTIPLIER: usize = 20;
const FEWEST_BLOCKS: usize = 400_000;
const GENERATIONS: u32 = 5;
const QUICK_GENERATIONS: u32 = 2;

/// Makes the record of block sizes.
const RECORDER: Contestant = inside("recorder", "transparent-recorder");

/// Names of contestants that run on a littered heap only, for comparison.
const AGED: &str = "ebbtide, aged by its scopes";
const FRESH: &str = "ebbtide, fresh";
const OVER_MIMALLOC: &str = "ebbtide over mimalloc";
/// On a fresh heap only.
const AROUND: &str = "ebbtide, one scope around it";

// The first one of each kind is ours; the others are compared with it.
static TRANSPARENT: [Contestant; 7] = [
    inside("ebbtide", "transparent-ebbtide"),
    inside("glibc", "transparent-glibc"),
    inside("mimalloc", "transparent-mimalloc"),
    inside("jemalloc", "transparent-jemalloc"),
    inside(AGED, "transparent-ebbtide"),
    inside(FRESH, "transparent-ebbtide"),
    Contestant { name: AROUND, program: "transparent-ebbtide", scopes: "around", native: None },
];
static EXPLICIT: [Contestant; 6] = [
    explicit("ebbtide", "transparent-glibc"),
    explicit(OVER_MIMALLOC, "transparent-mimalloc"),
    inside("glibc", "transparent-glibc"),
    inside("mimalloc", "transparent-mimalloc"),
    inside("jemalloc", "transparent-jemalloc"),
    explicit(FRESH, "transparent-glibc"),
];
static EXPLICIT_IN_C: [Contestant; 6] = [
    native("ebbtide", "native-c", "explicit", native::GLIBC),
    native(OVER_MIMALLOC, "native-c", "explicit", MIMALLOC),
    native("glibc", "native-c", "inside", native::GLIBC),
    native("mimalloc", "native-c", "inside", MIMALLOC),
    native("jemalloc", "native-c", "inside", JEMALLOC),
    native(FRESH, "native-c", "explicit", native::GLIBC),
];
static CPP: [Contestant; 6] = [
    native("ebbtide", "native-cpp-ebbtide", "inside", native::GLIBC),
    native(OVER_MIMALLOC, "native-cpp-ebbtide", "inside", MIMALLOC),
    native("glibc", "native-cpp", "inside", native::GLIBC),
    native("mimalloc", "native-cpp", "inside", MIMALLOC),
    native("jemalloc", "native-cpp", "inside", JEMALLOC),
    native(FRESH, "native-cpp-ebbtide", "inside", native::GLIBC),
];

const fn explicit(name: &'static str, program: &'static str) -> Contestant {
    Contestant { name, program, scopes: "explicit", native: None }
}

fn contestants(row: &Row) -> &'static [Contestant] {
    match row.kind {
        Kind::Explicit if row.name.ends_with("(C)") => &EXPLICIT_IN_C,
        Kind::Explicit => &EXPLICIT,
        Kind::Cpp => &CPP,
        _ => &TRANSPARENT,
    }
}

/// What the names of rows begin with in the record, by group.
const GROUPS: [&str; 4] = ["transparent", "explicit", "C++", "unseen"];

fn group(row: &Row) -> usize {
    match row.kind {
        Kind::Explicit => 1,
        Kind::Cpp => 2,
        Kind::Unseen => 3,
        _ => 0,
    }
}

/// Ratios of the rows to a mean, by contestant: glibc, mimalloc, ours aged and littered to ours
/// fresh, and mimalloc to ours with one scope.
#[derive(Default)]
struct Ratios([Vec<f64>; 5]);

pub fn run(
    bench: &mut Bench,
    rows: impl Iterator<Item = &'static Row>,
    plan: &Plan,
    options: &Options,
    programs: &Path,
) -> Result<()> {
    let (kept, generations): (&[usize], _) =
        if plan.quick { (&QUICK_KEPT, QUICK_GENERATIONS) } else { (&KEPT, GENERATIONS) };
    let mut means: Vec<[Ratios; 4]> = kept.iter().map(|_| Default::default()).collect();
    for row in rows.filter(|row| !matches!(row.kind, Kind::Control | Kind::Numbers)) {
        let (counts, blocks) = record(row, programs)?;
        for (&kept, means) in kept.iter().zip(&mut means) {
            let name = match group(row) {
                0 => format!("transparent: {}, {kept} % kept", row.name),
                _ => format!("{}, {kept} % kept", row.name),
            };
            println!("\n{name}, of {blocks} blocks");
            let entrants = entrants(row, &counts, blocks, kept);
            let measured = measure(row, &entrants, generations, programs, plan, options.reports)?;
            let least = if row.kind == Kind::Unseen { 0.97 } else { 0.98 };
            judge(bench, &name, &entrants, &measured, least, &mut means[group(row)]);
        }
    }
    for (kept, means) in kept.iter().zip(means) {
        for (group, Ratios([glibc, mimalloc, littered, aged, around])) in GROUPS.iter().zip(means) {
            let (least, least_of_glibc) = match (*group, kept) {
                ("explicit", _) => (1.5, 1.5),
                ("unseen", 0) => (1.03, 1.0),
                ("unseen", _) => (1.08, 1.0),
                (_, 0) => (1.06, 1.25),
                (_, 5) => (1.1, 1.5),
                (_, 15) => (1.1, 1.8),
                _ => (1.1, 2.1),
            };
            let name = format!("{group}: {kept} % kept");
            bench.mean(&format!("{name}, mean, glibc"), &glibc, |m| at_least(least_of_glibc, m));
            bench.mean(&format!("{name}, mean, mimalloc"), &mimalloc, |m| at_least(least, m));
            bench.mean(&format!("{name}, littered ÷ fresh"), &littered, |m| at_most(1.03, m));
            bench.mean(&format!("{name}, aged ÷ fresh"), &aged, |m| at_most(1.03, m));
            let name = format!("{name}, one scope around it, mimalloc");
            bench.mean(&name, &around, |m| at_least(0.97, m));
        }
    }
    Ok(())
}

/// The number of blocks of each class at a program's peak, and how many blocks litter the heap.
fn record(row: &Row, programs: &Path) -> Result<(String, usize)> {
    let heap = contestants(row).iter().find(|contestant| contestant.name == "glibc");
    let counts = match heap.filter(|heap| heap.native.is_some()) {
        Some(heap) => native::record(heap, row, programs)?,
        None => {
            let mut recorder = Worker::start(&(&RECORDER, String::new()), row, 1, programs)?;
            recorder.batch()?;
            let counts = recorder.report()?.trim().replace(' ', ",");
            recorder.0.end()?;
            counts
        }
    };
    let peak: usize = counts.split(',').filter_map(|count| count.parse::<usize>().ok()).sum();
    Ok((counts, FEWEST_BLOCKS.max(MULTIPLIER * peak)))
}

fn entrants(row: &Row, counts: &str, blocks: usize, kept: usize) -> Vec<Entrant<'static>> {
    let all = contestants(row).iter();
    let others = if kept > 0 { &[AROUND][..] } else { &[AGED, FRESH] };
    let entrants = all.filter(|contestant| !others.contains(&contestant.name));
    let litter = |contestant: &Contestant| match contestant.name {
        _ if kept == 0 => String::new(),
        FRESH => String::new(),
        AGED => format!("{counts} {blocks} {kept} inside"),
        _ => format!("{counts} {blocks} {kept} outside"),
    };
    entrants.map(|contestant| (contestant, litter(contestant))).collect()
}

fn judge(
    bench: &mut Bench,
    row: &str,
    entrants: &[Entrant<'_>],
    measured: &[Measured],
    least: f64,
    Ratios([glibc, mimalloc, littered, aged, around]): &mut Ratios,
) {
    let find = |name: &str| {
        entrants.iter().position(|(contestant, _)| contestant.name == name).map(|i| &measured[i])
    };
    let (ours, fresh) = (&measured[0], find(FRESH));
    let over_mimalloc = find(OVER_MIMALLOC).unwrap_or(ours);
    for ((contestant, _), own) in entrants.iter().zip(measured) {
        let to_ours = ratio(own, ours);
        let value = to_ours.value;
        let verdict = match contestant.name {
            "glibc" => {
                glibc.push(value);
                Some(at_least(least, value))
            }
            // On the same heap, if ours also runs over mimalloc.
            "mimalloc" => {
                let value = ratio(own, over_mimalloc).value;
                mimalloc.push(value);
                Some(at_least(least, value))
            }
            AROUND => find("mimalloc").map(|theirs| {
                let value = ratio(theirs, own).value;
                around.push(value);
                at_least(0.97, value)
            }),
            name => fresh.filter(|_| name == "ebbtide" || name == AGED).map(|fresh| {
                let value = ratio(own, fresh).value;
                let ratios = if name == AGED { &mut *aged } else { &mut *littered };
                ratios.push(value);
                at_most(1.03, value)
            }),
        };
        bench.line(row, contestant.name, own, to_ours, None, verdict);
    }
}
