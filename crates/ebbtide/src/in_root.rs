//! The methods of a scope that an arena has itself, so that `arena.alloc(value)` needs no call of
//! [`root`](Arena::root).
//!
//! Most are pairs, one of which returns an error if there is no memory: see the table in `pairs!`.
#![allow(clippy::missing_errors_doc, reason = "described at the methods of a scope")]

use crate::{
    arena::Arena,
    backing::Backing,
    boxed::Box,
    chunk::LARGEST_CHUNK,
    error::{AllocError, AllocOrInitError, Failure},
    fresh::Fresh,
    raw::{Need, is_short},
    scope::Scope,
    string::{format_in, formatted},
    text::String,
    value::{Zeroable, assert_no_drop},
    vector::{Vec, assert_plain, owning::Owning},
};
use core::{
    alloc::Layout, convert::Infallible, ffi::CStr, fmt, iter, mem::MaybeUninit, ptr::NonNull,
};
#[cfg(feature = "std")]
use std::{ffi::OsStr, path::Path};

/// The result of a request that does not return without it.
#[inline(always)]
fn always<R>(result: Result<R, Infallible>) -> R {
    let Ok(made) = result;
    made
}

/// Runs what a fast path does not, in a function of its own.
#[cold]
#[inline(never)]
fn out_of_line<R>(slow_path: impl FnOnce() -> R) -> R {
    slow_path()
}

/// Whether a request that fits needs the root to be in use.
#[inline(always)]
fn is_long(size: usize) -> bool {
    !is_short(size)
}

/// The same, if it compares positions of the cursor. Functions, so that no method has closures for them.
#[inline(always)]
fn is_of_bytes(size: usize) -> bool {
    size > 0
}

/// Makes a request in the root of an arena, whose result `make` is. It succeeds if `fits` does. If it fits
/// at once, there is a chunk. If it is [short](is_short) as well, the method uses nothing but the two
/// ends of the root's cursor, so the root need not be in use. Any other request is made to the root in
/// use; the first chunk has room for it.
///
/// What follows `else` makes the request out of line. It does not copy a large value once more: it
/// reserves the block before it writes the value there.
///
/// A macro, because a closure that is called in two places is not inlined.
macro_rules! request {
    ($arena:ident, [$($fits:tt)*], $root:ident => $make:expr) => {
        request!($arena, [$($fits)*], $root => $make, else $make)
    };
    ($arena:ident, [$($fits:tt)*], $root:ident => $make:expr, else $make_slowly:expr) => {
        request!(@ $arena, [$($fits)*], $root => $make, else $make_slowly, is_long)
    };
    (@ $arena:ident, [$($fits:tt)*], $root:ident => $make:expr, else $make_slowly:expr, $is_refreshed:ident) => {{
        let $root = $arena.root_as_is();
        if let Ok(size) = $root.cursor().$($fits)* {
            if $is_refreshed(size) {
                $arena.refresh_root();
            }
            $make
        } else {
            out_of_line(move || {
                let need = match $arena.root_as_is().cursor().$($fits)* {
                    Ok(size) => Need { size, align: 1 },
                    Err(need) => need,
                };
                // Not by `and_then`, whose closure would get a copy of a large value.
                match $arena.open_root_for(need) {
                    Ok($root) => $make_slowly,
                    Err(failure) => Err(failure),
                }
            })
        }
    }};
}

/// Like `request!`, for a method that compares positions of the cursor. A request of no bytes compares
/// nothing, and is no reason to refresh a root that may be nowhere.
macro_rules! request_comparing {
    ($arena:ident, [$($fits:tt)*], $root:ident => $make:expr) => {
        request!(@ $arena, [$($fits)*], $root => $make, else $make, is_of_bytes)
    };
}

/// A request of which the fast path is not worth its code.
macro_rules! request_out_of_line {
    ($arena:ident, [$need:expr], $root:ident => $make:expr) => {
        out_of_line(move || {
            let need = $need;
            $arena.open_root_for(need).and_then(|$root| $make)
        })
    };
}

