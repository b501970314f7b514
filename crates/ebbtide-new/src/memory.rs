//! Allocating, freeing and resizing blocks.

use core::{ffi::c_void, ptr};
use ebbtide_global::engine::Owner;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
    /// In `c/malloc.c`: the C library's `free`, which is not ours.
    fn ebb_free_outside_(block: *mut c_void);
}

/// The fewest bytes to request from the C library. Some allocators align a block of fewer to less
/// than 16, and return null for 0 bytes, or free a block whose new size is 0.
const LEAST: usize = 16;

/// Allocates a block that no scope serves. May throw.
pub(crate) type Outside = extern "C-unwind" fn(size: usize) -> *mut c_void;

/// Allocates a block, aligned to 16 bytes. `outside` serves it if no scope does.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn ebb_alloc_(size: usize, owner: &Owner, outside: Outside) -> *mut c_void {
    if owner.has_scope() {
        owner.alloc_headed_or(size, || slow(size, owner, outside).cast()).cast()
    } else {
        outside(size)
    }
}

/// Serves all other requests. Out of line, so that the fast path needs no stack frame.
#[inline(never)]
extern "C-unwind" fn slow(size: usize, owner: &Owner, outside: Outside) -> *mut c_void {
    let block = owner.alloc_headed(size, 1);
    if block.is_null() { outside(size) } else { block.cast() }
}

/// Allocates a block with any alignment; null if no scope serves it.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_alloc_aligned_(size: usize, align: usize, owner: &Owner) -> *mut c_void {
    owner.alloc_headed(size, align).cast()
}

/// Allocates a block of zeros, aligned to 16 bytes; null if no scope serves it.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_alloc_zeroed_(size: usize, owner: &Owner) -> *mut c_void {
    owner.alloc_headed_zeroed(size, 1).cast()
}

/// Frees a block of this library or of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ebb_free_(block: *mut c_void, owner: &Owner) {
    // SAFETY: `block` is null or alive, has a header if it is the engine's, by the rules for every
    // function, and whoever frees it does not use it again.
    if !unsafe { owner.free_headed(block.cast()) } {
        // SAFETY: the engine denies it, so `block` is null or a live block of the C library, which
        // nobody uses again.
        unsafe { ebb_free_outside_(block) }
    }
}

/// The bytes that the caller may use of a block of the engine; 0 for any other block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_usable_size_(block: *mut c_void, owner: &Owner) -> usize {
    // SAFETY: `block` is null or alive, and has a header if it is the engine's, by the rules for
    // every function.
    unsafe { owner.usable_size(block.cast()) }.unwrap_or(0)
}

/// Resizes a block. If it cannot be resized in place, moves it: a block of the C library within
/// that library; a block of the engine to the innermost scope, or if no scope serves it, to the C
/// library. Returns null and leaves the block unchanged if there is no memory. The block is not
/// null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_realloc_(
    block: *mut c_void,
    size: usize,
    owner: &Owner,
) -> *mut c_void {
    // SAFETY: the block is alive, and has a header if it is the engine's, by the rules for every
    // function. `ebb_realloc` uses only a result that is not null.
    let resized = unsafe { owner.resize_headed(block.cast(), size) };
    if !resized.is_null() {
        return resized.cast();
    }
    // SAFETY: the failed attempt changed nothing, so the block is alive as before, and has a header
    // if it is the engine's.
    let Some(old_size) = (unsafe { owner.usable_size(block.cast()) }) else {
        // SAFETY: the block is alive and not the engine's, so it is the C library's; the new size
        // is not 0.
        return unsafe { realloc(block, size.max(LEAST)) };
    };
    let moved = ebb_alloc_(size, owner, c_library);
    if moved.is_null() {
        // Shrinking never fails: the block stays as large as it is.
        return if size <= old_size { block } else { ptr::null_mut() };
    }
    // SAFETY: `block` is valid for reads of `old_size` bytes, and `moved`, which is new, for writes
    // of `size`. Both are alive, so they do not overlap.
    unsafe { moved.copy_from_nonoverlapping(block, old_size.min(size)) };
    // SAFETY: the old block is alive and the engine's, its contents were copied, and from now on
    // only `moved` is used.
    unsafe { ebb_free_(block, owner) };
    moved
}

extern "C-unwind" fn c_library(size: usize) -> *mut c_void {
    // SAFETY: `malloc` takes any size, and this one is not 0.
    unsafe { malloc(size.max(LEAST)) }
}
