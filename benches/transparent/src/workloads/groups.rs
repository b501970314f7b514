//! Parses lines of text into records of strings, groups them by a string, and sorts the groups and
//! their records.

use super::text::Numbers;
use std::{collections::HashMap, fmt::Write};

struct Sale {
    product: String,
    customer: String,
    cents: u64,
}

pub(super) fn groups(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(3);
    let mut lines = String::new();
    let mut total = 0;
    for _ in 0..size {
        let (city, product) = (numbers.words(2), numbers.words(3));
        let cents = numbers.below(10_000);
        total += cents as u64;
        writeln!(lines, "{city};{product};{};{cents}", numbers.words(1))
            .expect("a string takes all");
    }
    assert_eq!(once(&lines) >> 32, total);
    move || once(&lines)
}

/// The total of all sales, and the length of a report on them.
#[inline(never)]
fn once(lines: &str) -> u64 {
    let mut cities: HashMap<String, Vec<Sale>> = HashMap::new();
    for line in lines.lines() {
        let mut cells = line.split(';').map(str::to_owned);
        let mut cell = || cells.next().expect("four cells a line");
        let (city, product, customer, cents) = (cell(), cell(), cell(), cell());
        let cents = cents.parse().expect("the last is a number");
        cities.entry(city).or_default().push(Sale { product, customer, cents });
    }
    let mut cities: Vec<(String, Vec<Sale>)> = cities.into_iter().collect();
    cities.sort_by(|a, b| a.0.cmp(&b.0));
    let mut total = 0;
    let mut report = String::new();
    for (city, mut sales) in cities {
        sales.sort_by(|a, b| (&a.product, a.cents).cmp(&(&b.product, b.cents)));
        let sum: u64 = sales.iter().map(|sale| sale.cents).sum();
        let first = &sales[0];
        report += &format!("{city}: {sum}, {} for {}\n", first.product, first.customer);
        total += sum;
    }
    total << 32 | report.len() as u64
}
