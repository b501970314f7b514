//! What the common operations cost, beside the fastest peer; the README has the short table.

use super::{Line, Record, aged, is_peer, number, toolchain};

/// Rows of the suite, and what the page calls them. A contestant after the label replaces the
/// fastest peer.
const ROWS: [(&str, &str, Option<&str>); 12] = [
    ("scalars: u8, local", "`u8`, scope in a local variable", None),
    ("scalars: u64, local", "`u64`, scope in a local variable", None),
    (
        "scalars: u64, behind a reference",
        "`u64`, through `&Scope` in a function that is not inlined",
        None,
    ),
    (
        "scope: a child scope: open, allocate 8 bytes, close",
        "open a child scope, allocate 8 bytes, close",
        None,
    ),
    (
        "scope: of an arena in memory: open, allocate 8 bytes, close",
        "open a scope of an arena in memory, allocate 8 bytes, close",
        None,
    ),
    (
        "scope: the default one: open, allocate 8 bytes, close",
        "the same with the thread's default arena",
        None,
    ),
    ("small copies: strings of 1 to 32 bytes, mixed", "copy a string of 1 to 32 bytes", None),
    ("structs: 64 bytes", "move a value of 64 bytes in", None),
    ("growth: push 1000 integers", "push one of 1,000 integers (`GrowVec`)", None),
    (
        "growth: push 1000 integers",
        "the same, against `Vec::with_capacity`",
        Some("std, with_capacity"),
    ),
    (
        "large copies: 100000 of 1024 bytes, 102 MB, again",
        "copy slices of 1 KiB, 102 MB in all, into a warm arena",
        None,
    ),
    (
        "collections: a map of 2,000 integers: insert, look up, drop",
        "a hash map of 2,000 integers: insert, look up, drop (`s.map()`)",
        None,
    ),
];

/// Rows of the suite, and what the README calls them.
const SHORT: [(&str, &str); 2] = [
    ("scalars: u64, local", "allocate a `u64` in a local scope"),
    (
        "scope: a child scope: open, allocate 8 bytes, close",
        "open a child scope, allocate 8 bytes, close",
    ),
];

/// What the README calls the programs of the transparent allocator on a heap with this share kept.
const PROGRAMS: [(u32, &str); 2] = [
    (0, "27 programs in transparent arenas, in a new process, mean"),
    (30, "the same on a littered heap, as in an old process"),
];

/// The README's table, after the line about the machine.
pub(crate) fn short(suite: &Record, unaware: &Record, litter: &Record, oxc: &Record) -> String {
    let mut text = machine("Allocations and scopes", suite)
        + &machine("oxc", oxc)
        + &machine("The programs in transparent arenas", litter)
        + "\n| what | compared with | theirs ÷ ours |\n|---|---|---:|\n";
    for (row, what) in SHORT {
        if let Some(best) = best(suite, row, is_peer) {
            let who = &best["contestant"];
            text +=
                &format!("| {what} | {who}, the fastest peer | {:.2} |\n", number(best, "ratio"));
        }
    }
    if let Some(mean) = toolchain::mean(oxc, "new", "Arena", "all") {
        let what =
            "oxc, a JavaScript toolchain, over `Arena`, new for each file: parse, analyse, print";
        text += &format!("| {what} | its own arena | {mean:.2} |\n");
    }
    for (kept, what) in PROGRAMS {
        for who in ["glibc", "mimalloc"] {
            if let Some(mean) = aged::overall(litter, kept, who) {
                text += &format!("| {what} | {who} | {mean} |\n");
            }
        }
    }
    if let Some(line) = unaware.starting("transparent: peak memory, the most of all rows").next() {
        let ratio = number(line, "value").recip();
        text += &format!("| peak memory of the worst program | glibc | {ratio:.2} |\n");
    }
    text
}

/// The line of a row whose contestant is asked for and has the lowest ratio.
fn best<'r>(suite: &'r Record, row: &str, is_asked: impl Fn(&str) -> bool) -> Option<&'r Line> {
    let lines = suite.lines.iter();
    lines
        .filter(|line| line["row"] == row && is_asked(&line["contestant"]))
        .min_by(|a, b| number(a, "ratio").total_cmp(&number(b, "ratio")))
}

/// The table.
pub(crate) fn table(suite: &Record) -> String {
    let mut text = String::from("| what | best peer | its time ÷ ours |\n|---|---|---:|\n");
    for (row, what, against) in ROWS {
        let is_asked = |name: &str| against.map_or(is_peer(name), |asked| asked == name);
        if let Some(best) = best(suite, row, is_asked) {
            text +=
                &format!("| {what} | {} | {:.2} |\n", best["contestant"], number(best, "ratio"));
        }
    }
    text
}

/// The machine and the day of a record, in one line.
pub(crate) fn machine(what: &str, record: &Record) -> String {
    let of = |key: &str| {
        let line = record.head.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        line.unwrap_or_default().split(" (").next().unwrap_or_default()
    };
    format!("{what}: {}, {}, {}.\n", of("cpu"), of("toolchain"), of("date"))
}
