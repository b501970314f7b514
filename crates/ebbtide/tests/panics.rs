//! Claim: a panic in user code loses no value, drops none twice, and leaves the arena usable.

#![cfg(feature = "std")]
#![allow(clippy::cast_possible_truncation)]

use crate::common::{Census, Counted, Liar, assert_works, end, panic_of};
use ebbtide::{Arena, Fixed, Scope, StackArena, boxed::Box};
use std::{
    cell::Cell,
    fmt::{self, Display},
    mem::MaybeUninit,
};

/// The number of elements in every test.
const LEN: usize = 9;

/// The element at which the panic happens: the first, a middle one, the last.
const PLACES: [usize; 3] = [0, 4, LEN - 1];

thread_local! {
    static CENSUS: &'static Census = Census::forever();
    static FUSE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Panics at the n-th step.
fn step(made: usize) {
    if FUSE.get() == Some(made) {
        panic!("step {made}");
    }
}

/// A value whose `Clone` and `Default` panic when the fuse runs out.
struct Fused(Counted<'static>);

impl Fused {
    fn new(id: usize) -> Self {
        step(id);
        Fused(CENSUS.with(|census| census.make(id)))
    }
}

impl Clone for Fused {
    fn clone(&self) -> Self {
        step(self.0.id());
        Fused(self.0.clone())
    }
}

impl Display for Fused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        step(self.0.id());
        write!(f, "<{}>", self.0.id())
    }
}

/// Without a destructor, for methods that reject one. Its `Clone` and `Default` count.
#[derive(Debug, PartialEq)]
struct Plain(usize);

thread_local! {
    static NEXT: Cell<usize> = const { Cell::new(0) };
}

impl Plain {
    fn next() -> Self {
        let id = NEXT.replace(NEXT.get() + 1);
        step(id);
        Plain(id)
    }
}

impl Clone for Plain {
    fn clone(&self) -> Self {
        Self::next()
    }
}

impl Default for Plain {
    fn default() -> Self {
        Self::next()
    }
}

