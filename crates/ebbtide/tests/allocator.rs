//! Claim: `&Scope` and `Arena` implement each of the `Allocator` traits: the last block grows, shrinks
//! and is freed in place, other blocks are left alone, and a failed request changes nothing.
//!
//! The file is long because each claim is checked for every version of the trait, alone and through
//! the collections that use it.

#![cfg(all(
    feature = "std",
    any(
        feature = "allocator-api2-02",
        feature = "allocator-api2-03",
        feature = "allocator-api2-04",
        std_allocator
    )
))]
#![allow(clippy::cast_possible_truncation)]
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each set of features uses a part of it"
)]

use crate::common::{
    Adjacent, Census, Log, Watched, address, assert_apart, assert_works, end, extent, panic_of,
    properties, role, start, this_test, watched,
};
use ebbtide::{Arena, Backing, Fixed, Heap, Scope, StackArena};
use proptest::prelude::*;
use std::{alloc::Layout, mem::MaybeUninit, ops::Range, ptr::NonNull};

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// The byte at `index` of a block with this seed.
fn pattern(seed: u8, index: usize) -> u8 {
    seed.wrapping_mul(31).wrapping_add((index % 251) as u8)
}

/// A step: an operation on a list of blocks.
#[derive(Clone, Copy, Debug)]
enum Step {
    New { size: usize, align: usize },
    Zeroed { size: usize, align: usize },
    Grow { which: usize, by: usize, align: usize },
    Shrink { which: usize, to: usize, align: usize },
    Free { which: usize },
    High { size: usize },
    Collect { len: u8 },
    Claim { size: usize },
    Refuse { calls: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = || prop_oneof![5 => 0..80usize, 2 => 0..1_500usize, 1 => 0..20_000usize];
    let align = || prop_oneof![6 => 0..5u32, 1 => 5..13u32].prop_map(|shift| 1usize << shift);
    let which = || prop_oneof![2 => Just(usize::MAX), 1 => 0..50usize];
    let step = prop_oneof![
        4 => (size(), align()).prop_map(|(size, align)| Step::New { size, align }),
        1 => (size(), align()).prop_map(|(size, align)| Step::Zeroed { size, align }),
        4 => (which(), size(), align())
            .prop_map(|(which, by, align)| Step::Grow { which, by, align }),
        3 => (which(), size(), align())
            .prop_map(|(which, to, align)| Step::Shrink { which, to, align }),
        3 => which().prop_map(|which| Step::Free { which }),
        1 => size().prop_map(|size| Step::High { size }),
        1 => any::<u8>().prop_map(|len| Step::Collect { len }),
        1 => size().prop_map(|size| Step::Claim { size }),
        1 => (0..3usize).prop_map(|calls| Step::Refuse { calls }),
    ];
    proptest::collection::vec(step, 0..60)
}

macro_rules! through {
    ($module:ident, $($path:ident)::+, $unwinds:meta) => {
        mod $module {
            use super::*;
            use $($path)::+::Allocator;

            /// An allocator's block with every byte written.
            struct Block {
                start: NonNull<u8>,
                layout: Layout,
                seed: u8,
            }

            impl Block {
                fn of(block: NonNull<[u8]>, layout: Layout, seed: u8) -> Self {
                    assert!(block.len() >= layout.size(), "less than was asked for");
                    let start = block.cast::<u8>();
                    assert_eq!(start.addr().get() % layout.align(), 0, "alignment");
                    let block = Block { start, layout, seed };
                    block.write(0);
                    block
                }

                fn new(a: &impl Allocator, size: usize, align: usize, seed: u8) -> Option<Self> {
                    let layout = layout(size, align);
                    Some(Block::of(a.allocate(layout).ok()?, layout, seed))
                }

                fn zeroed(a: &impl Allocator, size: usize, align: usize, seed: u8) -> Option<Self> {
                    let layout = layout(size, align);
                    let block = a.allocate_zeroed(layout).ok()?;
                    // SAFETY: the bytes are initialised and exclusively owned.
                    let bytes = unsafe { block.as_ref() };
                    assert!(bytes.iter().all(|byte| *byte == 0));
                    Some(Block::of(block, layout, seed))
                }

                fn extent(&self) -> Range<usize> {
                    self.address()..self.address() + self.layout.size()
                }

                fn address(&self) -> usize {
                    self.start.addr().get()
                }

                fn write(&self, from: usize) {
                    for index in from..self.layout.size() {
                        // SAFETY: within the block.
                        let place = unsafe { self.start.add(index) };
                        // SAFETY: the block is valid for writes and owned by this test.
                        unsafe { place.write(pattern(self.seed, index)) };
                    }
                }

                #[track_caller]
                fn check(&self) {
                    for index in 0..self.layout.size() {
                        // SAFETY: within the block.
                        let place = unsafe { self.start.add(index) };
                        // SAFETY: written when the block was allocated or grown.
                        let byte = unsafe { place.read() };
                        assert_eq!(byte, pattern(self.seed, index), "byte {index}");
                    }
                }

                #[track_caller]
                fn grow(&mut self, a: &impl Allocator, size: usize, align: usize) -> bool {
                    let (old, new) = (self.layout, layout(size, align));
                    // SAFETY: a live block of this allocator, with this layout; `new` is as large.
                    let grown = unsafe { a.grow(self.start, old, new) };
                    let Ok(grown) = grown else {
                        self.check();
                        return false;
                    };
                    (self.start, self.layout) = (grown.cast(), new);
                    assert!(grown.len() >= size && self.address() % align == 0);
                    let kept = Block { layout: old, ..*self };
                    kept.check();
                    self.write(old.size());
                    true
                }

                #[track_caller]
                fn shrink(&mut self, a: &impl Allocator, size: usize, align: usize) -> bool {
                    let (old, new) = (self.layout, layout(size, align));
                    // SAFETY: a live block of this allocator, with this layout; `new` is no larger.
                    let shrunk = unsafe { a.shrink(self.start, old, new) };
                    let Ok(shrunk) = shrunk else {
                        self.check();
                        return false;
                    };
                    (self.start, self.layout) = (shrunk.cast(), new);
                    assert!(shrunk.len() >= size && self.address() % align == 0);
                    self.check();
                    true
                }

                fn free(self, a: &impl Allocator) {
                    self.check();
                    // SAFETY: a live block of this allocator, with this layout.
                    unsafe { a.deallocate(self.start, self.layout) };
                }
            }

            #[test]
            fn the_last_block_grows_shrinks_and_is_freed_in_place() {
                let mut arena = Arena::with_chunk_size(1 << 16);
                let s = arena.scope();
                let a = &&s;
                let first = Block::new(a, 10, 1, 1).unwrap();
                let mut block = Block::new(a, 100, 1, 2).unwrap();
                let start = block.address();
                assert_eq!(start, first.extent().end);
                for size in [101, 200, 10_000, 60_000] {
                    assert!(block.grow(a, size, 1));
                    assert_eq!((block.address(), s.stats().used), (start, 10 + size));
                }
                for size in [50_000, 300, 300, 1] {
                    assert!(block.shrink(a, size, 1));
                    assert_eq!((block.address(), s.stats().used), (start, 10 + size));
                }
                block.free(a);
                assert_eq!(s.stats().used, 10);
                first.free(a);
                assert_eq!((s.stats().used, s.stats().chunks), (0, 1));
            }

            #[test]
            fn another_block_moves_to_grow_and_stays_to_shrink() {
                let mut arena = Arena::with_chunk_size(1 << 12);
                let s = arena.scope();
                let a = &&s;
                let mut first = Block::new(a, 64, 8, 1).unwrap();
                let last = Block::new(a, 64, 8, 2).unwrap();
                let start = first.address();
                assert!(first.shrink(a, 40, 8));
                assert_eq!((first.address(), s.stats().used), (start, 128));
                assert!(first.grow(a, 41, 8));
                assert_eq!(first.address(), last.extent().end, "moved behind the last one");
                last.check();
                last.free(a);
                assert_eq!(s.stats().used, 128 + 41, "not the last one, so it stays");
                first.free(a);
                assert_eq!(s.stats().used, 128);
            }

            #[test]
            fn a_block_before_a_freed_one_is_the_last_again() {
                let mut arena = Arena::with_chunk_size(1 << 12);
                let s = arena.scope();
                let a = &&s;
                let mut first = Block::new(a, 64, 1, 1).unwrap();
                let start = first.address();
                Block::new(a, 64, 1, 2).unwrap().free(a);
                assert!(first.grow(a, 3_000, 1));
                assert_eq!((first.address(), s.stats().used), (start, 3_000));
                s.alloc([0u8; 16]);
                assert!(first.grow(a, 3_050, 1), "what the high end takes is not between");
                assert_eq!(first.address(), start);
            }

            #[test]
            fn blocks_without_bytes_come_and_go() {
                let mut arena = Arena::with_chunk_size(1 << 12);
                let s = arena.scope();
                let a = &&s;
                let kept = Block::new(a, 3, 1, 1).unwrap();
                for align in [1, 2, 16, 64, 4_096, 1 << 20] {
                    let mut block = Block::new(a, 0, align, 2).unwrap();
                    assert!(block.grow(a, 0, align));
                    assert!(block.grow(a, 100, align));
                    let other = Block::new(a, 0, align, 3).unwrap();
                    assert!(block.shrink(a, 0, 1));
                    assert!(block.shrink(a, 0, align));
                    other.free(a);
                    assert!(block.grow(a, 7, 1));
                    block.free(a);
                    kept.check();
                }
                // Also with nothing left.
                let empty: &mut [MaybeUninit<u8>] = &mut [];
                let (mut empty, mut full) = (Fixed::new(empty), StackArena::<64>::new());
                for s in [empty.scope(), full.scope()] {
                    let a = &&s;
                    let all = s.alloc_slice_fill_copy(s.stats().capacity, 1u8);
                    for align in [1, 8, 8_192] {
                        let mut block = Block::new(a, 0, align, 1).unwrap();
                        assert!(block.grow(a, 0, 2 * align) && block.shrink(a, 0, align));
                        assert!(!block.grow(a, 1, align));
                        block.free(a);
                    }
                    assert!(all.iter().all(|byte| *byte == 1));
                }
            }

            #[test]
            fn the_last_block_grows_up_to_the_last_byte_but_one_and_not_beyond() {
                let (backing, log) = watched();
                let mut arena = Arena::with_chunk_size_in(1_000, backing);
                let s = arena.scope();
                let a = &&s;
                let capacity = s.stats().capacity;
                let mut block = Block::new(a, 1, 1, 1).unwrap();
                let start = block.address();
                assert!(block.grow(a, capacity - 2, 1) && block.grow(a, capacity - 1, 1));
                assert_eq!((block.address(), s.stats().used, log.calls()), (start, capacity - 1, 1));
                assert!(block.grow(a, capacity, 1));
                assert_ne!(block.address(), start);
                assert_eq!(log.calls(), 2);
                assert!(block.shrink(a, 5, 1));
                block.free(a);
            }

            #[test]
            fn an_alignment_is_raised_and_lowered() {
                let mut arena = Arena::with_chunk_size(1 << 16);
                let s = arena.scope();
                let a = &&s;
                for (low, high) in [(1, 2), (1, 64), (8, 4_096), (2, 8_192)] {
                    for padding in [0, 1, 3, 16] {
                        let other = Block::new(a, padding, 1, 9).unwrap();
                        let mut block = Block::new(a, 30, low, 1).unwrap();
                        assert!(block.grow(a, 30, high));
                        assert!(block.grow(a, 31, low));
                        assert!(block.shrink(a, 20, high));
                        assert!(block.shrink(a, 20, low));
                        let mut zero = Block::new(a, 0, low, 2).unwrap();
                        assert!(zero.grow(a, 10, high) && zero.shrink(a, 0, low));
                        block.check();
                        other.check();
                        zero.free(a);
                        block.free(a);
                        other.free(a);
                    }
                }
            }

            #[test]
            fn a_failed_growth_leaves_the_block_as_it_was() {
                let mut stack = StackArena::<201>::new();
                let s = stack.scope();
                let a = &&s;
                let mut first = Block::new(a, 40, 1, 1).unwrap();
                let mut block = Block::new(a, 100, 1, 2).unwrap();
                let start = block.address();
                for (size, align) in [(161, 1), (4_000, 1), (isize::MAX as usize, 1), (100, 8_192)] {
                    assert!(!block.grow(a, size, align));
                    assert!(!first.grow(a, size, align));
                    assert_eq!(s.stats().used, 140);
                }
                assert!(!block.shrink(a, 99, 1 << 20), "no such alignment is free");
                assert!(Block::new(a, 61, 1, 3).is_none() && Block::zeroed(a, 61, 1, 3).is_none());
                assert!(block.grow(a, 160, 1), "what is left");
                assert_eq!((block.address(), s.stats().used), (start, 200));
                block.free(a);
                first.check();
                assert!(first.grow(a, 200, 1));
                assert_eq!(s.stats().used, 200);
            }

            #[cfg($unwinds)]
            #[test]
            fn a_backing_that_panics_leaves_the_block_as_it_was() {
                let (backing, log) = watched();
                let mut arena = Arena::with_chunk_size_in(1_000, backing);
                let s = arena.scope();
                let a = &&s;
                let mut first = Block::new(a, 40, 1, 1).unwrap();
                let mut block = Block::new(a, 100, 1, 2).unwrap();
                log.panic_nth(1);
                assert!(panic_of(|| block.grow(a, 5_000, 1)).is_some());
                block.check();
                assert!(block.shrink(a, 50, 1) && block.grow(a, 90, 1));
                log.panic_nth(1);
                assert!(panic_of(|| Block::new(a, 5_000, 1, 3).is_some()).is_some());
                assert!(first.grow(a, 5_000, 1));
                block.check();
                assert_works(&s);
                block.free(a);
                first.free(a);
            }

            #[test]
            fn a_block_of_an_ancestor_grows_while_its_claims_live() {
                // Adjacent chunks: blocks of one end where the header of the other starts.
                for downwards in [false, true] {
                    let mut arena = Arena::with_chunk_size_in(500, Adjacent::new(1 << 20, downwards));
                    let s = arena.scope();
                    let mut ours = Block::new(&&s, 10, 1, 1).unwrap();
                    {
                        let claim = s.claim();
                        let inner = claim.scope().claim();
                        let mut theirs = Block::new(&claim.scope(), 10, 1, 2).unwrap();
                        let mut innermost = Block::new(&inner.scope(), 10, 1, 3).unwrap();
                        for size in (20..2_000).step_by(37) {
                            assert!(ours.grow(&&s, size, 1));
                            assert!(theirs.grow(&claim.scope(), size, 1));
                            assert!(innermost.grow(&inner.scope(), size, 1));
                            theirs.check();
                            ours.check();
                        }
                        assert!(ours.shrink(&&s, 100, 1));
                        innermost.free(&inner.scope());
                        theirs.check();
                        assert!(theirs.shrink(&claim.scope(), 5, 1));
                    }
                    assert!(ours.grow(&&s, 400, 1));
                    ours.free(&&s);
                }
            }

            #[test]
            fn a_block_from_before_a_checkpoint_grows_in_place_after_it() {
                for len in [10, 5_000] {
                    let mut arena = Arena::with_chunk_size(1_000);
                    let s = arena.scope();
                    let a = &&s;
                    let mut block = Block::new(a, 100, 1, 1).unwrap();
                    let start = block.address();
                    let checkpoint = s.checkpoint();
                    let mut gone = Block::new(a, len, 1, 2).unwrap();
                    assert!(gone.grow(a, 2 * len, 1));
                    // SAFETY: created by this scope, and later allocations are not used again.
                    unsafe { s.rewind(checkpoint) };
                    block.check();
                    assert!(block.grow(a, 900, 1));
                    assert_eq!((block.address(), s.stats().used), (start, 900));
                    let checkpoint = s.checkpoint();
                    assert!(block.shrink(a, 50, 1));
                    // SAFETY: created by this scope; the memory freed is not used again.
                    unsafe { s.rewind(checkpoint) };
                    block.check();
                    assert_eq!(s.stats().used, 900);
                    assert_works(&s);
                    block.check();
                }
            }

            #[test]
            fn every_copy_of_the_reference_is_the_same_allocator() {
                let mut arena = Arena::with_chunk_size(1_000);
                let s = arena.scope();
                let (one, other) = (&s, &s);
                let mut block = Block::new(&one, 10, 1, 1).unwrap();
                assert!(block.grow(&other, 100, 1) && block.shrink(&&one, 50, 1));
                #[allow(clippy::clone_on_copy, reason = "what an allocator is asked for")]
                block.free(&one.clone());
                assert_eq!(s.stats().used, 0);
            }

            /// Runs steps over blocks that are alive at the same time, and checks all of them after
            /// each step.
            fn run(
                a: &impl Allocator,
                s: &Scope<'_>,
                log: Option<&Log>,
                steps: &[Step],
            ) {
                let mut blocks: Vec<Block> = Vec::new();
                let mut high: Vec<(&mut [u8], u8)> = Vec::new();
                let mut claims = Vec::new();
                for (seed, step) in steps.iter().enumerate() {
                    let seed = seed as u8;
                    let last = blocks.len().saturating_sub(1);
                    let used = s.stats().used;
                    let mut refused = false;
                    match *step {
                        Step::New { size, align } => match Block::new(a, size, align, seed) {
                            Some(block) => blocks.push(block),
                            None => refused = true,
                        },
                        Step::Zeroed { size, align } => match Block::zeroed(a, size, align, seed) {
                            Some(block) => blocks.push(block),
                            None => refused = true,
                        },
                        Step::Grow { which, by, align } if !blocks.is_empty() => {
                            let block = &mut blocks[which.min(last)];
                            let size = block.layout.size() + by;
                            refused = !block.grow(a, size, align);
                        }
                        Step::Shrink { which, to, align } if !blocks.is_empty() => {
                            let block = &mut blocks[which.min(last)];
                            let size = to.min(block.layout.size());
                            refused = !block.shrink(a, size, align);
                        }
                        Step::Free { which } if !blocks.is_empty() => {
                            blocks.remove(which.min(last)).free(a);
                        }
                        Step::High { size } => {
                            high.extend(s.try_alloc_slice_fill_copy(size, seed).map(|b| (b, seed)));
                        }
                        Step::Collect { len } => {
                            let values = (0..len).map(|_| seed).filter(|_| true);
                            high.extend(s.try_alloc_slice_from_iter(values).map(|b| (b, seed)));
                        }
                        Step::Claim { size } if size % 3 == 0 => end(claims.pop()),
                        Step::Claim { size } => {
                            if let Ok(claim) = s.try_claim() {
                                let block = Block::new(&claim.scope(), size, 1, seed);
                                claims.push((block, claim));
                            }
                        }
                        Step::Refuse { calls } => {
                            if let Some(log) = log {
                                log.refuse_nth(calls);
                            }
                        }
                        _ => {}
                    }
                    assert!(!refused || s.stats().used == used, "a refusal changed the scope");
                    let mut extents = Vec::new();
                    for block in &blocks {
                        block.check();
                        extents.push(block.extent());
                    }
                    for (bytes, seed) in &high {
                        assert!(bytes.iter().all(|byte| byte == seed));
                        extents.push(extent(&**bytes));
                    }
                    for (block, _) in &claims {
                        block.iter().for_each(Block::check);
                        extents.extend(block.as_ref().map(Block::extent));
                    }
                    extents.retain(|extent| !extent.is_empty());
                    extents.sort_by_key(|extent| extent.start);
                    assert!(extents.windows(2).all(|pair| pair[0].end <= pair[1].start), "overlap");
                }
                for block in blocks {
                    block.free(a);
                }
            }

            proptest! {
                #![proptest_config(properties(128))]

                #[test]
                fn random_steps_keep_every_live_byte(chunk_size in 0..3_000usize, steps in steps()) {
                    let (backing, log) = watched();
                    let mut arena = Arena::with_chunk_size_in(chunk_size, backing);
                    let s = arena.scope();
                    run(&&s, &s, Some(&log), &steps);
                    let mut s = arena.scope();
                    let s = s.scope();
                    let claim = s.claim();
                    run(&claim.scope(), claim.scope(), Some(&log), &steps);
                    drop(claim);
                    log.allow();
                    run(&arena.root(), arena.root(), None, &steps);
                    run(&&arena, arena.root(), Some(&log), &steps);
                    drop(arena);
                    assert_eq!(log.live(), 0);
                    let mut memory = vec![MaybeUninit::uninit(); chunk_size];
                    let mut fixed = Fixed::new(memory.as_mut_slice());
                    let s = fixed.scope();
                    run(&&s, &s, None, &steps);
                    let mut fixed = Fixed::new(memory.as_mut_slice()).or_spill(Heap);
                    let s = fixed.scope();
                    run(&&s, &s, None, &steps);
                }
            }
        }
    };
}

#[cfg(all(feature = "allocator-api2-02", not(feature = "allocator-api2-02-nightly")))]
through!(allocator_api2_02, ebbtide::allocator_api2_02::alloc, all());
#[cfg(feature = "allocator-api2-03")]
through!(allocator_api2_03, ebbtide::allocator_api2_03::alloc, all());
#[cfg(feature = "allocator-api2-04")]
through!(allocator_api2_04, ebbtide::allocator_api2_04::alloc, all());
#[cfg(std_allocator)]
through!(standard_library, std::alloc, any());

/// Tests a vector and a box over the scope.
macro_rules! collections {
    ($module:ident, $vec:path, $boxed:path) => {
        mod $module {
            use super::*;
            use $boxed as AnyBox;
            use $vec as AnyVec;

            type Boxed<'s, T> = AnyBox<T, &'s Scope<'s>>;
            type Vector<'s, T> = AnyVec<T, &'s Scope<'s>>;

            #[test]
            fn a_vector_grows_in_place_as_long_as_it_is_the_last() {
                let (backing, log) = watched();
                let mut arena = Arena::with_chunk_size_in(1 << 16, backing);
                let s = arena.scope();
                let mut v: Vector<'_, u32> = AnyVec::new_in(&s);
                v.push(0);
                let start = v.as_ptr();
                v.extend(1..10_000);
                assert_eq!((v.as_ptr(), log.calls()), (start, 1));
                v.truncate(10);
                v.shrink_to_fit();
                assert_eq!((v.as_ptr(), s.stats().used), (start, 40));
                let mut moved = v;
                moved.extend(10..20);
                assert_eq!(moved.as_ptr(), start);
                assert!(moved.iter().copied().eq(0..20));
                drop(moved);
                assert_eq!(s.stats().used, 0);
            }

            #[test]
            fn vectors_that_grow_in_turn_keep_their_elements() {
                let mut arena = Arena::with_chunk_size(100);
                let s = arena.scope();
                let mut vectors: [Vector<'_, u64>; 3] = std::array::from_fn(|_| AnyVec::new_in(&s));
                for i in 0..500 {
                    for (k, v) in vectors.iter_mut().enumerate() {
                        v.push(i * 3 + k as u64);
                    }
                    s.alloc(i);
                }
                let [first, mut second, third] = vectors;
                let mut copy = first.clone();
                drop(first);
                second.append(&mut copy);
                for (i, value) in second.iter().enumerate() {
                    let (i, k) = (i as u64 % 500, u64::from(i < 500));
                    assert_eq!(*value, i * 3 + k);
                }
                assert!(third.iter().enumerate().all(|(i, value)| *value == i as u64 * 3 + 2));
            }

            #[test]
            fn elements_that_need_drop_are_dropped_once() {
                let census = Census::forever();
                let mut arena = Arena::with_chunk_size(100);
                let s = arena.scope();
                let mut v: Vector<'_, _> = AnyVec::new_in(&s);
                v.extend((0..100).map(|i| census.make(i)));
                v.retain(|value| value.id() % 2 == 0);
                end(v.remove(3));
                let owned: Boxed<'_, [_]> = v.into_boxed_slice();
                assert_eq!((owned.len(), census.live()), (49, 49));
                drop(owned);
                assert_eq!(census.live(), 0);
            }

            #[test]
            fn boxes_go_through_raw_pointers_and_back() {
                let mut arena = Arena::with_chunk_size(200);
                let s = arena.scope();
                let census = Census::forever();
                let a = &s;
                for n in 0..50 {
                    let owned: Boxed<'_, _> = AnyBox::new_in((census.make(n), [n; 9]), a);
                    let between = s.alloc(n);
                    let raw: *mut (_, _) = AnyBox::leak(owned);
                    s.alloc_slice_from_iter((0..n).filter(|_| true));
                    // SAFETY: `leak` gave it up; it is of this allocator, a copy of which is alive.
                    let owned: Boxed<'_, _> = unsafe { AnyBox::from_raw_in(raw, a) };
                    assert_eq!((owned.0.id(), owned.1, *between), (n, [n; 9], n));
                }
                assert_eq!(census.live(), 0);
                let leaked: &mut [usize; 3] = AnyBox::leak(AnyBox::new_in([1, 2, 3], a));
                assert_works(&s);
                assert_eq!(*leaked, [1, 2, 3]);
            }

            #[test]
            fn elements_without_size_take_nothing() {
                let mut arena = Arena::new();
                let s = arena.scope();
                let mut v: Vector<'_, ()> = AnyVec::new_in(&s);
                v.extend([(); 1_000]);
                v.shrink_to_fit();
                assert_eq!((v.len(), s.stats().used), (1_000, 0));
                drop(v);
                let unit: Boxed<'_, ()> = AnyBox::new_in((), &s);
                drop(unit);
                assert_eq!(s.stats().used, 0);
            }

            #[test]
            fn a_vector_that_outgrows_a_buffer_says_so_and_keeps_its_elements() {
                let mut stack = StackArena::<101>::new();
                let s = stack.scope();
                let mut v: Vector<'_, u8> = AnyVec::new_in(&s);
                v.extend(0..60);
                assert!(v.try_reserve(1_000).is_err());
                assert!(v.try_reserve(usize::MAX).is_err());
                assert!(v.try_reserve_exact(40).is_ok());
                v.extend(60..100);
                assert!(v.try_reserve(1).is_err());
                assert!(v.iter().copied().eq(0..100));
            }

            #[test]
            fn a_backing_that_refuses_is_reported_and_asked_again() {
                let (backing, log) = watched();
                let mut arena = Arena::with_chunk_size_in(200, backing);
                let s = arena.scope();
                let mut v: Vector<'_, u64> = AnyVec::new_in(&s);
                v.extend(0..10);
                log.refuse_all();
                assert!(v.try_reserve(1_000).is_err() && v.try_reserve_exact(1_000).is_err());
                assert!(v.iter().copied().eq(0..10));
                log.allow();
                assert!(v.try_reserve(1_000).is_ok());
                v.extend(10..1_000);
                assert!(v.iter().copied().eq(0..1_000));
            }

            #[test]
            fn vectors_lie_in_vectors_of_the_same_scope() {
                let mut arena = Arena::with_chunk_size(100);
                let s = arena.scope();
                let mut rows: Vector<'_, Vector<'_, u32>> = AnyVec::new_in(&s);
                for row in 0..50 {
                    rows.push(AnyVec::new_in(&s));
                    for earlier in &mut rows {
                        earlier.push(row);
                    }
                }
                end(rows.remove(0));
                rows[0].shrink_to_fit();
                for (first, row) in (1..).zip(&rows) {
                    assert!(row.iter().copied().eq(first..50));
                }
            }

            #[test]
            fn elements_are_aligned_to_more_than_a_chunk() {
                #[derive(Clone, Copy, Debug, PartialEq)]
                #[repr(align(8192))]
                struct Page(u8);

                let mut arena = Arena::with_chunk_size(100);
                let s = arena.scope();
                let mut pages: Vector<'_, Page> = AnyVec::new_in(&s);
                for n in 0..10 {
                    s.alloc(n);
                    pages.push(Page(n));
                    assert_eq!(pages.as_ptr().addr() % 8_192, 0);
                }
                let boxed: Boxed<'_, Page> = AnyBox::new_in(pages[9], &s);
                assert_eq!((address(&*boxed) % 8_192, boxed.0), (0, 9));
            }
        }
    };
}

#[cfg(feature = "allocator-api2-02")]
collections!(
    collections_of_allocator_api2_02,
    ebbtide::allocator_api2_02::vec::Vec,
    ebbtide::allocator_api2_02::boxed::Box
);
#[cfg(feature = "allocator-api2-03")]
collections!(
    collections_of_allocator_api2_03,
    ebbtide::allocator_api2_03::vec::Vec,
    ebbtide::allocator_api2_03::boxed::Box
);
#[cfg(feature = "allocator-api2-04")]
collections!(
    collections_of_allocator_api2_04,
    ebbtide::allocator_api2_04::vec::Vec,
    ebbtide::allocator_api2_04::boxed::Box
);
#[cfg(std_allocator)]
collections!(standard_collections, std::vec::Vec, std::boxed::Box);

#[cfg(std_allocator)]
#[test]
fn a_box_of_the_standard_library_has_any_type() {
    let census = Census::forever();
    let mut arena = Arena::with_chunk_size(100);
    let s = arena.scope();
    let counted = census.make(2);
    let mut functions: Vec<Box<dyn Fn(usize) -> usize + '_, &Scope<'_>>, _> = Vec::new_in(&s);
    functions.push(Box::new_in(|n| n + 1, &s));
    functions.push(Box::new_in(move |n| n * counted.id(), &s));
    for factor in 3..50 {
        functions.push(Box::new_in(move |n| n * factor, &s));
    }
    assert!(functions.iter().map(|f| f(1)).eq([2].into_iter().chain(2..50)));
    assert_eq!(census.live(), 1);
    functions.clear();
    assert_eq!(census.live(), 0);
    let slice: Box<[u8], _> = Box::new_in([1, 2, 3], &s);
    let mut text = slice.into_vec();
    text.extend_from_slice(b"abc");
    assert_eq!(*text.into_boxed_slice(), *b"\x01\x02\x03abc");
}

#[cfg(std_allocator)]
#[test]
fn values_of_the_standard_library_are_dropped_in_the_order_of_their_elements() {
    use std::cell::RefCell;

    struct Told<'l>(&'l RefCell<Vec<u32>>, u32);
    impl Drop for Told<'_> {
        fn drop(&mut self) {
            self.0.borrow_mut().push(self.1);
        }
    }

