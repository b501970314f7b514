//! Draws the plots of the records in dev/records, and writes their tables into docs/BENCHMARKS.md,
//! COLLECTIONS.md and two READMEs, between `<!-- table NAME -->` and `<!-- end -->`. All tables together are too long
//! to read; they go to target/bench/tables.md.

use ebbtide_benches::{
    contestants,
    peers::Peer,
    plot::{Axis, Plot, Scale, Series},
};
use std::{collections::BTreeMap, fs, io, path::Path, process::ExitCode};

#[path = "page/aged.rs"]
mod aged;
#[path = "page/costs.rs"]
mod costs;
#[path = "page/standard.rs"]
mod standard;
#[path = "page/toolchain.rs"]
mod toolchain;
#[path = "page/unaware.rs"]
mod unaware;

/// One line of a record, by column name.
type Line = BTreeMap<String, String>;

/// A record: its header and its lines.
#[derive(Default)]
struct Record {
    head: Vec<String>,
    lines: Vec<Line>,
}

impl Record {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let head =
            text.lines().filter_map(|line| line.strip_prefix("# ")).map(String::from).collect();
        let mut rest = text.lines().filter(|line| !line.starts_with('#'));
        let columns = cells(rest.next().unwrap_or_default());
        let lines = rest.map(|line| columns.iter().cloned().zip(cells(line)).collect()).collect();
        Record { head, lines }
    }

    fn starting<'r>(&'r self, prefix: &'r str) -> impl Iterator<Item = &'r Line> {
        self.lines.iter().filter(move |line| line["row"].starts_with(prefix))
    }
}

/// The cells of a line; quoted cells may contain commas.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("never empty").push(c),
        }
    }
    cells
}

