//! Where chunks come from.

use crate::error::AllocError;
#[cfg(all(feature = "alloc", not(feature = "std")))]
use crate::heap;
#[cfg(feature = "std")]
use crate::warm;
use core::{alloc::Layout, ptr::NonNull};

/// A source of chunks for an arena.
///
/// An arena calls its backing rarely: when all its chunks are full, and when it gives chunks back.
/// `Heap` is the default. A backing over a memory pool or a mapping, or one that counts what
/// another backing serves, takes about a dozen lines (see `examples/backing.rs`).
///
/// # Safety
///
/// - A block that `allocate` returned must have at least the size and alignment of the requested
///   layout and must not overlap any other block in use. It must stay valid until it is passed to
///   `release`, even if the backing is moved. The arena uses only the requested bytes and ignores
///   any surplus.
/// - Neither `release` nor dropping the backing may unwind.
///
/// # Reentrancy and panics
///
/// A backing may reach the arena that it serves, for example through a scope in a thread-local.
/// While the backing runs, an allocation that needs another chunk fails with an [`AllocError`], and
/// so does any allocation from the scope whose request is being served, unless a block of that scope is
/// freed first. The infallible methods call `handle_alloc_error` instead.
///
/// `allocate` may panic. The requesting scope then treats its current chunk as full until the scope
/// ends; existing allocations stay valid. If a collection of the standard library made the request, the
/// program aborts, because its allocators must not unwind.
///
/// ```
/// use ebbtide::{AllocError, Arena, Backing, Heap};
/// use std::{alloc::Layout, ptr::NonNull, sync::atomic::{AtomicUsize, Ordering}};
///
/// /// The heap, with a count of the chunks in use.
/// struct Counted<'c>(&'c AtomicUsize);
///
/// // SAFETY: `Heap` keeps the contract, and `release` does not unwind.
/// unsafe impl Backing for Counted<'_> {
///     fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
///         let block = Heap.allocate(layout)?;
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(block)
///     }
///
///     unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
///         self.0.fetch_sub(1, Ordering::Relaxed);
///         // SAFETY: the contract is that of `Heap`, which returned the block.
///         unsafe { Heap.release(block, layout) };
///     }
/// }
///
/// let chunks = AtomicUsize::new(0);
/// let arena = Arena::new_in(Counted(&chunks));
/// arena.root().alloc(1);
/// assert_eq!(chunks.load(Ordering::Relaxed), 1);
/// drop(arena);
/// assert_eq!(chunks.load(Ordering::Relaxed), 0);
/// ```
pub unsafe trait Backing: Send {
    /// Returns a block of at least `layout.size()` bytes, which is never 0, aligned to
    /// `layout.align()`.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no memory. If the arena requested more than it needs, it then
    /// tries a smaller request.
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError>;

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// `block` was returned by `allocate` of this backing for the same `layout`, has not been
    /// released, and is not used again.
    unsafe fn release(&self, block: NonNull<u8>, layout: Layout);

    /// A block that [`release_prepared`](Backing::release_prepared) was passed for the same type of
    /// backing and the same `wanted`, with its contents, or none. Only the backings of this library
    /// implement this: a backing that calls another one must not forward it.
    #[doc(hidden)]
    #[inline]
    fn take_prepared(&self, _wanted: usize) -> Option<NonNull<u8>> {
        None
    }

    /// The most bytes of a block that [`take_prepared`](Backing::take_prepared) returns if less is wanted.
    #[doc(hidden)]
    #[inline]
    fn most_prepared(&self) -> usize {
        0
    }

    /// Takes a block back like [`release`](Backing::release). Its contents may be used again.
    ///
    /// # Safety
    ///
    /// The contract of [`release`](Backing::release). The block begins with the control block of an
    /// arena over a backing of this type, whose first chunk was to have `wanted` bytes in all, and in
    /// which nothing was changed.
    #[doc(hidden)]
    #[inline]
    unsafe fn release_prepared(&self, block: NonNull<u8>, layout: Layout, _wanted: usize) {
        // SAFETY: the block is of this backing for this layout and was not released, by this
        // function's contract, which includes that of `release`.
        unsafe { self.release(block, layout) };
    }
}

