//! The blocks that are recorded. They lie in a range of addresses of their own, so that one
//! comparison tells them from all others.
//!
//! Each has a slot of a power of two. Freed slots are listed by size. The memory of large ones goes
//! back to the system meanwhile.

use crate::sys;
use core::{
    ffi::c_void,
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The bytes of the range. Smaller ones follow where the system refuses so many, or where they are
/// more than this share of the addresses that the process may use.
const RANGES: [usize; 4] = [1 << 36, 1 << 30, 1 << 27, 1 << 24];
const SHARE: u64 = 16;

/// Where the range begins; 0 if there is none.
pub(crate) static START: AtomicUsize = AtomicUsize::new(0);
pub(crate) static BYTES: AtomicUsize = AtomicUsize::new(0);

/// What a slot begins with. The block follows at the next address with its alignment.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The number of the block in the record.
    pub id: u64,
    /// The thread that allocated it.
    pub thread: u32,
    /// The number of its [`callers`](callers).
    pub callers: u32,
    /// The exponent of the slot's size.
    exponent: u32,
    next: *mut Slot,
}

const HEADER: usize = size_of::<Slot>();

/// Slots of at least so many bytes give their memory back when they are freed.
const LARGE: u32 = 17;

/// The bytes that are made accessible at once, at least.
const READY_AT_ONCE: usize = 1 << 16;

const SMALLEST: u32 = 7;
/// Slots have fewer bytes than this power of two: whether there is memory for more is for the C
/// library and the system to say, because nothing is reserved here.
const LARGEST: usize = 30;

/// The free slots.
#[derive(Debug)]
pub(crate) struct Slots {
    /// Where the unused part of the range begins, and up to where memory can be accessed.
    top: usize,
    ready: usize,
    free: [*mut Slot; LARGEST],
}

// SAFETY: the slots belong to whoever has the lock of the state (S1), in any thread.
unsafe impl Send for Slots {}

/// Whether this is a recorded block.
#[inline(always)]
#[must_use]
pub(crate) fn contains(block: *const c_void) -> bool {
    // If the size is there, so is the start. Both are before the first block of the range.
    let bytes = BYTES.load(Ordering::Acquire);
    block.addr().wrapping_sub(START.load(Ordering::Relaxed)) < bytes
}

/// The slot of a recorded block.
///
/// # Safety
///
/// The block is alive, and was recorded.
pub(crate) unsafe fn slot_of(block: *mut c_void) -> *mut Slot {
    let link = block.cast::<*mut Slot>().wrapping_sub(1);
    // SAFETY: `Slots::take` has stored the slot's address in front of the block.
    unsafe { link.read() }
}

impl Slot {
    /// Sets what the record says of the block.
    pub(crate) fn begin(&mut self, id: u64, thread: u32) {
        (self.id, self.thread) = (id, thread);
    }
}

impl Slots {
    /// Reserves the range. There are no slots if the system refuses.
    pub(crate) fn new() -> Slots {
        let reserve = |bytes: usize| {
            let range = sys::reserve(bytes, sys::PROT_NONE)?;
            // SAFETY: the mapping is new. Its contents are no use in a core dump.
            unsafe { sys::madvise(range, bytes, sys::MADV_DONTDUMP) };
            Some((range, bytes))
        };
        let most = sys::limit(sys::RLIMIT_AS) / SHARE;
        let range = RANGES.into_iter().filter(|bytes| *bytes as u64 <= most).find_map(reserve);
        let start = range.map_or(0, |(start, _)| start.expose_provenance());
        START.store(start, Ordering::Relaxed);
        BYTES.store(range.map_or(0, |(_, bytes)| bytes), Ordering::Release);
        Slots { top: start, ready: start, free: [ptr::null_mut(); LARGEST] }
    }

