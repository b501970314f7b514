//! The figures of the report: what each is called, how it is read off a measurement, and how it is written.

use crate::measure::{Measured, Report, median, time_ratio};
use crate::units;

/// Something measured. Lower is better for all of them.
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

    /// The figure of one stage; `None` where the system does not tell.
    pub(crate) fn of(self, measured: &Measured) -> Option<f64> {
        match self {
            Figure::Time => Some(median(&measured.seconds)),
            Figure::HeapCalls => Some(measured.heap.calls as f64),
            Figure::PageFaults => (!measured.faults.is_empty()).then(|| median(&measured.faults)),
            Figure::PeakMemory => Some(measured.heap.peak_bytes as f64),
        }
    }

    /// The figure of one stage divided by the heap's: for time the median over the rounds, each compared with itself.
    pub(crate) fn ratio(self, measured: &Measured, heap: &Measured) -> Option<f64> {
        match self {
            Figure::Time => Some(time_ratio(measured, heap).median),
            _ => Some(self.of(measured)? / self.of(heap)?),
        }
    }

    /// The figure of all stages with one kind of memory, by its place in [`MODES`]: the sum, but the most for a peak.
    pub(crate) fn of_all(self, report: &Report, mode: usize) -> Option<f64> {
        let figures = report.stages.iter().map(|stage| self.of(&stage.by_mode[mode]));
        figures.reduce(|all, figure| {
            let (all, figure) = (all?, figure?);
            Some(if self == Figure::PeakMemory { all.max(figure) } else { all + figure })
        })?
    }

    /// The figure written out, and as a ratio to the heap's; dashes where there is none.
    pub(crate) fn cells(self, figure: Option<f64>, ratio: Option<f64>) -> [String; 2] {
        let dash = || "–".to_owned();
        [
            figure.map_or_else(dash, |figure| self.show(figure)),
            ratio.map_or_else(dash, units::ratio),
        ]
    }

    pub(crate) fn show(self, figure: f64) -> String {
        match self {
            Figure::Time => units::seconds(figure),
            Figure::HeapCalls | Figure::PageFaults => units::count(figure),
            Figure::PeakMemory => units::bytes(figure),
        }
    }

    /// A unit for an axis that reaches up to `most`, and its name.
    pub(crate) fn unit(self, most: f64) -> (f64, &'static str) {
        match self {
            Figure::Time if most >= 1.0 => (1.0, "seconds"),
            Figure::Time if most >= 1e-3 => (1e-3, "milliseconds"),
            Figure::Time => (1e-6, "microseconds"),
            Figure::HeapCalls => (1.0, "calls to the heap"),
            Figure::PageFaults => (1.0, "page faults"),
            Figure::PeakMemory if most >= f64::from(1 << 20) => (f64::from(1 << 20), "MiB"),
            Figure::PeakMemory => (f64::from(1 << 10), "KiB"),
        }
    }
}
