//! Two controls: a scope with one allocation, and scopes from which much escapes.

use super::text::Numbers;
use crate::Arena;
use std::{collections::VecDeque, fmt::Write, hint::black_box};

/// One box per scope.
pub(super) fn single<A: Arena>(scopes: usize) -> impl FnMut() -> u64 {
    move || {
        let most = scopes as u64;
        let sum = (0..most).map(|n| A::scope(|| *black_box(Box::new(n)))).sum();
        assert_eq!(sum, most * (most - 1) / 2);
        sum
    }
}

#[derive(Clone)]
struct Record {
    name: String,
    place: String,
    tags: Vec<String>,
    count: u64,
}

impl Record {
    fn sum(&self) -> u64 {
        let tags: usize = self.tags.iter().map(String::len).sum();
        self.count + (self.name.len() + self.place.len() + tags) as u64
    }
}

/// The number of records kept at a time.
const LIVE: usize = 2_000;

/// Parses records, `together` of them in a scope, and keeps every eighth for a while.
pub(super) fn kept<A: Arena>(records: usize, together: usize) -> impl FnMut() -> u64 {
    keep::<A>(records, together, |records| records)
}

/// The same, but copies the records it keeps out of the arena.
pub(super) fn copied_out<A: Arena>(records: usize, together: usize) -> impl FnMut() -> u64 {
    keep::<A>(records, together, |records| A::take_out(records))
}

fn keep<A: Arena>(
    records: usize,
    together: usize,
    keep: fn(Vec<Record>) -> Vec<Record>,
) -> impl FnMut() -> u64 {
    let mut numbers = Numbers::new(7);
    let mut all = Vec::new();
    for _ in 0..records {
        let mut line = String::new();
        let tags = numbers.below(6);
        write!(
            line,
            "{};{};{};{}",
            numbers.words(2),
            numbers.words(1),
            numbers.below(1000),
            numbers.words(tags)
        )
        .expect("a string takes all");
        all.push(line);
    }
    let expected: u64 = all.iter().map(|line| parse(line).sum()).sum();
    let mut kept = VecDeque::with_capacity(LIVE + records);
    move || {
        let mut sum = 0;
        for (number, lines) in all.chunks(together).enumerate() {
            let escaped = A::scope(|| keep(once(number * together, lines, &mut sum)));
            kept.extend(escaped);
            while kept.len() > LIVE {
                kept.pop_front();
            }
        }
        assert_eq!(sum, expected);
        assert!(kept.iter().map(Record::sum).sum::<u64>() > 0);
        sum
    }
}

/// Sums up the records, and returns every eighth.
#[inline(never)]
fn once(first: usize, lines: &[String], sum: &mut u64) -> Vec<Record> {
    let records: Vec<Record> = lines.iter().map(|line| parse(line)).collect();
    *sum += records.iter().map(Record::sum).sum::<u64>();
    let eighths = (first..).zip(records).filter(|(number, _)| number % 8 == 0);
    eighths.map(|(_, record)| record).collect()
}

fn parse(line: &str) -> Record {
    let cells: Vec<String> = line.split(';').map(str::to_owned).collect();
    let [name, place, count, tags] = <[String; 4]>::try_from(cells).expect("four cells a line");
    Record {
        name,
        place,
        tags: tags.split(' ').map(str::to_owned).collect(),
        count: count.parse().expect("a number"),
    }
}
