//! `--record`: writes a run to docs/records/test-runs.md.

use crate::step::{End, Outcome, Step, Tier};
use crate::{Failure, process};
use std::fmt::Write;
use std::fs;
use std::time::Duration;

const FILE: &str = "docs/records/test-runs.md";

/// Replaces the section of the tier, or appends it.
pub(crate) fn write(
    tier: Tier,
    outcomes: &[(&Step, Outcome)],
    time: Duration,
) -> Result<(), Failure> {
    let failure = |error| Failure::Usage(format!("{FILE}: {error}"));
    let page = fs::read_to_string(FILE).map_err(failure)?;
    let title = match tier {
        Tier::Check => "## `cargo xtask check`",
        Tier::Test => "## `cargo xtask test`",
        Tier::All => "## `cargo xtask test --all`",
    };
    fs::write(FILE, replaced(&page, title, &section(outcomes, time))).map_err(failure)
}

fn section(outcomes: &[(&Step, Outcome)], time: Duration) -> String {
    let known = |line| process::output(line).unwrap_or_else(|| "unknown".to_owned());
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models: Vec<_> =
        processors.lines().filter_map(|line| line.strip_prefix("model name")).collect();
    let model =
        models.first().map_or("unknown", |model| model.trim_start_matches(['\t', ':', ' ']));
    let mut text = format!(
        "{}, commit `{}`, {}, {} processors of type {model}: {:.0} seconds.\n\n\
         | seconds | step | result |\n|---:|---|---|\n",
        known("date +%F"),
        known("git describe --always --dirty"),
        known("rustc --version"),
        models.len(),
        time.as_secs_f64(),
    );
    for (step, outcome) in outcomes {
        let result = match outcome.end {
            End::LeftOut(_) => "left out".to_owned(),
            _ => outcome.tally.to_string(),
        };
        let seconds = outcome.time.as_secs_f64();
        let _ = writeln!(text, "| {seconds:.0} | {} | {result} |", step.title);
    }
    text
}

/// The page with this text under the heading `title`.
fn replaced(page: &str, title: &str, text: &str) -> String {
    let heading = format!("{title}\n");
    let (before, rest) = page.split_once(&heading).unwrap_or((page, ""));
    let after = rest.find("\n## ").map_or("", |next| &rest[next..]);
    format!("{}\n\n{heading}\n{text}{after}", before.trim_end())
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn a_section_is_replaced_or_appended() {
        let page = "# Runs\n\n## a\n\nold\n\n## b\n\nx\n";
        assert_eq!(replaced(page, "## a", "new\n"), "# Runs\n\n## a\n\nnew\n\n## b\n\nx\n");
        assert_eq!(replaced(page, "## b", "y\n"), "# Runs\n\n## a\n\nold\n\n## b\n\ny\n");
        assert_eq!(replaced("# Runs\n", "## c", "z\n"), "# Runs\n\n## c\n\nz\n");
    }
}
