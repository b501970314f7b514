//! Claim: an arena allocates in its root as a scope does, wherever the arena was moved, whatever
//! scopes were open meanwhile, and without a request to the root for short values.

#![cfg(feature = "std")]

use crate::common::fewer_under_miri;
use ebbtide::{AllocError, Arena, NoSpill, Retain, collections::Owning};
use std::{alloc::Layout, cell::Cell, iter, ptr::NonNull};

/// A block of the root: where it is, and the byte that fills it.
struct Block {
    start: NonNull<u8>,
    size: usize,
    fill: u8,
}

impl Block {
    fn fill(start: NonNull<u8>, layout: Layout, fill: u8) -> Self {
        assert_eq!(start.addr().get() % layout.align(), 0);
        let size = layout.size();
        // SAFETY: a new block of this size.
        unsafe { start.write_bytes(fill, size) };
        Block { start, size, fill }
    }

    fn is_intact(&self) -> bool {
        // SAFETY: the block lives until the arena is reset, and `fill` initialised it.
        let bytes = unsafe { NonNull::slice_from_raw_parts(self.start, self.size).as_ref() };
        bytes.iter().all(|byte| *byte == self.fill)
    }
}

/// An arena in another place.
#[allow(clippy::boxed_local, reason = "the address is that of the box")]
fn moved(arena: Box<Arena>) -> Box<Arena> {
    Box::new(*arena)
}

/// An iterator that announces another length each time it is asked.
struct Fickle<'l, I> {
    values: I,
    lengths: &'l [usize],
    asked: Cell<usize>,
}

impl<'l, I> Fickle<'l, I> {
    fn new(values: I, lengths: &'l [usize]) -> Self {
        Fickle { values, lengths, asked: Cell::new(0) }
    }
}

impl<I: Iterator> Iterator for Fickle<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.values.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let asked = self.asked.replace(self.asked.get() + 1);
        let announced = self.lengths[asked % self.lengths.len()];
        (announced, Some(announced))
    }
}

impl<I: Iterator> ExactSizeIterator for Fickle<'_, I> {}

/// Allocates in every way, moves the arena, opens scopes and claims and resets, in random order.
/// Blocks of the root stay intact until the next reset.
#[test]
fn blocks_of_the_root_stay_until_a_reset() {
    let mut state = 1_usize;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % end
    };
    for run in 0..fewer_under_miri(200) {
        let mut arena = Box::new(Arena::with_chunk_size(300));
        let mut blocks = Vec::new();
        for step in 0..200_u8 {
            let size = [0, 1, 8, 24, 64, 65, 700][below(7)];
            let layout = Layout::from_size_align(size, 1 << below(7)).unwrap();
            match below(13) {
                0..4 => blocks.push(Block::fill(arena.alloc_layout(layout), layout, step)),
                4 => {
                    let value = arena.alloc([step; 16]);
                    blocks.push(Block { start: NonNull::from(value).cast(), size: 16, fill: step });
                }
                5 => {
                    let start = arena.root().alloc_layout(layout);
                    blocks.push(Block::fill(start, layout, step));
                }
                6 => {
                    let slice = arena.alloc_slice_fill_copy(size, step);
                    blocks.push(Block { start: NonNull::from(slice).cast(), size, fill: step });
                }
                7 => {
                    let s = arena.scope();
                    s.alloc_slice_fill_copy(size, 0xEE_u8);
                    s.claim().scope().alloc([0xEE_u8; 100]);
                }
                8 => arena = moved(arena),
                9 => {
                    let mut list = arena.root().vec();
                    list.resize(size, step);
                    blocks.push(Block {
                        start: NonNull::from(list.into_slice()).cast(),
                        size,
                        fill: step,
                    });
                }
                10 => {
                    let lengths = [below(3) * 100, below(300)];
                    let values = Fickle::new(iter::repeat_n(step, size), &lengths);
                    let slice = arena.alloc_slice_fill_iter(values);
                    let size = slice.len();
                    blocks.push(Block { start: NonNull::from(slice).cast(), size, fill: step });
                }
                11 => {
                    arena.trim();
                    assert!(arena.stats().used <= arena.stats().capacity);
                }
                _ => {
                    blocks.clear();
                    let retain =
                        [Retain::All, Retain::OneChunk, Retain::Bytes(0), Retain::Bytes(900)];
                    arena.reset_with(retain[below(4)]);
                    assert_eq!(arena.stats().used, 0);
                }
            }
            assert!(blocks.iter().all(Block::is_intact), "run {run}, step {step}");
        }
    }
}

