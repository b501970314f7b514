//! Arrays of any dimension, as views of a scope's memory (feature `ndarray-017`).
//!
//! An [`ArrayViewMut`] is `ndarray`'s view of elements that live elsewhere, here in the scope. It
//! supports every operation of an `ndarray` array except those that reallocate. An expression like
//! `&a + &b` makes a new array on the heap; [`array_map`](Scope::array_map), `ndarray::Zip` and the
//! assigning operators do the same work without the heap.
//!
//! Shapes are given as for `ndarray`'s own constructors: a number, a tuple, an array or an `IxDyn`,
//! with `.f()` for column-major order. `ndarray` keeps the lengths of an `IxDyn` of more than four
//! axes on the heap; the elements are in the scope all the same.
//!
//! An array of 512 bytes or more begins at a multiple of 64 bytes, the size of a cache line and of
//! the widest vector register, unless it fits only without that alignment.

use crate::{
    error::{AllocError, Failure},
    scope::Scope,
    value::{Zeroable, assert_no_drop},
};
use core::{alloc::Layout, convert::Infallible, mem::MaybeUninit};
use ndarray_017::{ArrayRef, ArrayViewMut, Dimension, LinalgScalar, ShapeBuilder, Zip};

/// The alignment of large arrays, in bytes. `dev/decisions/0011-array-alignment.md` has the
/// measurement.
const LINE: usize = 64;

/// The size in bytes from which an array is aligned: the padding is at most an eighth of it.
const LARGE: usize = 512;

/// The number of elements of a shape, if an array of them can exist.
fn checked_len<A, D: Dimension, F: Failure>(dim: &D) -> Result<usize, F> {
    // `ndarray` requires the product of the non-empty axes to fit even if another axis is empty, so
    // that no stride overflows.
    let mut spanned = 1usize;
    let mut empty = false;
    for &axis in dim.slice() {
        if axis == 0 {
            empty = true;
        } else {
            spanned = spanned.checked_mul(axis).ok_or_else(F::too_large)?;
        }
    }
    if isize::try_from(spanned).is_err() || Layout::array::<A>(spanned).is_err() {
        return Err(F::too_large());
    }
    Ok(if empty { 0 } else { spanned })
}

/// All elements of an array made by [`array_uninit_in`](Scope::array_uninit_in), which is always
/// contiguous.
fn places_of<'v, A, D: Dimension>(
    array: &'v mut ArrayViewMut<'_, MaybeUninit<A>, D>,
) -> &'v mut [MaybeUninit<A>] {
    let Some(places) = array.as_slice_memory_order_mut() else {
        unreachable!("ndarray lays a shape of its own out without gaps");
    };
    places
}

