//! Methods that allocate slices and arrays.
//!
//! A slice whose length is known comes from the high end of the scope. One that is collected from
//! an iterator of unknown length grows at the low end.

use crate::{
    collector::Collector,
    copy::clone_plain,
    error::{AllocError, AllocOrInitError, Failure},
    fresh::Fresh,
    init_guard::InitGuard,
    scope::Scope,
    value::{Zeroable, assert_no_drop},
    vector::fill::{LOOPED, Rest},
};
use core::{convert::Infallible, mem::MaybeUninit};

/// The most bytes that are reserved for the upper bound of an iterator whose lower bound is 0.
const GUESSED: usize = 256;

/// Whether elements of this size are collected in the loops of vectors. The shorter loop over
/// smaller ones, which are integers, becomes vector code. Larger ones would be copied through
/// several stack frames.
const fn is_like_vectors(size: usize) -> bool {
    matches!(size, 9..=32)
}

/// Collects the elements of `values`, whose size hint is `announced`. If room is reserved already,
/// fills that first, in a loop of its own.
#[inline(always)]
fn collect_rest<T, F: Failure>(
    collector: &mut Collector<'_, '_, T>,
    mut values: impl Iterator<Item = T>,
    announced: usize,
    is_reserved: bool,
) -> Result<(), F> {
    // A constant, so that the loops are not compiled for other elements, even in debug builds.
    if const { is_like_vectors(size_of::<T>()) } && is_reserved && announced > 0 {
        return match collector.fill_announced(announced, values) {
            Rest::None => Ok(()),
            Rest::Plain(values) => push_each(collector, values),
            Rest::Zipped(values) => push_each(collector, values.map(|(_, value)| value)),
        };
    }
    if is_reserved && size_of::<T>() <= LOOPED && !collector.fill(&mut values) {
        // `values` is dropped here. Should its destructor panic, the elements are not lost.
        return Ok(());
    }
    push_each(collector, values)
}

/// Collects elements one by one.
#[inline(always)]
fn push_each<T, F: Failure>(
    collector: &mut Collector<'_, '_, T>,
    values: impl Iterator<Item = T>,
) -> Result<(), F> {
    for value in values {
        collector.push::<F>(value)?;
    }
    Ok(())
}

