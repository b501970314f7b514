//! The HTML page: charts and a table, in one self-contained file.

mod chart;

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chart::{Bar, Chart, Group, Scale};

use crate::figures::{self, Figure};
use crate::input::Input;
use crate::machine;
use crate::measure::{Measured, Report, quartile, time_ratio};
use crate::modes::MODES;
use crate::units;

/// `tour/index.html` in Cargo's target folder, or in `target` if the program was moved.
pub(crate) fn default_path() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let is_target = |folder: &&Path| {
        ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|mark| folder.join(mark).exists())
    };
    let target = program.ancestors().skip(1).find(is_target).unwrap_or(Path::new("target"));
    target.join("tour").join("index.html")
}

/// Writes the page to `path` and creates missing folders.
pub(crate) fn write(path: &Path, input: &Input, report: &Report) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, Page { input, report }.to_string())
}

struct Page<'r> {
    input: &'r Input,
    report: &'r Report,
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ebbtide: the tour</title>
<style>
{}</style>
<h1>ebbtide: the tour</h1>
<p>The same jobs on the same input, once with each kind of memory. The results are equal; this page
shows what differs. In every chart and every column, <strong>lower is better</strong>.</p>"#,
            include_str!("page/style.css")
        )?;
        self.tiles(f)?;
        self.charts(f)?;
        self.table(f)?;
        self.stages(f)?;
        self.about(f)
    }
}

