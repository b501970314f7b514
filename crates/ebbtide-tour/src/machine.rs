//! The machine, the compiler and the date of a run.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::thread::available_parallelism;
use std::time::{SystemTime, UNIX_EPOCH};

/// The compiler, the profile and the target of this build.
pub(crate) fn toolchain() -> String {
    let profile = if cfg!(debug_assertions) { "unoptimised" } else { "optimised" };
    format!("{}, {profile}, {}", env!("TOUR_TOOLCHAIN"), env!("TOUR_TARGET"))
}

/// The processor, if the system reports it.
pub(crate) fn description() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(ARCH, |(_, model)| model.trim());
    let threads = available_parallelism().map_or(1, usize::from);
    format!("{model}, {threads} hardware threads, {OS}")
}

/// Today, as `2026-01-31` in UTC.
pub(crate) fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// The Gregorian date of a day counted from 1970-01-01. Internally, years start in March, so that
/// the leap day comes last.
fn civil(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_IN_400_YEARS: u64 = 146_097;
    const DAYS_FROM_MARCH_OF_YEAR_0_TO_1970: u64 = 719_468;
    let days = days_since_1970 + DAYS_FROM_MARCH_OF_YEAR_0_TO_1970;
    let (era, day) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day + 2) / 153;
    let day = day - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (400 * era + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_484), (2026, 1, 31));
        assert_eq!(civil(47_540), (2100, 2, 28));
        assert_eq!(civil(47_541), (2100, 3, 1));
    }
}
