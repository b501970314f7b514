//! The tables and the plot of programs on littered heaps.

use super::{Line, Record, linear, number};
use ebbtide_benches::plot::{Plot, Series};

const CONTESTANTS: [&str; 4] = ["ebbtide", "glibc", "mimalloc", "jemalloc"];

/// The percentage of kept blocks in the name of a row, and the program.
fn parts(row: &str) -> Option<(&str, u32)> {
    let (program, kept) = row.strip_suffix(" % kept")?.rsplit_once(", ")?;
    Some((program.trim_start_matches("transparent: "), kept.parse().ok()?))
}

/// The percentages of a record.
fn percentages(record: &Record) -> Vec<u32> {
    let mut found: Vec<u32> =
        record.lines.iter().filter_map(|line| Some(parts(&line["row"])?.1)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// What the names of the other programs than the transparent allocator's in Rust begin with.
const OTHERS: [&str; 3] = ["explicit: ", "C++: ", UNSEEN];
const UNSEEN: &str = "unseen: ";

/// A figure of a contestant in each program of a group, with this share kept.
fn figures(record: &Record, group: &str, kept: u32, contestant: &str, column: &str) -> Vec<f64> {
    let is_row = |line: &&Line| {
        parts(&line["row"]).is_some_and(|(name, percent)| percent == kept && is_in(name, group))
    };
    let lines = record.lines.iter().filter(is_row);
    lines.filter(|line| line["contestant"] == contestant).map(|line| number(line, column)).collect()
}

#[allow(clippy::cast_precision_loss)]
fn mean(figures: &[f64]) -> f64 {
    (figures.iter().map(|figure| figure.ln()).sum::<f64>() / figures.len() as f64).exp()
}

/// Means and lowest ratios, one row per share: first of the seventeen programs, then of the unseen ones.
pub(super) fn table(record: &Record) -> String {
    let mut text = String::from(
        "| blocks kept | glibc | mimalloc | its lowest row | jemalloc | ebbtide, littered ÷ fresh \
         | aged by escapes ÷ fresh | mimalloc ÷ one scope around all |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let shares = |group| percentages(record).into_iter().map(move |kept| (group, kept));
    for (group, kept) in shares("").chain(shares(UNSEEN)) {
        let of = |contestant, column| figures(record, group, kept, contestant, column);
        if of("ebbtide", "ratio").is_empty() {
            continue;
        }
        let name = if kept == 0 { "none (a fresh heap)".to_owned() } else { format!("{kept} %") };
        let mimalloc = of("mimalloc", "ratio");
        let lowest = mimalloc.iter().copied().fold(f64::INFINITY, f64::min);
        let ratios = [mean(&of("glibc", "ratio")), mean(&mimalloc), lowest];
        let ratios = ratios.into_iter().chain([mean(&of("jemalloc", "ratio"))]);
        let own = ["ebbtide", "ebbtide, aged by its scopes", "ebbtide, one scope around it"];
        let own = own.map(|own| mean(&of(own, "value")));
        text += &format!("| {group}{name} |");
        for figure in ratios.chain(own) {
            text += &if figure.is_nan() { " – |".to_owned() } else { format!(" {figure:.2} |") };
        }
        text.push('\n');
    }
    text
}

/// A contestant's mean ratio in all programs of the transparent allocator in Rust, with its interval.
/// The intervals of the programs are of independent measurements.
pub(super) fn overall(record: &Record, kept: u32, contestant: &str) -> Option<String> {
    let of = |column| {
        let groups = ["", UNSEEN].map(|group| figures(record, group, kept, contestant, column));
        groups.concat()
    };
    let (ratios, low, high) = (of("ratio"), of("ratio_low"), of("ratio_high"));
    let squares = low.iter().zip(&high).map(|(low, high)| ((high / low).ln() / 2.0).powi(2));
    #[allow(clippy::cast_precision_loss)]
    let half = (squares.sum::<f64>().sqrt() / ratios.len() as f64).exp();
    let mean = mean(&ratios);
    (!ratios.is_empty()).then(|| format!("{mean:.2} [{:.2}, {:.2}]", mean / half, mean * half))
}

/// Whether a program is in the group of those whose names begin with this text, or of the rest.
fn is_in(name: &str, group: &str) -> bool {
    if group.is_empty() {
        !OTHERS.iter().any(|group| name.starts_with(group))
    } else {
        name.starts_with(group)
    }
}

/// The ratios of glibc and mimalloc, by share, in each program of a group. The last row has the means.
pub(super) fn programs(record: &Record, group: &str) -> String {
    let percentages = percentages(record);
    let heads: Vec<_> = percentages.iter().map(|kept| format!("{kept} %")).collect();
    let heads = heads.join(" | ");
    let mut text = format!("| program | glibc: {heads} | mimalloc: {heads} |\n|---|");
    text += &"---:|".repeat(2 * percentages.len());
    text.push('\n');
    let mut names: Vec<&str> =
        record.lines.iter().filter_map(|line| Some(parts(&line["row"])?.0)).collect();
    names.dedup();
    names.retain(|name| is_in(name, group));
    let figure = |name: &str, contestant: &str, kept: u32| {
        let mut lines = record.lines.iter();
        let line = lines.find(|line| {
            parts(&line["row"]) == Some((name, kept)) && line["contestant"] == contestant
        });
        line.map_or(f64::NAN, |line| number(line, "value"))
    };
    let mut row = |name: &str, of: &dyn Fn(&str, u32) -> f64| {
        let figures = ["glibc", "mimalloc"].map(|contestant| {
            let figures = percentages.iter().map(|&kept| format!("{:.2}", of(contestant, kept)));
            figures.collect::<Vec<_>>().join(" | ")
        });
        text += &format!("| {name} | {} |\n", figures.join(" | "));
    };
    for name in &names {
        row(name.trim_start_matches(group), &|contestant, kept| figure(name, contestant, kept));
    }
    if !names.is_empty() {
        row("geometric mean", &|contestant, kept| {
            mean(&names.iter().map(|name| figure(name, contestant, kept)).collect::<Vec<_>>())
        });
    }
    text
}

/// The time of a scope by the share kept, relative to ebbtide's on a fresh heap.
pub(super) fn plot(record: &Record) -> (&'static str, Plot) {
    let percentages = percentages(record);
    let series = CONTESTANTS.map(|name| Series {
        name: name.to_owned(),
        points: percentages
            .iter()
            .map(|&kept| {
                let own = figures(record, "", kept, "ebbtide", "value");
                let own = if kept == 0 { 1.0 } else { mean(&own) };
                (f64::from(kept), mean(&figures(record, "", kept, name, "ratio")) * own)
            })
            .collect(),
    });
    let plot = Plot {
        title: "Programs unaware of arenas, on littered heaps".to_owned(),
        x: linear("% of the litter kept"),
        y: linear("time of a scope, ebbtide on a fresh heap = 1"),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
        categories: Vec::new(),
    };
    ("aged", plot)
}