    let log = RefCell::new(Vec::new());
    let mut arena = Arena::with_chunk_size(100);
    let s = arena.scope();
    let mut values = Vec::new_in(&s);
    values.extend((0..30).map(|n| Told(&log, n)));
    let last = Box::new_in(Told(&log, 30), &s);
    values.truncate(29);
    drop(values.into_boxed_slice());
    drop(last);
    assert!(log.take().into_iter().eq([29].into_iter().chain(0..29).chain([30])));
}

#[cfg(std_allocator)]
#[test]
fn collections_of_the_standard_library_share_an_arena_by_its_owner() {
    use std::rc::Rc;

    /// A tree with its memory, without a lifetime.
    struct Tree {
        children: Vec<Box<Tree, Rc<Arena>>, Rc<Arena>>,
        name: Vec<u8, Rc<Arena>>,
    }

    fn tree(arena: &Rc<Arena>, depth: u8) -> Tree {
        let mut new =
            Tree { children: Vec::new_in(Rc::clone(arena)), name: Vec::new_in(Rc::clone(arena)) };
        for child in 0..depth {
            new.name.push(child);
            let child = tree(arena, child);
            new.children.push(Box::new_in(child, Rc::clone(arena)));
        }
        new
    }

    fn count(tree: &Tree) -> usize {
        1 + tree.name.len() + tree.children.iter().map(|child| count(child)).sum::<usize>()
    }

    let mut arena = Rc::new(Arena::with_chunk_size(100));
    let mut tree = tree(&arena, 6);
    assert!(Rc::get_mut(&mut arena).is_none(), "the tree owns it as well");
    drop(arena);
    let child = tree.children.swap_remove(4);
    assert_eq!((count(&tree), count(&child)), (96, 31));
    drop(tree);
    assert_eq!(count(&child), 31);

    let mut arena = Arena::with_chunk_size(100);
    let mut numbers = Vec::new_in(&mut arena);
    numbers.extend(0..100);
    let leaked: &mut [i32] = numbers.leak();
    assert!(leaked.iter().copied().eq(0..100));
    arena.reset();
}