/// Runs `route` with a panic at each position, in arenas of several sizes, and checks that every
/// value is dropped and the scope still works. Also runs it without a panic.
fn survives(name: &str, route: impl Fn(&Scope<'_>)) {
    let census = CENSUS.with(|census| *census);
    for chunk_size in [16, 200, 4_000] {
        let mut arena = Arena::with_chunk_size(chunk_size);
        for place in PLACES {
            let mut outer = arena.scope();
            let kept = outer.alloc_slice_fill_copy(40, 0xA5u8);
            {
                let s = outer.scope();
                let before = census.live();
                FUSE.set(Some(place));
                NEXT.set(0);
                let message = panic_of(|| route(&s));
                FUSE.set(None);
                assert_eq!(message, Some(format!("step {place}")), "{name} at {place}");
                assert_eq!(census.live(), before, "{name} at {place}: values were lost");
                assert_works(&s);
                NEXT.set(0);
                assert_eq!(panic_of(|| route(&s)), None, "{name} afterwards");
                assert_eq!(census.live(), before, "{name} afterwards");
                assert_works(&s);
            }
            assert!(kept.iter().all(|byte| *byte == 0xA5), "{name}");
            assert_works(&outer);
        }
    }
}

/// The values of a test, created before the fuse is set.
fn values() -> Vec<Fused> {
    let fuse = FUSE.replace(None);
    let values = (0..LEN).map(Fused::new).collect();
    FUSE.set(fuse);
    values
}

#[test]
fn a_panic_in_a_closure() {
    survives("alloc_slice_fill_with", |s| end(s.alloc_slice_fill_with(LEN, |_| Plain::next())));
    survives("alloc_slice_fill_with of boxes", |s| {
        end(s.boxed_slice_fill_with(LEN, |i| s.boxed(Fused::new(i))));
    });
    survives("alloc_slice_try_fill_with", |s| {
        end(s.alloc_slice_try_fill_with(LEN, |_| Ok::<_, ()>(Plain::next())));
    });
    survives("try_alloc_slice_try_fill_with", |s| {
        end(s.try_alloc_slice_try_fill_with(LEN, |_| Ok::<_, ()>(Plain::next())));
    });
    survives("alloc_slice_try_from_iter", |s| {
        end(s.alloc_slice_try_from_iter((0..LEN).map(|_| Ok::<_, ()>(Plain::next()))));
    });
    survives("alloc_array", |s| end(s.alloc_array::<_, LEN>(|_| Plain::next())));
    survives("try_alloc_array", |s| end(s.try_alloc_array::<_, LEN>(|_| Plain::next())));
    survives("boxed_slice_fill_with", |s| end(s.boxed_slice_fill_with(LEN, Fused::new)));
    survives("try_boxed_slice_fill_with", |s| end(s.try_boxed_slice_fill_with(LEN, Fused::new)));
    survives("boxed_with", |s| {
        let all: Vec<_> = (0..LEN).map(|i| s.boxed_with(|| Fused::new(i))).collect();
        drop(all);
    });
    survives("alloc_with", |s| {
        (0..LEN).for_each(|_| end(s.alloc_with(|| ([7u64; 20], Plain::next()))));
    });
    survives("alloc_try_with", |s| {
        (0..LEN).for_each(|_| end(s.alloc_try_with(|| Ok::<_, ()>(Plain::next()))));
    });
    survives("try_alloc_try_with", |s| {
        (0..LEN).for_each(|_| end(s.try_alloc_try_with(|| Err::<u64, _>(Plain::next()))));
    });
}

#[test]
fn a_panic_in_an_iterator() {
    survives("alloc_slice_fill_iter", |s| {
        end(s.alloc_slice_fill_iter((0..LEN).map(|_| Plain::next())));
    });
    survives("alloc_slice_from_iter", |s| {
        end(s.alloc_slice_from_iter((0..LEN).map(|_| Plain::next()).filter(|_| true)));
    });
    survives("try_alloc_slice_from_iter", |s| {
        end(s.try_alloc_slice_from_iter((0..LEN).map(|_| Plain::next())));
    });
    survives("boxed_slice_from_iter", |s| {
        end(s.boxed_slice_from_iter((0..LEN).map(Fused::new).filter(|_| true)));
    });
    for announced in [LEN / 2, LEN, 1_000] {
        survives("boxed_slice_from_iter of a liar", |s| {
            let values = (0..LEN).map(Fused::new);
            end(s.boxed_slice_from_iter(Liar { values, announced }));
        });
    }
    survives("try_boxed_slice_from_iter", |s| {
        end(s.try_boxed_slice_from_iter((0..LEN).map(|i| (Fused::new(i), [0u8; 300]))));
    });
    survives("an iterator that allocates", |s| {
        let values = (0..LEN).map(|i| {
            let low = s.boxed_slice_from_iter((0..5).map(|_| i).filter(|_| true));
            (s.boxed([i; 30]), low, Fused::new(i))
        });
        end(s.boxed_slice_from_iter(values.filter(|_| true)));
    });
}

/// An iterator that panics when it is dropped.
struct Last<I>(I);

impl<I: Iterator> Iterator for Last<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
}

impl<I> Drop for Last<I> {
    fn drop(&mut self) {
        FUSE.get().into_iter().for_each(step);
    }
}

#[test]
fn a_panic_in_the_destructor_of_an_iterator() {
    survives("boxed_slice_from_iter", |s| {
        let values = (0..LEN).map(|i| CENSUS.with(|census| census.make(i)));
        end(s.boxed_slice_from_iter(Last(values)));
    });
}

#[test]
fn a_panic_in_clone_and_default() {
    let source: Vec<Plain> = (0..LEN).map(Plain).collect();
    survives("alloc_slice_clone", |s| end(s.alloc_slice_clone(&source)));
    survives("try_alloc_slice_clone", |s| end(s.try_alloc_slice_clone(&source)));
    survives("alloc_slice_fill_clone", |s| end(s.alloc_slice_fill_clone(LEN, &source[0])));
    survives("alloc_slice_fill_default", |s| end(s.alloc_slice_fill_default::<Plain>(LEN)));
    survives("try_alloc_slice_fill_default", |s| {
        end(s.try_alloc_slice_fill_default::<Plain>(LEN));
    });
    let source = values();
    survives("boxed_slice_clone", |s| end(s.boxed_slice_clone(&source)));
    survives("try_boxed_slice_clone", |s| end(s.try_boxed_slice_clone(&source)));
}

#[test]
fn a_panic_in_display() {
    /// Displays all of them.
    struct All<'v>(&'v [Fused]);
    impl Display for All<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.iter().try_for_each(|value| write!(f, "{value:>20}, "))
        }
    }

    let source = values();
    survives("alloc_fmt", |s| end(s.alloc_fmt(format_args!("{}", All(&source)))));
    survives("try_alloc_fmt", |s| end(s.try_alloc_fmt(format_args!("{}", All(&source)))));
    survives("alloc_fmt in alloc_fmt", |s| {
        end(s.alloc_fmt(format_args!("{}", s.alloc_fmt(format_args!("{}", All(&source))))));
    });
}