/// The bodies of the methods: fallible or not, and whatever they make of the memory.
impl<B: Backing> Arena<B> {
    #[inline(always)]
    fn place_in<T, F: Failure>(&self, value: T) -> Result<Fresh<'_, T>, F> {
        request!(self, [fits_at_once::<T>()], root => root.place(value), else Ok(root.reserve_value()?.write_with(|| value)))
    }

    #[inline(always)]
    fn make_in<T, F: Failure>(&self, make: impl FnOnce() -> T) -> Result<Fresh<'_, T>, F> {
        request!(self, [fits_at_once::<T>()], root => Ok(root.reserve_value()?.write_with(make)))
    }

    #[inline(always)]
    fn try_make_in<T, E, F: Failure>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<&mut T, E>, F> {
        request_comparing!(self, [fits_at_once::<T>()], root => root.alloc_try_with_in(make))
    }

    #[inline(always)]
    fn uninit_in<T, F: Failure>(&self) -> Result<&mut MaybeUninit<T>, F> {
        request!(self, [fits_at_once::<T>()], root => root.alloc_uninit_in())
    }

    #[inline(always)]
    fn zeroed_in<T: Zeroable, F: Failure>(&self) -> Result<&mut T, F> {
        request!(self, [fits_at_once::<T>()], root => root.alloc_zeroed_in())
    }

    #[inline(always)]
    fn aligned_in<T, F: Failure>(&self, value: T, align: usize) -> Result<&mut T, F> {
        request_out_of_line!(self, [Need::of::<T>(1).aligned(align)], root => root.alloc_aligned_in(value, align))
    }

    #[inline(always)]
    fn layout_in<F: Failure>(&self, layout: Layout) -> Result<NonNull<u8>, F> {
        request!(self, [fits_layout_at_once(layout)], root => root.cursor().reserve_layout(layout))
    }

    #[inline(always)]
    fn array_in<T, const N: usize, F: Failure>(
        &self,
        make: impl FnMut(usize) -> T,
    ) -> Result<&mut [T; N], F> {
        request_out_of_line!(self, [Need::of::<[T; N]>(1)], root => root.array_in(make))
    }

    #[inline(always)]
    fn slice_copy_in<T: Copy, F: Failure>(&self, values: &[T]) -> Result<Fresh<'_, [T]>, F> {
        request!(self, [fits_array_at_once::<T>(values.len())], root => root.slice_copy_in(values))
    }

    #[inline(always)]
    fn slice_clone_in<T: Clone, F: Failure>(&self, values: &[T]) -> Result<&mut [T], F> {
        request!(self, [fits_array_at_once::<T>(values.len())], root => root.slice_clone_in(values))
    }

    #[inline(always)]
    fn slice_fill_in<T: Copy, F: Failure>(&self, len: usize, value: T) -> Result<&mut [T], F> {
        request!(self, [fits_array_at_once::<T>(len)], root => root.slice_fill_in(len, value))
    }

    #[inline(always)]
    fn slice_with_in<T, F: Failure>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<Fresh<'_, [T]>, F> {
        request!(self, [fits_array_at_once::<T>(len)], root => root.slice_with_in(len, make))
    }

    #[inline(always)]
    fn slice_try_with_in<T, E, F: Failure>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> Result<T, E>,
    ) -> Result<Result<Fresh<'_, [T]>, E>, F> {
        request_comparing!(self, [fits_array_at_once::<T>(len)], root => root.slice_try_with_in(len, make))
    }

    #[inline(always)]
    fn uninit_slice_in<T, F: Failure>(&self, len: usize) -> Result<&mut [MaybeUninit<T>], F> {
        request!(self, [fits_array_at_once::<T>(len)], root => root.uninit_slice_in(len))
    }

    #[inline(always)]
    fn uninit_slice_aligned_in<T, F: Failure>(
        &self,
        len: usize,
        align: usize,
    ) -> Result<&mut [MaybeUninit<T>], F> {
        request_out_of_line!(self, [Need::of::<T>(len).aligned(align)], root => root.uninit_slice_aligned_in(len, align))
    }

    #[inline(always)]
    fn zeroed_slice_in<T: Zeroable, F: Failure>(&self, len: usize) -> Result<&mut [T], F> {
        request!(self, [fits_array_at_once::<T>(len)], root => root.zeroed_slice_in(len))
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    fn slice_vec_in<T, F: Failure>(&self, values: alloc::vec::Vec<T>) -> Result<Fresh<'_, [T]>, F> {
        request_out_of_line!(self, [Need::of::<T>(values.len())], root => root.slice_vec_in(values))
    }

    #[inline(always)]
    fn str_in<F: Failure>(&self, text: &str) -> Result<&mut str, F> {
        request!(self, [fits_array_at_once::<u8>(text.len())], root => root.str_in(text))
    }

    #[inline(always)]
    fn cstr_in<F: Failure>(&self, text: &CStr) -> Result<&CStr, F> {
        request_out_of_line!(self, [Need::of::<u8>(text.to_bytes_with_nul().len())], root => root.cstr_in(text))
    }

    #[inline(always)]
    fn cstr_from_str_in<F: Failure>(&self, text: &str) -> Result<&CStr, F> {
        request_out_of_line!(self, [Need::of::<u8>(text.len() + 1)], root => root.cstr_from_str_in(text))
    }

    #[cfg(feature = "std")]
    #[inline(always)]
    fn os_str_in<F: Failure>(&self, text: &OsStr) -> Result<&OsStr, F> {
        request_out_of_line!(self, [Need::of::<u8>(text.as_encoded_bytes().len())], root => root.os_str_in(text))
    }
}