fn number(line: &Line, column: &str) -> f64 {
    line.get(column).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

fn main() -> ExitCode {
    match write(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write(root: &Path) -> io::Result<()> {
    let record = |name: &str| Record::read(&root.join("dev/records").join(name));
    let suite = record("suite.csv");
    let (scaling, counts) = (record("scaling.csv"), record("counts.csv"));
    let (collections, harnesses) = (record("collections.csv"), record("harnesses.csv"));
    let in_a_scope = record("standard.csv");
    let core = [&suite, &collections, &harnesses, &in_a_scope];
    let unaware = record("transparent.csv");
    let aged = record("litter.csv");
    let oxc = record("oxc.csv");
    let compile = record("compile.csv");

    let plots = root.join("docs/plots");
    fs::create_dir_all(&plots)?;
    for (name, plot) in
        plots_of(&suite).into_iter().chain([unaware::plot(&unaware), aged::plot(&aged)])
    {
        if !plot.series.is_empty() {
            fs::write(plots.join(name).with_extension("svg"), plot.svg())?;
        }
    }
    let all = root.join("target/bench/tables.md");
    fs::create_dir_all(root.join("target/bench"))?;
    fs::write(&all, include_str!("page/tables.md"))?;
    let development = record("development.csv");
    for path in [
        root.join("crates/ebbtide/README.md"),
        root.join("README.md"),
        root.join("docs/BENCHMARKS.md"),
        root.join("docs/COLLECTIONS.md"),
        all,
    ] {
        let mut text = fs::read_to_string(&path)?;
        text = filled(&text, "machine", &machine(&suite));
        text = filled(&text, "groups", &groups(&core));
        text = filled(&text, "peers", &peers(&core));
        text = filled(&text, "targets", &targets(&core));
        text = filled(&text, "transparent-machine", &machine(&unaware));
        text = filled(&text, "transparent-groups", &groups(&[&unaware]));
        text = filled(&text, "transparent-times", &unaware::times(&unaware));
        text = filled(&text, "transparent-programs", &unaware::programs(&unaware));
        for (name, column, show) in [
            ("transparent-faults", "faults", unaware::tenths as fn(f64) -> String),
            ("transparent-memory", "peak_kib", unaware::mib),
            ("transparent-instructions", "instructions", unaware::thousands),
        ] {
            text = filled(&text, name, &unaware::figures(&unaware, column, show));
        }
        text = filled(&text, "transparent-targets", &targets(&[&unaware]));
        text = filled(&text, "aged-machine", &machine(&aged));
        text = filled(&text, "aged", &aged::table(&aged));
        text = filled(&text, "aged-programs", &aged::programs(&aged, ""));
        text = filled(&text, "aged-unseen", &aged::programs(&aged, "unseen: "));
        text = filled(&text, "aged-explicit", &aged::programs(&aged, "explicit: "));
        text = filled(&text, "aged-cpp", &aged::programs(&aged, "C++: "));
        text = filled(&text, "counts", &counted(&counts));
        text = filled(&text, "memory", &memory(&scaling));
        text = filled(&text, "scaling", &times(&scaling, "scaling: "));
        text = filled(&text, "costs-machine", &costs::machine("One run", &suite));
        text = filled(&text, "costs", &costs::table(&suite));
        text = filled(&text, "standard-machine", &costs::machine("One run", &in_a_scope));
        text = filled(&text, "standard", &standard::table(&in_a_scope));
        text = filled(&text, "development", &standard::development(&development));
        text = filled(&text, "toolchain-machine", &costs::machine("One run", &oxc));
        text = filled(&text, "toolchain", &toolchain::table(&oxc));
        text = filled(&text, "compile-machine", &costs::machine("One run", &compile));
        text = filled(&text, "compile", &toolchain::compile(&compile));
        text = filled(&text, "readme", &costs::short(&suite, &unaware, &aged, &oxc));
        fs::write(&path, text)?;
    }
    Ok(())
}

/// Replaces a table of the page.
fn filled(page: &str, name: &str, with: &str) -> String {
    let open = format!("<!-- table {name} -->\n");
    let Some((before, rest)) = page.split_once(&open) else { return page.to_owned() };
    let Some((_, after)) = rest.split_once("<!-- end -->") else { return page.to_owned() };
    format!("{before}{open}{with}<!-- end -->{after}")
}

/// The lines of a record, grouped by row.
fn rows<'r>(lines: impl Iterator<Item = &'r Line>) -> Vec<(&'r str, Vec<&'r Line>)> {
    let mut rows: Vec<(&str, Vec<&Line>)> = Vec::new();
    for line in lines {
        match rows.last_mut() {
            Some((row, lines)) if *row == line["row"] => lines.push(line),
            _ => rows.push((&line["row"], vec![line])),
        }
    }
    rows
}

fn targets(records: &[&Record]) -> String {
    let mut text =
        String::from("| row | ours | target | against | is | |\n|---|---|---|---|---|---|\n");
    let lines = records.iter().flat_map(|record| &record.lines);
    for (row, lines) in rows(lines) {
        let ours = lines.first().map_or(f64::NAN, |line| number(line, "median_ns"));
        for line in lines.iter().filter(|line| !line["held"].is_empty()) {
            let ours = if ours.is_nan() { String::new() } else { time(ours) };
            let (target, value) = (&line["bar"], number(line, "value"));
            let held = if line["held"] == "yes" { "met" } else { "**missed**" };
            text += &format!(
                "| {row} | {ours} | {target} | {} | {value:.2} | {held} |\n",
                line["contestant"]
            );
        }
    }
    text
}

fn machine(record: &Record) -> String {
    let rounds = record.lines.iter().map(|line| number(line, "rounds")).fold(0.0, f64::max);
    let head: String = record.head.iter().map(|line| format!("- {line}\n")).collect();
    format!("{head}- rounds: up to {rounds} per row\n")
}

/// The groups that have targets. A group is the part of a row's name before a colon.
fn grouped<'r>(records: &[&'r Record]) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (row, lines) in rows(records.iter().flat_map(|record| &record.lines)) {
        let name = row.split(':').next().unwrap_or_default();
        if groups.iter().all(|group| group.name != name) {
            groups.push(Group { name, ..Group::default() });
        }
        let Some(group) = groups.iter_mut().find(|group| group.name == name) else { continue };
        group.targets += lines.iter().filter(|line| !line["held"].is_empty()).count();
        group.held += lines.iter().filter(|line| line["held"] == "yes").count();
        // Collections are compared with the standard library's, too.
        let others: &[&str] = if name == "collections" { &COLLECTIONS } else { &[] };
        let is_compared = |line: &&&Line| {
            let contestant = line["contestant"].as_str();
            is_peer(contestant) || others.contains(&contestant)
        };
        let best = lines.iter().filter(is_compared).map(|line| number(line, "ratio"));
        group.ratios.extend(best.min_by(f64::total_cmp));
    }
    groups.retain(|group| group.targets > 0);
    groups
}

