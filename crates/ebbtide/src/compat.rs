//! `&Scope` and `&Arena` as allocators for the collections of other crates.
//!
//! Each major version of allocator-api2 has a trait of its own, and so has the standard library from
//! Rust 1.100 on. All of them forward to the methods here.
//!
//! Everything comes from the low end, so that the last block grows, shrinks and is freed in place.
//! The trait is implemented for `&Scope` and never for `Scope`: a block is grown, shrunk or freed
//! only through the scope that gave it. `&Arena` allocates in the root of the arena.

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
        // SAFETY: the caller says that the block came from the low end with this layout, so it has
        // `layout.size()` bytes, and that it is not used again.
        unsafe { self.cursor().shrink_low(block, layout.size(), 0) };
    }

    /// # Safety
    ///
    /// `block` came from this scope's low end with the layout `old`. After a success the caller no
    /// longer uses it. `new.size() >= old.size()`.
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
            // SAFETY: the caller says that the block came from the low end with `old`, is alive and
            // does not shrink; it is aligned as `new` asks.
            unsafe { self.low_grow_aligned(block, old, new)? }
        } else {
            // SAFETY: the block has `old.size()` bytes, and the caller says that `new` is no
            // smaller.
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
        // SAFETY: the old block has `old.size()` bytes and the new one at least as many. The new
        // one was free a moment ago, so they do not overlap.
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
            // SAFETY: the caller says that the block came from the low end with `old`, and that
            // `new.size() <= old.size()`.
            unsafe { self.cursor().shrink_low(block, old.size(), new.size()) };
            block
        } else {
            // SAFETY: the block has `old.size()` bytes, and the caller says that `new` is no
            // larger.
            unsafe { self.low_move(block, new, new.size())? }
        };
        Ok(NonNull::slice_from_raw_parts(shrunk, new.size()))
    }

    /// A new block with a copy of the first `size` bytes of `block`.
    ///
    /// # Safety
    ///
    /// `block` is valid for `size` bytes, and `new` is as large.
    #[cold]
    unsafe fn low_move(
        &self,
        block: NonNull<u8>,
        new: Layout,
        size: usize,
    ) -> Result<NonNull<u8>, AllocError> {
        let moved = self.cursor().reserve_low::<AllocError>(new)?;
        // SAFETY: both are valid for `size` bytes, and the new block was free a moment ago.
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
            // SAFETY: the caller says that the block came from the low end of this cursor with this
            // layout and is not used again.
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
        // SAFETY: a block with a size came from the root, as the caller says, and is not smaller then.
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
        // SAFETY: a block with a size came from the root, as the caller says, and is not larger then.
        unsafe { self.open_root::<AllocError>()?.low_shrink(block, old, new) }
    }
}

/// Implements one of the traits.
macro_rules! allocator {
    ($($path:ident)::+) => {
        allocator!(@ [], Scope<'_>, $($path)::+);
        allocator!(@ [B: Backing], Arena<B>, $($path)::+);
    };
    (@ [$($generics:tt)*], $type:ty, $($path:ident)::+) => {
        // SAFETY: a block lies in a chunk that the arena keeps as long as the scope, or the arena
        // itself, is borrowed, wherever the reference is copied to, and is handed out once. Meanwhile
        // nothing resets the arena or opens a scope of it.
        unsafe impl<$($generics)*> $($path)::+::Allocator for &$type {
            #[inline]
            fn allocate(
                &self,
                layout: Layout,
            ) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
                self.low_allocate(layout).map_err(|AllocError| $($path)::+::AllocError)
            }

            #[inline]
            unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
                // SAFETY: the contract of this method is that of the trait, which the caller keeps.
                unsafe { self.low_deallocate(block, layout) };
            }

            #[inline]
            unsafe fn grow(
                &self,
                block: NonNull<u8>,
                old: Layout,
                new: Layout,
            ) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
                // SAFETY: the contract of this method is that of the trait, which the caller keeps.
                unsafe { self.low_grow(block, old, new) }.map_err(|AllocError| $($path)::+::AllocError)
            }

            #[inline]
            unsafe fn shrink(
                &self,
                block: NonNull<u8>,
                old: Layout,
                new: Layout,
            ) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
                // SAFETY: the contract of this method is that of the trait, which the caller keeps.
                unsafe { self.low_shrink(block, old, new) }
                    .map_err(|AllocError| $($path)::+::AllocError)
            }
        }
    };
}

#[cfg(feature = "allocator-api2-02")]
allocator!(allocator_api2_02::alloc);
#[cfg(feature = "allocator-api2-03")]
allocator!(allocator_api2_03::alloc);
#[cfg(feature = "allocator-api2-04")]
allocator!(allocator_api2_04::alloc);
#[cfg(feature = "std-allocator")]
allocator!(core::alloc);

/// What is unstable beside the standard library's trait.
#[cfg(feature = "nightly")]
mod unstable {
    // SAFETY: a copy of the reference is the same allocator, copying it does not unwind, and the
    // end of a copy frees nothing.
    #[cfg(version("1.100"))]
    unsafe impl core::alloc::AllocatorClone for &super::Scope<'_> {}
    // SAFETY: a copy of the reference allocates in the same root, copying it does not unwind, and the
    // end of a copy frees nothing.
    #[cfg(version("1.100"))]
    unsafe impl<B: super::Backing> core::alloc::AllocatorClone for &super::Arena<B> {}
}
