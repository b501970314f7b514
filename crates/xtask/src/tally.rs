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
    pub(crate) fn from_libtest(line: &str) -> Option<Self> {
        let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
        let mut counts = counts.split("; ");
        let mut next = |kind: &str| counts.next()?.strip_suffix(kind)?.trim_end().parse().ok();
        Some(Tally { passed: next("passed")?, failed: next("failed")?, skipped: 0 })
    }
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
    use super::Tally;

    #[test]
    fn libtest_lines_are_counted_whether_ok_or_failed() {
        let ok = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let failed =
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        let tally = |passed, failed| Some(Tally { passed, failed, skipped: 0 });
        assert_eq!(Tally::from_libtest(ok), tally(12, 0));
        assert_eq!(Tally::from_libtest(failed), tally(3, 2));
    }

    #[test]
    fn other_lines_are_not_counted() {
        for line in
            ["", "running 3 tests", "test a::b ... ok", "test result: ok.", "7 passed; 1 failed"]
        {
            assert_eq!(Tally::from_libtest(line), None, "{line}");
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
