//! The limits, and the comparison of a pair of runs.

use crate::meter::{Measured, SLACK_MIB};

const MIB: f64 = 1024.0;

/// The factor by which the peak of the second half may exceed that of the first, in addition to the
/// growth without scopes.
const FLATNESS: f64 = 1.1;

/// The same in KiB, for programs that use little memory.
const FLATNESS_SLACK_KIB: f64 = 4.0 * MIB;

/// The most resident memory of a program.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    /// Times that over glibc.
    times: f64,
    slack_mib: f64,
}

impl Peak {
    /// Of any program.
    pub const USUAL: Peak = Peak { times: 1.5, slack_mib: SLACK_MIB as f64 };
    /// Of one whose phases each need all of the memory of the last: these do not add up.
    pub const OF_PHASES: Peak = Peak { times: 1.25, slack_mib: 0.0 };
    /// Of one that replaces its blocks by others of other sizes in scopes that keep them: a chunk is used
    /// again when the last of its blocks is freed (decision 0052), and meanwhile glibc serves the others.
    pub const OF_REPLACED: Peak = Peak { times: 2.25, slack_mib: SLACK_MIB as f64 };

    fn granted(self, glibc_kib: f64) -> f64 {
        self.times * glibc_kib + MIB * self.slack_mib
    }
}

/// The result of one run in its own process.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The memory.
    pub measured: Measured,
    /// The time of the program alone.
    pub seconds: f64,
    /// The program's answer.
    pub answer: u64,
    /// What the program may use.
    pub peak: Peak,
}

impl Run {
    /// The most resident memory.
    #[allow(clippy::cast_precision_loss, reason = "shown, and compared with wide margins")]
    pub fn peak_kib(&self) -> f64 {
        self.measured.first_peak_kib.max(self.measured.second_peak_kib) as f64
    }
}

/// Whether the second half of `ours` needed more memory than the first, and more than what the
/// program needs without scopes explains.
#[allow(clippy::cast_precision_loss, reason = "compared with wide margins")]
pub fn grows(ours: &Run, glibc: &Run) -> bool {
    let Measured { first_peak_kib, second_peak_kib, .. } = ours.measured;
    let own = glibc.measured.second_peak_kib as f64 / glibc.measured.first_peak_kib.max(1) as f64;
    let flat = FLATNESS * own.max(1.0) * first_peak_kib as f64 + FLATNESS_SLACK_KIB;
    second_peak_kib as f64 > flat
}

/// The limits that a pair of runs exceeds.
#[allow(clippy::cast_precision_loss, reason = "shown, and compared with wide margins")]
pub fn faults(ours: &Run, glibc: &Run) -> Vec<String> {
    let mut faults = Vec::new();
    let Measured { first_peak_kib, second_peak_kib, rested_kib, excess } = ours.measured;
    let most = ours.peak.granted(glibc.peak_kib());
    if ours.peak_kib() > most {
        let (ours, most) = (ours.peak_kib() / MIB, most / MIB);
        faults.push(format!("{ours:.0} MiB resident, at most {most:.0}"));
    }
    if let (Some(ours), Some(glibc)) = (rested_kib, glibc.measured.rested_kib) {
        let (ours, most) = (ours as f64, Peak::USUAL.granted(glibc as f64));
        if ours > most {
            let (ours, most) = (ours / MIB, most / MIB);
            faults.push(format!("{ours:.0} MiB resident after the load, at most {most:.0}"));
        }
    }
    if grows(ours, glibc) {
        let (first, second) = (first_peak_kib as f64 / MIB, second_peak_kib as f64 / MIB);
        faults.push(format!("grows from {first:.0} to {second:.0} MiB"));
    }
    if let Some(excess) = excess.filter(|&excess| excess > 0) {
        faults.push(format!("holds {:.1} MiB more than promised", excess as f64 / MIB / MIB));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u64, second: u64) -> Run {
        let measured = Measured {
            first_peak_kib: first,
            second_peak_kib: second,
            rested_kib: None,
            excess: None,
        };
        Run { measured, seconds: 1.0, answer: 7, peak: Peak::USUAL }
    }

    #[test]
    fn half_as_much_again_is_granted_and_some_besides() {
        let granted = 150_000 + 16 * 1024;
        assert!(faults(&run(granted, 0), &run(100_000, 0)).is_empty());
        assert_eq!(faults(&run(granted + 1, 0), &run(100_000, 0)).len(), 1);
        assert_eq!(faults(&run(granted, granted + 1), &run(100_000, 0)).len(), 1);
    }

    #[test]
    fn phases_do_not_add_up() {
        let phases = |peak| Run { peak: Peak::OF_PHASES, ..run(peak, 0) };
        assert!(faults(&phases(125_000), &run(100_000, 0)).is_empty());
        assert_eq!(faults(&phases(125_001), &run(100_000, 0)).len(), 1);
    }

    #[test]
    fn a_run_that_grows_is_refused_however_little_it_holds() {
        assert!(faults(&run(1000, 1100 + 4096), &run(100_000, 0)).is_empty());
        assert_eq!(faults(&run(1000, 1101 + 4096), &run(100_000, 0)).len(), 1);
        // Unless the program grows without scopes too.
        assert!(faults(&run(1000, 2200 + 4096), &run(100_000, 200_000)).is_empty());
        assert_eq!(faults(&run(1000, 2201 + 4096), &run(100_000, 200_000)).len(), 1);
    }

    #[test]
    fn memory_that_stays_after_the_load_is_refused() {
        let rested = |kib| {
            let mut run = run(900_000, 900_000);
            run.measured.rested_kib = Some(kib);
            run
        };
        let granted = 150_000 + 16 * 1024;
        assert!(faults(&rested(granted), &rested(100_000)).is_empty());
        assert_eq!(faults(&rested(granted + 1), &rested(100_000)).len(), 1);
    }

    #[test]
    fn a_broken_promise_is_refused() {
        let mut ours = run(1000, 1000);
        ours.measured.excess = Some(0);
        assert!(faults(&ours, &run(1000, 1000)).is_empty());
        ours.measured.excess = Some(1);
        assert_eq!(faults(&ours, &run(1000, 1000)).len(), 1);
    }
}
