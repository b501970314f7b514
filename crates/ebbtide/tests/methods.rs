//! Claim: every method that allocates returns what its documentation says, aligned, in memory of
//! its own. Its `try_` version does the same, or returns `AllocError` and changes nothing.
//!
//! The file is long because it has a test or a row for each method.

#![cfg(feature = "std")]

use crate::common::ZeroSized;
use ebbtide::{AllocError, AllocOrInitError, Arena, Fixed, Scope, StackArena, boxed::Box, unsize};
use std::{
    alloc::Layout,
    collections::HashMap,
    fmt::{self, Write as _},
    mem::MaybeUninit,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    ptr::NonNull,
    rc::Rc,
    thread,
};

/// The blocks allocated so far, to check that none overlap.
#[derive(Default)]
struct Blocks(Vec<Range<usize>>);

impl Blocks {
    /// Records a value, and checks its alignment and that it overlaps no other value.
    fn add<T: ?Sized>(&mut self, value: &T) {
        self.add_bytes(std::ptr::from_ref(value).addr(), size_of_val(value), align_of_val(value));
    }

    fn add_bytes(&mut self, start: usize, size: usize, align: usize) {
        assert_eq!(start % align, 0, "aligned to {align}");
        if size == 0 {
            return;
        }
        let block = start..start + size;
        for other in &self.0 {
            assert!(block.end <= other.start || other.end <= block.start, "{block:?} {other:?}");
        }
        self.0.push(block);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
struct Line(u8);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(4096))]
struct Page(u8);

/// Zero-sized, with an alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(4096))]
struct EmptyPage;

/// Calls every method and its `try_` version, and compares both values with the expected one.
fn every_method(s: &Scope<'_>, blocks: &mut Blocks) {
    let mut both = |one: &dyn Value, two: &dyn Value, expected: &str| {
        for value in [one, two] {
            blocks.add_bytes(value.place().0, value.place().1, value.place().2);
            assert_eq!(value.text(), expected);
        }
    };
    /// Rows of two methods, their arguments and what both return.
    macro_rules! rows {
        ($($one:ident $two:ident $(::<$($of:tt),+>)? ($($arg:tt)*) => $expected:literal;)*) => {$(
            both(
                &s.$one $(::<$($of),+>)? ($($arg)*),
                &s.$two $(::<$($of),+>)? ($($arg)*).unwrap(),
                $expected,
            );
        )*};
    }
    let path = Path::new("ebb/flow");
    let (owned, name) = (|| String::from("owned"), |i: usize| i.to_string());
    rows! {
        alloc try_alloc(0x1234_u16) => "4660";
        alloc try_alloc(Line(5)) => "Line(5)";
        alloc try_alloc(Page(6)) => "Page(6)";
        alloc_leaked try_alloc_leaked(Some('x')) => "Some('x')";
        alloc_with try_alloc_with(|| [1.5; 2]) => "[1.5, 1.5]";
        alloc_default try_alloc_default::<(u16, u64)>() => "(0, 0)";
        alloc_cstr_from_str try_alloc_cstr_from_str("ebb\0flow") => "\"ebb\"";
        alloc_cstr_from_str try_alloc_cstr_from_str("ebb") => "\"ebb\"";
        alloc_cstr_from_str try_alloc_cstr_from_str("") => "\"\"";
        alloc_cstr_from_str try_alloc_cstr_from_str("\0") => "\"\"";
        alloc_path try_alloc_path(path) => "\"ebb/flow\"";
        alloc_os_str try_alloc_os_str(path.as_os_str()) => "\"ebb/flow\"";
        alloc_zeroed try_alloc_zeroed::<[u64; 2]>() => "[0, 0]";
        alloc_aligned try_alloc_aligned(3_u32, 256) => "3";
        alloc_slice_copy try_alloc_slice_copy(&[1_u8, 2, 3]) => "[1, 2, 3]";
        alloc_slice_clone try_alloc_slice_clone(&[Some(1), None]) => "[Some(1), None]";
        alloc_slice_fill_copy try_alloc_slice_fill_copy(2, 'y') => "['y', 'y']";
        alloc_slice_fill_clone try_alloc_slice_fill_clone(2, &Line(1)) => "[Line(1), Line(1)]";
        alloc_slice_fill_default try_alloc_slice_fill_default::<(u8, u64)>(2) => "[(0, 0), (0, 0)]";
        alloc_slice_fill_with try_alloc_slice_fill_with(4, |i| i * i) => "[0, 1, 4, 9]";
        alloc_slice_fill_iter try_alloc_slice_fill_iter([1_u16, 2]) => "[1, 2]";
        alloc_slice_from_iter try_alloc_slice_from_iter((0..20).filter(|n| n % 7 == 0)) => "[0, 7, 14]";
        alloc_array try_alloc_array::<usize, 3>(|i| i) => "[0, 1, 2]";
        alloc_zeroed_slice try_alloc_zeroed_slice::<f32>(2) => "[0.0, 0.0]";
        alloc_str try_alloc_str("low") => "\"low\"";
        alloc_fmt try_alloc_fmt(format_args!("{}-{:03}", "a", 7)) => "\"a-007\"";
        alloc_fmt try_alloc_fmt(format_args!("constant")) => "\"constant\"";
        alloc_cstr try_alloc_cstr(c"ebb") => "\"ebb\"";
        alloc_vec try_alloc_vec(vec![1_u64, 2]) => "[1, 2]";
        alloc_boxed_slice try_alloc_boxed_slice(vec![3_u8].into_boxed_slice()) => "[3]";
        boxed try_boxed(owned()) => "\"owned\"";
        boxed_with try_boxed_with(owned) => "\"owned\"";
        boxed_slice_fill_with try_boxed_slice_fill_with(2, name) => r#"["0", "1"]"#;
        boxed_slice_clone try_boxed_slice_clone(&[owned()]) => r#"["owned"]"#;
        boxed_slice_from_iter try_boxed_slice_from_iter((0..2).map(name)) => r#"["0", "1"]"#;
        boxed_vec try_boxed_vec(vec![owned()]) => r#"["owned"]"#;
        boxed_str try_boxed_str("text") => "\"text\"";
    }
    both(
        &s.alloc_try_with(|| Ok::<_, ()>(9_u128)).unwrap(),
        &s.try_alloc_try_with(|| Ok::<_, ()>(9_u128)).unwrap(),
        "9",
    );
    both(&s.alloc_uninit().write(7_u64), &s.try_alloc_uninit().unwrap().write(7_u64), "7");
    both(
        &s.alloc_slice_try_fill_with(2, u16::try_from).unwrap(),
        &s.try_alloc_slice_try_fill_with(2, u16::try_from).unwrap(),
        "[0, 1]",
    );
    let words = || ["1", "22"].iter().map(|word| word.parse::<u16>());
    both(
        &s.alloc_slice_try_from_iter(words()).unwrap(),
        &s.try_alloc_slice_try_from_iter(words()).unwrap(),
        "[1, 22]",
    );
    both(
        &s.alloc_uninit_slice(2).write_copy_of_slice_here(&[4_u8, 5]),
        &s.try_alloc_uninit_slice(2).unwrap().write_copy_of_slice_here(&[4_u8, 5]),
        "[4, 5]",
    );
    both(
        &s.alloc_uninit_slice_aligned(2, 128).write_copy_of_slice_here(&[4_u32, 5]),
        &s.try_alloc_uninit_slice_aligned(2, 128).unwrap().write_copy_of_slice_here(&[4_u32, 5]),
        "[4, 5]",
    );
    for layout in [Layout::new::<u8>(), Layout::from_size_align(300, 512).unwrap()] {
        for block in [s.alloc_layout(layout), s.try_alloc_layout(layout).unwrap()] {
            blocks.add_bytes(block.addr().get(), layout.size(), layout.align());
        }
    }
}

