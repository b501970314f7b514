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
    // SAFETY: the block has this size, and the advice does not change its contents.
    unsafe {
        advise(block, layout.size(), HUGE_PAGE, MADV_HUGEPAGE)
    };
    Some(block)
}

/// Gives memory back.
///
/// # Safety
///
/// [`request`] returned `block` for `layout`, and nobody uses it any more.
#[inline]
pub(crate) unsafe fn release(block: NonNull<u8>, layout: Layout) {
    // SAFETY: by this function's contract, `request` allocated the block with this layout, and
    // nobody uses it any more.
    unsafe { alloc::alloc::dealloc(block.as_ptr(), layout) }
}

/// Gives the whole pages of a block back to the system, if it has several. The allocator often keeps
/// what it gets back.
///
/// # Safety
///
/// [`request`] returned `block` for `size` bytes, and nobody needs what they contain.
#[cfg(feature = "std")]
pub(crate) unsafe fn discard(block: NonNull<u8>, size: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: by this function's contract, `request` returned the block for `size` bytes, and
    // nobody needs their contents.
    unsafe {
        advise(block, size, PAGES, MADV_DONTNEED)
    };
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (block, size);
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

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
const MADV_DONTNEED: core::ffi::c_int = 4;
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
const MADV_HUGEPAGE: core::ffi::c_int = 14;

/// The largest page of common systems that is not a huge one, in bytes.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
const PAGES: usize = 64 << 10;

/// Advises the system on the whole pages of this size in a block of at least two, which has room for at
/// least one that is aligned. A system that does not follow the advice leaves the pages as they are.
///
/// # Safety
///
/// [`request`] returned `block` for `size` bytes. With `MADV_DONTNEED`, nobody needs what they contain.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
#[inline]
unsafe fn advise(block: NonNull<u8>, size: usize, page: usize, advice: core::ffi::c_int) {
    if size < 2 * page {
        return;
    }
    let before = block.addr().get().wrapping_neg() & (page - 1);
    let whole_pages = (size - before) & !(page - 1);
    let first = block.as_ptr().wrapping_add(before);
    // SAFETY: the range is whole pages of a block of `request`. The advice changes nothing, or
    // contents that nobody needs by this function's contract.
    unsafe { madvise(first.cast(), whole_pages, advice) };
}
