//! Claim: a scope ends when its borrow ends, however control leaves, and its memory is free then.
//!
//! Programs that must not compile are in `ebbtide-ui`.

#![cfg(feature = "std")]
#![allow(clippy::forget_non_drop, reason = "that a scope has nothing to drop is the point")]

use crate::common::watched;
#[cfg(debug_assertions)]
use crate::common::{Adjacent, panic_of};
use ebbtide::{Arena, Fixed, Scope, StackArena, boxed::Box};
use std::{
    cell::Cell,
    future::Future,
    mem::{self, MaybeUninit},
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll, Waker},
    thread,
};

/// The address of the next scope's first word.
fn position(s: &Scope<'_>) -> usize {
    std::ptr::from_mut(s.alloc(0_u64)).addr()
}

#[test]
fn outer_references_are_used_inside_and_after() {
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let kept = outer.alloc_slice_fill_copy(3, 1);
    for i in 0..100 {
        let inner = outer.scope();
        kept[i % 3] += *inner.alloc(i);
    }
    let more = outer.alloc_str("after the children");
    assert_eq!(kept.iter().sum::<usize>(), 3 + 99 * 50);
    assert_eq!(more, "after the children");
}

#[test]
fn a_value_can_be_returned_from_a_scope() {
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let (sum, text) = {
        let inner = outer.scope();
        let xs = inner.alloc_slice_fill_with(10, |i| i);
        (xs.iter().sum::<usize>(), inner.alloc_str("copied out").to_owned())
    };
    let kept = outer.alloc(sum);
    assert_eq!((*kept, text.as_str()), (45, "copied out"));
}

/// A typical parser: it owns its scope and returns values of the same lifetime.
struct Parser<'a, 't> {
    scope: Scope<'a>,
    rest: &'t str,
}

impl<'a> Parser<'a, '_> {
    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let end = rest.find(' ').unwrap_or(rest.len());
        self.rest = &rest[end..];
        (end > 0).then(|| &*self.scope.alloc_str(&rest[..end]))
    }

    /// A temporary parser in a child scope.
    fn count_rest(&mut self) -> usize {
        let mut child = Parser { scope: self.scope.scope(), rest: self.rest };
        let mut words = 0;
        while child.word().is_some() {
            words += 1;
        }
        words
    }
}

#[test]
fn a_scope_can_be_stored_in_a_struct_and_used() {
    let mut arena = Arena::new();
    let mut parser = Parser { scope: arena.scope(), rest: "ebb and flow" };
    let first = parser.word().unwrap();
    assert_eq!(parser.count_rest(), 2);
    let mut moved = std::boxed::Box::new(parser);
    let second = moved.word().unwrap();
    let third = moved.word();
    assert_eq!(moved.word(), None);
    drop(moved);
    // The memory lives as long as the borrow of the arena, not as the scope that allocated it.
    assert_eq!((first, second, third), ("ebb", "and", Some("flow")));
}

/// Pending once, so that the awaiting future is suspended and may be moved.
struct Once(bool);

impl Future for Once {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u64> {
        if mem::replace(&mut self.0, true) { Poll::Ready(1) } else { Poll::Pending }
    }
}

async fn in_a_future(mut arena: Arena) -> (u64, Arena) {
    let sum = {
        let mut s = arena.scope();
        let mut sum = 0;
        for i in 0..3 {
            let kept = s.alloc(i);
            *kept += Once(false).await;
            sum += *kept;
            let inner = s.scope();
            let awaited = Once(false).await;
            sum += *inner.alloc(awaited);
        }
        sum
    };
    (sum, arena)
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn a_scope_can_be_held_across_an_await() {
    let mut future = pin!(is_send(in_a_future(Arena::new())));
    let mut context = Context::from_waker(Waker::noop());
    let mut pending = 0;
    let (sum, arena) = loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => break result,
            Poll::Pending => pending += 1,
        }
    };
    assert_eq!((pending, sum, arena.stats().used), (6, 3 + 3 + 3, 0));
}