    /// Takes a slot for a block, and stores the hashes of its callers behind the header. Returns the
    /// block, and its slot, of which the rest is to be set. `None` if the range has no room.
    pub(crate) fn take(
        &mut self,
        size: usize,
        align: usize,
        callers: impl ExactSizeIterator<Item = u32>,
    ) -> Option<(*mut c_void, *mut Slot)> {
        let front = HEADER + (callers.len() * size_of::<u32>()).next_multiple_of(16);
        let align = align.max(16);
        // In front of the block there is the address of its slot.
        let needed = (front + 16).checked_add(align)?.checked_add(size)?;
        let exponent = needed.checked_next_power_of_two()?.ilog2().max(SMALLEST);
        let slot = self.free.get_mut(exponent as usize)?;
        let slot = if slot.is_null() {
            self.fresh(exponent)?
        } else {
            let taken = *slot;
            // SAFETY: a listed slot has its header, and nobody uses it.
            *slot = unsafe { (*taken).next };
            taken
        };
        // SAFETY: the slot is fresh or was just taken from its list, so nobody else uses it (S1).
        // It is writable and aligned, and larger than its header.
        unsafe { (*slot).exponent = exponent };
        #[allow(clippy::cast_possible_truncation, reason = "at most the frames of a stack")]
        // SAFETY: nobody else uses the slot (S1), which is writable, aligned, and larger than its
        // header.
        unsafe {
            (*slot).callers = callers.len() as u32
        };
        let mut at = slot.wrapping_add(1).cast::<u32>();
        for caller in callers {
            // SAFETY: between the header and the block there is room for all of them.
            unsafe { at.write(caller) };
            at = at.wrapping_add(1);
        }
        let first = slot.addr() + front + 16;
        let block = slot.cast::<u8>().wrapping_add(first.next_multiple_of(align) - slot.addr());
        let link = block.cast::<*mut Slot>().wrapping_sub(1);
        // SAFETY: the word in front of the block lies behind the header, and in the slot.
        unsafe { link.write(slot) };
        Some((block.cast(), slot))
    }

    /// A slot that was never used.
    fn fresh(&mut self, exponent: u32) -> Option<*mut Slot> {
        let bytes = 1_usize << exponent;
        let start = self.top.next_multiple_of(bytes.min(4096));
        let end = start.checked_add(bytes)?;
        let range_end = START.load(Ordering::Relaxed) + BYTES.load(Ordering::Relaxed);
        if self.top == 0 || end > range_end {
            return None;
        }
        if end > self.ready {
            // Some at once, because each is a call of the system.
            let ready = end.next_multiple_of(READY_AT_ONCE).min(range_end);
            let pages = ptr::with_exposed_provenance_mut::<c_void>(self.ready);
            // SAFETY: the pages lie in the range, above every slot, so nobody uses them, and they
            // only gain access rights.
            if unsafe { sys::mprotect(pages, ready - self.ready, sys::PROT_READ_WRITE) } != 0 {
                return None;
            }
            self.ready = ready;
        }
        self.top = end;
        Some(ptr::with_exposed_provenance_mut(start))
    }

    /// Gives back a slot.
    ///
    /// # Safety
    ///
    /// The slot was taken here, and nobody uses it or its block from now on.
    pub(crate) unsafe fn give(&mut self, slot: *mut Slot) {
        // SAFETY: `take` initialised the header of this slot, and nobody else uses the slot by this
        // function's contract.
        let exponent = unsafe { (*slot).exponent };
        if exponent >= LARGE {
            // SAFETY: the pages are the slot's alone, because large slots begin at a page.
            if unsafe { sys::madvise(slot.cast(), 1 << exponent, sys::MADV_DONTNEED) } != 0 {
                // The program has locked its memory.
                // SAFETY: the slot has so many bytes, and nobody uses them.
                unsafe { slot.cast::<u8>().write_bytes(0, 1 << exponent) };
            }
        }
        let list = &mut self.free[exponent as usize];
        // SAFETY: nobody uses the slot by this function's contract; its header is aligned and stays
        // writable even if its pages went back.
        unsafe { (*slot).next = *list };
        *list = slot;
    }
}

/// Whether the memory of a block that [`take`](Slots::take) returned is zero.
///
/// # Safety
///
/// The slot was taken, and its block not used yet.
pub(crate) unsafe fn is_zero(slot: *const Slot) -> bool {
    // SAFETY: `take` initialised the exponent, and the slot is taken by this function's contract. A
    // large one was never used, or gave its memory back.
    unsafe { (*slot).exponent >= LARGE }
}

/// The hashes of the callers of a block.
///
/// # Safety
///
/// The slot is in use as long as the result.
pub(crate) unsafe fn callers<'s>(slot: *const Slot) -> &'s [u32] {
    // SAFETY: `take` initialised the header, and nobody writes it while the slot is in use, as it
    // is by this function's contract.
    let count = unsafe { (*slot).callers };
    // SAFETY: `take` wrote `count` aligned words behind the header. Nobody writes them while the
    // slot is in use, which lasts for `'s` by this function's contract.
    unsafe { core::slice::from_raw_parts(slot.wrapping_add(1).cast::<u32>(), count as usize) }
}

/// The bytes of a block that may be used.
///
/// # Safety
///
/// The block is alive, and was recorded.
pub(crate) unsafe fn usable_size(block: *mut c_void) -> usize {
    // SAFETY: the block is alive and was recorded, by this function's contract.
    let slot = unsafe { slot_of(block) };
    // SAFETY: the block is alive, so its slot is too, with the header that `take` initialised (S2).
    let exponent = unsafe { (*slot).exponent };
    slot.addr() + (1 << exponent) - block.addr()
}
