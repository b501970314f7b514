//! `&Scope` and `Arena` as allocators for the collections of the standard library and other crates.
//!
//! Each major version of allocator-api2 has a trait of its own, and so has the standard library from
//! Rust 1.100 on (`build.rs`). All of them forward to the methods here.
//!
//! Everything comes from the low end, so that the last block grows, shrinks and is freed in place.
//! The trait is implemented for `&Scope` and never for `Scope`: a block is grown, shrunk or freed
//! only through the scope that gave it. `&Arena` allocates in the root of the arena, and for the standard
//! library `Arena` by value, which forwards `&Arena` and `Rc<Arena>`.

use crate::{arena::Arena, backing::Backing, error::AllocError, raw::Need, scope::Scope};
use core::{alloc::Layout, ptr::NonNull};

/// The allocator that the traits forward to.
impl Scope<'_> {
    #[inline]
    pub(crate) fn low_allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let block = self.cursor().reserve_layout_low::<AllocError>(layout)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    /// # Safety
    ///
    /// `block` came from this scope's low end with `layout`, and is not used again.
    #[inline]
    pub(crate) unsafe fn low_deallocate(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: by this function's contract, the block came from the low end of this cursor with
        // `layout.size()` bytes, which are not used again.
        unsafe { self.cursor().shrink_low(block, layout.size(), 0) };
    }

    /// # Safety
    ///
    /// `block` came from this scope's low end with the layout `old`, and is alive. After a success,
    /// it is not used again. `new.size() >= old.size()`.
    #[inline]
    pub(crate) unsafe fn low_grow(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // The first test is decided at compile time in most programs. Without the call in the other
        // branch, the cursor of a local scope stays in registers.
        let is_aligned = new.align() <= old.align() || block.addr().get() & (new.align() - 1) == 0;
        let grown = if is_aligned {
            // SAFETY: by this function's contract, the block came from the low end with `old`, is
            // alive and does not shrink; it is aligned as `new` asks.
            unsafe { self.low_grow_aligned(block, old, new)? }
        } else {
            // SAFETY: by this function's contract, the block is alive with `old.size()` bytes, and
            // `new` is no smaller.
            unsafe { self.low_move(block, new, old.size())? }
        };
        Ok(NonNull::slice_from_raw_parts(grown, new.size()))
    }

    /// Grows in place if the block is the last one and the region has room, and otherwise by
    /// copying. On failure the block is unchanged.
    ///
    /// # Safety
    ///
    /// The contract of [`Scope::low_grow`]. The block is aligned for `new`.
    #[inline]
    unsafe fn low_grow_aligned(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<u8>, AllocError> {
        debug_assert!(old.size() <= new.size(), "it grows");
        debug_assert_eq!(block.addr().get() % new.align(), 0, "it is aligned for the new layout");
        let cursor = self.cursor();
        let additional = new.size() - old.size();
        if additional == 0 {
            return Ok(block);
        }
        if cursor.is_last_low(block, old.size()) {
            // SAFETY: the block is this cursor's and the last one, or it has 0 bytes.
            if let Some(block) = unsafe { cursor.lengthen_low(block, additional) } {
                return Ok(block);
            }
        }
        let moved = cursor.reserve_low::<AllocError>(new)?;
        // SAFETY: the old block is valid for reads of `old.size()` bytes, and the new one for
        // writes of at least as many; it was free a moment ago, so they do not overlap.
        unsafe { moved.copy_from_nonoverlapping(block, old.size()) };
        Ok(moved)
    }

    /// # Safety
    ///
    /// The contract of [`Scope::low_grow`], except that `new.size() <= old.size()`.
    #[inline]
    pub(crate) unsafe fn low_shrink(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        let shrunk = if block.addr().get() & (new.align() - 1) == 0 {
            // SAFETY: by this function's contract, the block came from the low end with
            // `old.size()` bytes, and of these only the first `new.size()` are used again.
            unsafe { self.cursor().shrink_low(block, old.size(), new.size()) };
            block
        } else {
            // SAFETY: by this function's contract, the block is alive with `old.size()` bytes, and
            // `new` is no larger.
            unsafe { self.low_move(block, new, new.size())? }
        };
        Ok(NonNull::slice_from_raw_parts(shrunk, new.size()))
    }

    /// A new block with a copy of the first `size` bytes of `block`.
    ///
    /// # Safety
    ///
    /// `block` is valid for reads of `size` bytes, and `new` is at least as large.
    #[cold]
    unsafe fn low_move(
        &self,
        block: NonNull<u8>,
        new: Layout,
        size: usize,
    ) -> Result<NonNull<u8>, AllocError> {
        let moved = self.cursor().reserve_low::<AllocError>(new)?;
        // SAFETY: by this function's contract, both are valid for `size` bytes; the new block was
        // free a moment ago, so they do not overlap.
        unsafe { moved.copy_from_nonoverlapping(block, size) };
        Ok(moved)
    }
}

