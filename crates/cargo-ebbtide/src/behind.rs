//! The allocator behind a preloaded library: the C library's, or one of the program, in front of which
//! `ebbtide_global::Recorded` asks the library.

use crate::sys;
use core::{
    ffi::c_void,
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether a `Recorded` has asked this library, which then serves nobody else: the program's allocator may
/// get its memory from the C library's, and its blocks in there could not be told from this library's.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Notes that a `Recorded` asks this library.
#[inline(always)]
pub(crate) fn ask() {
    if !is_asked() {
        IS_ASKED.store(true, Ordering::Relaxed);
    }
}

#[inline(always)]
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}

/// Allocates, resizes or frees a block: see `Serve` in `ebbtide-global/src/recorded.rs`. The library has
/// such a function named `ebbtide_preloaded_1`, where 1 is the version of this type.
pub(crate) type Serve =
    unsafe extern "C" fn(*mut c_void, usize, usize, usize, *const Recorded) -> *mut c_void;

/// What `ebbtide_global::Recorded` begins with.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Recorded {
    serve: Serve,
}

/// The size and the alignment of a block, and the allocator that serves it if the library does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) size: usize,
    /// 0 for that of the C library's `malloc`.
    pub(crate) align: usize,
    /// Null for the C library; otherwise the value with which the program called, which is alive until the
    /// call returns.
    pub(crate) recorded: *const Recorded,
}

impl Request {
    /// One to the C library.
    pub(crate) fn new(size: usize, align: usize) -> Request {
        Request { size, align, recorded: ptr::null() }
    }

    /// Calls the program's allocator; `None` for the C library.
    ///
    /// # Safety
    ///
    /// The contract of [`Serve`].
    #[inline(always)]
    unsafe fn serve(&self, block: *mut c_void, old: usize, new: usize) -> Option<*mut c_void> {
        // SAFETY: the pointer is null, or that of a `Recorded`, which is alive during the program's call and
        // never written.
        let recorded = unsafe { self.recorded.as_ref() }?;
        // SAFETY: the contract is that of this function, and the last argument is the value that has the
        // function.
        Some(unsafe { (recorded.serve)(block, old, self.align, new, self.recorded) })
    }

    /// A new block, or null. Inlined, because it is timed.
    #[inline(always)]
    pub(crate) fn alloc(&self, is_zeroed: bool) -> *mut c_void {
        // SAFETY: size and alignment are those of a layout of the program, which has a size.
        let served = unsafe { self.serve(ptr::null_mut(), usize::from(is_zeroed), self.size) };
        served.unwrap_or_else(|| {
            if self.align > 0 {
                // SAFETY: has no preconditions.
                unsafe { sys::__libc_memalign(self.align, self.size) }
            } else if is_zeroed {
                // SAFETY: has no preconditions.
                unsafe { sys::__libc_calloc(1, self.size) }
            } else {
                // SAFETY: has no preconditions.
                unsafe { sys::__libc_malloc(self.size) }
            }
        })
    }

    /// Frees a block. Inlined as well.
    ///
    /// # Safety
    ///
    /// This allocator has served it for this request, which for the C library may have another size and
    /// alignment. It is not used again.
    #[inline(always)]
    pub(crate) unsafe fn free(&self, block: *mut c_void) {
        // SAFETY: by this function's contract, the allocator has served the block for this size and
        // alignment, and nobody uses it again.
        if unsafe { self.serve(block, self.size, 0) }.is_none() {
            // SAFETY: it is the C library's block, or null, and nobody uses it again.
            unsafe { sys::__libc_free(block) };
        }
    }

    /// Resizes a block of a program's allocator.
    ///
    /// # Safety
    ///
    /// As of [`free`](Request::free), if the result is not null; `new` is a size of the program.
    pub(crate) unsafe fn resize(&self, block: *mut c_void, new: usize) -> *mut c_void {
        // SAFETY: by this function's contract, the allocator has served the block for this size and
        // alignment, and nobody uses it again if the result is not null; `new` is a size of the program.
        unsafe { self.serve(block, self.size, new) }.unwrap_or(ptr::null_mut())
    }
}
