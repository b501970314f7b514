//! The report: what was measured, as text.

use std::fmt::{self, Write};

use crate::input::Input;
use crate::measure::{Measured, Report, StageReport, geometric_mean, median};
use crate::modes::MODES;
use crate::{machine, units};

/// A measured quantity. Lower is better for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Time,
    HeapCalls,
    PageFaults,
    PeakMemory,
}

impl Figure {
    pub(crate) const ALL: [Figure; 4] =
        [Figure::Time, Figure::HeapCalls, Figure::PageFaults, Figure::PeakMemory];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Figure::Time => "time",
            Figure::HeapCalls => "heap calls",
            Figure::PageFaults => "page faults",
            Figure::PeakMemory => "peak memory",
        }
    }

    pub(crate) fn definition(self) -> &'static str {
        match self {
            Figure::Time => "Time of one run of the stage, median of the rounds.",
            Figure::HeapCalls => "Calls to allocate, resize and free in one run.",
            Figure::PageFaults => "Page faults, minor and major, in one run, median of the rounds.",
            Figure::PeakMemory => {
                "The most bytes that a run holds at once, from the heap and, in transparent scopes, \
                 from the system."
            }
        }
    }

    /// The figure of one stage; `None` if the system does not report it.
    pub(crate) fn of(self, measured: &Measured) -> Option<f64> {
        match self {
            Figure::Time => Some(median(&measured.seconds)),
            Figure::HeapCalls => Some(measured.heap.calls as f64),
            Figure::PageFaults => (!measured.faults.is_empty()).then(|| median(&measured.faults)),
            Figure::PeakMemory => Some(measured.heap.peak_bytes as f64),
        }
    }

    /// The formatted figure of one stage, and its ratio to the heap's; dashes if there is none.
    pub(crate) fn cells(self, measured: &Measured, heap: &Measured) -> [String; 2] {
        let show = match self {
            Figure::Time => units::seconds,
            Figure::HeapCalls | Figure::PageFaults => units::count,
            Figure::PeakMemory => units::bytes,
        };
        let ratio = self.of(measured).zip(self.of(heap)).map(|(ours, heap)| ours / heap);
        let dash = || "–".to_owned();
        [self.of(measured).map_or_else(dash, show), ratio.map_or_else(dash, units::ratio)]
    }
}

/// By how much a figure may exceed the heap's without a word about it.
const MARGIN: f64 = 1.1;

/// Whether a kind of memory takes more than the heap, by some figure.
fn takes_more(stage: &StageReport) -> bool {
    Figure::ALL.into_iter().any(|figure| {
        let heap = figure.of(stage.heap()).unwrap_or(f64::INFINITY);
        let most = stage.by_mode.iter().filter_map(|measured| figure.of(measured));
        most.fold(0.0, f64::max) > heap * MARGIN
    })
}

/// Describes the input and the machine.
pub(crate) fn input(input: &Input) -> String {
    let mut text = format!("input    {}\n         {}\n", input.source, input.size());
    input.notes.iter().for_each(|note| text += &format!("note     {note}\n"));
    text += &format!("machine  {}\n", machine::description());
    text += &format!("build    {}\n", machine::toolchain());
    if cfg!(debug_assertions) {
        text += "note     without --release, times are not meaningful\n";
    }
    text
}

/// The results.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Results, the same with every kind of memory:")?;
        for stage in &self.stages {
            writeln!(f, "  {:11}  {}", stage.stage.name(), findings(stage))?;
        }
        for stage in &self.idle {
            writeln!(f, "  {:11}  no input: there is no JSON among the files", stage.name())?;
        }
        writeln!(f, "\nEach figure and its ratio to the heap's. Lower is better.\n")?;
        let mut rows = vec![["stage", "memory"].map(str::to_owned).to_vec()];
        let heading = Figure::ALL.into_iter().flat_map(|figure| [figure.name(), "÷ heap"]);
        rows[0].extend(heading.map(str::to_owned));
        for stage in &self.stages {
            for (place, (mode, measured)) in MODES.iter().zip(&stage.by_mode).enumerate() {
                let name = if place == 0 { stage.stage.name() } else { "" };
                let mut row = [name, mode.name].map(str::to_owned).to_vec();
                row.extend(Figure::ALL.iter().flat_map(|fig| fig.cells(measured, stage.heap())));
                rows.push(row);
            }
        }
        f.write_str(&table(&rows))?;
        writeln!(f)?;
        for (index, mode) in MODES.iter().enumerate().skip(1) {
            let seconds = |measured: &Measured| median(&measured.seconds);
            let ratio =
                |stage: &StageReport| seconds(&stage.by_mode[index]) / seconds(stage.heap());
            let ratio = geometric_mean(self.stages.iter().map(ratio));
            let (name, shown, speed) = (mode.name, units::ratio(ratio), 1.0 / ratio);
            writeln!(
                f,
                "{name}: {shown} the time of the {} ({speed:.2} times as fast), geometric mean over \
                 the stages",
                MODES[0].name
            )?;
        }
        if self.stages.iter().any(takes_more) {
            writeln!(f, "\nWhere scopes take more than the heap, and why:")?;
        }
        for stage in self.stages.iter().filter(|stage| takes_more(stage)) {
            writeln!(f, "{:11}  {}", stage.stage.name(), stage.stage.limit())?;
        }
        writeln!(f, "\nMeasured in {} rounds:", self.rounds)?;
        let mut lines = Figure::ALL.into_iter();
        lines.try_for_each(|figure| writeln!(f, "{:11}  {}", figure.name(), figure.definition()))
    }
}

/// The key figures of a stage's result, in words.
fn findings(stage: &StageReport) -> String {
    let figures = stage.outcome.figures;
    let found = figures.map(|(name, figure)| format!("{name} {}", units::count(figure as f64)));
    format!("{} ({} passes)", found.join(", "), stage.passes)
}

/// Lines of cells. The first two columns are left-aligned, the others right-aligned.
fn table(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            // Writing to a string does not fail.
            let _ = match column {
                0 | 1 => write!(line, "{cell:width$}  "),
                _ => write!(line, "{cell:>width$}  "),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::{Outcome, Stage};

    #[test]
    fn a_stage_that_takes_more_than_the_heap_says_why() {
        let taking =
            |faults| Measured { seconds: vec![1.0], faults: vec![faults], ..Measured::default() };
        let outcome = Outcome { checksum: 0, figures: [("", 0); 3] };
        let stage = |stage, most| StageReport {
            stage,
            outcome,
            passes: 1,
            by_mode: vec![taking(100.0), taking(1.0), taking(most)],
        };
        let stages = vec![stage(Stage::Parse, 109.0), stage(Stage::Group, 111.0)];
        let text = Report { rounds: 1, stages, idle: Vec::new() }.to_string();
        assert!(text.contains(Stage::Group.limit()) && !text.contains(Stage::Parse.limit()));
    }

    #[test]
    fn words_are_left_aligned_and_figures_right_aligned() {
        let rows =
            [["stage", "memory", "time"], ["parse", "heap", "12.3 µs"], ["", "scopes", "8 µs"]];
        assert_eq!(
            table(&rows.map(|row| row.map(str::to_owned).to_vec())),
            "stage  memory     time\nparse  heap    12.3 µs\n       scopes     8 µs\n"
        );
    }
}
