//! The report as text.

use std::io::{self, Write};

use crate::figures::Figure;
use crate::input::{Input, Kind};
use crate::measure::{Report, geometric_mean, time_ratio};
use crate::modes::MODES;
use crate::table::Table;
use crate::{machine, units};

/// What the tour is about to work on.
pub(crate) fn write_input(out: &mut impl Write, input: &Input) -> io::Result<()> {
    writeln!(out, "input    {}", input.source)?;
    writeln!(
        out,
        "         {} files, {}: {} Rust, {} JSON, {} other text",
        units::count(input.files.len() as f64),
        units::bytes(input.bytes() as f64),
        input.count(Kind::Rust),
        input.count(Kind::Json),
        input.count(Kind::Text),
    )?;
    input.notes.iter().try_for_each(|note| writeln!(out, "note     {note}"))?;
    writeln!(out, "machine  {}", machine::description())?;
    writeln!(out, "build    {}", machine::toolchain())?;
    if cfg!(debug_assertions) {
        writeln!(out, "note     without --release the times mean little")?;
    }
    writeln!(out)
}

/// What came out.
pub(crate) fn write_report(out: &mut impl Write, report: &Report) -> io::Result<()> {
    writeln!(out, "All kinds of memory agree on what the stages found:")?;
    let mut found = Table::default();
    for stage in &report.stages {
        let figures = stage
            .outcome
            .figures
            .map(|(name, figure)| format!("{name} {}", units::count(figure as f64)));
        let passes = if stage.passes > 1 {
            format!(" ({} times over)", stage.passes)
        } else {
            String::new()
        };
        found.push([format!("  {}", stage.stage.name()), figures.join(", ") + &passes]);
    }
    for stage in &report.idle {
        found.push([
            format!("  {}", stage.name()),
            "no input: there is no JSON among the files".to_owned(),
        ]);
    }
    writeln!(out, "{found}")?;

    writeln!(out, "Each figure, and its ratio to the heap's. Lower is better, for all of them.\n")?;
    let mut table = Table::default();
    let heading = Figure::ALL.into_iter().flat_map(|figure| [figure.name(), "÷ heap"]);
    table.push(["stage", "memory"].into_iter().chain(heading));
    for stage in &report.stages {
        for (place, (mode, measured)) in stage.rows().enumerate() {
            let name = if place == 0 { stage.stage.name() } else { "" };
            let cells = Figure::ALL.into_iter().flat_map(|figure| {
                figure.cells(figure.of(measured), figure.ratio(measured, stage.heap()))
            });
            table.push([name, mode.name].into_iter().map(str::to_owned).chain(cells));
        }
    }
    for (place, mode) in MODES.iter().enumerate() {
        let name = if place == 0 { "all stages" } else { "" };
        let cells = Figure::ALL.into_iter().flat_map(|figure| {
            let [of_all, heap] = [place, 0].map(|mode| figure.of_all(report, mode));
            figure.cells(of_all, of_all.zip(heap).map(|(figure, heap)| figure / heap))
        });
        table.push([name, mode.name].into_iter().map(str::to_owned).chain(cells));
    }
    writeln!(out, "{table}")?;

    for (place, mode) in MODES.iter().enumerate().skip(1) {
        let ratios = report
            .stages
            .iter()
            .map(|stage| time_ratio(&stage.by_mode[place], stage.heap()).median);
        let mean = geometric_mean(ratios);
        writeln!(
            out,
            "{}: {} the time of the heap ({:.2} times as fast), the geometric mean of the stages.",
            mode.name,
            units::ratio(mean),
            1.0 / mean
        )?;
    }
    writeln!(
        out,
        "Time and page faults: medians of {} rounds. Heap calls: to allocate, resize and free.",
        report.rounds
    )?;
    writeln!(out, "Peak memory: the most bytes that a stage holds of the heap at once.")
}
