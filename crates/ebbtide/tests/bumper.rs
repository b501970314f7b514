//! Claim: ebbtide passes the tests of Bumper.jl.
//!
//! Test names start with the row of `dev/CONFORMANCE.md`. B07 to B09 are in `no_heap_calls.rs`,
//! B24 and B25 (programs that must not compile) in `ebbtide-ui`, and B31 to B39, about the default
//! arena, in `local.rs` and `pool.rs`.

#![cfg(feature = "std")]

use crate::common::{Log, Watched, watched};
use ebbtide::{AllocError, Arena, Fixed, Retain, Scope, StackArena};
use std::{
    alloc::Layout,
    mem::MaybeUninit,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// The slab of Bumper.jl's tests, in bytes.
const SLAB: usize = 16_384;
/// Two of these leave two bytes of a slab free.
const NEARLY_HALF: usize = 8_191;

fn slabs() -> (Arena<Watched>, Arc<Log>) {
    let (backing, log) = watched();
    (Arena::with_chunk_size_in(SLAB, backing), log)
}

fn sum_of_successors(s: &Scope<'_>, xs: &[i64]) -> i64 {
    let ys = s.alloc_uninit_slice(xs.len());
    ys.iter_mut().zip(xs).map(|(y, x)| *y.write(x + 1)).sum()
}

/// The address of the next scope's first word.
fn position(s: &Scope<'_>) -> usize {
    std::ptr::from_mut(s.alloc(0_u64)).addr()
}

#[test]
fn b01_sum_of_a_temporary_is_nine() {
    let mut arena = Arena::new();
    let sum = {
        let s = arena.scope();
        sum_of_successors(&s, &[1, 2, 3])
    };
    assert_eq!(sum, 9);
}

#[test]
fn b02_the_position_after_a_block_is_the_one_before() {
    let mut arena = Arena::new();
    let before = position(&arena.scope());
    for _ in 0..10 {
        assert_eq!(sum_of_successors(&arena.scope(), &[1, 2, 3]), 9);
        assert_eq!(position(&arena.scope()), before);
    }
    assert_eq!(arena.stats().used, 0);
}

#[test]
fn b03_the_position_is_restored_in_a_scope_too() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    s.alloc(1_u64);
    let (used, before) = (s.stats().used, position(&s.scope()));
    assert_eq!(sum_of_successors(&s.scope(), &[1, 2, 3]), 9);
    assert_eq!((s.stats().used, position(&s.scope())), (used, before));
}

#[test]
fn b04_an_explicit_buffer_is_restored() {
    let mut memory = [MaybeUninit::uninit(); 1000];
    let mut buffer = Fixed::new(&mut memory[..]);
    let before = position(&buffer.scope());
    assert_eq!(sum_of_successors(&buffer.scope(), &[1, 2, 3]), 9);
    assert_eq!(position(&buffer.scope()), before);
    assert_eq!(buffer.stats().used, 0);
}

#[test]
fn b05_the_function_form_takes_any_buffer() {
    let mut arena = Arena::new();
    let mut stack = StackArena::<100>::new();
    let mut fixed = Fixed::from_vec(Vec::with_capacity(100));
    let sum = |s: Scope<'_>| sum_of_successors(&s, &[1, 2, 3]);
    assert_eq!([sum(arena.scope()), sum(stack.scope()), sum(fixed.scope())], [9; 3]);
}

#[test]
fn b06_high_water_stays_when_the_position_goes_back() {
    let mut arena = Arena::with_capacity(4096);
    for _ in 0..3 {
        arena.scope().alloc([0_u8; 1000]);
    }
    let stats = arena.stats();
    assert_eq!(stats.used, 0);
    let expected = if cfg!(any(feature = "poison", ebbtide_asan)) { 1000 } else { stats.capacity };
    assert_eq!(stats.high_water, expected);
}

