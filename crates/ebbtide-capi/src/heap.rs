//! The current heap: of each thread or, without `std`, of all threads. Only `ebbtide_hooks.h` reads
//! what the pointer points to.

use core::ffi::c_void;

#[cfg(feature = "std")]
mod current {
    use core::{cell::Cell, ffi::c_void, ptr};

    thread_local! {
        static CURRENT: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
    }

    pub(super) fn get() -> *mut c_void {
        // The variable has no destructor, so it exists as long as its thread.
        CURRENT.try_with(Cell::get).unwrap_or(ptr::null_mut())
    }

    pub(super) fn replace(heap: *mut c_void) -> *mut c_void {
        CURRENT.try_with(|current| current.replace(heap)).unwrap_or(ptr::null_mut())
    }
}

#[cfg(not(feature = "std"))]
mod current {
    use core::{
        ffi::c_void,
        ptr,
        sync::atomic::{AtomicPtr, Ordering::Relaxed},
    };

    static CURRENT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

    pub(super) fn get() -> *mut c_void {
        CURRENT.load(Relaxed)
    }

    /// Not a swap: some processors without threads have none.
    pub(super) fn replace(heap: *mut c_void) -> *mut c_void {
        let previous = CURRENT.load(Relaxed);
        CURRENT.store(heap, Relaxed);
        previous
    }
}

/// The current heap of this thread; null for the C library's.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_current_heap_() -> *mut c_void {
    current::get()
}

/// Makes another heap the current one of this thread, and returns the previous one.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_replace_current_heap_(heap: *mut c_void) -> *mut c_void {
    current::replace(heap)
}
