//! The functions of the allocator that a program calls. The engine serves the blocks that are
//! allocated in a scope, the C library all others.
//!
//! They are exported, under their own names, by the shared library only.

use super::local::local;
use crate::{
    behind::{self, Recorded, Request},
    sys::{self, PAGE},
};
use core::{
    ffi::{c_int, c_void},
    ptr,
};
use ebbtide_global::engine::Owner;

/// The owner of this thread, if it has a scope that serves requests to the C library.
#[inline(always)]
fn owner_in_scope() -> Option<&'static Owner> {
    let owner = &local().owner;
    (owner.has_scope() && !behind::is_asked()).then_some(owner)
}

pub(crate) fn malloc(size: usize) -> *mut c_void {
    if let Some(owner) = owner_in_scope() {
        return owner.alloc_headed_or(size, || slow(size, owner)).cast();
    }
    // SAFETY: has no preconditions.
    unsafe { sys::__libc_malloc(size) }
}

/// Serves all other requests.
#[inline(never)]
fn slow(size: usize, owner: &Owner) -> *mut u8 {
    let block = owner.alloc_headed(size, 16);
    if block.is_null() {
        // SAFETY: has no preconditions.
        return unsafe { sys::__libc_malloc(size) }.cast();
    }
    block
}

pub(crate) fn calloc(count: usize, size: usize) -> *mut c_void {
    if let Some(owner) = owner_in_scope()
        && let Some(bytes) = count.checked_mul(size)
    {
        let block = owner.alloc_headed_zeroed(bytes, 16);
        if !block.is_null() {
            return block.cast();
        }
    }
    // SAFETY: has no preconditions.
    unsafe { sys::__libc_calloc(count, size) }
}

/// # Safety
///
/// The contract of the C library's `free`.
pub(crate) unsafe fn free(block: *mut c_void) {
    // SAFETY: `block` is null or alive, and not used again, by `free`'s contract. If it is the
    // engine's, it has a header, because this file requests no other blocks.
    if !unsafe { local().owner.free_headed(block.cast()) } {
        // SAFETY: the engine denies it, so `block` is null or a live block of the C library, which
        // nobody uses again.
        unsafe { sys::__libc_free(block) }
    }
}

/// # Safety
///
/// The contract of the C library's `realloc`.
pub(crate) unsafe fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: `block` is null or alive by `realloc`'s contract, and has a header if it is the
    // engine's, because this file requests no other blocks.
    let Some(old_size) = (unsafe { local().owner.usable_size(block.cast()) }) else {
        if block.is_null() {
            return malloc(size);
        }
        // SAFETY: the block is alive, not null and not the engine's, so it is the C library's,
        // whose `realloc` has this contract.
        return unsafe { sys::__libc_realloc(block, size) };
    };
    if size == 0 {
        // SAFETY: the block is alive by `realloc`'s contract, which frees it for a size of 0, so
        // nobody uses it again.
        unsafe { free(block) };
        return ptr::null_mut();
    }
    // SAFETY: the block is alive and the engine's, with a header, as found above, and has so many bytes. By
    // `realloc`'s contract, it is used only through the result, unless that is null.
    unsafe { resize(block, old_size, size, || malloc(size)) }
}

/// Resizes a block of the engine, where it is or to a new one.
///
/// # Safety
///
/// The block is alive and the engine's, with a header, and has `old_size` bytes. It is used only through the
/// result, unless that is null.
unsafe fn resize(
    block: *mut c_void,
    old_size: usize,
    size: usize,
    new: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    // SAFETY: the contract of this function.
    let resized = unsafe { local().owner.resize_headed(block.cast(), size) };
    if !resized.is_null() {
        return resized.cast();
    }
    let moved = new();
    if moved.is_null() {
        // Shrinking never fails: the block stays as large as it is.
        return if size <= old_size { block } else { moved };
    }
    // SAFETY: `block` is valid for reads of `old_size` bytes, and `moved`, which is new, for writes
    // of `size`. Both are alive, so they do not overlap.
    unsafe { moved.copy_from_nonoverlapping(block, old_size.min(size)) };
    // SAFETY: the old block is alive, its contents were copied, and nobody uses it after a
    // `realloc` that succeeds.
    unsafe { free(block) };
    moved
}

