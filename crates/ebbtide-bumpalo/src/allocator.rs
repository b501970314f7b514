//! `Allocator` for `&Bump`: that of the arena, at the minimum alignment.
//!
//! Not for `Bump`, for which bumpalo does not implement it: a program may have an implementation of its
//! own trait for `Bump` and another one for every allocator.

#![cfg_attr(
    not(feature = "allocator-api2"),
    allow(dead_code, unused_imports, unused_macros, reason = "of Rust before 1.100")
)]

use crate::Bump;
use core::{alloc::Layout, ptr::NonNull};

/// Implements one version of the trait by the implementation for `&Arena`.
macro_rules! implement {
    ($($path:ident)::+) => {
        // SAFETY: blocks come from the root of the arena, where they stay until the arena is reset
        // or dropped. It is borrowed as long as this reference or a clone of it lives.
        unsafe impl<const MIN_ALIGN: usize> $($path)::+::Allocator for &Bump<MIN_ALIGN> {
            #[inline]
            fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
                $($path)::+::Allocator::allocate(&&self.arena, aligned::<MIN_ALIGN>(layout))
            }

            #[inline]
            unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
                let layout = aligned::<MIN_ALIGN>(layout);
                // SAFETY: the block is of this allocator with this layout, by this function's
                // contract; `allocate` got it from the arena with the same alignment.
                unsafe { $($path)::+::Allocator::deallocate(&&self.arena, block, layout) };
            }

            #[inline]
            unsafe fn grow(
                &self,
                block: NonNull<u8>,
                old: Layout,
                new: Layout,
            ) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
                let (old, new) = (aligned::<MIN_ALIGN>(old), aligned::<MIN_ALIGN>(new));
                // SAFETY: the block is of this allocator and fits `old`, and `new` is no smaller,
                // by this function's contract; all blocks come from the arena so aligned.
                unsafe { $($path)::+::Allocator::grow(&&self.arena, block, old, new) }
            }

            #[inline]
            unsafe fn grow_zeroed(
                &self,
                block: NonNull<u8>,
                old: Layout,
                new: Layout,
            ) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
                let (old, new) = (aligned::<MIN_ALIGN>(old), aligned::<MIN_ALIGN>(new));
                // SAFETY: the block is of this allocator and fits `old`, and `new` is no smaller,
                // by this function's contract; all blocks come from the arena so aligned.
                unsafe { $($path)::+::Allocator::grow_zeroed(&&self.arena, block, old, new) }
            }

            #[inline]
            unsafe fn shrink(
                &self,
                block: NonNull<u8>,
                old: Layout,
                new: Layout,
            ) -> Result<NonNull<[u8]>, $($path)::+::AllocError> {
                let (old, new) = (aligned::<MIN_ALIGN>(old), aligned::<MIN_ALIGN>(new));
                // SAFETY: the block is of this allocator and fits `old`, and `new` is no larger, by
                // this function's contract; all blocks come from the arena so aligned.
                unsafe { $($path)::+::Allocator::shrink(&&self.arena, block, old, new) }
            }
        }
    };
}

#[cfg(feature = "allocator_api")]
implement!(core_alloc::alloc);
#[cfg(not(feature = "allocator_api"))]
ebbtide::__std_allocator! {
    implement!(core_alloc::alloc);
}
#[cfg(feature = "allocator-api2")]
ebbtide::__allocator_api2_02! {
    implement!(allocator_api2::alloc);
}

#[cfg(feature = "allocator_api")]
mod unstable {
    // SAFETY: a copy of the reference is the same allocator, copying it does not unwind, and the
    // end of a copy frees nothing.
    #[cfg(version("1.100"))]
    unsafe impl<const MIN_ALIGN: usize> core::alloc::AllocatorClone for &super::Bump<MIN_ALIGN> {}
}

/// The layout with the minimum alignment. The size stays, so if it cannot be rounded up to that,
/// the alignment stays, too, and no allocation succeeds.
#[inline(always)]
fn aligned<const MIN_ALIGN: usize>(layout: Layout) -> Layout {
    layout.align_to(MIN_ALIGN).unwrap_or(layout)
}