#[test]
fn b10_two_nearly_halves_fill_a_slab() {
    let (mut arena, log) = slabs();
    let s = arena.scope();
    s.alloc([0_u8; NEARLY_HALF]);
    s.alloc([0_u8; NEARLY_HALF]);
    let stats = s.stats();
    assert_eq!((stats.chunks, stats.capacity, stats.used), (1, SLAB, SLAB - 2));
    assert_eq!(log.calls(), 1);
}

#[test]
fn b11_a_nested_block_across_the_boundary_takes_one_more_slab() {
    let (mut arena, log) = slabs();
    let mut s = arena.scope();
    s.alloc([0_u8; NEARLY_HALF]);
    s.alloc([0_u8; NEARLY_HALF]);
    let inner = s.scope();
    inner.alloc([0_u64; 10]);
    assert_eq!(inner.stats().chunks, 2);
    assert_eq!(log.calls(), 2);
    assert_eq!(s.stats().used, SLAB - 2);
}

#[test]
fn b12_the_second_iteration_across_the_boundary_does_not_call_the_backing() {
    let (mut arena, log) = slabs();
    let turn = |s: &mut Scope<'_>| {
        s.alloc([0_u8; NEARLY_HALF]);
        s.alloc([0_u8; NEARLY_HALF]);
        s.scope().alloc([0_u64; 10]);
        s.alloc_slice_fill_copy(100_000, 0_u64);
        s.scope().alloc([0_u64; 10]);
    };
    turn(&mut arena.scope());
    let warm = log.calls();
    for _ in 0..100 {
        turn(&mut arena.scope());
    }
    assert_eq!(log.calls(), warm);
    assert_eq!(log.releases(), 0);
}

#[test]
fn b13_an_oversize_request_has_a_chunk_of_its_own_and_the_current_stays_current() {
    let (mut arena, _) = slabs();
    let s = arena.scope();
    let before = std::ptr::from_mut(s.alloc(1_u64)).addr();
    let large = s.alloc_slice_fill_copy(100_000, 7_u64);
    let after = std::ptr::from_mut(s.alloc(2_u64)).addr();
    assert_eq!(before - after, 8);
    let stats = s.stats();
    assert_eq!((stats.chunks, stats.oversize), (2, 1));
    assert_eq!(stats.capacity, SLAB + 800_000);
    assert_eq!(stats.used, 800_000 + 16);
    assert!(large.iter().all(|x| *x == 7));
}

#[test]
fn b14_after_the_block_only_the_first_slab_is_in_use() {
    let (mut arena, _) = slabs();
    let mut s = arena.scope();
    s.alloc([0_u8; NEARLY_HALF]);
    {
        let mut inner = s.scope();
        inner.alloc([0_u8; NEARLY_HALF]);
        inner.scope().alloc([0_u64; 10]);
        inner.alloc_slice_fill_copy(100_000, 0_u64);
        inner.alloc([0_u64; 10]);
    }
    assert!(s.stats().used <= SLAB);
    assert_eq!(s.stats().chunks, 3);
    assert_eq!(arena.stats().used, 0);
    assert_eq!(arena.chunks().filter(|chunk| chunk.used > 0).count(), 0);
    arena.root().alloc([0_u8; NEARLY_HALF]);
    let used: Vec<_> = arena.chunks().map(|chunk| chunk.used).collect();
    assert_eq!(used, [NEARLY_HALF, 0, 0]);
}

#[test]
fn b15_raw_bytes() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let used = s.stats().used;
    let block = s.alloc_layout(Layout::from_size_align(123, 1).unwrap());
    // SAFETY: the block has 123 bytes.
    unsafe { block.write_bytes(0xAB, 123) };
    assert_eq!(s.stats().used - used, 123);
}

/// The loop of benchmark W3.
#[test]
fn b16_a_thousand_boundary_crossings_call_the_backing_once() {
    for slab in [SLAB, 1 << 20] {
        let (backing, log) = watched();
        let mut arena = Arena::with_chunk_size_in(slab, backing);
        let mut s = arena.scope();
        s.alloc_slice_fill_copy(slab / 2 - 1, 0_u8);
        s.alloc_slice_fill_copy(slab / 2 - 1, 0_u8);
        assert_eq!(log.calls(), 1);
        for _ in 0..1000 {
            s.scope().alloc_slice_fill_copy(10, 0_u8);
        }
        assert_eq!(log.calls(), 2, "slabs of {slab}");
    }
}

