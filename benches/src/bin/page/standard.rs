//! The standard library's collections in a scope, beside ours, bumpalo's and the heap; and how to
//! optimise development builds.

use super::{Record, number, rows, time};

const PREFIX: &str = "standard library: ";
const OURS: &str = "ebbtide, ";

/// One row per row of the record: the time of the standard library's in a scope, and of the others as a
/// multiple of it.
pub(crate) fn table(record: &Record) -> String {
    let mut text = String::from(
        "| what | std, in a scope | ours | bumpalo | std, on the heap |\n\
         |---|---:|---|---:|---:|\n",
    );
    for (row, lines) in rows(record.starting(PREFIX)) {
        let ratio = |name: &str| {
            let line = lines.iter().find(|line| line["contestant"] == name);
            line.map_or(f64::NAN, |line| number(line, "ratio"))
        };
        let ours: Vec<String> = lines
            .iter()
            .filter_map(|line| {
                let name = line["contestant"].strip_prefix(OURS)?;
                Some(format!("{:.2} (`{name}`)", number(line, "ratio")))
            })
            .collect();
        text += &format!(
            "| {} | {} | {} | {:.2} | {:.2} |\n",
            row.trim_start_matches(PREFIX),
            lines.first().map_or_else(String::new, |line| time(number(line, "median_ns"))),
            ours.join(", "),
            ratio("bumpalo"),
            ratio("std heap"),
        );
    }
    text
}

/// What the core gains in development builds from each of two settings.
pub(crate) fn development(record: &Record) -> String {
    let ns = |row: &str, profile: &str| {
        let line = record.lines.iter().find(|l| l["row"] == row && l["profile"] == profile);
        line.map_or(f64::NAN, |line| number(line, "ns"))
    };
    let gain = |row, profile| ns(row, "dev") / ns(row, profile);
    let (all, core) = ("dev, opt-level 1", "dev, ebbtide at opt-level 3");
    format!(
        "In a development build, `[profile.dev] opt-level = 1` makes `alloc` {:.0} times as fast and `push`\n\
         {:.0} times. `[profile.dev.package.ebbtide] opt-level = 3` gains a factor of {:.1} and {:.1} only,\n\
         because most of this library is compiled with your crate.\n",
        gain("allocate a u64", all),
        gain("push a u64", all),
        gain("allocate a u64", core),
        gain("push a u64", core),
    )
}