/// One row per group: the number of targets, and how many are held.
fn groups(records: &[&Record]) -> String {
    let groups = grouped(records);
    let mut text = String::from("| group | targets | met |\n|---|---:|---:|\n");
    for Group { name, targets, held, .. } in &groups {
        text += &format!("| {name} | {targets} | {held} |\n");
    }
    let sum = |of: fn(&Group<'_>) -> usize| groups.iter().map(of).sum::<usize>();
    text + &format!("| all | {} | {} |\n", sum(|group| group.targets), sum(|group| group.held))
}

/// One row per group: the ratio of the best peer over the rows, as geometric mean and lowest.
fn peers(records: &[&Record]) -> String {
    let mut text = String::from("| group | rows | mean | lowest |\n|---|---:|---:|---:|\n");
    for Group { name, ratios, .. } in
        grouped(records).iter().filter(|group| !group.ratios.is_empty())
    {
        #[allow(clippy::cast_precision_loss)]
        let mean = (ratios.iter().copied().map(f64::ln).sum::<f64>() / ratios.len() as f64).exp();
        let lowest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        text += &format!("| {name} | {} | {mean:.2} | {lowest:.2} |\n", ratios.len());
    }
    text
}

#[derive(Default)]
struct Group<'r> {
    name: &'r str,
    targets: usize,
    held: usize,
    ratios: Vec<f64>,
}

/// Whether a contestant is a peer; the others are ours, the heap and the limit.
fn is_peer(name: &str) -> bool {
    name == "typed-arena" || contestants!([+] |P| P::NAME).contains(&name)
}

/// Further contestants of the group of collections.
const COLLECTIONS: [&str; 2] = ["std", "bump-scope, exclusive"];

/// One column per contestant: the time and the ratio to ours.
fn times(record: &Record, prefix: &str) -> String {
    let mut text = String::new();
    let mut heads: Vec<&str> = Vec::new();
    for (row, lines) in rows(record.starting(prefix)) {
        let names: Vec<&str> =
            lines.iter().map(|line| line["contestant"].trim_end_matches(", root")).collect();
        if !heads.starts_with(&names) {
            text += &format!("\n| row | {} | fastest |\n", names.join(" | "));
            text += &format!("|---|{}---|\n", "---|".repeat(names.len()));
            heads = names;
        }
        let fastest =
            lines.iter().min_by(|a, b| number(a, "median_ns").total_cmp(&number(b, "median_ns")));
        text += &format!("| {} |", row.trim_start_matches(prefix));
        for head in &heads {
            let line =
                lines.iter().find(|line| line["contestant"].trim_end_matches(", root") == *head);
            text += &line.map_or(" |".to_owned(), |line| {
                let ns = time(number(line, "median_ns"));
                format!(" {ns}, {:.2} |", number(line, "ratio"))
            });
        }
        text += &format!(" {} |\n", fastest.map_or("", |line| &line["contestant"]));
    }
    text
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e6 => format!("{:.1} ms", ns / 1e6),
        ns if ns >= 1e4 => format!("{:.1} µs", ns / 1e3),
        ns if ns >= 100.0 => format!("{ns:.0} ns"),
        ns => format!("{ns:.2} ns"),
    }
}

fn counted(record: &Record) -> String {
    let mut text = String::from("| what | who | instructions | branches |\n|---|---|---|---|\n");
    for line in &record.lines {
        let (instructions, branches) = (number(line, "instructions"), number(line, "branches"));
        text += &format!(
            "| {} | {} | {instructions:.2} | {branches:.2} |\n",
            line["row"], line["contestant"]
        );
    }
    text
}

fn memory(record: &Record) -> String {
    let mut text = String::new();
    let mut head = false;
    for (row, lines) in rows(record.starting("memory, scaling: ")) {
        if !head {
            let names: Vec<&str> = lines.iter().map(|line| &*line["contestant"]).collect();
            text += &format!(
                "| allocations | {} |\n|---|{}\n",
                names.join(" | "),
                "---|".repeat(names.len())
            );
            head = true;
        }
        text += &format!("| {} |", row.trim_start_matches("memory, scaling: "));
        text += &lines
            .iter()
            .map(|line| format!(" {:.2} |", number(line, "median_ns")))
            .collect::<String>();
        text += "\n";
    }
    text
}

