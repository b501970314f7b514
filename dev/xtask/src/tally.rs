//! Counts passed and failed tests from the output of test runners.

use std::fmt;
use std::ops::AddAssign;

/// The number of tests that passed, failed, and were skipped because a tool is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    pub(crate) const PASSED: Tally = Tally { passed: 1, failed: 0, skipped: 0 };
    pub(crate) const FAILED: Tally = Tally { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const SKIPPED: Tally = Tally { passed: 0, failed: 0, skipped: 1 };

    /// Parses libtest's last line, `test result: ok. 3 passed; 0 failed; …`. `None` for any other
    /// line.
    fn from_libtest(line: &str) -> Option<Self> {
        let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
        let mut counts = counts.split("; ");
        let mut next = |kind: &str| counts.next()?.strip_suffix(kind)?.trim_end().parse().ok();
        Some(Tally { passed: next("passed")?, failed: next("failed")?, skipped: 0 })
    }
}

/// Reads the output of test runners line by line: that of libtest, and that of Julia's Test.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The columns of the Julia table whose first row comes next.
    columns: Option<Vec<String>>,
}

impl Reader {
    /// The counts in a line. `None` if it is not a summary.
    pub(crate) fn read(&mut self, line: &str) -> Option<Tally> {
        let columns = self.columns.take();
        if line.starts_with("Test Summary:") {
            self.columns = cells(line).map(|names| names.map(str::to_owned).collect());
            return None;
        }
        columns.and_then(|names| first_row(&names, line)).or_else(|| Tally::from_libtest(line))
    }
}

/// Parses the first row of Julia's table, which has the sums. A column exists only if its sum is
/// not 0, so none of these cells is blank.
fn first_row(columns: &[String], line: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    for (name, count) in columns.iter().zip(cells(line)?) {
        let sum = match name.as_str() {
            "Pass" => &mut tally.passed,
            "Fail" | "Error" => &mut tally.failed,
            "Broken" => &mut tally.skipped,
            _ => continue,
        };
        *sum += count.parse::<u64>().ok()?;
    }
    Some(tally)
}

/// The text after the last vertical bar; the title before it may contain bars as well.
fn cells(line: &str) -> Option<impl Iterator<Item = &str>> {
    Some(line.rsplit_once('|')?.1.split_whitespace())
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Reader, Tally};

    fn read(lines: &[&str]) -> Tally {
        let mut reader = Reader::default();
        let mut sum = Tally::default();
        for tally in lines.iter().filter_map(|line| reader.read(line)) {
            sum += tally;
        }
        sum
    }

    #[test]
    fn libtest_lines_are_counted_whether_ok_or_failed() {
        let ok = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let failed =
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(read(&[ok]), Tally { passed: 12, failed: 0, skipped: 0 });
        assert_eq!(read(&[failed]), Tally { passed: 3, failed: 2, skipped: 0 });
        assert_eq!(read(&[ok, failed]), Tally { passed: 15, failed: 2, skipped: 0 });
    }

    #[test]
    fn of_the_table_of_a_julia_test_set_the_sums_are_counted() {
        let passed = ["Test Summary: | Pass  Total", "fixed buffers |   41     41", ""];
        assert_eq!(read(&passed), Tally { passed: 41, failed: 0, skipped: 0 });
        let failed = [
            "Test Summary: | Pass  Fail  Error  Broken  Total",
            "all|of it     |    1     2      3       4     10",
            "  a           |    1                   1      2",
            "  b           |          2      3       3     8",
        ];
        assert_eq!(read(&failed), Tally { passed: 1, failed: 5, skipped: 4 });
        let empty = ["Test Summary: |", "nothing       | No tests", ""];
        assert_eq!(read(&empty), Tally::default());
        assert_eq!(read(&[passed, passed].concat()).passed, 82);
    }

    #[test]
    fn a_summary_of_libtest_behind_a_broken_julia_table_is_counted() {
        let lines =
            ["Test Summary: | Pass  Total", "test result: ok. 3 passed; 0 failed; 0 ignored"];
        assert_eq!(read(&lines).passed, 3);
    }

    #[test]
    fn other_lines_are_not_counted() {
        for line in [
            "",
            "running 3 tests",
            "test a::b ... ok",
            "test result: ok.",
            "7 passed; 1 failed",
            "a | 7",
        ] {
            assert_eq!(Reader::default().read(line), None, "{line}");
        }
    }

    #[test]
    fn the_closing_line_names_skips_only_when_there_are_any() {
        let mut sum = Tally { passed: 4, failed: 0, skipped: 0 };
        assert_eq!(sum.to_string(), "4 passed, 0 failed");
        sum += Tally { passed: 1, failed: 2, skipped: 3 };
        assert_eq!(sum.to_string(), "5 passed, 2 failed, 3 skipped");
    }
}