/// Fills a contiguous array by calling `make` with each index, in memory order.
fn fill<A, D: Dimension>(
    places: &mut [MaybeUninit<A>],
    dim: &D,
    column_major: bool,
    mut make: impl FnMut(D::Pattern) -> A,
) {
    let axes = dim.ndim();
    let mut index = D::zeros(axes);
    let Some(last) = axes.checked_sub(1) else {
        for place in places {
            place.write(make(index.clone().into_pattern()));
        }
        return;
    };
    // A run of elements that differ only in the index of the innermost axis is a plain loop.
    let inner = if column_major { 0 } else { last };
    let run = dim[inner].max(1);
    for run in places.chunks_mut(run) {
        for (at, place) in run.iter_mut().enumerate() {
            index[inner] = at;
            place.write(make(index.clone().into_pattern()));
        }
        for step in 1..axes {
            let axis = if column_major { step } else { last - step };
            index[axis] += 1;
            if index[axis] < dim[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// Writes `make` of each element of `from` to `to`. It is not inlined, so the compiler knows that
/// the arguments do not overlap and turns a copy into one call of `memcpy`.
#[inline(never)]
fn map_slice<A, T>(from: &[A], to: &mut [MaybeUninit<T>], mut make: impl FnMut(&A) -> T) {
    for (place, element) in to.iter_mut().zip(from) {
        place.write(make(element));
    }
}

/// The bodies that the public methods share, fallible or not.
impl<'a> Scope<'a> {
    /// Reserves `len` elements. A large slice is aligned to [`LINE`] if it fits that way.
    fn elements_in<A, F: Failure>(&self, len: usize) -> Result<&'a mut [MaybeUninit<A>], F> {
        let large = len.checked_mul(size_of::<A>()).is_some_and(|size| size >= LARGE);
        if large && align_of::<A>() < LINE {
            if let Ok(places) = self.try_alloc_uninit_slice_aligned(len, LINE) {
                return Ok(places);
            }
        }
        self.uninit_slice_in(len)
    }

    fn array_uninit_in<A, Sh, F>(
        &self,
        shape: Sh,
    ) -> Result<ArrayViewMut<'a, MaybeUninit<A>, Sh::Dim>, F>
    where
        Sh: ShapeBuilder,
        F: Failure,
    {
        let shape = shape.into_shape_with_order();
        let len = checked_len::<A, _, F>(shape.raw_dim())?;
        let places = self.elements_in::<A, F>(len)?;
        ArrayViewMut::from_shape(shape, places).map_err(|_| F::too_large())
    }

    fn zeros_in<A, Sh, F>(&self, shape: Sh) -> Result<ArrayViewMut<'a, A, Sh::Dim>, F>
    where
        A: Zeroable,
        Sh: ShapeBuilder,
        F: Failure,
    {
        const { assert_no_drop::<A>() };
        let mut array = self.array_uninit_in::<A, Sh, F>(shape)?;
        for place in places_of(&mut array) {
            *place = MaybeUninit::zeroed();
        }
        // SAFETY: every element was written, and all-zero bytes are a valid value of a `Zeroable`.
        Ok(unsafe { array.assume_init() })
    }

    fn array_from_elem_in<A, Sh, F>(
        &self,
        shape: Sh,
        element: &A,
    ) -> Result<ArrayViewMut<'a, A, Sh::Dim>, F>
    where
        A: Clone,
        Sh: ShapeBuilder,
        F: Failure,
    {
        const { assert_no_drop::<A>() };
        let mut array = self.array_uninit_in::<A, Sh, F>(shape)?;
        for place in places_of(&mut array) {
            place.write(element.clone());
        }
        // SAFETY: every element was written.
        Ok(unsafe { array.assume_init() })
    }

    fn array_from_shape_fn_in<A, Sh, F>(
        &self,
        shape: Sh,
        make: impl FnMut(<Sh::Dim as Dimension>::Pattern) -> A,
    ) -> Result<ArrayViewMut<'a, A, Sh::Dim>, F>
    where
        Sh: ShapeBuilder,
        F: Failure,
    {
        const { assert_no_drop::<A>() };
        let mut array = self.array_uninit_in::<A, Sh, F>(shape)?;
        let column_major = !array.is_standard_layout();
        let dim = array.raw_dim();
        fill(places_of(&mut array), &dim, column_major, make);
        // SAFETY: `fill` writes every element of the slice, and `places_of` returns all of them.
        Ok(unsafe { array.assume_init() })
    }

    fn array_map_in<A, T, D, F>(
        &self,
        source: &ArrayRef<A, D>,
        mut make: impl FnMut(&A) -> T,
    ) -> Result<ArrayViewMut<'a, T, D>, F>
    where
        D: Dimension,
        F: Failure,
    {
        const { assert_no_drop::<T>() };
        let column_major = !source.is_standard_layout() && source.t().is_standard_layout();
        let shape = source.raw_dim().set_f(column_major);
        let mut array = self.array_uninit_in::<T, _, F>(shape)?;
        let in_order = column_major || source.is_standard_layout();
        match source.as_slice_memory_order().filter(|_| in_order) {
            // Both are contiguous and in the same order: a plain loop, or one call of `memcpy`.
            Some(elements) => {
                assert_eq!(elements.len(), array.len(), "a slice of all elements");
                map_slice(elements, places_of(&mut array), make);
            }
            None => Zip::from(&mut array).and(source).for_each(|place, element| {
                place.write(make(element));
            }),
        }
        // SAFETY: source and destination have the same shape, so either loop writes every element.
        Ok(unsafe { array.assume_init() })
    }
}

impl<'a> Scope<'a> {
    /// An array of zeros.
    ///
    /// # Panics
    ///
    /// If the elements would exceed `isize::MAX` bytes, counted over the axes that are not empty.
    /// This holds for all infallible methods that take a shape.
    ///
    /// ```
    /// use ebbtide::ndarray_017::ShapeBuilder;
    ///
    /// let mut arena = ebbtide::Arena::new();
    /// let s = arena.scope();
    /// let mut grid = s.zeros::<f64, _>((3, 4));
    /// grid[[1, 2]] = 5.0;
    /// assert_eq!(grid.sum(), 5.0);
    ///
    /// let columns = s.zeros::<f64, _>((3, 4).f());
    /// assert_eq!(columns.strides(), [1, 3]);
    /// ```
    #[inline]
    pub fn zeros<A, Sh>(&self, shape: Sh) -> ArrayViewMut<'a, A, Sh::Dim>
    where
        A: Zeroable,
        Sh: ShapeBuilder,
    {
        let Ok(array) = self.zeros_in::<A, Sh, Infallible>(shape);
        array
    }

    /// Fallible version of [`zeros`](Scope::zeros).
    ///
    /// # Errors
    ///
    /// [`AllocError`], also if the size of the shape overflows; this holds for all methods that
    /// take a shape.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.try_zeros::<f64, _>((2, 3)).is_ok());
    /// assert!(s.try_zeros::<f64, _>((usize::MAX, 2)).is_err());
    /// ```
    #[inline]
    pub fn try_zeros<A, Sh>(&self, shape: Sh) -> Result<ArrayViewMut<'a, A, Sh::Dim>, AllocError>
    where
        A: Zeroable,
        Sh: ShapeBuilder,
    {
        self.zeros_in(shape)
    }

    /// An array of ones.
    ///
    /// # Panics
    ///
    /// Under the same conditions as [`zeros`](Scope::zeros).
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.ones::<f32, _>([2, 3, 4]).sum(), 24.0);
    /// ```
    #[inline]
    pub fn ones<A, Sh>(&self, shape: Sh) -> ArrayViewMut<'a, A, Sh::Dim>
    where
        A: LinalgScalar,
        Sh: ShapeBuilder,
    {
        self.array_from_elem(shape, A::one())
    }

    /// Fallible version of [`ones`](Scope::ones).
    ///
    /// # Errors
    ///
    /// The same as [`try_zeros`](Scope::try_zeros).
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_ones::<u8, _>((4, 4)).is_ok());
    /// assert!(s.try_ones::<u8, _>(1).is_err());
    /// ```
    #[inline]
    pub fn try_ones<A, Sh>(&self, shape: Sh) -> Result<ArrayViewMut<'a, A, Sh::Dim>, AllocError>
    where
        A: LinalgScalar,
        Sh: ShapeBuilder,
    {
        self.try_array_from_elem(shape, A::one())
    }

    /// An array of clones of `element`.
    ///
    /// # Panics
    ///
    /// Under the same conditions as [`zeros`](Scope::zeros), or if `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let sevens = s.array_from_elem((2, 2), 7);
    /// assert_eq!(sevens, ebbtide::ndarray_017::arr2(&[[7, 7], [7, 7]]));
    /// ```
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "as `ndarray::Array::from_elem`")]
    pub fn array_from_elem<A, Sh>(&self, shape: Sh, element: A) -> ArrayViewMut<'a, A, Sh::Dim>
    where
        A: Clone,
        Sh: ShapeBuilder,
    {
        let Ok(array) = self.array_from_elem_in::<A, Sh, Infallible>(shape, &element);
        array
    }

    /// Fallible version of [`array_from_elem`](Scope::array_from_elem).
    ///
    /// # Errors
    ///
    /// The same as [`try_zeros`](Scope::try_zeros); nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_array_from_elem((4, 4), 7u8).is_ok());
    /// assert!(s.try_array_from_elem(1, 7u8).is_err());
    /// ```
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "as `ndarray::Array::from_elem`")]
    pub fn try_array_from_elem<A, Sh>(
        &self,
        shape: Sh,
        element: A,
    ) -> Result<ArrayViewMut<'a, A, Sh::Dim>, AllocError>
    where
        A: Clone,
        Sh: ShapeBuilder,
    {
        self.array_from_elem_in(shape, &element)
    }

    /// Calls `make` with each index, in memory order, and collects the results into an array. The
    /// memory is reserved first, so `make` may allocate from the same scope.
    ///
    /// # Panics
    ///
    /// Under the same conditions as [`zeros`](Scope::zeros), or if `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let table = s.array_from_shape_fn((10, 10), |(i, j)| i * j);
    /// assert_eq!(table[[7, 8]], 56);
    /// ```
    #[inline]
    pub fn array_from_shape_fn<A, Sh>(
        &self,
        shape: Sh,
        make: impl FnMut(<Sh::Dim as Dimension>::Pattern) -> A,
    ) -> ArrayViewMut<'a, A, Sh::Dim>
    where
        Sh: ShapeBuilder,
    {
        let Ok(array) = self.array_from_shape_fn_in::<A, Sh, Infallible>(shape, make);
        array
    }

    /// Fallible version of [`array_from_shape_fn`](Scope::array_from_shape_fn).
    ///
    /// # Errors
    ///
    /// The same as [`try_zeros`](Scope::try_zeros); `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_array_from_shape_fn((4, 4), |(i, j)| (i * j) as u8).is_ok());
    /// assert!(s.try_array_from_shape_fn(1, |i| i as u8).is_err());
    /// ```
    #[inline]
    pub fn try_array_from_shape_fn<A, Sh>(
        &self,
        shape: Sh,
        make: impl FnMut(<Sh::Dim as Dimension>::Pattern) -> A,
    ) -> Result<ArrayViewMut<'a, A, Sh::Dim>, AllocError>
    where
        Sh: ShapeBuilder,
    {
        self.array_from_shape_fn_in(shape, make)
    }

    /// Reserves an uninitialised array, for code that writes every element itself.
    ///
    /// # Panics
    ///
    /// Under the same conditions as [`zeros`](Scope::zeros).
    ///
    /// ```
    /// use ebbtide::ndarray_017::Zip;
    ///
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let a = s.array_from_shape_fn(3, |i| i as f64);
    /// let b = s.ones::<f64, _>(3);
    /// let mut sum = s.array_uninit::<f64, _>(3);
    /// Zip::from(&mut sum).and(&a).and(&b).for_each(|sum, a, b| {
    ///     sum.write(a + b);
    /// });
    /// // SAFETY: every element was written.
    /// let sum = unsafe { sum.assume_init() };
    /// assert_eq!(sum, ebbtide::ndarray_017::arr1(&[1.0, 2.0, 3.0]));
    /// ```
    #[inline]
    pub fn array_uninit<A, Sh>(&self, shape: Sh) -> ArrayViewMut<'a, MaybeUninit<A>, Sh::Dim>
    where
        Sh: ShapeBuilder,
    {
        let Ok(array) = self.array_uninit_in::<A, Sh, Infallible>(shape);
        array
    }

    /// Fallible version of [`array_uninit`](Scope::array_uninit).
    ///
    /// # Errors
    ///
    /// The same as [`try_zeros`](Scope::try_zeros).
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.try_array_uninit::<f64, _>([usize::MAX, 2]).is_err());
    /// let mut row = s.try_array_uninit::<f64, _>(2)?;
    /// row.fill(std::mem::MaybeUninit::new(0.5));
    /// // SAFETY: every element was written.
    /// assert_eq!(unsafe { row.assume_init() }.sum(), 1.0);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_array_uninit<A, Sh>(
        &self,
        shape: Sh,
    ) -> Result<ArrayViewMut<'a, MaybeUninit<A>, Sh::Dim>, AllocError>
    where
        Sh: ShapeBuilder,
    {
        self.array_uninit_in(shape)
    }

    /// Copies an array or a view. The copy is contiguous: column-major if `source` is, otherwise
    /// row-major.
    ///
    /// # Panics
    ///
    /// If `clone` panics; if the elements would exceed `isize::MAX` bytes, as those of a broadcast
    /// view may.
    ///
    /// ```
    /// use ebbtide::ndarray_017::s as at;
    ///
    /// let all = ebbtide::ndarray_017::Array::from_shape_fn((100, 100), |(i, j)| 100 * i + j);
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut corner = s.array_from(&all.slice(at![..;50, ..;50]));
    /// corner += 1;
    /// assert_eq!(corner, ebbtide::ndarray_017::arr2(&[[1, 51], [5001, 5051]]));
    /// assert!(corner.is_standard_layout());
    /// ```
    #[inline]
    pub fn array_from<A, D>(&self, source: &ArrayRef<A, D>) -> ArrayViewMut<'a, A, D>
    where
        A: Clone,
        D: Dimension,
    {
        self.array_map(source, A::clone)
    }

    /// Fallible version of [`array_from`](Scope::array_from).
    ///
    /// # Errors
    ///
    /// The same as [`try_zeros`](Scope::try_zeros); nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let table = s.array_from_shape_fn([2, 3], |(row, column)| row + column);
    /// let mut copy = s.try_array_from(&table.t())?;
    /// copy[[2, 0]] = 7;
    /// assert_eq!((copy.dim(), table[[0, 2]]), ((3, 2), 2));
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_array_from<A, D>(
        &self,
        source: &ArrayRef<A, D>,
    ) -> Result<ArrayViewMut<'a, A, D>, AllocError>
    where
        A: Clone,
        D: Dimension,
    {
        self.try_array_map(source, A::clone)
    }

    /// Like [`array_from`](Scope::array_from), but passes each element through `make`, as
    /// `ndarray`'s `map` does on the heap. The memory is reserved first, so `make` may allocate
    /// from the same scope.
    ///
    /// # Panics
    ///
    /// Under the same conditions as [`array_from`](Scope::array_from), or if `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let x = s.array_from_shape_fn(4, |i| i as f64);
    /// let squares = s.array_map(&x, |x| x * x);
    /// assert_eq!(squares.sum(), 14.0);
    /// ```
    #[inline]
    pub fn array_map<A, T, D>(
        &self,
        source: &ArrayRef<A, D>,
        make: impl FnMut(&A) -> T,
    ) -> ArrayViewMut<'a, T, D>
    where
        D: Dimension,
    {
        let Ok(array) = self.array_map_in::<A, T, D, Infallible>(source, make);
        array
    }

    /// Fallible version of [`array_map`](Scope::array_map).
    ///
    /// # Errors
    ///
    /// The same as [`try_zeros`](Scope::try_zeros); `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let names = s.try_array_map(&s.array_from_shape_fn(2, |i| i), |i| ebbtide::collections::format!(in s, "x{i}"))?;
    /// assert_eq!(names[1], "x1");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    #[inline]
    pub fn try_array_map<A, T, D>(
        &self,
        source: &ArrayRef<A, D>,
        make: impl FnMut(&A) -> T,
    ) -> Result<ArrayViewMut<'a, T, D>, AllocError>
    where
        D: Dimension,
    {
        self.array_map_in(source, make)
    }
}
