//! The fast paths of the transparent allocator as functions, whose assembly `tests/pinned`
//! compares. This is a program, not a library, because only in a program is the address of a
//! thread-local a constant, as in the programs that use the allocator.

use core::alloc::{GlobalAlloc, Layout};
use ebbtide_global::Scoped;

/// Each method is a jump to the C library, so that the assembly shows what comes before it.
struct Inner;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut u8;
    fn calloc(size: usize, number: usize) -> *mut u8;
    fn realloc(block: *mut u8, size: usize) -> *mut u8;
    fn free(block: *mut u8);
}

// SAFETY: these are the C library's functions. Nothing here is ever run.
unsafe impl GlobalAlloc for Inner {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the function accepts any size.
        unsafe { malloc(layout.size()) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller says that the block came from this allocator and is not used again.
        unsafe { free(block) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the function accepts any size.
        unsafe { calloc(layout.size(), 1) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, _: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller says that the block came from this allocator and is not used again
        // after a success.
        unsafe { realloc(block, new_size) }
    }
}

static SCOPED: Scoped<Inner> = Scoped::new(Inner);

/// Takes the arguments that the compiler passes to a global allocator: the size, then the
/// alignment.
///
/// # Safety
///
/// They are the size and the alignment of a layout, and the size is not 0.
#[unsafe(no_mangle)]
pub unsafe fn transparent_alloc(size: usize, align: usize) -> *mut u8 {
    // SAFETY: the caller says that these are the size and the alignment of a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller says that the size is not 0.
    unsafe { SCOPED.alloc(layout) }
}

/// Allocates a block of known size and alignment, which takes three tests fewer.
#[unsafe(no_mangle)]
pub fn transparent_alloc_u64() -> *mut u8 {
    // SAFETY: the layout has a size.
    unsafe { SCOPED.alloc(Layout::new::<u64>()) }
}

/// Like [`transparent_alloc`], but the block is filled with zeros.
///
/// # Safety
///
/// The contract of [`transparent_alloc`].
#[unsafe(no_mangle)]
pub unsafe fn transparent_alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    // SAFETY: the caller says that these are the size and the alignment of a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller says that the size is not 0.
    unsafe { SCOPED.alloc_zeroed(layout) }
}

/// Frees a block: finds its chunk by its address, then its scope.
///
/// # Safety
///
/// The contract of `GlobalAlloc::dealloc`.
#[unsafe(no_mangle)]
pub unsafe fn transparent_dealloc(block: *mut u8, size: usize, align: usize) {
    // SAFETY: the caller says that these are the size and the alignment of a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller says that the block came from `SCOPED` with this layout and is not used
    // again.
    unsafe { SCOPED.dealloc(block, layout) }
}

/// Resizes a block: finds its chunk by its address.
///
/// # Safety
///
/// The contract of `GlobalAlloc::realloc`.
#[unsafe(no_mangle)]
pub unsafe fn transparent_realloc(
    block: *mut u8,
    size: usize,
    align: usize,
    new_size: usize,
) -> *mut u8 {
    // SAFETY: the caller says that these are the size and the alignment of a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller says that the block came from `SCOPED` with this layout, that `new_size`
    // is a valid size, and that the block is not used again after a success.
    unsafe { SCOPED.realloc(block, layout, new_size) }
}

/// Opens and closes a scope.
#[unsafe(no_mangle)]
pub fn transparent_scope(work: fn()) {
    // The site is the type of the function. That of a closure depends on the folder of this crate.
    ebbtide_global::arena(work);
}

fn main() {}
