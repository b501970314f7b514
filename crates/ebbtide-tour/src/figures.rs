//! The figures of the report: their names, how they are computed from a measurement, and how they
//! are formatted, both in the terminal and on the page.

use crate::measure::{Measured, Report, StageReport, geometric_mean, median, time_ratio};
use crate::modes::MODES;
use crate::units;

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

    /// The definition of the figure.
    pub(crate) fn definition(self, report: &Report) -> String {
        let rounds = report.rounds;
        match self {
            Figure::Time => format!("Time of one run of the stage, median of {rounds} rounds."),
            Figure::HeapCalls => "Calls to allocate, resize and free in one run.".to_owned(),
            Figure::PageFaults => {
                format!("Page faults, minor and major, in one run, median of {rounds} rounds.")
            }
            Figure::PeakMemory => {
                "The most bytes that a run holds at once, from the heap and, in transparent scopes, \
                 from the system."
                    .to_owned()
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

    /// The figure of one stage divided by the heap's.
    pub(crate) fn ratio(self, measured: &Measured, heap: &Measured) -> Option<f64> {
        match self {
            Figure::Time => Some(time_ratio(measured, heap).median),
            _ => Some(self.of(measured)? / self.of(heap)?),
        }
    }

    /// The figure of all stages with one kind of memory, by its index in [`MODES`]: the sum, or the
    /// maximum for a peak.
    fn of_all(self, report: &Report, mode: usize) -> Option<f64> {
        let figures = report.stages.iter().map(|stage| self.of(&stage.by_mode[mode]));
        figures.reduce(|all, figure| {
            let (all, figure) = (all?, figure?);
            Some(if self == Figure::PeakMemory { all.max(figure) } else { all + figure })
        })?
    }

    /// The formatted figure and its ratio to the heap's; dashes if there is none.
    pub(crate) fn cells(self, figure: Option<f64>, ratio: Option<f64>) -> [String; 2] {
        let show = match self {
            Figure::Time => units::seconds,
            Figure::HeapCalls | Figure::PageFaults => units::count,
            Figure::PeakMemory => units::bytes,
        };
        let dash = || "–".to_owned();
        [figure.map_or_else(dash, show), ratio.map_or_else(dash, units::ratio)]
    }

    /// A unit for an axis that ends at `most`, and its name.
    pub(crate) fn unit(self, most: f64) -> (f64, &'static str) {
        const KIB: f64 = 1024.0;
        const MIB: f64 = KIB * KIB;
        match self {
            Figure::Time if most >= 1.0 => (1.0, "seconds"),
            Figure::Time if most >= 1e-3 => (1e-3, "milliseconds"),
            Figure::Time => (1e-6, "microseconds"),
            Figure::HeapCalls => (1.0, "calls to the heap"),
            Figure::PageFaults => (1.0, "page faults"),
            Figure::PeakMemory if most >= MIB => (MIB, "MiB"),
            Figure::PeakMemory => (KIB, "KiB"),
        }
    }
}

/// Rows of the table: one for each kind of memory.
pub(crate) struct Block {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Row {
    pub(crate) mode: &'static str,
    /// For each of [`Figure::ALL`], the figure and its ratio to the heap's.
    pub(crate) cells: [[String; 2]; 4],
}

/// The whole table: a block for each stage, and one for all of them.
pub(crate) fn blocks(report: &Report) -> impl Iterator<Item = Block> {
    report.stages.iter().map(block).chain([block_of_all(report)])
}

fn block(stage: &StageReport) -> Block {
    let row = |measured: &Measured| {
        Figure::ALL
            .map(|figure| figure.cells(figure.of(measured), figure.ratio(measured, stage.heap())))
    };
    let rows = MODES.iter().zip(&stage.by_mode);
    let rows = rows.map(|(mode, measured)| Row { mode: mode.name, cells: row(measured) }).collect();
    Block { name: stage.stage.name(), rows }
}

fn block_of_all(report: &Report) -> Block {
    let row = |mode: usize| {
        Figure::ALL.map(|figure| {
            let [ours, heap] = [mode, 0].map(|mode| figure.of_all(report, mode));
            figure.cells(ours, ours.zip(heap).map(|(ours, heap)| ours / heap))
        })
    };
    let rows = MODES.iter().enumerate();
    let rows = rows.map(|(place, mode)| Row { mode: mode.name, cells: row(place) }).collect();
    Block { name: "all stages", rows }
}

/// For each kind of memory except the heap: its index in [`MODES`], and the geometric mean of its
/// time ratios over the stages.
pub(crate) fn mean_time_ratios(report: &Report) -> impl Iterator<Item = (usize, f64)> {
    (1..MODES.len()).map(|mode| {
        let stages = report.stages.iter();
        let ratios = stages.map(|stage| time_ratio(&stage.by_mode[mode], stage.heap()).median);
        (mode, geometric_mean(ratios))
    })
}

/// The key figures of a stage's result, in words.
pub(crate) fn findings(stage: &StageReport) -> String {
    let figures = stage.outcome.figures;
    let found = figures.map(|(name, figure)| format!("{name} {}", units::count(figure as f64)));
    match stage.passes {
        1 => found.join(", "),
        passes => format!("{} ({passes} passes)", found.join(", ")),
    }
}