/// What `ebbtide_global::Recorded` calls in a program with an allocator of its own.
///
/// # Safety
///
/// The contract of [`Serve`](crate::behind::Serve).
pub(crate) unsafe fn serve(
    block: *mut c_void,
    old: usize,
    align: usize,
    new: usize,
    recorded: *const Recorded,
) -> *mut c_void {
    behind::ask();
    let behind = Request { size: old, align, recorded };
    let alloc = |is_zeroed| served(Request { size: new, ..behind }, is_zeroed);
    if block.is_null() {
        return alloc(old > 0);
    }
    let owner = &local().owner;
    if new == 0 {
        // SAFETY: the block is alive, and not used again, by `Serve`'s contract. If it is the engine's, it has
        // a header, because this file requests no other blocks.
        if !unsafe { owner.free_headed(block.cast()) } {
            // SAFETY: the engine denies it, so the program's allocator has served it, with this size and
            // alignment, and nobody uses it again.
            unsafe { behind.free(block) };
        }
        return ptr::null_mut();
    }
    // SAFETY: the block is alive by `Serve`'s contract, and has a header if it is the engine's, because this
    // file requests no other blocks.
    match unsafe { owner.usable_size(block.cast()) } {
        // SAFETY: the block is alive and the engine's, with a header and so many bytes. By `Serve`'s contract,
        // it is used only through the result, unless that is null.
        Some(bytes) => unsafe { resize(block, bytes, new, || alloc(false)) },
        // SAFETY: the engine denies it, so the program's allocator has served it, with this size and
        // alignment. By `Serve`'s contract, it is used only through the result, unless that is null.
        None => unsafe { behind.resize(block, new) },
    }
}

/// A block of the engine, or of the program's allocator.
fn served(request: Request, is_zeroed: bool) -> *mut c_void {
    let owner = &local().owner;
    let Request { size, align, .. } = request;
    let slow = || {
        // Null if no scope is open.
        let block = if is_zeroed {
            owner.alloc_headed_zeroed(size, align.max(16))
        } else {
            owner.alloc_headed(size, align.max(16))
        };
        if block.is_null() { request.alloc(is_zeroed).cast() } else { block }
    };
    let is_common = owner.has_scope() && align <= 16 && !is_zeroed;
    if is_common { owner.alloc_headed_or(size, slow).cast() } else { slow().cast() }
}

pub(crate) fn memalign(align: usize, size: usize) -> *mut c_void {
    if let Some(owner) = owner_in_scope() {
        // The C library takes any alignment, and rounds it.
        let rounded = align.max(16).checked_next_power_of_two().unwrap_or(0);
        let block = owner.alloc_headed(size, rounded);
        if !block.is_null() {
            return block.cast();
        }
    }
    // SAFETY: has no preconditions.
    unsafe { sys::__libc_memalign(align, size) }
}

pub(crate) fn valloc(size: usize) -> *mut c_void {
    memalign(PAGE, size)
}

pub(crate) fn pvalloc(size: usize) -> *mut c_void {
    memalign(PAGE, sys::whole_pages(size))
}

/// # Safety
///
/// The contract of the C library's `malloc_usable_size`.
pub(crate) unsafe fn malloc_usable_size(block: *mut c_void) -> usize {
    // SAFETY: `block` is null or alive by this function's contract, and has a header if it is the
    // engine's, because this file requests no other blocks.
    unsafe { local().owner.usable_size(block.cast()) }
        // SAFETY: the engine denies it, so `block` is null or a live block of the C library.
        .unwrap_or_else(|| unsafe { sys::usable_size(block) })
}

/// # Safety
///
/// The contract of the C library's `posix_memalign`.
pub(crate) unsafe fn posix_memalign(result: *mut *mut c_void, align: usize, size: usize) -> c_int {
    // SAFETY: `result` is valid for the write of one pointer by this function's contract.
    unsafe { sys::posix_memalign(result, align, || memalign(align, size)) }
}

/// What the shared library exports.
#[cfg(ebbtide_preload)]
mod exported {
    use super::*;

    macro_rules! export {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $target:path;)*) => {$(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                // SAFETY: the program keeps the contract of the C library's function of this name,
                // which is that of the target: blocks are alive, and freed once.
                unsafe { $target($($argument),*) }
            }
        )*};
    }

    export! {
        malloc(size: usize) -> *mut c_void, super::malloc;
        calloc(count: usize, size: usize) -> *mut c_void, super::calloc;
        realloc(block: *mut c_void, size: usize) -> *mut c_void, super::realloc;
        free(block: *mut c_void) -> (), super::free;
        memalign(align: usize, size: usize) -> *mut c_void, super::memalign;
        aligned_alloc(align: usize, size: usize) -> *mut c_void, super::memalign;
        valloc(size: usize) -> *mut c_void, super::valloc;
        pvalloc(size: usize) -> *mut c_void, super::pvalloc;
        posix_memalign(result: *mut *mut c_void, align: usize, size: usize) -> c_int,
            super::posix_memalign;
        malloc_usable_size(block: *mut c_void) -> usize, super::malloc_usable_size;
        ebbtide_preloaded_1(block: *mut c_void, old: usize, align: usize, new: usize,
            recorded: *const Recorded) -> *mut c_void, super::serve;
    }
}