#[test]
fn a_scope_can_move_into_a_future() {
    async fn consume(s: Scope<'_>) -> u64 {
        let kept = s.alloc(41);
        *kept += Once(false).await;
        *kept
    }
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    outer.alloc([0_u8; 100]);
    let used = outer.stats().used;
    {
        let mut future = std::boxed::Box::pin(is_send(consume(outer.scope())));
        let mut context = Context::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut context).is_pending());
        // Continues on another thread.
        thread::scope(|threads| {
            threads.spawn(move || {
                let mut context = Context::from_waker(Waker::noop());
                assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(42));
            });
        });
    }
    {
        let dropped = consume(outer.scope());
        drop(dropped);
    }
    assert_eq!(outer.stats().used, used);
}

#[test]
fn a_scope_can_be_sent_to_a_scoped_thread() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    let mut outer = arena.scope();
    let kept = outer.alloc(1_u64);
    let inner = outer.scope();
    let made = thread::scope(|threads| {
        threads
            .spawn(move || {
                // Enough to call the backing from this thread.
                let all = inner.alloc_slice_fill_with(10_000, |i| i as u64);
                (0..1000).for_each(|i| *inner.alloc(i) += 1);
                all
            })
            .join()
            .unwrap()
    });
    assert_eq!(made[9_999], 9_999);
    *kept += 1;
    assert_eq!(*kept, 2);
    let calls = log.calls();
    assert!(calls > 1);
    arena.scope().alloc_slice_fill_copy(10_000, 0_u64);
    assert_eq!(log.calls(), calls);
}

#[test]
fn an_arena_can_be_sent_with_its_contents() {
    let arena = Arena::new();
    *arena.root().alloc(1_u64) += 1;
    let used = arena.stats().used;
    let mut arena = thread::spawn(move || {
        arena.root().alloc([0_u64; 10_000]);
        arena
    })
    .join()
    .unwrap();
    assert!(arena.stats().used > used);
    arena.reset();
    assert_eq!(*arena.scope().alloc(5), 5);
}

#[test]
fn scopes_can_be_forgotten() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    for _ in 0..100 {
        let mut s = arena.scope();
        s.alloc_slice_fill_copy(5000, 1_u8);
        let inner = s.scope();
        inner.alloc_slice_fill_copy(5000, 2_u8);
        mem::forget(inner);
        mem::forget(s);
    }
    assert_eq!(arena.stats().used, 0);
    assert!(log.calls() < 5);
    drop(arena);
    assert_eq!(log.live(), 0);
}

/// Counts its drops, and owns no memory that could leak.
struct Counted<'c>(&'c Cell<u32>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn boxes_can_be_forgotten() {
    let drops = Cell::new(0);
    let mut arena = Arena::new();
    let mut s = arena.scope();
    {
        let inner = s.scope();
        mem::forget(inner.boxed(Counted(&drops)));
        drop(inner.boxed(Counted(&drops)));
    }
    assert_eq!((drops.get(), s.stats().used), (1, 0));
    *s.alloc(5) += 1;
}

#[test]
fn a_forgotten_buffer_can_be_used_again() {
    // Over borrowed memory, so that leak checkers report nothing.
    let mut memory = [mem::MaybeUninit::uninit(); 100];
    let mut fixed = Fixed::new(&mut memory[..]);
    fixed.scope().alloc(1_u64);
    mem::forget(fixed);
    assert_eq!(*Fixed::new(&mut memory[..]).scope().alloc(2_u64), 2);
}

#[test]
fn scopes_of_two_arenas_can_be_swapped() {
    let (mut left, mut right) = (Arena::new(), Arena::new());
    {
        let (mut l, mut r) = (left.scope(), right.scope());
        let (a, b) = (l.alloc(1_u64), r.alloc(2_u64));
        mem::swap(&mut l, &mut r);
        let (c, d) = (l.alloc_slice_fill_copy(10_000, 3_u64), r.alloc_slice_fill_copy(9000, 4_u64));
        let (e, f) = (l.alloc(5_u64), r.alloc(6_u64));
        mem::swap(&mut l, &mut r);
        let (g, h) = (l.alloc(7_u64), r.alloc(8_u64));
        assert!(c.iter().all(|x| *x == 3) && d.iter().all(|x| *x == 4));
        assert_eq!([*a, *b, *e, *f, *g, *h], [1, 2, 5, 6, 7, 8]);
    }
    for arena in [&mut left, &mut right] {
        assert_eq!(arena.stats().used, 0);
        assert_eq!(*arena.scope().alloc(9), 9);
    }
}