/// Panics when it is dropped, after counting itself.
struct Bomb(usize, #[allow(dead_code, reason = "counts itself")] Counted<'static>);

impl Bomb {
    fn new(id: usize) -> Self {
        Bomb(id, CENSUS.with(|census| census.make(id)))
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            step(self.0);
        }
    }
}

#[test]
fn a_panic_in_a_destructor() {
    survives("a box", |s| (0..LEN).for_each(|i| end(s.boxed(Bomb::new(i)))));
    survives("a slice", |s| end(s.boxed_slice_fill_with(LEN, Bomb::new)));
    survives("a collected slice", |s| end(s.boxed_slice_from_iter((0..LEN).map(Bomb::new))));
    survives("boxes in a vector", |s| {
        end((0..LEN).map(|i| s.boxed((Bomb::new(i), [0u64; 9]))).collect::<Vec<_>>());
    });
    survives("a trait object", |s| {
        let any = |i| -> Box<'_, dyn std::any::Any> { ebbtide::unsize!(s.boxed(Bomb::new(i))) };
        end((0..LEN).map(any).collect::<Vec<_>>());
    });
    survives("a box that is moved out of", |s| {
        (0..LEN).for_each(|i| drop(Box::into_inner(s.boxed(Bomb::new(i)))));
    });
    survives("what an iterator leaves over", |s| {
        let values: Vec<Bomb> = (0..LEN).map(Bomb::new).collect();
        end(s.boxed_vec(values));
    });
}

#[test]
fn a_refused_value_is_dropped() {
    let census = Census::default();
    let mut arena = StackArena::<64>::new();
    let s = arena.scope();
    for _ in 0..3 {
        assert!(s.try_boxed((census.make(0), [0u8; 100])).is_err());
        assert!(s.try_alloc_leaked((census.make(1), [0u8; 100])).is_err());
        assert!(s.try_boxed_vec((0..20).map(|i| census.make(i)).collect()).is_err());
        assert!(s.try_boxed_slice_from_iter((0..20).map(|i| census.make(i))).is_err());
        assert!(s.try_boxed_slice_clone(&[const { None::<Counted<'_>> }; 20]).is_err());
        assert_eq!((census.live(), s.stats().used), (0, 0));
    }
    assert!(s.try_boxed(census.make(2)).is_ok());
    assert_eq!(census.live(), 0);
}

#[test]
fn a_panic_passes_through_nested_scopes() {
    let census = Census::default();
    let mut arena = Arena::with_chunk_size(100);
    for turn in 0..5 {
        let message = panic_of(|| {
            let mut outer = arena.scope();
            let _first = outer.boxed(census.make(1));
            let mut middle = outer.scope();
            let _second = middle.boxed_slice_fill_with(50, |i| census.make(i));
            let inner = middle.scope();
            let _third = inner.boxed_slice_from_iter((0..50).map(|i| census.make(i)));
            panic!("turn {turn}");
        });
        assert_eq!(message, Some(format!("turn {turn}")));
        assert_eq!((census.live(), arena.stats().used), (0, 0));
        assert_works(&arena.scope());
    }
}

#[test]
fn a_panic_in_a_full_buffer() {
    let census = Census::default();
    let mut buffer = [MaybeUninit::uninit(); 256];
    let mut fixed = Fixed::new(&mut buffer[..]);
    for place in PLACES {
        let s = fixed.scope();
        let message = panic_of(|| {
            s.try_boxed_slice_from_iter((0..LEN).map(|i| {
                assert!(i != place, "at {i}");
                census.make(i)
            }))
            .is_ok()
        });
        assert_eq!(message, Some(format!("at {place}")));
        assert_eq!((census.live(), s.stats().used), (0, 0), "all of it is given back");
        while s.try_alloc(0u8).is_ok() {}
        assert_eq!(s.stats().used, 256);
    }
}

#[test]
fn a_panic_that_ends_the_thread_drops_the_arena() {
    let (backing, log) = crate::common::watched();
    let ended = std::thread::spawn(move || {
        let mut arena = Arena::new_in(backing);
        let s = arena.scope();
        s.alloc_slice_fill_copy(90_000, 1u8);
        std::panic::resume_unwind(std::boxed::Box::new("ended"));
    })
    .join();
    assert!(ended.is_err());
    assert!(log.calls() >= 2);
    assert_eq!(log.live(), 0);
}
