//! The global allocator.
//!
//! ```text
//! alloc         a small block that fits is bumped                                  the fast path
//!   └─► aligned ─► slow ─► the inner allocator
//! dealloc       a block in a chunk of the innermost scope is counted               the fast path
//!   └─► free_elsewhere
//! realloc       the last block grows or shrinks                                    the fast path
//!   └─► resize ─► the inner allocator, if the block moves out of the arena
//! ```
//!
//! Each function of a path is out of line, so that those before it need no stack frame. Each fetches
//! the thread's owner again, which takes one instruction; passing the owner on takes three.

use crate::{
    memory::run::{self, Place},
    owner::Owner,
    thread,
};
use core::alloc::{GlobalAlloc, Layout};

/// A global allocator in which [`arena`](crate::arena) opens scopes.
///
/// Outside of scopes every request goes to the inner allocator, and so do requests that a scope
/// does not serve. The address of a block determines which of the two allocators served it, so any
/// thread may free or resize a block, inside a scope or outside.
///
/// Outside of scopes, an allocation costs one more test than with the inner allocator alone, and a
/// free one more comparison.
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
    /// Creates a global allocator on top of another one, such as `std::alloc::System`, mimalloc or
    /// jemalloc.
    ///
    /// ```
    /// use ebbtide_global::Scoped;
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    /// ```
    #[must_use]
    pub const fn new(inner: A) -> Self {
        Scoped { inner }
    }

    /// The inner allocator.
    ///
    /// ```
    /// use ebbtide_global::Scoped;
    /// use std::alloc::System;
    ///
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    /// let _: &System = ALLOC.inner();
    /// ```
    pub const fn inner(&self) -> &A {
        &self.inner
    }
}

