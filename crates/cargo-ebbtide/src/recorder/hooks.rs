//! The functions of the allocator that a program calls. Each notes where its caller's stack is,
//! counts down, and continues in the C library.
//!
//! They are exported, under their own names, by the shared library only: what else links this crate
//! keeps its allocator.

use super::{
    local::{Local, local},
    slots, state,
};
use crate::sys::{self, PAGE};
use core::{
    ffi::{c_int, c_void},
    ptr,
};

/// Notes the position of the stack.
#[inline(always)]
fn note(local: &Local, end: usize) {
    if end > local.high.get() {
        local.high.set(end);
    }
}

/// Whether the next block is to be recorded or timed.
#[inline(always)]
fn is_due(local: &Local) -> bool {
    let left = local.countdown.get() - 1;
    local.countdown.set(left);
    left < 0
}

pub(crate) extern "C" fn malloc(size: usize, end: usize) -> *mut c_void {
    let local = local();
    note(local, end);
    if is_due(local)
        && let Some(block) = state::alloc(size, 0, false, end)
    {
        return block;
    }
    // SAFETY: has no preconditions.
    unsafe { sys::__libc_malloc(size) }
}

pub(crate) extern "C" fn calloc(count: usize, size: usize, end: usize) -> *mut c_void {
    let local = local();
    note(local, end);
    if is_due(local)
        && let Some(bytes) = count.checked_mul(size)
        && let Some(block) = state::alloc(bytes, 0, true, end)
    {
        return block;
    }
    // SAFETY: has no preconditions.
    unsafe { sys::__libc_calloc(count, size) }
}

/// # Safety
///
/// The contract of the C library's `free`.
pub(crate) unsafe extern "C" fn free(block: *mut c_void, end: usize) {
    let local = local();
    note(local, end);
    if slots::contains(block) {
        // SAFETY: the caller's block, which was recorded (A2).
        return unsafe { state::free(block, end) };
    }
    if local.times_free.get() && !block.is_null() {
        // SAFETY: the caller's block.
        return unsafe { state::free_timed(block) };
    }
    // SAFETY: the caller's block.
    unsafe { sys::__libc_free(block) }
}

/// # Safety
///
/// The contract of the C library's `realloc`.
pub(crate) unsafe extern "C" fn realloc(
    block: *mut c_void,
    size: usize,
    end: usize,
) -> *mut c_void {
    if block.is_null() {
        return malloc(size, end);
    }
    note(local(), end);
    if !slots::contains(block) {
        // SAFETY: the caller's block.
        return unsafe { sys::__libc_realloc(block, size) };
    }
    if size == 0 {
        // SAFETY: the caller's block, which was recorded (A2).
        unsafe { state::free(block, end) };
        return ptr::null_mut();
    }
    // SAFETY: the caller's block, which was recorded (A2).
    unsafe { state::resize(block, size, end) }
}

pub(crate) extern "C" fn memalign(align: usize, size: usize, end: usize) -> *mut c_void {
    let local = local();
    note(local, end);
    if align.is_power_of_two()
        && is_due(local)
        && let Some(block) = state::alloc(size, align.max(16), false, end)
    {
        return block;
    }
    // SAFETY: has no preconditions.
    unsafe { sys::__libc_memalign(align, size) }
}

pub(crate) extern "C" fn valloc(size: usize, end: usize) -> *mut c_void {
    memalign(PAGE, size, end)
}

pub(crate) extern "C" fn pvalloc(size: usize, end: usize) -> *mut c_void {
    memalign(PAGE, sys::whole_pages(size), end)
}

/// # Safety
///
/// The contract of the C library's `posix_memalign`.
pub(crate) unsafe extern "C" fn posix_memalign(
    result: *mut *mut c_void,
    align: usize,
    size: usize,
    end: usize,
) -> c_int {
    // SAFETY: the caller's variable.
    unsafe { sys::posix_memalign(result, align, || memalign(align, size, end)) }
}

/// # Safety
///
/// The contract of the C library's `malloc_usable_size`.
pub(crate) unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    if slots::contains(block) {
        // SAFETY: the caller's block, which was recorded (A2).
        return unsafe { slots::usable_size(block) };
    }
    // SAFETY: the caller's block.
    unsafe { sys::usable_size(block) }
}

/// What the shared library exports. Each passes the end of its own frame as a last argument.
#[cfg(ebbtide_preload)]
mod exported {
    use super::*;
    use core::arch::naked_asm;

    macro_rules! export {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $register:literal, $target:path;)*) => {$(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) -> $result {
                naked_asm!(
                    concat!("lea ", $register, ", [rsp + 8]"),
                    "jmp {target}",
                    target = sym $target,
                )
            }
        )*};
    }

    export! {
        malloc(size: usize) -> *mut c_void, "rsi", super::malloc;
        calloc(count: usize, size: usize) -> *mut c_void, "rdx", super::calloc;
        realloc(block: *mut c_void, size: usize) -> *mut c_void, "rdx", super::realloc;
        free(block: *mut c_void) -> (), "rsi", super::free;
        memalign(align: usize, size: usize) -> *mut c_void, "rdx", super::memalign;
        aligned_alloc(align: usize, size: usize) -> *mut c_void, "rdx", super::memalign;
        valloc(size: usize) -> *mut c_void, "rsi", super::valloc;
        pvalloc(size: usize) -> *mut c_void, "rsi", super::pvalloc;
        posix_memalign(result: *mut *mut c_void, align: usize, size: usize) -> c_int, "rcx",
            super::posix_memalign;
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
        // SAFETY: the caller's block.
        unsafe { super::malloc_usable_size(block) }
    }

    extern "C" fn begin() {
        sys::refuse_other_allocators();
        sys::find_usable_size();
        state::begin();
    }

    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEGIN: extern "C" fn() = begin;
}
