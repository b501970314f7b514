//! The programs on heaps like those of old processes; see `litter.rs` of the library.
//!
//! Each allocator is littered by itself. Ebbtide is littered twice: through the allocator that it gets
//! its memory from, as by a program that opens no scopes, and through scopes from which blocks escape.
//!
//! Programs with explicit arenas are compared with the same code over the heap. Their arenas get
//! chunks from the littered allocator.

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
const QUICK_GENERATIONS: u32 = 2;
const JEMALLOC: usize = 4;

/// Makes the record of block sizes.
const RECORDER: Contestant = inside("recorder", "transparent-recorder");
const AGED: Contestant = inside("ebbtide, aged by its scopes", "transparent-ebbtide");
const FRESH: Contestant = inside("ebbtide, fresh", "transparent-ebbtide");

const EXPLICIT: Contestant = explicit("ebbtide", "transparent-glibc");
const EXPLICIT_OVER_MIMALLOC: Contestant =
    explicit("ebbtide over mimalloc", "transparent-mimalloc");
const EXPLICIT_FRESH: Contestant = explicit(FRESH.name, "transparent-glibc");

const fn explicit(name: &'static str, program: &'static str) -> Contestant {
    Contestant { name, program, scopes: "explicit" }
}

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
    let (kept, generations): (&[usize], _) =
        if plan.quick { (&QUICK_KEPT, QUICK_GENERATIONS) } else { (&KEPT, GENERATIONS) };
    let mut means: Vec<[Ratios; 2]> = kept.iter().map(|_| Default::default()).collect();
    for row in rows.filter(|row| !matches!(row.kind, Kind::Control | Kind::Numbers)) {
        let is_explicit = row.kind == Kind::Explicit;
        let (counts, blocks) = record(row, programs)?;
        for (&kept, means) in kept.iter().zip(&mut means) {
            let name = format!("{}, {kept} % kept", row.name);
            println!("\n{name}, of {blocks} blocks");
            let entrants = entrants(is_explicit, &counts, blocks, kept);
            let measured = measure(row, &entrants, generations, programs, plan, options.reports)?;
            let ratios = &mut means[usize::from(is_explicit)];
            judge(bench, is_explicit, &name, &entrants, &measured, ratios);
        }
    }
    for (kept, [transparent, explicit]) in kept.iter().zip(means) {
        let Ratios([glibc, mimalloc, littered, aged]) = transparent;
        let (least, least_of_glibc) = match kept {
            0 => (1.06, 1.25),
            5 => (1.1, 1.5),
            15 => (1.1, 1.8),
            _ => (1.1, 2.1),
        };
        let name = format!("transparent: {kept} % kept");
        bench.mean(&format!("{name}, mean, glibc"), &glibc, |m| at_least(least_of_glibc, m));
        bench.mean(&format!("{name}, mean, mimalloc"), &mimalloc, |m| at_least(least, m));
        bench.mean(&format!("{name}, littered ÷ fresh"), &littered, |m| at_most(1.03, m));
        bench.mean(&format!("{name}, aged ÷ fresh"), &aged, |m| at_most(1.03, m));
        let Ratios([glibc, mimalloc, littered, _]) = explicit;
        let name = format!("explicit: {kept} % kept");
        let least = |mean| at_least(1.5, mean);
        bench.mean(&format!("{name}, mean, glibc"), &glibc, least);
        bench.mean(&format!("{name}, mean, mimalloc"), &mimalloc, least);
        bench.mean(&format!("{name}, littered ÷ fresh"), &littered, |m| at_most(1.03, m));
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

fn entrants(is_explicit: bool, counts: &str, blocks: usize, kept: usize) -> Vec<Entrant<'static>> {
    let litter = |scopes| match kept {
        0 => String::new(),
        _ => format!("{counts} {blocks} {kept} {scopes}"),
    };
    let heaps = [GLIBC, MIMALLOC, JEMALLOC].map(|index| &CONTESTANTS[index]);
    let ours: &[&Contestant] =
        if is_explicit { &[&EXPLICIT, &EXPLICIT_OVER_MIMALLOC] } else { &[&CONTESTANTS[OURS]] };
    let all = ours.iter().copied().chain(heaps);
    let mut entrants: Vec<_> = all.map(|contestant| (contestant, litter("outside"))).collect();
    if kept > 0 && is_explicit {
        entrants.push((&EXPLICIT_FRESH, String::new()));
    } else if kept > 0 {
        entrants.push((&AGED, litter("inside")));
        entrants.push((&FRESH, String::new()));
    }
    entrants
}

fn judge(
    bench: &mut Bench,
    is_explicit: bool,
    name: &str,
    entrants: &[Entrant<'_>],
    measured: &[Measured],
    Ratios([glibc, mimalloc, littered, aged]): &mut Ratios,
) {
    let find = |name: &str| {
        entrants.iter().position(|(contestant, _)| contestant.name == name).map(|i| &measured[i])
    };
    let (ours, fresh) = (&measured[0], find(FRESH.name));
    let over_mimalloc = find(EXPLICIT_OVER_MIMALLOC.name).unwrap_or(ours);
    for ((contestant, _), own) in entrants.iter().zip(measured) {
        let to_ours = ratio(own, ours);
        let value = to_ours.value;
        let verdict = match contestant.name {
            "glibc" => {
                glibc.push(value);
                Some(at_least(0.98, value))
            }
            // Both on the same heap.
            "mimalloc" => {
                let value = ratio(own, over_mimalloc).value;
                mimalloc.push(value);
                Some(at_least(0.98, value))
            }
            name => fresh.filter(|_| name == "ebbtide" || name == AGED.name).map(|fresh| {
                let value = ratio(own, fresh).value;
                let ratios = if name == AGED.name { &mut *aged } else { &mut *littered };
                ratios.push(value);
                at_most(1.03, value)
            }),
        };
        let row = if is_explicit { name.to_owned() } else { format!("transparent: {name}") };
        bench.line(&row, contestant.name, own, to_ours, None, verdict);
    }
}
