//! The operating system's interface to address ranges, its clock and its threads.
//!
//! `range`, `run`, `pool` and `helper` call it. It is the only place with calls of the system for
//! memory. Each platform has a module `system`, with these functions beside those below:
//!
//! - `reserve` reserves addresses without memory behind them. They are never given back.
//! - `page_bytes` is the size of a page. Memory goes back to the system in multiples of it.
//! - `addresses_left` is the number of bytes of addresses that this process may still reserve;
//!   [`usize::MAX`] if no limit is known.
//! - `milliseconds` is monotonic time since an arbitrary moment, with a resolution of a few
//!   milliseconds. It costs a few nanoseconds.
//! - `thread_time` is the processor time of the calling thread, in nanoseconds or in cycles of the
//!   processor; 0 if the system does not tell. It costs a few hundred nanoseconds.
//! - `start_thread` starts a thread that calls a function. The thread handles no signals, and nobody
//!   waits for its end. It allocates nothing through Rust, and returns false if that fails.

use core::ptr::NonNull;
pub(crate) use system::{
    addresses_left, milliseconds, page_bytes, reserve, start_thread, thread_time,
};

/// Commits memory for a part of a range that [`reserve`] returned. New pages are zeroed; pages that
/// already had memory keep their contents.
pub(crate) fn commit(start: NonNull<u8>, size_bytes: usize) -> bool {
    invariant!((start.addr().get() | size_bytes) % page_bytes() == 0, "whole pages are committed");
    system::commit(start, size_bytes)
}

/// The result of giving memory back to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "no system has all of them")]
pub(crate) enum Purged {
    /// The pages have no memory behind them any more. They are usable after [`recommit`], and
    /// zeroed.
    Gone,
    /// The system may take the memory at any time until the pages are written to. The pages stay
    /// usable, and are zeroed or keep their contents.
    Offered,
    /// Nothing changed.
    Not,
}

/// Gives the memory behind pages back to the system. The addresses stay reserved. `start` is the
/// start of a page. If the bytes end inside a page, that page goes back as a whole.
///
/// # Safety
///
/// The pages were committed, and nothing in them is in use.
pub(crate) unsafe fn purge(start: NonNull<u8>, size_bytes: usize) -> Purged {
    invariant!(start.addr().get() % page_bytes() == 0, "the start of a page is purged");
    // SAFETY: the pages were committed and nothing in them is in use, by this function's contract;
    // this is all that `system::purge` requires.
    unsafe { system::purge(start, size_bytes) }
}

/// Makes pages usable again after [`Purged::Gone`]. Pages in the range that were not purged keep
/// their contents. Returns false, and changes nothing, if the system cannot commit the memory.
pub(crate) fn recommit(start: NonNull<u8>, size_bytes: usize) -> bool {
    // Only Windows takes away the access rights when memory is given back.
    !cfg!(all(windows, not(miri))) || commit(start, size_bytes)
}

/// Makes every child process that is forked off call `f`. Returns false if that fails.
pub(crate) fn call_in_children(f: extern "C" fn()) -> bool {
    #[cfg(all(unix, not(miri)))]
    {
        let f: unsafe extern "C" fn() = f;
        // SAFETY: a child may call `f` at any time: it is a safe function, and `helper` passes the
        // only one, which stores to atomics and takes no lock.
        unsafe { libc::pthread_atfork(None, None, Some(f)) == 0 }
    }
    #[cfg(not(all(unix, not(miri))))]
    {
        let _ = f;
        true
    }
}

#[cfg(all(unix, not(miri)))]
mod system {
    use super::Purged;
    use core::{
        mem::{self, MaybeUninit},
        ptr::{self, NonNull},
    };

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_COARSE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

    /// The stack of the thread, in bytes. The C library places thread-locals there as well.
    const STACK: usize = 256 << 10;

