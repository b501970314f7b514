//! The functions and constants of the C library that the preloaded libraries use.
#![allow(non_camel_case_types, clippy::missing_safety_doc, reason = "the C library's")]

use core::{
    ffi::{CStr, c_char, c_int, c_long, c_uint, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

pub(crate) const PAGE: usize = 4096;
pub(crate) const PROT_READ_WRITE: c_int = 3;
pub(crate) const PROT_READ_EXECUTE: c_int = 5;
pub(crate) const PROT_NONE: c_int = 0;
pub(crate) const MAP_SHARED: c_int = 1;
pub(crate) const MAP_PRIVATE: c_int = 2;
pub(crate) const MAP_ANONYMOUS: c_int = 0x20;
pub(crate) const MAP_NORESERVE: c_int = 0x4000;
pub(crate) const MAP_FIXED_NOREPLACE: c_int = 0x10_0000;
pub(crate) const MADV_DONTNEED: c_int = 4;
pub(crate) const MADV_WIPEONFORK: c_int = 18;
pub(crate) const MADV_DONTDUMP: c_int = 16;
/// For `dlsym`: the definition after this library's.
pub(crate) const NEXT: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);
/// The version of the C library's oldest functions for this processor.
pub(crate) const VERSION: &CStr = c"GLIBC_2.2.5";
pub(crate) const RTLD_LAZY: c_int = 1;
pub(crate) const RTLD_NOLOAD: c_int = 4;
pub(crate) const RTLD_DEEPBIND: c_int = 8;
pub(crate) const O_RDWR: c_int = 2;
pub(crate) const O_CREAT: c_int = 0o100;
pub(crate) const O_EXCL: c_int = 0o200;
pub(crate) const O_NOFOLLOW: c_int = 0o400_000;
pub(crate) const O_CLOEXEC: c_int = 0o2_000_000;
pub(crate) const SYS_WRITE: c_long = 1;
pub(crate) const SYS_OPEN: c_long = 2;
/// The clock of the time that the process takes on the processor.
pub(crate) const CLOCK_PROCESS: c_int = 2;
pub(crate) const SYS_CLOSE: c_long = 3;
pub(crate) const SYS_RT_SIGPROCMASK: c_long = 14;
pub(crate) const SYS_FTRUNCATE: c_long = 77;
pub(crate) const SYS_EXIT_GROUP: c_long = 231;
pub(crate) const SYS_FALLOCATE: c_long = 285;
pub(crate) const RLIMIT_FSIZE: c_int = 1;
pub(crate) const RLIMIT_AS: c_int = 9;
pub(crate) const EFAULT: c_int = 14;
pub(crate) const EINTR: c_int = 4;
pub(crate) const ENOMEM: c_int = 12;
pub(crate) const EINVAL: c_int = 22;
pub(crate) const ENOSYS: c_int = 38;
pub(crate) const EOPNOTSUPP: c_int = 95;

/// A limit of the process: the present one, and up to where it can be raised.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Limit {
    present: u64,
    most: u64,
}

/// The present limit of a resource; the highest number if there is none.
pub(crate) fn limit(resource: c_int) -> u64 {
    let mut limit = Limit { present: u64::MAX, most: u64::MAX };
    // SAFETY: the variable has the layout that the C library writes.
    unsafe { getrlimit(resource, &raw mut limit) };
    limit.present
}

