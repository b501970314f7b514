//! Advice as text and as JSON.

use crate::{
    advice::{Advice, Scope},
    compare::{Comparison, Cost, Saved},
    measure::Findings,
    patch::patch,
    refusal::Refusal,
    spelling::without_arguments,
    symbols::Function,
};
use std::fmt::Write as _;

/// The letters of a function's name in a row.
const WIDTH: usize = 40;

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

/// A name that fits into a row: without arguments, or the last names of a path.
fn short(function: &Function) -> String {
    let whole = function.name.as_str();
    let name = if whole.chars().count() > WIDTH { without_arguments(whole) } else { whole };
    let length = name.chars().count();
    if length <= WIDTH {
        return name.to_owned();
    }
    let tail: String = name.chars().skip(length - WIDTH + 1).collect();
    format!("…{tail}")
}

/// A share as a percentage, without its sign.
fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// What scopes save, with its interval.
fn saved(saved: Saved) -> String {
    let Saved { share, least, most } = saved;
    format!("{} % ({} to {} %)", percent(share), percent(least), percent(most))
}

/// What a function would save: as measured, or as expected.
fn gain(scope: &Scope, tried: Option<&Comparison>) -> String {
    let (least, most) = scope.gains;
    tried.map_or_else(
        || format!("expected {:.0} to {:.0} %", least * 100.0, most * 100.0),
        |tried| saved(tried.saved()),
    )
}

/// The heads of the columns.
pub(crate) const HEADS: [&str; 8] =
    ["scope", "calls", "blocks/call", "per call", "die inside", "malloc", "gain", "peak"];

/// The columns of a function.
pub(crate) fn cells(scope: &Scope, tried: Option<&Comparison>) -> [String; HEADS.len()] {
    let of_a_call = |said: String| if scope.are_counted { said } else { "–".to_owned() };
    [
        short(&scope.function),
        of_a_call(count(tried.map_or(scope.calls, |tried| tried.calls as f64).max(1.0))),
        of_a_call(count(scope.blocks_a_call())),
        of_a_call(bytes(scope.bytes_a_call())),
        format!("{:.1} %", scope.share_inside() * 100.0),
        format!("{:.0} %", scope.time * 100.0),
        gain(scope, tried),
        tried.map_or_else(|| "–".to_owned(), |tried| format!("× {:.2}", tried.peaks())),
    ]
}

fn row(rank: &str, cells: &[impl std::fmt::Display; HEADS.len()]) -> String {
    let [scope, calls, blocks, bytes, inside, time, gain, peak] = cells;
    format!(
        "{rank:>4}  {scope:<40} {calls:>11} {blocks:>11} {bytes:>9} {inside:>10} {time:>6}  \
         {gain:<24} {peak:>6}\n"
    )
}

/// What to say if no function is worth a scope.
fn none(advice: &Advice) -> String {
    let Some(scope) = advice.too_long.map(|index| &advice.all[index]) else {
        return "No scope would pay: no function ends the life of enough blocks that the program \
                waits for. `--all` shows every function.\n"
            .to_owned();
    };
    let name = without_arguments(&scope.function.name);
    let trial = Refusal::inlined(&scope.function).map_or_else(
        || {
            format!(
                "If it is called in a loop, its calls may look like one: `--try {name:?}` counts and \
                 compares them."
            )
        },
        |inlined| format!("{inlined}."),
    );
    format!(
        "No scope would pay as calls were counted: {name} would save {:.0} to {:.0} %, but allocates \
         {} per call (calls: {}), which a scope might hold.\n- {trial}\n- If a loop is in it{}, move the body of the \
         loop to a function that is not inlined (`#[inline(never)]`, `noinline`), and start again.\n",
        scope.gains.0 * 100.0,
        scope.gains.1 * 100.0,
        bytes(scope.bytes_a_call()),
        count(scope.calls.max(1.0)),
        in_lines(scope),
    )
}

/// The lines in which a loop may be, in parentheses.
fn in_lines(scope: &Scope) -> String {
    scope.lines.as_ref().map_or(String::new(), |lines| format!(" ({lines})"))
}

/// What was recorded.
pub(crate) fn sums(advice: &Advice) -> String {
    format!(
        "{} blocks, of which {} were recorded; the allocator takes {:.0} % of the time.\n",
        count(advice.blocks),
        count(advice.recorded as f64),
        advice.time * 100.0
    )
}

