//! The page: pictures and a table of what was measured, in one file that needs no other.

mod chart;

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chart::{Bar, Chart, Group, Scale};

use crate::figures::Figure;
use crate::input::{Input, Kind};
use crate::measure::{Measured, Report, geometric_mean, quartile, time_ratio};
use crate::modes::MODES;
use crate::{machine, units};

/// `tour/index.html` in the folder that Cargo built the tour in; `target` here, if it was put elsewhere since.
pub(crate) fn default_path() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let is_target = |folder: &&Path| {
        folder.join("CACHEDIR.TAG").exists() || folder.join(".rustc_info.json").exists()
    };
    let target = program.ancestors().skip(1).find(is_target).unwrap_or(Path::new("target"));
    target.join("tour").join("index.html")
}

/// Writes the page to `path`, and the folders on the way to it.
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
<p>The same jobs on the same input, once for each kind of memory. All came to the same results; what differs is below.
In every picture and every column <strong>lower is better</strong>.</p>"#,
            include_str!("page/style.css")
        )?;
        for mode in 1..MODES.len() {
            self.tiles(f, mode)?;
        }
        self.charts(f)?;
        self.table(f)?;
        self.stages(f)?;
        self.about(f)
    }
}

impl Page<'_> {
    fn tiles(&self, f: &mut fmt::Formatter<'_>, place: usize) -> fmt::Result {
        let mode = &MODES[place];
        let times = self
            .report
            .stages
            .iter()
            .map(|stage| time_ratio(&stage.by_mode[place], stage.heap()).median);
        writeln!(
            f,
            "<h2>{}, against the {}</h2>\n<div class=\"tiles\">",
            mode.name, MODES[0].name
        )?;
        for figure in Figure::ALL {
            let (value, what) = match figure {
                Figure::Time => (
                    units::ratio(geometric_mean(times.clone())),
                    "the time, geometric mean of the stages".to_owned(),
                ),
                _ => {
                    let [ours, heap] = [place, 0].map(|mode| figure.of_all(self.report, mode));
                    let [ours_shown, ratio] =
                        figure.cells(ours, ours.zip(heap).map(|(ours, heap)| ours / heap));
                    let [heap_shown, _] = figure.cells(heap, None);
                    (ratio, format!("{}: {ours_shown} for {heap_shown}", figure.name()))
                }
            };
            writeln!(
                f,
                r#"<div class="tile mode-{place}"><b>{value}</b><span>{what}</span></div>"#
            )?;
        }
        writeln!(f, "</div>")
    }

    fn charts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "<h2>Pictures</h2>\n<ul class=\"legend\">")?;
        for (place, mode) in MODES.iter().enumerate() {
            writeln!(
                f,
                r#"<li><i class="mode-{place}"></i>{}: {}</li>"#,
                mode.name, mode.description
            )?;
        }
        writeln!(f, "</ul>\n<div class=\"charts\">")?;
        for figure in Figure::ALL {
            let name = figure.name();
            writeln!(f, "<figure><h3>{}{}</h3>", name[..1].to_uppercase(), &name[1..])?;
            writeln!(
                f,
                "{}\n<figcaption>{}</figcaption></figure>",
                self.chart(figure),
                self.caption(figure)
            )?;
        }
        writeln!(f, "</div>")
    }

    fn chart(&self, figure: Figure) -> Chart {
        let bar = |measured: &Measured, heap: &Measured| {
            let value = figure.of(measured);
            let [label, ratio] = figure.cells(value, figure.ratio(measured, heap));
            let label =
                if std::ptr::eq(measured, heap) { label } else { format!("{label} · {ratio}") };
            let spread = (figure == Figure::Time)
                .then(|| [1, 3].map(|quarters| quartile(&measured.seconds, quarters)));
            Bar { value: value.unwrap_or(0.0), label, spread }
        };
        let groups: Vec<Group> = self
            .report
            .stages
            .iter()
            .map(|stage| Group {
                name: stage.stage.name(),
                bars: stage.by_mode.iter().map(|measured| bar(measured, stage.heap())).collect(),
            })
            .collect();
        let most =
            groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value).fold(0.0, f64::max);
        let (unit, unit_name) = figure.unit(most);
        let (scale, scale_name) = match figure {
            Figure::HeapCalls => (Scale::Log, ", logarithmic"),
            _ => (Scale::Linear, ""),
        };
        Chart { axis: format!("{unit_name} a run of the stage{scale_name}"), unit, scale, groups }
    }

    fn caption(&self, figure: Figure) -> String {
        match figure {
            Figure::Time => format!(
                "Median of {} rounds; the line over a bar's end spans the middle half of them.",
                self.report.rounds
            ),
            Figure::HeapCalls => {
                "Calls to allocate, to resize and to free, in a round of their own.".to_owned()
            }
            Figure::PageFaults => {
                format!("Minor and major, median of {} rounds.", self.report.rounds)
            }
            Figure::PeakMemory => {
                "The most bytes that the stage holds of the heap at once.".to_owned()
            }
        }
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "<h2>Table</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"row\">stage<th scope=\"row\">memory"
        )?;
        for figure in Figure::ALL {
            let spread = if figure == Figure::Time { "<th>middle half" } else { "" };
            writeln!(f, "<th>{}<th>÷ heap{spread}", figure.name())?;
        }
        writeln!(f, "</thead>")?;
        for stage in &self.report.stages {
            writeln!(f, "<tbody>")?;
            for (place, (mode, measured)) in MODES.iter().zip(&stage.by_mode).enumerate() {
                write!(f, r#"<tr class="mode-{place}">"#)?;
                if place == 0 {
                    write!(
                        f,
                        r#"<th scope="row" rowspan="{}">{}"#,
                        MODES.len(),
                        stage.stage.name()
                    )?;
                }
                write!(f, r#"<td class="mode">{}"#, mode.name)?;
                for figure in Figure::ALL {
                    let [value, ratio] =
                        figure.cells(figure.of(measured), figure.ratio(measured, stage.heap()));
                    write!(f, r#"<td>{value}<td class="ratio">{ratio}"#)?;
                    if figure == Figure::Time {
                        let [low, high] =
                            time_ratio(measured, stage.heap()).quartiles.map(units::ratio);
                        write!(f, r#"<td class="soft">{low} – {high}"#)?;
                    }
                }
                writeln!(f)?;
            }
            writeln!(f, "</tbody>")?;
        }
        writeln!(f, "</table></div>")
    }

    fn stages(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "<h2>What the stages do, and what they found</h2>\n<dl>")?;
        for stage in &self.report.stages {
            let found = stage
                .outcome
                .figures
                .map(|(name, figure)| format!("{name} {}", units::count(figure as f64)));
            let passes = if stage.passes > 1 {
                format!(" ({} times over)", stage.passes)
            } else {
                String::new()
            };
            writeln!(
                f,
                "<dt>{}<dd>{} <span class=\"soft\">Found: {}{passes}.</span>",
                stage.stage.name(),
                stage.stage.description(),
                found.join(", ")
            )?;
        }
        for stage in &self.report.idle {
            writeln!(f, "<dt>{}<dd>No input: there is no JSON among the files.", stage.name())?;
        }
        writeln!(f, "</dl>")
    }

    fn about(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = self.input;
        writeln!(f, "<h2>Input and machine</h2>\n<dl>")?;
        writeln!(f, "<dt>input<dd>{}", escape(&input.source))?;
        writeln!(
            f,
            "<dt>size<dd>{} files, {}: {} Rust, {} JSON, {} other text",
            units::count(input.files.len() as f64),
            units::bytes(input.bytes() as f64),
            input.count(Kind::Rust),
            input.count(Kind::Json),
            input.count(Kind::Text),
        )?;
        input.notes.iter().try_for_each(|note| writeln!(f, "<dt>note<dd>{}", escape(note)))?;
        writeln!(f, "<dt>machine<dd>{}", escape(&machine::description()))?;
        writeln!(f, "<dt>build<dd>{}", escape(&machine::toolchain()))?;
        writeln!(f, "<dt>date<dd>{}", machine::date())?;
        writeln!(
            f,
            "</dl>\n<h2>How it was measured</h2>\n<p>All input was in memory before any clock started. One round counted calls \
             to the heap and bytes; {} more, with counting off, took time and page faults. In a round the kinds of \
             memory take turns at each stage, and each round begins with another one. Each run of a stage starts with \
             no memory of its own: what an arena takes to begin with is part of its figures. Ratios of time are taken \
             round by round, and their median is shown. A stage that would be over too soon goes over its input several \
             times. Both kinds use the same hash function, parser and lexer.</p>",
            self.report.rounds
        )
    }
}

/// `text` as HTML that shows it.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_cannot_become_markup() {
        assert_eq!(escape("<b> & </b>"), "&lt;b&gt; &amp; &lt;/b&gt;");
    }
}