/// A reference or box that a method returned, by address and by contents.
trait Value {
    fn place(&self) -> (usize, usize, usize);
    fn text(&self) -> String;
}

impl<P: std::ops::Deref<Target: fmt::Debug>> Value for P {
    fn place(&self) -> (usize, usize, usize) {
        let value = &**self;
        (std::ptr::from_ref(value).cast::<()>().addr(), size_of_val(value), align_of_val(value))
    }

    fn text(&self) -> String {
        format!("{:?}", &**self)
    }
}

/// `write_copy_of_slice`, which the minimum supported Rust version lacks.
trait WriteCopy<T> {
    fn write_copy_of_slice_here(&mut self, values: &[T]) -> &mut [T];
}

impl<T: Copy> WriteCopy<T> for [MaybeUninit<T>] {
    fn write_copy_of_slice_here(&mut self, values: &[T]) -> &mut [T] {
        assert_eq!(self.len(), values.len());
        for (place, value) in self.iter_mut().zip(values) {
            place.write(*value);
        }
        // SAFETY: all elements were written.
        unsafe { &mut *(std::ptr::from_mut(self) as *mut [T]) }
    }
}

#[test]
fn every_method_returns_what_it_says_in_an_arena() {
    let mut arena = Arena::new();
    let (mut blocks, mut s) = (Blocks::default(), arena.scope());
    for _ in 0..20 {
        every_method(&s, &mut blocks);
        s.alloc(1_u8);
    }
    every_method(&s.scope(), &mut blocks);
    assert!(s.stats().chunks > 1);
}

#[test]
fn every_method_returns_what_it_says_in_a_root() {
    let arena = Arena::with_capacity(1);
    let mut blocks = Blocks::default();
    (0..5).for_each(|_| every_method(arena.root(), &mut blocks));
}

