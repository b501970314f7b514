//! Where the chunks of an arena come from.

use core::{
    alloc::Layout,
    ffi::c_void,
    ptr::{self, NonNull},
};
#[cfg(feature = "std")]
use ebbtide::Heap;
use ebbtide::{AllocError, Backing};

/// Two functions that an arena gets its memory from.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ebb_backing {
    /// Returns a block of `size` bytes, aligned to `align`, or null.
    pub allocate: Option<Allocate>,
    /// Takes a block back.
    pub release: Option<Release>,
    /// Passed to both functions.
    pub context: *mut c_void,
}

type Allocate =
    unsafe extern "C" fn(context: *mut c_void, size: usize, align: usize) -> *mut c_void;
type Release =
    unsafe extern "C" fn(context: *mut c_void, block: *mut c_void, size: usize, align: usize);

/// Where the chunks of an arena come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// The heap of the process.
    #[cfg(feature = "std")]
    Heap,
    /// The functions of an [`ebb_backing`].
    Functions { allocate: Allocate, release: Release, context: *mut c_void },
    /// No backing: an arena over a buffer that does not spill.
    Nothing,
}

// SAFETY: the functions are called on the thread that uses the arena, one at a time. The header
// requires that the context can be used there.
unsafe impl Send for Source {}

// SAFETY: `Heap` meets the contract. For two functions, the header demands it: a block has the
// requested size, and is the arena's until released. Unaligned blocks go back below, and C
// functions do not unwind.
unsafe impl Backing for Source {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let (allocate, release, context) = match *self {
            #[cfg(feature = "std")]
            Source::Heap => return Heap.allocate(layout),
            Source::Nothing => return Err(AllocError),
            Source::Functions { allocate, release, context } => (allocate, release, context),
        };
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: whoever made the arena passed this function with this context, for any size and
        // alignment of a layout, as the header demands.
        let block = unsafe { allocate(context, size, align) };
        let Some(block) = NonNull::new(block.cast::<u8>()) else {
            return Err(AllocError);
        };
        if block.addr().get() % align != 0 {
            // SAFETY: the block was allocated just now by the same pair, with these numbers, and
            // nobody uses it.
            unsafe { release(context, block.as_ptr().cast(), size, align) };
            return Err(AllocError);
        }
        Ok(NonNull::slice_from_raw_parts(block, size))
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        match *self {
            #[cfg(feature = "std")]
            // SAFETY: a block of `allocate`, which came from `Heap` with this layout.
            Source::Heap => unsafe { Heap.release(block, layout) },
            Source::Functions { release, context, .. } => {
                let block = block.as_ptr().cast();
                // SAFETY: `allocate` of the same pair returned the block for these numbers, and
                // nobody uses it again, by `Backing::release`'s contract.
                unsafe { release(context, block, layout.size(), layout.align()) };
            }
            Source::Nothing => {}
        }
    }
}

impl Source {
    /// The source that a caller chose. `None` if only one of the functions is set.
    pub(crate) fn of(backing: &ebb_backing) -> Option<Source> {
        match *backing {
            #[cfg(feature = "std")]
            ebb_backing { allocate: None, release: None, .. } => Some(Source::Heap),
            ebb_backing { allocate: Some(allocate), release: Some(release), context } => {
                Some(Source::Functions { allocate, release, context })
            }
            _ => None,
        }
    }

    /// Moves a value into a block of its own.
    pub(crate) fn place<T>(&self, value: T) -> Option<NonNull<T>> {
        let block = self.allocate(Layout::new::<T>()).ok()?.cast::<T>();
        // SAFETY: the block is new and has the layout of a `T`.
        unsafe { block.write(value) };
        Some(block)
    }

    /// Releases the block of a value whose destructor has run.
    ///
    /// # Safety
    ///
    /// [`place`](Source::place) of the same source made it, and nobody uses it.
    pub(crate) unsafe fn give_back<T>(&self, place: NonNull<T>) {
        // SAFETY: by this function's contract, `place` allocated the block with this layout from
        // this source, and nobody uses it.
        unsafe { self.release(place.cast(), Layout::new::<T>()) };
    }
}

impl Default for ebb_backing {
    /// The heap.
    fn default() -> Self {
        ebb_backing { allocate: None, release: None, context: ptr::null_mut() }
    }
}
