//! `dlopen` and `dlsym`, which both preloaded libraries export.

use crate::sys;
use core::{
    arch::naked_asm,
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

macro_rules! own {
    ($($name:ident)*) => {
        /// Where the function of this name is that this library exports.
        fn own(name: &[u8]) -> Option<*const ()> {
            unsafe extern "C" {
                $(fn $name();)*
            }
            $(if name == stringify!($name).as_bytes() {
                return Some($name as *const ());
            })*
            None
        }
    };
}

own! {
    malloc calloc realloc free memalign aligned_alloc valloc pvalloc posix_memalign malloc_usable_size
}

/// Loads a library, which does not prefer the C library's allocator (`RTLD_DEEPBIND`) to this one:
/// a block of this one would reach the C library's `free`. The loader looks at the address to which
/// it returns, so this is no call.
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void {
    naked_asm!(
        ".cfi_startproc",
        "and esi, {kept}",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {find}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "jmp rax",
        ".cfi_endproc",
        kept = const !sys::RTLD_DEEPBIND,
        find = sym find_dlopen,
    )
}

extern "C" fn find_dlopen() -> *mut c_void {
    // SAFETY: a search for a name, behind this library.
    unsafe { sys::dlsym(sys::NEXT, c"dlopen".as_ptr()) }
}

/// What `dlsym` returns; if it is null, what continues instead.
#[repr(C)]
struct Found {
    own: *const (),
    next: *mut c_void,
}

/// Finds a function of a library, but of the allocator's functions this library's, not those of the C
/// library, which must not get blocks of this one. The loader looks at the address to which it returns,
/// so this is no call.
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void {
    naked_asm!(
        ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {find}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "test rax, rax",
        "jz 2f",
        "ret",
        "2:",
        "jmp rdx",
        ".cfi_endproc",
        find = sym find_dlsym,
    )
}

extern "C" fn find_dlsym(library: *mut c_void, name: *const c_char) -> Found {
    let dlsym = c"dlsym".as_ptr();
    // SAFETY: a search for a name, behind this library.
    let next = unsafe { sys::dlvsym(sys::NEXT, dlsym, sys::VERSION.as_ptr()) };
    // SAFETY: `name` ends with a zero, by `dlsym`'s contract, and its bytes are read only during
    // this call.
    let own = own(unsafe { CStr::from_ptr(name) }.to_bytes());
    let is_own = own.is_some()
        && (library.is_null() || library == sys::NEXT || {
            type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
            // SAFETY: the C library's function has this type, and a null pointer is `None`.
            let find = unsafe { core::mem::transmute::<*mut c_void, Option<Dlsym>>(next) };
            // SAFETY: `name` ends with a zero, by `dlsym`'s contract; `library` is null, `NEXT` or
            // the open C library, and a search changes nothing.
            let search = |library| find.map(|find| unsafe { find(library, name) });
            search(library) == search(sys::c_library())
        });
    Found { own: own.filter(|_| is_own).unwrap_or(ptr::null()), next }
}
