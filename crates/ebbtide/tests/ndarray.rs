//! Claim: arrays of any dimension, order and size are allocated in the scope and have the same
//! contents as those of `ndarray`. A shape that is too large is an error.
#![cfg(all(feature = "ndarray-017", feature = "std"))]

use crate::common::{assert_apart, assert_works, panic_of};
use ebbtide::ndarray_017::{
    Array, ArrayViewMut, Axis, Dim, Dimension, Ix0, IxDyn, ShapeBuilder, Slice,
};
use ebbtide::{AllocError, Arena, Fixed, Scope};
use std::{cell::Cell, fmt::Debug, mem::MaybeUninit};

/// Checks that every constructor agrees with `ndarray` for `shape`.
fn like_ndarray<Sh>(s: &Scope<'_>, shape: Sh)
where
    Sh: ShapeBuilder + Clone,
    Sh::Dim: Debug,
    <Sh::Dim as Dimension>::Pattern: Debug,
{
    let same = |ours: ArrayViewMut<'_, u64, Sh::Dim>, theirs: Array<u64, Sh::Dim>| {
        assert_eq!(ours, theirs);
        assert_eq!(ours.strides(), theirs.strides());
    };
    same(s.zeros(shape.clone()), Array::zeros(shape.clone()));
    same(s.try_zeros(shape.clone()).unwrap(), Array::zeros(shape.clone()));
    same(s.ones(shape.clone()), Array::ones(shape.clone()));
    same(s.try_ones(shape.clone()).unwrap(), Array::ones(shape.clone()));
    same(s.array_from_elem(shape.clone(), 7), Array::from_elem(shape.clone(), 7));
    same(s.try_array_from_elem(shape.clone(), 7).unwrap(), Array::from_elem(shape.clone(), 7));

    // Both create each element once, in the same order.
    let numbered = || {
        let next = Cell::new(0);
        move |index: <Sh::Dim as Dimension>::Pattern| {
            next.set(next.get() + 1);
            next.get() * 1000 + format!("{index:?}").bytes().map(u64::from).sum::<u64>()
        }
    };
    let theirs = Array::from_shape_fn(shape.clone(), numbered());
    same(s.array_from_shape_fn(shape.clone(), numbered()), theirs.clone());
    same(s.try_array_from_shape_fn(shape.clone(), numbered()).unwrap(), theirs.clone());
    same(s.array_from(&theirs), theirs.clone());
    same(s.try_array_from(&theirs).unwrap(), theirs.clone());
    same(s.array_map(&theirs, |x| x + 1), theirs.map(|x| x + 1));
    same(s.try_array_map(&theirs, |x| x + 1).unwrap(), theirs.map(|x| x + 1));

    let mut places = s.array_uninit::<u64, _>(shape.clone());
    assert_eq!(places.strides(), theirs.strides());
    places.fill(MaybeUninit::new(3));
    // SAFETY: filled.
    same(unsafe { places.assume_init() }, Array::from_elem(shape.clone(), 3));
    assert_eq!(s.try_array_uninit::<u64, _>(shape).unwrap().raw_dim(), theirs.raw_dim());
}

/// A shape in both orders.
fn both_orders<Sh>(s: &Scope<'_>, shape: Sh)
where
    Sh: ShapeBuilder + Clone,
    Sh::Dim: Debug,
    <Sh::Dim as Dimension>::Pattern: Debug,
{
    like_ndarray(s, shape.clone());
    like_ndarray(s, shape.f());
}

#[test]
fn every_constructor_agrees_with_ndarray_in_any_dimension_and_order() {
    let mut arena = Arena::new();
    let s = arena.scope();
    like_ndarray(&s, ());
    both_orders(&s, 5);
    both_orders(&s, (3, 4));
    both_orders(&s, [2, 3, 4]);
    both_orders(&s, (2, 3, 4, 5));
    both_orders(&s, (2, 1, 2, 1, 3));
    both_orders(&s, (1, 2, 1, 2, 1, 2));
    both_orders(&s, Dim([40, 50]));
    both_orders(&s, IxDyn(&[]));
    both_orders(&s, IxDyn(&[3]));
    both_orders(&s, IxDyn(&[2, 3, 4]));
    both_orders(&s, IxDyn(&[2, 1, 2, 1, 2, 1, 2]));
}

#[test]
fn zero_length_axes_make_empty_arrays() {
    let mut arena = Arena::new();
    let s = arena.scope();
    both_orders(&s, 0);
    both_orders(&s, (0, 5));
    both_orders(&s, (5, 0));
    both_orders(&s, (0, 0, 3));
    both_orders(&s, IxDyn(&[4, 0, 4]));
    assert_eq!(s.stats().used, 0, "nothing was taken for nothing");
}

#[test]
fn a_zero_dimensional_array_has_one_element() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let one: ArrayViewMut<'_, f64, Ix0> = s.array_from_elem((), 2.5);
    assert_eq!(one.into_scalar(), &2.5);
}

