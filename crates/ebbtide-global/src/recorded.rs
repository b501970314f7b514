//! A global allocator that `cargo ebbtide advise` can record.

use core::{
    alloc::{GlobalAlloc, Layout},
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Passes each request on to another allocator, and lets `cargo ebbtide advise` record it (feature
/// `recorded`).
///
/// The adviser sees the blocks of the C library's allocator by itself. Around mimalloc, jemalloc or
/// another one that is built into a program, this type shows it theirs. Without the adviser, a call
/// costs a load and a comparison more.
///
/// ```
/// use ebbtide_global::Recorded;
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Recorded<System> = Recorded::new(System); // or over mimalloc, jemalloc …
///
/// assert_eq!(vec![1; 100].len(), 100);
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[cfg_attr(docsrs, doc(cfg(feature = "recorded")))]
pub struct Recorded<A> {
    /// The library that the adviser preloads serves some blocks, and calls this for the others.
    serve: Serve,
    inner: A,
}

/// Allocates, resizes or frees a block, with the contracts of `GlobalAlloc`, from the second argument's
/// bytes to the fourth's. There are none before it is allocated, or one if it is to be zeroed, and none when
/// it is freed. The third is the alignment, the last a `Recorded`. `behind.rs` of the adviser has the same
/// type; the name of the library's function has the version.
type Serve = unsafe extern "C" fn(*mut u8, usize, usize, usize, *const ()) -> *mut u8;

/// The library's function; null if nothing is preloaded, or while it is searched, and one that searches it
/// before that.
/// Relaxed: the loader has made it before the program runs.
static PRELOADED: AtomicPtr<()> = AtomicPtr::new(search as *mut ());

/// Finds the library's function, and does what it does.
#[cold]
unsafe extern "C" fn search(
    block: *mut u8,
    old: usize,
    align: usize,
    new: usize,
    recorded: *const (),
) -> *mut u8 {
    // `dlsym` allocates, with this allocator where the program's `malloc` does so. What the inner allocator
    // serves until then, the library passes on to it.
    PRELOADED.store(ptr::null_mut(), Ordering::Relaxed);
    #[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
    // SAFETY: `dlsym` reads the name, which ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"ebbtide_preloaded_1".as_ptr()) };
    #[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
    let found = ptr::null_mut::<core::ffi::c_void>();
    PRELOADED.store(found.cast(), Ordering::Relaxed);
    // SAFETY: a function with this name and version has this type, wherever it is from; null is `None`.
    let found = unsafe { mem::transmute::<*mut core::ffi::c_void, Option<Serve>>(found) };
    // SAFETY: `serve` below passes a live `Recorded`, which begins with its function (`repr(C)`).
    let serve = found.unwrap_or_else(|| unsafe { *recorded.cast::<Serve>() });
    // SAFETY: the contract of `Serve` is that of this function, too.
    unsafe { serve(block, old, align, new, recorded) }
}

impl<A: GlobalAlloc> Recorded<A> {
    /// Puts an allocator behind the adviser's library.
    ///
    /// ```
    /// use ebbtide_global::Recorded;
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Recorded<System> = Recorded::new(System);
    /// ```
    #[must_use]
    pub const fn new(inner: A) -> Recorded<A> {
        Recorded { serve: Self::behind, inner }
    }

    /// Calls the library's function with these arguments, or else the inner allocator.
    ///
    /// # Safety
    ///
    /// The contract of [`Serve`].
    #[inline(always)]
    unsafe fn serve(
        &self,
        (block, old, align, new): (*mut u8, usize, usize, usize),
        inner: impl FnOnce(&A) -> *mut u8,
    ) -> *mut u8 {
        let found = PRELOADED.load(Ordering::Relaxed);
        if found.is_null() {
            return inner(&self.inner);
        }
        // SAFETY: `PRELOADED` holds `search` or, if not null, the function that it found, both of this type.
        let serve = unsafe { mem::transmute::<*mut (), Serve>(found) };
        // SAFETY: the contract of `Serve` is that of this method, and the last argument is a live `Recorded`.
        unsafe { serve(block, old, align, new, ptr::from_ref(self).cast()) }
    }

    /// What the library calls.
    unsafe extern "C" fn behind(
        block: *mut u8,
        old: usize,
        align: usize,
        new: usize,
        recorded: *const (),
    ) -> *mut u8 {
        // SAFETY: the library passes on the address that `serve` passed to it, of a value of this type, which
        // is alive during that call and is never written.
        let inner = unsafe { &(*recorded.cast::<Recorded<A>>()).inner };
        let size = if block.is_null() { new } else { old };
        // SAFETY: the library passes on size and alignment of a layout, or a new size for such an alignment.
        let layout = unsafe { Layout::from_size_align_unchecked(size, align) };
        match (block.is_null(), old, new) {
            // SAFETY: the program asked for this layout, or to resize a block to it, so it has a size.
            (true, 0, _) => unsafe { inner.alloc(layout) },
            // SAFETY: the program asked for this layout, so it has a size.
            (true, ..) => unsafe { inner.alloc_zeroed(layout) },
            (false, _, 0) => {
                // SAFETY: the library has not served the block, so this allocator has, with this layout. The
                // program does not use it again.
                unsafe { inner.dealloc(block, layout) };
                ptr::null_mut()
            }
            // SAFETY: the library has not served the block, so this allocator has, with this layout; the new
            // size is the program's, and so is the promise to use the result only, unless that is null.
            (false, ..) => unsafe { inner.realloc(block, layout, new) },
        }
    }
}

// SAFETY: each block is served by the preloaded library or by the inner allocator, which keep the contract.
// The library knows its own blocks by their addresses, and passes the others on with their layout. Nothing
// unwinds out of functions with C's calling convention.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Recorded<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let new = (ptr::null_mut(), 0, layout.align(), layout.size());
        // SAFETY: the layout has a size, by the contract of `alloc`.
        let inner = |inner: &A| unsafe { inner.alloc(layout) };
        // SAFETY: size and alignment of this layout, for a new block.
        unsafe { self.serve(new, inner) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let new = (ptr::null_mut(), 1, layout.align(), layout.size());
        // SAFETY: the layout has a size, by the contract of `alloc_zeroed`.
        let inner = |inner: &A| unsafe { inner.alloc_zeroed(layout) };
        // SAFETY: size and alignment of this layout, for a new block.
        unsafe { self.serve(new, inner) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let inner = |inner: &A| {
            // SAFETY: nothing is preloaded, so this allocator has served the block. It is alive, has this layout
            // and is not used again, by the contract of `dealloc`.
            unsafe { inner.dealloc(block, layout) };
            ptr::null_mut()
        };
        // SAFETY: the block is alive, has this layout and is not used again, by the contract of `dealloc`.
        unsafe { self.serve((block, layout.size(), layout.align(), 0), inner) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        let resized = (block, layout.size(), layout.align(), new);
        // SAFETY: nothing is preloaded, so this allocator has served the block; the rest is its own contract.
        let inner = |inner: &A| unsafe { inner.realloc(block, layout, new) };
        // SAFETY: the block is alive, has this layout and is used only through the result, unless that is null,
        // by the contract of `realloc`, which bounds the new size as well.
        unsafe { self.serve(resized, inner) }
    }
}
