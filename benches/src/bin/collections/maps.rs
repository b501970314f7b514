//! Maps. All of them are hashbrown's with the same hasher; only the table's allocator differs. So one
//! type of keys and values is enough.

use crate::{Rows, contestants};
use ebbtide_benches::harness::{hidden, observe};
use hashbrown::{DefaultHashBuilder as Hasher, HashMap};
use std::hint::black_box;

/// A row of maps. Each iteration runs the body with a new map.
macro_rules! maps {
    ($rows:ident, $name:expr, |$map:ident| $body:expr) => {
        $rows.row(
            &$name,
            contestants!(
                |s| {
                    let mut $map = s.map();
                    $body;
                    observe(&mut *$map);
                },
                {
                    let mut $map = std::collections::HashMap::<_, _, Hasher>::default();
                    $body;
                    observe(&mut $map);
                },
                |bump| {
                    let mut $map = HashMap::with_hasher_in(Hasher::default(), bump);
                    $body;
                    observe(&mut $map);
                },
                |bump| {
                    let mut $map = HashMap::with_hasher_in(Hasher::default(), bump);
                    $body;
                    observe(&mut $map);
                }
            ),
        )
    };
}

pub fn run(rows: &mut Rows<'_>, len: usize) {
    let make = |n: usize| (n as u32, 7_u32);
    let entries: Vec<(u32, u32)> = (0..len).map(make).collect();
    let entries = &entries[..];
    let with = &format!("a map of {len} words");
    maps!(rows, format!("insert, {with}"), |map| {
        for n in 0..hidden(len) {
            let (key, value) = make(n);
            map.insert(key, value);
        }
        assert_eq!(map.len(), len);
    });
    maps!(rows, format!("reserve and insert, {with}"), |map| {
        map.reserve(hidden(len));
        for &(key, value) in black_box(entries) {
            map.insert(key, value);
        }
        assert_eq!(map.len(), len);
    });
    maps!(rows, format!("extend, {with}"), |map| {
        map.extend(black_box(entries).iter().copied());
        assert_eq!(map.len(), len);
    });
    maps!(rows, format!("count by entry, {with}"), |map| {
        for &(key, value) in black_box(entries) {
            *map.entry(key).or_insert((0, value)) = (1, value);
        }
        for &(key, value) in black_box(entries) {
            map.entry(key).or_insert((0, value)).0 += 1;
        }
        assert_eq!(map[&entries[0].0].0, 2);
    });
    maps!(rows, format!("get, {with}"), |map| {
        map.extend(black_box(entries).iter().copied());
        for (key, _) in black_box(entries) {
            black_box(map.get(key));
        }
    });
    maps!(rows, format!("remove, {with}"), |map| {
        map.extend(black_box(entries).iter().copied());
        for (key, _) in &black_box(entries)[..len / 2] {
            black_box(map.remove(key));
        }
        assert_eq!(map.len(), len - len / 2);
    });
    maps!(rows, format!("retain, {with}"), |map| {
        map.extend(black_box(entries).iter().copied());
        let mut turn = 0;
        map.retain(|_, _| {
            turn += 1;
            turn % 2 == 0
        });
        assert_eq!(map.len(), len / 2);
    });
    maps!(rows, format!("iterate, {with}"), |map| {
        map.extend(black_box(entries).iter().copied());
        for entry in &map {
            black_box(entry);
        }
    });
    maps!(rows, format!("clone, {with}"), |map| {
        map.extend(black_box(entries).iter().copied());
        observe(&mut map.clone());
    });
}
