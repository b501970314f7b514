//! `--record`: writes a run to dev/records/test-runs.md.

use crate::step::{End, Outcome, Step, Tier};
use crate::steps::STEPS;
use crate::{Failure, process};
use std::fs;
use std::time::Duration;

const FILE: &str = "dev/records/test-runs.md";

/// Replaces the section of the tier. That of `test --all`, which takes hours, has the last green run of
/// each step that only this tier has; so it can be run in parts.
pub(crate) fn write(
    tier: Tier,
    outcomes: &[(&Step, Outcome)],
    time: Duration,
) -> Result<(), Failure> {
    let failure = |error| Failure::Usage(format!("{FILE}: {error}"));
    let page = fs::read_to_string(FILE).map_err(failure)?;
    let (title, text) = match tier {
        Tier::Check => ("## `cargo xtask check`", whole(outcomes, time)),
        Tier::Test => ("## `cargo xtask test`", whole(outcomes, time)),
        Tier::All => {
            let title = "## `cargo xtask test --all`";
            let (_, old, _) = split(&page, title);
            (title, in_parts(old, outcomes, &stamp()))
        }
    };
    fs::write(FILE, with_section(&page, title, &text)).map_err(failure)
}

/// The page with this section, whose text stands between the marks of generated text.
fn with_section(page: &str, title: &str, text: &str) -> String {
    let (before, _, after) = split(page, title);
    let before = before.trim_end();
    format!("{before}\n\n{title}\n\n<!-- table run -->\n{text}<!-- end -->\n{after}")
}

/// The day and the commit, and whether anything else than records has been changed since.
fn stamp() -> String {
    let changed = known("git status --porcelain -- . :!dev/records");
    let dirty = if changed.is_empty() { "" } else { "-dirty" };
    format!("{}, `{}{dirty}`", known("date +%F"), known("git describe --always"))
}

fn known(line: &str) -> String {
    process::output(line).unwrap_or_else(|| "unknown".to_owned())
}

/// The toolchain and the machine.
fn machine() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models: Vec<_> =
        processors.lines().filter_map(|line| line.strip_prefix("model name")).collect();
    let model =
        models.first().map_or("unknown", |model| model.trim_start_matches(['\t', ':', ' ']));
    format!("{}, {} processors of type {model}", known("rustc --version"), models.len())
}

/// A row of a step that ran.
fn row(step: &Step, outcome: &Outcome) -> String {
    let result = match outcome.end {
        End::LeftOut(_) => "left out".to_owned(),
        _ => outcome.tally.to_string(),
    };
    format!("| {:.0} | {} | {result} |", outcome.time.as_secs_f64(), step.title)
}

fn whole(outcomes: &[(&Step, Outcome)], time: Duration) -> String {
    let rows: String = outcomes.iter().map(|(step, outcome)| row(step, outcome) + "\n").collect();
    format!(
        "{}, {}: {:.0} seconds.\n\n| seconds | step | result |\n|---:|---|---|\n{rows}",
        stamp(),
        machine(),
        time.as_secs_f64()
    )
}

/// The section of `test --all`: a row for each step that passed now or is in the `old` section.
fn in_parts(old: &str, outcomes: &[(&Step, Outcome)], stamp: &str) -> String {
    let rows: String = STEPS
        .iter()
        .filter(|step| step.tier == Tier::All)
        .filter_map(|step| {
            let is_new = |(other, outcome): &&(&Step, Outcome)| {
                other.title == step.title && matches!(outcome.end, End::Passed)
            };
            let title = format!(" | {} | ", step.title);
            let new = outcomes.iter().find(is_new);
            let new = new.map(|(step, outcome)| format!("{} {stamp} |", row(step, outcome)));
            new.or_else(|| old.lines().find(|line| line.contains(&title)).map(str::to_owned))
        })
        .map(|row| row + "\n")
        .collect();
    format!(
        "In addition to the steps of `cargo xtask test`; {}.\n\n\
         | seconds | step | result | day, commit |\n|---:|---|---|---|\n{rows}",
        machine()
    )
}

/// The page before a section, its text, and the page from the next section on.
fn split<'p>(page: &'p str, title: &str) -> (&'p str, &'p str, &'p str) {
    let (before, rest) = page.split_once(&format!("{title}\n")).unwrap_or((page, ""));
    let (text, after) = rest.split_at(rest.find("\n## ").unwrap_or(rest.len()));
    (before, text, after)
}

#[cfg(test)]
mod tests {
    use super::{in_parts, split, with_section};
    use crate::step::{End, Outcome, Tier};
    use crate::steps::STEPS;
    use crate::tally::Tally;
    use std::{path::PathBuf, time::Duration};

    #[test]
    fn a_section_is_found_or_is_new() {
        let page = "# Runs\n\n## a\n\nold\n\n## b\n\nx\n";
        assert_eq!(split(page, "## a"), ("# Runs\n\n", "\nold\n", "\n## b\n\nx\n"));
        assert_eq!(split(page, "## b"), ("# Runs\n\n## a\n\nold\n\n", "\nx\n", ""));
        assert_eq!(split("# Runs\n", "## c"), ("# Runs\n", "", ""));
    }

    #[test]
    fn a_section_is_replaced() {
        let page = with_section("# Runs\n\nby hand\n\n## b\n\nx\n", "## a", "old text\n");
        let page = with_section(&page, "## c", "c\n");
        let new = with_section(&page, "## a", "new\n");
        assert_eq!(new, page.replace("old text", "new"));
    }

    #[test]
    fn a_part_of_all_steps_replaces_its_own_rows() {
        let steps: Vec<_> = STEPS.iter().filter(|step| step.tier == Tier::All).collect();
        let outcome = |passed| Outcome {
            end: End::Passed,
            tally: Tally { passed, failed: 0, skipped: 0 },
            time: Duration::from_secs(7),
            log: PathBuf::new(),
        };
        let old = in_parts("", &[(steps[0], outcome(1)), (steps[2], outcome(2))], "monday");
        let new = in_parts(&old, &[(steps[1], outcome(3)), (steps[2], outcome(4))], "tuesday");
        let rows: Vec<_> = new.lines().skip(4).collect();
        let row = |step: usize, passed: u64, day: &str| {
            format!("| 7 | {} | {passed} passed, 0 failed | {day} |", steps[step].title)
        };
        assert_eq!(rows, [row(0, 1, "monday"), row(1, 3, "tuesday"), row(2, 4, "tuesday")]);
    }
}