#[test]
fn every_method_returns_what_it_says_in_a_fixed_buffer() {
    let mut fixed = Fixed::from_vec(Vec::with_capacity(100_000));
    every_method(&fixed.scope(), &mut Blocks::default());
    every_method(&fixed.scope(), &mut Blocks::default());
    let mut spilling = StackArena::<100>::new().or_spill(ebbtide::Heap);
    every_method(&spilling.scope(), &mut Blocks::default());
}

/// Every `try_` method with a request of some size; returns whether it failed.
fn every_try<'a>(s: &Scope<'a>) -> [bool; 34] {
    let token = Rc::new(());
    let vec = || vec![Rc::clone(&token); 3];
    let refused = [
        s.try_alloc(1_u8).is_err(),
        s.try_alloc_leaked(1_u8).is_err(),
        s.try_alloc_with(|| -> u8 { panic!("must not run") }).is_err(),
        matches!(
            s.try_alloc_try_with(|| -> Result<u8, ()> { panic!("must not run") }),
            Err(AllocOrInitError::Alloc(AllocError))
        ),
        s.try_alloc_uninit::<u8>().is_err(),
        s.try_alloc_zeroed::<u8>().is_err(),
        s.try_alloc_aligned(1_u8, 1).is_err(),
        s.try_alloc_layout(Layout::new::<u8>()).is_err(),
        s.try_alloc_slice_copy(&[1_u8]).is_err(),
        s.try_alloc_slice_copy(&[1_u8; 100]).is_err(),
        s.try_alloc_slice_clone(&[Some(1)]).is_err(),
        s.try_alloc_slice_fill_copy(1, 1_u8).is_err(),
        s.try_alloc_slice_fill_clone(1, &1_u8).is_err(),
        s.try_alloc_slice_fill_default::<u8>(1).is_err(),
        s.try_alloc_slice_fill_with(1, |_| -> u8 { panic!("must not run") }).is_err(),
        matches!(
            s.try_alloc_slice_try_fill_with(1, |_| -> Result<u8, ()> { panic!("must not run") }),
            Err(AllocOrInitError::Alloc(AllocError))
        ),
        s.try_alloc_slice_fill_iter([1_u8]).is_err(),
        s.try_alloc_slice_from_iter([1_u8]).is_err(),
        s.try_alloc_slice_from_iter([1_u8; 3].iter().filter(|n| **n == 1)).is_err(),
        s.try_alloc_array::<u8, 1>(|_| panic!("must not run")).is_err(),
        s.try_alloc_uninit_slice::<u8>(1).is_err(),
        s.try_alloc_uninit_slice_aligned::<u8>(1, 8).is_err(),
        s.try_alloc_zeroed_slice::<u8>(1).is_err(),
        s.try_alloc_str("x").is_err(),
        matches!(s.try_alloc_fmt(format_args!("{}", 12)), Err(AllocOrInitError::Alloc(_))),
        s.try_alloc_cstr(c"").is_err(),
        s.try_alloc_vec(vec![1_u8]).is_err(),
        s.try_boxed(Rc::clone(&token)).is_err(),
        s.try_boxed_with(|| -> u8 { panic!("must not run") }).is_err(),
        s.try_boxed_slice_fill_with(1, |_| -> u8 { panic!("must not run") }).is_err(),
        s.try_boxed_slice_clone(&vec()).is_err(),
        s.try_boxed_slice_from_iter(vec()).is_err(),
        s.try_boxed_vec(vec()).is_err(),
        s.try_boxed_str("x").is_err(),
    ];
    assert_eq!(Rc::strong_count(&token), 1, "what was refused is dropped");
    refused
}

#[test]
fn every_try_method_fails_in_a_full_buffer_and_changes_nothing() {
    let mut buffer = [MaybeUninit::uninit(); 64];
    for bytes in [1, 15, 16, 17, 64] {
        let mut fixed = Fixed::new(&mut buffer[..bytes]);
        let s = fixed.scope();
        assert!(s.try_alloc_slice_fill_copy(bytes + 1, 7_u8).is_err());
        let all = s.alloc_slice_fill_copy(bytes, 7_u8);
        for _ in 0..3 {
            assert_eq!(every_try(&s), [true; 34]);
            assert_eq!(s.stats().used, bytes);
        }
        assert!(all.iter().all(|byte| *byte == 7));
    }
}

#[test]
fn every_try_method_fails_at_the_limit_and_changes_nothing() {
    let mut arena = Arena::with_chunk_size(64);
    let _ = arena.scope();
    arena.set_limit(Some(0));
    let s = arena.scope();
    let all = s.alloc([7_u8; 64]);
    let stats = s.stats();
    assert_eq!(every_try(&s), [true; 34]);
    assert_eq!(s.stats(), stats);
    assert_eq!(all, &[7; 64]);
}

