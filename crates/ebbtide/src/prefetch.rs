//! Prefetching the memory of the next blocks before they are written to.
//!
//! A scope uses each byte of its memory once, so the next cache lines are rarely in the first-level
//! cache. Some processors predict descending stores badly. All measured processors predict stores
//! badly if the addresses of the blocks descend while each block is written upwards: a loop over
//! blocks of a few lines then waits for memory at each block. The scope knows which memory comes
//! next. For every such block it prefetches the same number of lines further below:
//! dev/decisions/0017-fetching-ahead.md.

use core::ptr::NonNull;

/// The distance below a block at which memory is prefetched, in bytes.
const DISTANCE: usize = 4096;

/// The bytes that one instruction prefetches. Blocks of up to this size cause no prefetch.
pub(crate) const LINE: usize = 64;

/// Allocating a block prefetches only if the block lies at least this many bytes below the end of
/// its region. Nearer to the end, the memory is probably in the second-level cache, and prefetching
/// costs more than it gains.
const MIN_USED: usize = 256 << 10;

/// For a block larger than this, only one line is prefetched. Most of the lines from [`DISTANCE`]
/// bytes below its start upwards are its own, and the processor predicts them once the block is
/// being written. Prefetching 16 KiB takes several times as long as allocating.
const MAX_SIZE: usize = 16 << 10;

/// Prefetches the memory that the next blocks after a `T` at `block` will use. `used` returns the
/// distance of the block from the end of its region; it is called only for blocks that are large
/// enough.
///
/// Not inlined in debug builds, where inlined code makes the caller's frame larger.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn below_value<T>(block: NonNull<u8>, used: impl FnOnce() -> usize) {
    let size = size_of::<T>();
    // For blocks of up to a line, a test or a prefetch costs more than it gains.
    if size > LINE {
        below_block(block, size, used);
    }
}

/// Like [`below_value`], for a block of `size` bytes.
#[inline(always)]
pub(crate) fn below_block(block: NonNull<u8>, size: usize, used: impl FnOnce() -> usize) {
    if size >= processor::min_size() && used() >= MIN_USED {
        lines_below(block, size);
    }
}

/// Like [`below_block`], but out of line, for callers that call another function next. There, a
/// call occupies no further registers, and an inlined loop would.
#[inline(always)]
pub(crate) fn below_copy(block: NonNull<u8>, size: usize, used: impl FnOnce() -> usize) {
    #[inline(never)]
    fn call(block: NonNull<u8>, size: usize) {
        lines_below(block, size);
    }

    if size >= processor::min_size() && used() >= MIN_USED {
        call(block, size);
    }
}

#[inline(always)]
fn lines_below(block: NonNull<u8>, size: usize) {
    let below = block.as_ptr().wrapping_sub(DISTANCE);
    prefetch(below);
    let end = if size > MAX_SIZE { LINE } else { size };
    let mut offset = LINE;
    while offset < end {
        // Two lines per iteration, which takes as long as two prefetches.
        prefetch(below.wrapping_add(offset));
        prefetch(below.wrapping_add(offset + LINE));
        offset += 2 * LINE;
    }
}

/// Identifies the processor before a region of `size` bytes is used, if that is large enough to
/// gain from prefetching.
pub(crate) fn prepare(size: usize) {
    if size >= MIN_USED {
        processor::identify();
    }
}

/// The size from which on this processor gains from prefetching after a block, in bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod processor {
    use super::LINE;
    use core::{
        arch::x86_64::__cpuid,
        sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    };

    /// The size from which on every measured processor gains: each block is written upwards while
    /// the addresses of the blocks descend, and no processor predicts that.
    const MIN_SIZE_ANYWHERE: usize = 512;

    /// The smallest size for which this processor gains, in bytes. Every thread that determines it
    /// stores the same value. `Relaxed`, because no other memory depends on it, and a thread that
    /// does not see it yet only prefetches less.
    static LEAST: AtomicUsize = AtomicUsize::new(MIN_SIZE_ANYWHERE);

    /// Whether the processor was identified.
    static IS_IDENTIFIED: AtomicBool = AtomicBool::new(false);

    #[inline(always)]
    pub(super) fn min_size() -> usize {
        LEAST.load(Relaxed)
    }

    /// Reads the processor's vendor, once. The instruction takes a microsecond or more in a virtual
    /// machine, so only large chunks cause it.
    #[cold]
    pub(super) fn identify() {
        if IS_IDENTIFIED.load(Relaxed) {
            return;
        }
        #[allow(unused_unsafe, reason = "safe in newer releases of Rust")]
        // SAFETY: every x86-64 processor has the instruction, and its leaf 0.
        let leaf = unsafe { __cpuid(0) };
        const INTEL: [u32; 3] = [
            u32::from_le_bytes(*b"Genu"),
            u32::from_le_bytes(*b"ineI"),
            u32::from_le_bytes(*b"ntel"),
        ];
        if [leaf.ebx, leaf.edx, leaf.ecx] == INTEL {
            LEAST.store(LINE + 1, Relaxed);
        }
        IS_IDENTIFIED.store(true, Relaxed);
    }
}

/// [`prefetch`] does nothing on other processors, and the fast paths do not test the size.
/// dev/decisions/0023-aarch64.md gives the reason for aarch64.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod processor {
    #[inline(always)]
    pub(super) fn min_size() -> usize {
        usize::MAX
    }

    pub(super) fn identify() {}
}

#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it accesses no memory of the program, and any address is
        // allowed.
        unsafe { _mm_prefetch::<{ _MM_HINT_T0 }>(at.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}