#[test]
fn child_scopes_can_be_swapped() {
    let (mut left, mut right) = (Arena::new(), StackArena::<4096>::new());
    let (mut l, mut r) = (left.scope(), right.scope());
    let kept = (l.alloc(1_u64), r.alloc(2_u64));
    {
        let (mut a, mut b) = (l.scope(), r.scope());
        mem::swap(&mut a, &mut b);
        let (c, d) = (a.alloc([3_u64; 100]), b.alloc([4_u64; 100]));
        mem::forget(mem::replace(&mut a, b));
        a.alloc([5_u64; 100]);
        assert_eq!((c[99], d[99]), (3, 4));
    }
    let after = (l.alloc(6_u64), r.alloc(7_u64));
    assert_eq!((*kept.0, *kept.1, *after.0, *after.1), (1, 2, 6, 7));
}

#[test]
fn swapped_arenas_keep_their_own_memory() {
    let (backing, log) = watched();
    let (mut left, mut right) = (Arena::new_in(backing), Arena::new_in(watched().0));
    left.root().alloc([1_u8; 100]);
    right.root().alloc([2_u8; 10]);
    mem::swap(&mut left, &mut right);
    assert_eq!((left.stats().used, right.stats().used), (10, 100));
    left.root().alloc_slice_fill_copy(100_000, 3_u8);
    drop(mem::replace(&mut right, Arena::new_in(watched().0)));
    assert_eq!(log.live(), 0);
    left.scope().alloc_slice_fill_copy(200_000, 4_u8);
    drop(left);
}

#[test]
fn swapped_fixed_buffers_keep_their_own_memory() {
    let mut first = Fixed::new([mem::MaybeUninit::uninit(); 64]).or_spill(watched().0);
    let mut second = Fixed::new([mem::MaybeUninit::uninit(); 64]).or_spill(watched().0);
    first.scope().alloc_slice_fill_copy(5000, 1_u8);
    second.scope().alloc_slice_fill_copy(10, 1_u8);
    mem::swap(&mut first, &mut second);
    assert_eq!((first.stats().chunks, second.stats().chunks), (1, 2));
    for fixed in [&mut first, &mut second] {
        let s = fixed.scope();
        let (a, b) = (s.alloc([1_u8; 60]), s.alloc_slice_fill_copy(6000, 2_u8));
        assert!(a.iter().all(|x| *x == 1) && b.iter().all(|x| *x == 2));
    }
}

#[test]
fn swapped_boxes_drop_each_value_once() {
    let (left, right) = (Rc::new(1), Rc::new(2));
    let (mut one, mut two) = (Arena::new(), Arena::new());
    {
        let (l, r) = (one.scope(), two.scope());
        let (mut a, mut b) = (l.boxed(Rc::clone(&left)), r.boxed(Rc::clone(&right)));
        mem::swap(&mut a, &mut b);
        assert_eq!((**a, **b), (2, 1));
        mem::swap(&mut *a, &mut *b);
        assert_eq!((**a, **b), (1, 2));
    }
    assert_eq!((Rc::strong_count(&left), Rc::strong_count(&right)), (1, 1));
}

#[test]
fn a_parent_can_move_between_two_children() {
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let kept = outer.alloc(1_u64);
    outer.scope().alloc(2_u64);
    let mut moved = [outer];
    moved[0].scope().alloc(3_u64);
    let [outer] = moved;
    let more = outer.alloc(4_u64);
    assert_eq!((*kept, *more), (1, 4));
}

#[test]
fn scopes_can_be_nested_a_thousand_deep() {
    fn sum(mut s: Scope<'_>, depth: u64) -> u64 {
        let here = s.alloc(depth);
        if depth == 0 { 0 } else { sum(s.scope(), depth - 1) + *here }
    }
    let mut arena = Arena::new();
    let before = position(&arena.scope());
    assert_eq!(sum(arena.scope(), 1000), 500_500);
    assert_eq!((arena.stats().used, position(&arena.scope())), (0, before));
}

