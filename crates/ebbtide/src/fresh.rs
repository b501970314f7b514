//! [`Fresh`]: a block in a scope that nobody else refers to. The proof that it may be lent.
//!
//! The functions that allocate return one, and the public methods [`lend`](Fresh::lend) it or put
//! it in a [`Box`](crate::boxed::Box). Neither needs unsafe code, because of the invariant F1.

use crate::{arith, error::Failure, prefetch, scope::Scope};
use core::{alloc::Layout, marker::PhantomData, mem::MaybeUninit, ptr::NonNull};

/// An initialised block, not used by anyone else.
///
/// - **F1** The block is aligned for a `T` and contains a valid one. It stays valid for `'a`. No
///   reference to it exists, and nothing else drops its value.
///
/// It has no destructor: one that is not used leaks its value.
pub(crate) struct Fresh<'a, T: ?Sized> {
    block: NonNull<T>,
    memory: PhantomData<&'a ()>,
}

impl<'a, T: ?Sized> Fresh<'a, T> {
    /// # Safety
    ///
    /// F1 holds for the block.
    #[inline(always)]
    pub(crate) const unsafe fn new(block: NonNull<T>) -> Self {
        Fresh { block, memory: PhantomData }
    }

    /// Converts to the reference that a method returns.
    #[inline(always)]
    pub(crate) fn lend(self) -> &'a mut T {
        // SAFETY: F1: aligned, initialised, valid for `'a`, and no other reference to it exists.
        unsafe { &mut *self.block.as_ptr() }
    }

    #[inline(always)]
    pub(crate) fn into_raw(self) -> NonNull<T> {
        self.block
    }

    #[inline(always)]
    pub(crate) fn as_mut(&mut self) -> &mut T {
        // SAFETY: F1: aligned and initialised. The reference borrows the only handle.
        unsafe { self.block.as_mut() }
    }
}

impl<'a, T> Fresh<'a, MaybeUninit<T>> {
    /// Writes the result of `make` directly to the block.
    #[inline(always)]
    pub(crate) fn write_with(self, make: impl FnOnce() -> T) -> Fresh<'a, T> {
        // SAFETY: F1: the block is aligned and large enough, and `make` cannot access it.
        unsafe { self.block.cast::<T>().write(make()) };
        // SAFETY: F1 for the `MaybeUninit`, and the value was written just now.
        unsafe { self.assume_init() }
    }

    /// # Safety
    ///
    /// The block contains a valid `T`.
    #[inline(always)]
    pub(crate) unsafe fn assume_init(self) -> Fresh<'a, T> {
        // SAFETY: F1 for the `MaybeUninit`: aligned, valid for `'a`, nobody else's; it is
        // initialised by this function's contract.
        unsafe { Fresh::new(self.block.cast()) }
    }

    /// Sets all bytes to zero.
    #[inline(always)]
    pub(crate) fn zeroed(self) -> Self {
        // SAFETY: F1: the room for one `T` is valid for writes.
        unsafe { self.block.write_bytes(0, 1) };
        self
    }
}

impl<'a, T, const N: usize> Fresh<'a, MaybeUninit<[T; N]>> {
    /// The room of an array, for its elements.
    #[inline(always)]
    pub(crate) fn into_slice(self) -> Fresh<'a, [MaybeUninit<T>]> {
        // SAFETY: F1: the block has room for `N` elements, which need no initialisation.
        unsafe { Fresh::new(NonNull::slice_from_raw_parts(self.block.cast(), N)) }
    }
}

impl<'a, T> Fresh<'a, [MaybeUninit<T>]> {
    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<T> {
        self.block.cast()
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.block.len()
    }

    /// # Safety
    ///
    /// All elements are initialised.
    #[inline(always)]
    pub(crate) unsafe fn assume_init(self) -> Fresh<'a, [T]> {
        // SAFETY: F1 for the room: aligned, valid for `'a`, nobody else's; all elements are
        // initialised by this function's contract.
        unsafe { Fresh::new(NonNull::slice_from_raw_parts(self.start(), self.len())) }
    }

    /// Sets all bytes to zero.
    #[inline(always)]
    pub(crate) fn zeroed(self) -> Self {
        // SAFETY: F1: the room for this many elements is valid for writes.
        unsafe { self.start().write_bytes(0, self.len()) };
        self
    }
}

impl<T> Fresh<'_, [T]> {
    /// No elements, which need no memory.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        Fresh { block: NonNull::<[T; 0]>::dangling(), memory: PhantomData }
    }
}

impl<'a> Fresh<'a, [u8]> {
    /// # Safety
    ///
    /// The bytes are valid UTF-8.
    #[inline(always)]
    pub(crate) unsafe fn assume_utf8(self) -> Fresh<'a, str> {
        // SAFETY: the bytes are valid UTF-8, the only clause, by this function's contract.
        Fresh::from(unsafe { core::str::from_utf8_unchecked_mut(self.lend()) })
    }
}

/// A string needs no `Drop`, so an exclusive reference to one can be given up.
impl<'a> From<&'a mut str> for Fresh<'a, str> {
    #[inline(always)]
    fn from(text: &'a mut str) -> Self {
        Fresh { block: NonNull::from(text), memory: PhantomData }
    }
}