/// The bodies that the public methods share: fallible or not, with destructors or without.
impl<'a> Scope<'a> {
    #[inline(always)]
    pub(crate) fn slice_copy_in<T: Copy, F: Failure>(
        &self,
        values: &[T],
    ) -> Result<Fresh<'a, [T]>, F> {
        // SAFETY: the elements are `Copy`.
        unsafe { self.duplicate::<T, F>(values) }
    }

    /// Clones the elements of a slice that need no `Drop`. If `clone` panics, the memory stays
    /// taken.
    #[inline(always)]
    pub(crate) fn slice_clone_in<T: Clone, F: Failure>(
        &self,
        values: &[T],
    ) -> Result<&'a mut [T], F> {
        let room = self.reserve_slice::<T, F>(values.len())?;
        // SAFETY: the room is aligned, new, and has `values.len()` elements (F1).
        unsafe { clone_plain(values, room.start()) };
        // SAFETY: `clone_plain` wrote all elements of the room, which has `values.len()`.
        Ok(unsafe { room.assume_init() }.lend())
    }

    #[inline(always)]
    pub(crate) fn slice_fill_in<T: Copy, F: Failure>(
        &self,
        len: usize,
        value: T,
    ) -> Result<&'a mut [T], F> {
        if size_of::<T>() == 0 {
            let room = self.reserve_slice::<T, F>(len)?;
            // SAFETY: elements without bytes are initialised if a value of the type exists, and
            // `value` does.
            return Ok(unsafe { room.assume_init() }.lend());
        }
        self.slice_with_in(len, |_| value).map(Fresh::lend)
    }

    #[inline(always)]
    pub(crate) fn slice_with_in<T, F: Failure>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<Fresh<'a, [T]>, F> {
        Ok(InitGuard::fill(self.reserve_slice::<T, F>(len)?, make))
    }

    #[inline(always)]
    pub(crate) fn slice_try_with_in<T, E, F: Failure>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> Result<T, E>,
    ) -> Result<Result<Fresh<'a, [T]>, E>, F> {
        if size_of::<T>() == 0 || len == 0 {
            // Takes no memory that an error could give back, and the root of an arena without a chunk
            // has no position.
            return Ok(InitGuard::try_fill(self.reserve_slice::<T, F>(len)?, make));
        }
        let before = self.cursor().position();
        let room = self.reserve_slice::<T, F>(len)?;
        let reserved = self.cursor().position();
        let made = InitGuard::try_fill(room, make);
        if made.is_err() && self.cursor().position() == reserved {
            // SAFETY: nothing was allocated after the slice, to which no reference exists.
            unsafe { self.cursor().restore(before) };
        }
        Ok(made)
    }

    /// Collects `len` elements, or fewer if the iterator ends before.
    #[inline(always)]
    pub(crate) fn slice_iter_in<T, F: Failure>(
        &self,
        len: usize,
        values: impl Iterator<Item = T>,
    ) -> Result<Fresh<'a, [T]>, F> {
        Ok(InitGuard::fill_from(self.reserve_slice::<T, F>(len)?, values))
    }

    #[inline]
    pub(crate) fn slice_collect_in<T, F: Failure>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Fresh<'a, [T]>, F> {
        let mut collector = Collector::new(self);
        let values = values.into_iter();
        let (announced, most) = values.size_hint();
        let mut is_reserved = announced > 0;
        if is_reserved {
            if !collector.hint_here(announced) {
                if size_of::<T>() <= LOOPED {
                    return self.slice_collect_far(values, announced);
                }
                collector.hint(announced);
            }
        } else if size_of::<T>() <= GUESSED {
            let few = GUESSED / size_of::<T>().max(1);
            let guess = most.map_or(0, |most| most.min(few));
            is_reserved = guess > 0 && collector.hint_here(guess);
        }
        collect_rest::<T, F>(&mut collector, values, announced, is_reserved)?;
        if size_of::<T>() > LOOPED {
            collector.go_back();
        }
        Ok(collector.finish())
    }

    /// Collects an iterator that announces more elements than the current chunk has room for. The
    /// hint may be wrong, so another chunk is made only when there is an element to put there.
    #[cold]
    #[inline(never)]
    fn slice_collect_far<T, F: Failure>(
        &self,
        mut values: impl Iterator<Item = T>,
        announced: usize,
    ) -> Result<Fresh<'a, [T]>, F> {
        match values.next() {
            Some(first) => self.slice_collect_after(first, values, announced),
            None => Ok(Fresh::empty()),
        }
    }

    /// Collects the rest of an iterator that announced `announced` elements before `first`, its first
    /// one, was taken.
    #[inline(always)]
    pub(crate) fn slice_collect_after<T, F: Failure>(
        &self,
        first: T,
        values: impl Iterator<Item = T>,
        announced: usize,
    ) -> Result<Fresh<'a, [T]>, F> {
        let mut collector = Collector::new(self);
        collector.hint(announced);
        collector.push::<F>(first)?;
        collect_rest::<T, F>(&mut collector, values, announced, true)?;
        collector.go_back();
        Ok(collector.finish())
    }

    #[inline]
    pub(crate) fn slice_try_collect_in<T, E, F: Failure>(
        &self,
        values: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<Result<Fresh<'a, [T]>, E>, F> {
        let mut collector = Collector::new(self);
        for value in values {
            match value {
                Ok(value) => collector.push::<F>(value)?,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(collector.finish()))
    }

    /// Moves the elements of a vector here and frees its heap block.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn slice_vec_in<T, F: Failure>(
        &self,
        values: alloc::vec::Vec<T>,
    ) -> Result<Fresh<'a, [T]>, F> {
        // If the backing panics, the vector leaks. Without a drop, the call needs no landing pad.
        let mut values = core::mem::ManuallyDrop::new(values);
        // SAFETY: after a success, the vector no longer counts the elements.
        let slice = unsafe { self.duplicate::<T, F>(&values) };
        if slice.is_ok() {
            // SAFETY: 0 is within the capacity, and the slice owns the elements now.
            unsafe { values.set_len(0) };
        }
        drop(core::mem::ManuallyDrop::into_inner(values));
        slice
    }
}