/// What to say instead of rows, if there are none.
pub(crate) fn no_rows(advice: &Advice, findings: Option<&Findings>) -> String {
    if !advice.chosen.is_empty() {
        String::new()
    } else if findings.is_none() || advice.sets.is_empty() {
        none(advice)
    } else {
        "No clear gain was measured.\n".to_owned()
    }
}

/// The advice as a table.
pub(crate) fn text(advice: &Advice, findings: Option<&Findings>, is_all: bool) -> String {
    let tried = |index: usize| findings.and_then(|findings| findings.of(index));
    let mut text = sums(advice) + "\n";
    if is_all {
        text += &row("rank", &HEADS);
        for (index, scope) in advice.all.iter().take(MOST_ROWS).enumerate() {
            text += &row("", &cells(scope, tried(index)));
        }
        return text;
    }
    text += &no_rows(advice, findings);
    if !advice.chosen.is_empty() {
        text += &row("rank", &HEADS);
    }
    for (rank, index) in advice.chosen.iter().enumerate() {
        let scope = &advice.all[*index];
        text += &row(&(rank + 1).to_string(), &cells(scope, tried(*index)));
        for hint in hints(scope, tried(*index)) {
            let _ = writeln!(text, "      {hint}");
        }
    }
    for (index, other) in others(advice, findings).iter().enumerate() {
        let _ = writeln!(text, "{}{other}", if index == 0 { "\n" } else { "" });
    }
    text
}

/// What stands below a row.
pub(crate) fn hints(scope: &Scope, tried: Option<&Comparison>) -> Vec<String> {
    let place = scope.function.location.as_deref().map_or(String::new(), |at| format!(" ({at})"));
    let mut hints = Vec::new();
    if let Some(inlined) = Refusal::inlined(&scope.function) {
        hints.push(inlined.to_string());
    } else if tried.is_none() {
        hints.push(format!("try:   --try {:?}", without_arguments(&scope.function.name)));
    }
    hints.push(format!("write: {}{place}", patch(&scope.function, scope.is_polled)));
    if tried.is_none() && scope.seems_to_be_one_call() {
        let lines = in_lines(scope);
        hints.push(format!(
            "called once: in a loop, calls may look like one (`--try` counts them); if a loop is in \
             it{lines}, a scope for each turn holds less"
        ));
    }
    if tried.is_some_and(|tried| tried.prints_the_same.is_none()) {
        hints.push(
            "the program prints something else in each run, so this was not compared".to_owned(),
        );
    }
    let escaped = scope.blocks - scope.inside;
    if escaped > 0.0 && scope.are_counted {
        let names = scope.escapes.iter().filter_map(|escape| escape.stack.first());
        let mut places: Vec<String> = names.map(|function| function.name.clone()).collect();
        places.dedup();
        places.truncate(3);
        let blocks = count(escaped / scope.calls.max(1.0));
        hints.push(format!("{blocks} blocks a call escape: {}", places.join(", ")));
    }
    hints
}

/// What else was tried, and several functions at once.
pub(crate) fn others(advice: &Advice, findings: Option<&Findings>) -> Vec<String> {
    let Some(findings) = findings else { return Vec::new() };
    let mut others = Vec::new();
    if let Some((functions, together)) = &findings.together {
        others.push(format!(
            "All {} at once save {}; the peak is {:.2} times as high.",
            functions.len(),
            saved(together.saved()),
            together.peaks()
        ));
    }
    let of = |set: &[usize]| set.iter().copied().find(|index| advice.chosen.contains(index));
    for set in &advice.sets {
        for index in set.iter().filter(|index| !advice.chosen.contains(index)) {
            let name = without_arguments(&advice.all[*index].function.name);
            let said = match findings.tried.get(index) {
                None | Some(Err(Refusal::Inlined(..))) => continue,
                Some(Err(why)) => format!("not tried, {why}"),
                Some(Ok(tried)) if tried.prints_the_same == Some(false) => {
                    "tried; the program printed something else".to_owned()
                }
                Some(Ok(tried)) if !tried.is_bounded() => {
                    format!(
                        "saves {}; the peak is {:.2} times as high",
                        saved(tried.saved()),
                        tried.peaks()
                    )
                }
                // It saves nothing, and no other function is told by it.
                Some(Ok(tried)) if tried.saved().share <= 0.0 => continue,
                Some(Ok(tried)) => match of(set) {
                    Some(best) => format!(
                        "saves {}, instead of {}",
                        saved(tried.saved()),
                        without_arguments(&advice.all[best].function.name)
                    ),
                    None => format!("not clear, {}", saved(tried.saved())),
                },
            };
            others.push(format!("{name}: {said}."));
        }
    }
    others
}

