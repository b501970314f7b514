//! Two controls: a scope with one allocation, and scopes from which much escapes.

use super::{Workload, text::Numbers};
use crate::Arena;
use std::{collections::VecDeque, fmt::Write, hint::black_box};

/// One box per scope.
pub(super) struct Single;

impl Workload for Single {
    const SCOPES: usize = 20_000;

    fn new(_: usize) -> Self {
        Single
    }

    fn batch<A: Arena>(&mut self) -> u64 {
        let boxed = |n| A::scope(|| *black_box(Box::new(n)));
        let sum = (0..Self::SCOPES as u64).map(boxed).sum();
        let most = Self::SCOPES as u64;
        assert_eq!(sum, most * (most - 1) / 2);
        sum
    }
}

/// Parses records and keeps every eighth for a while.
pub(super) struct Kept {
    lines: Vec<String>,
    together: usize,
    kept: VecDeque<Record>,
    expected: u64,
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

impl Workload for Kept {
    const SCOPES: usize = 4096;

    fn new(together: usize) -> Self {
        let mut numbers = Numbers::new(7);
        let mut lines = Vec::new();
        for _ in 0..Self::SCOPES {
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
            lines.push(line);
        }
        let expected = lines.iter().map(|line| parse(line).sum()).sum();
        Kept { lines, together, kept: VecDeque::with_capacity(LIVE + Self::SCOPES), expected }
    }

    fn batch<A: Arena>(&mut self) -> u64 {
        self.batch_with::<A>(|records| records)
    }
}

impl Kept {
    fn batch_with<A: Arena>(&mut self, keep: fn(Vec<Record>) -> Vec<Record>) -> u64 {
        let mut sum = 0;
        for (number, lines) in self.lines.chunks(self.together).enumerate() {
            let escaped = A::scope(|| keep(once(number * self.together, lines, &mut sum)));
            self.kept.extend(escaped);
            while self.kept.len() > LIVE {
                self.kept.pop_front();
            }
        }
        assert_eq!(sum, self.expected);
        assert!(self.kept.iter().map(Record::sum).sum::<u64>() > 0);
        sum
    }
}

/// The same, but copies the records it keeps out of the arena.
pub(super) struct CopiedOut(Kept);

impl Workload for CopiedOut {
    const SCOPES: usize = Kept::SCOPES;

    fn new(together: usize) -> Self {
        CopiedOut(Kept::new(together))
    }

    fn batch<A: Arena>(&mut self) -> u64 {
        self.0.batch_with::<A>(|records| A::take_out(records))
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
