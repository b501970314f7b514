//! A reserved slice while its elements are made: what was made is dropped if a panic comes between.

use core::{mem::needs_drop, ptr::NonNull};

/// The initialised beginning of a reserved slice. Dropped unfinished, it drops what it holds.
pub(crate) struct InitGuard<T> {
    start: NonNull<T>,
    len: usize,
}

impl<T> InitGuard<T> {
    /// # Safety
    ///
    /// `start` is reserved for as many `T` as will be pushed, and nobody else's.
    #[inline(always)]
    pub(crate) unsafe fn new(start: NonNull<T>) -> Self {
        InitGuard { start, len: 0 }
    }

    /// # Safety
    ///
    /// The slice was reserved with room for one more.
    #[inline(always)]
    pub(crate) unsafe fn push(&mut self, value: T) {
        // SAFETY: the caller says that there is room for one more.
        let place = unsafe { self.start.add(self.len) };
        // SAFETY: the place is reserved for a `T` and nobody else's.
        unsafe { place.write(value) };
        self.len += 1;
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The guard of the same elements at `start`, where this copies them. This one has none then.
    ///
    /// # Safety
    ///
    /// `start` is reserved for as many `T` as there are and will be pushed, and nobody else's. It
    /// does not overlap the slice that this guards.
    #[cfg(feature = "alloc")]
    pub(crate) unsafe fn moved_to(&mut self, start: NonNull<T>) -> Self {
        let len = core::mem::take(&mut self.len);
        // SAFETY: the first `len` elements are initialised, and `start` has room for as many,
        // elsewhere.
        unsafe { start.copy_from_nonoverlapping(self.start, len) };
        InitGuard { start, len }
    }

    #[inline(always)]
    pub(crate) fn finish(self) -> NonNull<[T]> {
        let slice = NonNull::slice_from_raw_parts(self.start, self.len);
        core::mem::forget(self);
        slice
    }
}

impl<T> Drop for InitGuard<T> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() {
            let elements = NonNull::slice_from_raw_parts(self.start, self.len);
            // SAFETY: the first `len` elements are initialised, and nobody else has them.
            unsafe { elements.drop_in_place() };
        }
    }
}
