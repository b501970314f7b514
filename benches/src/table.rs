//! stumpalo's own benchmark: its operations and sizes, a fresh arena per sample, with bump-scope,
//! multitude and typed-arena added.
//!
//! `clear` fills the arena with 160 MB instead of 1.6 GB. Rows that need nightly functions are left
//! out. As in the original, a peer without a function for a row uses the closest one; blink-alloc
//! has none that fills from a function.

use crate::{
    contestants,
    harness::{Bench, Contestant, Target, contestant, hidden, observe, timed},
    peers::{EbbtideRoot, Handle, Peer, Stumpalo},
};
use bump_scope::BumpBox;
use multitude::Alloc;
use std::{hint::black_box, iter, time::Instant};

const COUNT: usize = 100_000;
/// The number of slices that are filled or moved in.
const FILLS: usize = COUNT / 5;
/// The number of large values before a `clear`.
const LARGE: usize = COUNT / 10;

const LEAST: f64 = 0.95;

const TYPED_ARENA: &str = "typed-arena";

struct Table<'b> {
    bench: &'b mut Bench,
    best: Vec<f64>,
}

impl Table<'_> {
    fn row(&mut self, name: &str, operations: usize, contestants: Vec<Contestant<'_>>) {
        let name = format!("stumpalo: {name}");
        let targets = [Target::BestPeer(LEAST)];
        if let Some(outcome) = self.bench.row(&name, operations, contestants, &targets) {
            self.best.push(outcome.best);
        }
    }
}

/// One contestant per peer, in stumpalo's order.
macro_rules! peers {
    ($($rest:tt)*) => {
        contestants!([Ebbtide Stumpalo Bumpalo BumpScope Multitude BlinkAlloc] $($rest)*)
    };
}

pub fn run(bench: &mut Bench) {
    let mut table = Table { bench, best: Vec::new() };
    scalars(&mut table);
    slices(&mut table);
    fills(&mut table);
    structs(&mut table);
    strings(&mut table);
    clears(&mut table);

    let Table { bench, best } = table;
    if best.is_empty() {
        return;
    }
    #[allow(clippy::cast_precision_loss)]
    let mean = (best.iter().map(|ratio| ratio.ln()).sum::<f64>() / best.len() as f64).exp();
    let worst = best.iter().copied().fold(f64::INFINITY, f64::min);
    println!("\nstumpalo's table: {} rows", best.len());
    bench.summary("stumpalo's table: geometric mean", "at least 1.25", mean, mean >= 1.25);
    bench.summary("stumpalo's table: the lowest row", "at least 0.95", worst, worst >= LEAST);
}

/// A contestant that allocates `turns` times from a fresh arena, and drops it.
macro_rules! sample {
    ($peer:ident, $turns:expr, |$handle:ident| $turn:expr) => {
        contestant($peer::NAME, move || {
            let mut peer = $peer::fresh();
            let $handle = peer.open();
            for _ in 0..$turns {
                $turn;
            }
        })
    };
}

/// The same, with a value for each turn, made before the measurement and freed during it.
macro_rules! moved {
    ($peer:ident, $value:expr, |$handle:ident, $given:ident| $turn:expr) => {
        timed($peer::NAME, move || {
            let given = vec![$value; FILLS];
            let start = Instant::now();
            let mut peer = $peer::fresh();
            let $handle = peer.open();
            for $given in given {
                observe($turn);
            }
            drop(peer);
            start.elapsed()
        })
    };
}

macro_rules! numbers {
    ($table:ident, $prefix:literal, $function:ident: $($type:ident)*) => {$(
        $table.row(concat!($prefix, "_", stringify!($type)), COUNT, $function(42 as $type));
    )*};
}

macro_rules! slices {
    ($table:ident, $prefix:literal, $function:ident, $lens:tt: $($type:ident)*) => {$(
        slices!(@ $table, $prefix, $function, $type, $lens);
    )*};
    (@ $table:ident, $prefix:literal, $function:ident, $type:ident, [$($len:literal)*]) => {$(
        $table.row(
            concat!($prefix, "_", stringify!($type), "_", $len),
            COUNT,
            peers!(|P| $function::<P>(const { &[42 as $type; $len] })),
        );
    )*};
}

fn scalars(table: &mut Table<'_>) {
    numbers!(table, "alloc", ones: u8 u16 u32 u64 u128);
    numbers!(table, "alloc_multiple", eights: u8 u16 u32 u64 u128);
}