    extern "C" fn call(f: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: `start_thread` passes a function of this type. A pointer to a function is as
        // large as any other on the systems of this module.
        let f = unsafe { mem::transmute::<*mut libc::c_void, fn()>(f) };
        f();
        ptr::null_mut()
    }

    pub(crate) fn start_thread(f: fn()) -> bool {
        let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: the pointer is valid for writes of a signal set.
        unsafe { libc::sigfillset(all.as_mut_ptr()) };
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        let (all, saved) = (all.as_ptr(), before.as_mut_ptr());
        // SAFETY: `all` points to a set that was filled above, `saved` is valid for writes of one.
        if unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all, saved) } != 0 {
            return false;
        }
        // The new thread inherits the mask.
        let is_started = create_thread(f);
        // SAFETY: `saved` points to the set that the call above has written; nothing is returned
        // through the null pointer.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, saved, ptr::null_mut()) };
        is_started
    }

    fn create_thread(f: fn()) -> bool {
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        let attributes = attributes.as_mut_ptr();
        // SAFETY: the pointer is valid for writes of the attributes.
        if unsafe { libc::pthread_attr_init(attributes) } != 0 {
            return false;
        }
        // SAFETY: the attributes were initialised above. If the size is refused, it stays as it is.
        unsafe { libc::pthread_attr_setstacksize(attributes, STACK) };
        let detached = libc::PTHREAD_CREATE_DETACHED;
        // SAFETY: the attributes were initialised above.
        let is_detached = unsafe { libc::pthread_attr_setdetachstate(attributes, detached) } == 0;
        let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
        let (thread, argument) = (thread.as_mut_ptr(), f as *mut libc::c_void);
        let is_started = is_detached
            // SAFETY: the pointer is valid for writes of a thread's identifier, the attributes
            // were initialised, and `call` gets the function that it expects.
            && unsafe { libc::pthread_create(thread, attributes, call, argument) } == 0;
        // SAFETY: the attributes were initialised above and are not used again.
        unsafe { libc::pthread_attr_destroy(attributes) };
        is_started
    }

    pub(crate) fn milliseconds() -> u64 {
        nanoseconds(CLOCK) / 1_000_000
    }

    pub(crate) fn thread_time() -> u64 {
        nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    /// The time of a clock; 0 if it fails.
    fn nanoseconds(clock: libc::clockid_t) -> u64 {
        let mut now = MaybeUninit::<libc::timespec>::zeroed();
        // SAFETY: the pointer is valid for writes of the structure.
        let failed = unsafe { libc::clock_gettime(clock, now.as_mut_ptr()) } != 0;
        // SAFETY: all-zero bytes are a valid structure, and so is whatever the system wrote over
        // it.
        let now = unsafe { now.assume_init() };
        #[allow(clippy::unnecessary_cast, reason = "the types depend on the platform")]
        let nanoseconds = now.tv_sec as i64 * 1_000_000_000 + now.tv_nsec as i64;
        if failed { 0 } else { u64::try_from(nanoseconds).unwrap_or(0) }
    }

    pub(crate) fn page_bytes() -> usize {
        // SAFETY: `sysconf` takes a number and accesses no memory of ours.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(bytes).unwrap_or(1 << 16)
    }

    pub(crate) fn addresses_left() -> usize {
        let mut limit = MaybeUninit::<libc::rlimit>::zeroed();
        // SAFETY: the pointer is valid for writes of the structure.
        let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, limit.as_mut_ptr()) } != 0;
        // SAFETY: all-zero bytes are a valid structure, and so is whatever the system wrote over
        // it.
        let limit = unsafe { limit.assume_init() }.rlim_cur;
        if failed || limit == libc::RLIM_INFINITY {
            return usize::MAX;
        }
        usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(addresses_used())
    }

    /// The size of all current mappings in bytes; 0 if the system does not say.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn addresses_used() -> usize {
        let mut text = [0_u8; 24];
        // SAFETY: the path ends with a zero.
        let file =
            unsafe { libc::open(c"/proc/self/statm".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if file < 0 {
            return 0;
        }
        // SAFETY: the buffer is valid for writes of `text.len()` bytes.
        let read = unsafe { libc::read(file, text.as_mut_ptr().cast(), text.len()) };
        // SAFETY: the file was opened above, and nobody else uses its descriptor.
        unsafe { libc::close(file) };
        let text = &text[..usize::try_from(read).unwrap_or(0)];
        // The first number: pages.
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        let pages = digits.fold(0_usize, |sum, digit| sum * 10 + usize::from(digit - b'0'));
        pages.saturating_mul(page_bytes())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn addresses_used() -> usize {
        0
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const NO_RESERVE: libc::c_int = libc::MAP_NORESERVE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const NO_RESERVE: libc::c_int = 0;

    /// The advice that gives the memory of pages back, and its effect. Only Linux takes the pages
    /// back at once.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const GIVE_BACK: (libc::c_int, Purged) = (libc::MADV_DONTNEED, Purged::Gone);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const GIVE_BACK: (libc::c_int, Purged) = (libc::MADV_FREE, Purged::Offered);

    pub(crate) fn reserve(size_bytes: usize) -> Option<NonNull<u8>> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | NO_RESERVE;
        // SAFETY: a new mapping at an address that the system chooses affects no other mapping.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), size_bytes, libc::PROT_NONE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        // If the system used huge pages for the range, a chunk with one page in use would cost two
        // megabytes.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // SAFETY: the mapping is ours, and the advice does not change its contents. Kernels without
        // huge pages refuse it, which has the same effect.
        unsafe {
            libc::madvise(start, size_bytes, libc::MADV_NOHUGEPAGE);
        }
        NonNull::new(start.cast())
    }

    pub(super) fn commit(start: NonNull<u8>, size_bytes: usize) -> bool {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the pages are part of our own mapping, and only gain access rights.
        unsafe { libc::mprotect(start.as_ptr().cast(), size_bytes, access) == 0 }
    }

    /// # Safety
    ///
    /// The contract of [`super::purge`].
    pub(super) unsafe fn purge(start: NonNull<u8>, size_bytes: usize) -> Purged {
        let (advice, purged) = GIVE_BACK;
        // SAFETY: the pages are whole, committed and ours, and nothing in them is in use, by this
        // function's contract, so their contents may go.
        let done = unsafe { libc::madvise(start.as_ptr().cast(), size_bytes, advice) == 0 };
        if done { purged } else { Purged::Not }
    }
}

#[cfg(all(windows, not(miri)))]
mod system {
    use super::Purged;
    use core::{
        ffi::c_void,
        mem,
        ptr::{self, NonNull},
    };

    const MEM_COMMIT: u32 = 0x1000;
    const MEM_RESERVE: u32 = 0x2000;
    const MEM_DECOMMIT: u32 = 0x4000;
    const PAGE_NOACCESS: u32 = 0x01;
    const PAGE_READWRITE: u32 = 0x04;

    // Declared as in kernel32, which the standard library links.
    unsafe extern "system" {
        fn VirtualAlloc(at: *mut c_void, size: usize, kind: u32, access: u32) -> *mut c_void;
        fn VirtualFree(at: *mut c_void, size: usize, kind: u32) -> i32;
        safe fn GetTickCount64() -> u64;
        safe fn GetCurrentThread() -> *mut c_void;
        fn QueryThreadCycleTime(thread: *mut c_void, cycles: *mut u64) -> i32;
        fn CreateThread(
            attributes: *mut c_void,
            stack: usize,
            start: extern "system" fn(*mut c_void) -> u32,
            argument: *mut c_void,
            flags: u32,
            id: *mut u32,
        ) -> *mut c_void;
        fn CloseHandle(handle: *mut c_void) -> i32;
    }

    extern "system" fn call(f: *mut c_void) -> u32 {
        // SAFETY: `start_thread` passes a function of this type, whose pointer is as large as any
        // other.
        let f = unsafe { mem::transmute::<*mut c_void, fn()>(f) };
        f();
        0
    }

    pub(crate) fn start_thread(f: fn()) -> bool {
        // SAFETY: the defaults for attributes, stack and flags; nobody asks for the identifier.
        // `call` gets the function that it expects.
        let thread =
            unsafe { CreateThread(ptr::null_mut(), 0, call, f as *mut c_void, 0, ptr::null_mut()) };
        // SAFETY: the handle, if there is one, is closed once. The thread goes on without it.
        !thread.is_null() && unsafe { CloseHandle(thread) } != 0
    }

    pub(crate) fn milliseconds() -> u64 {
        GetTickCount64()
    }

    pub(crate) fn thread_time() -> u64 {
        let mut cycles = 0;
        // SAFETY: the pseudo-handle of the calling thread is always valid, and the pointer is valid
        // for the write of a number. If the call fails, the number stays 0.
        unsafe { QueryThreadCycleTime(GetCurrentThread(), &raw mut cycles) };
        cycles
    }

    pub(crate) fn page_bytes() -> usize {
        4 << 10
    }

    pub(crate) fn addresses_left() -> usize {
        usize::MAX
    }

    pub(crate) fn reserve(size_bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: a new reservation at an address that the system chooses affects no other.
        let start =
            unsafe { VirtualAlloc(ptr::null_mut(), size_bytes, MEM_RESERVE, PAGE_NOACCESS) };
        NonNull::new(start.cast())
    }

    pub(super) fn commit(start: NonNull<u8>, size_bytes: usize) -> bool {
        // SAFETY: the pages are part of our own reservation; committed ones keep their contents.
        let done =
            unsafe { VirtualAlloc(start.as_ptr().cast(), size_bytes, MEM_COMMIT, PAGE_READWRITE) };
        !done.is_null()
    }

    /// Decommits. `MEM_RESET` would leave the memory committed, with undefined contents.
    ///
    /// # Safety
    ///
    /// The contract of [`super::purge`].
    pub(super) unsafe fn purge(start: NonNull<u8>, size_bytes: usize) -> Purged {
        // SAFETY: the pages are committed, part of our own reservation, and nothing in them is in
        // use, by this function's contract, so their contents may go.
        let done = unsafe { VirtualFree(start.as_ptr().cast(), size_bytes, MEM_DECOMMIT) != 0 };
        if done { Purged::Gone } else { Purged::Not }
    }
}

/// For Miri, which does not support `mprotect`, so the range is small, and committed as a whole; and
/// for other systems, where [`MAX_RANGE`](super::range::MAX_RANGE) is 0, so nothing is reserved.
#[cfg(any(miri, not(any(unix, windows))))]
mod system {
    use super::Purged;
    use core::{
        alloc::{GlobalAlloc, Layout},
        ptr::NonNull,
    };
    use std::alloc::System;

    pub(crate) fn start_thread(_: fn()) -> bool {
        false
    }

    pub(crate) fn milliseconds() -> u64 {
        0
    }

    pub(crate) fn thread_time() -> u64 {
        0
    }

    pub(crate) fn page_bytes() -> usize {
        1 << 16
    }

    pub(crate) fn addresses_left() -> usize {
        usize::MAX
    }

    pub(crate) fn reserve(size_bytes: usize) -> Option<NonNull<u8>> {
        let layout = Layout::from_size_align(size_bytes, 1 << 16).ok()?;
        // SAFETY: `range` reserves no fewer than `MIN_RANGE` bytes, so the size is not 0.
        NonNull::new(unsafe { System.alloc_zeroed(layout) })
    }

    pub(super) fn commit(_: NonNull<u8>, _: usize) -> bool {
        true
    }

    /// # Safety
    ///
    /// None: the memory stays.
    pub(super) unsafe fn purge(_: NonNull<u8>, _: usize) -> Purged {
        Purged::Not
    }
}
