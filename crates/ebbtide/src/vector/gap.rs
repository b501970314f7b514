//! The loops that remove elements of a vector: [`Gap`] and the methods that use it.
//!
//! The invariants V1 and V2 are those of [`elements`](super::elements).

use super::elements::{Elements, Length};

impl<T, L: Length> Elements<T, L> {
    /// Keeps the elements for which `keep` returns true, in their order.
    #[inline]
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        let len = self.len();
        let mut gap = Gap::begin(self, 0);
        // Before the first removed element, nothing has to move.
        while gap.next < len {
            // SAFETY: `next < len`, and the reference of the last round is not used any more.
            if !keep(unsafe { gap.next() }) {
                // SAFETY: `next` was just examined.
                unsafe { gap.remove_next() };
                break;
            }
            gap.next += 1;
            gap.kept += 1;
        }
        while gap.next < len {
            // SAFETY: `next < len`, and the reference of the last round is not used any more.
            let keeps = keep(unsafe { gap.next() });
            if keeps {
                // SAFETY: `kept < next < len`, because one was removed.
                unsafe { gap.keep_next() };
            } else {
                // SAFETY: `next` was just examined.
                unsafe { gap.remove_next() };
            }
        }
    }

    /// Removes each element for which `same` returns true. Its arguments are the element and the
    /// last one that was kept.
    #[inline]
    pub(crate) fn dedup_by(&mut self, mut same: impl FnMut(&mut T, &mut T) -> bool) {
        let len = self.len();
        if len < 2 {
            return;
        }
        let mut gap = Gap::begin(self, 1);
        // Before the first removed element, nothing has to move.
        while gap.next < len {
            // SAFETY: initialised, because `next` is at least 1, and no other reference exists.
            let last = unsafe { gap.elements.element(gap.next - 1) };
            // SAFETY: below `len`, and a different element.
            if same(unsafe { gap.next() }, last) {
                // SAFETY: `next` was just examined.
                unsafe { gap.remove_next() };
                break;
            }
            gap.next += 1;
            gap.kept += 1;
        }
        while gap.next < len {
            // SAFETY: initialised, because `kept` is at least 1, and no other reference exists.
            let last = unsafe { gap.elements.element(gap.kept - 1) };
            // SAFETY: below `len`, and a different element, since `kept < next`.
            if same(unsafe { gap.next() }, last) {
                // SAFETY: `next` was just examined.
                unsafe { gap.remove_next() };
            } else {
                // SAFETY: `kept < next < len`, because one was removed.
                unsafe { gap.keep_next() };
            }
        }
    }
}

/// The state of a loop that removes some of `len` elements. The first `kept` are kept, those from
/// `next` on were not examined yet, and the places between are the gap. The vector's length is 0
/// meanwhile. Dropping this closes the gap and sets the length, even after a panic.
pub(super) struct Gap<'e, T, L: Length> {
    pub(super) elements: &'e mut Elements<T, L>,
    pub(super) kept: usize,
    pub(super) next: usize,
    len: usize,
}

impl<'e, T, L: Length> Gap<'e, T, L> {
    /// No element is counted while user code may panic. The first `kept`, at most the length, are
    /// kept anyway.
    #[inline(always)]
    pub(super) fn begin(elements: &'e mut Elements<T, L>, kept: usize) -> Self {
        let len = elements.len();
        debug_assert!(kept <= len, "V1");
        elements.uncount_all();
        Gap { elements, kept, next: kept, len }
    }

    /// The next element.
    ///
    /// # Safety
    ///
    /// `next < len`, and no other reference to the element exists during `'r`.
    #[inline(always)]
    pub(super) unsafe fn next<'r>(&mut self) -> &'r mut T {
        debug_assert!(self.next < self.len, "there is one");
        // SAFETY: by this function's contract, `next < len`; the element was not examined yet, so
        // it is initialised, and no other reference exists.
        unsafe { self.elements.element(self.next) }
    }

    /// Drops the next element.
    ///
    /// # Safety
    ///
    /// `next < len`.
    #[inline(always)]
    unsafe fn remove_next(&mut self) {
        self.next += 1;
        // SAFETY: the contract of this function gives `next < len`, so the place was initialised;
        // it counts as removed, so nothing uses it again.
        let removed = unsafe { self.elements.element(self.next - 1) };
        // SAFETY: the reference is to a valid element, which nothing reads or drops again.
        unsafe { core::ptr::drop_in_place(removed) };
    }

    /// Keeps the next element: moves it to the start of the gap.
    ///
    /// # Safety
    ///
    /// `kept < next < len`.
    #[inline(always)]
    unsafe fn keep_next(&mut self) {
        debug_assert!(self.kept < self.next && self.next < self.len, "there is a gap");
        // SAFETY: by this function's contract, `next < len`, which is at most the capacity.
        let from = unsafe { self.elements.place(self.next) };
        // SAFETY: by this function's contract, `kept < next < len`, which is at most the capacity.
        let to = unsafe { self.elements.place(self.kept) };
        // SAFETY: an element moves to a place whose element is gone or has moved.
        unsafe { from.copy_to_nonoverlapping(to, 1) };
        self.next += 1;
        self.kept += 1;
    }
}

impl<T, L: Length> Drop for Gap<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        debug_assert!(
            self.kept <= self.next && self.next <= self.len,
            "a gap, perhaps an empty one"
        );
        let left = self.len - self.next;
        if left > 0 && self.kept < self.next {
            // SAFETY: `left` elements move to places whose elements are gone or move as well.
            unsafe { self.elements.shift(self.next, self.kept, left) };
        }
        // SAFETY: the elements that were kept, and those that were not examined yet.
        unsafe { self.elements.set_len(self.kept + left) };
    }
}
