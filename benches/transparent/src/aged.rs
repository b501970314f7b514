//! The programs on heaps like those of old processes; see `litter.rs` of the library.
//!
//! Each allocator is littered by itself. Ebbtide is littered twice: through the allocator that it gets
//! its memory from, as by a program that opens no scopes, and through scopes from which blocks escape.

use crate::{
    Bench, CONTESTANTS, Contestant, Entrant, GLIBC, MIMALLOC, Measured, OURS, Options, Plan,
    Result, Worker, at_least, at_most, inside, measure, ratio,
};
use ebbtide_transparent::workloads::{Kind, Row};
use std::path::Path;

/// The percentage of the blocks that are kept.
const KEPT: [usize; 4] = [0, 5, 15, 30];
const QUICK_KEPT: [usize; 2] = [0, 5];
/// The blocks served before the program starts, for each that it has alive at its peak, and at least.
const MULTIPLIER: usize = 20;
const FEWEST_BLOCKS: usize = 400_000;
const GENERATIONS: u32 = 5;
const JEMALLOC: usize = 4;

/// Makes the record of block sizes.
const RECORDER: Contestant = inside("recorder", "transparent-recorder");
const AGED: Contestant = inside("ebbtide, aged by its scopes", "transparent-ebbtide");
const FRESH: Contestant = inside("ebbtide, fresh", "transparent-ebbtide");

/// Ratios of the rows to a mean, by contestant: glibc, mimalloc, and ours aged and littered to ours
/// fresh.
#[derive(Default)]
struct Ratios([Vec<f64>; 4]);

pub fn run(
    bench: &mut Bench,
    rows: impl Iterator<Item = &'static Row>,
    plan: &Plan,
    options: &Options,
    programs: &Path,
) -> Result<()> {
    let kept: &[usize] = if plan.quick { &QUICK_KEPT } else { &KEPT };
    let mut means: Vec<Ratios> = kept.iter().map(|_| Ratios::default()).collect();
    for row in rows.filter(|row| matches!(row.kind, Kind::Program | Kind::Untuned)) {
        let (counts, blocks) = record(row, programs)?;
        for (&kept, means) in kept.iter().zip(&mut means) {
            let name = format!("{}, {kept} % kept", row.name);
            println!("\n{name}, of {blocks} blocks");
            let entrants = entrants(&counts, blocks, kept);
            let measured = measure(row, &entrants, GENERATIONS, programs, plan, options.reports)?;
            judge(bench, &name, &entrants, &measured, means);
        }
    }
    for (kept, Ratios([glibc, mimalloc, littered, aged])) in kept.iter().zip(means) {
        let (least, least_of_glibc) = match kept {
            0 => (1.06, 1.25),
            5 => (1.1, 1.5),
            15 => (1.1, 1.8),
            _ => (1.1, 2.1),
        };
        bench.mean(&format!("{kept} % kept, mean, glibc"), &glibc, |m| at_least(least_of_glibc, m));
        bench.mean(&format!("{kept} % kept, mean, mimalloc"), &mimalloc, |m| at_least(least, m));
        bench.mean(&format!("{kept} % kept, littered ÷ fresh"), &littered, |m| at_most(1.03, m));
        bench.mean(&format!("{kept} % kept, aged ÷ fresh"), &aged, |m| at_most(1.03, m));
    }
    Ok(())
}

/// The number of blocks of each class at a program's peak, and how many blocks litter the heap.
fn record(row: &Row, programs: &Path) -> Result<(String, usize)> {
    let mut recorder = Worker::start(&(&RECORDER, String::new()), row, 1, programs)?;
    recorder.batch()?;
    let counts = recorder.report()?.trim().replace(' ', ",");
    recorder.0.end()?;
    let peak: usize = counts.split(',').filter_map(|count| count.parse::<usize>().ok()).sum();
    Ok((counts, FEWEST_BLOCKS.max(MULTIPLIER * peak)))
}

fn entrants(counts: &str, blocks: usize, kept: usize) -> Vec<Entrant<'static>> {
    let litter = |scopes| match kept {
        0 => String::new(),
        _ => format!("{counts} {blocks} {kept} {scopes}"),
    };
    let allocators = [OURS, GLIBC, MIMALLOC, JEMALLOC];
    let mut entrants: Vec<_> =
        allocators.map(|index| (&CONTESTANTS[index], litter("outside"))).into();
    if kept > 0 {
        entrants.push((&AGED, litter("inside")));
        entrants.push((&FRESH, String::new()));
    }
    entrants
}

fn judge(
    bench: &mut Bench,
    name: &str,
    entrants: &[Entrant<'_>],
    measured: &[Measured],
    Ratios([glibc, mimalloc, littered, aged]): &mut Ratios,
) {
    let find = |name: &str| {
        entrants.iter().position(|(contestant, _)| contestant.name == name).map(|i| &measured[i])
    };
    let (ours, fresh) = (&measured[0], find(FRESH.name));
    for ((contestant, _), own) in entrants.iter().zip(measured) {
        let to_ours = ratio(own, ours);
        let value = to_ours.value;
        let verdict = match contestant.name {
            "glibc" | "mimalloc" => {
                let ratios = if contestant.name == "glibc" { &mut *glibc } else { &mut *mimalloc };
                ratios.push(value);
                Some(at_least(0.98, value))
            }
            name => fresh.filter(|_| name == "ebbtide" || name == AGED.name).map(|fresh| {
                let value = ratio(own, fresh).value;
                let ratios = if name == AGED.name { &mut *aged } else { &mut *littered };
                ratios.push(value);
                at_most(1.03, value)
            }),
        };
        bench.line(&format!("transparent: {name}"), contestant.name, own, to_ours, None, verdict);
    }
}
