//! Times the common methods of vectors and strings: ours, the standard library's over its heap,
//! bumpalo's and bump-scope's. Every batch makes a collection, does one thing, and checks what came
//! out of it.
//!
//! `cargo run --release --bin collections -- [--quick] [--only TEXT] [--csv FILE]`

use ebbtide::Arena;
use ebbtide_benches::harness::{self, Bar, Bench, Contestant, contestant, hidden, observe};
use std::{fmt::Write, hint::black_box, process::ExitCode, time::Duration};

fn main() -> ExitCode {
    harness::main(Duration::from_millis(1500), Duration::from_millis(250), |bench| {
        for len in [4, 64, 1_024, 16_384] {
            vectors::<u8>(bench, "bytes", len, |n| n as u8);
            vectors::<u32>(bench, "words", len, |n| n as u32);
            vectors::<Record>(bench, "structs", len, |n| Record {
                key: n as u64,
                at: [n as u32; 4],
            });
            texts(bench, len);
        }
    })
}

/// An element of 24 bytes.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
struct Record {
    key: u64,
    at: [u32; 4],
}

/// What all four vectors can do, by the fastest method that each has for it.
trait List<T>: Sized {
    fn push(&mut self, value: T);
    fn clone_from(&mut self, values: &[T]);
    fn copy_from(&mut self, values: &[T]);
    fn extend(&mut self, values: impl Iterator<Item = T>);
    fn resize(&mut self, len: usize, value: T);
    fn insert(&mut self, index: usize, value: T);
    fn remove(&mut self, index: usize) -> T;
    fn retain(&mut self, keep: impl FnMut(&mut T) -> bool);
    fn drain_half(&mut self) -> usize;
    fn dedup(&mut self);
    fn duplicate(&self) -> usize;
    fn slice(&mut self) -> &mut [T];
    /// Takes the elements out by value.
    fn empty(self) -> usize;
}