// SAFETY: each block is served by the engine or by the inner allocator, which keeps the contract.
// By G1 to G8 the engine's blocks are aligned and as large as requested, and their bytes are in no
// other block until they are freed. A block is freed by the allocator that served it, with the
// layout of the request. Nothing unwinds: the engine calls no foreign code, and its debug
// assertions abort.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Scoped<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        thread::with(|owner| {
            if owner.has_scope() {
                // SAFETY: size and alignment are those of `layout`, whose size is not 0 by
                // `GlobalAlloc::alloc`'s contract.
                owner.alloc_or(layout, || unsafe { aligned(layout.size(), layout.align(), self) })
            } else {
                // SAFETY: the only clause of the inner `alloc` is a size above 0, which this
                // function's contract gives.
                unsafe { self.inner.alloc(layout) }
            }
        })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` is alive by `dealloc`'s contract, and was served by the engine or by the
        // inner allocator.
        match unsafe { run::find(block) } {
            Some(place) => {
                let size = layout.size();
                // SAFETY: `find` returned `place`. By `dealloc`'s contract, the block was allocated
                // with `layout`, so it has `size` bytes, is alive, and is not used again.
                if !thread::with(|owner| unsafe { owner.free_fast(place, block, size) }) {
                    // SAFETY: `free_fast` returned false, so the block is still alive, with this
                    // place and size. Nobody uses it again, by `dealloc`'s contract.
                    unsafe { free_elsewhere(block, size, place) }
                }
            }
            // SAFETY: the block is not the engine's, so the inner allocator served it, with this
            // layout.
            None => unsafe { self.inner.dealloc(block, layout) },
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if thread::with(Owner::has_scope) {
            // SAFETY: size and alignment are those of `layout`, whose size is not 0 by
            // `GlobalAlloc::alloc_zeroed`'s contract.
            unsafe { zeroed(layout.size(), layout.align(), self) }
        } else {
            // SAFETY: the only clause of the inner `alloc_zeroed` is a size above 0, which this
            // function's contract gives.
            unsafe { self.inner.alloc_zeroed(layout) }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: `block` is alive by `realloc`'s contract, and was served by the engine or by the
        // inner allocator.
        match unsafe { run::find(block) } {
            Some(place) => {
                let (size, align) = (layout.size(), layout.align());
                // SAFETY: `find` returned `place`; the block is alive with `layout`, the new size
                // is not 0 and fits, and then only the result is used (`realloc`'s contract).
                let slow = || unsafe { resize(block, size, align, new_size, place, self) };
                // SAFETY: the block is the engine's, and alive with this size; the new size is not
                // 0 and fits, by `realloc`'s contract.
                thread::with(|owner| unsafe { owner.resize_or(block, size, new_size, slow) })
            }
            // The block stays with the inner allocator, even inside a scope. SAFETY: the block is
            // not the engine's, so the inner allocator served it, with this layout.
            None => unsafe { self.inner.realloc(block, layout, new_size) },
        }
    }
}

// The paths continue below. The functions take their arguments in the same order as the methods
// above, so that the arguments stay in their registers when a method jumps here or to the inner
// allocator.

/// Serves small blocks of any alignment.
///
/// # Safety
///
/// Size and alignment are those of a layout, and the size is not 0.
#[cold]
#[inline(never)]
unsafe fn aligned<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    if thread::with(Owner::skips_request) {
        // SAFETY: size and alignment are those of a layout, and the size is not 0, by this
        // function's contract.
        return unsafe { inner(size, align, scoped) };
    }
    thread::with(|owner| owner.alloc_aligned_fast(size, align))
        // SAFETY: size and alignment are those of a layout, and the size is not 0, by this
        // function's contract.
        .unwrap_or_else(|| unsafe { slow(size, align, scoped) })
}

/// Serves from the inner allocator.
///
/// # Safety
///
/// Size and alignment are those of a layout, and the size is not 0.
#[inline(always)]
unsafe fn inner<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the pair is that of a layout by this function's contract: `align` is a power of two,
    // and `size` fits it.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the layout's size is not 0 by this function's contract, the only clause of the inner
    // `alloc`.
    unsafe { scoped.inner.alloc(layout) }
}

/// Serves all other requests, from the inner allocator if the scope does not.
///
/// # Safety
///
/// Size and alignment are those of a layout, and the size is not 0.
#[inline(never)]
unsafe fn slow<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the pair is that of a layout by this function's contract: `align` is a power of two,
    // and `size` fits it.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    let block = thread::with(|owner| owner.alloc_slow(layout));
    if !block.is_null() {
        return block;
    }
    // SAFETY: size and alignment are those of a layout, and the size is not 0, by this function's
    // contract.
    unsafe { inner(size, align, scoped) }
}

/// Serves zeroed blocks inside a scope.
///
/// # Safety
///
/// Size and alignment are those of a layout, and the size is not 0.
#[inline(never)]
unsafe fn zeroed<A: GlobalAlloc>(size: usize, align: usize, scoped: &Scoped<A>) -> *mut u8 {
    // SAFETY: the pair is that of a layout by this function's contract: `align` is a power of two,
    // and `size` fits it.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    let block = thread::with(|owner| owner.alloc_zeroed(layout));
    if !block.is_null() {
        return block;
    }
    // SAFETY: the only clause of the inner `alloc_zeroed` is a size above 0, which this function's
    // contract gives.
    unsafe { scoped.inner.alloc_zeroed(layout) }
}

/// Frees a block that does not belong to the innermost scope.
///
/// # Safety
///
/// The contract of [`Owner::free_elsewhere`].
#[cold]
#[inline(never)]
unsafe fn free_elsewhere(block: *mut u8, size: usize, place: Place) {
    // SAFETY: the block is alive with this place and size, and not used again, by this function's
    // contract, which is that of the method.
    thread::with(|owner| unsafe { owner.free_elsewhere(place, block, size) });
}

/// Resizes a block of the engine. Moves it to the inner allocator if the engine cannot resize it.
///
/// # Safety
///
/// The block is alive, lies at `place`, and its layout has this size and alignment. The new size is
/// not 0, and at most `isize::MAX` when rounded up to the alignment. If the result is not null, the
/// block is used only through the result from then on.
#[inline(never)]
unsafe fn resize<A: GlobalAlloc>(
    block: *mut u8,
    size: usize,
    align: usize,
    new_size: usize,
    place: Place,
    scoped: &Scoped<A>,
) -> *mut u8 {
    // SAFETY: the pair is that of the block's layout by this function's contract: `align` is a
    // power of two, and `size` fits it.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    thread::with(|owner| {
        // SAFETY: the block is alive at `place` with `layout`, and `new_size` is not 0 and fits, by
        // this function's contract; a result is returned below.
        let resized = unsafe { owner.resize(place, block, layout, new_size) };
        if !resized.is_null() {
            return resized;
        }
        // SAFETY: `align` is a power of two, and `new_size` rounded up to it is at most
        // `isize::MAX`, by this function's contract.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, align) };
        // SAFETY: the new size is not 0 by this function's contract, the only clause of the inner
        // `alloc`.
        let new = unsafe { scoped.inner.alloc(new_layout) };
        if new.is_null() {
            // Shrinking never fails: the block stays where it is.
            if new_size > size {
                return new;
            }
            owner.shrink_in_place(place, block, size, new_size);
            return block;
        }
        // SAFETY: both blocks have at least this many bytes, and the new one does not overlap the
        // old one.
        unsafe { new.copy_from_nonoverlapping(block, size.min(new_size)) };
        // SAFETY: the block is alive at `place` with `size` bytes. Its contents were copied, and
        // only `new` is used from now on, by this function's contract.
        unsafe { owner.free(place, block, size) };
        new
    })
}
