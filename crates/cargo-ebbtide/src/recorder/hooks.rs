//! The functions of the allocator that a program calls. Each notes where its caller's stack is,
//! counts down, and continues in the C library. `malloc` and `free` do so in a few instructions of
//! their own, and call those in Rust if there is more to do.
//!
//! They are exported, under their own names, by the shared library only: what else links this crate
//! keeps its allocator.

use super::{
    events,
    local::{Local, NEVER, local},
    slots,
};
use crate::{
    behind::{self, Recorded, Request},
    sys::{self, PAGE},
};
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
        && let Some(block) = events::alloc(Request::new(size, 0), false, end)
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
        && let Some(block) = events::alloc(Request::new(bytes, 0), true, end)
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
        // SAFETY: the caller's block, which was recorded (S2).
        return unsafe { events::free(block, end) };
    }
    if local.times_free.get() && !block.is_null() {
        // SAFETY: the caller's block.
        return unsafe { events::free_timed(Request::new(0, 0), block) };
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
        // SAFETY: the caller's block, which was recorded (S2).
        unsafe { events::free(block, end) };
        return ptr::null_mut();
    }
    // SAFETY: the caller's block, which was recorded (S2).
    unsafe { events::resize(block, Request::new(size, 0), end) }
}

/// Calls a program's allocator. What that gets from the C library is not to count again.
#[inline(always)]
fn unseen<R>(local: &Local, call: impl FnOnce() -> R) -> R {
    let countdown = local.countdown.replace(NEVER);
    let result = call();
    local.countdown.set(countdown);
    result
}

/// What `ebbtide_global::Recorded` calls in a program with an allocator of its own.
///
/// # Safety
///
/// The contract of [`Serve`](crate::behind::Serve).
pub(crate) unsafe extern "C" fn serve(
    block: *mut c_void,
    old: usize,
    align: usize,
    new: usize,
    recorded: *const Recorded,
    end: usize,
) -> *mut c_void {
    behind::ask();
    let local = local();
    note(local, end);
    let (before, after) =
        (Request { size: old, align, recorded }, Request { size: new, align, recorded });
    if block.is_null() {
        let is_zeroed = old > 0;
        let recorded = if is_due(local) { events::alloc(after, is_zeroed, end) } else { None };
        return recorded.unwrap_or_else(|| unseen(local, || after.alloc(is_zeroed)));
    }
    match (slots::contains(block), new) {
        // SAFETY: the block is alive and not used again, by `Serve`'s contract, and was recorded (S2).
        (true, 0) => unsafe { events::free(block, end) },
        // SAFETY: the block is alive and used only through the result, unless that is null, by `Serve`'s
        // contract, and was recorded (S2).
        (true, _) => return unsafe { events::resize(block, after, end) },
        // SAFETY: the block is alive and not used again, by `Serve`'s contract. It was not recorded (S2), so
        // the program's allocator has served it, with this size and alignment.
        (false, 0) if local.times_free.get() => unsafe { events::free_timed(before, block) },
        // SAFETY: as for the timed one.
        (false, 0) => unseen(local, || unsafe { before.free(block) }),
        // SAFETY: the program's allocator has served the block (S2), with this size and alignment; `Serve`'s
        // contract says that it is used only through the result, unless that is null.
        (false, _) => return unseen(local, || unsafe { before.resize(block, new) }),
    }
    ptr::null_mut()
}

pub(crate) extern "C" fn memalign(align: usize, size: usize, end: usize) -> *mut c_void {
    let local = local();
    note(local, end);
    if align.is_power_of_two()
        && is_due(local)
        && let Some(block) = events::alloc(Request::new(size, align.max(16)), false, end)
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
        // SAFETY: the caller's block, which was recorded (S2).
        return unsafe { slots::usable_size(block) };
    }
    // SAFETY: the caller's block.
    unsafe { sys::usable_size(block) }
}

