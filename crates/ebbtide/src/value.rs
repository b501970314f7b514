//! Methods that allocate one value.

use crate::{
    error::{AllocError, AllocOrInitError, Failure},
    fresh::Fresh,
    scope::Scope,
};
use core::{
    alloc::Layout,
    convert::Infallible,
    mem::{MaybeUninit, needs_drop},
    ptr::NonNull,
};

/// Rejects, when code is generated, a type whose destructor would not run.
///
/// Every public function evaluates it itself, even if it calls another one that does: the last note
/// of the compiler's error shows the caller of the innermost function that evaluates it.
pub(crate) const fn assert_no_drop<T>() {
    assert!(
        !needs_drop::<T>(),
        "this type needs `Drop`, which a scope's end does not run: store `&'a str` from `Scope::alloc_str` \
         instead of a `String`, and `&'a [T]` instead of a `Vec<T>`, or use `Scope::boxed` or a \
         `DropArena`, which run it, or `Scope::alloc_leaked`, which does without"
    );
}

/// Types for which all-zero bytes are a valid value.
///
/// # Safety
///
/// Zeroed memory of the type's size and alignment must be a valid value of the type.
///
/// ```
/// use ebbtide::{Arena, Zeroable};
///
/// #[derive(Debug, PartialEq)]
/// struct Point(f32, f32);
/// // SAFETY: zeros are valid numbers.
/// unsafe impl Zeroable for Point {}
///
/// let mut arena = Arena::new();
/// assert_eq!(arena.scope().alloc_zeroed_slice::<Point>(2), [Point(0.0, 0.0), Point(0.0, 0.0)]);
/// ```
pub unsafe trait Zeroable {}

/// Implements [`Zeroable`](crate::Zeroable) for a struct, all of whose fields implement it.
///
/// List the type and all of its fields. The compiler checks that none is missing and that each is
/// `Zeroable`, so this is safe. (Crates that forbid unsafe code cannot use it, because the
/// implementation itself is unsafe.)
///
/// ```
/// use ebbtide::zeroable;
///
/// #[derive(Debug, PartialEq)]
/// struct Pixel { rgb: [u8; 3], alpha: f32 }
/// zeroable!(Pixel { rgb, alpha });
///
/// let mut arena = ebbtide::Arena::new();
/// let s = arena.scope();
/// assert_eq!(*s.alloc_zeroed::<Pixel>(), Pixel { rgb: [0; 3], alpha: 0.0 });
/// ```
#[macro_export]
macro_rules! zeroable {
    ($name:ident { $($field:ident),* $(,)? }) => {
        const _: () = {
            fn every_field_is_zeroable(value: &$name) {
                fn is_zeroable<T: $crate::Zeroable>(_: &T) {}
                // Not `$name { $field }`, in which a constant of that name would be compared
                // instead of the field.
                let $name { $($field: _),* } = value;
                $(is_zeroable(&value.$field);)*
            }
        };
        // SAFETY: the function above compiles, so this is a struct whose fields are all `Zeroable`:
        // the pattern names them all, and safe code borrows no field of a union. Bytes between them
        // have any value.
        unsafe impl $crate::Zeroable for $name {}
    };
}

macro_rules! zero_is_a_value {
    ($($type:ty),*) => {
        $(
            // SAFETY: all-zero bytes are the number 0, `false`, `'\0'` or a null pointer.
            unsafe impl Zeroable for $type {}
        )*
    };
}
zero_is_a_value!(
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    f32,
    f64,
    bool,
    char,
    ()
);