/// The backing of an arena if its type does not specify one.
///
/// ```
/// use ebbtide::{Arena, DefaultBacking};
/// /// The same type, with the backing named.
/// fn scratch() -> Arena<DefaultBacking> {
///     Arena::new()
/// }
/// assert_eq!(scratch().stats().held, 0);
/// ```
#[cfg(feature = "alloc")]
pub type DefaultBacking = Heap;

/// The backing of an arena if its type does not specify one.
///
/// ```
/// // Without the feature `alloc`, a buffer is an arena that does not grow.
/// let mut arena: ebbtide::StackArena<64> = ebbtide::StackArena::new();
/// assert!(arena.scope().try_alloc([0u8; 65]).is_err());
/// ```
#[cfg(not(feature = "alloc"))]
pub type DefaultBacking = NoSpill;

/// The global allocator of the program. This is the default backing; it needs the feature `alloc`.
///
/// On Linux, with the feature `std`, blocks of 4 MiB or more are advised to use huge pages
/// (`MADV_HUGEPAGE`). A huge page costs one page fault instead of 512 and one entry of the
/// processor's address translation instead of 512, but it is resident as a whole as soon as one of
/// its bytes is touched. To turn this off, call `prctl(PR_SET_THP_DISABLE)` in a process, or write
/// to `/sys/kernel/mm/transparent_hugepage/enabled` for the whole system.
///
/// ```
/// use ebbtide::{Arena, Heap};
/// let arena: Arena<Heap> = Arena::new(); // `Heap` may be left out
/// assert_eq!(arena.root().alloc(1), &1);
/// ```
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

// SAFETY: `GlobalAlloc` guarantees that a block has the requested size and alignment, overlaps no
// other and stays valid until it is freed, and forbids unwinding. Moving this empty type does not
// affect its blocks.
#[cfg(feature = "alloc")]
unsafe impl Backing for Heap {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        #[cfg(feature = "std")]
        let block = warm::allocate(layout);
        #[cfg(not(feature = "std"))]
        let block = heap::request(layout);
        let block = block.ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    #[inline]
    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        #[cfg(feature = "std")]
        // SAFETY: `allocate` returned the block for this layout, and it was not released since, by
        // `Backing::release`'s contract.
        unsafe {
            warm::release(block, layout)
        };
        #[cfg(not(feature = "std"))]
        // SAFETY: `allocate` returned the block for this layout, and it was not released since, by
        // `Backing::release`'s contract.
        unsafe {
            heap::release(block, layout)
        };
    }

    #[cfg(feature = "std")]
    #[inline]
    fn take_prepared(&self, wanted: usize) -> Option<NonNull<u8>> {
        warm::take_prepared(wanted)
    }

    #[cfg(feature = "std")]
    #[inline]
    fn most_prepared(&self) -> usize {
        warm::most_prepared()
    }

    #[cfg(feature = "std")]
    #[inline]
    unsafe fn release_prepared(&self, block: NonNull<u8>, layout: Layout, wanted: usize) {
        // SAFETY: `allocate` or `take_prepared` returned the block, it has this layout, and it was
        // not released since, by this function's contract.
        unsafe { warm::release_prepared(block, layout, wanted) };
    }
}

/// Refuses every request. This is the backing of a [`Fixed`](crate::Fixed) that never spills out of
/// its buffer.
///
/// ```
/// use ebbtide::StackArena;
/// let mut full = StackArena::<0>::new(); // no spill unless `or_spill` names a backing
/// assert!(full.scope().try_alloc(1).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSpill;

// SAFETY: `allocate` never returns a block, so there is none whose size, alignment or validity
// could be wrong. `release` does nothing and cannot unwind.
unsafe impl Backing for NoSpill {
    #[inline]
    fn allocate(&self, _layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        Err(AllocError)
    }

    unsafe fn release(&self, _block: NonNull<u8>, _layout: Layout) {}
}
