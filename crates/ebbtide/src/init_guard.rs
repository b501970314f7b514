//! [`InitGuard`]: drops the initialised elements of a slice if a panic interrupts its creation.

use core::{mem::needs_drop, ptr::NonNull};

/// The initialised prefix of a reserved slice. Drops its elements, unless it is finished before.
pub(crate) struct InitGuard<T> {
    start: NonNull<T>,
    len: usize,
}

impl<T> InitGuard<T> {
    /// # Safety
    ///
    /// `start` is reserved for as many `T` as will be pushed, and used for nothing else.
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
        // SAFETY: the place is reserved for this `T`.
        unsafe { place.write(value) };
        self.len += 1;
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Copies the elements to `start` and returns a guard of them. This guard is empty afterwards.
    ///
    /// # Safety
    ///
    /// `start` is reserved for the elements of this guard and as many as will be pushed, and used
    /// for nothing else. It does not overlap the slice of this guard.
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
            // SAFETY: the first `len` elements are initialised, and no one else owns them.
            unsafe { elements.drop_in_place() };
        }
    }
}