// SAFETY: a thin raw pointer may be null.
unsafe impl<T> Zeroable for *const T {}
// SAFETY: a thin raw pointer may be null.
unsafe impl<T> Zeroable for *mut T {}
// SAFETY: the language guarantees that null is `None` of an optional reference.
unsafe impl<T> Zeroable for Option<&T> {}
// SAFETY: the library guarantees that null is `None` of an optional `NonNull`.
unsafe impl<T> Zeroable for Option<NonNull<T>> {}
// SAFETY: any bytes are a valid value.
unsafe impl<T> Zeroable for MaybeUninit<T> {}
// SAFETY: an array consists of its elements, without padding between them.
unsafe impl<T: Zeroable, const N: usize> Zeroable for [T; N] {}

impl<'a> Scope<'a> {
    /// Moves `value` into the scope. The fast path is eight instructions for a `u64`.
    ///
    /// A type that needs `Drop` is rejected at compile time: see
    /// [Destructors](Scope#destructors).
    ///
    /// # Panics
    ///
    /// Never. If there is no memory, calls `handle_alloc_error`, like all methods without `try_`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let point = s.alloc((3, 4));
    /// point.0 = 5;
    /// assert_eq!(*point, (5, 4));
    /// ```
    #[inline(always)]
    pub fn alloc<T>(&self, value: T) -> &'a mut T {
        const { assert_no_drop::<T>() };
        self.alloc_leaked(value)
    }

    /// Fallible version of [`alloc`](Scope::alloc).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, like all methods with `try_`. The value is dropped.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc([0u8; 16]).is_ok());
    /// assert!(s.try_alloc(0u8).is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc<T>(&self, value: T) -> Result<&'a mut T, AllocError> {
        const { assert_no_drop::<T>() };
        self.try_alloc_leaked(value)
    }

    /// Like [`alloc`](Scope::alloc), but accepts types that need `Drop`. The memory is reclaimed
    /// with the scope, but the destructor never runs: anything the value owns elsewhere leaks.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let name = s.alloc_leaked(String::from("kept as long as the program"));
    /// assert_eq!(name.len(), 27);
    /// # drop(std::mem::take(name));
    /// ```
    #[inline(always)]
    pub fn alloc_leaked<T>(&self, value: T) -> &'a mut T {
        let Ok(value) = self.alloc_in::<T, Infallible>(value);
        value
    }

    /// Fallible version of [`alloc_leaked`](Scope::alloc_leaked).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; the value is dropped.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_leaked([0u8; 16]).is_ok());
    /// assert!(s.try_alloc_leaked(0u8).is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_leaked<T>(&self, value: T) -> Result<&'a mut T, AllocError> {
        self.alloc_in(value)
    }

    #[inline(always)]
    fn alloc_in<T, F: Failure>(&self, value: T) -> Result<&'a mut T, F> {
        self.place(value).map(Fresh::lend)
    }

    /// Creates a value in place: reserves the block, and then writes the result of `make` to it.
    /// `make` may allocate from the same scope.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let big = s.alloc_with(|| [7u8; 4000]);
    /// assert_eq!(big[3999], 7);
    /// ```
    #[inline(always)]
    pub fn alloc_with<T>(&self, make: impl FnOnce() -> T) -> &'a mut T {
        const { assert_no_drop::<T>() };
        let Ok(value) = self.alloc_with_in::<T, Infallible>(make);
        value
    }

    /// Fallible version of [`alloc_with`](Scope::alloc_with).
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
    /// assert!(s.try_alloc_with(|| [0u8; 16]).is_ok());
    /// assert!(s.try_alloc_with(|| 0u8).is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_with<T>(&self, make: impl FnOnce() -> T) -> Result<&'a mut T, AllocError> {
        const { assert_no_drop::<T>() };
        self.alloc_with_in(make)
    }

    #[inline(always)]
    fn alloc_with_in<T, F: Failure>(&self, make: impl FnOnce() -> T) -> Result<&'a mut T, F> {
        Ok(self.reserve_value::<T, F>()?.write_with(make).lend())
    }

    /// Like [`alloc_with`](Scope::alloc_with), but `make` may fail. Its block is then free again at
    /// once, unless `make` allocated from the same scope.
    ///
    /// # Errors
    ///
    /// The error that `make` returned.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let parsed = s.alloc_try_with(|| "12".parse::<u32>());
    /// assert_eq!(parsed, Ok(&mut 12));
    /// assert!(s.alloc_try_with(|| "x".parse::<u32>()).is_err());
    /// ```
    #[inline(always)]
    pub fn alloc_try_with<T, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&'a mut T, E> {
        const { assert_no_drop::<T>() };
        let Ok(made) = self.alloc_try_with_in::<T, E, Infallible>(make);
        made
    }

    /// Fallible version of [`alloc_try_with`](Scope::alloc_try_with).
    ///
    /// # Errors
    ///
    /// [`AllocOrInitError`]: there is no memory, or the error that `make` returned.
    ///
    /// # Panics
    ///
    /// If `make` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// use ebbtide::{AllocError, AllocOrInitError};
    /// let parse = |text: &str| s.try_alloc_try_with(|| text.parse::<u128>().map_err(drop)).map(|n| *n);
    /// assert_eq!(parse("x"), Err(AllocOrInitError::Init(())));
    /// # let mut small = ebbtide::StackArena::<8>::new();
    /// # let s = small.scope();
    /// let full = s.try_alloc_try_with(|| Ok::<_, ()>([0u8; 9]));
    /// assert_eq!(full, Err(AllocOrInitError::Alloc(AllocError)));
    /// ```
    #[inline(always)]
    pub fn try_alloc_try_with<T, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&'a mut T, AllocOrInitError<E>> {
        const { assert_no_drop::<T>() };
        self.alloc_try_with_in::<T, E, AllocError>(make)?.map_err(AllocOrInitError::Init)
    }

    #[inline(always)]
    pub(crate) fn alloc_try_with_in<T, E, F: Failure>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<&'a mut T, E>, F> {
        if size_of::<T>() == 0 {
            // Takes no memory that an error could give back, and the root of an arena without a chunk
            // has no position.
            let block = self.reserve_value::<T, F>()?;
            return Ok(make().map(|value| block.write_with(|| value).lend()));
        }
        let before = self.cursor().position();
        let block = self.reserve_value::<T, F>()?;
        let reserved = self.cursor().position();
        match make() {
            Ok(value) => Ok(Ok(block.write_with(|| value).lend())),
            Err(error) => {
                if self.cursor().position() == reserved {
                    // SAFETY: nothing was allocated after the block, to which no reference exists.
                    unsafe { self.cursor().restore(before) };
                }
                Ok(Err(error))
            }
        }
    }

    /// Reserves room for a `T`, to be initialised by the caller.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let n: &mut u32 = s.alloc_uninit().write(5);
    /// assert_eq!(*n, 5);
    /// ```
    #[inline(always)]
    pub fn alloc_uninit<T>(&self) -> &'a mut MaybeUninit<T> {
        let Ok(room) = self.alloc_uninit_in::<T, Infallible>();
        room
    }

    /// Fallible version of [`alloc_uninit`](Scope::alloc_uninit).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_uninit::<[u8; 16]>().is_ok());
    /// assert!(s.try_alloc_uninit::<u8>().is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_uninit<T>(&self) -> Result<&'a mut MaybeUninit<T>, AllocError> {
        self.alloc_uninit_in()
    }

    #[inline(always)]
    pub(crate) fn alloc_uninit_in<T, F: Failure>(&self) -> Result<&'a mut MaybeUninit<T>, F> {
        self.reserve_value::<T, F>().map(Fresh::lend)
    }

    /// Allocates the default value of a type, and makes it in place.
    ///
    /// # Panics
    ///
    /// If `default` panics.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_default::<(u8, Option<char>)>(), &(0, None));
    /// ```
    #[inline(always)]
    pub fn alloc_default<T: Default>(&self) -> &'a mut T {
        self.alloc_with(T::default)
    }

    /// Fallible version of [`alloc_default`](Scope::alloc_default).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; no value was made.
    ///
    /// # Panics
    ///
    /// If `default` panics.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_default::<[u8; 16]>().is_ok());
    /// assert!(s.try_alloc_default::<u8>().is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_default<T: Default>(&self) -> Result<&'a mut T, AllocError> {
        self.try_alloc_with(T::default)
    }

    /// Allocates a value with all-zero bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert_eq!(s.alloc_zeroed::<[u32; 4]>(), &[0; 4]);
    /// ```
    #[inline(always)]
    pub fn alloc_zeroed<T: Zeroable>(&self) -> &'a mut T {
        const { assert_no_drop::<T>() };
        let Ok(value) = self.alloc_zeroed_in::<T, Infallible>();
        value
    }

    /// Fallible version of [`alloc_zeroed`](Scope::alloc_zeroed).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_zeroed::<[u8; 16]>().is_ok());
    /// assert!(s.try_alloc_zeroed::<u8>().is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_zeroed<T: Zeroable>(&self) -> Result<&'a mut T, AllocError> {
        const { assert_no_drop::<T>() };
        self.alloc_zeroed_in()
    }

    #[inline(always)]
    pub(crate) fn alloc_zeroed_in<T: Zeroable, F: Failure>(&self) -> Result<&'a mut T, F> {
        let block = self.reserve_value::<T, F>()?.zeroed();
        // SAFETY: all-zero bytes are a valid `Zeroable`.
        Ok(unsafe { block.assume_init() }.lend())
    }

    /// Moves `value` into the scope, to an address that is a multiple of `align`, or of the type's
    /// own alignment if that is greater.
    ///
    /// # Panics
    ///
    /// If `align` is not a power of two, or if the size rounded up to it exceeds `isize::MAX`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let line = s.alloc_aligned([0u8; 64], 64);
    /// assert_eq!(line.as_ptr().addr() % 64, 0);
    /// ```
    #[inline]
    pub fn alloc_aligned<T>(&self, value: T, align: usize) -> &'a mut T {
        const { assert_no_drop::<T>() };
        let Ok(value) = self.alloc_aligned_in::<T, Infallible>(value, align);
        value
    }

    /// Fallible version of [`alloc_aligned`](Scope::alloc_aligned).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory, and also if `align` is not a power of two or the size
    /// rounded up to it exceeds `isize::MAX`.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_alloc_aligned([0u8; 17], 64).is_err());
    /// ```
    #[inline]
    pub fn try_alloc_aligned<T>(&self, value: T, align: usize) -> Result<&'a mut T, AllocError> {
        const { assert_no_drop::<T>() };
        self.alloc_aligned_in(value, align)
    }

    #[inline]
    pub(crate) fn alloc_aligned_in<T, F: Failure>(
        &self,
        value: T,
        align: usize,
    ) -> Result<&'a mut T, F> {
        Ok(self.reserve_aligned::<T, F>(align)?.write_with(|| value).lend())
    }

    /// Allocates an uninitialised block of `layout`, which lives for `'a`.
    ///
    /// ```
    /// # use core::alloc::Layout;
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let block = s.alloc_layout(Layout::from_size_align(100, 32).unwrap());
    /// assert_eq!(block.addr().get() % 32, 0);
    /// ```
    #[inline(always)]
    pub fn alloc_layout(&self, layout: Layout) -> NonNull<u8> {
        let Ok(block) = self.cursor().reserve_layout::<Infallible>(layout);
        block
    }

    /// Fallible version of [`alloc_layout`](Scope::alloc_layout).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// use std::alloc::Layout;
    /// assert!(s.try_alloc_layout(Layout::new::<[u8; 16]>()).is_ok());
    /// assert!(s.try_alloc_layout(Layout::new::<u8>()).is_err());
    /// ```
    #[inline(always)]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocError> {
        self.cursor().reserve_layout(layout)
    }
}
