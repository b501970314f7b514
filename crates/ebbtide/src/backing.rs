//! Where chunks come from.

use crate::error::AllocError;
use core::{alloc::Layout, ptr::NonNull};

/// A source of chunks for an arena.
///
/// An arena calls its backing rarely: when all its chunks are full, and when it gives chunks back.
/// `Heap` is the default one; a memory pool, a mapping or a counter around another backing are a
/// dozen lines each (see `examples/backing.rs`).
///
/// # Safety
///
/// - A block that `allocate` returned must be at least as large and as aligned as the layout asked
///   for, not overlap any other block in use, and stay valid, wherever the backing is moved to,
///   until it is passed to `release`. The arena uses the bytes asked for; a surplus stays unused.
/// - `release` must not unwind.
///
/// A backing that reaches the arena that it serves, through a scope in a thread-local say, gets an
/// [`AllocError`] while it is at work from whatever would need a chunk, and from the scope that it
/// works for; the infallible methods call `handle_alloc_error`.
///
/// `allocate` may panic. The scope that asked then has nothing free in its current chunk until it
/// ends; all that was allocated stays.
pub unsafe trait Backing: Send {
    /// Returns a block of at least `layout.size()` bytes, which is never 0, aligned to
    /// `layout.align()`.
    ///
    /// # Errors
    ///
    /// [`AllocError`] refuses the request. The arena then asks for less, if less would do.
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError>;

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// `block` came from `allocate` of this backing with this same `layout`, and was not released
    /// since.
    unsafe fn release(&self, block: NonNull<u8>, layout: Layout);
}

/// What an arena's backing is unless the type says otherwise.
#[cfg(feature = "alloc")]
pub type DefaultBacking = Heap;

/// What an arena's backing is unless the type says otherwise.
#[cfg(not(feature = "alloc"))]
pub type DefaultBacking = NoSpill;

/// The bytes of a huge page on x86-64, and on aarch64 with pages of 4 KiB. Where huge pages have
/// another size it is a size like others.
pub(crate) const HUGE_PAGE: usize = 2 * 1024 * 1024;

/// The global allocator of the program. The default backing; needs the feature `alloc`.
///
/// With the feature `std` on Linux, the system is advised to put huge pages (`MADV_HUGEPAGE`) into
/// blocks that have room for them: one page fault instead of 512, and as many fewer entries for the
/// processor's address translation. A huge page is resident as a whole once a byte of it is
/// touched. A process that wants none says so with `prctl(PR_SET_THP_DISABLE)`, a system in
/// `/sys/kernel/mm/transparent_hugepage/enabled`.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

// SAFETY: a block of the global allocator is as large and as aligned as asked for, its alone until
// it is freed, and indifferent to where this empty type is; its contract forbids it to unwind.
#[cfg(feature = "alloc")]
unsafe impl Backing for Heap {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            return Err(AllocError);
        }
        // SAFETY: `layout.size()` is not 0.
        let block = unsafe { alloc::alloc::alloc(layout) };
        let block = NonNull::new(block).ok_or(AllocError)?;
        #[cfg(all(feature = "std", target_os = "linux", not(miri)))]
        if layout.size() >= 2 * HUGE_PAGE {
            advise(block, layout.size());
        }
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    #[inline]
    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller passes a block of `allocate` with its layout.
        unsafe { alloc::alloc::dealloc(block.as_ptr(), layout) }
    }
}

// The standard library links the C library already; a crate for one call is not worth a dependency.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
unsafe extern "C" {
    fn madvise(
        address: *mut core::ffi::c_void,
        length: usize,
        advice: core::ffi::c_int,
    ) -> core::ffi::c_int;
}

/// Asks for huge pages where whole ones lie in the block: at least one, for it has the size of two.
/// A system without them, or set never to use them, serves ordinary ones.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn advise(block: NonNull<u8>, size: usize) {
    const MADV_HUGEPAGE: core::ffi::c_int = 14;
    let before = block.addr().get().wrapping_neg() & (HUGE_PAGE - 1);
    let whole_pages = (size - before) & !(HUGE_PAGE - 1);
    let first = block.as_ptr().wrapping_add(before);
    // SAFETY: advice for whole pages of a block of our own, which changes nothing in them. An error
    // means no huge pages.
    unsafe { madvise(first.cast(), whole_pages, MADV_HUGEPAGE) };
}

/// Refuses every request: the backing of a [`Fixed`](crate::Fixed) that spills nowhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSpill;

// SAFETY: no block is ever returned, so nothing is promised of any.
unsafe impl Backing for NoSpill {
    #[inline]
    fn allocate(&self, _layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        Err(AllocError)
    }

    unsafe fn release(&self, _block: NonNull<u8>, _layout: Layout) {}
}
