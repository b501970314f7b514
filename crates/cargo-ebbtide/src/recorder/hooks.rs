//! The functions of the allocator that a program calls. Each notes where its caller's stack is,
//! counts down, and continues in the C library.
//!
//! They are exported, under their own names, by the shared library only: what else links this crate
//! keeps its allocator.

use super::{
    local::{Local, local},
    slots, state, sys,
};
use core::{
    ffi::{c_int, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
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

const PAGE: usize = 4096;

pub(crate) extern "C" fn valloc(size: usize, end: usize) -> *mut c_void {
    memalign(PAGE, size, end)
}

pub(crate) extern "C" fn pvalloc(size: usize, end: usize) -> *mut c_void {
    // What is too large to be rounded is refused as it is.
    memalign(PAGE, size.checked_next_multiple_of(PAGE).unwrap_or(size), end)
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
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return sys::EINVAL;
    }
    let block = memalign(align, size, end);
    if block.is_null() {
        return sys::ENOMEM;
    }
    // SAFETY: the caller's variable.
    unsafe { result.write(block) };
    0
}

/// # Safety
///
/// The contract of the C library's `malloc_usable_size`.
pub(crate) unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    if slots::contains(block) {
        // SAFETY: the caller's block, which was recorded (A2).
        return unsafe { slots::usable_size(block) };
    }
    let mut found = USABLE_SIZE.load(Ordering::Relaxed);
    if found.is_null() {
        found = find_usable_size();
    }
    type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;
    // SAFETY: the C library's function has this type, and a null pointer is `None`.
    let found = unsafe { core::mem::transmute::<*mut c_void, Option<UsableSize>>(found) };
    // SAFETY: the caller's block.
    found.map_or(0, |found| unsafe { found(block) })
}

/// The C library's function; null before it is searched.
static USABLE_SIZE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Searches the C library, and not what is loaded next: that may be another allocator, which has
/// none of the program's blocks.
pub(crate) fn find_usable_size() -> *mut c_void {
    let flags = sys::RTLD_LAZY | sys::RTLD_NOLOAD;
    // SAFETY: the library is loaded, so none of its code runs.
    let library = unsafe { sys::dlopen(c"libc.so.6".as_ptr(), flags) };
    if library.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: a search for a name, in an open library.
    let found = unsafe { sys::dlsym(library, c"malloc_usable_size".as_ptr()) };
    USABLE_SIZE.store(found, Ordering::Relaxed);
    found
}

/// What the shared library exports. Each passes the end of its own frame as a last argument.
#[cfg(ebbtide_preload)]
mod exported {
    use super::*;
    use core::{arch::naked_asm, ffi::c_char};

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

    /// Loads a library, which does not prefer the C library's allocator (`RTLD_DEEPBIND`) to this
    /// one: a recorded block that another function has allocated would reach the C library's `free`.
    /// The loader looks at the address to which it returns, so this is no call.
    #[unsafe(naked)]
    #[unsafe(no_mangle)]
    extern "C" fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void {
        naked_asm!(
            "and esi, {kept}",
            "push rdi",
            "push rsi",
            "sub rsp, 8",
            "call {find}",
            "add rsp, 8",
            "pop rsi",
            "pop rdi",
            "jmp rax",
            kept = const !sys::RTLD_DEEPBIND,
            find = sym find_dlopen,
        )
    }

    extern "C" fn find_dlopen() -> *mut c_void {
        // SAFETY: a search for a name, behind this library.
        unsafe { sys::dlsym(sys::NEXT, c"dlopen".as_ptr()) }
    }

    extern "C" fn begin() {
        find_usable_size();
        state::begin();
    }

    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEGIN: extern "C" fn() = begin;
}