/// Writes pairs of methods: one that does not return without memory, and its twin that returns an error.
/// A row has their names, what both take and return, `no_drop T` if `T` must not need to be dropped, and
/// the body with its arguments, and what turns the body's result into theirs.
macro_rules! pairs {
    ($(
        $(#[$attribute:meta])*
        $name:ident, $twin:ident: [$($generics:tt)*]($($argument:ident: $type:ty),*) -> $made:ty
        $(, no_drop $element:ty)? => $body:ident($($passed:expr),*) $(, $finish:expr)?;
    )*) => {$(
        $(#[$attribute])*
        #[doc = same_as!($name)]
        #[inline(always)]
        pub fn $name<$($generics)*>(&self, $($argument: $type),*) -> $made {
            $(const { assert_no_drop::<$element>() };)?
            always(self.$body($($passed),*)$(.map($finish))?)
        }

        $(#[$attribute])*
        #[doc = same_as!($twin)]
        #[inline(always)]
        pub fn $twin<$($generics)*>(&self, $($argument: $type),*) -> Result<$made, AllocError> {
            $(const { assert_no_drop::<$element>() };)?
            self.$body($($passed),*)$(.map($finish))?
        }
    )*};
}

/// The documentation of a method that a scope has, too.
macro_rules! same_as {
    ($name:ident) => {
        concat!(
            "The same in the [root](Arena::root); see [`Scope::",
            stringify!($name),
            "`](crate::Scope::",
            stringify!($name),
            ")."
        )
    };
}

/// The methods that allocate, in the style of bumpalo: allocations live until
/// [`reset`](Arena::reset) or the arena's end. A short value costs as little as in a scope.
///
/// For what is not here, use [`root`](Arena::root), which has all methods of a scope.
///
/// ```
/// let arena = ebbtide::Arena::new();
/// let names = arena.alloc_slice_copy(&["ebb", "flow"]);
/// let first = arena.alloc(names[0]);
/// assert_eq!(*first, arena.alloc_str("ebb"));
/// ```
impl<B: Backing> Arena<B> {
    /// Whether a value of this type fits in the present chunk. [`alloc`](Arena::alloc) tests the
    /// same, so after this test, the compiler removes its own.
    ///
    /// ```
    /// let arena = ebbtide::Arena::with_capacity(1000);
    /// arena.alloc(1_u8);
    /// assert!(arena.has_room_for::<u64>() && !arena.has_room_for::<[u64; 1000]>());
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn has_room_for<T>(&self) -> bool {
        self.root_as_is().cursor().fits_at_once::<T>().is_ok()
    }

    pairs! {
        alloc, try_alloc: [T](value: T) -> &mut T, no_drop T => place_in(value), Fresh::lend;
        alloc_leaked, try_alloc_leaked: [T](value: T) -> &mut T => place_in(value), Fresh::lend;
        alloc_with, try_alloc_with: [T](make: impl FnOnce() -> T) -> &mut T, no_drop T
            => make_in(make), Fresh::lend;
        alloc_default, try_alloc_default: [T: Default]() -> &mut T, no_drop T
            => make_in(T::default), Fresh::lend;
        alloc_zeroed, try_alloc_zeroed: [T: Zeroable]() -> &mut T, no_drop T => zeroed_in();
        alloc_aligned, try_alloc_aligned: [T](value: T, align: usize) -> &mut T, no_drop T
            => aligned_in(value, align);
        alloc_uninit, try_alloc_uninit: [T]() -> &mut MaybeUninit<T> => uninit_in();
        alloc_layout, try_alloc_layout: [](layout: Layout) -> NonNull<u8> => layout_in(layout);
        alloc_array, try_alloc_array:
            [T, const N: usize](make: impl FnMut(usize) -> T) -> &mut [T; N], no_drop T
            => array_in(make);
        alloc_slice_copy, try_alloc_slice_copy: [T: Copy](values: &[T]) -> &mut [T]
            => slice_copy_in(values), Fresh::lend;
        alloc_slice_clone, try_alloc_slice_clone: [T: Clone](values: &[T]) -> &mut [T], no_drop T
            => slice_clone_in(values);
        alloc_slice_fill_copy, try_alloc_slice_fill_copy: [T: Copy](len: usize, value: T) -> &mut [T]
            => slice_fill_in(len, value);
        alloc_slice_fill_clone, try_alloc_slice_fill_clone:
            [T: Clone](len: usize, value: &T) -> &mut [T], no_drop T
            => slice_with_in(len, |_| value.clone()), Fresh::lend;
        alloc_slice_fill_default, try_alloc_slice_fill_default:
            [T: Default](len: usize) -> &mut [T], no_drop T
            => slice_with_in(len, |_| T::default()), Fresh::lend;
        alloc_slice_fill_with, try_alloc_slice_fill_with:
            [T](len: usize, make: impl FnMut(usize) -> T) -> &mut [T], no_drop T
            => slice_with_in(len, make), Fresh::lend;
        alloc_uninit_slice, try_alloc_uninit_slice: [T](len: usize) -> &mut [MaybeUninit<T>]
            => uninit_slice_in(len);
        alloc_uninit_slice_aligned, try_alloc_uninit_slice_aligned:
            [T](len: usize, align: usize) -> &mut [MaybeUninit<T>]
            => uninit_slice_aligned_in(len, align);
        alloc_zeroed_slice, try_alloc_zeroed_slice: [T: Zeroable](len: usize) -> &mut [T], no_drop T
            => zeroed_slice_in(len);
        #[cfg(feature = "alloc")]
        alloc_boxed_slice, try_alloc_boxed_slice:
            [T](values: alloc::boxed::Box<[T]>) -> &mut [T], no_drop T
            => slice_vec_in(values.into_vec()), Fresh::lend;
        #[cfg(feature = "alloc")]
        alloc_vec, try_alloc_vec: [T](values: alloc::vec::Vec<T>) -> &mut [T], no_drop T
            => slice_vec_in(values), Fresh::lend;
        alloc_str, try_alloc_str: [](text: &str) -> &mut str => str_in(text);
        alloc_cstr, try_alloc_cstr: [](text: &CStr) -> &CStr => cstr_in(text);
        alloc_cstr_from_str, try_alloc_cstr_from_str: [](text: &str) -> &CStr
            => cstr_from_str_in(text);
        #[cfg(feature = "std")]
        alloc_os_str, try_alloc_os_str: [](text: &OsStr) -> &OsStr => os_str_in(text);
        #[cfg(feature = "std")]
        alloc_path, try_alloc_path: [](path: &Path) -> &Path
            => os_str_in(path.as_os_str()), Path::new;
        boxed, try_boxed: [T](value: T) -> Box<'_, T> => place_in(value), Box::of;
        boxed_with, try_boxed_with: [T](make: impl FnOnce() -> T) -> Box<'_, T>
            => make_in(make), Box::of;
        boxed_slice_fill_with, try_boxed_slice_fill_with:
            [T](len: usize, make: impl FnMut(usize) -> T) -> Box<'_, [T]>
            => slice_with_in(len, make), Box::of;
        boxed_slice_clone, try_boxed_slice_clone: [T: Clone](values: &[T]) -> Box<'_, [T]>
            => slice_with_in(values.len(), |index| values[index].clone()), Box::of;
        #[cfg(feature = "alloc")]
        boxed_vec, try_boxed_vec: [T](values: alloc::vec::Vec<T>) -> Box<'_, [T]>
            => slice_vec_in(values), Box::of;
        boxed_str, try_boxed_str: [](text: &str) -> Box<'_, str> => str_in(text), Box::of_str;
    }

    /// The same in the [root](Arena::root); see [`Scope::alloc_try_with`](crate::Scope::alloc_try_with).
    #[inline(always)]
    pub fn alloc_try_with<T, E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&mut T, E> {
        const { assert_no_drop::<T>() };
        always(self.try_make_in(make))
    }

    /// The same in the [root](Arena::root); see [`Scope::try_alloc_try_with`](crate::Scope::try_alloc_try_with).
    #[inline(always)]
    pub fn try_alloc_try_with<T, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&mut T, AllocOrInitError<E>> {
        const { assert_no_drop::<T>() };
        self.try_make_in::<T, E, AllocError>(make)?.map_err(AllocOrInitError::Init)
    }

    /// The same in the [root](Arena::root); see [`Scope::alloc_slice_try_fill_with`](crate::Scope::alloc_slice_try_fill_with).
    #[inline(always)]
    pub fn alloc_slice_try_fill_with<T, E>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> Result<T, E>,
    ) -> Result<&mut [T], E> {
        const { assert_no_drop::<T>() };
        always(self.slice_try_with_in(len, make)).map(Fresh::lend)
    }

    /// The same in the [root](Arena::root); see [`Scope::try_alloc_slice_try_fill_with`](crate::Scope::try_alloc_slice_try_fill_with).
    #[inline(always)]
    pub fn try_alloc_slice_try_fill_with<T, E>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> Result<T, E>,
    ) -> Result<&mut [T], AllocOrInitError<E>> {
        const { assert_no_drop::<T>() };
        let made = self.slice_try_with_in::<T, E, AllocError>(len, make)?;
        made.map(Fresh::lend).map_err(AllocOrInitError::Init)
    }
}

/// Empty collections in the root. They hold the scope, so there is a first chunk then. Where there may
/// be no memory, use [`try_root`](Arena::try_root).
impl<B: Backing> Arena<B> {
    /// The same in the [root](Arena::root); see [`Scope::vec`](crate::Scope::vec).
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let mut depths = arena.vec();
    /// depths.extend([5, 130]);
    /// assert_eq!(depths, [5, 130]);
    /// ```
    #[inline]
    #[must_use]
    pub fn vec<T>(&self) -> Vec<'_, '_, T> {
        const { assert_plain::<T>() };
        self.root().vec()
    }

    /// The same in the [root](Arena::root); see [`Scope::owned_vec`](crate::Scope::owned_vec).
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let mut names = arena.owned_vec();
    /// names.push(String::from("Kattegat"));
    /// assert_eq!(names, ["Kattegat"]);
    /// ```
    #[inline]
    #[must_use]
    pub fn owned_vec<T>(&self) -> Owning<T, &Scope<'_>> {
        self.root().owned_vec()
    }

    /// The same in the [root](Arena::root); see [`Scope::string`](crate::Scope::string).
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let mut text = arena.string();
    /// text.push_str("ebb");
    /// assert_eq!(text, "ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn string(&self) -> String<'_, '_> {
        self.root().string()
    }
}

