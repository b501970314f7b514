//! A backing of huge pages (feature `huge-pages`).

use crate::{
    backing::{Backing, Heap},
    error::AllocError,
};
use core::{alloc::Layout, ptr::NonNull};

/// Memory in huge pages where the system has them, for arenas of megabytes.
///
/// A processor translates addresses by the page, and remembers some thousand of them. Work that
/// wanders over more memory than those cover waits for the page tables at nearly every access; with
/// pages of 2 MiB instead of 4 KiB the same memory takes a five-hundredth of the entries. The first
/// touch of a huge page also is one page fault instead of 512.
///
/// - Requests of 1.75 MiB or more are mapped at a multiple of 2 MiB. On Linux and Android the
///   mapping is advised to use huge pages (`MADV_HUGEPAGE`), which holds where
///   `/sys/kernel/mm/transparent_hugepage/enabled` says `madvise` or `always`. On other Unixes it
///   is a plain mapping; the alignment is what FreeBSD's promotion to superpages asks for.
///   Elsewhere, on Windows say, all requests go to the [`Heap`], so that a program need not tell
///   systems apart.
/// - A mapping's size is rounded up to 2 MiB where that leaves an eighth of a huge page unused at
///   most, else to the system's page.
/// - Smaller requests go to the [`Heap`]: a huge page cannot serve them, and a mapping of their own
///   costs a system call each way and a page fault a page, every time.
///
/// So give the arena large chunks from the start; an arena's own double from 16 KiB to 4 MiB. A
/// huge page is resident as a whole once a byte of it is touched.
/// [`set_limit`](crate::Arena::set_limit) and [`Stats::held`](crate::Stats::held) count what is
/// asked of the backing, before the rounding.
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

// SAFETY: a block is a mapping of its own, or the end of one, or the heap's. It stays where it is
// until `release`, which finds from the layout alone which of them it is, as `allocate` did.
unsafe impl Backing for HugePages {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        #[cfg(unix)]
        if layout.size() >= mapping::LEAST {
            return mapping::allocate(layout);
        }
        Heap.allocate(layout)
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        #[cfg(unix)]
        if layout.size() >= mapping::LEAST {
            // SAFETY: `allocate` mapped a block of this layout, and the caller is done with it.
            return unsafe { mapping::release(block, layout) };
        }
        // SAFETY: `allocate` passed this layout on to the heap.
        unsafe { Heap.release(block, layout) };
    }
}

/// Memory of the system's own.
#[cfg(unix)]
mod mapping {
    use crate::{backing::HUGE_PAGE as HUGE, error::AllocError};
    use core::{alloc::Layout, ptr::NonNull};

    /// What may stay unused at the end of a mapping so that its last page is a huge one.
    const UNUSED: usize = HUGE / 8;

    /// The least request that is mapped; smaller ones go to the heap.
    /// `docs/decisions/0012-huge-pages.md` has the measurements.
    pub(super) const LEAST: usize = HUGE - UNUSED;

    /// A block that [`release`] takes.
    pub(super) fn allocate(layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let size = mapped_size(layout.size()).ok_or(AllocError)?;
        let block = map_aligned(size, layout.align().max(HUGE))?;
        advise(block, size);
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    /// Ends what [`allocate`] mapped.
    ///
    /// # Safety
    ///
    /// It returned `block` for this layout, and the block is not used again.
    pub(super) unsafe fn release(block: NonNull<u8>, layout: Layout) {
        if let Some(size) = mapped_size(layout.size()) {
            // SAFETY: `allocate` mapped as many bytes at `block`, and the caller is done with them.
            unsafe { unmap(block, size) };
        }
    }

    /// The bytes that are mapped for a request. `None` on overflow.
    fn mapped_size(size: usize) -> Option<usize> {
        let whole = size.checked_next_multiple_of(HUGE)?;
        if whole - size <= UNUSED {
            Some(whole)
        } else {
            size.checked_next_multiple_of(page_size())
        }
    }

    /// The bytes of an ordinary page.
    fn page_size() -> usize {
        // SAFETY: no memory is passed.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        match usize::try_from(size) {
            Ok(size) if size.is_power_of_two() && size <= HUGE => size,
            _ => HUGE,
        }
    }

    /// Maps `size` bytes, a multiple of the page, at a multiple of `align`, a power of two and no
    /// less than a page.
    fn map_aligned(size: usize, align: usize) -> Result<NonNull<u8>, AllocError> {
        let block = map(size)?;
        if block.addr().get() % align == 0 {
            return Ok(block);
        }
        // SAFETY: mapped just now, as large, and nobody has it.
        unsafe { unmap(block, size) };
        // Enough to find an aligned start in it; what is before and behind goes back at once.
        let larger = size.checked_add(align).ok_or(AllocError)?;
        let block = map(larger)?;
        let before = block.addr().get().wrapping_neg() & (align - 1);
        // SAFETY: less than `align` bytes into the mapping.
        let start = unsafe { block.add(before) };
        // SAFETY: `before` is a multiple of the page, for both addresses are; nobody has these
        // bytes.
        unsafe { unmap(block, before) };
        // SAFETY: `before + size` is within the mapping.
        let end = unsafe { start.add(size) };
        // SAFETY: the rest of the mapping, whole pages, and nobody has these bytes.
        unsafe { unmap(end, larger - before - size) };
        Ok(start)
    }

    /// Maps `size` bytes anywhere.
    fn map(size: usize) -> Result<NonNull<u8>, AllocError> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
        // SAFETY: a new mapping at an address of the system's choice changes no other.
        let block = unsafe { libc::mmap(core::ptr::null_mut(), size, protection, flags, -1, 0) };
        if block == libc::MAP_FAILED {
            return Err(AllocError);
        }
        NonNull::new(block.cast()).ok_or(AllocError)
    }

    /// Ends the mapping of `size` bytes; none is none. The system refuses only if it runs out of
    /// mappings, and then the bytes stay mapped and unused.
    ///
    /// # Safety
    ///
    /// They are whole pages of mappings made here, and not used again.
    unsafe fn unmap(block: NonNull<u8>, size: usize) {
        if size > 0 {
            // SAFETY: the caller's promise.
            unsafe { libc::munmap(block.as_ptr().cast(), size) };
        }
    }

    /// Asks for huge pages. A system without them, or set never to use them, serves ordinary ones.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn advise(block: NonNull<u8>, size: usize) {
        // SAFETY: advice for a mapping of our own, which changes nothing that a program can see.
        unsafe { libc::madvise(block.as_ptr().cast(), size, libc::MADV_HUGEPAGE) };
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn advise(_block: NonNull<u8>, _size: usize) {}
}
