//! A backing of huge pages (feature `huge-pages`).

use crate::{
    backing::{Backing, Heap},
    error::AllocError,
};
use core::{alloc::Layout, ptr::NonNull};

/// Memory in huge pages where the system has them, for arenas of several megabytes.
///
/// A processor caches the translations of a few thousand pages (in its TLB). Code that accesses
/// more memory than these pages cover, in no particular order, waits for the page tables at nearly
/// every access. With pages of 2 MiB instead of 4 KiB, the same memory needs 512 times fewer
/// entries. The first touch of a huge page also costs one page fault instead of 512.
///
/// - Requests of 1.75 MiB or more are mapped at a multiple of 2 MiB. On Linux and Android the
///   mapping is advised to use huge pages (`MADV_HUGEPAGE`), which takes effect if
///   `/sys/kernel/mm/transparent_hugepage/enabled` says `madvise` or `always`. On other Unixes it
///   is a plain mapping with the alignment that FreeBSD needs to promote it to superpages. On other
///   systems, such as Windows, all requests go to the [`Heap`], so programs need no `cfg`.
/// - The size of a mapping is rounded up to a multiple of 2 MiB if that leaves at most an eighth of
///   a huge page unused, and to the system's page size otherwise.
/// - Smaller requests go to the [`Heap`]: they cannot fill a huge page, and a mapping of their own
///   would cost two system calls, and a page fault for each page.
///
/// So give the arena large chunks from the start: by default its chunks double from 16 KiB to 4
/// MiB. A huge page is resident as a whole as soon as one of its bytes is touched.
/// [`set_limit`](crate::Arena::set_limit) and [`Stats::held`](crate::Stats::held) count the sizes
/// requested from the backing, before the rounding.
///
/// ```
/// use ebbtide::{Arena, HugePages};
///
/// let mut arena = Arena::with_chunk_size_in(16 << 20, HugePages);
/// let s = arena.scope();
/// let table = s.alloc_slice_fill_with(1 << 20, |i| i as u64);
/// assert_eq!(table[77], 77);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HugePages;

// SAFETY: a block is either a mapping that nobody else uses or a block of the heap, and has the
// requested size and alignment. It stays valid until `release`, which decides from the layout alone
// which of the two it is, as `allocate` did. Neither `munmap` nor the heap unwinds.
unsafe impl Backing for HugePages {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        #[cfg(unix)]
        if layout.size() >= mapping::MIN_SIZE {
            return mapping::allocate(layout);
        }
        Heap.allocate(layout)
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        #[cfg(unix)]
        if layout.size() >= mapping::MIN_SIZE {
            // SAFETY: by this function's contract, `allocate` mapped the block, as it does for
            // every layout of this size, and nobody uses it again.
            return unsafe { mapping::release(block, layout) };
        }
        // SAFETY: by this function's contract, `allocate` got the block from the heap, as for every
        // layout of this size, and nobody released or uses it.
        unsafe { Heap.release(block, layout) };
    }
}

/// Memory mapped directly from the system.
#[cfg(unix)]
mod mapping {
    use crate::{arith::HUGE_PAGE as HUGE, error::AllocError};
    use core::{alloc::Layout, ptr::NonNull};

    /// The most bytes left unused at the end of a mapping to make its last page a huge one.
    const UNUSED: usize = HUGE / 8;

    /// The smallest request that is mapped; smaller ones go to the heap.
    /// `dev/decisions/0012-huge-pages.md` has the measurements.
    pub(super) const MIN_SIZE: usize = HUGE - UNUSED;

    /// Maps a block for `layout`. [`release`] unmaps it.
    pub(super) fn allocate(layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let size = mapped_size(layout.size()).ok_or(AllocError)?;
        let block = map_aligned(size, layout.align().max(HUGE))?;
        advise(block, size);
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    /// Unmaps a block.
    ///
    /// # Safety
    ///
    /// [`allocate`] returned `block` for this layout, and the block is not used again.
    pub(super) unsafe fn release(block: NonNull<u8>, layout: Layout) {
        if let Some(size) = mapped_size(layout.size()) {
            // SAFETY: `allocate` mapped `size` bytes at `block`, which are whole pages, and by this
            // function's contract they are not used again.
            unsafe { unmap(block, size) };
        }
    }

    /// The size of the mapping for a request of `size` bytes. `None` on overflow.
    fn mapped_size(size: usize) -> Option<usize> {
        let whole = size.checked_next_multiple_of(HUGE)?;
        if whole - size <= UNUSED {
            Some(whole)
        } else {
            size.checked_next_multiple_of(page_size())
        }
    }

    /// The size of an ordinary page in bytes.
    fn page_size() -> usize {
        // SAFETY: `sysconf` takes a number and accesses no memory of ours.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        match usize::try_from(size) {
            Ok(size) if size.is_power_of_two() && size <= HUGE => size,
            _ => HUGE,
        }
    }

    /// Maps `size` bytes at a multiple of `align`. `size` is a multiple of the page size, and
    /// `align` a power of two that is at least a page.
    fn map_aligned(size: usize, align: usize) -> Result<NonNull<u8>, AllocError> {
        let block = map(size)?;
        if block.addr().get() % align == 0 {
            return Ok(block);
        }
        // SAFETY: `map` has just returned this mapping of `size` bytes, and nobody uses it.
        unsafe { unmap(block, size) };
        // Large enough to hold an aligned block. The parts before and after it are unmapped at
        // once.
        let larger = size.checked_add(align).ok_or(AllocError)?;
        let block = map(larger)?;
        let before = block.addr().get().wrapping_neg() & (align - 1);
        // SAFETY: `before < align`, and the mapping has `size + align` bytes.
        let start = unsafe { block.add(before) };
        // SAFETY: `block` and `start` are multiples of the page size, so these are whole pages of
        // the mapping, and nobody uses them.
        unsafe { unmap(block, before) };
        // SAFETY: `before + size` is less than `larger`, the size of the mapping.
        let end = unsafe { start.add(size) };
        // SAFETY: these are the remaining whole pages of the mapping, and nobody uses them.
        unsafe { unmap(end, larger - before - size) };
        Ok(start)
    }

    /// Maps `size` bytes anywhere.
    fn map(size: usize) -> Result<NonNull<u8>, AllocError> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
        // SAFETY: a new mapping at an address that the system chooses affects no other mapping.
        let block = unsafe { libc::mmap(core::ptr::null_mut(), size, protection, flags, -1, 0) };
        if block == libc::MAP_FAILED {
            return Err(AllocError);
        }
        NonNull::new(block.cast()).ok_or(AllocError)
    }

    /// Unmaps `size` bytes; no-op if `size` is 0. The system refuses only if it runs out of
    /// mappings, and then the bytes stay mapped and unused.
    ///
    /// # Safety
    ///
    /// The bytes are whole pages of mappings made here, and are not used again.
    unsafe fn unmap(block: NonNull<u8>, size: usize) {
        if size > 0 {
            // SAFETY: by this function's contract, the bytes are whole pages of mappings made here,
            // and nobody uses them again.
            unsafe { libc::munmap(block.as_ptr().cast(), size) };
        }
    }

    /// Asks for huge pages. Systems that have none, or never use them, keep ordinary pages.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn advise(block: NonNull<u8>, size: usize) {
        // SAFETY: the mapping is ours, and the advice does not change its contents.
        unsafe { libc::madvise(block.as_ptr().cast(), size, libc::MADV_HUGEPAGE) };
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn advise(_block: NonNull<u8>, _size: usize) {}
}
