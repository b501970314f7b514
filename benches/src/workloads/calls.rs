//! Rows like those of bumpalo's own benchmark: values of 8 to 1,024 bytes, moved, copied from a
//! reference, made by a closure, and allocated fallibly; slices that are copied, cloned, filled and
//! collected; formatted text. The rows that append to vectors and strings are in the group of
//! collections.
//!
//! Each row exists twice: *warm*, where the arena is emptied every 16 KiB and stays in the
//! first-level cache, and *cold*, where it is emptied every 4 MiB.
//!
//! The position of the source relative to the block changes the time of a copy by a factor of up to
//! four. So slices and strings are copied from [`PLACES`] places in turn, the same for everyone.

use crate::{
    harness::{Bench, Repeated, Target, hidden, observe, repeated},
    peers::{BlinkAlloc, BumpScope, Bumpalo, Ebbtide, Peer, Stumpalo},
};
use std::{hint::black_box, ops::Range};

/// The bytes allocated before the arena is emptied, and the name of such rows.
const SPANS: [(usize, &str); 2] = [(16 << 10, "warm"), (4 << 20, "cold")];

pub fn run(bench: &mut Bench) {
    for span in SPANS {
        values::<8>(bench, span);
        values::<64>(bench, span);
        values::<256>(bench, span);
        values::<1024>(bench, span);
        for bytes in [8, 72, 128, 256, 512, 1024] {
            slices::<u8>(bench, span, "bytes", bytes, 7);
            slices::<u64>(bench, span, "words", bytes / 8, 7);
            strings(bench, span, bytes);
        }
        formatted(bench, span);
    }
}

/// The number of places that slices and strings are copied from.
const PLACES: usize = 64;

/// The bytes from one place to the next: a multiple of 16, as blocks of the heap are aligned, so
/// that the places have every offset in a cache line that such a block can have, and in a page as
/// many as there are places.
const APART: usize = 80;

/// The places of slices of `len` elements of `size` bytes, again and again.
fn places(len: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..PLACES).cycle().map(move |place| {
        let start = place * APART / size;
        start..start + len
    })
}

/// How many elements the places need in all.
fn span_of_places(len: usize, size: usize) -> usize {
    PLACES * APART / size + len
}

/// One contestant per peer, with the allocation of its group. A source of copies is another part of
/// `$all` every time the arena is emptied.
macro_rules! peers {
    (
        $count:expr $(, $source:ident = $all:ident[$places:expr])?;
        $([$($peer:ident)*] |$handle:ident| $allocation:expr,)*
    ) => {
        peers!(
            @ each ($count $(, $source = $all[$places])?)
            $([$($peer)*] |$handle| $allocation,)*
        )
    };
    (@ each $plan:tt $([$($peer:ident)*] |$handle:ident| $allocation:expr,)*) => {
        vec![$($(peers!(@ $peer, $plan, |$handle| $allocation)),*),*]
    };
    (
        @ $peer:ident, ($count:expr $(, $source:ident = $all:ident[$places:expr])?),
        |$handle:ident| $allocation:expr
    ) => {{
        let mut peer = $peer::with_capacity(CAPACITY);
        $(let mut places = $places;)?
        repeated($peer::NAME, move |turns| {
            for _ in 0..turns {
                $(let $source = &$all[places.next().expect("endless")];)?
                let $handle = peer.open();
                for _ in 0..hidden($count) {
                    observe(&mut *$allocation);
                }
            }
        })
    }};
}

/// The initial capacity of every arena, in bytes.
const CAPACITY: usize = (4 << 20) + (64 << 10);

/// Measures one row.
fn row(bench: &mut Bench, name: &str, contestants: Vec<Repeated<'_>>) {
    bench.repeated_row(&format!("like bumpalo's: {name}"), contestants, &[Target::BestPeer(0.97)]);
}

