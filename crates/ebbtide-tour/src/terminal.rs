//! The report in the terminal.

use std::io::{self, Write};

use crate::figures::{self, Figure};
use crate::input::Input;
use crate::measure::Report;
use crate::modes::MODES;
use crate::table::Table;
use crate::{machine, units};

/// Describes the input.
pub(crate) fn write_input(out: &mut impl Write, input: &Input) -> io::Result<()> {
    writeln!(out, "input    {}", input.source)?;
    writeln!(out, "         {}", input.size())?;
    input.notes.iter().try_for_each(|note| writeln!(out, "note     {note}"))?;
    writeln!(out, "machine  {}", machine::description())?;
    writeln!(out, "build    {}", machine::toolchain())?;
    if cfg!(debug_assertions) {
        writeln!(out, "note     without --release, times are not meaningful")?;
    }
    writeln!(out)
}

/// Writes the results.
pub(crate) fn write_report(out: &mut impl Write, report: &Report) -> io::Result<()> {
    writeln!(out, "Results, the same with every kind of memory:")?;
    let mut found = Table::default();
    for stage in &report.stages {
        found.push([format!("  {}", stage.stage.name()), figures::findings(stage)]);
    }
    for stage in &report.idle {
        found.push([format!("  {}", stage.name()), stage.why_idle().to_owned()]);
    }
    writeln!(out, "{found}")?;

    writeln!(out, "Each figure and its ratio to the heap's. Lower is better.\n")?;
    let mut table = Table::default();
    let heading = Figure::ALL.into_iter().flat_map(|figure| [figure.name(), "÷ heap"]);
    table.push(["stage", "memory"].into_iter().chain(heading));
    for block in figures::blocks(report) {
        for (place, row) in block.rows.into_iter().enumerate() {
            let name = if place == 0 { block.name } else { "" };
            let words = [name, row.mode].map(str::to_owned);
            table.push(words.into_iter().chain(row.cells.into_iter().flatten()));
        }
    }
    writeln!(out, "{table}")?;

    for (mode, ratio) in figures::mean_time_ratios(report) {
        let (name, heap) = (MODES[mode].name, MODES[0].name);
        let (ratio, speed) = (units::ratio(ratio), 1.0 / ratio);
        writeln!(
            out,
            "{name}: {ratio} the time of the {heap} ({speed:.2} times as fast), geometric mean over \
             the stages\n"
        )?;
    }
    for figure in Figure::ALL {
        writeln!(out, "{:11}  {}", figure.name(), figure.definition(report))?;
    }
    Ok(())
}