impl Page<'_> {
    /// A row of tiles for each kind of memory except the heap.
    fn tiles(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(all) = figures::blocks(self.report).last() else { return Ok(()) };
        let heap = &all.rows[0];
        for (mode, time_ratio) in figures::mean_time_ratios(self.report) {
            let ours = &all.rows[mode];
            writeln!(f, "<h2>{} ÷ {}</h2>\n<div class=\"tiles\">", ours.mode, heap.mode)?;
            let cells = ours.cells.iter().zip(&heap.cells);
            for (figure, ([value, ratio], [heap, _])) in Figure::ALL.iter().zip(cells) {
                let (ratio, what) = match figure {
                    Figure::Time => {
                        (units::ratio(time_ratio), "geometric mean of the stages<br>sum: ")
                    }
                    Figure::PeakMemory => (ratio.clone(), "largest of the stages:<br>"),
                    Figure::HeapCalls | Figure::PageFaults => {
                        (ratio.clone(), "sum of the stages:<br>")
                    }
                };
                writeln!(
                    f,
                    r#"<div class="tile mode-{mode}"><b>{ratio}</b> {}<span>{what}{value} for {heap}</span></div>"#,
                    figure.name()
                )?;
            }
            writeln!(f, "</div>")?;
        }
        Ok(())
    }

    fn charts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "<h2>Charts</h2>\n<ul class=\"legend\">")?;
        for (place, mode) in MODES.iter().enumerate() {
            let (name, description) = (mode.name, mode.description);
            writeln!(f, r#"<li><i class="mode-{place}"></i>{name}: {description}</li>"#)?;
        }
        writeln!(f, "</ul>\n<div class=\"charts\">")?;
        for figure in Figure::ALL {
            writeln!(f, "<figure><h3>{}</h3>\n{}", figure.name(), self.chart(figure))?;
            let spread = match figure {
                Figure::Time => {
                    " The line at the end of a bar spans the middle half of the rounds."
                }
                _ => "",
            };
            let definition = figure.definition(self.report);
            writeln!(f, "<figcaption>{definition}{spread}</figcaption></figure>")?;
        }
        writeln!(f, "</div>")
    }

    fn chart(&self, figure: Figure) -> Chart {
        let bar = |measured: &Measured, heap: &Measured| {
            let value = figure.of(measured);
            let [label, ratio] = figure.cells(value, figure.ratio(measured, heap));
            let is_heap = std::ptr::eq(measured, heap);
            let spread = || [1, 3].map(|quarters| quartile(&measured.seconds, quarters));
            Bar {
                value: value.unwrap_or(0.0),
                label: if is_heap { label } else { format!("{label} · {ratio}") },
                spread: (figure == Figure::Time).then(spread),
            }
        };
        let groups = self.report.stages.iter().map(|stage| Group {
            name: stage.stage.name(),
            bars: stage.by_mode.iter().map(|measured| bar(measured, stage.heap())).collect(),
        });
        let groups: Vec<Group> = groups.collect();
        let values = groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value);
        let (unit, unit_name) = figure.unit(values.fold(0.0, f64::max));
        let (scale, scale_name) = match figure {
            Figure::HeapCalls => (Scale::Log, ", logarithmic"),
            _ => (Scale::Linear, ""),
        };
        Chart { axis: format!("{unit_name}{scale_name}"), unit, scale, groups }
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "<h2>Table</h2>\n<div class=\"scroll\"><table>")?;
        write!(f, r#"<thead><tr><th scope="row">stage<th scope="row">memory"#)?;
        for figure in Figure::ALL {
            write!(f, "<th>{}<th>÷ heap", figure.name())?;
        }
        writeln!(f, "</thead>")?;
        for (place, block) in figures::blocks(self.report).enumerate() {
            writeln!(f, "<tbody>")?;
            for (mode, row) in block.rows.iter().enumerate() {
                write!(f, r#"<tr class="mode-{mode}">"#)?;
                if mode == 0 {
                    write!(f, r#"<th scope="row" rowspan="{}">{}"#, block.rows.len(), block.name)?;
                }
                write!(f, r#"<td class="mode">{}"#, row.mode)?;
                for (figure, [value, ratio]) in Figure::ALL.into_iter().zip(&row.cells) {
                    write!(f, r#"<td>{value}<td class="ratio">{ratio}"#)?;
                    if figure == Figure::Time {
                        self.interval(f, place, mode)?;
                    }
                }
                writeln!(f)?;
            }
            writeln!(f, "</tbody>")?;
        }
        writeln!(f, "</table></div>")?;
        writeln!(
            f,
            "<p class=\"soft\">Time ratios are computed for each round. The table shows their median \
             and, in brackets, the middle half. For all stages: sums, and the largest peak.</p>"
        )
    }

    /// The range of the middle half of the time ratios, for a stage and a mode by their indices.
    fn interval(&self, f: &mut fmt::Formatter<'_>, stage: usize, mode: usize) -> fmt::Result {
        match self.report.stages.get(stage) {
            Some(stage) if mode > 0 => {
                let [low, high] = time_ratio(&stage.by_mode[mode], stage.heap()).quartiles;
                write!(f, " <small>({low:.2} – {high:.2})</small>")
            }
            _ => Ok(()),
        }
    }

    fn stages(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "<h2>Stages and results</h2>\n<dl>")?;
        for stage in &self.report.stages {
            let (name, description) = (stage.stage.name(), stage.stage.description());
            let found = figures::findings(stage);
            writeln!(
                f,
                "<dt>{name}<dd>{description} <span class=\"soft\">Result: {found}.</span>"
            )?;
        }
        for stage in &self.report.idle {
            writeln!(f, "<dt>{}<dd>{}", stage.name(), stage.why_idle())?;
        }
        writeln!(f, "</dl>")
    }

    fn about(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "<h2>Input and machine</h2>\n<dl>")?;
        writeln!(f, "<dt>input<dd>{}<br>{}", escape(&self.input.source), self.input.size())?;
        for note in &self.input.notes {
            writeln!(f, "<dt>note<dd>{}", escape(note))?;
        }
        writeln!(f, "<dt>machine<dd>{}", escape(&machine::description()))?;
        writeln!(f, "<dt>build<dd>{}", escape(&machine::toolchain()))?;
        writeln!(f, "<dt>date<dd>{}\n</dl>", machine::date())?;
        writeln!(
            f,
            "<h2>How it was measured</h2>
<p>All input was read before the measurement. One round counted heap calls and bytes; {} more rounds,
without counting, measured time and page faults. Within a round, the kinds of memory take turns at
each stage, and each round starts with a different one. A run of a stage processes its input several
times, more often if it is small. Each run starts without memory, after free pages have been returned
to the system, so initial allocations are part of the figures. All kinds of memory use the same
parser, lexer and hash function. The program's global allocator is the one with transparent scopes;
outside of scopes it passes every request to the system.</p>",
            self.report.rounds
        )
    }
}

/// Escapes `text` for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(escape("<b> & </b>"), "&lt;b&gt; &amp; &lt;/b&gt;");
    }
}