#[test]
fn zero_sized_elements_use_no_memory() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let calls = Cell::new(0);
    let units = s.array_from_shape_fn((30, 40), |_| calls.set(calls.get() + 1));
    assert_eq!((units.len(), calls.get(), s.stats().used), (1200, 1200, 0));
    assert_eq!(s.array_uninit::<(), _>(isize::MAX as usize).len(), isize::MAX as usize);
    assert!(s.try_array_uninit::<(), _>(isize::MAX as usize + 1).is_err());
}

#[test]
fn shapes_too_large_to_exist_are_refused() {
    const HALF: usize = isize::MAX as usize;
    let mut arena = Arena::new();
    let s = arena.scope();
    let refused =
        |result: Result<_, AllocError>| assert_eq!(result.map(|_: ()| ()), Err(AllocError));
    for shape in [
        [usize::MAX, 1],
        [usize::MAX, 2],
        [usize::MAX, usize::MAX],
        [HALF, 1],
        [HALF / 8 + 1, 1],
        [1 << (usize::BITS / 2), 1 << (usize::BITS / 2)],
        [1 << (usize::BITS / 2 - 1), 1 << (usize::BITS / 2 - 1)],
        // No elements, but strides that overflow.
        [usize::MAX, 0],
        [0, usize::MAX],
    ] {
        refused(s.try_zeros::<f64, _>(shape).map(drop));
        refused(s.try_zeros::<f64, _>(shape.f()).map(drop));
        refused(s.try_ones::<f64, _>(shape).map(drop));
        refused(s.try_array_from_elem(shape, 1.0).map(drop));
        refused(s.try_array_from_shape_fn(shape, |_| -> f64 { panic!("made") }).map(drop));
        refused(s.try_array_uninit::<f64, _>(shape).map(drop));
        refused(s.try_zeros::<f64, _>(IxDyn(&shape)).map(drop));
    }
    refused(s.try_zeros::<u8, _>([1 << 16; 5]).map(drop));
    // Valid as a broadcast view, but a copy is too large.
    let one = Array::from_elem(1, 1u64);
    let many = one.broadcast(HALF / 8 + 1).unwrap();
    refused(s.try_array_from(&many).map(drop));
    assert_eq!(s.stats().used, 0);

    for message in [
        panic_of(|| s.zeros::<f64, _>((usize::MAX, 2)).len()),
        panic_of(|| s.ones::<f64, _>((HALF, 1)).len()),
        panic_of(|| s.array_from_elem((HALF, HALF), 1u8).len()),
        panic_of(|| s.array_uninit::<u8, _>((usize::MAX, 0)).len()),
        panic_of(|| s.array_from(&many).len()),
    ] {
        assert!(message.unwrap().contains("capacity overflow"));
    }
    assert_works(&s);
}

#[test]
fn a_full_buffer_is_an_error_and_is_not_changed() {
    let mut fixed = Fixed::from_vec(Vec::with_capacity(1000));
    let s = fixed.scope();
    let made = Cell::new(0);
    let make = |_: &f64| {
        made.set(made.get() + 1);
        1.0
    };
    let kept = s.zeros::<f64, _>((5, 10));
    let before = s.stats();
    assert!(s.try_zeros::<f64, _>((10, 10)).is_err());
    assert!(s.try_array_from_shape_fn((10, 10), |(i, j)| (i + j) as u64).is_err());
    assert!(s.try_array_map(&Array::zeros((10, 10)), make).is_err());
    assert_eq!((s.stats(), made.get()), (before, 0));
    assert!(s.try_array_map(&kept, make).is_ok());
}

