//! Prefetching the memory of the next blocks before they are written to.
//!
//! A scope walks through its memory once, so the next lines are rarely in the nearest cache.
//! Some processors predict a stream of stores that goes down badly, and all that were measured do
//! if it consists of blocks that are written upwards: blocks of a few lines then wait for memory
//! one after the other. The scope knows where it is going. For every such block it prefetches as
//! many lines further below: docs/decisions/0017-fetching-ahead.md.

use core::ptr::NonNull;

/// The distance below a block at which memory is prefetched, in bytes.
const DISTANCE: usize = 4096;

/// What is fetched at a time, in bytes.
const LINE: usize = 64;

/// Where less than this is free, memory of the second-level cache is likely to be had, and fetching
/// costs more than it gains.
const FAR: usize = 256 << 10;

/// Of a larger block no more is fetched, for it would push itself out of the nearest cache.
const MOST: usize = 16 << 10;

/// Prefetches what will follow a `T` that was placed at `block`, where `used` says how far that
/// lies below the end of its region. It is asked only for blocks that are large enough.
///
/// A call in debug builds, where inlined code makes the caller's frame larger.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn below_value<T>(block: NonNull<u8>, used: impl FnOnce() -> usize) {
    let size = size_of::<T>();
    // Up to a line, a test or a prefetch for each block costs more than it gains.
    if size > LINE {
        below_block(block, size, used);
    }
}

/// Like [`below_value`], for a block of `size` bytes.
#[inline(always)]
pub(crate) fn below_block(block: NonNull<u8>, size: usize, used: impl FnOnce() -> usize) {
    if size >= processor::least() && used() >= FAR {
        lines_below(block, size);
    }
}

/// Like [`below_block`], with a call: where another one follows at once, it costs no registers, and
/// the loop would.
#[inline(always)]
pub(crate) fn below_copy(block: NonNull<u8>, size: usize, used: impl FnOnce() -> usize) {
    #[inline(never)]
    fn call(block: NonNull<u8>, size: usize) {
        lines_below(block, size);
    }

    if size >= processor::least() && used() >= FAR {
        call(block, size);
    }
}

#[inline(always)]
fn lines_below(block: NonNull<u8>, size: usize) {
    let below = block.as_ptr().wrapping_sub(DISTANCE);
    prefetch(below);
    let mut offset = LINE;
    while offset < size.min(MOST) {
        // Two lines per iteration, which takes as long as two prefetches.
        prefetch(below.wrapping_add(offset));
        prefetch(below.wrapping_add(offset + LINE));
        offset += 2 * LINE;
    }
}

/// Finds out about the processor before a region of `size` bytes is used, if it is large enough to
/// matter.
pub(crate) fn prepare(size: usize) {
    if size >= FAR {
        processor::identify();
    }
}

/// The smallest blocks that this processor gains from prefetching for.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod processor {
    use super::LINE;
    use core::{
        arch::x86_64::__cpuid,
        sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    };

    /// Blocks of at least this size are written upwards one by one while their addresses go down.
    /// Every processor that was measured predicts that badly.
    const ZIGZAG: usize = 512;

    /// A fact about the machine: every thread that finds it out stores the same. `Relaxed`, because
    /// no other memory is read on the strength of it, and a thread that does not see it yet only
    /// prefetches less.
    static LEAST: AtomicUsize = AtomicUsize::new(ZIGZAG);

    /// Whether the processor was asked.
    static ASKED: AtomicBool = AtomicBool::new(false);

    #[inline(always)]
    pub(super) fn least() -> usize {
        LEAST.load(Relaxed)
    }

    /// Asks the processor, once. The instruction takes a microsecond or more in a virtual machine,
    /// so only large chunks ask.
    #[cold]
    pub(super) fn identify() {
        if ASKED.load(Relaxed) {
            return;
        }
        #[allow(unused_unsafe, reason = "safe in newer releases of Rust")]
        // SAFETY: every x86-64 processor has the instruction, and its leaf 0.
        let leaf = unsafe { __cpuid(0) };
        let maker = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
        if maker.as_flattened() == b"GenuineIntel" {
            LEAST.store(LINE + 1, Relaxed);
        }
        ASKED.store(true, Relaxed);
    }
}

/// [`prefetch`] does nothing on other processors, and the fast paths do not ask. For aarch64,
/// docs/decisions/0023-aarch64.md says why.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod processor {
    #[inline(always)]
    pub(super) fn least() -> usize {
        usize::MAX
    }

    pub(super) fn identify() {}
}

#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing, and any address will do.
        unsafe { _mm_prefetch::<{ _MM_HINT_T0 }>(at.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}