#[test]
fn checkpoints_rewind_last_in_first_out() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let zero = s.checkpoint();
    let first = s.alloc(1_u64);
    let outer = s.checkpoint();
    let second = std::ptr::from_mut(s.alloc(2_u64)).addr();
    let inner = s.checkpoint();
    let third = std::ptr::from_mut(s.alloc_slice_fill_copy(10_000, 3_u64)).addr();
    s.alloc_fmt(format_args!("{third}"));
    // SAFETY: the latest checkpoint of this scope, and later allocations are not used again.
    unsafe { s.rewind(inner) };
    assert_eq!(s.stats().used, 16);
    assert_eq!(std::ptr::from_mut(s.alloc_slice_fill_copy(10_000, 4_u64)).addr(), third);
    // SAFETY: still the latest checkpoint; allocations made after it are not used again.
    unsafe { s.rewind(inner) };
    // SAFETY: a checkpoint of this scope; later ones, and later allocations, are not used again.
    unsafe { s.rewind(outer) };
    assert_eq!(std::ptr::from_mut(s.alloc(5_u64)).addr(), second);
    assert_eq!(*first, 1);
    // SAFETY: a checkpoint of this scope; later ones, and later allocations, are not used again.
    unsafe { s.rewind(zero) };
    assert_eq!(s.stats().used, 0);
}

/// The debug assertion detects every later checkpoint, and no valid one.
#[cfg(debug_assertions)]
#[test]
fn a_checkpoint_of_another_scope_is_detected() {
    let mut other = Arena::new();
    let foreign = other.scope().checkpoint();
    let mut arena = Arena::with_chunk_size(1024);
    let s = arena.scope();
    let start = s.checkpoint();
    s.alloc([1_u8; 16]);
    let here = s.checkpoint();
    s.alloc([1_u8; 16]);
    let ahead = s.checkpoint();
    s.alloc([1_u8; 4000]);
    let next_chunk = s.checkpoint();
    s.alloc([1_u8; 16]);
    let noticed = |checkpoint| {
        // SAFETY: later allocations are not used again. Where the rest of the contract is broken,
        // the assertion fails first.
        let rewind = || unsafe { s.rewind(checkpoint) };
        panic_of(rewind).is_some()
    };
    assert!(noticed(foreign), "of another arena");
    for (checkpoint, later) in [(next_chunk, None), (here, Some(ahead)), (start, Some(next_chunk))]
    {
        assert!(!noticed(checkpoint), "in the order of the contract");
        assert!(!noticed(checkpoint), "twice");
        assert_eq!(later.map(noticed), later.map(|_| true), "a later one after an earlier one");
    }
}

/// Independent of the order of the chunks' addresses, some of which the assertion compares.
#[cfg(debug_assertions)]
#[test]
fn a_checkpoint_beside_an_oversize_block_is_detected_once_the_scope_has_entered_that_chunk() {
    for downwards in [false, true] {
        let mut arena = Arena::with_chunk_size_in(1024, Adjacent::new(1 << 20, downwards));
        let s = arena.scope();
        let start = s.checkpoint();
        s.alloc([1_u8; 4000]);
        let beside = s.checkpoint();
        assert_eq!(s.stats().oversize, 1);
        // SAFETY: a checkpoint of this scope, and later allocations are not used again.
        unsafe { s.rewind(start) };
        s.alloc_slice_from_iter((0..6000_u16).filter(|n| n % 4 == 0));
        assert_eq!((s.stats().chunks, s.stats().oversize), (2, 0));
        // SAFETY: `rewind` panics before it changes anything, because this checkpoint is later.
        let rewind = || unsafe { s.rewind(beside) };
        assert!(panic_of(rewind).is_some());
    }
}

