//! Vectors of bytes, words, structs and strings.

use crate::{
    Rows, contestants,
    lists::{Grows, List, Node},
};
use ebbtide::collections::{NodeVec, Vec as ScopeVec};
use ebbtide_benches::harness::{hidden, observe, repeated};
use std::{fmt::Debug, hint::black_box};

/// An element of 40 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
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

/// The same, plus rows of `GrowVec`, which is also compared with bump-scope's exclusive vector, and
/// of `NodeVec`.
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
        $rows.row(
            &format!("NodeVec, {}, {}", $what, $with),
            vectors!(|s| Node { vec: NodeVec::new(), scope: &s }, |$list| $body),
        );
    }};
}

/// Hides the vector from the optimiser, and checks its length.
#[inline(always)]
fn check<T>(list: &mut impl Grows<T>, len: usize) {
    observe(list.slice());
    assert_eq!(list.slice().len(), len);
}

fn of<T: Copy + Ord + Debug + 'static>(
    rows: &mut Rows<'_>,
    kind: &str,
    len: usize,
    make: impl Fn(usize) -> T + Copy,
) {
    let values: Vec<T> = (0..len).map(make).collect();
    let values = &values[..];
    let shuffled: Vec<T> = (0..len).map(|n| make(n.wrapping_mul(7_919) % len)).collect();
    let shuffled = &shuffled[..];
    let with = &format!("{len} {kind}");

    // Methods that add elements.
    growing!(rows, "push", with, |list| {
        for n in 0..hidden(len) {
            list.push(make(n));
        }
        check(&mut list, len)
    });
    growing!(rows, "extend_from_slice", with, |list| {
        Grows::clone_from(&mut list, black_box(values));
        check(&mut list, len)
    });
    growing!(rows, "extend_from_slice_copy", with, |list| {
        list.copy_from(black_box(values));
        check(&mut list, len)
    });
    growing!(rows, "extend from eight slices", with, |list| {
        for part in black_box(values).chunks((len / 8).max(1)) {
            list.copy_from(part);
        }
        check(&mut list, len)
    });
    growing!(rows, "extend a slice's iterator", with, |list| {
        Grows::extend(&mut list, black_box(values).iter().copied());
        check(&mut list, len)
    });
    growing!(rows, "extend a range", with, |list| {
        Grows::extend(&mut list, (0..hidden(len)).map(make));
        check(&mut list, len)
    });
    growing!(rows, "extend a filter", with, |list| {
        let values = black_box(values);
        let first = values[0];
        Grows::extend(&mut list, values.iter().copied().filter(|value| *value != first));
        observe(list.slice());
    });
    growing!(rows, "extend a chain", with, |list| {
        let (one, other) = black_box(values).split_at(len / 2);
        Grows::extend(&mut list, one.iter().copied().chain(other.iter().copied()));
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
    rows.row(
        &format!("push with a capacity, {with}"),
        contestants!(
            |s| filled(s.vec_with_capacity(hidden(len)), len, make),
            filled(Vec::with_capacity(hidden(len)), len, make),
            |bump| {
                let list = bumpalo::collections::Vec::with_capacity_in(hidden(len), bump);
                filled(list, len, make)
            },
            |bump| filled(bump_scope::BumpVec::with_capacity_in(hidden(len), bump), len, make)
        ),
    );

    // Methods that remove or move them.
    lists!(rows, format!("clone, {with}"), |list| {
        list.copy_from(black_box(values));
        assert_eq!(list.duplicate(), len);
    });
    lists!(rows, format!("pop, {with}"), |list| {
        list.copy_from(black_box(values));
        while let Some(value) = List::pop(&mut list) {
            black_box(value);
        }
    });
    lists!(rows, format!("remove from the front, {with}"), |list| {
        list.copy_from(black_box(values));
        for _ in 0..hidden(len).min(64) {
            black_box(List::remove(&mut list, 0));
        }
        check(&mut list, len - len.min(64))
    });
    lists!(rows, format!("swap_remove, {with}"), |list| {
        list.copy_from(black_box(values));
        for _ in 0..hidden(len / 2) {
            black_box(List::swap_remove(&mut list, len / 4));
        }
        check(&mut list, len - len / 2)
    });
    lists!(rows, format!("retain, {with}"), |list| {
        list.copy_from(black_box(values));
        let mut turn = 0;
        List::retain(&mut list, |_| {
            turn += 1;
            turn % 2 == 0
        });
        check(&mut list, len / 2)
    });
    lists!(rows, format!("dedup, {with}"), |list| {
        list.copy_from(black_box(values));
        List::dedup(&mut list);
        observe(list.slice());
    });
    lists!(rows, format!("drain, {with}"), |list| {
        list.copy_from(black_box(values));
        assert_eq!(list.drain_front(), len / 2);
        check(&mut list, len / 2)
    });
    lists!(rows, format!("splice, {with}"), |list| {
        list.copy_from(black_box(values));
        list.splice_middle((0..hidden(len / 2)).map(make));
        check(&mut list, len)
    });
    lists!(rows, format!("split_off, {with}"), |list| {
        list.copy_from(black_box(values));
        assert_eq!(list.split(), [len / 2; 2]);
    });
    lists!(rows, format!("sort, {with}"), |list| {
        list.copy_from(black_box(shuffled));
        list.slice().sort();
        check(&mut list, len)
    });
    lists!(rows, format!("sort_unstable, {with}"), |list| {
        list.copy_from(black_box(shuffled));
        list.slice().sort_unstable();
        check(&mut list, len)
    });
    lists!(rows, format!("into_iter, {with}"), |list| {
        list.copy_from(black_box(values));
        assert_eq!(list.empty(), len);
    });
}

#[inline(always)]
fn filled<T>(mut list: impl Grows<T>, len: usize, make: impl Fn(usize) -> T) {
    for n in 0..hidden(len) {
        list.push(make(n));
    }
    check(&mut list, len);
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
    row!("sort", |list| {
        list.sort();
        observe(&mut list[..]);
    });
    row!("retain", |list| {
        list.retain(|word| word.len() % 2 == 0);
        observe(&mut list[..]);
    });
}
