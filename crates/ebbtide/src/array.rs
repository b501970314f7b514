//! Arrays of any dimension, as views of a scope's memory (feature `ndarray`).
//!
//! An [`ArrayViewMut`] is what `ndarray` calls an array whose elements lie elsewhere: here in the scope.
//! Everything that crate does with an array it does with such a view; only what would reallocate is
//! missing. An expression like `&a + &b` makes a new array on the heap; [`array_map`](Scope::array_map),
//! `ndarray::Zip` and the assigning operators do the same work without.
//!
//! All methods that take a shape take what `ndarray`'s own constructors take: a number, a tuple, an array,
//! an `IxDyn`, and any of them with `.f()` for column-major order. An `IxDyn` of more than four axes keeps
//! its lengths on the heap, as `ndarray` lays it down; the elements are in the scope all the same.
//!
//! Arrays are aligned as their elements are.

use crate::{
    error::{AllocError, Failure},
    scope::Scope,
    value::{Zeroable, assert_no_drop, lend},
};
use core::{alloc::Layout, convert::Infallible, mem::MaybeUninit};
use ndarray::{
    ArrayRef, ArrayViewMut, Dimension, IntoDimension, LinalgScalar, Shape, ShapeBuilder, Zip,
    indices,
};

/// The number of elements of a shape, if an array of them can exist.
fn checked_len<A, D: Dimension, F: Failure>(dim: &D) -> Result<usize, F> {
    // `ndarray` wants the axes that are not empty to stay below this even beside one that is, so that
    // no stride overflows.
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

/// The elements in a shape that [`checked_len`] was asked about.
fn view<'a, A, D: Dimension, F: Failure>(
    shape: Shape<D>,
    elements: &'a mut [A],
) -> Result<ArrayViewMut<'a, A, D>, F> {
    ArrayViewMut::from_shape(shape, elements).map_err(|_| F::too_large())
}

/// The bodies that the public methods share, fallible or not.
impl<'a> Scope<'a> {
    fn zeros_in<A, Sh, F>(&self, shape: Sh) -> Result<ArrayViewMut<'a, A, Sh::Dim>, F>
    where
        A: Zeroable,
        Sh: ShapeBuilder,
        F: Failure,
    {
        const { assert_no_drop::<A>() };
        let shape = shape.into_shape_with_order();
        let len = checked_len::<A, _, F>(shape.raw_dim())?;
        view(shape, self.zeroed_slice_in::<A, F>(len)?)
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
        let shape = shape.into_shape_with_order();
        let len = checked_len::<A, _, F>(shape.raw_dim())?;
        let elements = self.slice_with_in::<A, F>(len, |_| element.clone())?;
        // SAFETY: all elements are made, in a block of their own, which lives for `'a`.
        view(shape, unsafe { lend(elements) })
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
        view(shape, self.uninit_slice_in::<A, F>(len)?)
    }

    fn array_from_shape_fn_in<A, Sh, F>(
        &self,
        shape: Sh,
        mut make: impl FnMut(<Sh::Dim as Dimension>::Pattern) -> A,
    ) -> Result<ArrayViewMut<'a, A, Sh::Dim>, F>
    where
        Sh: ShapeBuilder,
        F: Failure,
    {
        const { assert_no_drop::<A>() };
        let mut array = self.array_uninit_in::<A, Sh, F>(shape)?;
        let column_major = !array.is_standard_layout();
        let mut dim = array.raw_dim();
        let mut places = array.as_slice_memory_order_mut().unwrap_or_default().iter_mut();
        let mut fill = |index| {
            if let Some(place) = places.next() {
                place.write(make(index));
            }
        };
        if column_major {
            // The transpose is row-major; its indices are those of the array, last axis first.
            dim.slice_mut().reverse();
            indices(dim).into_iter().for_each(|index| {
                let mut index = index.into_dimension();
                index.slice_mut().reverse();
                fill(index.into_pattern());
            });
        } else {
            indices(dim).into_iter().for_each(fill);
        }
        // SAFETY: the array is made without gaps, so the slice is all of its places, and a shape has as
        // many indices as an array of it has places: each was written.
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
        let mut places = self.array_uninit_in::<T, _, F>(shape)?;
        Zip::from(&mut places).and(source).for_each(|place, element| {
            place.write(make(element));
        });
        // SAFETY: `Zip` went through every place, and each was written.
        Ok(unsafe { places.assume_init() })
    }
}

