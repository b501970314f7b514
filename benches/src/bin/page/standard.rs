//! The standard library's collections in a scope, beside ours, bumpalo's and the heap.

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