#[test]
fn copies_are_contiguous_and_keep_the_order_of_the_source() {
    let all = Array::from_shape_fn((6, 8, 4), |(i, j, k)| i * 100 + j * 10 + k);
    let mut arena = Arena::new();
    let s = arena.scope();
    let check = |source: ebbtide::ndarray_017::ArrayView3<'_, usize>, column_major: bool| {
        let copy = s.array_from(&source);
        assert_eq!(copy, source);
        let (rows, columns) = (copy.is_standard_layout(), copy.t().is_standard_layout());
        assert_eq!((rows, columns), (!column_major, column_major));
    };
    check(all.view(), false);
    check(all.t(), true);
    check(all.slice_axis(Axis(1), Slice::from(1..7)), false);
    check(all.slice_axis(Axis(0), Slice::from(..).step_by(-2)), false);
    check(all.view().permuted_axes([1, 0, 2]), false);
    check(all.t().slice_axis(Axis(0), Slice::from(..2)), false);
    let row = Array::from_elem((1, 1, 4), 9);
    check(row.broadcast((3, 5, 4)).unwrap(), false);
    // A mutable view, and one into the scope itself.
    let mut own = all.clone();
    let copy = s.array_from(&own.view_mut());
    assert_eq!(s.array_from(&copy), all);
}

#[test]
fn functions_that_create_elements_may_use_the_scope() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut kept = Vec::new();
    let grid = s.array_from_shape_fn((30, 30).f(), |(i, j)| {
        kept.push((s.alloc_slice_fill_copy(j + 1, i), s.zeros::<u8, _>((i, j))));
        i * 100 + j
    });
    assert_eq!(grid, Array::from_shape_fn((30, 30), |(i, j)| i * 100 + j));
    let mut kept = kept.iter();
    for j in 0..30 {
        for i in 0..30 {
            let (slice, zeros) = kept.next().unwrap();
            assert!(slice.len() == j + 1 && slice.iter().all(|n| *n == i));
            assert_apart(grid.as_slice_memory_order().unwrap(), *slice);
            assert!(zeros.iter().all(|n| *n == 0));
        }
    }
    let doubled = s.array_map(&grid, |n| *s.alloc(n * 2));
    assert_eq!(doubled.sum(), 2 * grid.sum());
}

#[test]
fn a_panic_in_the_middle_leaves_the_scope_working() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for stop in [0, 7, 63] {
        let message = panic_of(|| {
            s.array_from_shape_fn((8, 8), |(i, j)| {
                assert_ne!(8 * i + j, stop, "stop");
                s.alloc_str("beside");
            });
        });
        assert!(message.unwrap().contains("stop"));
        assert_works(&s);
    }
}

#[test]
fn arrays_live_as_long_as_their_scope_and_borrow_nothing_else() {
    fn halves<'a>(s: &Scope<'a>, n: usize) -> ArrayViewMut<'a, f32, ebbtide::ndarray_017::Ix1> {
        let doubled = n * 2;
        s.array_from_shape_fn(doubled, |i| i as f32 / 2.0)
    }
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let kept = outer.zeros::<f32, _>(3);
    let mut sum = 0.0;
    for _ in 0..10 {
        let inner = outer.scope();
        sum += halves(&inner, 4).sum();
    }
    assert_eq!((kept.sum(), sum), (0.0, 140.0));
}

#[test]
fn zeros_are_zeros_in_memory_that_was_used_before() {
    let mut arena = Arena::new();
    for n in [1, 10, 1000, 100_000] {
        arena.scope().array_from_elem(n, f64::NAN);
        assert!(arena.scope().zeros::<f64, _>(n).iter().all(|x| *x == 0.0));
    }
}

#[test]
fn large_arrays_start_at_a_cache_line_unless_only_an_unaligned_one_fits() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for n in [64, 65, 100, 1000, 100_000] {
        s.alloc(1u8);
        for start in [s.zeros::<f64, _>(n).as_ptr(), s.ones((n, 3).f()).as_ptr()] {
            assert_eq!(start.addr() % 64, 0, "{n}");
        }
    }
    // Up to the last byte, from an address that is a multiple of 8 but not of 16.
    #[repr(align(64))]
    struct Aligned([MaybeUninit<u8>; 1008]);
    let mut buffer = Aligned([MaybeUninit::uninit(); 1008]);
    let mut fixed = Fixed::new(&mut buffer.0[8..]);
    let s = fixed.scope();
    assert_eq!(s.ones::<f64, _>((5, 25)).sum(), 125.0);
    assert!(s.try_alloc(0u8).is_err());
}