macro_rules! list {
    ([$($parameters:tt)*] $list:ty, $clone:ident, $copy:ident, $retain:ident, $value:ident => $keep:expr) => {
        impl<$($parameters)* T: Copy + PartialEq> List<T> for $list {
            #[inline(always)]
            fn push(&mut self, value: T) {
                self.push(value);
            }
            #[inline(always)]
            fn clone_from(&mut self, values: &[T]) {
                self.$clone(values);
            }
            #[inline(always)]
            fn copy_from(&mut self, values: &[T]) {
                self.$copy(values);
            }
            #[inline(always)]
            fn extend(&mut self, values: impl Iterator<Item = T>) {
                Extend::extend(self, values);
            }
            #[inline(always)]
            fn resize(&mut self, len: usize, value: T) {
                self.resize(len, value);
            }
            #[inline(always)]
            fn insert(&mut self, index: usize, value: T) {
                self.insert(index, value);
            }
            #[inline(always)]
            fn remove(&mut self, index: usize) -> T {
                self.remove(index)
            }
            #[inline(always)]
            fn retain(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
                self.$retain(|$value| keep($keep));
            }
            #[inline(always)]
            fn drain_half(&mut self) -> usize {
                self.drain(..self.len() / 2).count()
            }
            #[inline(always)]
            fn dedup(&mut self) {
                self.dedup();
            }
            #[inline(always)]
            fn duplicate(&self) -> usize {
                black_box(&mut self.clone()).len()
            }
            #[inline(always)]
            fn slice(&mut self) -> &mut [T] {
                self
            }
            #[inline(always)]
            fn empty(self) -> usize {
                self.into_iter().fold(0, |count, value| {
                    black_box(value);
                    count + 1
                })
            }
        }
    };
}
list!([] Vec<T>, extend_from_slice, extend_from_slice, retain_mut, value => value);
list!(['s, 'a,] ebbtide::collections::Vec<'s, 'a, T>, extend_from_slice, extend_from_slice_copy, retain_mut, value => value);
list!(['b,] bumpalo::collections::Vec<'b, T>, extend_from_slice, extend_from_slice_copy, retain_mut, value => value);
list!(['b,] bump_scope::BumpVec<T, &'b bump_scope::Bump>, extend_from_slice_clone, extend_from_slice_copy, retain, value => value);

/// One contestant a vector, each of which is made anew for `$body`, several times a batch.
macro_rules! contestants {
    ($len:expr, |$list:ident| $body:expr) => {{
        let turns = (4_096 / $len).max(1);
        let mut arena = Arena::new();
        let mut bump = bumpalo::Bump::new();
        let mut scoped: bump_scope::Bump = bump_scope::Bump::new();
        let contestants: Vec<Contestant<'_>> = vec![
            contestant("ebbtide", move || {
                for _ in 0..turns {
                    let s = arena.scope();
                    #[allow(unused_mut)]
                    let mut $list = s.vec();
                    black_box($body);
                }
            }),
            contestant("std", move || {
                for _ in 0..turns {
                    #[allow(unused_mut)]
                    let mut $list = Vec::new();
                    black_box($body);
                }
            }),
            contestant("bumpalo", move || {
                for _ in 0..turns {
                    {
                        #[allow(unused_mut)]
                        let mut $list = bumpalo::collections::Vec::new_in(&bump);
                        black_box($body);
                    }
                    bump.reset();
                }
            }),
            contestant("bump-scope", move || {
                for _ in 0..turns {
                    {
                        #[allow(unused_mut)]
                        let mut $list = bump_scope::BumpVec::new_in(&scoped);
                        black_box($body);
                    }
                    scoped.reset();
                }
            }),
        ];
        (turns, contestants)
    }};
}

fn vectors<T: Copy + PartialEq + PartialOrd + 'static>(
    bench: &mut Bench,
    kind: &str,
    len: usize,
    make: impl Fn(usize) -> T + Copy,
) {
    let values: Vec<T> = (0..len).map(make).collect();
    let values = &values[..];
    let mut row = |what: &str, (turns, contestants): (usize, Vec<Contestant<'_>>)| {
        let name = format!("collections: {what}, {len} {kind}");
        bench.row(&name, turns, contestants, &[Bar::BestPeer(1.0)]);
    };
    fn check<T: PartialEq>(list: &mut impl List<T>, len: usize) {
        observe(list.slice());
        assert_eq!(list.slice().len(), len);
    }

    row(
        "push",
        contestants!(len, |list| {
            for n in 0..hidden(len) {
                List::push(&mut list, make(n));
            }
            check(&mut list, len)
        }),
    );
    row(
        "extend_from_slice",
        contestants!(len, |list| {
            List::clone_from(&mut list, black_box(values));
            check(&mut list, len)
        }),
    );
    row(
        "extend_from_slice_copy",
        contestants!(len, |list| {
            List::copy_from(&mut list, black_box(values));
            check(&mut list, len)
        }),
    );
    row(
        "extend a range",
        contestants!(len, |list| {
            List::extend(&mut list, (0..hidden(len)).map(make));
            check(&mut list, len)
        }),
    );
    row(
        "extend a filter",
        contestants!(len, |list| {
            List::extend(
                &mut list,
                black_box(values).iter().copied().filter(|value| *value != values[0]),
            );
            observe(List::slice(&mut list));
        }),
    );
    row(
        "extend a chain",
        contestants!(len, |list| {
            let (one, other) = black_box(values).split_at(len / 2);
            List::extend(&mut list, one.iter().copied().chain(other.iter().copied()));
            check(&mut list, len)
        }),
    );
    row(
        "resize",
        contestants!(len, |list| {
            List::resize(&mut list, hidden(len), make(7));
            check(&mut list, len)
        }),
    );
    row(
        "clone",
        contestants!(len, |list| {
            List::copy_from(&mut list, black_box(values));
            assert_eq!(List::duplicate(&list), len);
        }),
    );
    row(
        "retain",
        contestants!(len, |list| {
            List::copy_from(&mut list, black_box(values));
            let mut turn = 0;
            List::retain(&mut list, |_| {
                turn += 1;
                turn % 2 == 0
            });
            check(&mut list, len / 2)
        }),
    );
    row(
        "drain",
        contestants!(len, |list| {
            List::copy_from(&mut list, black_box(values));
            assert_eq!(List::drain_half(&mut list), len / 2);
            check(&mut list, len / 2)
        }),
    );
    row(
        "dedup",
        contestants!(len, |list| {
            List::copy_from(&mut list, black_box(values));
            List::dedup(&mut list);
            observe(List::slice(&mut list));
        }),
    );
    row(
        "into_iter",
        contestants!(len, |list| {
            List::copy_from(&mut list, black_box(values));
            assert_eq!(List::empty(list), len);
        }),
    );
    if len <= 1_024 {
        row(
            "insert in front",
            contestants!(len, |list| {
                for n in 0..hidden(len).min(64) {
                    List::insert(&mut list, 0, make(n));
                }
                check(&mut list, len.min(64))
            }),
        );
        row(
            "remove from the front",
            contestants!(len, |list| {
                List::copy_from(&mut list, black_box(values));
                for _ in 0..hidden(len).min(64) {
                    black_box(List::remove(&mut list, 0));
                }
                check(&mut list, len - len.min(64))
            }),
        );
    }
}