/// The advice for tools.
pub(crate) fn json(advice: &Advice, findings: Option<&Findings>) -> serde_json::Value {
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
        let not_tried = findings.and_then(|found| found.tried.get(&index)?.as_ref().err());
        serde_json::json!({
            "function": scope.function.name,
            "location": scope.function.location,
            "inlined_into": scope.function.host,
            "lines": scope.lines,
            "calls": scope.are_counted.then_some(scope.calls),
            "calls_error": scope.calls_error,
            "blocks": scope.blocks,
            "bytes": scope.bytes,
            "inside": scope.inside,
            "freed_by_other_threads": scope.by_other,
            "resizes": scope.resizes,
            "recorded": scope.recorded,
            "share_of_time": scope.time,
            "expected_at_least": scope.gains.0,
            "expected_at_most": scope.gains.1,
            "measured": findings.and_then(|found| found.of(index)).map(measured),
            "not_tried": not_tried.map(ToString::to_string),
            "is_polled": scope.is_polled,
            "is_chosen": advice.chosen.contains(&index),
            "escapes": escapes,
        })
    };
    let scopes: Vec<_> = (0..advice.all.len().min(200)).map(scope).collect();
    let together =
        findings.and_then(|found| found.together.as_ref()).map(|(functions, together)| {
            let names: Vec<_> =
                functions.iter().map(|index| &advice.all[*index].function.name).collect();
            serde_json::json!({ "functions": names, "measured": measured(together) })
        });
    serde_json::json!({
        "version": 2,
        "together": together,
        "blocks": advice.blocks,
        "recorded": advice.recorded,
        "share_of_time": advice.time,
        "scopes": scopes,
    })
}

/// A comparison as a table.
pub(crate) fn compared(functions: &[String], compared: &Comparison) -> String {
    let mut text = format!(
        "{}: {} calls a run; {} runs with scopes there, and as many without, in turn.\n\n",
        functions.join(", "),
        count(compared.calls as f64),
        compared.with.len()
    );
    let _ =
        writeln!(text, "{:<10} {:>20} {:>20} {:>14}", "", "processor", "elapsed", "peak memory");
    for (name, costs) in [("without", &compared.without), ("in scopes", &compared.with)] {
        let range = |part: fn(&Cost) -> f64| {
            let seconds = costs.iter().map(part);
            let (least, most) = seconds.fold((f64::MAX, 0.0_f64), |(least, most), seconds| {
                (least.min(seconds), most.max(seconds))
            });
            format!("{least:.3} to {most:.3} s")
        };
        let peak = costs.iter().map(|cost| cost.peak).fold(0.0, f64::max);
        let (processor, elapsed) = (range(|cost| cost.processor), range(|cost| cost.elapsed));
        let _ = writeln!(text, "{name:<10} {processor:>20} {elapsed:>20} {:>14}", bytes(peak));
    }
    let _ = writeln!(
        text,
        "\nScopes save {} of the processor's time; the peak is {:.2} times as high.",
        saved(compared.saved()),
        compared.peaks()
    );
    if compared.prints_the_same == Some(false) {
        text += "In scopes, the program printed something else.\n";
    }
    text
}

/// A comparison for tools; times in seconds, memory in bytes.
pub(crate) fn compared_json(functions: &[String], compared: &Comparison) -> serde_json::Value {
    serde_json::json!({ "version": 2, "functions": functions, "measured": measured(compared) })
}

fn measured(compared: &Comparison) -> serde_json::Value {
    let costs = |costs: &[Cost]| {
        let cost = |cost: &Cost| {
            serde_json::json!({
                "processor": cost.processor, "elapsed": cost.elapsed, "peak": cost.peak,
            })
        };
        costs.iter().map(cost).collect::<Vec<_>>()
    };
    let saved = compared.saved();
    serde_json::json!({
        "calls": compared.calls,
        "without": costs(&compared.without),
        "with": costs(&compared.with),
        "saved": saved.share,
        "saved_at_least": saved.least,
        "saved_at_most": saved.most,
        "peaks": compared.peaks(),
        "prints_the_same": compared.prints_the_same,
    })
}