impl<'a> Scope<'a> {
    /// Moves `value` into a block. On failure it is dropped.
    #[inline(always)]
    pub(crate) fn place<T, F: Failure>(&self, value: T) -> Result<Fresh<'a, T>, F> {
        let block = self.cursor().place(value)?;
        // SAFETY: F1: `place` wrote the value to a new block, which lives for `'a` (I2).
        Ok(unsafe { Fresh::new(block) })
    }

    /// A block for a `T`.
    #[inline(always)]
    pub(crate) fn reserve_value<T, F: Failure>(&self) -> Result<Fresh<'a, MaybeUninit<T>>, F> {
        let block = self.cursor().reserve_type::<MaybeUninit<T>, F>()?;
        // SAFETY: F1: a new block, which lives for `'a` (I2). A `MaybeUninit` needs no
        // initialisation.
        Ok(unsafe { Fresh::new(block) })
    }

    /// A block for a `T` with a larger alignment.
    ///
    /// # Errors
    ///
    /// If there is no memory, or `align` is not a power of two.
    #[inline]
    pub(crate) fn reserve_aligned<T, F: Failure>(
        &self,
        align: usize,
    ) -> Result<Fresh<'a, MaybeUninit<T>>, F> {
        let layout = aligned::<F>(Layout::new::<T>(), align)?;
        let block = self.cursor().reserve_layout::<F>(layout)?.cast();
        // SAFETY: F1: a new block with at least the layout of a `T`, which lives for `'a` (I2).
        Ok(unsafe { Fresh::new(block) })
    }

    /// A block for `len` elements with a larger alignment.
    ///
    /// # Errors
    ///
    /// If there is no memory, the layout is too large, or `align` is not a power of two.
    #[inline]
    pub(crate) fn reserve_slice_aligned<T, F: Failure>(
        &self,
        len: usize,
        align: usize,
    ) -> Result<Fresh<'a, [MaybeUninit<T>]>, F> {
        let Ok(layout) = Layout::array::<T>(len) else {
            return Err(F::too_large());
        };
        let block = self.cursor().reserve_layout::<F>(aligned::<F>(layout, align)?)?;
        // SAFETY: F1: a new block with at least the layout of the slice, which lives for `'a` (I2).
        Ok(unsafe { Fresh::new(NonNull::slice_from_raw_parts(block.cast(), len)) })
    }

    /// A block for `len` elements.
    #[inline(always)]
    pub(crate) fn reserve_slice<T, F: Failure>(
        &self,
        len: usize,
    ) -> Result<Fresh<'a, [MaybeUninit<T>]>, F> {
        let block = if is_without_bytes::<T>(len) {
            NonNull::dangling()
        } else {
            let Ok(layout) = Layout::array::<T>(len) else {
                return Err(F::too_large());
            };
            // SAFETY: the layout is that of an array, so its size is a multiple of its alignment.
            let block = unsafe { self.cursor().reserve_array::<F>(layout)? };
            prefetch::below_block(block, layout.size(), || {
                self.cursor().used_above(block.addr().get())
            });
            block.cast()
        };
        // SAFETY: F1: a new block for `len` elements, which lives for `'a` (I2), or elements that take
        // no bytes.
        Ok(unsafe { Fresh::new(NonNull::slice_from_raw_parts(block, len)) })
    }

    /// A block with a copy of the elements.
    ///
    /// # Safety
    ///
    /// The elements are `Copy`, or the originals are neither used nor dropped after a success.
    #[inline(always)]
    pub(crate) unsafe fn duplicate<T, F: Failure>(
        &self,
        values: &[T],
    ) -> Result<Fresh<'a, [T]>, F> {
        let block = if is_without_bytes::<T>(values.len()) {
            NonNull::dangling()
        } else {
            // SAFETY: the size of an existing slice is at most `isize::MAX`, and a multiple of the
            // alignment, so rounding up does not exceed `isize::MAX` either.
            let layout =
                unsafe { Layout::from_size_align_unchecked(size_of_val(values), align_of::<T>()) };
            // SAFETY: the slice has `layout.size()` bytes, a multiple of its alignment.
            unsafe { self.cursor().duplicate::<F>(NonNull::from(values).cast(), layout)? }.cast()
        };
        // SAFETY: F1: a new block with all the elements, which lives for `'a` (I2). By this
        // function's contract, they are `Copy`, or the originals are neither used nor dropped.
        Ok(unsafe { Fresh::new(NonNull::slice_from_raw_parts(block, values.len())) })
    }
}

/// Whether a slice is served without the cursor. If the elements have a size, no elements fit in any
/// cursor, even in that of a root that is nowhere, unless their alignment is larger than its `top`.
#[inline(always)]
const fn is_without_bytes<T>(len: usize) -> bool {
    size_of::<T>() == 0 || align_of::<T>() > arith::SMALL && len == 0
}

/// `layout` with a larger alignment.
///
/// # Errors
///
/// If `align` is not a power of two, or the layout would be too large.
#[inline]
fn aligned<F: Failure>(layout: Layout, align: usize) -> Result<Layout, F> {
    if !align.is_power_of_two() {
        return Err(F::bad_alignment(align));
    }
    layout.align_to(align).map_err(|_| F::too_large())
}
