//! A `BTreeMap` of strings: filled, queried, partly emptied, dropped.

use super::text::Numbers;
use std::collections::BTreeMap;

pub(super) fn trees(size: usize) -> impl Fn() -> u64 {
    move || once(size)
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