#[test]
fn capacities_of_any_size_hold_as_many_bytes_as_requested() {
    // For what may grow, at the low end.
    const METHODS: [fn(&mut Scope<'_>, usize) -> usize; 6] = [
        |s, bytes| s.vec_with_capacity::<u8>(bytes).capacity(),
        |s, bytes| s.string_with_capacity(bytes).capacity(),
        |s, bytes| 8 * s.vec_with_capacity::<u64>(bytes / 8).capacity(),
        |s, bytes| {
            let mut built = s.grow_vec::<u8>();
            built.extend_from_slice(&vec![1; bytes]);
            built.into_slice().len()
        },
        |s, bytes| s.alloc_slice_from_iter((0..bytes).map(|_| 1_u8)).len(),
        |s, bytes| s.alloc_slice_from_iter(vec![1_u8; bytes]).len(),
    ];
    for capacity in [8, 15, 16, 17, 64, 100, 128, 1024, 4096, 12_345] {
        for method in METHODS {
            let mut arena = Arena::with_capacity(capacity);
            for _ in 0..3 {
                assert!(method(&mut arena.scope(), capacity) > capacity - 8);
                assert_eq!(arena.stats().chunks, 1, "{capacity} bytes");
            }
        }
    }
}

fn zero_sizes(s: &Scope<'_>) {
    let used = s.stats().used;
    s.alloc(());
    s.alloc(EmptyPage);
    assert_eq!(std::ptr::from_mut(s.alloc(EmptyPage)).addr() % 4096, 0);
    s.alloc_with(|| ());
    s.alloc_uninit::<EmptyPage>();
    s.alloc_zeroed::<()>();
    s.alloc_zeroed::<[u64; 0]>();
    s.alloc_array::<u64, 0>(|_| panic!("must not run"));
    s.alloc_array::<EmptyPage, 1000>(|_| EmptyPage);
    assert_eq!(s.alloc_try_with(|| Err::<(), _>(5)), Err(5));
    assert_eq!(s.alloc_slice_copy(&[EmptyPage; 3]).len(), 3);
    assert_eq!(s.alloc_slice_fill_iter([(); 7]).len(), 7);
    assert_eq!(s.alloc_slice_from_iter(std::iter::repeat_n(EmptyPage, 100)).len(), 100);
    assert_eq!(s.alloc_slice_from_iter(std::iter::empty::<u64>()).len(), 0);
    assert_eq!(s.alloc_slice_from_iter((0..10).filter(|n| *n > 10)).len(), 0);
    assert_eq!(s.alloc_uninit_slice::<()>(usize::MAX).len(), usize::MAX);
    assert_eq!(s.alloc_uninit_slice::<EmptyPage>(usize::MAX).len(), usize::MAX);
    assert_eq!(s.alloc_zeroed_slice::<()>(usize::MAX).len(), usize::MAX);
    assert_eq!(s.try_alloc_uninit_slice_aligned::<()>(usize::MAX, 1).unwrap().len(), usize::MAX);
    assert_eq!(s.alloc_slice_copy(&[(); usize::MAX]).len(), usize::MAX);
    assert_eq!(s.alloc_slice_fill_copy(usize::MAX, ()).len(), usize::MAX);
    assert_eq!(s.try_alloc_slice_fill_copy(usize::MAX, ()).unwrap().len(), usize::MAX);
    assert_eq!(s.alloc_slice_copy::<u8>(&[]), &[0_u8; 0]);
    assert_eq!(s.alloc_slice_fill_copy(0, 1_u8), &[0_u8; 0]);
    assert_eq!(s.alloc_str(""), "");
    assert_eq!(s.alloc_fmt(format_args!("")), "");
    assert_eq!(s.alloc_fmt(format_args!("{}", String::new())), "");
    assert_eq!(s.alloc_vec(Vec::<u8>::new()), &[0_u8; 0]);
    assert_eq!(s.alloc_vec(vec![(); usize::MAX]).len(), usize::MAX);
    assert_eq!(s.alloc_layout(Layout::from_size_align(0, 1).unwrap()).cast::<()>(), {
        s.alloc_layout(Layout::from_size_align(0, 1).unwrap()).cast()
    });
    assert_eq!(s.boxed_slice_clone::<String>(&[]).len(), 0);
    drop(s.boxed(()));
    for shift in 0..usize::BITS - 1 {
        let align = 1_usize << shift;
        let block = s.alloc_layout(Layout::from_size_align(0, align).unwrap());
        assert_eq!(block.addr().get() % align, 0);
        assert_eq!(std::ptr::from_ref(s.alloc_aligned((), align)).addr() % align, 0);
        let slice = s.alloc_uninit_slice_aligned::<u64>(0, align);
        assert_eq!(slice.as_ptr().addr() % align, 0);
    }
    assert_eq!(s.stats().used, used, "no byte is used");
}

#[test]
fn zero_sized_values_use_nothing_of_an_empty_arena() {
    zero_sizes(&Arena::new().scope());
    zero_sizes(Arena::new().root());
}

#[test]
fn zero_sized_values_use_nothing_of_a_full_buffer() {
    let mut stack = StackArena::<64>::new();
    let s = stack.scope();
    let all = s.alloc([7_u8; 64]);
    zero_sizes(&s);
    assert_eq!(all, &[7; 64]);
    zero_sizes(&StackArena::<0>::new().scope());
    zero_sizes(&Fixed::new(&mut [][..]).scope());
    zero_sizes(&Fixed::new([]).scope());
    zero_sizes(&Fixed::from_vec(Vec::new()).scope());
}

#[test]
fn an_empty_fixed_buffer_refuses_every_byte() {
    assert_eq!(every_try(&StackArena::<0>::new().scope()), [true; 34]);
    assert_eq!(every_try(&Fixed::new(&mut [][..]).scope()), [true; 34]);
    assert_eq!(every_try(&Fixed::new([]).scope()), [true; 34]);
    assert_eq!(every_try(&Fixed::from_vec(Vec::new()).scope()), [true; 34]);
}

#[test]
fn zero_sized_values_can_be_allocated_on_two_threads_at_once() {
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let mut arena = Arena::new();
                (0..200).for_each(|_| zero_sizes(&arena.scope()));
            });
        }
    });
}

