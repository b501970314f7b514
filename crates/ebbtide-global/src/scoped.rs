//! The global allocator.

use crate::{
    owner::Owner,
    run::{self, Place},
    thread,
};
use core::alloc::{GlobalAlloc, Layout};

/// A global allocator in which [`arena`](crate::arena) opens scopes.
///
/// Outside of scopes every request goes to the inner allocator, as do the requests that a scope
/// does not serve. The address of a block tells which of the two served it, so a block may be freed
/// or resized inside a scope or outside of it, by any thread.
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

// SAFETY: blocks are the inner allocator's, which keeps the contract, or the engine's: G1 to G9 say
// that those are aligned, as large as asked, and their bytes in no other block until they are
// freed. A block goes back to where it came from, with the layout it was requested with. Nothing
// unwinds: the engine calls no code of others, and its debug assertions abort.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Scoped<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        thread::with(|owner| {
            if owner.has_scope() {
                // SAFETY: the layout is the caller's, and has a size.
                owner.alloc_or(layout, || unsafe { aligned(layout.size(), layout.align(), self) })
            } else {
                // SAFETY: the layout is the caller's, and has a size.
                unsafe { self.inner.alloc(layout) }
            }
        })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller says that the block is alive.
        match unsafe { run::find(block) } {
            // SAFETY: the range is the engine's, so the block is; it has this size, and the caller
            // uses it no more.
            Some(place) => unsafe { thread::free::<A>(block, layout.size(), place) },
            // SAFETY: the block is not the engine's, so the inner allocator gave it, for this
            // layout.
            None => unsafe { self.inner.dealloc(block, layout) },
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if thread::with(Owner::has_scope) {
            // SAFETY: the layout is the caller's, and has a size.
            unsafe { zeroed(layout.size(), layout.align(), self) }
        } else {
            // SAFETY: the layout is the caller's, and has a size.
            unsafe { self.inner.alloc_zeroed(layout) }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller says that the block is alive.
        match unsafe { run::find(block) } {
            Some(place) => {
                let (size, align) = (layout.size(), layout.align());
                // SAFETY: the range is the engine's, so the block is; the caller keeps the contract
                // of `realloc`.
                let slow = || unsafe { resize(block, size, align, new_size, place, self) };
                // SAFETY: the block is the engine's, and alive with this size.
                thread::with(|owner| unsafe { owner.resize_or(block, size, new_size, slow) })
            }
            // It stays with the inner allocator, scope or not. SAFETY: the block is not the
            // engine's, so the inner allocator gave it, for this layout.
            None => unsafe { self.inner.realloc(block, layout, new_size) },
        }
    }
}

// The slow parts of the calls above, out of line, so that the fast parts need no frame. They take
// their arguments in the order in which the calls do, so that the calls need not move them before
// they jump here or to the inner allocator.

/// Serves small blocks of any alignment.
///
/// # Safety
///
/// Size and alignment are those of a layout, and the size is not 0.
#[cold]
#[inline(never)]
unsafe fn aligned<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller's size and alignment.
    thread::with(|owner| owner.alloc_aligned_or(layout, || unsafe { listed(size, align, scoped) }))
}

/// Serves small blocks from free lists.
///
/// # Safety
///
/// Size and alignment are those of a layout, and the size is not 0.
#[inline(never)]
unsafe fn listed<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller's size and alignment.
    thread::with(|owner| owner.alloc_listed_or(layout, || unsafe { slow(size, align, scoped) }))
}

/// Serves everything else, from the inner allocator where the scope does not.
///
/// # Safety
///
/// Size and alignment are those of a layout, and the size is not 0.
#[inline(never)]
unsafe fn slow<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    let block = thread::with(|owner| owner.alloc_slow(layout));
    if !block.is_null() {
        return block;
    }
    // SAFETY: the layout is the caller's, and has a size.
    unsafe { scoped.inner.alloc(layout) }
}

/// Serves zeroed blocks inside a scope.
///
/// # Safety
///
/// Size and alignment are those of a layout, and the size is not 0.
#[inline(never)]
unsafe fn zeroed<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the caller has them from a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    let block = thread::with(|owner| owner.alloc_zeroed(layout));
    if !block.is_null() {
        return block;
    }
    // SAFETY: the layout is the caller's, and has a size.
    unsafe { scoped.inner.alloc_zeroed(layout) }
}

/// Resizes a block of the engine's, by moving it to the inner allocator where nothing else serves.
///
/// # Safety
///
/// The block is alive, lies at `place`, and its layout has this size and alignment. The new size is
/// not 0, and at most `isize::MAX` when rounded up to the alignment. The block is used no more, but
/// through the result if that is not null.
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
        // SAFETY: the caller's block, place, layout and new size.
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
            if new_size > size {
                return new;
            }
            owner.count_shrunk(place, size, new_size);
            return block;
        }
        // SAFETY: both have so many bytes, and the new block is nobody else's.
        unsafe { new.copy_from_nonoverlapping(block, size.min(new_size)) };
        // SAFETY: the block is alive with this size; what it held was copied, and the caller uses
        // it no more.
        unsafe { owner.free(place, block, size) };
        new
    })
}
