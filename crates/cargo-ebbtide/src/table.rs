//! Advice as text and as JSON.

use crate::{
    advice::{Advice, Scope},
    symbols::Function,
};
use std::fmt::Write as _;

/// The rows of a table of all functions.
const MOST_ROWS: usize = 40;

/// A number with three digits and a unit, or with separators.
fn count(number: f64) -> String {
    if number < 10.0 && (number - number.round()).abs() > 0.05 {
        return format!("{number:.1}");
    }
    let digits = format!("{:.0}", number.max(0.0));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn bytes(number: f64) -> String {
    match number {
        n if n < 1_000.0 => format!("{n:.0} B"),
        n if n < 1_000_000.0 => format!("{:.0} kB", n / 1e3),
        n if n < 1_000_000_000.0 => format!("{:.0} MB", n / 1e6),
        n => format!("{:.1} GB", n / 1e9),
    }
}

/// The last names of a path, so that a row stays short.
fn short(function: &Function) -> String {
    let name = &function.name;
    if name.chars().count() <= 48 {
        return name.clone();
    }
    let tail: Vec<char> = name.chars().rev().take(47).collect();
    format!("…{}", tail.into_iter().rev().collect::<String>())
}

fn row(rank: &str, scope: &Scope) -> String {
    format!(
        "{rank:>4}  {:<48} {:>11} {:>11} {:>9} {:>10} {:>8} {:>7} {:>12}\n",
        short(&scope.function),
        count(scope.calls.max(1.0)),
        count(scope.blocks_a_call()),
        bytes(scope.bytes_a_call()),
        format!("{:.1} %", scope.share_inside() * 100.0),
        format!("{:.0} %", scope.by_other / scope.blocks.max(1.0) * 100.0),
        format!("{:.0} %", scope.time * 100.0),
        format!("{:.0} to {:.0} %", scope.gains.0 * 100.0, scope.gains.1 * 100.0),
    )
}

/// The advice as a table.
pub(crate) fn text(advice: &Advice, is_all: bool) -> String {
    let mut text = format!(
        "{} blocks, of which {} were recorded; the allocator takes {:.0} % of the time.\n\n",
        count(advice.blocks),
        count(advice.recorded as f64),
        advice.time * 100.0
    );
    let head = format!(
        "{:>4}  {:<48} {:>11} {:>11} {:>9} {:>10} {:>8} {:>7} {:>12}\n",
        "rank",
        "scope",
        "calls",
        "blocks/call",
        "per call",
        "die inside",
        "by other",
        "malloc",
        "gain"
    );
    if is_all {
        text += &head;
        for scope in advice.all.iter().take(MOST_ROWS) {
            text += &row("", scope);
        }
        return text;
    }
    if advice.chosen.is_empty() {
        text += "No scope would pay: no function ends the life of enough blocks that the program \
                 waits for. `--all` shows every function.\n";
        return text;
    }
    text += &head;
    for (rank, index) in advice.chosen.iter().enumerate() {
        let scope = &advice.all[*index];
        text += &row(&(rank + 1).to_string(), scope);
        let place = scope.function.location.as_deref().unwrap_or("");
        let _ = writeln!(
            text,
            "      write: ebbtide_global::arena(|| …) around the body {}",
            if place.is_empty() { String::new() } else { format!("({place})") }
        );
        let escaped = scope.blocks - scope.inside;
        if escaped > 0.0 {
            let names = scope.escapes.iter().filter_map(|escape| escape.stack.first());
            let mut places: Vec<String> = names.map(|function| function.name.clone()).collect();
            places.dedup();
            places.truncate(3);
            let _ = writeln!(
                text,
                "      {} blocks a call escape: {}",
                count(escaped / scope.calls.max(1.0)),
                places.join(", ")
            );
        }
    }
    text
}

/// The advice for tools.
pub(crate) fn json(advice: &Advice) -> serde_json::Value {
    let scope = |index: usize| {
        let scope = &advice.all[index];
        let escapes: Vec<_> = scope
            .escapes
            .iter()
            .take(10)
            .map(|escape| {
                let stack: Vec<_> = escape.stack.iter().map(|frame| &frame.name).collect();
                serde_json::json!({
                    "stack": stack, "blocks": escape.blocks, "bytes": escape.bytes,
                })
            })
            .collect();
        serde_json::json!({
            "function": scope.function.name,
            "location": scope.function.location,
            "calls": scope.calls,
            "blocks": scope.blocks,
            "bytes": scope.bytes,
            "inside": scope.inside,
            "freed_by_other_threads": scope.by_other,
            "resizes": scope.resizes,
            "recorded": scope.recorded,
            "share_of_time": scope.time,
            "gain": scope.gain(),
            "gain_at_least": scope.gains.0,
            "gain_at_most": scope.gains.1,
            "is_chosen": advice.chosen.contains(&index),
            "escapes": escapes,
        })
    };
    let scopes: Vec<_> = (0..advice.all.len().min(200)).map(scope).collect();
    serde_json::json!({
        "version": 1,
        "blocks": advice.blocks,
        "recorded": advice.recorded,
        "share_of_time": advice.time,
        "scopes": scopes,
    })
}
