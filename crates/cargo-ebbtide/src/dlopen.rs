//! `dlopen`, which both preloaded libraries export.

use crate::sys;
use core::{
    arch::naked_asm,
    ffi::{c_char, c_int, c_void},
};

/// Loads a library, which does not prefer the C library's allocator (`RTLD_DEEPBIND`) to this one:
/// a block of this one would reach the C library's `free`. The loader looks at the address to which
/// it returns, so this is no call.
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