impl<'a> Scope<'a> {
    /// Copies a slice. Up to 64 bytes are copied inline, without a call.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_slice_copy(&[1, 2, 3]), &[1, 2, 3]);
    /// ```
    #[inline(always)]
    pub fn alloc_slice_copy<T: Copy>(&self, values: &[T]) -> &'a mut [T] {
        let Ok(slice) = self.slice_copy_in::<T, Infallible>(values);
        slice.lend()
    }

    /// Fallible version of [`alloc_slice_copy`](Scope::alloc_slice_copy).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_slice_copy(&[0u8; 16]).is_ok());
    /// assert!(s.try_alloc_slice_copy(&[0u8]).is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_slice_copy<T: Copy>(&self, values: &[T]) -> Result<&'a mut [T], AllocError> {
        self.slice_copy_in(values).map(Fresh::lend)
    }

    /// Clones a slice, its elements in order.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let ranges = s.alloc_slice_clone(&[0..1, 1..5]);
    /// assert_eq!(ranges[1], 1..5);
    /// ```
    #[inline]
    pub fn alloc_slice_clone<T: Clone>(&self, values: &[T]) -> &'a mut [T] {
        const { assert_no_drop::<T>() };
        let Ok(slice) = self.slice_clone_in::<T, Infallible>(values);
        slice
    }

    /// Fallible version of [`alloc_slice_clone`](Scope::alloc_slice_clone).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_slice_clone(&[0u8; 16]).is_ok());
    /// assert!(s.try_alloc_slice_clone(&[0u8]).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_slice_clone<T: Clone>(&self, values: &[T]) -> Result<&'a mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        self.slice_clone_in(values)
    }

    /// Allocates a slice of `len` copies of `value`.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes. This holds for all infallible methods that
    /// take a length.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_slice_fill_copy(3, 7), &[7, 7, 7]);
    /// ```
    #[inline]
    pub fn alloc_slice_fill_copy<T: Copy>(&self, len: usize, value: T) -> &'a mut [T] {
        let Ok(slice) = self.slice_fill_in::<T, Infallible>(len, value);
        slice
    }

    /// Fallible version of [`alloc_slice_fill_copy`](Scope::alloc_slice_fill_copy).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory or the size overflows, like all methods that take a
    /// length.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_slice_fill_copy(16, 0u8).is_ok());
    /// assert!(s.try_alloc_slice_fill_copy(1, 0u8).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_slice_fill_copy<T: Copy>(
        &self,
        len: usize,
        value: T,
    ) -> Result<&'a mut [T], AllocError> {
        self.slice_fill_in(len, value)
    }

    /// Allocates a slice of `len` clones of `value`.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_slice_fill_clone(3, &"ebb"), ["ebb"; 3]);
    /// ```
    #[inline]
    pub fn alloc_slice_fill_clone<T: Clone>(&self, len: usize, value: &T) -> &'a mut [T] {
        const { assert_no_drop::<T>() };
        self.alloc_slice_fill_with(len, |_| value.clone())
    }

    /// Fallible version of [`alloc_slice_fill_clone`](Scope::alloc_slice_fill_clone).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; nothing was cloned.
    ///
    /// # Panics
    ///
    /// If `clone` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_slice_fill_clone(16, &0u8).is_ok());
    /// assert!(s.try_alloc_slice_fill_clone(1, &0u8).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_slice_fill_clone<T: Clone>(
        &self,
        len: usize,
        value: &T,
    ) -> Result<&'a mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        self.try_alloc_slice_fill_with(len, |_| value.clone())
    }

    /// Allocates a slice of `len` default values.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_slice_fill_default::<Option<u32>>(2), [None, None]);
    /// ```
    #[inline]
    pub fn alloc_slice_fill_default<T: Default>(&self, len: usize) -> &'a mut [T] {
        const { assert_no_drop::<T>() };
        self.alloc_slice_fill_with(len, |_| T::default())
    }

    /// Fallible version of [`alloc_slice_fill_default`](Scope::alloc_slice_fill_default).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; no value was created.
    ///
    /// # Panics
    ///
    /// If `default` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_slice_fill_default::<u8>(16).is_ok());
    /// assert!(s.try_alloc_slice_fill_default::<u8>(1).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_slice_fill_default<T: Default>(
        &self,
        len: usize,
    ) -> Result<&'a mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        self.try_alloc_slice_fill_with(len, |_| T::default())
    }

    /// Allocates a slice of `len` values, each made from its index, in order. `make` may allocate
    /// from the same scope.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes, or if `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_slice_fill_with(4, |i| i * i), &[0, 1, 4, 9]);
    /// ```
    #[inline]
    pub fn alloc_slice_fill_with<T>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> &'a mut [T] {
        const { assert_no_drop::<T>() };
        let Ok(slice) = self.slice_with_in::<T, Infallible>(len, make);
        slice.lend()
    }

    /// Fallible version of [`alloc_slice_fill_with`](Scope::alloc_slice_fill_with).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_slice_fill_with(16, |_| 0u8).is_ok());
    /// assert!(s.try_alloc_slice_fill_with(usize::MAX, |_| 0u64).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_slice_fill_with<T>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<&'a mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        self.slice_with_in(len, make).map(Fresh::lend)
    }

    /// Like [`alloc_slice_fill_with`](Scope::alloc_slice_fill_with), but `make` may fail. Its
    /// memory is then freed, unless `make` allocated from the same scope.
    ///
    /// # Errors
    ///
    /// The first error that `make` returned.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes, or if `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let words = ["1", "2", "x"];
    /// assert!(s.alloc_slice_try_fill_with(3, |i| words[i].parse::<u8>()).is_err());
    /// assert_eq!(s.alloc_slice_try_fill_with(2, |i| words[i].parse::<u8>()), Ok(&mut [1, 2][..]));
    /// ```
    #[inline]
    pub fn alloc_slice_try_fill_with<T, E>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> Result<T, E>,
    ) -> Result<&'a mut [T], E> {
        const { assert_no_drop::<T>() };
        let Ok(made) = self.slice_try_with_in::<T, E, Infallible>(len, make);
        made.map(Fresh::lend)
    }

    /// Fallible version of [`alloc_slice_try_fill_with`](Scope::alloc_slice_try_fill_with).
    ///
    /// # Errors
    ///
    /// [`AllocOrInitError`]: there is no memory, or the first error that `make` returned.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// use ebbtide::{AllocError, AllocOrInitError};
    /// let digit = |c: char| c.to_digit(10).ok_or(c);
    /// let digits = |text: &str| {
    ///     let mut text = text.chars();
    ///     s.try_alloc_slice_try_fill_with(2, |_| digit(text.next().unwrap())).map(|digits| digits[1])
    /// };
    /// assert_eq!(digits("12"), Ok(2));
    /// assert_eq!(digits("1x"), Err(AllocOrInitError::Init('x')));
    /// assert_eq!(digits("34"), Ok(4));
    /// assert_eq!(digits("56"), Err(AllocOrInitError::Alloc(AllocError))); // full
    /// ```
    #[inline]
    pub fn try_alloc_slice_try_fill_with<T, E>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> Result<T, E>,
    ) -> Result<&'a mut [T], AllocOrInitError<E>> {
        const { assert_no_drop::<T>() };
        let made = self.slice_try_with_in::<T, E, AllocError>(len, make)?;
        let slice = made.map_err(AllocOrInitError::Init)?;
        Ok(slice.lend())
    }

    /// Collects an iterator of known length into a slice. A wrong length is safe: the rest of a
    /// longer iterator is not collected, and a shorter one returns a shorter slice.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes, or if the iterator panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_slice_fill_iter([1, 2].iter().map(|x| x + 1)), &[2, 3]);
    /// ```
    #[inline]
    pub fn alloc_slice_fill_iter<T, I>(&self, values: I) -> &'a mut [T]
    where
        I: IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    {
        const { assert_no_drop::<T>() };
        let values = values.into_iter();
        let Ok(slice) = self.slice_iter_in::<T, Infallible>(values.len(), values);
        slice.lend()
    }

    /// Fallible version of [`alloc_slice_fill_iter`](Scope::alloc_slice_fill_iter).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; nothing was taken from the iterator.
    ///
    /// # Panics
    ///
    /// If the iterator panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_slice_fill_iter([0u8; 16]).is_ok());
    /// assert!(s.try_alloc_slice_fill_iter([0u8]).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_slice_fill_iter<T, I>(&self, values: I) -> Result<&'a mut [T], AllocError>
    where
        I: IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    {
        const { assert_no_drop::<T>() };
        let values = values.into_iter();
        self.slice_iter_in(values.len(), values).map(Fresh::lend)
    }

    /// Collects any iterator into a slice, at the low end. The slice grows in place as long as the
    /// chunk has room and the iterator itself does not allocate there. The iterator may allocate
    /// from the same scope.
    ///
    /// The lower bound of the [`size_hint`](Iterator::size_hint) is reserved first, up to 4 MiB. So
    /// an iterator of some hundred elements that knows its length is collected nearly as fast as by
    /// [`alloc_slice_fill_iter`](Scope::alloc_slice_fill_iter). If there are fewer elements, the
    /// rest of the memory is free again, and they go back to the current chunk if they fit there,
    /// unless the iterator itself allocated meanwhile. If the lower bound is 0, as that of a
    /// filter, up to 256 bytes of the upper bound are reserved.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes, or if the iterator panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let odd = s.alloc_slice_from_iter((0..10).filter(|n| n % 2 == 1));
    /// assert_eq!(odd, &[1, 3, 5, 7, 9]);
    /// ```
    #[inline]
    pub fn alloc_slice_from_iter<T>(&self, values: impl IntoIterator<Item = T>) -> &'a mut [T] {
        const { assert_no_drop::<T>() };
        let Ok(slice) = self.slice_collect_in::<T, Infallible>(values);
        slice.lend()
    }

    /// Fallible version of [`alloc_slice_from_iter`](Scope::alloc_slice_from_iter).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the elements taken from the iterator are lost.
    ///
    /// # Panics
    ///
    /// If the iterator panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_slice_from_iter([0u8; 17]).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_slice_from_iter<T>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&'a mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        self.slice_collect_in(values).map(Fresh::lend)
    }

    /// Collects an iterator whose items may be errors into a slice, up to the first error. Elements
    /// before an error are dropped, and their memory is freed, unless the iterator
    /// itself allocated from the same scope.
    ///
    /// # Errors
    ///
    /// The first error of the iterator.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes, or if the iterator panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let numbers = |text: &'static str| text.split(' ').map(str::parse::<u8>);
    /// assert_eq!(s.alloc_slice_try_from_iter(numbers("1 2 3")), Ok(&mut [1, 2, 3][..]));
    /// assert!(s.alloc_slice_try_from_iter(numbers("1 x 3")).is_err());
    /// assert_eq!(s.stats().used, 3);
    /// ```
    #[inline]
    pub fn alloc_slice_try_from_iter<T, E>(
        &self,
        values: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<&'a mut [T], E> {
        const { assert_no_drop::<T>() };
        let Ok(made) = self.slice_try_collect_in::<T, E, Infallible>(values);
        made.map(Fresh::lend)
    }

    /// Fallible version of [`alloc_slice_try_from_iter`](Scope::alloc_slice_try_from_iter).
    ///
    /// # Errors
    ///
    /// [`AllocOrInitError`]: there is no memory, or the first error of the iterator.
    ///
    /// # Panics
    ///
    /// If the iterator panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// use ebbtide::AllocOrInitError;
    /// let digits = |text: &str| {
    ///     let digits = text.chars().map(|c| c.to_digit(10).ok_or(c)).collect::<Vec<_>>();
    ///     s.try_alloc_slice_try_from_iter(digits).map(|digits| digits.len())
    /// };
    /// assert_eq!(digits("12"), Ok(2));
    /// assert_eq!(digits("1x"), Err(AllocOrInitError::Init('x')));
    /// ```
    #[inline]
    pub fn try_alloc_slice_try_from_iter<T, E>(
        &self,
        values: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<&'a mut [T], AllocOrInitError<E>> {
        const { assert_no_drop::<T>() };
        let made = self.slice_try_collect_in::<T, E, AllocError>(values)?;
        let slice = made.map_err(AllocOrInitError::Init)?;
        Ok(slice.lend())
    }

    /// Allocates an array, each element made from its index, in place.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let table: &mut [usize; 256] = s.alloc_array(|i| 255 - i);
    /// assert_eq!(table[0], 255);
    /// ```
    #[inline]
    pub fn alloc_array<T, const N: usize>(&self, make: impl FnMut(usize) -> T) -> &'a mut [T; N] {
        const { assert_no_drop::<T>() };
        let Ok(array) = self.array_in::<T, N, Infallible>(make);
        array
    }

    /// Fallible version of [`alloc_array`](Scope::alloc_array).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; `make` did not run.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_array::<_, 16>(|_| 0u8).is_ok());
    /// assert!(s.try_alloc_array::<_, 1>(|_| 0u8).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_array<T, const N: usize>(
        &self,
        make: impl FnMut(usize) -> T,
    ) -> Result<&'a mut [T; N], AllocError> {
        const { assert_no_drop::<T>() };
        self.array_in(make)
    }

    #[inline]
    pub(crate) fn array_in<T, const N: usize, F: Failure>(
        &self,
        make: impl FnMut(usize) -> T,
    ) -> Result<&'a mut [T; N], F> {
        let room = self.reserve_value::<[T; N], F>()?.into_slice();
        let array = InitGuard::fill(room, make).into_raw().cast();
        // SAFETY: F1: all `N` elements of the block are initialised.
        Ok(unsafe { Fresh::new(array) }.lend())
    }

    /// Reserves room for `len` elements, to be initialised by the caller.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let places = s.alloc_uninit_slice::<u32>(3);
    /// for (n, place) in (0..).zip(&mut *places) {
    ///     place.write(n);
    /// }
    /// // SAFETY: all three were written.
    /// assert_eq!(unsafe { places[2].assume_init() }, 2);
    /// ```
    #[inline]
    pub fn alloc_uninit_slice<T>(&self, len: usize) -> &'a mut [MaybeUninit<T>] {
        let Ok(slice) = self.uninit_slice_in::<T, Infallible>(len);
        slice
    }

    /// Fallible version of [`alloc_uninit_slice`](Scope::alloc_uninit_slice).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, or the slice would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_uninit_slice::<u8>(16).is_ok());
    /// assert!(s.try_alloc_uninit_slice::<u8>(1).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_uninit_slice<T>(
        &self,
        len: usize,
    ) -> Result<&'a mut [MaybeUninit<T>], AllocError> {
        self.uninit_slice_in(len)
    }

    #[inline(always)]
    pub(crate) fn uninit_slice_in<T, F: Failure>(
        &self,
        len: usize,
    ) -> Result<&'a mut [MaybeUninit<T>], F> {
        self.reserve_slice::<T, F>(len).map(Fresh::lend)
    }

    /// Like [`alloc_uninit_slice`](Scope::alloc_uninit_slice), at an address that is a multiple of
    /// `align`: for SIMD instructions, or for data that must not share a cache line.
    ///
    /// # Panics
    ///
    /// If `align` is not a power of two, or if the slice would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let lanes = s.alloc_uninit_slice_aligned::<f32>(1000, 64);
    /// assert_eq!(lanes.as_ptr().addr() % 64, 0);
    /// ```
    #[inline]
    pub fn alloc_uninit_slice_aligned<T>(
        &self,
        len: usize,
        align: usize,
    ) -> &'a mut [MaybeUninit<T>] {
        let Ok(slice) = self.uninit_slice_aligned_in::<T, Infallible>(len, align);
        slice
    }

    /// Fallible version of [`alloc_uninit_slice_aligned`](Scope::alloc_uninit_slice_aligned).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, and also if `align` is not a power of two.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_uninit_slice_aligned::<u8>(17, 64).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_uninit_slice_aligned<T>(
        &self,
        len: usize,
        align: usize,
    ) -> Result<&'a mut [MaybeUninit<T>], AllocError> {
        self.uninit_slice_aligned_in(len, align)
    }

    #[inline]
    pub(crate) fn uninit_slice_aligned_in<T, F: Failure>(
        &self,
        len: usize,
        align: usize,
    ) -> Result<&'a mut [MaybeUninit<T>], F> {
        self.reserve_slice_aligned::<T, F>(len, align).map(Fresh::lend)
    }

    /// Allocates a slice of `len` values with all-zero bytes.
    ///
    /// # Panics
    ///
    /// If the slice would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.alloc_zeroed_slice::<f64>(100).iter().all(|x| *x == 0.0));
    /// ```
    #[inline]
    pub fn alloc_zeroed_slice<T: Zeroable>(&self, len: usize) -> &'a mut [T] {
        const { assert_no_drop::<T>() };
        let Ok(slice) = self.zeroed_slice_in::<T, Infallible>(len);
        slice
    }

    /// Fallible version of [`alloc_zeroed_slice`](Scope::alloc_zeroed_slice).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, or the slice would exceed `isize::MAX` bytes.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_zeroed_slice::<u8>(16).is_ok());
    /// assert!(s.try_alloc_zeroed_slice::<u8>(1).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_zeroed_slice<T: Zeroable>(
        &self,
        len: usize,
    ) -> Result<&'a mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        self.zeroed_slice_in(len)
    }

    #[inline(always)]
    pub(crate) fn zeroed_slice_in<T: Zeroable, F: Failure>(
        &self,
        len: usize,
    ) -> Result<&'a mut [T], F> {
        let room = self.reserve_slice::<T, F>(len)?.zeroed();
        // SAFETY: all-zero bytes are a valid `Zeroable`.
        Ok(unsafe { room.assume_init() }.lend())
    }
}

