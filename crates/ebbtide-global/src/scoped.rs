//! The global allocator.

use crate::{
    engine::Owner,
    region::{self, Place},
    thread,
};
use core::alloc::{GlobalAlloc, Layout};

/// A global allocator in which [`arena`](crate::arena) opens scopes.
///
/// Outside of scopes every request goes to the inner allocator, as do the requests that a scope does not serve. Whose a
/// block is shows in its address, so a block may be freed or resized inside a scope or outside of it, by any thread.
///
/// ```
/// use ebbtide_global::{Scoped, arena};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// let longest = arena(|| {
///     let words: Vec<String> = "the longest word".split(' ').map(String::from).collect();
///     words.into_iter().max_by_key(String::len)
/// });
/// assert_eq!(longest.unwrap(), "longest");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Scoped<A> {
    inner: A,
}

impl<A> Scoped<A> {
    /// A global allocator over another: `std::alloc::System`, mimalloc, jemalloc.
    #[must_use]
    pub const fn new(inner: A) -> Self {
        Scoped { inner }
    }

    /// The allocator beneath.
    pub const fn inner(&self) -> &A {
        &self.inner
    }
}

// SAFETY: blocks are the inner allocator's, which keeps the contract, or the engine's: G1 to G9 say that those are
// aligned, as large as asked, and their bytes in no other block until they are freed. A block goes back to whom it came from,
// with the layout it was asked for. Nothing unwinds: the engine calls no code of others, and panics at no place but
// its debug assertions, which abort.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Scoped<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        thread::with(|owner| {
            if owner.has_scope() {
                // SAFETY: passed on.
                owner.alloc_or(layout, || unsafe { aligned(layout.size(), layout.align(), self) })
            } else {
                // SAFETY: passed on.
                unsafe { self.inner.alloc(layout) }
            }
        })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller says that the block is alive.
        match unsafe { region::find(block) } {
            // SAFETY: passed on; the range is the engine's, so the block is.
            Some(place) => unsafe { thread::free::<A>(block, layout.size(), place) },
            // SAFETY: passed on; the block is not the engine's, so the inner allocator gave it.
            None => unsafe { self.inner.dealloc(block, layout) },
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if thread::with(Owner::is_open) {
            // SAFETY: passed on.
            unsafe { zeroed(layout.size(), layout.align(), self) }
        } else {
            // SAFETY: passed on.
            unsafe { self.inner.alloc_zeroed(layout) }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller says that the block is alive.
        match unsafe { region::find(block) } {
            Some(place) => {
                let (size, align) = (layout.size(), layout.align());
                // SAFETY: passed on; the range is the engine's, so the block is.
                let slow = || unsafe { resize(block, size, align, new_size, place, self) };
                // SAFETY: as above.
                thread::with(|owner| unsafe { owner.resize_or(block, size, new_size, slow) })
            }
            // It stays with the inner allocator, scope or not.
            // SAFETY: passed on; the block is not the engine's, so the inner allocator gave it.
            None => unsafe { self.inner.realloc(block, layout, new_size) },
        }
    }
}

// Parts of the calls above, out of line, so that what is left of them needs no frame. They take their arguments in
// the order in which the calls do: then the calls move none about before they jump here, or to the inner allocator.

/// # Safety
///
/// As [`GlobalAlloc::alloc`], for the layout of this size and alignment.
#[cold]
#[inline(never)]
unsafe fn aligned<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: passed on.
    thread::with(|owner| owner.alloc_aligned_or(layout, || unsafe { listed(size, align, scoped) }))
}

/// # Safety
///
/// As [`GlobalAlloc::alloc`], for the layout of this size and alignment.
#[inline(never)]
unsafe fn listed<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: passed on.
    thread::with(|owner| owner.alloc_listed_or(layout, || unsafe { slow(size, align, scoped) }))
}

/// # Safety
///
/// As [`GlobalAlloc::alloc`], for the layout of this size and alignment.
#[inline(never)]
unsafe fn slow<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    if thread::with(Owner::is_open) {
        let block = thread::with(|owner| owner.alloc_slow(layout));
        if !block.is_null() {
            return block;
        }
    }
    // SAFETY: passed on.
    unsafe { scoped.inner.alloc(layout) }
}

/// # Safety
///
/// As [`GlobalAlloc::alloc_zeroed`], for the layout of this size and alignment.
#[inline(never)]
unsafe fn zeroed<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    let block = thread::with(|owner| owner.alloc_zeroed(layout));
    if !block.is_null() {
        return block;
    }
    // SAFETY: passed on.
    unsafe { scoped.inner.alloc_zeroed(layout) }
}

/// # Safety
///
/// As [`GlobalAlloc::realloc`], for a block of the engine's at `place` whose layout has this size and alignment.
#[inline(never)]
unsafe fn resize<A: GlobalAlloc>(
    block: *mut u8,
    size: usize,
    align: usize,
    new_size: usize,
    place: Place,
    scoped: &Scoped<A>,
) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    thread::with(|owner| {
        // SAFETY: passed on.
        let resized = unsafe { owner.resize(place, block, layout, new_size) };
        if !resized.is_null() {
            return resized;
        }
        // SAFETY: the caller says that the size is not too large for the alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, align) };
        // SAFETY: the new size is not 0.
        let new = unsafe { scoped.inner.alloc(new_layout) };
        if new.is_null() {
            // What shrinks may stay: to shrink never fails.
            return if new_size <= size { block } else { new };
        }
        // SAFETY: both have so many bytes, and the new block is nobody else's.
        unsafe { new.copy_from_nonoverlapping(block, size.min(new_size)) };
        // SAFETY: passed on; the old block is used no more.
        unsafe { owner.free(place, block, size) };
        new
    })
}