/// What text of so many bytes needs if it may grow.
fn text_of(bytes: usize) -> Need {
    Need::low(bytes, Layout::new::<u8>())
}

/// What `len` elements of a slice need while it grows, if the number may be wrong. At least one.
fn elements_of<T>(len: usize) -> Need {
    let most = LARGEST_CHUNK / size_of::<T>().max(1);
    Need::low(len.min(most).max(1), Layout::new::<T>())
}

/// The methods whose request is of unknown size, or of one that user code states. If there is no chunk,
/// the first element, or the first byte, makes one.
impl<B: Backing> Arena<B> {
    /// The same in the [root](Arena::root); see [`Scope::alloc_slice_fill_iter`](crate::Scope::alloc_slice_fill_iter).
    #[inline(always)]
    pub fn alloc_slice_fill_iter<T, I>(&self, values: I) -> &mut [T]
    where
        I: IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    {
        const { assert_no_drop::<T>() };
        let Ok(slice) = out_of_line(|| self.fill_in_root::<T, Infallible>(values.into_iter()));
        slice.lend()
    }

    /// The same in the [root](Arena::root); see [`Scope::try_alloc_slice_fill_iter`](crate::Scope::try_alloc_slice_fill_iter).
    #[inline(always)]
    pub fn try_alloc_slice_fill_iter<T, I>(&self, values: I) -> Result<&mut [T], AllocError>
    where
        I: IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    {
        const { assert_no_drop::<T>() };
        out_of_line(|| self.fill_in_root(values.into_iter())).map(Fresh::lend)
    }