#[test]
fn zero_sized_values_are_dropped_once_by_their_boxes() {
    let mut arena = Arena::new();
    let s = arena.scope();
    drop(s.boxed(ZeroSized));
    drop(s.boxed_slice_fill_with(1000, |_| ZeroSized));
    drop(s.boxed_slice_from_iter((0..10).map(|_| ZeroSized)));
    drop(s.boxed_vec(vec![ZeroSized, ZeroSized]));
    assert_eq!(ZeroSized::dropped(), 1013);
    s.alloc_leaked(ZeroSized);
    assert_eq!(ZeroSized::dropped(), 1013);
}

#[test]
fn alignments_up_to_a_mebibyte_hold() {
    for first in [1, 100, 5000, 100_000] {
        let mut arena = Arena::with_chunk_size(first);
        let s = arena.scope();
        let mut blocks = Blocks::default();
        for shift in (0..=20).chain((0..=20).rev()) {
            let align = 1_usize << shift;
            let value = s.alloc_aligned([1_u8; 3], align);
            blocks.add_bytes(value.as_ptr().addr(), 3, align);
            let value = s.try_alloc_aligned(2_u64, align).unwrap();
            blocks.add_bytes(std::ptr::from_mut(value).addr(), 8, align.max(align_of::<u64>()));
            let slice = s.alloc_uninit_slice_aligned::<u32>(5, align);
            blocks.add_bytes(slice.as_ptr().addr(), 20, align.max(4));
            for size in [0, 1, align - 1, align, align + 1] {
                let block = s.alloc_layout(Layout::from_size_align(size, align).unwrap());
                blocks.add_bytes(block.addr().get(), size, align);
            }
        }
    }
}

#[test]
fn types_of_large_alignment_are_aligned_by_every_method() {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(align(65536))]
    struct Huge(u8);

    let mut arena = Arena::new();
    let (s, mut blocks) = (arena.scope(), Blocks::default());
    blocks.add(s.alloc_with(|| Huge(1)));
    blocks.add(s.alloc_slice_fill_default::<Huge>(2));
    blocks.add(s.alloc_slice_from_iter((0..3).map(Huge)));
    blocks.add(s.alloc_slice_from_iter((0..3).filter(|n| *n != 1).map(Huge)));
    blocks.add(&*s.boxed_with(|| Huge(2)));
    blocks.add(s.alloc_uninit::<Huge>());
    assert!(s.stats().used > 8 * 65_536);
}

#[test]
fn zeroed_is_zero_on_recycled_memory() {
    let mut arena = Arena::with_capacity(10_000);
    let mut stack = StackArena::<10_000>::new();
    for _ in 0..3 {
        for s in [arena.scope(), stack.scope()] {
            s.alloc_slice_fill_copy(9_000, 0xFF_u8);
        }
        for s in [arena.scope(), stack.scope()] {
            assert_eq!(s.alloc_zeroed::<[u64; 100]>(), &[0; 100]);
            assert!(s.alloc_zeroed_slice::<u16>(3000).iter().all(|x| *x == 0));
            assert!(s.alloc_zeroed_slice::<Option<&u8>>(10).iter().all(Option::is_none));
            assert!(s.try_alloc_zeroed_slice::<*const u8>(10).unwrap().iter().all(|p| p.is_null()));
        }
    }
    assert_eq!(arena.stats().chunks, 1);
}