#[test]
fn b17_panic_in_scope_rewinds() {
    let (mut arena, log) = slabs();
    let before = position(&arena.scope());
    for _ in 0..3 {
        let mut s = arena.scope();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut inner = s.scope();
            inner.alloc([0_u8; SLAB]);
            inner.scope().alloc_slice_fill_copy(100_000, 0_u64);
            panic!("inside");
        }));
        assert!(panicked.is_err());
        assert_eq!(s.stats().used, 0);
        assert_eq!(position(&s), before);
    }
    assert_eq!(arena.stats().used, 0);
    assert_eq!(log.live(), arena.stats().chunks);
    assert_eq!(log.calls(), 2);
}

#[test]
fn b18_reset_frees_everything_and_keeps_the_chunks() {
    let (mut arena, log) = slabs();
    let first = position(arena.root());
    for _ in 0..10_000 {
        arena.root().alloc(1_u64);
    }
    let (held, calls) = (arena.stats().held, log.calls());
    arena.reset();
    assert_eq!((arena.stats().used, arena.stats().held), (0, held));
    assert_eq!(position(arena.root()), first);
    for _ in 0..10_000 {
        arena.root().alloc(1_u64);
    }
    assert_eq!(log.calls(), calls);
}

#[test]
fn b19_nested_blocks_on_one_buffer_end_one_by_one() {
    let mut arena = Arena::new();
    let mut a = arena.scope();
    let one = a.alloc(1_u64);
    let mut b = a.scope();
    let two = b.alloc(2_u64);
    let three = {
        let c = b.scope();
        let three = c.alloc(3_u64);
        *three += *one + *two;
        std::ptr::from_mut(three).addr()
    };
    assert_eq!(position(&b.scope()), three);
    *two += *one;
    let used = b.stats().used;
    *one += 1;
    assert!(a.stats().used < used);
    assert_eq!(*one, 2);
}

#[test]
fn b20_nested_blocks_on_two_buffers_do_not_touch_each_other() {
    let (mut left, mut right) = (Arena::new(), Arena::new());
    let mut l = left.scope();
    let kept = l.alloc(1_u64);
    {
        let mut r = right.scope();
        let x = r.alloc(2_u64);
        {
            let inner = l.scope();
            let y = inner.alloc(3_u64);
            r.scope().alloc(4_u64);
            *y += *x;
            assert_eq!(*y, 5);
        }
        assert_eq!(r.stats().used, 8);
    }
    assert_eq!(l.stats().used, 8);
    *kept += 1;
    assert_eq!(*kept, 2);
    drop(right);
}

#[test]
fn b21_blocks_on_two_buffers_end_in_any_order() {
    let (mut left, mut right) = (Arena::new(), Arena::new());
    let (l, r) = (left.scope(), right.scope());
    let (x, y) = (l.alloc(1_u64), r.alloc(2_u64));
    assert_eq!(*x + *y, 3);
    left.reset();
    assert_eq!(*y, 2);
    assert_eq!((left.stats().used, right.stats().used), (0, 0));
}

#[test]
fn b22_a_full_fixed_buffer_is_an_error_that_changes_nothing() {
    let mut memory = [MaybeUninit::uninit(); 100];
    let mut buffer = Fixed::new(&mut memory[..]);
    let s = buffer.scope();
    let kept = s.alloc_slice_fill_copy(60, 1_u8);
    for _ in 0..3 {
        assert_eq!(s.try_alloc_slice_fill_copy(100_000, 0_u64), Err(AllocError));
        assert_eq!(s.stats().used, 60);
    }
    let rest = s.try_alloc_slice_fill_copy(40, 2_u8).unwrap();
    assert_eq!(s.try_alloc(0_u8), Err(AllocError));
    assert!(kept.iter().all(|x| *x == 1) && rest.iter().all(|x| *x == 2));
}