    /// The same in the [root](Arena::root); see [`Scope::alloc_slice_from_iter`](crate::Scope::alloc_slice_from_iter).
    #[inline(always)]
    pub fn alloc_slice_from_iter<T>(&self, values: impl IntoIterator<Item = T>) -> &mut [T] {
        const { assert_no_drop::<T>() };
        let Ok(slice) = out_of_line(|| self.collect_in_root::<T, Infallible>(values));
        slice.lend()
    }

    /// The same in the [root](Arena::root); see [`Scope::try_alloc_slice_from_iter`](crate::Scope::try_alloc_slice_from_iter).
    #[inline(always)]
    pub fn try_alloc_slice_from_iter<T>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&mut [T], AllocError> {
        const { assert_no_drop::<T>() };
        out_of_line(|| self.collect_in_root(values)).map(Fresh::lend)
    }

    /// The same in the [root](Arena::root); see [`Scope::alloc_slice_try_from_iter`](crate::Scope::alloc_slice_try_from_iter).
    #[inline(always)]
    pub fn alloc_slice_try_from_iter<T, E>(
        &self,
        values: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<&mut [T], E> {
        const { assert_no_drop::<T>() };
        let Ok(made) = out_of_line(|| self.try_collect_in_root::<T, E, Infallible>(values));
        made.map(Fresh::lend)
    }

    /// The same in the [root](Arena::root); see [`Scope::try_alloc_slice_try_from_iter`](crate::Scope::try_alloc_slice_try_from_iter).
    #[inline(always)]
    pub fn try_alloc_slice_try_from_iter<T, E>(
        &self,
        values: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<&mut [T], AllocOrInitError<E>> {
        const { assert_no_drop::<T>() };
        let made = out_of_line(|| self.try_collect_in_root::<T, E, AllocError>(values))?;
        made.map(Fresh::lend).map_err(AllocOrInitError::Init)
    }

    /// The same in the [root](Arena::root); see [`Scope::boxed_slice_from_iter`](crate::Scope::boxed_slice_from_iter).
    #[inline(always)]
    pub fn boxed_slice_from_iter<T>(&self, values: impl IntoIterator<Item = T>) -> Box<'_, [T]> {
        let Ok(slice) = out_of_line(|| self.collect_in_root::<T, Infallible>(values));
        Box::of(slice)
    }

    /// The same in the [root](Arena::root); see [`Scope::try_boxed_slice_from_iter`](crate::Scope::try_boxed_slice_from_iter).
    #[inline(always)]
    pub fn try_boxed_slice_from_iter<T>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Box<'_, [T]>, AllocError> {
        out_of_line(|| self.collect_in_root(values)).map(Box::of)
    }

