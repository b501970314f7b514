//! The fast paths of the transparent allocator as functions, for `tests/pinned` to look at. A
//! program and no library: only there is the address of a thread-local a constant, as in the
//! programs that use the allocator.

use core::alloc::{GlobalAlloc, Layout};
use ebbtide_global::Scoped;

/// Calls of one instruction, to see what is put before them.
struct Inner;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut u8;
    fn calloc(size: usize, number: usize) -> *mut u8;
    fn realloc(block: *mut u8, size: usize) -> *mut u8;
    fn free(block: *mut u8);
}

// SAFETY: the C library's functions, as they are; nothing here is ever run.
unsafe impl GlobalAlloc for Inner {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size will do.
        unsafe { malloc(layout.size()) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller keeps this very contract.
        unsafe { free(block) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size will do.
        unsafe { calloc(layout.size(), 1) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, _: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller keeps this very contract.
        unsafe { realloc(block, new_size) }
    }
}

static SCOPED: Scoped<Inner> = Scoped::new(Inner);

/// As the compiler calls a global allocator: the size, then the alignment.
///
/// # Safety
///
/// They are a layout's, and the size is not 0.
#[unsafe(no_mangle)]
pub unsafe fn transparent_alloc(size: usize, align: usize) -> *mut u8 {
    // SAFETY: the caller keeps this very contract.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller keeps this very contract.
    unsafe { SCOPED.alloc(layout) }
}

/// Of known size and alignment: three tests fewer.
#[unsafe(no_mangle)]
pub fn transparent_alloc_u64() -> *mut u8 {
    // SAFETY: the layout has a size.
    unsafe { SCOPED.alloc(Layout::new::<u64>()) }
}

/// Like [`transparent_alloc`].
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub unsafe fn transparent_alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    // SAFETY: the caller keeps this very contract.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller keeps this very contract.
    unsafe { SCOPED.alloc_zeroed(layout) }
}

/// By address, then by scope.
///
/// # Safety
///
/// As for `GlobalAlloc::dealloc`.
#[unsafe(no_mangle)]
pub unsafe fn transparent_dealloc(block: *mut u8, size: usize, align: usize) {
    // SAFETY: the caller keeps this very contract.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller keeps this very contract.
    unsafe { SCOPED.dealloc(block, layout) }
}

/// By address.
///
/// # Safety
///
/// As for `GlobalAlloc::realloc`.
#[unsafe(no_mangle)]
pub unsafe fn transparent_realloc(
    block: *mut u8,
    size: usize,
    align: usize,
    new_size: usize,
) -> *mut u8 {
    // SAFETY: the caller keeps this very contract.
    let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
    // SAFETY: the caller keeps this very contract.
    unsafe { SCOPED.realloc(block, layout, new_size) }
}

/// A scope begins and ends.
#[unsafe(no_mangle)]
pub fn transparent_scope(work: extern "C" fn()) {
    ebbtide_global::arena(|| work());
}

fn main() {}