#[test]
fn b23_a_fixed_buffer_is_empty_for_each_scope() {
    let mut buffer = StackArena::<100>::new();
    for turn in 0..10 {
        let s = buffer.scope();
        let all = s.try_alloc_slice_fill_copy(100, turn).unwrap();
        assert!(all.iter().all(|x: &u8| *x == turn));
    }
}

#[test]
fn b26_return_from_a_scope_rewinds() {
    fn first_even(arena: &mut Arena<Watched>, xs: &[i64]) -> Option<i64> {
        let s = arena.scope();
        let copy = s.alloc_slice_copy(xs);
        for x in copy {
            if *x % 2 == 0 {
                return Some(*x);
            }
        }
        None
    }
    let (mut arena, log) = slabs();
    assert_eq!(first_even(&mut arena, &[1, 4, 3]), Some(4));
    assert_eq!(first_even(&mut arena, &[1]), None);
    assert_eq!((arena.stats().used, log.calls()), (0, 1));
}

#[test]
fn b27_question_mark_in_a_scope_rewinds() {
    fn sum(arena: &mut Arena, words: &[&str]) -> Result<u32, std::num::ParseIntError> {
        let s = arena.scope();
        let numbers = s.alloc_slice_try_fill_with(words.len(), |i| words[i].parse())?;
        s.alloc(0_u64);
        Ok(numbers.iter().sum::<u32>() + words[0].parse::<u32>()?)
    }
    let mut arena = Arena::new();
    assert_eq!(sum(&mut arena, &["1", "2"]), Ok(4));
    assert!(sum(&mut arena, &["1", "x"]).is_err());
    assert_eq!(arena.stats().used, 0);
}

#[test]
fn b28_labelled_break_out_of_scopes_rewinds() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let found = 'search: {
        let mut a = s.scope();
        for i in 0_u64.. {
            a.alloc(i);
            let mut b = a.scope();
            for k in 0..3 {
                let c = b.scope();
                if *c.alloc(i * i + k) > 50 {
                    break 'search i;
                }
            }
        }
        unreachable!()
    };
    assert_eq!((found, s.stats().used), (7, 0));
}

#[test]
fn b29_continue_out_of_a_scope_rewinds() {
    let mut arena = Arena::new();
    let mut addresses = Vec::new();
    'outer: for i in 0..4_u64 {
        let mut s = arena.scope();
        addresses.push(position(&s));
        loop {
            let inner = s.scope();
            if *inner.alloc(i) != u64::MAX {
                continue 'outer;
            }
        }
    }
    assert!(addresses.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn b30_a_panic_through_two_scopes_rewinds_both() {
    let mut arena = Arena::new();
    let mut a = arena.scope();
    let kept = a.alloc(5_u64);
    let used = a.stats().used;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut b = a.scope();
        b.alloc(1_u64);
        let c = b.scope();
        c.alloc_with(|| -> u64 { panic!("in the innermost") });
    }));
    assert!(panicked.is_err());
    assert_eq!((*kept, a.stats().used), (5, used));
}

/// Fills 300 kB in small pieces.
fn run(s: &Scope<'_>) {
    for i in 0..3000_u64 {
        s.alloc([i; 12]);
        s.alloc_slice_fill_copy(4, 0_u8);
    }
}

#[test]
fn b40_a_run_that_overflows_makes_chunks() {
    let (mut arena, log) = slabs();
    run(&arena.scope());
    assert!(arena.stats().chunks > 3);
    assert_eq!(log.live(), arena.stats().chunks);
}

#[test]
fn b41_the_peak_is_learned_as_one_chunk() {
    let (mut arena, log) = slabs();
    run(&arena.scope());
    let peak = arena.stats().held;
    arena.reset_with(Retain::OneChunk);
    let calls = log.calls();
    run(&arena.scope());
    assert_eq!(log.calls(), calls + 1);
    let stats = arena.stats();
    assert_eq!((stats.chunks, stats.oversize), (1, 0));
    assert!(stats.held <= peak, "{} of {peak}", stats.held);
}

