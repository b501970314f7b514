//! Vectors of bytes, words, structs and strings.

use crate::{
    Rows, contestants,
    lists::{Copies, Splits},
};
use ebbtide::collections::Vec as ScopeVec;
use ebbtide_benches::harness::{hidden, observe, repeated};
use std::{fmt::Debug, hint::black_box};

/// An element of 40 bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Record {
    key: u64,
    at: [u32; 8],
}

/// The source of the strings.
static DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz";

pub fn run(rows: &mut Rows<'_>, len: usize) {
    of::<u8>(rows, "bytes", len, |n| n as u8);
    of::<u32>(rows, "words", len, |n| n as u32);
    of::<Record>(rows, "structs", len, |n| Record { key: n as u64, at: [n as u32; 8] });
    of::<&'static str>(rows, "strings", len, |n| &DIGITS[n % 36..n % 36 + 3 + n % 29]);
    owned_strings(rows, len);
}

/// The contestants of a row of vectors. Each iteration runs the body with a new vector; the
/// arguments say how to create ours.
macro_rules! vectors {
    (|$s:ident| $ours:expr, |$list:ident| $body:expr) => {
        contestants!(
            |$s| {
                let mut $list = $ours;
                black_box($body);
            },
            {
                let mut $list = Vec::new();
                black_box($body);
            },
            |bump| {
                let mut $list = bumpalo::collections::Vec::new_in(bump);
                black_box($body);
            },
            |bump| {
                let mut $list = bump_scope::BumpVec::new_in(bump);
                black_box($body);
            }
        )
    };
}

/// A row of vectors.
macro_rules! lists {
    ($rows:ident, $name:expr, |$list:ident| $body:expr) => {
        $rows.row(&$name, vectors!(|s| s.vec(), |$list| $body))
    };
}

/// The same, plus a row of `GrowVec`, which is also compared with bump-scope's exclusive vector.
macro_rules! growing {
    ($rows:ident, $what:expr, $with:expr, |$list:ident| $body:expr) => {{
        lists!($rows, format!("{}, {}", $what, $with), |$list| $body);
        let mut contestants = vectors!(|s| s.grow_vec(), |$list| $body);
        let mut bump: bump_scope::Bump = bump_scope::Bump::new();
        contestants.push(repeated("bump-scope, exclusive", move |turns| {
            for _ in 0..turns {
                {
                    let mut $list = bump_scope::MutBumpVec::new_in(&mut bump);
                    black_box($body);
                }
                bump.reset();
            }
        }));
        $rows.row(&format!("GrowVec, {}, {}", $what, $with), contestants);
    }};
}

/// Hides the vector from the optimiser, and checks its length.
#[inline(always)]
fn check<T>(list: &mut [T], len: usize) {
    observe(list);
    assert_eq!(list.len(), len);
}

