//! Both bump directions, implemented independently of ebbtide: with an alignment known at compile
//! time or at run time, and with or without a minimum alignment of the pointer.
//!
//! As in any arena, a block that does not fit is refused, and no addition wraps.

use crate::harness::{Bench, Contestant, contestant, hidden, observe};
use std::{alloc::Layout, cell::Cell, mem::MaybeUninit};

/// The region; the free part is between `start` and `end`.
pub struct Region {
    start: Cell<usize>,
    end: Cell<usize>,
    base: *mut u8,
    len: usize,
}

const BYTES: usize = 64 * 1024;
const COUNT: usize = 1024;
const REPEATS: usize = 32;

impl Region {
    /// Memory that is never freed.
    pub fn leaked() -> Self {
        let memory: &mut [MaybeUninit<u128>] = Vec::leak(vec![MaybeUninit::uninit(); BYTES / 16]);
        let base = memory.as_mut_ptr().cast::<u8>();
        let region = Region { start: Cell::new(0), end: Cell::new(0), base, len: BYTES };
        region.reset();
        region
    }

    #[inline(always)]
    pub fn reset(&self) {
        self.start.set(self.base.addr());
        self.end.set(self.base.addr() + self.len);
    }

    #[inline(always)]
    fn at(&self, address: usize) -> *mut u8 {
        self.base.with_addr(address)
    }
}

/// Allocates a block; `None` if it does not fit.
pub trait Way {
    const NAME: &'static str;
    fn take(region: &Region, layout: Layout) -> Option<*mut u8>;
}

/// Downwards; the pointer is always a multiple of `MIN`.
pub struct Down<const MIN: usize>;
/// Upwards; the pointer is always a multiple of `MIN`.
pub struct Up<const MIN: usize>;

macro_rules! ways {
    ($($min:literal $down:literal $up:literal)*) => {$(
        impl Way for Down<$min> {
            const NAME: &'static str = $down;

            #[inline(always)]
            fn take(region: &Region, layout: Layout) -> Option<*mut u8> {
                let end = region.end.get();
                // Rounds to the minimum first, so that smaller alignments need no further rounding.
                let size = layout.size().wrapping_add($min - 1) & !($min - 1);
                let block = end.checked_sub(size)?;
                let block = if layout.align() > $min { block & !(layout.align() - 1) } else { block };
                if block < region.start.get() {
                    return None;
                }
                region.end.set(block);
                Some(region.at(block))
            }
        }

        impl Way for Up<$min> {
            const NAME: &'static str = $up;

            #[inline(always)]
            fn take(region: &Region, layout: Layout) -> Option<*mut u8> {
                let start = region.start.get();
                let block = if layout.align() > $min {
                    start.checked_add(layout.align() - 1)? & !(layout.align() - 1)
                } else {
                    start
                };
                let size = layout.size().wrapping_add($min - 1) & !($min - 1);
                let next = block.checked_add(size)?;
                if next > region.end.get() {
                    return None;
                }
                region.start.set(next);
                Some(region.at(block))
            }
        }
    )*};
}
ways! {
    1 "down" "up"
    8 "down, minimum 8" "up, minimum 8"
}

/// An allocation of a type, not inlined. Null if it does not fit.
#[inline(never)]
pub fn take_typed<W: Way, T>(region: &Region, value: T) -> *mut T {
    let Some(block) = W::take(region, Layout::new::<T>()) else { return std::ptr::null_mut() };
    let block = block.cast::<T>();
    // SAFETY: the block is free, inside the region, aligned and large enough.
    unsafe { block.write(value) };
    block
}

/// An allocation of a layout known only at run time, not inlined.
#[inline(never)]
pub fn take_layout<W: Way>(region: &Region, layout: Layout) -> Option<*mut u8> {
    W::take(region, layout)
}

macro_rules! each_way {
    ($contestant:ident) => {
        vec![
            $contestant::<Down<1>>(),
            $contestant::<Up<1>>(),
            $contestant::<Down<8>>(),
            $contestant::<Up<8>>(),
        ]
    };
}

pub fn run(bench: &mut Bench) {
    bench.row("direction: u64, behind a reference", COUNT * REPEATS, each_way!(typed), &[]);
    bench.row(
        "direction: u8, u32 and u64 by turns, inlined",
        COUNT * REPEATS * 3,
        each_way!(mixed),
        &[],
    );
    bench.row(
        "direction: a layout known when it runs, behind a reference",
        COUNT * REPEATS,
        each_way!(dynamic),
        &[],
    );
    for len in [100, 1_000, 10_000] {
        bench.row(
            &format!("direction: realloc: format {len} short words into one string"),
            len,
            vec![string("up", true, len), string("down", false, len), ours(len), bumpalo(len)],
            &[],
        );
    }
}

