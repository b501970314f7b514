//! The tables and the plot of the transparent allocator.

use super::{Line, Record, linear, number, rows, time};
use ebbtide_benches::plot::{Plot, Series};

/// The allocators, and ours with scopes.
const NAMES: [&str; 5] = ["ebbtide", "ebbtide over mimalloc", "glibc", "mimalloc", "jemalloc"];
const OUTSIDE: [&str; 2] = ["ebbtide, outside", "ebbtide over mimalloc, outside"];

const PROGRAMS: [(&str, &str); 7] = [
    ("transparent: serde_json: a document into a Value", "JSON"),
    ("transparent: sqlparser: eight queries", "SQL"),
    ("transparent: regex: four patterns compiled", "regex"),
    ("transparent: minijinja: a page from an axum handler", "page"),
    ("transparent: group-by: strings, sorted", "group-by"),
    ("transparent: syn: a source file", "syn"),
    ("transparent: BTreeMap: strings", "BTreeMap"),
];

fn find<'l>(lines: &[&'l Line], name: &str) -> Option<&'l Line> {
    lines.iter().find(|line| line["contestant"] == name).copied()
}

/// The rows of workloads. Summaries have no contestant.
fn workloads(record: &Record) -> impl Iterator<Item = (&str, Vec<&Line>)> {
    let lines = record.lines.iter().filter(|line| !line["contestant"].is_empty());
    rows(lines).into_iter().map(|(row, lines)| (row.trim_start_matches("transparent: "), lines))
}

/// One row per workload: the time of a scope and its ratio to ours; outside, the ratio to the inner
/// allocator.
pub(super) fn times(record: &Record) -> String {
    let mut text = format!("| row | {} |", NAMES.join(" | "));
    text += " outside, ÷ glibc | outside, ÷ mimalloc |\n|---|---|---|---|---|---|---|---|\n";
    for (row, lines) in workloads(record) {
        text += &format!("| {row} |");
        for name in NAMES {
            text += &find(&lines, name).map_or(" |".to_owned(), |line| {
                let (ns, ratio) = (number(line, "median_ns"), number(line, "ratio"));
                format!(" {}, {ratio:.2} |", time(ns))
            });
        }
        for name in OUTSIDE {
            text += &find(&lines, name)
                .map_or(" |".to_owned(), |line| format!(" {:.3} |", number(line, "value")));
        }
        text.push('\n');
    }
    text
}

/// One row per program: our time, the ratios of the other allocators to it, and our peak memory ÷
/// glibc's.
pub(super) fn programs(record: &Record) -> String {
    let others = ["glibc", "mimalloc", "jemalloc"];
    let mut text = format!("| program | ebbtide | {} | memory ÷ glibc's |\n", others.join(" | "));
    text += "|---|---:|---:|---:|---:|---:|\n";
    for (row, lines) in workloads(record) {
        let is_control = row.starts_with("control: ") || row.starts_with('W');
        let (Some(ours), false) = (find(&lines, "ebbtide"), is_control) else { continue };
        text += &format!("| {row} | {} |", time(number(ours, "median_ns")));
        let of = |name: &str, column| find(&lines, name).map_or(f64::NAN, |l| number(l, column));
        for name in others {
            text += &format!(" {:.2} |", of(name, "ratio"));
        }
        text += &format!(" {:.2} |\n", number(ours, "peak_kib") / of("glibc", "peak_kib"));
    }
    text
}

/// One row per workload and one column per contestant, with one figure of the record.
pub(super) fn figures(record: &Record, column: &str, show: fn(f64) -> String) -> String {
    let columns = "---|".repeat(NAMES.len());
    let mut text = format!("| row | {} |\n|---|{columns}\n", NAMES.join(" | "));
    for (row, lines) in workloads(record) {
        text += &format!("| {row} |");
        for name in NAMES {
            let figure = find(&lines, name).map_or(f64::NAN, |line| number(line, column));
            let shown = if figure.is_nan() { "–".to_owned() } else { show(figure) };
            text += &format!(" {shown} |");
        }
        text.push('\n');
    }
    text
}

/// With one decimal.
pub(super) fn tenths(figure: f64) -> String {
    format!("{figure:.1}")
}

/// KiB, in MiB.
pub(super) fn mib(kib: f64) -> String {
    tenths(kib / 1024.0)
}

pub(super) fn thousands(count: f64) -> String {
    match count {
        1e6.. => format!("{:.1}M", count / 1e6),
        1e4.. => format!("{:.0}k", count / 1e3),
        _ => format!("{count:.0}"),
    }
}

/// The time of a scope in each program, relative to glibc's.
pub(super) fn plot(record: &Record) -> (&'static str, Plot) {
    let ratio = |row: &str, name: &str| {
        let line = record.starting(row).find(|l| l["row"] == row && l["contestant"] == name);
        line.map(|line| number(line, "ratio"))
    };
    let series = NAMES.map(|name| Series {
        name: name.to_owned(),
        points: (0_u32..)
            .zip(PROGRAMS)
            .filter_map(|(place, (row, _))| {
                Some((f64::from(place), ratio(row, name)? / ratio(row, "glibc")?))
            })
            .collect(),
    });
    let plot = Plot {
        title: "Programs unaware of arenas".to_owned(),
        x: linear("program"),
        y: linear("time of a scope, glibc = 1"),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
        categories: PROGRAMS.map(|(_, label)| label.to_owned()).into(),
    };
    ("transparent", plot)
}