impl<'a> Scope<'a> {
    /// An array of zeros.
    ///
    /// # Panics
    ///
    /// As all methods that take a shape and have no `try_`: if the elements would exceed `isize::MAX`
    /// bytes, counted over the axes that are not empty.
    ///
    /// ```
    /// use ndarray::ShapeBuilder;
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

    /// As [`zeros`](Scope::zeros).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; also where the size of the shape overflows, as all methods that take a shape.
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
    /// As [`zeros`](Scope::zeros).
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

    /// As [`ones`](Scope::ones).
    ///
    /// # Errors
    ///
    /// As [`try_zeros`](Scope::try_zeros).
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
    /// As [`zeros`](Scope::zeros), or if `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let sevens = s.array_from_elem((2, 2), 7);
    /// assert_eq!(sevens, ndarray::arr2(&[[7, 7], [7, 7]]));
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

    /// As [`array_from_elem`](Scope::array_from_elem).
    ///
    /// # Errors
    ///
    /// As [`try_zeros`](Scope::try_zeros); nothing was cloned.
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

    /// An array whose elements are made from their indices, each once, in the order of memory. The
    /// memory is reserved before, so `make` may allocate from the same scope.
    ///
    /// # Panics
    ///
    /// As [`zeros`](Scope::zeros), or if `make` panics.
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

    /// As [`array_from_shape_fn`](Scope::array_from_shape_fn).
    ///
    /// # Errors
    ///
    /// As [`try_zeros`](Scope::try_zeros); `make` did not run.
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

    /// Room for an array, to be initialised by the caller: for what writes every element anyhow.
    ///
    /// # Panics
    ///
    /// As [`zeros`](Scope::zeros).
    ///
    /// ```
    /// use ndarray::Zip;
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
    /// assert_eq!(sum, ndarray::arr1(&[1.0, 2.0, 3.0]));
    /// ```
    #[inline]
    pub fn array_uninit<A, Sh>(&self, shape: Sh) -> ArrayViewMut<'a, MaybeUninit<A>, Sh::Dim>
    where
        Sh: ShapeBuilder,
    {
        let Ok(array) = self.array_uninit_in::<A, Sh, Infallible>(shape);
        array
    }

    /// As [`array_uninit`](Scope::array_uninit).
    ///
    /// # Errors
    ///
    /// As [`try_zeros`](Scope::try_zeros).
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

    /// A copy of an array or a view. Its elements lie without gaps: in column-major order if those of
    /// `source` do, else in row-major order.
    ///
    /// # Panics
    ///
    /// If `clone` panics; if the elements would exceed `isize::MAX` bytes, as those of a broadcast view
    /// may.
    ///
    /// ```
    /// use ndarray::s as at;
    ///
    /// let all = ndarray::Array::from_shape_fn((100, 100), |(i, j)| 100 * i + j);
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut corner = s.array_from(&all.slice(at![..;50, ..;50]));
    /// corner += 1;
    /// assert_eq!(corner, ndarray::arr2(&[[1, 51], [5001, 5051]]));
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

    /// As [`array_from`](Scope::array_from).
    ///
    /// # Errors
    ///
    /// As [`try_zeros`](Scope::try_zeros); nothing was cloned.
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

    /// As [`array_from`](Scope::array_from), each element passed through `make`; what `map` of an
    /// `ndarray` array does on the heap. The memory is reserved before, so `make` may allocate from the
    /// same scope.
    ///
    /// # Panics
    ///
    /// As [`array_from`](Scope::array_from), or if `make` panics.
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

    /// As [`array_map`](Scope::array_map).
    ///
    /// # Errors
    ///
    /// As [`try_zeros`](Scope::try_zeros); `make` did not run.
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