/// The allocator of the root. A block of no bytes takes no memory, so there may be no chunk.
impl<B: Backing> Arena<B> {
    #[inline]
    pub(crate) fn low_allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.open_root_for::<AllocError>(Need::low(1, layout))?.low_allocate(layout)
    }

    /// # Safety
    ///
    /// `block` came from the root's low end with `layout`, and is not used again.
    #[inline]
    pub(crate) unsafe fn low_deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if layout.size() > 0 {
            // Uses only the two ends of the root, which need not be in use.
            // SAFETY: the size is not 0, so by this function's contract the block came from the low
            // end of this cursor with this layout, and is not used again.
            unsafe { self.root_as_is().low_deallocate(block, layout) };
        }
    }

    /// # Safety
    ///
    /// The contract of [`Scope::low_grow`], for a block from the root.
    #[inline]
    pub(crate) unsafe fn low_grow(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        if old.size() == 0 {
            return self.low_allocate(new);
        }
        // SAFETY: `old` has a size, so by this function's contract the block came from the root
        // with `old`, is alive, and `new` is no smaller.
        unsafe { self.open_root::<AllocError>()?.low_grow(block, old, new) }
    }

    /// # Safety
    ///
    /// The contract of [`Scope::low_shrink`], for a block from the root.
    #[inline]
    pub(crate) unsafe fn low_shrink(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        if old.size() == 0 {
            return self.low_allocate(new);
        }
        // SAFETY: `old` has a size, so by this function's contract the block came from the root
        // with `old`, is alive, and `new` is no larger.
        unsafe { self.open_root::<AllocError>()?.low_shrink(block, old, new) }
    }
}

/// The guard of the standard library's trait, whose methods must not unwind: a backing may panic.
#[cfg(std_allocator)]
struct AbortOnUnwind;

#[cfg(std_allocator)]
impl AbortOnUnwind {
    #[inline(always)]
    fn disarm(self) {
        core::mem::forget(self);
    }
}

#[cfg(std_allocator)]
impl Drop for AbortOnUnwind {
    /// Runs only while a panic unwinds, where a second one aborts.
    #[cold]
    fn drop(&mut self) {
        panic!("a backing panicked while it served `Allocator` of the standard library");
    }
}

/// The guard of the traits whose methods may unwind.
#[cfg(any(
    all(feature = "allocator-api2-02", not(feature = "allocator-api2-02-nightly")),
    feature = "allocator-api2-03",
    feature = "allocator-api2-04"
))]
struct MayUnwind;

#[cfg(any(
    all(feature = "allocator-api2-02", not(feature = "allocator-api2-02-nightly")),
    feature = "allocator-api2-03",
    feature = "allocator-api2-04"
))]
impl MayUnwind {
    #[inline(always)]
    fn disarm(self) {}
}

/// Implements one of the traits. That of the standard library says that `&mut` access to an allocator
/// may invalidate its blocks, so it is implemented for an arena by value. In the others, a block lives as
/// long as the allocator, so they are implemented for a reference.
macro_rules! allocator {
    ($($path:ident)::+, $guard:ident, $arena:ty) => {
        // SAFETY: a block lies in a chunk that the arena keeps as long as the scope is borrowed,
        // wherever the reference is copied to, and is handed out once. Meanwhile nothing resets the
        // arena, and a claim does not use this scope's memory.
        unsafe impl $($path)::+::Allocator for &Scope<'_> {
            allocator!(@ $($path)::+, $guard);
        }

        // SAFETY: a block lies in a chunk that stays where it is when the arena moves, and is handed
        // out once. Only the arena's end and methods with `&mut self` give its memory back or to a
        // scope. A reference excludes both; by value, where the trait allows that, they invalidate the
        // block. Dropping an arena does not unwind, because releasing to and dropping a backing do not.
        unsafe impl<B: Backing> $($path)::+::Allocator for $arena {
            allocator!(@ $($path)::+, $guard);
        }
    };
    (@ $($path:ident)::+, $guard:ident) => {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
            let guard = $guard;
            let block = self.low_allocate(layout);
            guard.disarm();
            block.map_err(|AllocError| $($path)::+::AllocError)
        }

        #[inline]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            // SAFETY: by the trait's contract, this allocator allocated the block, whose layout
            // this is, from its low end, and the block is not used again.
            unsafe { self.low_deallocate(block, layout) };
        }

        #[inline]
        unsafe fn grow(
            &self,
            block: NonNull<u8>,
            old: Layout,
            new: Layout,
        ) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
            let guard = $guard;
            // SAFETY: by the trait's contract, this allocator allocated the block, which is alive
            // with `old`, and `new` is no smaller; after a success, the block is not used again.
            let grown = unsafe { self.low_grow(block, old, new) };
            guard.disarm();
            grown.map_err(|AllocError| $($path)::+::AllocError)
        }

        #[inline]
        unsafe fn shrink(
            &self,
            block: NonNull<u8>,
            old: Layout,
            new: Layout,
        ) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
            let guard = $guard;
            // SAFETY: by the trait's contract, this allocator allocated the block, which is alive
            // with `old`, and `new` is no larger; after a success, the block is not used again.
            let shrunk = unsafe { self.low_shrink(block, old, new) };
            guard.disarm();
            shrunk.map_err(|AllocError| $($path)::+::AllocError)
        }
    };
}

// With the feature `nightly` of allocator-api2 0.2, its trait is that of the standard library.
#[cfg(all(feature = "allocator-api2-02", not(feature = "allocator-api2-02-nightly")))]
allocator!(allocator_api2_02::alloc, MayUnwind, &Arena<B>);
#[cfg(feature = "allocator-api2-03")]
allocator!(allocator_api2_03::alloc, MayUnwind, &Arena<B>);
#[cfg(feature = "allocator-api2-04")]
allocator!(allocator_api2_04::alloc, MayUnwind, &Arena<B>);
#[cfg(std_allocator)]
allocator!(core::alloc, AbortOnUnwind, Arena<B>);

// SAFETY: a copy of the reference is the same allocator, copying it does not unwind, and the end of a
// copy frees nothing.
#[cfg(feature = "nightly")]
#[cfg(version("1.100"))]
unsafe impl core::alloc::AllocatorClone for &Scope<'_> {}
