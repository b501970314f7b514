//! The HTML page: charts and the report, in one self-contained file.

use std::env;
use std::fmt::{self, Write};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::input::Input;
use crate::measure::{Report, StageReport};
use crate::modes::MODES;
use crate::report::{self, Figure};
use crate::stages::Stage;

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
    fs::write(path, page(input, report).map_err(io::Error::other)?)
}

fn page(input: &Input, report: &Report) -> Result<String, fmt::Error> {
    let mut page = format!(
        r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ebbtide: the tour</title>
<style>
{}</style>
<h1>ebbtide: the tour</h1>
<p>The same jobs on the same input, once with each kind of memory. The results are equal; this page
shows what differs. <strong>Lower is better</strong>.</p>
<ul>
"#,
        include_str!("style.css")
    );
    for (place, mode) in MODES.iter().enumerate() {
        let (name, description) = (mode.name, mode.description);
        writeln!(page, r#"<li><b class="mode-{place}">{name}</b>: {description}</li>"#)?;
    }
    writeln!(page, "</ul>")?;
    for figure in Figure::ALL {
        writeln!(page, "<figure><h2>{}</h2>", figure.name())?;
        report.stages.iter().try_for_each(|stage| bars(&mut page, figure, stage))?;
        writeln!(page, "<figcaption>{}</figcaption></figure>", figure.definition())?;
    }
    writeln!(page, "<h2>Stages</h2>\n<dl>")?;
    for stage in Stage::ALL {
        writeln!(page, "<dt>{}<dd>{}", stage.name(), stage.description())?;
    }
    let text = escape(&format!("{}\n{report}", report::input(input)));
    writeln!(
        page,
        "</dl>
<h2>Report</h2>
<pre>{text}</pre>
<h2>How it was measured</h2>
<p>All input was read before the measurement. One round counted heap calls and bytes; {} more rounds,
without counting, measured time and page faults. Within a round, the kinds of memory take turns at
each stage, and each round starts with a different one. A run of a stage processes its input several
times, more often if it is small. Each run starts without memory, after free pages have been returned
to the system, so initial allocations are part of the figures. All kinds of memory use the same
parser and hash function. The program's global allocator is the one with transparent scopes; outside
of scopes it passes every request to the system.</p>",
        report.rounds
    )?;
    Ok(page)
}

/// A bar for each kind of memory. The longest is as long as the chart is wide.
fn bars(page: &mut String, figure: Figure, stage: &StageReport) -> fmt::Result {
    let value = |measured| figure.of(measured).unwrap_or(0.0);
    let longest = stage.by_mode.iter().map(value).fold(f64::MIN_POSITIVE, f64::max);
    writeln!(page, "<h3>{}</h3>", stage.stage.name())?;
    for (mode, measured) in stage.by_mode.iter().enumerate() {
        let share = value(measured) / longest * 100.0;
        let [figure, ratio] = figure.cells(measured, stage.heap());
        writeln!(
            page,
            r#"<div><i class="mode-{mode}" style="width:{share:.1}%"></i>{figure} · {ratio}</div>"#
        )?;
    }
    Ok(())
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