#[test]
fn checkpoints_nest_with_child_scopes() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    s.alloc(1_u64);
    let used = s.stats().used;
    let outer = s.checkpoint();
    for _ in 0..10 {
        let child = s.scope();
        let start = child.stats().used;
        let inner = child.checkpoint();
        child.alloc_slice_from_iter((0..5000).filter(|n| n % 2 == 0));
        child.alloc_slice_fill_copy(100_000, 1_u8);
        // SAFETY: the latest checkpoint of this scope, and later allocations are not used again.
        unsafe { child.rewind(inner) };
        assert_eq!(child.stats().used, start);
        child.alloc(2_u64);
    }
    s.alloc(3_u64);
    // SAFETY: a checkpoint of this scope; its children, and later allocations, are not used again.
    unsafe { s.rewind(outer) };
    assert_eq!(s.stats().used, used);
}

#[test]
fn a_checkpoint_in_a_fixed_buffer_rewinds_out_of_the_spill() {
    let mut fixed = Fixed::new([mem::MaybeUninit::uninit(); 100]).or_spill(watched().0);
    let s = fixed.scope();
    s.alloc([0_u8; 50]);
    let half = s.checkpoint();
    for turn in 0..3 {
        s.alloc([1_u8; 50]);
        s.alloc([2_u8; 5000]);
        assert_eq!(s.stats().chunks, 2, "turn {turn}");
        // SAFETY: the latest checkpoint of this scope, and later allocations are not used again.
        unsafe { s.rewind(half) };
    }
    assert_eq!(s.stats().used, 50);
}

#[test]
fn functions_take_a_scope_over_any_backing() {
    fn greet<'a>(s: &Scope<'a>, name: &str) -> &'a str {
        s.alloc_fmt(format_args!("hello, {name}"))
    }
    fn self_referential<'p>(s: &'p Scope<'p>) -> &'p str {
        greet(s, "self")
    }
    fn shorter<'short>(s: &'short Scope<'_>) -> &'short Scope<'short> {
        s
    }
    let mut arena = Arena::new();
    let mut spare = Fixed::from_vec(Vec::with_capacity(100));
    let mut stack = StackArena::<100>::new();
    let root = Arena::new();
    assert_eq!(greet(&arena.scope(), "arena"), "hello, arena");
    assert_eq!(greet(&spare.scope(), "spare"), "hello, spare");
    assert_eq!(greet(&stack.scope(), "stack"), "hello, stack");
    assert_eq!(greet(root.root(), "root"), "hello, root");
    let s = arena.scope();
    assert_eq!(self_referential(shorter(&s)), "hello, self");
}

#[test]
fn a_box_can_outlive_the_scope_variable_that_created_it() {
    let token = Rc::new(());
    let mut arena = Arena::new();
    let boxed: Box<'_, Rc<()>> = {
        let s = arena.scope();
        s.boxed(Rc::clone(&token))
    };
    assert_eq!(Rc::strong_count(&boxed), 2);
    drop(boxed);
    assert_eq!(Rc::strong_count(&token), 1);
}

#[test]
fn children_of_a_full_parent_move_it_to_the_next_chunk() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1024, backing);
    let mut outer = arena.scope();
    let kept = outer.alloc_slice_fill_copy(1024 - 4, 7u8);
    // The first child finds no next chunk, and allocates one.
    let first = position(&outer.scope());
    let used = outer.stats().used;
    for _ in 0..100 {
        let mut inner = outer.scope();
        let (here, deeper) = (position(&inner), position(&inner.scope()));
        assert_eq!(here, first, "each begins where the chunk behind ends");
        assert_eq!(deeper, first - 16, "16 is what a scope's begin is rounded to");
    }
    assert_eq!(log.calls(), 2);
    assert_eq!(outer.stats().used, used, "what was left of the chunk is not in use");
    assert_eq!(position(&outer), first, "the parent goes on there itself");
    assert_eq!(kept, [7; 1024 - 4]);
}

#[test]
fn a_full_parent_without_a_next_chunk_stays() {
    let mut bytes = [MaybeUninit::<u8>::uninit(); 256];
    let mut buffer = Fixed::new(&mut bytes);
    let mut outer = buffer.scope();
    outer.alloc_slice_fill_copy(250, 7u8);
    for _ in 0..3 {
        let inner = outer.scope();
        assert!(inner.try_alloc(0_u64).is_err());
    }
    assert_eq!(outer.alloc_slice_fill_copy(6, 1u8), [1; 6], "not a byte of the parent's is lost");
}