#[test]
fn the_block_of_a_failed_initialiser_is_freed() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for _ in 0..3 {
        assert_eq!(s.alloc_try_with(|| Err::<[u64; 9], _>("no")), Err("no"));
        let failed = s.try_alloc_try_with(|| Err::<[u64; 9], _>("no"));
        assert_eq!(failed, Err(AllocOrInitError::Init("no")));
        let fail = |i| if i == 5 { Err(i) } else { Ok(i) };
        assert_eq!(s.alloc_slice_try_fill_with(9, fail), Err(5));
        let failed = s.try_alloc_slice_try_fill_with(9, fail);
        assert_eq!(failed, Err(AllocOrInitError::Init(5)));
        assert_eq!(s.alloc_slice_try_from_iter((0..9).map(fail)), Err(5));
        let failed = s.try_alloc_slice_try_from_iter((0..9).map(fail));
        assert_eq!(failed, Err(AllocOrInitError::Init(5)));
        assert_eq!(s.stats().used, 0);
    }
}

#[test]
fn a_failed_initialiser_that_allocated_keeps_what_it_allocated() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut kept = Vec::new();
    let failed = s.alloc_slice_try_fill_with(3, |i| {
        kept.push(s.alloc(i));
        if i == 2 { Err(()) } else { Ok(0_u64) }
    });
    assert!(failed.is_err());
    let failed = s.alloc_slice_try_from_iter((0..3).map(|i| {
        kept.push(s.alloc(i));
        if i == 2 { Err(()) } else { Ok(0_u64) }
    }));
    assert!(failed.is_err());
    let mut single = None;
    let failed = s.alloc_try_with(|| {
        single = Some(s.alloc(3));
        Err::<u64, _>(())
    });
    assert!(failed.is_err());
    s.alloc([9_u64; 10]);
    let numbers: Vec<usize> = kept.iter().map(|number| **number).collect();
    assert_eq!((&numbers[..], single), (&[0, 1, 2, 0, 1, 2][..], Some(&mut 3)));
}

#[test]
fn a_display_that_fails_is_an_error_or_a_panic() {
    struct Fails;
    impl fmt::Display for Fails {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("half of it")?;
            Err(fmt::Error)
        }
    }
    let mut arena = Arena::new();
    let s = arena.scope();
    let failed = s.try_alloc_fmt(format_args!("{Fails}"));
    assert_eq!(failed.err(), Some(AllocOrInitError::Init(fmt::Error)));
    assert_eq!(s.stats().used, 0, "the text is given back");
    assert!(catch_unwind(AssertUnwindSafe(|| _ = s.alloc_fmt(format_args!("{Fails}")))).is_err());
    assert_eq!(s.alloc_fmt(format_args!("{}", 1)), "1");
}

#[test]
fn errors_describe_their_cause() {
    use std::error::Error;
    assert!(AllocError.to_string().contains("no room"));
    let error = AllocOrInitError::<fmt::Error>::from(AllocError);
    assert_eq!(error.to_string(), AllocError.to_string());
    assert!(error.source().is_some_and(|source| source.is::<AllocError>()));
    let error = AllocOrInitError::Init(fmt::Error);
    assert!(error.to_string().contains("initialiser"));
    assert!(error.source().is_some_and(|source| source.is::<fmt::Error>()));
}

#[test]
fn a_box_drops_its_value_exactly_once() {
    let token = Rc::new(5);
    let count = || Rc::strong_count(&token);
    let mut arena = Arena::new();
    let mut s = arena.scope();
    drop(s.boxed(Rc::clone(&token)));
    assert_eq!(count(), 1);

    let inner = Box::into_inner(s.boxed(Rc::clone(&token)));
    assert_eq!(count(), 2);
    drop(inner);
    assert_eq!(count(), 1);

    let raw: NonNull<Rc<i32>> = Box::into_raw(s.boxed(Rc::clone(&token)));
    assert_eq!(count(), 2);
    // SAFETY: from `into_raw` of a box of this scope, used once.
    let again = unsafe { Box::from_raw(raw) };
    assert_eq!((**again, count()), (5, 2));
    drop(again);
    assert_eq!(count(), 1);

    let slice = s.boxed_slice_clone(&[Rc::clone(&token), Rc::clone(&token)]);
    assert_eq!(count(), 3);
    drop(slice);

    let kept = s.boxed(Rc::clone(&token));
    {
        let child = s.scope();
        let _ = child.boxed(Rc::clone(&token));
        let _held = child.boxed_slice_fill_with(3, |_| Rc::clone(&token));
        assert_eq!(count(), 5);
    }
    assert_eq!((count(), Rc::strong_count(&kept)), (2, 2));
    let mut replaced = kept;
    replaced = s.boxed(Rc::clone(&replaced));
    assert_eq!(count(), 2);
    drop(replaced);

    let leaked = Box::leak(s.boxed(Rc::clone(&token)));
    assert_eq!(count(), 2);
    // SAFETY: the only reference to a value that is not dropped otherwise, and not used again.
    unsafe { std::ptr::drop_in_place(leaked) };
    assert_eq!(count(), 1);
}