#[test]
fn what_a_scope_wrote_does_not_overlap_what_the_arena_allocated() {
    let mut arena = Arena::new();
    for n in 0..100_u64 {
        let kept: *const u64 = arena.alloc(n);
        let inner: *const u64 = arena.scope().alloc(u64::MAX);
        assert_ne!(kept, inner);
        // SAFETY: a block of the root lives until the arena is reset.
        assert_eq!(unsafe { kept.read() }, n);
    }
    assert_eq!(arena.stats().used, 800);
}

/// A reset goes back to what was used before: the root, or scopes.
#[test]
fn a_reset_keeps_the_memory_for_the_root() {
    let mut arena = Arena::new();
    arena.reset();
    let first: *const u32 = arena.alloc(1);
    arena.reset();
    assert_eq!(std::ptr::from_ref(arena.alloc(2_u32)), first);
    arena.scope().alloc(3_u32);
    arena.reset();
    assert_eq!(std::ptr::from_ref(arena.scope().alloc(4_u32)), first);
    assert_eq!(arena.chunks().count(), 1);
}

#[test]
fn initialisers_may_allocate_from_the_arena() {
    let arena = Arena::new();
    let outer = arena.alloc_with(|| (1, arena.alloc(2), arena.alloc_str("three")));
    let slice = arena.alloc_slice_fill_with(5, |index| *arena.alloc(index));
    assert_eq!((outer.0, *outer.1, &*outer.2), (1, 2, "three"));
    assert_eq!(slice, [0, 1, 2, 3, 4]);
}

#[test]
fn without_memory_nothing_fits_but_what_needs_none() {
    let arena = Arena::new_in(NoSpill);
    assert_eq!(arena.try_alloc(1_u8), Err(AllocError));
    assert_eq!(arena.try_alloc([0_u8; 4096]), Err(AllocError));
    assert_eq!(arena.try_alloc_str("x"), Err(AllocError));
    assert_eq!(arena.try_alloc_slice_copy(&[1_u16]), Err(AllocError));
    assert_eq!(arena.try_alloc_layout(Layout::new::<u128>()), Err(AllocError));
    assert_eq!(arena.try_alloc(()), Ok(&mut ()));
    assert!(arena.try_alloc_layout(Layout::new::<[u64; 0]>()).is_ok());
}

/// The first chunk has room for the first request, and counts for the size of the next one.
#[test]
fn one_chunk_serves_a_large_first_request() {
    let requests: [fn(&Arena); 6] = [
        |arena| assert_eq!(arena.alloc([1_u8; 5000])[4999], 1),
        |arena| assert_eq!(arena.try_alloc_slice_copy(&[1_u64; 600]).unwrap()[599], 1),
        |arena| assert_eq!(arena.alloc_slice_fill_with(5000, |_| 1_u8)[4999], 1),
        |arena| assert_eq!(arena.alloc_str(&"x".repeat(5000)).len(), 5000),
        |arena| assert!(arena.try_alloc_layout(Layout::new::<[u128; 300]>()).is_ok()),
        |arena| {
            let mut lines: Owning<String, &Arena> = Owning::over(arena);
            lines.reserve(200);
            lines.push("ebb".to_owned());
            assert!(lines.capacity() >= 200);
        },
    ];
    for (index, request) in requests.into_iter().enumerate() {
        let arena = Arena::with_chunk_size(500);
        // So that it does not begin in the block of a dropped one.
        arena.set_limit(None);
        request(&arena);
        assert_eq!(arena.chunks().count(), 1, "{index}");
        // The next one is twice as large.
        arena.alloc([0_u8; 400]);
        arena.alloc([0_u8; 9000]);
        assert_eq!(arena.chunks().count(), 2, "{index}");
    }
    // What does not fit the limit takes no chunk of its own.
    let limited = Arena::with_chunk_size(500);
    limited.set_limit(Some(2000));
    assert_eq!(limited.try_alloc([0_u8; 5000]), Err(AllocError));
    assert_eq!(limited.try_alloc_slice_copy(&[0_u8; 5000]), Err(AllocError));
    assert_eq!(*limited.alloc(1), 1);
    assert_eq!(limited.chunks().count(), 1);
}

