//! Which blocks are recorded.

use core::arch::x86_64::{_mm_lfence, _rdtsc};

/// The cycle counter.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { _rdtsc() }
}

/// The cycle counter, after everything before: the recorder's own loads, which miss the caches, are
/// not to count as those of the allocator.
#[inline(always)]
pub(crate) fn start_ticks() -> u64 {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { _mm_lfence() };
    ticks()
}

/// The mean distance between two recorded blocks, as a power of two, and how it follows the time
/// that recording takes.
#[derive(Debug)]
pub(crate) struct Rate {
    exponent: u32,
    fixed: bool,
    /// The ticks that the process had taken when the present rate began, and those that recording has
    /// taken since.
    began: u64,
    spent: u64,
    /// The ticks that recording took before.
    spent_before: u64,
    credit: u64,
}

/// The first mean distance: one block in 16.
const FIRST: u32 = 4;

/// The rarest: one block in a million.
const LAST: u32 = 20;

/// Recording may take one tick in this many.
const SHARE: u64 = 64;

/// Ticks that recording may take beyond its share at each rate, so that a short program is recorded
/// densely.
const CREDIT: u64 = 4_000_000;

/// The most ticks that one recording takes. Beyond them, the thread waited for the processor.
const LONGEST: u64 = 1_000_000;

impl Rate {
    /// One block in `every` is recorded, rounded down to a power of two; `None` for a rate that
    /// follows the time.
    #[must_use]
    pub(crate) fn new(every: Option<u64>) -> Rate {
        let exponent = every.map_or(FIRST, |every| every.max(1).ilog2());
        Rate {
            exponent,
            fixed: every.is_some(),
            began: 0,
            spent: 0,
            spent_before: 0,
            credit: CREDIT,
        }
    }

    /// Begins to count anew in a child, which has this number. All children together have some times the
    /// credit of one process, however many there are.
    pub(crate) fn restart(&mut self, number: u64) {
        (self.began, self.spent, self.spent_before) = (0, 0, 0);
        self.credit = CREDIT / number.max(1);
    }

    /// The mean number of blocks between two that are recorded.
    #[must_use]
    pub(crate) fn weight(&self) -> u64 {
        1 << self.exponent
    }

    /// The ticks that recording has taken.
    #[must_use]
    pub(crate) fn spent(&self) -> u64 {
        self.spent_before + self.spent
    }

    /// Counts ticks that recording took. The process has taken `used` ticks of the processor, in all of its
    /// threads: a program that waits gains no share by it.
    pub(crate) fn spend(&mut self, ticks: u64, used: u64) {
        self.spent += ticks.min(LONGEST);
        if self.fixed {
            return;
        }
        if self.spent > used.saturating_sub(self.began) / SHARE + self.credit {
            self.exponent = (self.exponent + 1).min(LAST);
            self.spent_before += self.spent;
            (self.began, self.spent) = (used, 0);
        }
    }
}

/// A number from 0 to 1, exclusive of 0, from a generator of which this is the state.
fn uniform(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit")]
    let number = ((*state >> 11) + 1) as f64;
    number / (1_u64 << 53) as f64
}

/// The number of blocks to skip before the next one that is recorded, if one in `weight` is. The
/// distances are geometric, so every block has the same chance, whatever the program's rhythm is.
pub(crate) fn distance(weight: u64, state: &mut u64) -> i64 {
    if weight <= 1 {
        return 0;
    }
    #[allow(clippy::cast_precision_loss, reason = "at most 2^20")]
    let chance = 1.0 / weight as f64;
    #[allow(clippy::cast_possible_truncation, reason = "at most 40 times the weight")]
    let distance = (uniform(state).ln() / (1.0 - chance).ln()) as i64;
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_the_mean_that_the_weight_says() {
        let mut state = 7;
        for weight in [1_u64, 2, 16, 1 << 10] {
            let count = 100_000;
            let sum: i64 = (0..count).map(|_| distance(weight, &mut state) + 1).sum();
            #[allow(clippy::cast_precision_loss)]
            let mean = sum as f64 / f64::from(count);
            #[allow(clippy::cast_precision_loss)]
            let expected = weight as f64;
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean} instead of {weight}");
        }
    }

    #[test]
    fn recording_becomes_rarer_while_it_takes_more_than_its_share() {
        let mut rate = Rate::new(None);
        let mut used = 0;
        for _ in 0..1000 {
            used += 2_000_000;
            rate.spend(900_000, used);
        }
        assert!(rate.weight() > 1 << FIRST);
        assert_eq!(rate.spent(), 900_000_000);
        rate.spend(1 << 40, used);
        assert_eq!(rate.spent(), 900_000_000 + LONGEST, "the thread waited");
        let mut fixed = Rate::new(Some(64));
        (0..1000).for_each(|used| fixed.spend(900_000, used));
        assert_eq!(fixed.weight(), 64);
    }

    #[test]
    fn many_children_that_live_for_milliseconds_are_not_recorded_for_as_long() {
        let (mut used, mut spent) = (0, 0);
        for number in 1..=256 {
            let mut rate = Rate::new(None);
            rate.restart(number);
            let (mut own, record) = (0, 20_000);
            while own < 1 << 22 {
                own += 400 * rate.weight() + record;
                rate.spend(record, own);
            }
            (used, spent) = (used + own, spent + rate.spent());
        }
        assert!(spent < used / 8, "{spent} of {used}");
    }

    /// However long it waits between its blocks.
    #[test]
    fn recording_takes_its_share_of_the_processor_s_time_and_a_credit_for_each_rate() {
        for (work, record) in [(20_000_u64, 5_000_u64), (400, 20_000)] {
            let (mut rate, mut used) = (Rate::new(None), 0);
            while used < 1 << 33 {
                used += work * rate.weight() + record;
                rate.spend(record, used);
            }
            assert!(
                rate.spent() <= used / SHARE + 6 * (CREDIT + record),
                "{work}: {}",
                rate.spent()
            );
        }
    }
}