#[test]
fn b42_one_chunk_is_enough_from_then_on() {
    let (mut arena, log) = slabs();
    run(&arena.scope());
    arena.reset_with(Retain::OneChunk);
    run(&arena.scope());
    let (calls, held) = (log.calls(), arena.stats().held);
    for _ in 0..5 {
        arena.reset_with(Retain::OneChunk);
        run(&arena.scope());
    }
    assert_eq!((log.calls(), log.releases()), (calls, calls - 1));
    assert_eq!((arena.stats().chunks, arena.stats().held), (1, held));
}

#[test]
fn b43_a_higher_peak_is_learned_again() {
    let (mut arena, log) = slabs();
    run(&arena.scope());
    arena.reset_with(Retain::OneChunk);
    for _ in 0..2 {
        let s = arena.scope();
        run(&s);
        run(&s);
        assert!(s.stats().chunks <= 2);
        arena.reset_with(Retain::OneChunk);
    }
    let calls = log.calls();
    let s = arena.scope();
    run(&s);
    run(&s);
    assert_eq!((s.stats().chunks, log.calls()), (1, calls));
}

#[test]
fn b44_oversize_requests_are_learned_too() {
    let (mut arena, log) = slabs();
    let turn = |s: &Scope<'_>| {
        s.alloc(1_u8);
        s.alloc_slice_fill_copy(100_000, 0_u64);
        s.alloc_slice_fill_copy(50_000, 0_u64);
        s.alloc([0_u8; NEARLY_HALF]);
    };
    turn(&arena.scope());
    assert_eq!(arena.stats().oversize, 2);
    arena.reset_with(Retain::OneChunk);
    turn(&arena.scope());
    let calls = log.calls();
    turn(&arena.scope());
    assert_eq!((arena.stats().chunks, arena.stats().oversize), (1, 0));
    assert_eq!(log.calls(), calls);
}

#[test]
fn b45_learning_releases_all_chunks() {
    let (mut arena, log) = slabs();
    run(&arena.scope());
    arena.reset_with(Retain::OneChunk);
    assert_eq!((log.live(), log.held(), arena.stats().held), (0, 0, 0));
}

#[test]
fn b46_learning_frees_the_contents_of_the_root() {
    let (mut arena, _) = slabs();
    run(arena.root());
    arena.reset_with(Retain::OneChunk);
    assert_eq!(arena.stats().used, 0);
    run(arena.root());
    assert_eq!(arena.stats().chunks, 1);
}

#[test]
fn b47_an_arena_of_one_chunk_keeps_it() {
    let (mut arena, log) = slabs();
    arena.scope().alloc(1_u64);
    for _ in 0..3 {
        arena.reset_with(Retain::OneChunk);
        arena.scope().alloc(1_u64);
    }
    assert_eq!((log.calls(), log.releases()), (1, 0));
}

#[test]
fn b48_an_arena_without_memory_learns_nothing() {
    let (mut arena, log) = slabs();
    arena.reset_with(Retain::OneChunk);
    assert_eq!(log.calls(), 0);
    arena.scope().alloc(1_u64);
    assert_eq!(arena.stats().capacity, SLAB);
}

#[test]
fn b49_learning_respects_the_limit() {
    let (mut arena, log) = slabs();
    arena.set_limit(Some(400_000));
    let fill = |s: &Scope<'_>| while s.try_alloc([0_u8; 100]).is_ok() {};
    fill(&arena.scope());
    arena.reset_with(Retain::OneChunk);
    fill(&arena.scope());
    assert!(log.held() <= 400_000);
    assert_eq!(arena.stats().held, log.held());
}

#[test]
fn b50_chunks_stay_without_learning() {
    let (mut arena, log) = slabs();
    run(&arena.scope());
    let calls = log.calls();
    for _ in 0..5 {
        run(&arena.scope());
        arena.reset();
        arena.reset_with(Retain::All);
    }
    assert_eq!((log.calls(), log.releases()), (calls, 0));
}