/// Arenas of one type take part in rows with one type.
fn ones(value: impl Copy + 'static) -> Vec<Contestant<'static>> {
    let mut contestants =
        peers!(|P| sample!(P, COUNT, |handle| observe(Handle::alloc(&handle, value))));
    contestants.push(contestant(TYPED_ARENA, move || {
        let arena = typed_arena::Arena::new();
        for _ in 0..COUNT {
            observe(arena.alloc(value));
        }
    }));
    contestants
}

fn eights(value: impl Copy + 'static) -> Vec<Contestant<'static>> {
    peers!(|P| sample!(P, COUNT, |handle| {
        // A constant number of iterations, so the loop is unrolled.
        for _ in 0..8 {
            observe(Handle::alloc(&handle, value));
        }
    }))
}

fn slices(table: &mut Table<'_>) {
    slices!(table, "alloc_slice", slice, [8 32 64 128]: u8 u16 u32 u64 u128);
    slices!(table, "alloc_sized_slice", sized, [8 32 64 128]: u8 u16 u32 u64 u128);
}

/// The length is not known at compile time.
fn slice<P: Peer>(values: &'static [impl Copy]) -> Contestant<'static> {
    let values = black_box(values);
    sample!(P, COUNT, |handle| observe(handle.alloc_slice_copy(values)))
}

/// The length is known at compile time.
fn sized<P: Peer>(values: &'static impl Array) -> Contestant<'static> {
    sample!(P, COUNT, |handle| values.allocate(&handle))
}

/// An array of any length, as a single type parameter.
trait Array {
    fn allocate<'a>(&'static self, handle: &impl Handle<'a>);
}

impl<T: Copy + 'static, const N: usize> Array for [T; N] {
    #[inline(always)]
    fn allocate<'a>(&'static self, handle: &impl Handle<'a>) {
        observe(handle.alloc_array(self));
    }
}

/// Only peers that can fill slices from functions take part.
#[allow(clippy::cast_possible_truncation)]
fn fills(table: &mut Table<'_>) {
    /// A sample of slices that an expression of the handle fills.
    macro_rules! fill {
        ($peer:ident, |$handle:ident| $slice:expr) => {
            sample!($peer, FILLS, |$handle| observe($slice))
        };
    }
    for len in [8, 32, 512, 4096] {
        let mut row = |what: &str, contestants| {
            table.row(&format!("{what}_u32_{len}"), FILLS, contestants);
        };
        let make = |index: usize| index as u32;
        row(
            "alloc_fill_with",
            contestants!(
                [Ebbtide Stumpalo Bumpalo] |P| fill!(P, |a| a.alloc_slice_fill_with(len, make)),
                [BumpScope] |P| fill!(P, |b| {
                    let mut index = 0;
                    BumpBox::leak(b.alloc_slice_fill_with(len, || {
                        index += 1;
                        make(index - 1)
                    }))
                }),
                [Multitude] |P| fill!(P, |a| Alloc::leak(a.alloc_slice_fill_with(len, make))),
            ),
        );
        let all: Vec<u32> = (0..len as u32).collect();
        row(
            "alloc_fill_iter_exact_vec",
            contestants!(
                [Ebbtide Stumpalo Bumpalo] |P| {
                    let all = all.clone();
                    fill!(P, |a| a.alloc_slice_fill_iter(all.iter().copied()))
                },
                [BumpScope] |P| {
                    let all = all.clone();
                    fill!(P, |b| BumpBox::leak(b.alloc_iter_exact(all.iter().copied())))
                },
                [Multitude] |P| {
                    let all = all.clone();
                    fill!(P, |a| Alloc::leak(a.alloc_slice_fill_iter(all.iter().copied())))
                },
            ),
        );
        let repeat = move || iter::repeat_n(42_u32, len);
        row(
            "alloc_fill_iter_exact_repeat",
            contestants!(
                [Ebbtide Stumpalo Bumpalo] |P| fill!(P, |a| a.alloc_slice_fill_iter(repeat())),
                [BumpScope] |P| fill!(P, |b| BumpBox::leak(b.alloc_iter_exact(repeat()))),
                [Multitude] |P| fill!(P, |a| Alloc::leak(a.alloc_slice_fill_iter(repeat()))),
            ),
        );
        let vec = move || vec![42_u32; len];
        row(
            "alloc_vec",
            contestants!(
                [Ebbtide Stumpalo] |P| moved!(P, vec(), |a, values| a.alloc_vec(values)),
                [Bumpalo] |P| moved!(P, vec(), |b, values| b.alloc_slice_fill_iter(values)),
                [BumpScope] |P| moved!(P, vec(), |b, values| {
                    BumpBox::leak(b.alloc_slice_move(values))
                }),
                [Multitude] |P| moved!(P, vec(), |a, values| {
                    Alloc::leak(a.alloc_slice_fill_iter(values))
                }),
            ),
        );
        let boxed = move || vec().into_boxed_slice();
        row(
            "alloc_boxed_slice",
            contestants!(
                [Ebbtide Stumpalo] |P| moved!(P, boxed(), |a, values| a.alloc_boxed_slice(values)),
                [Bumpalo] |P| moved!(P, boxed(), |b, values| b.alloc_slice_fill_iter(values)),
                [BumpScope] |P| moved!(P, boxed(), |b, values| {
                    BumpBox::leak(b.alloc_slice_move(values))
                }),
                [Multitude] |P| moved!(P, boxed(), |a, values| {
                    Alloc::leak(a.alloc_slice_fill_iter(values.into_iter()))
                }),
            ),
        );
    }
}

fn structs(table: &mut Table<'_>) {
    macro_rules! each {
        ($($size:literal)*) => {$(
            let name = concat!("alloc_struct_", $size);
            table.row(name, COUNT, ones([0x42_u8; $size]));
        )*};
    }
    each!(13 24 26 30 32 64 96 128 192 256 512 1024);
}

fn strings(table: &mut Table<'_>) {
    macro_rules! each {
        ($($len:literal)*) => {$(
            const { assert!(std::str::from_utf8(&[b'a'; $len]).is_ok()) };
            table.row(concat!("alloc_str_", $len), COUNT, peers!(|P| string::<P>(&[b'a'; $len])));
            table.row(concat!("alloc_str_lit_", $len), COUNT, peers!(|P| literal::<P>(&[b'a'; $len])));
        )*};
    }
    each!(8 16 32 40 48 64 72 80 128);
    slices!(table, "alloc_slice_lit", sized, [8 32 64 128]: u8);
}

fn string<P: Peer>(text: &'static [u8]) -> Contestant<'static> {
    let text = std::str::from_utf8(black_box(text)).expect("ASCII");
    sample!(P, COUNT, |handle| observe(handle.alloc_str(text)))
}

/// The length is known at compile time.
fn literal<P: Peer>(text: &'static impl AsciiArray) -> Contestant<'static> {
    sample!(P, COUNT, |handle| text.allocate_str(&handle))
}

/// Like [`Array`], for ASCII.
trait AsciiArray {
    fn allocate_str<'a>(&'static self, handle: &impl Handle<'a>);
}

impl<const N: usize> AsciiArray for [u8; N] {
    #[inline(always)]
    fn allocate_str<'a>(&'static self, handle: &impl Handle<'a>) {
        // SAFETY: the rows pass letters.
        observe(handle.alloc_str(unsafe { std::str::from_utf8_unchecked(self) }));
    }
}

fn clears(table: &mut Table<'_>) {
    table.row(
        "clear",
        1,
        contestants!(
            [EbbtideRoot Stumpalo Bumpalo BumpScope Multitude BlinkAlloc] |P| clear::<P>()
        ),
    );
    let mut freeing = vec![
        clear_with(EbbtideRoot::fresh(), |peer| peer.0.reset_with(ebbtide::Retain::OneChunk)),
        clear_with(Stumpalo::fresh(), |peer| {
            peer.0.clear();
            peer.0.free_fresh_chunks();
        }),
    ];
    freeing.extend(contestants!([Bumpalo BumpScope Multitude BlinkAlloc] |P| clear::<P>()));
    table.row("clear_and_free", 1, freeing);
    table.row("reuse", COUNT, peers!(|P| reuse::<P>()));
}

/// Filling the arena is not measured. The arena keeps its memory for the next turn, if the peer can
/// do that.
fn clear<P: Peer>() -> Contestant<'static> {
    clear_with(P::fresh(), |peer| drop(peer.open()))
}

fn clear_with<P: Peer>(mut peer: P, clear: impl Fn(&mut P) + 'static) -> Contestant<'static> {
    timed(P::NAME, move || {
        let handle = peer.open();
        for _ in 0..LARGE {
            observe(handle.alloc([0_i32; 4024]));
        }
        drop(handle);
        let start = Instant::now();
        clear(&mut peer);
        start.elapsed()
    })
}

fn reuse<P: Peer>() -> Contestant<'static> {
    let mut peer = P::fresh();
    timed(P::NAME, move || {
        drop(peer.open());
        let start = Instant::now();
        let handle = peer.open();
        for _ in 0..hidden(COUNT) {
            observe(handle.alloc(42_u64));
        }
        start.elapsed()
    })
}
