//! A `BTreeMap` of strings: filled, queried, partly emptied, dropped.

use super::{Workload, text::Numbers};
use crate::Arena;
use std::collections::BTreeMap;

pub(super) struct Trees {
    size: usize,
    expected: u64,
}

impl Trees {
    pub(super) const SCOPES: usize = 10;
}

impl Workload for Trees {
    fn new(size: usize) -> Self {
        Trees { size, expected: once(size) }
    }

    fn batch<A: Arena>(&mut self) -> u64 {
        for _ in 0..Self::SCOPES {
            assert_eq!(A::scope(|| once(self.size)), self.expected);
        }
        self.expected
    }
}

#[inline(never)]
fn once(size: usize) -> u64 {
    let mut numbers = Numbers::new(4);
    let mut map = BTreeMap::new();
    for index in 0..size {
        map.insert(
            format!("{} {:06}", numbers.word(), numbers.below(1_000_000)),
            index.to_string(),
        );
    }
    let range: usize =
        map.range("compass".to_owned().."lantern".to_owned()).map(|(k, v)| k.len() + v.len()).sum();
    map.retain(|key, _| key.len() % 2 == 0);
    (map.len() as u64) << 32 | range as u64
}
