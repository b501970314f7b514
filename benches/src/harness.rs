//! Interleaved timing: in every round each contestant of a row runs one batch, in an order that rotates,
//! so that what else the machine does falls on all of them alike. A ratio is taken within a round.

use std::{hint::black_box, path::PathBuf, process::ExitCode, time::Instant};

/// What a run does.
pub struct Plan {
    /// Rounds a row.
    pub rounds: usize,
    /// Only rows whose name contains this.
    pub only: String,
    /// Where the record goes.
    pub csv: Option<PathBuf>,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { rounds: 600, only: String::new(), csv: None }
    }
}

/// One side of a row.
pub struct Contestant<'a> {
    name: &'static str,
    /// Runs one batch of so many operations.
    batch: Box<dyn FnMut() + 'a>,
}

/// A contestant that runs `batch`.
pub fn contestant<'a>(name: &'static str, batch: impl FnMut() + 'a) -> Contestant<'a> {
    Contestant { name, batch: Box::new(batch) }
}

/// What a row must show.
pub enum Bar {
    /// At least so many times as fast as the best contestant that is neither ours nor the limit.
    BestPeer(f64),
    /// At least so many times as fast as the named contestant.
    AtLeast(f64, &'static str),
    /// At most so many times the time of the named contestant.
    AtMost(f64, &'static str),
}

/// The name of the contestant that is measured against the others.
pub const OURS: &str = "ebbtide";
/// The contestant that checks nothing: what no arena can beat.
pub const LIMIT: &str = "limit";

/// Collects rows.
pub struct Bench {
    plan: Plan,
    record: String,
    missed: usize,
}

impl Bench {
    pub fn new(plan: Plan) -> Self {
        Bench {
            plan,
            record: String::from("row,contestant,median_ns,p99_ns,ratio,ratio_low,ratio_high\n"),
            missed: 0,
        }
    }

    /// Measures one row. A batch does `operations` operations; the first contestant is ours.
    pub fn row(
        &mut self,
        name: &str,
        operations: usize,
        mut contestants: Vec<Contestant<'_>>,
        bars: &[Bar],
    ) {
        if !name.contains(&self.plan.only) {
            return;
        }
        let mut times = vec![Vec::with_capacity(self.plan.rounds); contestants.len()];
        for side in &mut contestants {
            for _ in 0..20 {
                (side.batch)();
            }
        }
        let count = contestants.len();
        for round in 0..self.plan.rounds {
            for place in 0..count {
                let index = (round + place) % count;
                let start = Instant::now();
                (contestants[index].batch)();
                let elapsed = start.elapsed();
                #[allow(clippy::cast_precision_loss)]
                times[index].push(elapsed.as_nanos() as f64 / operations as f64);
            }
        }
        println!("\n{name}");
        let mut ratios = Vec::new();
        for (side, own) in contestants.iter().zip(&times) {
            let ratio = Spread::of(own.iter().zip(&times[0]).map(|(theirs, ours)| theirs / ours));
            let time = Spread::of(own.iter().copied());
            println!(
                "  {:<20} {:>8.3} ns  p99 {:>8.3}   theirs/ours {:>6.2}  [{:.2}, {:.2}]",
                side.name, time.median, time.p99, ratio.median, ratio.low, ratio.high
            );
            self.record.push_str(&format!(
                "{name},{},{:.4},{:.4},{:.4},{:.4},{:.4}\n",
                side.name, time.median, time.p99, ratio.median, ratio.low, ratio.high
            ));
            ratios.push((side.name, ratio));
        }
        for bar in bars {
            self.check(bar, &ratios);
        }
    }

    fn check(&mut self, bar: &Bar, ratios: &[(&'static str, Spread)]) {
        let (held, text) = match bar {
            Bar::BestPeer(least) => {
                let peers =
                    ratios.iter().filter(|(name, _)| !name.starts_with(OURS) && *name != LIMIT);
                let Some((name, best)) = peers.min_by(|a, b| a.1.median.total_cmp(&b.1.median))
                else {
                    return;
                };
                let held = best.median >= *least;
                (held, format!("{:.2} of {least} against the best peer, {name}", best.median))
            }
            Bar::AtLeast(least, against) => {
                let Some((_, ratio)) = ratios.iter().find(|(name, _)| name == against) else {
                    return;
                };
                let held = ratio.median >= *least;
                (held, format!("{:.2} of {least} against {against}", ratio.median))
            }
            Bar::AtMost(most, against) => {
                let Some((_, ratio)) = ratios.iter().find(|(name, _)| name == against) else {
                    return;
                };
                let cost = 1.0 / ratio.median;
                (cost <= *most, format!("{cost:.2} of at most {most} × {against}"))
            }
        };
        self.missed += usize::from(!held);
        println!("  {} {text}", if held { "held  " } else { "MISSED" });
    }

    /// Writes the record, and says whether every bar was held.
    pub fn verdict(self) -> ExitCode {
        if let Some(path) = &self.plan.csv
            && let Err(error) = std::fs::write(path, &self.record)
        {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("\n{} bars missed", self.missed);
        ExitCode::from(u8::from(self.missed > 0))
    }
}

/// The distribution of a figure over the rounds.
struct Spread {
    median: f64,
    p99: f64,
    /// A 95 % interval of the median, by order statistics.
    low: f64,
    high: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let half_width = (0.98 * (n as f64).sqrt()).ceil() as usize;
        Spread {
            median: values[n / 2],
            p99: values[n * 99 / 100],
            low: values[(n / 2).saturating_sub(half_width)],
            high: values[(n / 2 + half_width).min(n - 1)],
        }
    }
}

/// Makes the compiler believe that something looks at the pointer, at what it points to, and at any other
/// memory it can reach, as an opaque call between two allocations would.
#[inline(always)]
pub fn observe<T: ?Sized>(value: &mut T) {
    black_box(value);
}

/// Hides a number from the optimiser.
pub fn hidden(number: usize) -> usize {
    black_box(number)
}