/// What the shared library exports. Each passes the end of its own frame as a last argument.
#[cfg(ebbtide_preload)]
mod exported {
    use super::*;
    use crate::recorder::process;
    use core::{arch::naked_asm, mem::offset_of};

    /// What [`malloc`](super::malloc) does for a block that is not due, from a position of the stack
    /// that is not above the highest: seven instructions.
    #[unsafe(naked)]
    #[unsafe(no_mangle)]
    extern "C" fn malloc(size: usize) -> *mut c_void {
        naked_asm!(
            ".cfi_startproc",
            "mov rax, qword ptr [rip + ebbtide_recorder_local@gottpoff]",
            "lea rsi, [rsp + 8]",
            "cmp rsi, qword ptr fs:[rax + {high}]",
            "ja 2f",
            "dec qword ptr fs:[rax + {countdown}]",
            "js 3f",
            "jmp qword ptr [rip + __libc_malloc@GOTPCREL]",
            "3:",
            "inc qword ptr fs:[rax + {countdown}]",
            "2:",
            "jmp {all}",
            ".cfi_endproc",
            high = const offset_of!(Local, high),
            countdown = const offset_of!(Local, countdown),
            all = sym super::malloc,
        )
    }

    /// What [`free`](super::free) does for a block of the C library that is not timed: eleven
    /// instructions. The size of the range is read before its start, as `slots::contains` does.
    #[unsafe(naked)]
    #[unsafe(no_mangle)]
    extern "C" fn free(block: *mut c_void) {
        naked_asm!(
            ".cfi_startproc",
            "mov rax, qword ptr [rip + ebbtide_recorder_local@gottpoff]",
            "lea rsi, [rsp + 8]",
            "cmp rsi, qword ptr fs:[rax + {high}]",
            "ja 2f",
            "mov rdx, qword ptr [rip + {bytes}]",
            "mov rcx, rdi",
            "sub rcx, qword ptr [rip + {start}]",
            "cmp rcx, rdx",
            "jb 2f",
            "cmp byte ptr fs:[rax + {times_free}], 0",
            "jne 2f",
            "jmp qword ptr [rip + __libc_free@GOTPCREL]",
            "2:",
            "jmp {all}",
            ".cfi_endproc",
            high = const offset_of!(Local, high),
            bytes = sym slots::BYTES,
            start = sym slots::START,
            times_free = const offset_of!(Local, times_free),
            all = sym super::free,
        )
    }

    macro_rules! export {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $register:literal, $target:path;)*) => {$(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) -> $result {
                naked_asm!(
                    ".cfi_startproc",
                    concat!("lea ", $register, ", [rsp + 8]"),
                    "jmp {target}",
                    ".cfi_endproc",
                    target = sym $target,
                )
            }
        )*};
    }

    export! {
        calloc(count: usize, size: usize) -> *mut c_void, "rdx", super::calloc;
        realloc(block: *mut c_void, size: usize) -> *mut c_void, "rdx", super::realloc;
        memalign(align: usize, size: usize) -> *mut c_void, "rdx", super::memalign;
        aligned_alloc(align: usize, size: usize) -> *mut c_void, "rdx", super::memalign;
        valloc(size: usize) -> *mut c_void, "rsi", super::valloc;
        pvalloc(size: usize) -> *mut c_void, "rsi", super::pvalloc;
        posix_memalign(result: *mut *mut c_void, align: usize, size: usize) -> c_int, "rcx",
            super::posix_memalign;
        ebbtide_preloaded_1(block: *mut c_void, old: usize, align: usize, new: usize,
            recorded: *const Recorded) -> *mut c_void, "r9", super::serve;
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
        // SAFETY: the caller's block.
        unsafe { super::malloc_usable_size(block) }
    }

    extern "C" fn begin() {
        sys::refuse_other_allocators();
        sys::find_usable_size();
        process::begin();
    }

    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEGIN: extern "C" fn() = begin;

    extern "C" fn end() {
        process::end();
    }

    #[used]
    #[unsafe(link_section = ".fini_array")]
    static END: extern "C" fn() = end;
}