/// One contestant a string.
macro_rules! texts {
    ($len:expr, |$text:ident| $body:expr) => {{
        let turns = (4_096 / $len).max(1);
        let mut arena = Arena::new();
        let mut bump = bumpalo::Bump::new();
        let mut scoped: bump_scope::Bump = bump_scope::Bump::new();
        let contestants: Vec<Contestant<'_>> = vec![
            contestant("ebbtide", move || {
                for _ in 0..turns {
                    let s = arena.scope();
                    let mut $text = s.string();
                    $body;
                    observe::<str>(&mut $text);
                }
            }),
            contestant("std", move || {
                for _ in 0..turns {
                    let mut $text = String::new();
                    $body;
                    observe::<str>(&mut $text);
                }
            }),
            contestant("bumpalo", move || {
                for _ in 0..turns {
                    {
                        let mut $text = bumpalo::collections::String::new_in(&bump);
                        $body;
                        observe::<str>(&mut $text);
                    }
                    bump.reset();
                }
            }),
            contestant("bump-scope", move || {
                for _ in 0..turns {
                    {
                        let mut $text = bump_scope::BumpString::new_in(&scoped);
                        $body;
                        observe::<str>(&mut $text);
                    }
                    scoped.reset();
                }
            }),
        ];
        (turns, contestants)
    }};
}

fn texts(bench: &mut Bench, len: usize) {
    let long = "ebb and flow ".repeat(len / 13 + 1);
    let long = &long[..len];
    let words: Vec<&str> = long.split(' ').collect();
    let words = &words[..];
    let mut row = |what: &str, (turns, contestants): (usize, Vec<Contestant<'_>>)| {
        let name = format!("collections: {what}, {len} characters");
        bench.row(&name, turns, contestants, &[Bar::BestPeer(1.0)]);
    };
    row("push_str once", texts!(len, |text| text.push_str(black_box(long))));
    row(
        "push_str of words",
        texts!(len, |text| {
            for word in black_box(words) {
                text.push_str(word);
            }
        }),
    );
    row(
        "push",
        texts!(len, |text| {
            for n in 0..hidden(len) {
                text.push(if n % 16 == 15 { 'é' } else { 'e' });
            }
        }),
    );
    row("extend of characters", texts!(len, |text| text.extend(black_box(long).chars())));
    row(
        "join",
        texts!(len, |text| {
            for (n, word) in black_box(words).iter().enumerate() {
                if n > 0 {
                    text.push_str(", ");
                }
                text.push_str(word);
            }
        }),
    );
    row(
        "format",
        texts!(len, |text| {
            for n in 0..hidden(len) / 4 {
                write!(text, "{n}, ").expect("there is memory");
            }
        }),
    );
    row(
        "insert_str in front",
        texts!(len, |text| {
            for word in black_box(words).iter().take(64) {
                text.insert_str(0, word);
            }
        }),
    );
}
