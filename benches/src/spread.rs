//! A median over many rounds, with a confidence interval.

/// The distribution of a figure over the rounds.
pub struct Spread {
    pub median: f64,
    pub p99: f64,
    /// A 95 % interval of the median, by order statistics.
    pub low: f64,
    pub high: f64,
}

impl Spread {
    #[must_use]
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
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