/// The contract of the trait forbids to unwind.
#[cfg(all(std_allocator, panic = "unwind", not(miri)))]
#[test]
fn a_backing_that_panics_aborts_a_collection_of_the_standard_library() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1_000, backing);
    if role().is_some() {
        let s = arena.scope();
        let mut v = Vec::new_in(&s);
        v.push(0_u64);
        log.panic_nth(1);
        let unwinds = std::panic::AssertUnwindSafe(|| v.extend(0..10_000));
        end(std::panic::catch_unwind(unwinds));
        return;
    }
    let child = start(this_test!(), "abort");
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success(), "it went on: {errors}");
    assert!(errors.contains("a backing panicked while it served `Allocator`"), "{errors}");
}

#[cfg(feature = "nightly")]
#[test]
fn std_collections_can_allocate_from_a_scope() {
    use std::{
        collections::{BTreeMap, BinaryHeap, LinkedList, VecDeque},
        rc::Rc,
    };

    let mut arena = Arena::with_chunk_size(300);
    let s = arena.scope();
    let mut map = BTreeMap::new_in(&s);
    let mut deque = VecDeque::new_in(&s);
    let mut heap = BinaryHeap::new_in(&s);
    let mut list = LinkedList::new_in(&s);
    let shared = Rc::new_in(7, &s);
    let claim = s.claim();
    let mut nested = Vec::new_in(claim.scope());
    for i in 0..500 {
        map.insert(i * 7 % 500, i);
        deque.push_front(i);
        heap.push(i ^ 5);
        list.push_back(Rc::clone(&shared));
        nested.push(Box::new_in(i, claim.scope()));
        if i % 3 == 0 {
            map.remove(&(i / 2));
            end(deque.pop_back());
            end(heap.pop());
        }
    }
    assert!(map.iter().all(|(key, i)| i * 7 % 500 == *key));
    assert!(deque.iter().rev().copied().eq(167..500));
    assert_eq!((heap.len(), Rc::strong_count(&shared)), (333, 501));
    assert!(nested.iter().enumerate().all(|(i, value)| **value == i));
    let shape: Box<dyn Fn(i32) -> i32, &Scope<'_>> = Box::new_in(|x| x + 1, &s);
    assert_eq!(shape(1), 2);
}