#[test]
fn a_boxed_trait_object_can_be_called_and_dropped() {
    trait Speaks {
        fn speak(&mut self) -> String;
    }
    impl Speaks for Rc<str> {
        fn speak(&mut self) -> String {
            self.repeat(2)
        }
    }
    let word: Rc<str> = "ebb".into();
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut speaker = unsize!(s.boxed(Rc::clone(&word)) => dyn Speaks);
    assert_eq!((speaker.speak().as_str(), Rc::strong_count(&word)), ("ebbebb", 2));
    drop(speaker);
    assert_eq!(Rc::strong_count(&word), 1);

    let slice = unsize!(s.boxed([Rc::clone(&word), Rc::clone(&word)]) => [Rc<str>]);
    assert_eq!((slice.len(), Rc::strong_count(&word)), (2, 3));
    drop(slice);
    assert_eq!(Rc::strong_count(&word), 1);
}

#[test]
fn a_boxed_closure_can_be_called() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut total = 0;
    {
        let mut add = unsize!(s.boxed(|n| total += n) => dyn FnMut(i32) + '_);
        let mut handlers = s.boxed_slice_from_iter(
            (0..3)
                .map(|factor| unsize!(s.boxed(move |n: i32| n * factor) => dyn FnMut(i32) -> i32)),
        );
        for handler in &mut *handlers {
            add(handler(10));
        }
    }
    assert_eq!(total, 30);
}

#[test]
fn boxes_compare_hash_and_print_like_their_values() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let (one, two) = (s.boxed(1), s.boxed(2));
    assert!(one < two && one != two && one == s.boxed(1));
    assert_eq!(one.cmp(&two), 1.cmp(&2));
    assert_eq!(s.boxed(f64::NAN).partial_cmp(&s.boxed(1.0)), None);
    assert_eq!(format!("{one} {two:?} {}", s.boxed_str("x")), "1 2 x");
    assert_eq!(format!("{one:p}"), format!("{:p}", &raw const *one));
    let mut map = HashMap::new();
    map.insert(s.boxed_str("ebb"), 1);
    map.insert(s.boxed_str("flow"), 2);
    assert_eq!(
        (map.get("ebb"), map.get(&s.boxed_str("flow")), map.get("")),
        (Some(&1), Some(&2), None)
    );
}

#[test]
fn a_box_implements_every_borrowing_trait() {
    use std::borrow::{Borrow, BorrowMut};
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut text = s.boxed(String::from("ebb"));
    text.push('!');
    text.as_mut().push('?');
    BorrowMut::<String>::borrow_mut(&mut text).push('.');
    let borrowed: &String = text.borrow();
    assert_eq!((borrowed.as_str(), text.as_ref().len()), ("ebb!?.", 6));
    write!(text, "{}", 1).unwrap();
    assert_eq!(*text, "ebb!?.1");
}

#[test]
fn a_boxed_iterator_iterates_and_a_boxed_error_is_an_error() {
    use std::error::Error;
    let mut arena = Arena::new();
    let s = arena.scope();
    let numbers = unsize!(s.boxed(0..5) => dyn Iterator<Item = u32>);
    assert_eq!(numbers.size_hint(), (5, Some(5)));
    assert_eq!(numbers.map(|n| n * 2).sum::<u32>(), 20);
    let error = s.boxed(AllocOrInitError::Init(fmt::Error));
    let error: &dyn Error = &error;
    assert!(error.source().is_some());
}

#[test]
fn moving_in_a_vector_frees_its_block_and_keeps_its_elements() {
    let token = Rc::new(());
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut vec = Vec::with_capacity(100);
    vec.extend(std::iter::repeat_n(Rc::clone(&token), 5));
    let moved = s.boxed_vec(vec);
    assert_eq!((moved.len(), Rc::strong_count(&token)), (5, 6));
    drop(moved);
    assert_eq!(Rc::strong_count(&token), 1);
}

#[test]
fn user_code_may_allocate_from_the_scope_that_calls_it() {
    let mut arena = Arena::new();
    let (s, mut blocks) = (arena.scope(), Blocks::default());
    for _ in 0..200 {
        let mut inner = Vec::new();
        let outer = s.alloc_slice_fill_with(20, |i| {
            inner.push(s.alloc(i));
            s.alloc_fmt(format_args!("{i}")).len()
        });
        blocks.add(outer);
        inner.iter().for_each(|value| blocks.add(&**value));
        assert_eq!(outer.iter().sum::<usize>(), 10 + 10 * 2);
        assert!(inner.iter().map(|value| **value).eq(0..20));
    }
}