/// One curve per contestant, over the rows with this prefix and suffix; the number between them is
/// the position.
fn curves(record: &Record, prefix: &str, suffix: &str, names: &[&str]) -> Vec<Series> {
    let series = names.iter().map(|name| Series {
        name: (*name).to_owned(),
        points: record
            .starting(prefix)
            .filter(|line| line["contestant"] == *name)
            .filter_map(|line| {
                let x = line["row"].strip_prefix(prefix)?.strip_suffix(suffix)?;
                Some((x.parse().ok()?, number(line, "median_ns")))
            })
            .collect(),
    });
    series.filter(|series| !series.points.is_empty()).collect()
}

/// One curve per contestant over named rows.
#[allow(clippy::cast_precision_loss)]
fn over(record: &Record, rows: &[(&str, &str)], names: &[&str]) -> (Vec<Series>, Vec<String>) {
    let series = names.iter().map(|name| Series {
        name: (*name).to_owned(),
        points: rows
            .iter()
            .enumerate()
            .filter_map(|(index, (row, _))| {
                // A contestant with variants is named like "ebbtide, default".
                let plays = |who: &str| {
                    who.strip_prefix(*name)
                        .is_some_and(|way| way.is_empty() || way.starts_with(", "))
                };
                let line = record
                    .lines
                    .iter()
                    .find(|line| line["row"] == *row && plays(&line["contestant"]))?;
                Some((index as f64, number(line, "median_ns")))
            })
            .collect(),
    });
    let labels = rows.iter().map(|(_, label)| (*label).to_owned()).collect();
    (series.filter(|series| !series.points.is_empty()).collect(), labels)
}

const fn linear(title: &'static str) -> Axis {
    Axis { title, scale: Scale::Linear }
}

const fn logarithmic(title: &'static str) -> Axis {
    Axis { title, scale: Scale::Logarithmic }
}

fn plots_of(suite: &Record) -> Vec<(&'static str, Plot)> {
    let mut shown = contestants!([Ebbtide +] |P| P::NAME);
    shown.extend(["std", "limit"]);
    let named = |title: &str, y, x, rows: &[(&str, &str)]| {
        let (series, categories) = over(suite, rows, &shown);
        Plot { title: title.to_owned(), x: linear(x), y: linear(y), series, categories }
    };
    let curve = |title: &str, [prefix, suffix]: [&str; 2], x, y, names: &[&str]| Plot {
        title: title.to_owned(),
        x,
        y: linear(y),
        series: curves(suite, prefix, suffix, names),
        categories: Vec::new(),
    };
    vec![
        (
            "scalars",
            named(
                "A number in a local scope",
                "nanoseconds per allocation",
                "type",
                &[
                    ("scalars: u8, local", "u8"),
                    ("scalars: u16, local", "u16"),
                    ("scalars: u32, local", "u32"),
                    ("scalars: u64, local", "u64"),
                    ("scalars: u128, local", "u128"),
                ],
            ),
        ),
        (
            "strings",
            curve(
                "A short string of unknown length",
                ["small copies: strings of ", " bytes"],
                linear("bytes per string"),
                "nanoseconds per allocation",
                &shown,
            ),
        ),
        (
            "growth",
            curve(
                "Pushing integers one by one",
                ["growth: push ", " integers"],
                logarithmic("integers pushed"),
                "nanoseconds per push",
                &["ebbtide", "ebbtide, s.vec()", "bumpalo", "std", "std, with_capacity"],
            ),
        ),
        (
            "scope",
            named(
                "Open a scope, allocate 8 bytes, close it",
                "nanoseconds per scope",
                "kind of scope",
                &[
                    ("scope: a child scope: open, allocate 8 bytes, close", "a child"),
                    ("scope: of an arena in memory: open, allocate 8 bytes, close", "of an arena"),
                    ("scope: the default one: open, allocate 8 bytes, close", "the default"),
                ],
            ),
        ),
    ]
}