#[test]
fn b51_a_refused_peak_is_requested_in_halves() {
    let (mut arena, log) = slabs();
    run(&arena.scope());
    arena.reset_with(Retain::OneChunk);
    log.refuse_above(100_000);
    run(&arena.scope());
    assert!(arena.stats().chunks > 1);
    assert!(arena.chunks().all(|chunk| chunk.capacity < 100_000));
}

#[test]
fn b52_dropping_the_arena_releases_everything() {
    let (mut arena, log) = slabs();
    run(&arena.scope());
    arena.reset_with(Retain::OneChunk);
    run(arena.root());
    run(arena.root());
    drop(arena);
    assert_eq!((log.live(), log.held()), (0, 0));
    assert_eq!(log.calls(), log.releases());
}

#[test]
fn s01_an_empty_arena_prints_nothing_used() {
    let arena = Arena::new();
    assert_eq!(arena.stats().to_string(), "0 B used of 0 B in 0 chunks");
}

#[test]
fn s02_used_and_capacity_are_printed() {
    let arena = Arena::with_capacity(1 << 20);
    arena.root().alloc_slice_fill_copy(1536, 0_u8);
    assert_eq!(arena.stats().to_string(), "1.50 KiB used of 1.00 MiB in 1 chunk");
}

#[test]
fn s03_oversize_chunks_are_printed() {
    let (mut arena, _) = slabs();
    let s = arena.scope();
    s.alloc_slice_fill_copy(100_000, 0_u64);
    let stats = s.stats();
    assert_eq!(stats.to_string(), "781.25 KiB used of 797.25 KiB in 2 chunks, 1 of them oversize");
}

#[test]
fn s04_debug_shows_the_figures() {
    let arena = Arena::with_chunk_size(1024);
    arena.root().alloc([0_u8; 100]);
    for text in
        [format!("{:?}", arena.stats()), format!("{arena:?}"), format!("{:?}", arena.root())]
    {
        assert!(text.contains("used: 100") && text.contains("capacity: 1024"), "{text}");
    }
    arena.set_limit(Some(5000));
    assert!(format!("{arena:?}").contains("limit: Some(5000)"));
}

#[test]
fn s05_fixed_buffers_print_their_capacity() {
    let mut fixed = Fixed::new([MaybeUninit::uninit(); 100]);
    fixed.scope().alloc(1_u8);
    assert!(format!("{fixed:?}").contains("capacity: 100"));
    assert_eq!(fixed.stats().to_string(), "0 B used of 100 B in 1 chunk");
    assert_eq!(format!("{:?}", StackArena::<64>::new()), "StackArena(64)");
}

#[test]
fn o03_alloc_nothrow_is_an_error_where_it_overran() {
    let mut buffer = StackArena::<64>::new();
    let s = buffer.scope();
    let first = s.try_alloc_slice_fill_copy(64, 1_u8).unwrap();
    for len in [1, 63, 64, 65, 1 << 20, isize::MAX as usize, usize::MAX] {
        assert_eq!(s.try_alloc_slice_fill_copy(len, 2_u8).err(), Some(AllocError), "{len}");
        assert!(s.try_alloc_uninit_slice::<u64>(len).is_err(), "{len}");
    }
    assert!(first.iter().all(|x| *x == 1));
}

/// Bumper.jl refuses to resize a buffer in use. Here, methods that release memory borrow the arena
/// exclusively (see `ebbtide-ui`), and a limit frees nothing.
#[test]
fn o05_a_limit_below_the_current_size_frees_nothing() {
    let (backing, log) = watched();
    let arena = Arena::with_capacity_in(1000, backing);
    let kept = arena.root().alloc([7_u8; 600]);
    arena.set_limit(Some(0));
    let next = arena.root().alloc([8_u8; 400]);
    assert!(arena.root().try_alloc([9_u8; 400]).is_err());
    assert_eq!((log.calls(), log.releases()), (1, 0));
    assert!(kept.iter().all(|x| *x == 7) && next.iter().all(|x| *x == 8));
    arena.set_limit(None);
    assert!(arena.root().try_alloc([9_u8; 400]).is_ok());
}