/// New memory from the system, all of it zero, of which pages that are not used cost nothing. `None`
/// if the system refuses.
pub(crate) fn reserve(bytes: usize, protection: c_int) -> Option<*mut c_void> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: a new mapping at an address that the system chooses overlaps no other mapping.
    let memory = unsafe { mmap(core::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    (memory.addr() != usize::MAX).then_some(memory)
}

/// The thread's number of the latest error.
pub(crate) fn errno() -> c_int {
    // SAFETY: has no preconditions.
    let errno = unsafe { __errno_location() };
    // SAFETY: the C library returned the address of this thread's variable, which is aligned and
    // alive.
    unsafe { errno.read() }
}

pub(crate) fn set_errno(number: c_int) {
    // SAFETY: has no preconditions.
    let errno = unsafe { __errno_location() };
    // SAFETY: the C library returned the address of this thread's variable, which is aligned, alive
    // and used by no other thread.
    unsafe { errno.write(number) };
}

/// Whether the eight bytes at this address can be read.
#[cold]
pub(crate) fn is_readable(address: usize) -> bool {
    let before = errno();
    // SAFETY: changes nothing, because no operation has this number. The system reads the bytes before
    // it says so.
    unsafe { syscall(SYS_RT_SIGPROCMASK, -1_i64, address, 0_usize, 8_usize) };
    let is_readable = errno() != EFAULT;
    set_errno(before);
    is_readable
}

/// A size in whole pages. What is too large to be rounded is refused as it is.
pub(crate) fn whole_pages(size: usize) -> usize {
    size.checked_next_multiple_of(PAGE).unwrap_or(size)
}

/// The C library's `posix_memalign`, for blocks of `alloc`.
///
/// # Safety
///
/// `result` is a variable that may be written.
pub(crate) unsafe fn posix_memalign(
    result: *mut *mut c_void,
    align: usize,
    alloc: impl FnOnce() -> *mut c_void,
) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return EINVAL;
    }
    let block = alloc();
    if block.is_null() {
        return ENOMEM;
    }
    // SAFETY: `result` is valid for the write of one pointer by this function's contract, and
    // aligned as a variable is.
    unsafe { result.write(block) };
    0
}

/// Ends the process, with a sentence, if there is another allocator than the C library's behind the
/// preloaded library: it would get blocks that it has not allocated, or call itself without end. The
/// adviser refuses such a program before it runs, but not one that a script starts.
pub(crate) fn refuse_other_allocators() {
    type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
    let library = c_library();
    // SAFETY: a search for a name, in the C library or behind this one.
    let find = |from, name: &CStr| unsafe { dlvsym(from, name.as_ptr(), VERSION.as_ptr()) };
    // Not this library's `dlsym`. It finds functions without versions, which others have.
    let dlsym = find(NEXT, c"dlsym");
    // SAFETY: the C library's function has this type, and a null pointer is `None`.
    let dlsym = unsafe { core::mem::transmute::<*mut c_void, Option<Dlsym>>(dlsym) };
    // SAFETY: a search for a name, behind this library.
    let next = dlsym.map(|dlsym| unsafe { dlsym(NEXT, c"malloc".as_ptr()) });
    let is_other = |found: *const c_void, name| !ptr::eq(found, find(library, name));
    let (Some(next), false) = (next, library.is_null()) else { return };
    if !is_other(next, c"malloc") && !is_other(__libc_free as *const c_void, c"__libc_free") {
        return;
    }
    let why =
        b"cargo ebbtide advise: the program loads another allocator; run it with the system's\n";
    // SAFETY: the system reads `why.len()` bytes of the text, which has as many.
    unsafe { syscall(SYS_WRITE, 2_i64, why.as_ptr(), why.len()) };
    // SAFETY: has no preconditions.
    unsafe { syscall(SYS_EXIT_GROUP, 2_i64) };
}

/// The C library's `malloc_usable_size`; null before it is searched.
static USABLE_SIZE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The C library, for `dlsym`.
pub(crate) fn c_library() -> *mut c_void {
    // SAFETY: the library is loaded, so none of its code runs.
    unsafe { dlopen(c"libc.so.6".as_ptr(), RTLD_LAZY | RTLD_NOLOAD) }
}

/// Searches the C library, and not what is loaded next: that may be another allocator, which has
/// none of the program's blocks.
pub(crate) fn find_usable_size() -> *mut c_void {
    let library = c_library();
    if library.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: a search for a name, in an open library.
    let found = unsafe { dlvsym(library, c"malloc_usable_size".as_ptr(), VERSION.as_ptr()) };
    USABLE_SIZE.store(found, Ordering::Relaxed);
    found
}

/// A byte that is not 0 if a child of this process can unwind stacks. Before version 2.35 of the C library,
/// that takes a lock of the loader, which another thread may have at the time of the `fork`, and nobody
/// in the child: then only one of a process with a single thread can.
static CAN_UNWIND: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Searches what [`can_unwind_after_fork`] looks at.
pub(crate) fn find_unwinding() {
    static ALWAYS: u8 = 1;
    // SAFETY: `dlsym` reads the name, which ends with a zero, and searches all libraries for null.
    let find = |name: &CStr| unsafe { dlsym(ptr::null_mut(), name.as_ptr()) };
    let found = if find(c"_dl_find_object").is_null() {
        find(c"__libc_single_threaded").cast()
    } else {
        (&raw const ALWAYS).cast_mut()
    };
    CAN_UNWIND.store(found, Ordering::Relaxed);
}