fn of<T: Copy + PartialEq + Debug + 'static>(
    rows: &mut Rows<'_>,
    kind: &str,
    len: usize,
    make: impl Fn(usize) -> T + Copy,
) {
    let values: Vec<T> = (0..len).map(make).collect();
    let values = &values[..];
    let with = &format!("{len} {kind}");

    // Methods that add elements.
    growing!(rows, "push", with, |list| {
        for n in 0..hidden(len) {
            list.push(make(n));
        }
        check(&mut list, len)
    });
    growing!(rows, "extend_from_slice", with, |list| {
        list.clone_all(black_box(values));
        check(&mut list, len)
    });
    growing!(rows, "extend_from_slice_copy", with, |list| {
        list.copy_all(black_box(values));
        check(&mut list, len)
    });
    growing!(rows, "extend from eight slices", with, |list| {
        for part in black_box(values).chunks((len / 8).max(1)) {
            list.copy_all(part);
        }
        check(&mut list, len)
    });
    growing!(rows, "extend a slice's iterator", with, |list| {
        list.extend(black_box(values).iter().copied());
        check(&mut list, len)
    });
    growing!(rows, "extend a range", with, |list| {
        list.extend((0..hidden(len)).map(make));
        check(&mut list, len)
    });
    growing!(rows, "extend a filter", with, |list| {
        let values = black_box(values);
        let first = values[0];
        list.extend(values.iter().copied().filter(|value| *value != first));
        observe(&mut list[..]);
    });
    growing!(rows, "extend a chain", with, |list| {
        let (one, other) = black_box(values).split_at(len / 2);
        list.extend(one.iter().copied().chain(other.iter().copied()));
        check(&mut list, len)
    });
    growing!(rows, "resize", with, |list| {
        list.resize(hidden(len), make(7));
        check(&mut list, len)
    });
    growing!(rows, "insert in front", with, |list| {
        for n in 0..hidden(len).min(64) {
            list.insert(0, make(n));
        }
        check(&mut list, len.min(64))
    });
    rows.row(
        &format!("collect, {with}"),
        contestants!(
            |s| check(&mut ScopeVec::from_iter_in((0..hidden(len)).map(make), &s), len),
            check(&mut (0..hidden(len)).map(make).collect::<Vec<_>>(), len),
            |bump| check(
                &mut bumpalo::collections::Vec::from_iter_in((0..hidden(len)).map(make), bump),
                len
            ),
            |bump| check(
                &mut bump_scope::BumpVec::from_iter_in((0..hidden(len)).map(make), bump),
                len
            )
        ),
    );
    macro_rules! filled {
        ($list:expr) => {{
            let mut list = $list;
            for n in 0..hidden(len) {
                list.push(make(n));
            }
            check(&mut list, len);
        }};
    }
    rows.row(
        &format!("push with a capacity, {with}"),
        contestants!(
            |s| filled!(s.vec_with_capacity(hidden(len))),
            filled!(Vec::with_capacity(hidden(len))),
            |bump| filled!(bumpalo::collections::Vec::with_capacity_in(hidden(len), bump)),
            |bump| filled!(bump_scope::BumpVec::with_capacity_in(hidden(len), bump))
        ),
    );

    // Methods that remove or move them.
    lists!(rows, format!("clone, {with}"), |list| {
        list.copy_all(black_box(values));
        assert_eq!(black_box(&mut list.clone()).len(), len);
    });
    lists!(rows, format!("pop, {with}"), |list| {
        list.copy_all(black_box(values));
        while let Some(value) = list.pop() {
            black_box(value);
        }
    });
    lists!(rows, format!("remove from the front, {with}"), |list| {
        list.copy_all(black_box(values));
        for _ in 0..hidden(len).min(64) {
            black_box(list.remove(0));
        }
        check(&mut list, len - len.min(64))
    });
    lists!(rows, format!("swap_remove, {with}"), |list| {
        list.copy_all(black_box(values));
        for _ in 0..hidden(len / 2) {
            black_box(list.swap_remove(len / 4));
        }
        check(&mut list, len - len / 2)
    });
    lists!(rows, format!("retain, {with}"), |list| {
        list.copy_all(black_box(values));
        list.retain_every_other();
        check(&mut list, len / 2)
    });
    lists!(rows, format!("dedup, {with}"), |list| {
        list.copy_all(black_box(values));
        list.dedup();
        observe(&mut list[..]);
    });
    lists!(rows, format!("drain, {with}"), |list| {
        list.copy_all(black_box(values));
        assert_eq!(counted(list.drain(..len / 2)), len / 2);
        check(&mut list, len / 2)
    });
    lists!(rows, format!("splice, {with}"), |list| {
        list.copy_all(black_box(values));
        drop(list.splice(len / 4..3 * (len / 4), (0..hidden(len / 2)).map(make)));
        check(&mut list, len)
    });
    lists!(rows, format!("split_off, {with}"), |list| {
        list.copy_all(black_box(values));
        let other = list.split(len / 2);
        assert_eq!([black_box(&mut list).len(), black_box(other).len()], [len / 2; 2]);
    });
    lists!(rows, format!("into_iter, {with}"), |list| {
        list.copy_all(black_box(values));
        assert_eq!(counted(list.into_iter()), len);
    });
}

/// Takes all values, and counts them.
#[inline(always)]
fn counted<T>(values: impl Iterator<Item = T>) -> usize {
    values.fold(0, |count, value| {
        black_box(value);
        count + 1
    })
}

/// Vectors of strings in the same arena. The characters of each string are in a block of their own.
fn owned_strings(rows: &mut Rows<'_>, len: usize) {
    let words: Vec<&str> = (0..len).map(|n| &DIGITS[n % 36..n % 36 + 3 + n % 29]).collect();
    let words = &words[..];
    macro_rules! row {
        ($what:expr, |$list:ident| $then:expr) => {
            rows.row(
                &format!("{}, {len} owned strings", $what),
                contestants!(
                    |s| {
                        let mut $list = s.vec();
                        for word in black_box(words) {
                            $list.push(ebbtide::collections::String::from_str_in(word, &s));
                        }
                        observe(&mut $list[..]);
                        $then;
                    },
                    {
                        let mut $list = Vec::new();
                        for word in black_box(words) {
                            $list.push(String::from(*word));
                        }
                        observe(&mut $list[..]);
                        $then;
                    },
                    |bump| {
                        let mut $list = bumpalo::collections::Vec::new_in(bump);
                        for word in black_box(words) {
                            $list.push(bumpalo::collections::String::from_str_in(word, bump));
                        }
                        observe(&mut $list[..]);
                        $then;
                    },
                    |bump| {
                        let mut $list = bump_scope::BumpVec::new_in(bump);
                        for word in black_box(words) {
                            $list.push(bump_scope::BumpString::from_str_in(word, bump));
                        }
                        observe(&mut $list[..]);
                        $then;
                    }
                ),
            )
        };
    }
    row!("push", |list| observe(&mut list));
    row!("clone", |list| observe(&mut list.clone()[..]));
    row!("retain", |list| {
        list.retain(|word| word.len() % 2 == 0);
        observe(&mut list[..]);
    });
}
