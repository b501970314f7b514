//! Blocks of the global allocator.

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
use crate::arith::HUGE_PAGE;
use core::{alloc::Layout, ptr::NonNull};

/// Requests memory. `None` if there is none, or if the size is 0.
#[inline]
pub(crate) fn request(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() == 0 {
        return None;
    }
    // SAFETY: `layout.size()` is not 0.
    let block = NonNull::new(unsafe { alloc::alloc::alloc(layout) })?;
    #[cfg(all(feature = "std", target_os = "linux", not(miri)))]
    if layout.size() >= 2 * HUGE_PAGE {
        advise(block, layout.size());
    }
    Some(block)
}

/// Gives memory back.
///
/// # Safety
///
/// [`request`] returned `block` for `layout`, and nobody uses it any more.
#[inline]
pub(crate) unsafe fn release(block: NonNull<u8>, layout: Layout) {
    // SAFETY: the contract is the same.
    unsafe { alloc::alloc::dealloc(block.as_ptr(), layout) }
}

// The standard library already links the C library. One call is not worth a dependency.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
unsafe extern "C" {
    fn madvise(
        address: *mut core::ffi::c_void,
        length: usize,
        advice: core::ffi::c_int,
    ) -> core::ffi::c_int;
}

/// Asks for huge pages in the aligned part of the block. A block of at least two huge pages has
/// room for at least one that is aligned. Systems that have no huge pages, or never use them, keep
/// ordinary pages.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn advise(block: NonNull<u8>, size: usize) {
    const MADV_HUGEPAGE: core::ffi::c_int = 14;
    let before = block.addr().get().wrapping_neg() & (HUGE_PAGE - 1);
    let whole_pages = (size - before) & !(HUGE_PAGE - 1);
    let first = block.as_ptr().wrapping_add(before);
    // SAFETY: the range is whole pages of a block of our own, and the advice does not change their
    // contents. An error means no huge pages.
    unsafe { madvise(first.cast(), whole_pages, MADV_HUGEPAGE) };
}