/// Whether a child of this process can unwind stacks.
pub(crate) fn can_unwind_after_fork() -> bool {
    let byte = CAN_UNWIND.load(Ordering::Relaxed);
    // SAFETY: `find_unwinding` stored the address of a byte of this library or of the C library, both of which
    // stay; others write it atomically, if at all.
    !byte.is_null() && unsafe { byte.read_volatile() } != 0
}

/// The bytes that the caller may use of a block of the C library.
///
/// # Safety
///
/// The block is alive, and the C library's, or null.
pub(crate) unsafe fn usable_size(block: *mut c_void) -> usize {
    let mut found = USABLE_SIZE.load(Ordering::Relaxed);
    if found.is_null() {
        found = find_usable_size();
    }
    type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;
    // SAFETY: the C library's function has this type, and a null pointer is `None`.
    let found = unsafe { core::mem::transmute::<*mut c_void, Option<UsableSize>>(found) };
    // SAFETY: `block` is alive by this function's contract, and the C library's, whose function
    // this is; or null, for which it returns 0.
    found.map_or(0, |found| unsafe { found(block) })
}

/// A state of the unwinder, which describes one frame.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct UnwindContext {
    _private: [u8; 0],
}

pub(crate) type UnwindStep = extern "C" fn(*mut UnwindContext, *mut c_void) -> c_int;

/// The first fields of the C library's `struct dl_phdr_info`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct LoadedModule {
    pub(crate) base: usize,
    pub(crate) name: *const c_char,
    pub(crate) headers: *const ProgramHeader,
    pub(crate) header_count: u16,
    pub(crate) added: u64,
}

/// A program header of a 64-bit file.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ProgramHeader {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) physical: u64,
    pub(crate) file_bytes: u64,
    pub(crate) bytes: u64,
    pub(crate) align: u64,
}

pub(crate) const LOADED: u32 = 1;
pub(crate) const EXECUTABLE: u32 = 1;

pub(crate) type EachModule =
    extern "C" fn(module: *mut LoadedModule, size: usize, data: *mut c_void) -> c_int;

unsafe extern "C" {
    pub(crate) fn __libc_malloc(size: usize) -> *mut c_void;
    pub(crate) fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    pub(crate) fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    pub(crate) fn __libc_free(block: *mut c_void);
    pub(crate) fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
    pub(crate) fn mmap(
        address: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    pub(crate) fn munmap(address: *mut c_void, bytes: usize) -> c_int;
    pub(crate) fn mprotect(address: *mut c_void, bytes: usize, protection: c_int) -> c_int;
    pub(crate) fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    pub(crate) fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
    pub(crate) fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    pub(crate) fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    /// `dlsym` for one version of a function: not the one that the trial exports.
    pub(crate) fn dlvsym(
        library: *mut c_void,
        name: *const c_char,
        version: *const c_char,
    ) -> *mut c_void;
    pub(crate) fn syscall(number: c_long, ...) -> c_long;
    fn getrlimit(resource: c_int, limit: *mut Limit) -> c_int;
    pub(crate) fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
    pub(crate) fn sched_yield() -> c_int;
    pub(crate) fn pthread_key_create(
        key: *mut c_uint,
        end: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    pub(crate) fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
    pub(crate) fn getpid() -> c_int;
    pub(crate) fn dl_iterate_phdr(each: EachModule, data: *mut c_void) -> c_int;
    fn __errno_location() -> *mut c_int;
    pub(crate) fn _Unwind_Backtrace(step: UnwindStep, data: *mut c_void) -> c_int;
    pub(crate) fn _Unwind_GetIP(context: *mut UnwindContext) -> usize;
    pub(crate) fn _Unwind_GetGR(context: *mut UnwindContext, register: c_int) -> usize;
    pub(crate) fn _Unwind_GetCFA(context: *mut UnwindContext) -> usize;
    pub(crate) fn _Unwind_Find_FDE(address: *const c_void, bases: *mut usize) -> *const c_void;
    pub(crate) fn __register_frame(frames: *const c_void);
}