fn values<const N: usize>(bench: &mut Bench, (span, cache): (usize, &str)) {
    let count = span / N;
    let value = [0x42_u8; N];
    let value = &value;
    row(
        bench,
        &format!("{N} bytes by value, {cache}"),
        peers!(count;
            [Ebbtide Stumpalo Bumpalo BumpScope] |a| a.alloc(black_box([0x42_u8; N])),
            [BlinkAlloc] |b| b.put_no_drop(black_box([0x42_u8; N])),
        ),
    );
    row(
        bench,
        &format!("{N} bytes from a reference, {cache}"),
        peers!(count;
            [Ebbtide Stumpalo Bumpalo BumpScope] |a| a.alloc(*black_box(value)),
            [BlinkAlloc] |b| b.put_no_drop(*black_box(value)),
        ),
    );
    row(
        bench,
        &format!("{N} bytes by closure, {cache}"),
        peers!(count;
            [Ebbtide Stumpalo Bumpalo BumpScope] |a| a.alloc_with(|| [black_box(0x42_u8); N]),
        ),
    );
    row(
        bench,
        &format!("{N} bytes, fallible, {cache}"),
        peers!(count;
            [Ebbtide Stumpalo Bumpalo BumpScope] |a| a.try_alloc(*black_box(value)).expect(ROOM),
        ),
    );
    row(
        bench,
        &format!("{N} bytes by closure, fallible, {cache}"),
        peers!(count;
            [Ebbtide Stumpalo Bumpalo BumpScope]
            |a| a.try_alloc_with(|| [black_box(0x42_u8); N]).expect(ROOM),
        ),
    );
}

const ROOM: &str = "there is room";

fn slices<T: Copy + 'static>(
    bench: &mut Bench,
    (span, cache): (usize, &str),
    kind: &str,
    len: usize,
    value: T,
) {
    let count = span / (len * size_of::<T>());
    let size = size_of::<T>();
    let all = vec![value; span_of_places(len, size)];
    let all = &all[..];
    row(
        bench,
        &format!("a slice of {len} {kind}, copied, {cache}"),
        peers!(count, values = all[places(len, size)];
            [Ebbtide Stumpalo Bumpalo BumpScope] |a| a.alloc_slice_copy(black_box(values)),
            [BlinkAlloc] |b| b.copy_slice(black_box(values)),
        ),
    );
    row(
        bench,
        &format!("a slice of {len} {kind}, cloned, {cache}"),
        peers!(count, values = all[places(len, size)];
            [Ebbtide Stumpalo Bumpalo BumpScope] |a| a.alloc_slice_clone(black_box(values)),
        ),
    );
    row(
        bench,
        &format!("a slice of {len} {kind}, filled, {cache}"),
        peers!(count;
            [Ebbtide] |s| s.alloc_slice_fill_copy(hidden(len), black_box(value)),
            [Stumpalo] |a| {
                let value = black_box(value);
                a.alloc_slice_fill_with(hidden(len), |_| value)
            },
            [Bumpalo] |b| b.alloc_slice_fill_copy(hidden(len), black_box(value)),
            [BumpScope] |b| b.alloc_slice_fill(hidden(len), black_box(value)),
        ),
    );
    row(
        bench,
        &format!("a slice of {len} {kind}, collected, {cache}"),
        peers!(count, values = all[places(len, size)];
            [Ebbtide Stumpalo Bumpalo]
            |a| a.alloc_slice_fill_iter(black_box(values).iter().copied()),
            [BumpScope] |b| b.alloc_iter_exact(black_box(values).iter().copied()),
        ),
    );
}

fn strings(bench: &mut Bench, (span, cache): (usize, &str), len: usize) {
    let all = "e".repeat(span_of_places(len, 1));
    let all = &all[..];
    row(
        bench,
        &format!("a string of {len} bytes, {cache}"),
        peers!(span / len, text = all[places(len, 1)];
            [Ebbtide Stumpalo Bumpalo BumpScope] |a| a.alloc_str(black_box(text)),
            [BlinkAlloc] |b| b.copy_str(black_box(text)),
        ),
    );
}

fn formatted(bench: &mut Bench, (span, cache): (usize, &str)) {
    let count = span / 64;
    let words = ["ebb", "flow"];
    let words = &words;
    row(
        bench,
        &format!("formatted words, {cache}"),
        peers!(count;
            [Ebbtide] |s| s.alloc_fmt(format_args!("{} and {}", black_box(words)[0], words[1])),
            [Bumpalo] |b| bumpalo::format!(in b, "{} and {}", black_box(words)[0], words[1]),
            [BumpScope] |b| b.alloc_fmt(format_args!("{} and {}", black_box(words)[0], words[1])),
        ),
    );
    row(
        bench,
        &format!("formatted numbers, {cache}"),
        peers!(count;
            [Ebbtide] |s| s.alloc_fmt(format_args!("{} of {}", black_box(17), black_box(40_000))),
            [Bumpalo] |b| bumpalo::format!(in b, "{} of {}", black_box(17), black_box(40_000)),
            [BumpScope] |b| b.alloc_fmt(format_args!("{} of {}", black_box(17), black_box(40_000))),
        ),
    );
}