#[cfg(std_allocator)]
#[test]
fn an_arena_that_its_vector_owns_moves_with_it() {
    let census = Census::forever();
    let (backing, log) = watched();
    let arena = Arena::with_chunk_size_in(1 << 14, backing);
    let mut numbers: Vec<u64, Arena<Watched>> = Vec::new_in(arena);
    numbers.push(0);
    let start = numbers.as_ptr();
    numbers.extend(1..1_000);
    let mut numbers = std::thread::spawn(move || {
        numbers.extend(1_000..1_500);
        numbers.retain(|n| n % 2 == 0);
        numbers
    })
    .join()
    .unwrap();
    assert_eq!((numbers.as_ptr(), log.calls()), (start, 1));
    numbers.shrink_to_fit();
    assert_eq!(numbers.allocator().stats().used, 750 * 8);
    let numbers = numbers.into_boxed_slice();
    assert!(numbers.iter().copied().eq((0..1_500).step_by(2)));
    drop(numbers);
    assert_eq!(log.live(), 0);

    let mut values = Vec::new_in(Arena::with_chunk_size(100));
    values.extend((0..20).map(|n| census.make(n)));
    let mut values = values.into_iter();
    end(values.next());
    assert_eq!(census.live(), 19);
    drop(values);
    assert_eq!(census.live(), 0);
}