#[test]
fn reserved_bytes_are_served_without_the_backing() {
    for bytes in [0, 1, 100, 900, 1000, 1001, 20_000, 5_000_000] {
        let mut arena = Arena::with_chunk_size(1000);
        let mut s = arena.scope();
        s.alloc([1_u8; 500]);
        s.reserve(bytes);
        let held = s.stats().held;
        s.reserve(bytes);
        assert!(s.try_reserve(bytes).is_ok());
        s.alloc_slice_fill_copy(bytes, 2_u8);
        assert_eq!(s.stats().held, held);
        // Memory that a child left behind is used as well.
        s.scope().alloc_slice_fill_copy(2 * bytes, 2_u8);
        let held = s.stats().held;
        s.reserve(2 * bytes);
        assert_eq!(s.stats().held, held);
    }
}

#[test]
fn impossible_reservations_are_refused_and_change_nothing() {
    let mut arena = StackArena::<100>::new();
    let s = arena.scope();
    assert!(s.try_reserve(100).is_ok());
    for bytes in [101, 4096, isize::MAX as usize, usize::MAX] {
        assert_eq!(s.try_reserve(bytes), Err(AllocError));
    }
    assert!(catch_unwind(AssertUnwindSafe(|| s.reserve(usize::MAX))).is_err());
    assert!(s.try_alloc([0_u8; 100]).is_ok());
    // There is another chunk behind, at whose end so many bytes would wrap.
    let mut arena = Arena::new();
    arena.scope().alloc_slice_fill_copy(50_000, 1_u8);
    for less in [0, 1, 15, 16, 50_000] {
        let bytes = isize::MAX as usize - less;
        assert_eq!(arena.scope().try_reserve(bytes), Err(AllocError));
        assert!(arena.scope().try_reserve(usize::MAX - less).is_err());
    }
}

#[test]
fn an_arena_contains_its_values_and_no_others() {
    let outside = 5_u8;
    let mut buffer = [MaybeUninit::uninit(); 64];
    let end = std::ptr::from_ref(&buffer).wrapping_add(1).cast::<u8>();
    let mut fixed = Fixed::new(&mut buffer[..]);
    let s = fixed.scope();
    let (first, last) = (s.alloc_slice_fill_copy(1, 0_u8), s.alloc_slice_fill_copy(63, 0_u8));
    assert!(s.contains(first) && s.contains(last));
    assert!(s.contains(end.wrapping_sub(1)) && !s.contains(end) && !s.contains(&outside));
    let mut arena = Arena::new();
    assert!(!arena.contains(&outside));
    let (small, large) = (&*arena.root().alloc(1), &*arena.root().alloc([0_u8; 100_000]));
    assert!(arena.contains(small) && arena.contains(large) && !arena.contains(&outside));
    let address = std::ptr::from_ref(large);
    arena.reset();
    assert!(arena.contains(address), "in use or not");
    arena.trim();
    assert!(!arena.contains(address));
}

#[test]
fn a_struct_of_zeroable_fields_is_zeroable() {
    #[derive(Debug, PartialEq)]
    struct Mixed {
        byte: u8,
        word: u64,
        pair: [char; 2],
        pointer: *const u8,
    }
    ebbtide::zeroable!(Mixed { byte, word, pair, pointer });
    let mut arena = Arena::new();
    let s = arena.scope();
    let zero = Mixed { byte: 0, word: 0, pair: ['\0'; 2], pointer: std::ptr::null() };
    assert_eq!(*s.alloc_zeroed::<Mixed>(), zero);
    assert_eq!(s.alloc_zeroed_slice::<Mixed>(3)[2], zero);
}

/// Short slices of small elements are cloned in pieces. Each element is cloned once, and what lies
/// beside the slice keeps its bytes.
#[test]
fn slices_of_every_length_are_cloned() {
    fn check<T: Clone + PartialEq + fmt::Debug>(make: impl Fn(u8) -> T) {
        let mut arena = Arena::new();
        let s = arena.scope();
        for length in 0..40 {
            let values: Vec<T> = (1..=length).map(&make).collect();
            let above = s.alloc([0xA5_u8; 16]);
            let clones = s.alloc_slice_clone(&values);
            let below = s.alloc([0x5A_u8; 16]);
            assert_eq!(clones, values);
            let mut vector = s.vec();
            vector.extend_from_slice(&values);
            assert_eq!(vector, values);
            assert_eq!((*above, *below), ([0xA5; 16], [0x5A; 16]));
        }
    }
    check(|number| number);
    check(u16::from);
    check(|number| u64::from(number) << 56 | 7);
    check(|number| (number, u32::from(number)));
    check(|number| [u64::from(number); 3]);

    #[derive(Debug, PartialEq)]
    struct Counted<'c>(&'c std::cell::Cell<u32>);
    impl Clone for Counted<'_> {
        fn clone(&self) -> Self {
            self.0.set(self.0.get() + 1);
            Counted(self.0)
        }
    }
    let clones = std::cell::Cell::new(0);
    let values: Vec<_> = (0..15).map(|_| Counted(&clones)).collect();
    let mut arena = Arena::new();
    let s = arena.scope();
    assert_eq!((s.alloc_slice_clone(&values).len(), clones.get()), (15, 15));
}