#[cfg(feature = "alloc")]
impl<'a> Scope<'a> {
    /// Moves the elements of a vector into the scope and frees its heap block.
    ///
    /// Elements that need `Drop` are rejected at compile time: see
    /// [`boxed_vec`](Scope::boxed_vec).
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_vec(vec![1, 2, 3]), &[1, 2, 3]);
    /// ```
    #[inline]
    pub fn alloc_vec<T>(&self, values: alloc::vec::Vec<T>) -> &'a mut [T] {
        const { assert_no_drop::<T>() };
        let Ok(slice) = self.slice_vec_in::<T, Infallible>(values);
        slice.lend()
    }

    /// Fallible version of [`alloc_vec`](Scope::alloc_vec).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the vector is dropped.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_vec(vec![0u8; 16]).is_ok());
    /// assert!(s.try_alloc_vec(vec![0u8]).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_vec<T>(&self, values: alloc::vec::Vec<T>) -> Result<&'a mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        self.slice_vec_in(values).map(Fresh::lend)
    }

    /// Like [`alloc_vec`](Scope::alloc_vec), but takes a boxed slice.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let boxed: Box<[u32]> = Box::new([1, 2, 3]);
    /// assert_eq!(s.alloc_boxed_slice(boxed), [1, 2, 3]);
    /// ```
    #[inline]
    pub fn alloc_boxed_slice<T>(&self, values: alloc::boxed::Box<[T]>) -> &'a mut [T] {
        const { assert_no_drop::<T>() };
        self.alloc_vec(values.into_vec())
    }

    /// Fallible version of [`alloc_boxed_slice`](Scope::alloc_boxed_slice).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the box is dropped.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_boxed_slice(Box::new([0u8; 16])).is_ok());
    /// assert!(s.try_alloc_boxed_slice(Box::new([0u8])).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_boxed_slice<T>(
        &self,
        values: alloc::boxed::Box<[T]>,
    ) -> Result<&'a mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        self.try_alloc_vec(values.into_vec())
    }
}