fn typed<'a, W: Way>() -> Contestant<'a> {
    let region = Region::leaked();
    contestant(W::NAME, move || {
        for _ in 0..REPEATS {
            region.reset();
            for n in 0..hidden(COUNT) {
                observe(&mut take_typed::<W, u64>(&region, n as u64));
            }
        }
    })
}

#[allow(clippy::cast_possible_truncation)]
fn mixed<'a, W: Way>() -> Contestant<'a> {
    #[inline(always)]
    fn put<W: Way, T>(region: &Region, value: T) {
        let block = W::take(region, Layout::new::<T>()).expect("it fits").cast::<T>();
        // SAFETY: the block is free, inside the region, aligned and large enough.
        unsafe { block.write(value) };
        observe(&mut { block });
    }
    let region = Region::leaked();
    contestant(W::NAME, move || {
        for _ in 0..REPEATS {
            region.reset();
            for n in 0..hidden(COUNT) {
                put::<W, u8>(&region, n as u8);
                put::<W, u32>(&region, n as u32);
                put::<W, u64>(&region, n as u64);
            }
        }
    })
}

fn dynamic<'a, W: Way>() -> Contestant<'a> {
    let region = Region::leaked();
    let layouts: Vec<Layout> = (0..16)
        .map(|n| Layout::from_size_align(n % 5 * 8 + 1, 1 << (n % 4)).expect("small"))
        .collect();
    contestant(W::NAME, move || {
        for _ in 0..REPEATS {
            region.reset();
            for n in 0..hidden(COUNT) {
                observe(&mut take_layout::<W>(&region, layouts[n % 16]).expect("it fits"));
            }
        }
    })
}

/// A string that is the last block of an arena and doubles its capacity: upwards in place,
/// downwards by copying.
struct Growing<'r> {
    region: &'r Region,
    block: *mut u8,
    len: usize,
    capacity: usize,
    up: bool,
}

impl Growing<'_> {
    fn push(&mut self, text: &str) {
        if self.capacity - self.len < text.len() {
            self.grow((self.len + text.len()).max(self.capacity * 2).max(16));
        }
        // SAFETY: the capacity suffices, and both are inside the block.
        let place = unsafe { self.block.add(self.len) };
        // SAFETY: as above; the text lies elsewhere.
        unsafe { place.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        self.len += text.len();
    }

    #[cold]
    fn grow(&mut self, capacity: usize) {
        let more = Layout::array::<u8>(capacity - self.capacity).expect("small");
        if self.up {
            // The block is extended by the bytes after it.
            let block = Up::<1>::take(self.region, more).expect("it fits");
            self.block = if self.capacity == 0 { block } else { self.block };
        } else {
            // The block is extended by the bytes before it; its contents move to the new start.
            let block = Down::<1>::take(self.region, more).expect("it fits");
            // SAFETY: the new block ends where the old one does; they overlap, hence `copy`.
            unsafe { block.copy_from(self.block, self.len) };
            self.block = block;
        }
        self.capacity = capacity;
    }
}

impl std::fmt::Write for Growing<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push(text);
        Ok(())
    }
}

/// Words of eight bytes.
fn words(text: &mut dyn std::fmt::Write, len: usize) {
    for n in 0..hidden(len) {
        let word = if n % 2 == 0 { "ebb" } else { "tide" };
        write!(text, "{word}, {}", n % 10).expect("it fits");
    }
}

fn expected(len: usize) -> usize {
    let mut text = String::new();
    words(&mut text, len);
    text.len()
}

fn string<'a>(name: &'static str, up: bool, len: usize) -> Contestant<'a> {
    let memory = Vec::leak(vec![0_u8; 1 << 20]).as_mut_ptr();
    let region = Region { start: Cell::new(0), end: Cell::new(0), base: memory, len: 1 << 20 };
    let expected = expected(len);
    contestant(name, move || {
        region.reset();
        let mut text = Growing { region: &region, block: region.base, len: 0, capacity: 0, up };
        words(&mut text, len);
        assert_eq!(text.len, expected);
    })
}

fn ours<'a>(len: usize) -> Contestant<'a> {
    let mut arena = ebbtide::Arena::with_capacity(1 << 20);
    let expected = expected(len);
    contestant("ebbtide, s.string()", move || {
        let s = arena.scope();
        let mut text = s.string();
        words(&mut text, len);
        assert_eq!(text.len(), expected);
    })
}

fn bumpalo<'a>(len: usize) -> Contestant<'a> {
    let mut bump = bumpalo::Bump::with_capacity(1 << 20);
    let expected = expected(len);
    contestant("bumpalo", move || {
        {
            let mut text = bumpalo::collections::String::new_in(&bump);
            words(&mut text, len);
            assert_eq!(text.len(), expected);
        }
        bump.reset();
    })
}