    /// The same in the [root](Arena::root); see [`Scope::alloc_fmt`](crate::Scope::alloc_fmt).
    pub fn alloc_fmt(&self, arguments: fmt::Arguments<'_>) -> &mut str {
        let Ok(made) =
            format_in::<Infallible>(arguments, |bytes| self.open_root_for(text_of(bytes)));
        formatted(made)
    }

    /// The same in the [root](Arena::root); see [`Scope::try_alloc_fmt`](crate::Scope::try_alloc_fmt).
    pub fn try_alloc_fmt(
        &self,
        arguments: fmt::Arguments<'_>,
    ) -> Result<&mut str, AllocOrInitError<fmt::Error>> {
        let made = format_in::<AllocError>(arguments, |bytes| self.open_root_for(text_of(bytes)))?;
        made.map_err(AllocOrInitError::Init)
    }

    /// Collects as many elements in the root as the iterator announces.
    #[inline(always)]
    fn fill_in_root<T, F: Failure>(
        &self,
        values: impl ExactSizeIterator<Item = T>,
    ) -> Result<Fresh<'_, [T]>, F> {
        // Asked once: another answer might be a larger one, and the root may be nowhere if this one
        // needs no memory.
        let len = values.len();
        let root = self.open_root_for::<F>(Need::of::<T>(len))?;
        root.slice_iter_in(len, values)
    }

    /// Collects an iterator in the root.
    #[inline(always)]
    pub(crate) fn collect_in_root<T, F: Failure>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Fresh<'_, [T]>, F> {
        let mut values = values.into_iter();
        if size_of::<T>() == 0 || !self.root_as_is().cursor().is_nowhere() {
            return self.open_root_for::<F>(Need::of::<T>(1))?.slice_collect_in(values);
        }
        let announced = values.size_hint().0;
        let Some(first) = values.next() else {
            return Ok(Fresh::empty());
        };
        let root = self.open_root_for::<F>(elements_of::<T>(announced))?;
        root.slice_collect_after(first, values, announced)
    }

    /// Collects an iterator of results in the root, up to the first error.
    #[inline(always)]
    fn try_collect_in_root<T, E, F: Failure>(
        &self,
        values: impl IntoIterator<Item = Result<T, E>>,
    ) -> Result<Result<Fresh<'_, [T]>, E>, F> {
        let mut values = values.into_iter();
        if size_of::<T>() == 0 || !self.root_as_is().cursor().is_nowhere() {
            return self.open_root_for::<F>(Need::of::<T>(1))?.slice_try_collect_in(values);
        }
        let first = match values.next() {
            None => return Ok(Ok(Fresh::empty())),
            Some(Err(error)) => return Ok(Err(error)),
            Some(Ok(first)) => first,
        };
        let root = self.open_root_for::<F>(elements_of::<T>(1))?;
        root.slice_try_collect_in(iter::once(Ok(first)).chain(values))
    }
}