/// The length that an iterator announces may be another one each time, and what needs no memory may
/// be asked of an arena without a chunk.
#[test]
fn a_length_that_changes_between_calls_is_harmless() {
    let lengths: [&[usize]; 6] = [&[0], &[5], &[0, 5], &[5, 0], &[0, 3, 9], &[0, usize::MAX, 5]];
    for lengths in lengths {
        let expected = (0..lengths[0].min(5) as u64).collect::<Vec<_>>();
        let fickle = || Fickle::new(0..5_u64, lengths);
        let mut arena = Arena::new();
        for _ in 0..3 {
            let few = arena.try_alloc_slice_fill_iter(fickle()).unwrap();
            assert_eq!(few, expected, "{lengths:?}");
            assert_eq!(arena.alloc_slice_fill_iter(fickle()), expected);
            assert_eq!(arena.alloc_slice_from_iter(fickle()), [0, 1, 2, 3, 4]);
            assert_eq!(*arena.boxed_slice_from_iter(fickle()), [0, 1, 2, 3, 4]);
            let made = arena.alloc_slice_try_from_iter(fickle().map(Ok::<_, ()>));
            assert_eq!(made.unwrap(), [0, 1, 2, 3, 4]);
            arena.reset_with(Retain::Bytes(0));
        }
    }
}

/// A scope withdraws the root. What has no size fits all the same.
#[test]
fn what_has_no_size_is_allocated_after_a_scope() {
    let mut arena = Arena::new();
    for round in 0..3 {
        arena.alloc(());
        arena.alloc_with(|| ());
        assert_eq!(arena.alloc_try_with(|| Ok::<_, ()>(())), Ok(&mut ()), "{round}");
        assert_eq!(arena.alloc_try_with(|| Err::<(), _>(1)), Err(1));
        let empty = arena.alloc_slice_try_fill_with(0, Ok::<_, ()>);
        assert_eq!(empty.map(|slice| slice.len()), Ok(0));
        let units = arena.alloc_slice_try_fill_with(3, |_| Ok::<_, ()>(()));
        assert_eq!(units.map(|slice| slice.len()), Ok(3));
        assert!(arena.alloc_slice_copy::<u64>(&[]).is_empty() && arena.alloc_str("").is_empty());
        arena.alloc_layout(Layout::from_size_align(0, 64).unwrap());
        arena.scope().alloc(round);
    }
}

/// An arena has every method of a scope that returns a value, a slice or text.
#[test]
#[cfg(not(miri))]
fn the_arena_has_the_methods_of_a_scope() {
    let source = |file: &str| {
        let path = format!("{}/src/{file}.rs", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    let methods = source("in_root");
    let mut count = 0;
    for (file, prefix) in
        [("value", "alloc"), ("slice", "alloc"), ("string", "alloc"), ("boxed", "boxed")]
    {
        for rest in source(file).split(&format!("pub fn {prefix}")).skip(1) {
            let name = prefix.to_owned() + rest.split(['<', '(']).next().unwrap();
            for name in [name.clone(), format!("try_{name}")] {
                let names = ["pub fn NAME<", "pub fn NAME(", " NAME, try_NAME:", ", NAME:"];
                let mut names = names.iter().map(|text| text.replace("NAME", &name));
                assert!(names.any(|text| methods.contains(&text)), "{name}");
            }
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}
